/* small.cuh: a front that fits into shared memory, by one block.
 *
 * The block owns all entries of its front: it reads those of A from the panels, adds the update matrices of its
 * children, child after child, eliminates its pivots in registers, and writes L, U' and its own update matrix.  All
 * of these come from earlier launches or go to later ones, so it does not wait.  A warp has columns and a lane rows.
 *
 * A step k of the elimination is a(i, j) -= a(i, k) (1 / a(k, k)) a(k, j), with column k of L unscaled until all
 * steps are done.  The threads that have column k and row k write them to shared memory, and after a barrier all
 * threads read what they need.
 *
 * It moves order^2 numbers.  A step takes about 250 clocks where the front is small (a store, the barrier, a load, the
 * inverse, a product), and order^2 / 64 clocks for the multiply-adds where it is not. */
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

/* What the threads of a step hand to each other, in turns in one of two places, so that a barrier a step is enough. */
template <class T, int N> struct step_buffer {
    T column[2][N], row[2][N];
};

/* Of a kernel for orders up to `most`, and a front of this order. */
template <class T> inline size_t small_shared(int most, int order)
{
    return sizeof(T) * (4 * (size_t)most + (size_t)order * (size_t)(order | 1));
}

template <class T>
__device__ void small_load(const fronts_view<T> &v, const trs_front_numbers &d, square_front<T> f)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const T *__restrict__ lower = v.panels + d.lower, *__restrict__ upper = v.panels + d.upper;
    for (int k = (int)threadIdx.x; k < f.ld * f.order; k += SMALL_THREADS) f.a[k] = number<T>(0);
    __syncthreads();
#pragma unroll 4
    for (int j = warp; j < f.cols; j += SMALL_WARPS)
        for (int i = j + lane; i < f.order; i += 32) f(i, j) = lower[j * f.order + i];
    if (!v.cholesky)
#pragma unroll 4
        for (int i = warp; i < f.cols; i += SMALL_WARPS)
            for (int j = i + 1 + lane; j < f.order; j += 32) f(i, j) = upper[i * f.order + j];
    __syncthreads();
}

/* A warp adds four columns of a child at a time, all of whose numbers it has under way before it adds the first.  Places in
 * the parent ascend, so that the lower triangle of a child stays below the diagonal. */
template <int N, class T>
__device__ void small_add_child(const fronts_view<T> &v, const trs_front_numbers &child,
                                square_front<T> f)
{
    constexpr int ROWS = N / 32, COLUMNS = 4;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const T *s = v.pool + child.update;
    const int32_t *to = v.to + child.row;
    int row[ROWS];
#pragma unroll
    for (int q = 0; q < ROWS; q++) row[q] = lane + 32 * q < child.rows ? to[lane + 32 * q] : -1;
    for (int first = warp; first < child.rows; first += COLUMNS * SMALL_WARPS) {
        T x[COLUMNS][ROWS];
        int column[COLUMNS], least[COLUMNS]; /* the least row that column p has a number for */
#pragma unroll
        for (int p = 0; p < COLUMNS; p++) {
            const int b = first + p * SMALL_WARPS;
            column[p] = b < child.rows ? to[b] : INT_MAX;
            least[p] = v.cholesky || b >= child.rows ? column[p] : 0;
#pragma unroll
            for (int q = 0; q < ROWS; q++)
                if (row[q] >= least[p]) x[p][q] = s[b * child.rows + lane + 32 * q];
        }
#pragma unroll
        for (int p = 0; p < COLUMNS; p++)
#pragma unroll
            for (int q = 0; q < ROWS; q++) {
                if (row[q] >= least[p]) f(row[q], column[p]) = f(row[q], column[p]) + x[p][q];
            }
    }
}

template <int N, class T>
__device__ void small_assemble(const fronts_view<T> &v, const trs_front_numbers &d,
                               square_front<T> f)
{
    for (int c = 0; c < d.children; c++) {
        small_add_child<N>(v, v.numbers[v.child[d.child + c]], f);
        __syncthreads();
    }
}

/* Entries of the front that a thread has in registers: rows lane + 32 q, columns warp + SMALL_WARPS p. */
template <class T, int N> struct front_registers {
    T a[N / 32][N / SMALL_WARPS];
    template <class F> __device__ void each(F f)
    {
#pragma unroll
        for (int p = 0; p < N / SMALL_WARPS; p++)
#pragma unroll
            for (int q = 0; q < N / 32; q++)
                f((int)threadIdx.x % 32 + 32 * q, (int)threadIdx.x / 32 + SMALL_WARPS * p, a[q][p]);
    }
};

