/* cuda.cuh: what the kernels share: arithmetic on the four types, a sum over a block, the device's
 * copy of the rows of a part. */
#ifndef TRS_CUDA_CUH
#define TRS_CUDA_CUH

extern "C" {
#include "base/device.h"
#include "matrix/on_device.h"
}

#include <cuComplex.h>
#include <cuda_runtime.h>

/* ---- the four types ------------------------------------------------------------------------ */

template <class T> __host__ __device__ inline T number(double re)
{
    return T(re);
}
template <> __host__ __device__ inline cuFloatComplex number(double re)
{
    return make_cuFloatComplex(float(re), 0);
}
template <> __host__ __device__ inline cuDoubleComplex number(double re)
{
    return make_cuDoubleComplex(re, 0);
}

/* conj (a) when c, on the complex types; a itself on the others */
template <class T> __device__ inline T conj_if(bool, T a)
{
    return a;
}
template <> __device__ inline cuFloatComplex conj_if(bool c, cuFloatComplex a)
{
    return c ? cuConjf(a) : a;
}
template <> __device__ inline cuDoubleComplex conj_if(bool c, cuDoubleComplex a)
{
    return c ? cuConj(a) : a;
}

__device__ inline cuFloatComplex operator+(cuFloatComplex a, cuFloatComplex b)
{
    return cuCaddf(a, b);
}
__device__ inline cuFloatComplex operator-(cuFloatComplex a, cuFloatComplex b)
{
    return cuCsubf(a, b);
}
__device__ inline cuFloatComplex operator*(cuFloatComplex a, cuFloatComplex b)
{
    return cuCmulf(a, b);
}
__device__ inline cuDoubleComplex operator+(cuDoubleComplex a, cuDoubleComplex b)
{
    return cuCadd(a, b);
}
__device__ inline cuDoubleComplex operator-(cuDoubleComplex a, cuDoubleComplex b)
{
    return cuCsub(a, b);
}
__device__ inline cuDoubleComplex operator*(cuDoubleComplex a, cuDoubleComplex b)
{
    return cuCmul(a, b);
}

template <class T> __device__ inline double magnitude(T a)
{
    return fabs((double)a);
}
template <> __device__ inline double magnitude(cuFloatComplex a)
{
    return hypot((double)a.x, (double)a.y);
}
template <> __device__ inline double magnitude(cuDoubleComplex a)
{
    return hypot(a.x, a.y);
}

template <class T> __device__ inline bool is_finite(T a)
{
    return isfinite(a);
}
template <> __device__ inline bool is_finite(cuFloatComplex a)
{
    return isfinite(a.x) && isfinite(a.y);
}
template <> __device__ inline bool is_finite(cuDoubleComplex a)
{
    return isfinite(a.x) && isfinite(a.y);
}

/* f of a number, or of the two parts of a complex one */
template <class F> __device__ inline float for_parts(float v, F f)
{
    return f(v);
}
template <class F> __device__ inline double for_parts(double v, F f)
{
    return f(v);
}
template <class T, class F> __device__ inline T for_parts(T v, F f)
{
    return {f(v.x), f(v.y)};
}

#include "divide.cuh"

template <class T> __device__ inline void atomic_add(T *p, T a)
{
    atomicAdd(p, a);
}
template <> __device__ inline void atomic_add(cuFloatComplex *p, cuFloatComplex a)
{
    atomicAdd(&p->x, a.x);
    atomicAdd(&p->y, a.y);
}
template <> __device__ inline void atomic_add(cuDoubleComplex *p, cuDoubleComplex a)
{
    atomicAdd(&p->x, a.x);
    atomicAdd(&p->y, a.y);
}

/* f (T ()) for the T of a trs_dtype */
template <class F> inline int for_type(trs_dtype t, F f)
{
    switch (t) {
    case TRS_F32:
        return f(float());
    case TRS_F64:
        return f(double());
    case TRS_C32:
        return f(cuFloatComplex());
    case TRS_C64:
        return f(cuDoubleComplex());
    }
    return TRS_EARG;
}

/* ---- views --------------------------------------------------------------------------------- */

template <class T> struct view { /* element (i, r) of B or X */
    T *p;
    int64_t rs, cs;
    __device__ T &operator()(int64_t i, int64_t r) const { return p[i * rs + r * cs]; }
};

