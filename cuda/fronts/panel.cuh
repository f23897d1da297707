/* panel.cuh: large fronts: what children give to a tile, and a panel of PANEL columns.
 *
 * assemble_kernel: a block owns a tile of the front, adds what each child has for it in shared memory, child after child,
 * and writes it to the panels or to the update matrix.  It finds the rows of a child in its two strips beforehand
 * (schedule.h), and reads every number of a child once: it is bounded by the bandwidth of memory.
 *
 * panel_kernel: every block of a front factors the block on the diagonal for itself, by one warp whose lanes have a row each in
 * registers, because a launch of its own would take longer, while the other warps load a row of L, or of U', a thread:
 *
 *     x R = a,   R = U of the block for rows of L, L' for rows of U', L^H for rows of L L^H
 *
 * with R scaled by the inverses of its pivots, so that x(k) is final when columns up to k-1 are subtracted, and no thread
 * needs another one.  The block on the diagonal is read from where A was assembled, and written elsewhere by one block.
 * Nobody waits for anything but the barriers of its block.  The path is PANEL steps of about 170 clocks and a row of
 * PANEL^2 / 2 multiply-adds by one thread: about 4 us, whatever the size of the front. */
#ifndef TRS_FRONTS_PANEL_CUH
#define TRS_FRONTS_PANEL_CUH

#include "arrays.cuh"

enum {
    PANEL_ROWS = TRS_FRONT_PANEL_ROWS,
    PANEL_THREADS = PANEL_ROWS + 32, /* the last warp factors */
    ASSEMBLE_THREADS = 256,
    ASSEMBLE_WARPS = ASSEMBLE_THREADS / 32
};

/* Number `at` of the pairs (i, j), 0 <= j <= i < q, is in column j: columns of q, q-1, ... tiles. */
__device__ inline void lower_tile(int32_t at, int32_t q, int32_t *i, int32_t *j)
{
    const double edge = q + 0.5;
    int32_t column = (int32_t)(edge - sqrt(edge * edge - 2.0 * at));
    column = max(0, min(column, q - 1));
    while (column > 0 && (int64_t)column * q - (int64_t)column * (column - 1) / 2 > at) column--;
    while ((column + 1ll) * q - (column + 1ll) * column / 2 <= at) column++;
    *j = column;
    *i = column + (at - (int32_t)((int64_t)column * q - (int64_t)column * (column - 1) / 2));
}

/* ---- assembly ---------------------------------------------------------------------------------------------- */

struct strip { /* of a front: its rows begin .. end-1, and the children's shares of it */
    int32_t begin, end;
    const trs_front_share *share, *shares_end;
};

template <class T>
__device__ strip strip_of(const fronts_view<T> &v, const trs_front_numbers &d, int32_t number)
{
    strip s;
    const int32_t pivots = d.pivot_strips;
    s.begin = number < pivots ? number * TILE : d.cols + (number - pivots) * TILE;
    s.end = min(s.begin + TILE, number < pivots ? d.cols : d.cols + d.rows);
    s.share = v.share + v.strip_ptr[d.strip + number];
    s.shares_end = v.share + v.strip_ptr[d.strip + number + 1];
    return s;
}

/* tile (i, j) += what a child has for the tile; its places ascend.  A lane has two rows, a warp columns ASSEMBLE_WARPS apart:
 * all of what a thread adds is under way before it adds the first. */
template <class T>
__device__ void add_child(const fronts_view<T> &v, const strip &down, const strip &across,
                          T (*tile)[TILE + 1], bool triangle)
{
    constexpr int ROWS = TILE / 32, COLUMNS = TILE / ASSEMBLE_WARPS;
    const trs_front_numbers &c = v.numbers[down.share->child];
    const int32_t *to = v.to + c.row;
    const T *from = v.pool + c.update;
    const int a = down.share->begin + (int)threadIdx.x % 32;
    const int b = across.share->begin + (int)threadIdx.x / 32;
    const int a_end = down.share->end, b_end = across.share->end;
    T x[COLUMNS][ROWS];
    int row[ROWS], column[COLUMNS];
#pragma unroll
    for (int q = 0; q < ROWS; q++) row[q] = a + 32 * q < a_end ? to[a + 32 * q] - down.begin : -1;
#pragma unroll
    for (int p = 0; p < COLUMNS; p++) {
        const int at = b + ASSEMBLE_WARPS * p;
        column[p] = at < b_end ? to[at] - across.begin : -1;
#pragma unroll
        for (int q = 0; q < ROWS; q++)
            if (a + 32 * q < a_end && at < b_end) x[p][q] = from[(int64_t)at * c.rows + a + 32 * q];
    }
#pragma unroll
    for (int p = 0; p < COLUMNS; p++)
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
            const bool above = triangle && a + 32 * q < b + ASSEMBLE_WARPS * p;
            if (column[p] < 0 || row[q] < 0 || above) continue;
            tile[column[p]][row[q]] = tile[column[p]][row[q]] + x[p][q];
        }
}

/* Where entry (i, j) of a front stands. */
template <class T>
__device__ inline T *entry_at(const fronts_view<T> &v, const trs_front_numbers &d, int32_t i,
                              int32_t j)
{
    const int64_t order = d.cols + d.rows;
    if (j < d.cols && i >= j) return v.panels + d.lower + j * order + i;
    if (i < d.cols) return v.panels + d.upper + i * order + j;
    return v.pool + d.update + (int64_t)(j - d.cols) * d.rows + (i - d.cols);
}

