/* panel.cuh: step k of a large front: its panel k, and what is to the right of it less the product of panel k-1.
 *
 * The first blocks of a front have PANEL_ROWS rows of lower or of upper, a thread a row, behind the panel.  Each of them
 * subtracts the product of panel k-1 from its rows in panel k and from the block on the diagonal, and factors that one for
 * itself, because a launch of its own would take longer: a warp of its own does it, whose lanes have a row each in registers.  Then:
 *
 *     x R = a,   R = U of the block for rows of L, L' for rows of U', L^H for rows of L L^H
 *
 * with R scaled by the inverses of its pivots, so that x(k) is final when columns up to k-1 are subtracted, and no thread
 * needs another one.  The block on the diagonal is read from where A was assembled, and written elsewhere by one block of
 * threads.  The other blocks have tiles of lower and of upper behind panel k (product.cuh).  What is read is of panel k-1, or
 * nobody else's, so that nobody waits for anything but the barriers of its block.
 *
 * The path is a product of 32 x 32 x 32, PANEL steps of a shuffle, an inverse and a product, and then a row of PANEL^2 / 2
 * multiply-adds by one thread, whatever the size of the front. */
#ifndef TRS_FRONTS_PANEL_CUH
#define TRS_FRONTS_PANEL_CUH

#include "product.cuh"

/* The warps of the rows, one that factors, and one that helps to load. */
enum {
    PANEL_ROWS = TRS_FRONT_PANEL_ROWS,
    ROW_WARPS = PANEL_ROWS / 32,
    PANEL_THREADS = PRODUCT_THREADS
};
static_assert(ROW_WARPS < PANEL_THREADS / 32);

/* Rows and columns of a block of PANEL x PANEL by columns; and of PANEL columns of the panel before. */
template <class T> using panel_block = T[PANEL][PANEL + 1];
template <class T> using panel_factor = T[PANEL][PANEL + 4];

template <class T> struct panel_memory {
    panel_block<T>
        a; /* a [j][i] = entry (i, j) of the block on the diagonal, columns of L not scaled */
    alignas(16) T u[PANEL][PANEL]; /* row k of U */
    alignas(16) T r[PANEL][PANEL]; /* R, row k scaled by inverse [k] */
    T inverse[PANEL], scale[PANEL];
    /* of panel k-1, the rows of the block on the diagonal in L and in U, or L^H */
    panel_factor<T> l_before, u_before;
    panel_factor<T> before[ROW_WARPS]; /* the rows of a warp */
    panel_block<T> rows[ROW_WARPS];    /* in panel k */
};

/* c -= x y' by a warp. */
template <class T>
__device__ inline void subtract_block(panel_block<T> &c, const panel_factor<T> &x,
                                      const panel_factor<T> &y)
{
    const int i = (int)threadIdx.x % 32;
    T sum[PANEL];
#pragma unroll
    for (int j = 0; j < PANEL; j++) sum[j] = c[j][i];
#pragma unroll 2
    for (int m = 0; m < PANEL; m++) {
        const T l = x[m][i];
#pragma unroll
        for (int j = 0; j < PANEL; j++) sum[j] = sum[j] - l * y[m][j];
    }
#pragma unroll
    for (int j = 0; j < PANEL; j++) c[j][i] = sum[j];
}

template <>
__device__ inline void subtract_block(panel_block<double> &c, const panel_factor<double> &x,
                                      const panel_factor<double> &y)
{
    const int row = (int)threadIdx.x % 32 / 4, k = (int)threadIdx.x % 4;
    double d[4][4][2];
#pragma unroll
    for (int p = 0; p < 4; p++)
#pragma unroll
        for (int q = 0; q < 4; q++)
#pragma unroll
            for (int e = 0; e < 2; e++) d[p][q][e] = c[8 * q + 2 * k + e][8 * p + row];
#pragma unroll
    for (int m = 0; m < PANEL; m += 4) {
        double l[4], u[4];
#pragma unroll
        for (int p = 0; p < 4; p++) l[p] = -x[m + k][8 * p + row], u[p] = y[m + k][8 * p + row];
#pragma unroll
        for (int p = 0; p < 4; p++)
#pragma unroll
            for (int q = 0; q < 4; q++) multiply_8x8x4(d[p][q], l[p], u[q]);
    }
#pragma unroll
    for (int p = 0; p < 4; p++)
#pragma unroll
        for (int q = 0; q < 4; q++)
#pragma unroll
            for (int e = 0; e < 2; e++) c[8 * q + 2 * k + e][8 * p + row] = d[p][q][e];
}

