/* view.cuh: B and X as kernels see them, stored by rows or by columns. */
#ifndef TRS_VIEW_CUH
#define TRS_VIEW_CUH

extern "C" {
#include "matrix/on_device.h"
}

#include <cuda_runtime.h>

/* Element (i, r), row i of right-hand side r, is p [i rs + r cs]: by columns rs = 1, by rows cs = 1, and for
 * rows that are counted from the last one rs = -1 with p at the last element. */
template <class T> struct view {
    T *p;
    int64_t rs, cs;
    __device__ T &operator()(int64_t i, int64_t r) const { return p[i * rs + r * cs]; }
};

template <class T> inline view<T> typed(trs_view v)
{
    return {static_cast<T *>(v.p), v.rs, v.cs};
}

/* The right-hand sides from r on. */
template <class T> inline view<T> from_column(view<T> v, int r)
{
    v.p += r * v.cs;
    return v;
}

/* Calls f (first, count) for groups of right-hand sides, as many at a time as the y dimension of a grid may
 * have. */
template <class F> inline int for_columns(int nrhs, F f)
{
    const int most = 65535;
    int rc = TRS_OK;
    for (int r = 0; r < nrhs && !rc; r += most) rc = f(r, min(nrhs - r, most));
    return rc;
}

#endif
