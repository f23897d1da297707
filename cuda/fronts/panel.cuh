/* panel.cuh: large fronts: what children give to a tile, and a panel of PANEL columns.
 *
 * assemble_kernel: a block owns a tile of the front, adds what each child has for it in shared memory, child after child,
 * and writes it to the panels or to the update matrix.  It finds the rows of a child in its two strips beforehand
 * (schedule.h), and reads every number of a child once: it is bounded by the bandwidth of memory.
 *
 * panel_kernel: every block of a front factors the block on the diagonal for itself, in shared memory, with one barrier a
 * column as in small.cuh, because a launch of its own would take longer.  Then each thread has a row of L, or of U':
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

enum { PANEL_THREADS = TRS_FRONT_PANEL_ROWS, ASSEMBLE_THREADS = 256 };

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

/* tile (i, j) += what a child has for the tile; its places ascend. */
template <class T>
__device__ void add_child(const fronts_view<T> &v, const strip &down, const strip &across,
                          T (*tile)[TILE + 1], bool triangle)
{
    const trs_front_numbers &c = v.numbers[down.share->child];
    const int32_t *to = v.to + c.row;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    for (int b = across.share->begin + warp; b < across.share->end; b += ASSEMBLE_THREADS / 32) {
        const T *column = v.pool + c.update + (int64_t)b * c.rows;
        T *there = tile[to[b] - across.begin];
        for (int a = down.share->begin + lane; a < down.share->end; a += 32) {
            if (triangle && a < b) continue;
            T &sum = there[to[a] - down.begin];
            sum = sum + column[a];
        }
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
    for (int k = (int)threadIdx.x; k < TILE * TILE; k += ASSEMBLE_THREADS) {
        const int i = turned ? k / TILE : k % TILE, j = turned ? k % TILE : k / TILE;
        const int row = down.begin + i, column = across.begin + j;
        if (i >= height || j >= width || (triangle && row < column)) continue;
        T *to = entry_at(v, d, row, column);
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
    T a[PANEL][PANEL + 1];         /* a [j][i] = entry (i, j), unscaled columns of L */
    alignas(16) T r[PANEL][PANEL]; /* R, row k scaled by inverse [k] */
    T inverse[PANEL], scale[PANEL];
};

/* Beyond its columns the block is a unit matrix. */
template <bool cholesky, class T>
__device__ void load_block(const fronts_view<T> &v, const trs_front_numbers &d, int begin,
                           int width, diagonal_block<T> &s)
{
    const int64_t order = d.cols + d.rows;
    for (int k = (int)threadIdx.x; k < PANEL * PANEL; k += PANEL_THREADS) {
        const int i = k % PANEL, j = k / PANEL;
        T x = number<T>(i == j);
        if (i < width && j < width && i >= j)
            x = v.panels[d.lower + (begin + j) * order + begin + i];
        if constexpr (!cholesky)
            if (i < j && j < width) x = v.panels[d.upper + (begin + i) * order + begin + j];
        s.a[j][i] = x;
    }
    __syncthreads();
}

template <bool cholesky, class T> __device__ void factor_block(diagonal_block<T> &s, int width)
{
    const int lane = (int)threadIdx.x % 32;
    for (int k = 0; k < width; k++) {
        const T pivot = pivot_of<cholesky>(s.a[k][k]), inverse = number<T>(1) / pivot;
        if (threadIdx.x == 0) {
            s.inverse[k] = inverse;
            s.scale[k] = scale_of<cholesky>(pivot, inverse);
        }
        for (int j = k + 1 + (int)threadIdx.x / 32; j < width; j += PANEL_THREADS / 32) {
            const T u = inverse * (cholesky ? conj_if(true, s.a[k][j]) : s.a[j][k]);
            const int i = lane;
            if (i > k && i < width && (!cholesky || i >= j)) s.a[j][i] = s.a[j][i] - s.a[k][i] * u;
        }
        __syncthreads();
    }
    if (threadIdx.x >= width && threadIdx.x < PANEL)
        s.inverse[threadIdx.x] = s.scale[threadIdx.x] = number<T>(1);
    __syncthreads();
}

/* R (k, j), j > k, for rows of L or of U'. */
template <bool cholesky, class T> __device__ void scale_block(diagonal_block<T> &s, bool lower)
{
    for (int p = (int)threadIdx.x; p < PANEL * PANEL; p += PANEL_THREADS) {
        const int j = p % PANEL, k = p / PANEL;
        if (j <= k) continue;
        const bool from_u = !cholesky && lower;
        s.r[k][j] = s.inverse[k] * (from_u ? s.a[j][k] : conj_if(cholesky, s.a[k][j]));
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
__device__ void solve_row(T *row, int64_t order, int width, const diagonal_block<T> &s, bool scaled)
{
    T x[PANEL];
#pragma unroll
    for (int k = 0; k < PANEL; k++) x[k] = k < width ? row[k * order] : number<T>(0);
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
    const int32_t pieces = max(1, (left + PANEL_THREADS - 1) / PANEL_THREADS);
    const bool lower = block < pieces;
    load_block<cholesky>(v, d, begin, width, s);
    factor_block<cholesky>(s, width);
    scale_block<cholesky>(s, lower);
    if (block == 0) store_block<cholesky>(v, d, begin, width, s);
    const int32_t i = (block % pieces) * PANEL_THREADS + (int)threadIdx.x;
    if (i >= left) return;
    T *row = v.panels + (lower ? d.lower : d.upper) + (int64_t)begin * order + begin + width + i;
    solve_row(row, order, width, s, lower);
}

#endif
