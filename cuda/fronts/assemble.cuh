/* assemble.cuh: the contributions of children to the tiles of a large front.
 *
 * A block owns a tile of the front, adds the contribution of each child in shared memory, child after child, and
 * writes the tile to the panels or to the update matrix.  The schedule lists the rows of a child that fall into its
 * two strips (schedule.h).  Everything that it reads is from earlier launches, so it does not wait.  Each number of a
 * child is read once: the bandwidth of memory bounds it, and for a few tiles a chain of four loads a child. */
#ifndef TRS_FRONTS_ASSEMBLE_CUH
#define TRS_FRONTS_ASSEMBLE_CUH

#include "arrays.cuh"

enum { ASSEMBLE_THREADS = 256, ASSEMBLE_WARPS = ASSEMBLE_THREADS / 32 };

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

/* tile (i, j) += what a child has for the tile; its places ascend.  A lane has two rows, a warp columns ASSEMBLE_WARPS
 * apart: all of what a thread adds is under way before it adds the first. */
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
    const auto has = [&](int i, int j) { return i < a_end && j < b_end && !(triangle && i < j); };
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
            if (has(a + 32 * q, at)) x[p][q] = from[(int64_t)at * c.rows + a + 32 * q];
    }
#pragma unroll
    for (int p = 0; p < COLUMNS; p++)
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
            if (!has(a + 32 * q, b + ASSEMBLE_WARPS * p)) continue;
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

template <class T>
static __global__ void __launch_bounds__(ASSEMBLE_THREADS)
    assemble_kernel(fronts_view<T> v, launch_view l)
{
    T(*tile)[TILE + 1] = (T(*)[TILE + 1]) shared_numbers<T>();
    int32_t block, i, j;
    const trs_front_numbers &d = front_of_block(v.numbers, l, &block);
    const int32_t q = d.strips;
    if (v.cholesky) lower_tile(block, q, &i, &j);
    else i = block % q, j = block / q;
    strip down = strip_of(v, d, i), across = strip_of(v, d, j);
    /* an update matrix is always written */
    bool any = down.begin >= d.cols && across.begin >= d.cols;
    for (int k = (int)threadIdx.x; k < TILE * (TILE + 1); k += ASSEMBLE_THREADS)
        tile[0][k] = number<T>(0);
    __syncthreads();
    after_earlier_launches();
    while (down.share < down.shares_end && across.share < across.shares_end) {
        const int32_t a = down.share->child, b = across.share->child;
        if (a == b) {
            add_child(v, down, across, tile, v.cholesky);
            any = true;
            __syncthreads();
        }
        if (a <= b) down.share++;
        if (b <= a) across.share++;
    }
    if (any) write_tile(v, d, down, across, tile, v.cholesky);
}

#endif