/* Step k = SMALL_WARPS P0 + warp_of_k. */
template <int P0, int N, class T>
__device__ void small_step(front_registers<T, N> &r, step_buffer<T, N> &s, const fronts_view<T> &v,
                           int32_t first, int warp_of_k)
{
    const bool cholesky = v.cholesky;
    constexpr int Q0 = P0 * SMALL_WARPS / 32;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int k = SMALL_WARPS * P0 + warp_of_k;
    T *column = s.column[k % 2], *row = s.row[k % 2];
    if (v.largest && warp == warp_of_k && lane == k % 32)
        r.a[Q0][P0] = used_pivot(v, first + k, r.a[Q0][P0], true);
    if (warp == warp_of_k)
#pragma unroll
        for (int q = Q0; q < N / 32; q++) {
            column[lane + 32 * q] = r.a[q][P0];
            if (cholesky) row[lane + 32 * q] = conj_if(true, r.a[q][P0]);
        }
    if (!cholesky && lane == k % 32)
#pragma unroll
        for (int p = P0; p < N / SMALL_WARPS; p++) row[warp + SMALL_WARPS * p] = r.a[Q0][p];
    __syncthreads();
    const T inverse = number<T>(1) / pivot_of(cholesky, column[k]);
    T l[N / 32];
#pragma unroll
    for (int q = Q0; q < N / 32; q++)
        l[q] = lane + 32 * q > k ? column[lane + 32 * q] * inverse : number<T>(0);
#pragma unroll
    for (int p = P0; p < N / SMALL_WARPS; p++) {
        const int j = warp + SMALL_WARPS * p;
        const T u = row[j];
        if (j > k)
#pragma unroll
            for (int q = Q0; q < N / 32; q++) r.a[q][p] = r.a[q][p] - l[q] * u;
    }
}

template <int P0, int N, class T>
__device__ void small_steps(front_registers<T, N> &r, step_buffer<T, N> &s, const fronts_view<T> &v,
                            const trs_front_numbers &d)
{
    if (SMALL_WARPS * P0 >= d.cols) return;
    for (int w = 0; w < min(SMALL_WARPS, d.cols - SMALL_WARPS * P0); w++)
        small_step<P0>(r, s, v, d.first, w);
    if constexpr (P0 + 1 < N / SMALL_WARPS) small_steps<P0 + 1>(r, s, v, d);
}

/* The front into registers, all steps, and back. */
template <int N, class T>
__device__ void small_eliminate(const fronts_view<T> &v, const trs_front_numbers &d,
                                square_front<T> f, step_buffer<T, N> &s)
{
    front_registers<T, N> r;
    r.each([&](int i, int j, T &x) { x = i < f.order && j < f.order ? f(i, j) : number<T>(0); });
    small_steps<0>(r, s, v, d);
    r.each([&](int i, int j, T &x) {
        if (i < f.order && j < f.order) f(i, j) = x;
    });
    __syncthreads();
}

template <class T>
__device__ void small_store(const fronts_view<T> &v, const trs_front_numbers &d, square_front<T> f)
{
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    T *lower = v.panels + d.lower, *upper = v.panels + d.upper, *update = v.pool + d.update;
    for (int j = warp; j < f.cols; j += SMALL_WARPS) {
        const T pivot = pivot_of(v.cholesky, f(j, j)), inverse = number<T>(1) / pivot;
        const T scale = scale_of(v, pivot, inverse);
        if (lane == 0) {
            judge(v, d.first + j, pivot, inverse);
            lower[j * f.order + j] = diagonal_of(v, pivot);
        }
        for (int i = j + 1 + lane; i < f.order; i += 32) lower[j * f.order + i] = f(i, j) * scale;
    }
    if (!v.cholesky)
        for (int i = warp; i < f.cols; i += SMALL_WARPS)
            for (int j = i + 1 + lane; j < f.order; j += 32) upper[i * f.order + j] = f(i, j);
    for (int b = warp; b < d.rows; b += SMALL_WARPS)
        for (int a = (v.cholesky ? b : 0) + lane; a < d.rows; a += 32)
            update[b * d.rows + a] = f(d.cols + a, d.cols + b);
}

/* Thread blocks that an SM should have registers for: a front of a higher order, or of larger numbers, needs more. */
template <class T, int N> constexpr int small_blocks()
{
    if (sizeof(T) > 8) return 128 / N;
    if (sizeof(T) > 4 || N == 32) return 192 / N;
    return N == 64 ? 4 : 3;
}

template <class T, int N>
__device__ __forceinline__ void small_front(const fronts_view<T> &v, const launch_view &l)
{
    step_buffer<T, N> &s = *(step_buffer<T, N> *)shared_numbers<T>();
    const trs_front_numbers &d = v.numbers[l.list[blockIdx.x]];
    const int order = d.cols + d.rows;
    const square_front<T> f = {(T *)(&s + 1), order | 1, order, d.cols};
    TRS_ASSERT(order <= N);
    after_earlier_launches();
    small_load(v, d, f);
    small_assemble<N>(v, d, f);
    small_eliminate(v, d, f, s);
    small_store(v, d, f);
}

/* order <= N.  The smallest fronts have the fewest registers, so there the code for L L^H is apart from that for L U. */
template <class T, int N>
static __global__ void __launch_bounds__(SMALL_THREADS, small_blocks<T, N>())
    small_kernel(fronts_view<T> v, launch_view l)
{
    if (N > 32) small_front<T, N>(v, l);
    else if (v.cholesky) {
        v.cholesky = true;
        small_front<T, N>(v, l);
    } else {
        v.cholesky = false;
        small_front<T, N>(v, l);
    }
}

#endif
