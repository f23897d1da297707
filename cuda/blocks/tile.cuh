/* tile.cuh: tiles of 64x64 numbers, and the operations of the 256 threads of a block on one.
 *
 * Entry (i, k) of a tile is at (k/4)*256 + i*4 + k%4: groups of four columns, so that the threads of a warp read
 * neighbouring 16 or 32 bytes.  A panel of fewer rows is stored by the same formula, with 4 times its rows for 256.
 *
 *     k%4 ->   0    1    2    3       columns 0-3        4-7             60-63
 *     row 0    0    1    2    3      +---------+---------+--   --+---------+
 *     row 1    4    5    6    7      |  0..255 |256..511 |  ...  |  ..4095 |
 *     ...                            +---------+---------+--   --+---------+
 *     row 63  252  253  254  255
 *
 * One right-hand side: four lanes share a row, lane q has the columns k = q mod 4, and neighbours read neighbours.
 * R right-hand sides: a thread reads four entries of its row at once, and has a quarter of the right-hand sides. */
#ifndef TRS_TILE_CUH
#define TRS_TILE_CUH

#include "cuda/runtime/flag.cuh"

#include "base/debug.h"

#include <cuda_pipeline.h>
#include <type_traits>

enum { BLOCK = 64, TILE_SIZE = BLOCK * BLOCK, BLOCK_THREADS = 256 };

__host__ __device__ constexpr int tile_place(int i, int k, int rows = BLOCK)
{
    return k / 4 * 4 * rows + i * 4 + k % 4;
}

/* ---- who has which row ------------------------------------------------------------------------------- */

/* The share that a thread has of 64 rows and R right-hand sides, 1 or a multiple of 4. */
template <int R> struct share {
    static constexpr int COLUMNS = R == 1 ? 1 : R / 4;
    int row, first; /* its row, and the first of its COLUMNS right-hand sides */
    int lane;       /* R = 1: which of the four that share the row it is */
    __device__ share()
        : row(R == 1 ? (int)threadIdx.x / 4 : (int)threadIdx.x % BLOCK),
          first(R == 1 ? 0 : (int)threadIdx.x / BLOCK * COLUMNS), lane((int)threadIdx.x % 4)
    {
    }
    __device__ bool writes() const
    {
        return R > 1 || lane == 0;
    } /* it has sums that no other thread has */
};

template <class T> struct alignas(16) quad {
    T v[4];
};

/* Groups of four columns of a tile that a product unrolls: a complex number is four multiply-adds, so that one group is
 * enough to hide the latency. */
template <class T> constexpr int QUADS_UNROLLED = std::is_floating_point_v<T> ? 2 : 1;

/* sum += or -= tile * x, this thread's share; x [64][R] in shared memory, R > 1. */
template <class T, int R>
__device__ inline void add_product(T (&sum)[share<R>::COLUMNS], const T *tile, const T *x,
                                   bool minus, bool cj)
{
    constexpr int C = share<R>::COLUMNS;
    const share<R> me;
    T part[C];
    for (int c = 0; c < C; c++) part[c] = number<T>(0);
#pragma unroll QUADS_UNROLLED < T>
    for (int k = 0; k < BLOCK; k += 4) {
        const quad<T> l = *(const quad<T> *)(tile + tile_place(me.row, k));
#pragma unroll
        for (int z = 0; z < 4; z++) {
            const pack<T, C> v = *(const pack<T, C> *)(x + (k + z) * R + me.first);
            const T a = conj_if(cj, l.v[z]);
#pragma unroll
            for (int c = 0; c < C; c++) part[c] = part[c] + a * v.v[c];
        }
    }
    for (int c = 0; c < C; c++) sum[c] = minus ? sum[c] - part[c] : sum[c] + part[c];
}

/* R = 1: the sum over the four lanes of a row, the same in each of them. */
template <class T, int R> __device__ inline void join_lanes(T (&sum)[share<R>::COLUMNS])
{
    if constexpr (R == 1) {
        sum[0] = sum[0] + shuffle_xor(sum[0], 1);
        sum[0] = sum[0] + shuffle_xor(sum[0], 2);
    }
}

/* Row k of v, from which all other terms were subtracted, divided by its diagonal entry, in v and in x [rows][R].  The
 * code of a quotient is long: of many right-hand sides each is divided by another thread.  Ends with a barrier. */
