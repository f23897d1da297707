/* small.cuh: a front that fits into shared memory, by one block.
 *
 * The block owns all entries of its front: it takes those of A from the panels, adds the update matrices of its children,
 * child after child, eliminates its pivots, and writes L, U' and its own update matrix.  All of these are of earlier
 * launches, or for later ones, so that it waits for nobody.  Threads share by columns (a warp) and rows (a lane).
 *
 * A step k of the elimination is a(i, j) -= a(i, k) (1 / a(k, k)) a(k, j), with the column k of L left unscaled until all
 * are done: so nothing that a step reads is written in it, and there is one barrier a step.
 *
 * It moves order^2 numbers, and cols order^2 multiply-adds read and write shared memory twice each; it is bounded by the
 * path of cols steps (about 150 clocks each: the load, the inverse, the product, the barrier) where fronts are few, and by
 * shared memory where they are many. */
#ifndef TRS_FRONTS_SMALL_CUH
#define TRS_FRONTS_SMALL_CUH

#include "arrays.cuh"

enum { SMALL_THREADS = 256, SMALL_WARPS = SMALL_THREADS / 32 };

/* A front in shared memory, by columns. */
template <class T> struct square_front {
    T *a;
    int ld, order, cols;
    __device__ T &operator()(int i, int j) const { return a[j * ld + i]; }
};

template <bool cholesky, class T>
__device__ void small_load(const fronts_view<T> &v, const trs_front_numbers &d, square_front<T> f)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const T *lower = v.panels + d.lower, *upper = v.panels + d.upper;
    for (int k = (int)threadIdx.x; k < f.ld * f.order; k += SMALL_THREADS) f.a[k] = number<T>(0);
    __syncthreads();
    for (int j = warp; j < f.cols; j += SMALL_WARPS)
        for (int i = j + lane; i < f.order; i += 32) f(i, j) = lower[j * f.order + i];
    if constexpr (!cholesky)
        for (int i = warp; i < f.cols; i += SMALL_WARPS)
            for (int j = i + 1 + lane; j < f.order; j += 32) f(i, j) = upper[i * f.order + j];
    __syncthreads();
}

/* Places in the parent ascend, so that the lower triangle of a child stays below the diagonal. */
template <bool cholesky, class T>
__device__ void small_assemble(const fronts_view<T> &v, const trs_front_numbers &d,
                               square_front<T> f)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    for (int c = 0; c < d.children; c++) {
        const trs_front_numbers &child = v.numbers[v.child[d.child + c]];
        const T *s = v.pool + child.update;
        const int32_t *to = v.to + child.row;
        for (int b = warp; b < child.rows; b += SMALL_WARPS)
            for (int a = (cholesky ? b : 0) + lane; a < child.rows; a += 32) {
                T &there = f(to[a], to[b]);
                there = there + s[b * child.rows + a];
            }
        __syncthreads();
    }
}

template <bool cholesky, class T> __device__ void small_eliminate(square_front<T> f)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    for (int k = 0; k < f.cols; k++) {
        const T inverse = number<T>(1) / pivot_of<cholesky>(f(k, k));
        for (int j = k + 1 + warp; j < f.order; j += SMALL_WARPS) {
            const T u = inverse * (cholesky ? conj_if(true, f(j, k)) : f(k, j));
            for (int i = (cholesky ? j : k + 1) + lane; i < f.order; i += 32)
                f(i, j) = f(i, j) - f(i, k) * u;
        }
        __syncthreads();
    }
}

template <bool cholesky, class T>
__device__ void small_store(const fronts_view<T> &v, const trs_front_numbers &d, square_front<T> f)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    T *lower = v.panels + d.lower, *upper = v.panels + d.upper, *update = v.pool + d.update;
    for (int j = warp; j < f.cols; j += SMALL_WARPS) {
        const T pivot = pivot_of<cholesky>(f(j, j)), inverse = number<T>(1) / pivot;
        const T scale = scale_of<cholesky>(pivot, inverse);
        if (lane == 0) {
            judge<cholesky>(v, d.first + j, pivot, inverse);
            lower[j * f.order + j] = diagonal_of<cholesky>(pivot);
        }
        for (int i = j + 1 + lane; i < f.order; i += 32) lower[j * f.order + i] = f(i, j) * scale;
    }
    if constexpr (!cholesky)
        for (int i = warp; i < f.cols; i += SMALL_WARPS)
            for (int j = i + 1 + lane; j < f.order; j += 32) upper[i * f.order + j] = f(i, j);
    for (int b = warp; b < d.rows; b += SMALL_WARPS)
        for (int a = (cholesky ? b : 0) + lane; a < d.rows; a += 32)
            update[b * d.rows + a] = f(d.cols + a, d.cols + b);
}

template <class T, bool cholesky>
static __global__ void __launch_bounds__(SMALL_THREADS)
    small_kernel(fronts_view<T> v, launch_view l)
{
    const trs_front_numbers &d = v.numbers[l.list[blockIdx.x]];
    const int order = d.cols + d.rows;
    const square_front<T> f = {shared_numbers<T>(), order | 1, order, d.cols};
    small_load<cholesky>(v, d, f);
    small_assemble<cholesky>(v, d, f);
    small_eliminate<cholesky>(f);
    small_store<cholesky>(v, d, f);
}

#endif
