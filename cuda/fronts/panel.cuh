/* panel.cuh: a panel of PANEL columns of a large front.
 *
 * Every thread block of a front factors the block on the diagonal for itself, because a separate launch would take
 * longer.  One warp does it, with a row in the registers of each lane, while each thread of the other warps loads a
 * row of L, or of U'.  Then:
 *
 *     x R = a,   R = U of the block for rows of L, L' for rows of U', L^H for rows of L L^H
 *
 * with R scaled by the inverses of its pivots, so that x(k) is final when columns up to k-1 are subtracted, and
 * no thread needs another one.  The block on the diagonal is read from where A was assembled, and written
 * elsewhere by one block of threads.  Threads wait only at the barriers of their block.  The path is PANEL steps
 * of a shuffle, an inverse, and a product, and then a row of PANEL^2 / 2 multiply-adds by one thread, whatever
 * the size of the front. */
#ifndef TRS_FRONTS_PANEL_CUH
#define TRS_FRONTS_PANEL_CUH

#include "arrays.cuh"

/* The last warp factors. */
enum { PANEL_ROWS = TRS_FRONT_PANEL_ROWS, PANEL_THREADS = PANEL_ROWS + 32 };

template <class T> struct diagonal_block {
    T a[PANEL][PANEL + 1];         /* a [j][i] = entry (i, j), columns of L not scaled */
    alignas(16) T u[PANEL][PANEL]; /* row k of U */
    alignas(16) T r[PANEL][PANEL]; /* R, row k scaled by inverse [k] */
    T inverse[PANEL], scale[PANEL];
};

/* Columns of a panel that are eliminated by unrolled code, since their numbers are in registers: all of them, or of complex
 * numbers, whose code is long, a few that it is repeated for. */
template <class T> constexpr int STEPS = IS_COMPLEX<T> ? 8 : int(PANEL);

/* f (j) for the columns first + j behind column first + k. */
template <class T, class F> __device__ inline void for_columns(int first, int k, F f)
{
#pragma unroll
    for (int group = 0; group < PANEL; group += STEPS<T>) {
        if (first + group < PANEL)
#pragma unroll
            for (int j = 0; j < STEPS<T>; j++)
                if (group + j > k) f(group + j);
    }
}

/* The numbers of the columns behind the eliminated ones to the front. */
template <class T> __device__ inline void next_steps(T (&a)[PANEL])
{
#pragma unroll
    for (int j = STEPS<T>; j < PANEL; j++) a[j - STEPS<T>] = a[j];
}

/* Beyond its columns the block is a unit matrix. */
template <class T>
__device__ void load_block(const fronts_view<T> &v, const trs_front_numbers &d, int begin,
                           int width, diagonal_block<T> &s)
{
    constexpr int EACH = (PANEL * PANEL + PANEL_THREADS - 1) / PANEL_THREADS;
    const int64_t order = d.cols + d.rows;
    const T *lower = v.panels + d.lower, *upper = v.panels + d.upper;
    T x[EACH];
#pragma unroll
    for (int m = 0; m < EACH; m++) {
        const int k = (int)threadIdx.x + m * PANEL_THREADS, i = k % PANEL, j = k / PANEL;
        x[m] = number<T>(i == j);
        if (i >= width || j >= width) continue;
        if (i >= j) x[m] = lower[(begin + j) * order + begin + i];
        else if (!v.cholesky) x[m] = upper[(begin + i) * order + begin + j];
    }
#pragma unroll
    for (int m = 0; m < EACH; m++) {
        const int k = (int)threadIdx.x + m * PANEL_THREADS;
        if (k < PANEL * PANEL) s.a[k / PANEL][k % PANEL] = x[m];
    }
    __syncthreads();
}

/* By one warp: lane i has row i.  Row k of U, which of L L^H is the column of L, goes to the others through shared memory;
 * each has a place of its own, so that a barrier of the warp is enough.  Entries of L L^H above the diagonal are
 * nobody's. */