template <class T> inline view<T> typed(trs_view v)
{
    return {static_cast<T *>(v.p), v.rs, v.cs};
}

/* The columns from r on. */
template <class T> inline view<T> from_column(view<T> v, int r)
{
    v.p += r * v.cs;
    return v;
}

/* f (first, count) for groups of right-hand sides small enough to be the y of a grid. */
template <class F> inline int for_columns(int nrhs, F f)
{
    const int most = 65535;
    int rc = TRS_OK;
    for (int r = 0; r < nrhs && !rc; r += most) rc = f(r, nrhs - r < most ? nrhs - r : most);
    return rc;
}

/* ---- sums ---------------------------------------------------------------------------------- */

/* s[0] = s[0] + ... + s[count-1] by halving; all threads of the block call it, s having been written
 * and a barrier passed.  Any count up to the size of the block; the order depends on count alone. */
template <class T> __device__ inline void block_sum(T *s, int count)
{
    while (count > 1) {
        int half = (count + 1) / 2;
        if ((int)threadIdx.x < count - half)
            s[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + half];
        __syncthreads();
        count = half;
    }
}

/* Dynamic shared memory as numbers of any type. */
template <class T> __device__ inline T *shared_numbers()
{
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    return reinterpret_cast<T *>(shared_bytes);
}

/* ---- the rows of a part on the device -------------------------------------------------------- */

struct device_csr { /* row from + k: entries ptr[k] .. ptr[k+1]-1, the diagonal last */
    int64_t *ptr;   /* [rows+1] */
    int32_t *idx;   /* columns in plan order */
    void *val;
};

int device_csr_new(const trs_instance *inst, device_csr *d);
int device_csr_values(const trs_instance *inst, device_csr *d); /* from side->tri.val */
/* from values of the side on the device */
int device_csr_take(const trs_instance *inst, device_csr *d, const void *val, void *stream);
void device_csr_free(trs_context *ctx, device_csr *d);

/* ---- a triangle as a full matrix on the device (full.cu) ------------------------------------- */

struct device_full { /* entry (i, j) is val[i*rs + j*cs], zero where nothing is stored */
    device_csr L;
    int64_t n, rs, cs;
    bool reversed; /* kept in the order of a caller whose side counts backwards */
    void *val;     /* [n*n] */
};

int device_full_new(const trs_instance *inst, bool by_rows, device_full *d);
int device_full_values(const trs_instance *inst, device_full *d); /* from side->tri.val */
/* from values of the side on the device */
int device_full_take(const trs_instance *inst, device_full *d, const void *val, void *stream);
void device_full_free(trs_context *ctx, device_full *d);
int64_t device_full_bytes(const trs_shape *s);

template <class T> inline view<T> typed(const device_full &d)
{
    return {static_cast<T *>(d.val), d.rs, d.cs};
}

/* count elements of host memory in fresh device memory; NULL: ctx has the sentence. */
void *device_copy(trs_context *ctx, const void *from, int64_t count, size_t size, const char *what);

/* The next of the arrays that share a block of memory; base NULL: their bytes are counted only. */
template <class V> inline V *carve(char *base, size_t *used, int64_t count)
{
    V *p = base ? reinterpret_cast<V *>(base + *used) : NULL;
    *used += ((size_t)count * sizeof(V) + 255) / 256 * 256;
    return p;
}

enum { PLAIN = 256 }; /* threads of a block in which each has an element to itself */

inline unsigned blocks_of(int64_t count)
{
    return (unsigned)((count + PLAIN - 1) / PLAIN);
}

int multiprocessors(); /* of the current device */
/* Blocks of a kernel whose blocks wait for one another: as many as are wanted, but no more than are on the
 * current device at once, nor than TRISOLVE_BLOCKS says, which is for tests.  0: not one fits. */
int waiting_blocks(const void *kernel, int threads, size_t shared, double wanted);

/* How many of these flags on the device are not 0; waits.  All, when that cannot be found out. */
int64_t count_flags(trs_context *ctx, const int *flags, int64_t count);

/* What a launch left behind. */
inline int launched()
{
    const cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess) return TRS_OK;
    return trs_fail(TRS_EDEVICE, "a kernel was not launched: %s: %s", cudaGetErrorName(e),
                    cudaGetErrorString(e));
}

#endif