/* Beyond its columns the block is a unit matrix. */
template <bool cholesky, class T>
__device__ void load_block(const fronts_view<T> &v, const trs_front_numbers &d, int begin,
                           int width, panel_block<T> &a)
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
        else if constexpr (!cholesky) x[m] = upper[(begin + i) * order + begin + j];
    }
#pragma unroll
    for (int m = 0; m < EACH; m++) {
        const int k = (int)threadIdx.x + m * PANEL_THREADS;
        if (k < PANEL * PANEL) a[k / PANEL][k % PANEL] = x[m];
    }
}

/* The rows of the block on the diagonal, or zeros beyond them, in the panel before. */
template <bool cholesky, class T>
__device__ void load_before(const fronts_view<T> &v, const trs_front_numbers &d, int begin,
                            int width, panel_memory<T> &s)
{
    constexpr int EACH = (PANEL * PANEL + PANEL_THREADS - 1) / PANEL_THREADS;
    const int64_t order = d.cols + d.rows, at = (begin - PANEL) * order + begin;
    const T *lower = v.panels + d.lower + at, *upper = v.panels + d.upper + at;
    T l[EACH], u[EACH];
#pragma unroll
    for (int m = 0; m < EACH; m++) {
        const int k = (int)threadIdx.x + m * PANEL_THREADS, i = k % PANEL, j = k / PANEL;
        const bool there = j < PANEL && i < width;
        l[m] = there ? lower[j * order + i] : number<T>(0);
        if constexpr (cholesky) u[m] = conj_if(true, l[m]);
        else u[m] = there ? upper[j * order + i] : number<T>(0);
    }
#pragma unroll
    for (int m = 0; m < EACH; m++) {
        const int k = (int)threadIdx.x + m * PANEL_THREADS;
        if (k >= PANEL * PANEL) continue;
        s.l_before[k / PANEL][k % PANEL] = l[m];
        s.u_before[k / PANEL][k % PANEL] = u[m];
    }
}

/* By one warp: lane i has row i.  Row k of U, which of L L^H is the column of L, goes to the others through shared memory; each
 * has a place of its own, so that a barrier of the warp is enough.  Entries of L L^H above the diagonal are nobody's. */
template <bool cholesky, class T> __device__ void factor_block(panel_memory<T> &s, int width)
{
    const int i = (int)threadIdx.x % 32;
    T a[PANEL], mine = number<T>(1), my_pivot = number<T>(1);
#pragma unroll
    for (int j = 0; j < PANEL; j++) a[j] = s.a[j][i];
#pragma unroll
    for (int k = 0; k < PANEL; k++) {
        if (k >= width) break;
        if constexpr (cholesky) s.u[k][i] = conj_if(true, a[k]);
        else if (i == k) {
#pragma unroll
            for (int j = k + 1; j < PANEL; j++) s.u[k][j] = a[j];
        }
        const T pivot = pivot_of<cholesky>(shuffle(a[k], k)), inverse = number<T>(1) / pivot;
        if (i == k) mine = inverse, my_pivot = pivot;
        const T l = i > k ? a[k] * inverse : number<T>(0);
        __syncwarp();
#pragma unroll
        for (int j = k + 1; j < PANEL; j++) a[j] = a[j] - l * s.u[k][j];
    }
#pragma unroll
    for (int j = 0; j < PANEL; j++) s.a[j][i] = a[j];
    s.inverse[i] = mine;
    s.scale[i] = i < width ? scale_of<cholesky>(my_pivot, mine) : mine;
}

/* R (k, j), j > k, for rows of L or of U'. */
template <bool cholesky, class T> __device__ void scale_block(panel_memory<T> &s, bool lower)
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

template <bool cholesky, class T>
__device__ void store_block(const fronts_view<T> &v, const trs_front_numbers &d, int begin,
                            int width, const panel_memory<T> &s)
{
    T *to = v.panels + d.diagonal + (int64_t)begin * PANEL;
    for (int p = (int)threadIdx.x; p < PANEL * PANEL; p += PANEL_THREADS) {
        const int i = p % PANEL, j = p / PANEL;
        if (i >= width || j >= width) continue;
        if (i > j) to[p] = s.a[j][i] * s.scale[j];
        if (i < j) to[p] = s.a[j][i];
        if (i != j) continue;
        const T pivot = pivot_of<cholesky>(s.a[i][i]);
        to[p] = diagonal_of<cholesky>(pivot);
        judge<cholesky>(v, d.first + begin + i, pivot, s.inverse[i]);
    }
}