template <class T>
__device__ void factor_block(const fronts_view<T> &v, int32_t column, diagonal_block<T> &s,
                             int width, bool counts)
{
    const int i = (int)threadIdx.x % 32;
    const bool cholesky = v.cholesky;
    T a[PANEL], mine = number<T>(1), my_pivot = number<T>(1);
#pragma unroll
    for (int j = 0; j < PANEL; j++) a[j] = s.a[j][i];
#pragma unroll 1
    for (int first = 0; first < PANEL; first += STEPS<T>) {
        /* a [j] is entry (i, first + j) */
#pragma unroll
        for (int k = 0; k < STEPS<T>; k++) {
            const int step = first + k;
            T *u = (T *)__builtin_assume_aligned(s.u[step] + first, 16);
            if (step >= width) break;
            if (cholesky) s.u[step][i] = conj_if(true, a[k]);
            else if (i == step) for_columns<T>(first, k, [&](int j) { u[j] = a[j]; });
            if (v.largest && i == step) a[k] = used_pivot(v, column + step, a[k], counts);
            const T pivot = pivot_of(cholesky, shuffle(a[k], step));
            const T inverse = number<T>(1) / pivot;
            if (i == step) mine = inverse, my_pivot = pivot;
            const T l = i > step ? a[k] * inverse : number<T>(0);
            __syncwarp();
            for_columns<T>(first, k, [&](int j) { a[j] = a[j] - l * u[j]; });
        }
#pragma unroll
        for (int k = 0; k < STEPS<T>; k++) s.a[first + k][i] = a[k];
        next_steps(a);
    }
    s.inverse[i] = mine;
    s.scale[i] = i < width ? scale_of(v, my_pivot, mine) : mine;
}

/* R (k, j), j > k, for rows of L or of U'. */
template <class T> __device__ void scale_block(diagonal_block<T> &s, bool cholesky, bool lower)
{
#pragma unroll 4
    for (int p = (int)threadIdx.x; p < PANEL * PANEL; p += PANEL_THREADS) {
        const int j = p % PANEL, k = p / PANEL;
        const bool from_u = !cholesky && lower;
        const T x = from_u ? s.a[j][k] : conj_if(cholesky, s.a[k][j]);
        if (j > k) s.r[k][j] = s.inverse[k] * x;
    }
    __syncthreads();
}

template <class T>
__device__ void store_block(const fronts_view<T> &v, const trs_front_numbers &d, int begin,
                            int width, const diagonal_block<T> &s)
{
    T *to = v.panels + d.diagonal + (int64_t)begin * PANEL;
    for (int p = (int)threadIdx.x; p < PANEL * PANEL; p += PANEL_THREADS) {
        const int i = p % PANEL, j = p / PANEL;
        if (i >= width || j >= width) continue;
        if (i > j) to[p] = s.a[j][i] * s.scale[j];
        if (i < j) to[p] = s.a[j][i];
        if (i != j) continue;
        const T pivot = pivot_of(v.cholesky, s.a[i][i]);
        to[p] = diagonal_of(v, pivot);
        judge(v, d.first + begin + i, pivot, s.inverse[i]);
    }
}

template <class T>
__device__ void solve_row(T (&x)[PANEL], T *row, int64_t order, int width,
                          const diagonal_block<T> &s, bool scaled)
{
#pragma unroll 1
    for (int first = 0; first < PANEL; first += STEPS<T>) {
        /* x [j] is in column first + j */
#pragma unroll
        for (int k = 0; k < STEPS<T>; k++) {
            const T *r = (const T *)__builtin_assume_aligned(s.r[first + k] + first, 16);
            for_columns<T>(first, k, [&](int j) { x[j] = x[j] - x[k] * r[j]; });
        }
#pragma unroll
        for (int k = 0; k < STEPS<T>; k++) {
            const int column = first + k;
            if (column < width) row[column * order] = scaled ? x[k] * s.scale[column] : x[k];
        }
        next_steps(x);
    }
}

template <class T>
static __global__ void __launch_bounds__(PANEL_THREADS)
    panel_kernel(fronts_view<T> v, launch_view l)
{
    diagonal_block<T> &s = *(diagonal_block<T> *)shared_numbers<T>();
    int32_t block;
    const trs_front_numbers &d = front_of_block(v.numbers, l, &block);
    const int32_t order = d.cols + d.rows, begin = l.panel * PANEL;
    const int32_t width = min(PANEL, d.cols - begin), left = order - begin - width;
    const int32_t blocks = max(1, (left + PANEL_ROWS - 1) / PANEL_ROWS); /* for rows of L, of U' */
    const bool lower = block < blocks;
    const int32_t i = (block % blocks) * PANEL_ROWS + (int)threadIdx.x;
    const bool has_row = threadIdx.x < PANEL_ROWS && i < left;
    T *row = v.panels + (lower ? d.lower : d.upper) + (int64_t)begin * order + begin + width + i;
    T x[PANEL];
    after_earlier_launches();
    load_block(v, d, begin, width, s);
    if (threadIdx.x >= PANEL_ROWS) factor_block(v, d.first + begin, s, width, block == 0);
    else
#pragma unroll
        for (int k = 0; k < PANEL; k++)
            x[k] = has_row && k < width ? row[k * (int64_t)order] : number<T>(0);
    __syncthreads();
    scale_block(s, v.cholesky, lower);
    if (block == 0) store_block(v, d, begin, width, s);
    if (has_row) solve_row(x, row, order, width, s, lower);
}

#endif