/* Entries of the panels have those of A already, and entries of the update matrix nothing. */
template <class T>
__device__ void write_tile(const fronts_view<T> &v, const trs_front_numbers &d, const strip &down,
                           const strip &across, T (*tile)[TILE + 1], bool triangle)
{
    const bool turned = down.begin < across.begin; /* in U', rows of the front are side by side */
    const int height = down.end - down.begin, width = across.end - across.begin;
#pragma unroll 4
    for (int k = (int)threadIdx.x; k < TILE * TILE; k += ASSEMBLE_THREADS) {
        const int i = turned ? k / TILE : k % TILE, j = turned ? k % TILE : k / TILE;
        const int row = down.begin + i, column = across.begin + j;
        if (i >= height || j >= width || (triangle && row < column)) continue;
        T *__restrict__ to = entry_at(v, d, row, column);
        *to = row >= d.cols && column >= d.cols ? tile[j][i] : *to + tile[j][i];
    }
}

template <class T, bool cholesky>
static __global__ void __launch_bounds__(ASSEMBLE_THREADS)
    assemble_kernel(fronts_view<T> v, launch_view l)
{
    T(*tile)[TILE + 1] = (T(*)[TILE + 1]) shared_numbers<T>();
    int32_t block, i, j;
    const trs_front_numbers &d = front_of_block(v.numbers, l, &block);
    const int32_t q = d.strips;
    if constexpr (cholesky) lower_tile(block, q, &i, &j);
    else i = block % q, j = block / q;
    strip down = strip_of(v, d, i), across = strip_of(v, d, j);
    bool any =
        down.begin >= d.cols && across.begin >= d.cols; /* an update matrix is always written */
    for (int k = (int)threadIdx.x; k < TILE * (TILE + 1); k += ASSEMBLE_THREADS)
        tile[0][k] = number<T>(0);
    __syncthreads();
    after_earlier_launches();
    while (down.share < down.shares_end && across.share < across.shares_end) {
        const int32_t a = down.share->child, b = across.share->child;
        if (a == b) {
            add_child(v, down, across, tile, cholesky);
            any = true;
            __syncthreads();
        }
        if (a <= b) down.share++;
        if (b <= a) across.share++;
    }
    if (any) write_tile(v, d, down, across, tile, cholesky);
}

/* ---- a panel ------------------------------------------------------------------------------------------------ */

template <class T> struct diagonal_block {
    T a[PANEL][PANEL + 1];         /* a [j][i] = entry (i, j), columns of L not scaled */
    alignas(16) T u[PANEL][PANEL]; /* row k of U */
    alignas(16) T r[PANEL][PANEL]; /* R, row k scaled by inverse [k] */
    T inverse[PANEL], scale[PANEL];
};

/* Beyond its columns the block is a unit matrix. */
template <bool cholesky, class T>
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
        else if constexpr (!cholesky) x[m] = upper[(begin + i) * order + begin + j];
    }
#pragma unroll
    for (int m = 0; m < EACH; m++) {
        const int k = (int)threadIdx.x + m * PANEL_THREADS;
        if (k < PANEL * PANEL) s.a[k / PANEL][k % PANEL] = x[m];
    }
    __syncthreads();
}

/* By one warp: lane i has row i.  Row k of U, which of L L^H is the column of L, goes to the others through shared memory; each
 * has a place of its own, so that a barrier of the warp is enough.  Entries of L L^H above the diagonal are nobody's. */
template <bool cholesky, class T> __device__ void factor_block(diagonal_block<T> &s, int width)
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
template <bool cholesky, class T> __device__ void scale_block(diagonal_block<T> &s, bool lower)
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
                            int width, const diagonal_block<T> &s)
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
__device__ void solve_row(T (&x)[PANEL], T *row, int64_t order, int width,
                          const diagonal_block<T> &s, bool scaled)
{
#pragma unroll
    for (int k = 0; k < PANEL; k++)
#pragma unroll
        for (int j = k + 1; j < PANEL; j++) x[j] = x[j] - x[k] * s.r[k][j];
#pragma unroll
    for (int k = 0; k < PANEL; k++)
        if (k < width) row[k * order] = scaled ? x[k] * s.scale[k] : x[k];
}

template <class T, bool cholesky>
static __global__ void __launch_bounds__(PANEL_THREADS)
    panel_kernel(fronts_view<T> v, launch_view l)
{
    diagonal_block<T> &s = *(diagonal_block<T> *)shared_numbers<T>();
    int32_t block;
    const trs_front_numbers &d = front_of_block(v.numbers, l, &block);
    const int32_t order = d.cols + d.rows, begin = l.panel * PANEL;
    const int32_t width = min(PANEL, d.cols - begin), left = order - begin - width;
    const int32_t pieces = max(1, (left + PANEL_ROWS - 1) / PANEL_ROWS);
    const bool lower = block < pieces;
    const int32_t i = (block % pieces) * PANEL_ROWS + (int)threadIdx.x;
    const bool has_row = threadIdx.x < PANEL_ROWS && i < left;
    T *row = v.panels + (lower ? d.lower : d.upper) + (int64_t)begin * order + begin + width + i;
    T x[PANEL];
    after_earlier_launches();
    load_block<cholesky>(v, d, begin, width, s);
    if (threadIdx.x >= PANEL_ROWS) factor_block<cholesky>(s, width);
    else
#pragma unroll
        for (int k = 0; k < PANEL; k++)
            x[k] = has_row && k < width ? row[k * (int64_t)order] : number<T>(0);
    __syncthreads();
    scale_block<cholesky>(s, lower);
    if (block == 0) store_block<cholesky>(v, d, begin, width, s);
    if (has_row) solve_row(x, row, order, width, s, lower);
}

#endif