template <class T>
__device__ void solve_row(T (&x)[PANEL], T *row, int64_t order, int width, const panel_memory<T> &s,
                          bool scaled)
{
#pragma unroll
    for (int k = 0; k < PANEL; k++)
#pragma unroll
        for (int j = k + 1; j < PANEL; j++) x[j] = x[j] - x[k] * s.r[k][j];
#pragma unroll
    for (int k = 0; k < PANEL; k++)
        if (k < width) row[k * order] = scaled ? x[k] * s.scale[k] : x[k];
}

/* Columns of a row, which a lane keeps to itself; those that are not there are zero. */
template <class T>
__device__ inline void load_row(T (&x)[PANEL], const T *row, int64_t order, int width)
{
#pragma unroll
    for (int k = 0; k < PANEL; k++) x[k] = k < width ? row[k * order] : number<T>(0);
}

/* What a block of a panel works on. */
template <class T> struct panel_job {
    T *row;     /* its thread's row in the panel */
    int width;  /* of the panel */
    int begin;  /* its first column */
    bool lower; /* rows of L, not of U' */
    bool has_row, first;
};

/* x = the row of a thread, less the product of the panel before; the block on the diagonal is factored meanwhile. */
template <bool cholesky, class T>
__device__ void take_panel(const fronts_view<T> &v, const trs_front_numbers &d,
                           const panel_job<T> &w, panel_memory<T> &s, T (&x)[PANEL])
{
    const int64_t order = d.cols + d.rows;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const bool has_rows = warp<ROW_WARPS, factors = warp == ROW_WARPS, behind = w.begin> 0;
    const int width = w.has_row ? w.width : 0;
    load_block<cholesky>(v, d, w.begin, w.width, s.a);
    if (behind) load_before<cholesky>(v, d, w.begin, w.width, s);
    if (has_rows) load_row(x, w.row, order, width);
    if (has_rows && behind) {
        T y[PANEL];
        load_row(y, w.row - PANEL * order, order, w.has_row ? PANEL : 0);
#pragma unroll
        for (int k = 0; k < PANEL; k++)
            s.rows[warp][k][lane] = x[k], s.before[warp][k][lane] = y[k];
    }
    __syncthreads();
    if (factors) {
        if (behind) subtract_block<T>(s.a, s.l_before, s.u_before);
        __syncwarp();
        factor_block<cholesky>(s, w.width);
    } else if (has_rows && behind) {
        subtract_block<T>(s.rows[warp], s.before[warp], w.lower ? s.u_before : s.l_before);
        __syncwarp();
#pragma unroll
        for (int k = 0; k < PANEL; k++) x[k] = s.rows[warp][k][lane];
    }
    __syncthreads();
}

template <bool cholesky, class T>
__device__ void do_panel(const fronts_view<T> &v, const trs_front_numbers &d, const panel_job<T> &w,
                         panel_memory<T> &s)
{
    T x[PANEL];
    take_panel<cholesky>(v, d, w, s, x);
    scale_block<cholesky>(s, w.lower);
    if (w.first) store_block<cholesky>(v, d, w.begin, w.width, s);
    if (w.has_row) solve_row(x, w.row, d.cols + d.rows, w.width, s, w.lower);
}

template <class T, bool cholesky>
static __global__ void __launch_bounds__(PANEL_THREADS, sizeof(T) > 8 ? 1 : 2)
    panel_kernel(fronts_view<T> v, launch_view l)
{
    static_assert(sizeof(panel_memory<T>) >= sizeof(factor_tile<T>));
    int32_t block;
    const trs_front_numbers &d = front_of_block(v.numbers, l, &block);
    const int32_t order = d.cols + d.rows, begin = l.panel * PANEL;
    const int32_t width = min(PANEL, d.cols - begin), behind = begin + width;
    const int32_t pieces = max(1, (order - behind + PANEL_ROWS - 1) / PANEL_ROWS);
    const int32_t of_panel = cholesky || behind == order ? pieces : 2 * pieces;
    after_earlier_launches();
    if (block >= of_panel) {
        trail_tile<cholesky>(v, d, begin, behind, block - of_panel,
                             *(factor_tile<T> *)shared_numbers<T>());
        return;
    }
    panel_job<T> w = {NULL, width, begin, block < pieces, false, block == 0};
    const int32_t i = behind + (block % pieces) * PANEL_ROWS + (int)threadIdx.x;
    w.has_row = threadIdx.x < PANEL_ROWS && i < order;
    w.row = v.panels + (w.lower ? d.lower : d.upper) + (int64_t)begin * order + i;
    do_panel<cholesky>(v, d, w, *(panel_memory<T> *)shared_numbers<T>());
}

#endif