template <class T, int R>
__device__ inline void divide_row(T (&v)[share<R>::COLUMNS], const T *tile, int k, int rows, T *x,
                                  bool cj)
{
    constexpr int COLUMNS = share<R>::COLUMNS;
    const share<R> me;
    const bool has_row = me.row == k;
    T *row = x + k * R, *mine = row + me.first;
    if constexpr (COLUMNS > 2) {
        for (int c = 0; c < COLUMNS && has_row; c++) mine[c] = v[c];
        __syncthreads();
        if (threadIdx.x < R)
            row[threadIdx.x] = row[threadIdx.x] / conj_if(cj, tile[tile_place(k, k, rows)]);
        __syncthreads();
        for (int c = 0; c < COLUMNS && has_row; c++) v[c] = mine[c];
    } else {
        for (int c = 0; c < COLUMNS && has_row; c++)
            mine[c] = v[c] = v[c] / conj_if(cj, tile[tile_place(k, k, rows)]);
        __syncthreads();
    }
}

/* v = tile^-1 v by substitution, row after row, where the inverse would be inaccurate.  The tile is lower; x
 * [rows][R] in shared memory is scratch.  This takes a barrier a row, or two: it is slow, and rare. */
template <class T, int R>
__device__ inline void substitute(T (&v)[share<R>::COLUMNS], const T *tile, int rows, T *x, bool cj)
{
    const share<R> me;
    TRS_ASSERT(rows >= 1 && rows <= BLOCK);
    for (int k = 0; k < rows; k++) {
        divide_row<T, R>(v, tile, k, rows, x, cj);
        for (int c = 0; c < share<R>::COLUMNS && me.row > k && me.row < rows; c++)
            v[c] = v[c] - conj_if(cj, tile[tile_place(me.row, k, rows)]) * x[k * R + me.first + c];
    }
}

/* ---- a slice: 16 rows of 64, one right-hand side, 256 threads ------------------------------------------ */

enum {
    SLICE = 16,             /* rows that a thread block has, so that all SMs have some to read */
    SLICES = BLOCK / SLICE, /* in a row of tiles */
    WARPS = BLOCK_THREADS / 32
};

/* The part of a slice of a tile that a thread has: four columns of row threadIdx.x % SLICE. */
template <class T> struct part_of_tile {
    quad<T> v;
    __device__ static int column() { return 4 * ((int)threadIdx.x / SLICE); }
    __device__ void load(const T *tile, int first_row, int rows = BLOCK)
    {
        v = *(const quad<T> *)(tile +
                               tile_place(first_row + (int)threadIdx.x % SLICE, column(), rows));
    }
    /* sum += the part times x [64]. */
    __device__ void multiply(T (&sum)[4], const T *x, bool cj) const
    {
        const quad<T> w = *(const quad<T> *)(x + column());
#pragma unroll
        for (int z = 0; z < 4; z++) sum[z] = sum[z] + conj_if(cj, v.v[z]) * w.v[z];
    }
};

/* The sum over all threads of a row, in each of them; part [WARPS] in shared memory is scratch. */
template <class T> __device__ inline T join_parts(T (*part)[SLICE], const T (&sum)[4])
{
    const int row = threadIdx.x % SLICE;
    T v = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    v = v + shuffle_xor(v, SLICE);
    part[threadIdx.x / 32][row] = v;
    __syncthreads();
    T half[2];
    for (int k = 0; k < 2; k++)
        half[k] = (part[4 * k][row] + part[4 * k + 1][row]) +
                  (part[4 * k + 2][row] + part[4 * k + 3][row]);
    return half[0] + half[1];
}

/* ---- tiles from global to shared memory, ahead of their use --------------------------------------- */

/* Starts the copy of a tile, 16 bytes a thread at a time; the caller commits. */
template <class T> __device__ inline void fetch_tile(T *to, const T *from)
{
    constexpr int EACH = 16 / sizeof(T);
#pragma unroll
    for (int e = (int)threadIdx.x * EACH; e < TILE_SIZE; e += BLOCK_THREADS * EACH)
        __pipeline_memcpy_async(to + e, from + e, 16);
}

#endif
