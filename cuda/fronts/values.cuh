/* values.cuh: A into the panels, L and U out of them, and how large the products are.
 *
 * Each of these kernels moves what it is given once, and is bounded by the bandwidth of memory: for each entry of A 16 bytes
 * of places and its value, for each entry of L and U 8 bytes of places and its value twice. */
#ifndef TRS_FRONTS_VALUES_CUH
#define TRS_FRONTS_VALUES_CUH

#include "arrays.cuh"

/* The larger one of *to and x >= 0, of all threads that ask.  The bits of such numbers are ordered as the numbers are, so
 * that no rounding depends on who comes first; a NaN is left out. */
__device__ inline void raise_to(double *to, double x)
{
    for (int by = 16; by > 0; by /= 2) x = fmax(x, __shfl_down_sync(~0u, x, by));
    if (threadIdx.x % 32 == 0 && x > 0)
        atomicMax((unsigned long long *)to, (unsigned long long)__double_as_longlong(x));
}

static __global__ void begin_kernel(trs_elimination_outcome *o)
{
    *o = {0, UINT64_MAX, 0, 0, 0};
}

/* A thread has an entry of A, and no two have one place: the panels are zero before. */
template <class T>
static __global__ void scatter_kernel(int64_t entries, const int64_t *from, const int64_t *to,
                                      const int32_t *row, const double *scale, const T *a,
                                      T *panels, trs_elimination_outcome *outcome)
{
    const int64_t e = index_of_thread();
    double size = 0;
    if (e < entries) {
        T x = a[from[e]];
        if (row) x = x * number<T>(scale[row[e]]);
        size = magnitude(x);
        panels[to[e] < 0 ? ~to[e] : to[e]] = conj_if(to[e] < 0, x);
    }
    raise_to(&outcome->largest_a, size);
}

template <class T>
static __global__ void gather_kernel(int64_t entries, const int64_t *from, const T *panels, T *to)
{
    const int64_t e = index_of_thread();
    if (e < entries) to[e] = from[e] < 0 ? number<T>(1) : panels[from[e]];
}

/* Entry (i, k) of L or of U', behind the pivot of column k of a front. */
template <class T>
__device__ inline T factor_entry(const T *panels, const trs_front_numbers &d, bool lower, int i,
                                 int k)
{
    const int64_t order = d.cols + d.rows;
    const int block = k / PANEL;
    if (d.diagonal < 0 || i >= d.cols || i / PANEL != block)
        return panels[(lower ? d.lower : d.upper) + k * order + i];
    const int row = lower ? i % PANEL : k % PANEL, column = lower ? k % PANEL : i % PANEL;
    return panels[d.diagonal + (block * PANEL + column) * PANEL + row];
}

/* A warp has a column k of L and the row k of U: the largest |l(i, k) u(k, j)|, l(k, k) = 1 among them, is the product of
 * the largest of either.  It reads the panels once.  Of L L^H, |l(i, k)|^2 <= a(i, i), so there nothing can grow. */
template <class T>
static __global__ void growth_kernel(fronts_view<T> v, const int32_t *of, int32_t n)
{
    const int32_t c = (int32_t)((blockIdx.x * (int64_t)PLAIN + threadIdx.x) / 32);
    if (c >= n) return;
    const trs_front_numbers &d = v.numbers[of[c]];
    const int k = c - d.first, order = d.cols + d.rows;
    double l = 1, u = 0;
    if (threadIdx.x % 32 == 0) {
        const int64_t at = d.diagonal < 0 ? d.lower + k * (int64_t)order + k
                                          : d.diagonal + k * (int64_t)PANEL + k % PANEL;
        u = magnitude(v.panels[at]);
    }
    for (int i = k + 1 + (int)threadIdx.x % 32; i < order; i += 32) {
        l = fmax(l, magnitude(factor_entry(v.panels, d, true, i, k)));
        u = fmax(u, magnitude(factor_entry(v.panels, d, false, i, k)));
    }
    for (int by = 16; by > 0; by /= 2) {
        l = fmax(l, __shfl_xor_sync(~0u, l, by));
        u = fmax(u, __shfl_xor_sync(~0u, u, by));
    }
    raise_to(&v.outcome->largest, l * u);
}

#endif
