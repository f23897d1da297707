/* dense_doubling_tiled.cu: dense-doubling with tiles in shared memory.
 * Source: "Dense Lower Triangular Solver", section "GPU Complex 2" with "Parallel Optimizations".
 *
 * From i = 32 on, 32x32 tiles of the row elements and of the multipliers pass through shared memory.  Then a tile of
 * 32 valid rows has one set of multipliers, and the columns left of them are a multiple of 64: a tile is inside or
 * outside as a whole, and only rows y >= n need a guard.  For smaller i a tile would contain valid and other rows, so
 * the kernel of doubling.cuh is used.
 *
 * A block of threads owns a tile of L for one launch; nothing waits for another block: it cannot hang.
 * An update multiplies n^3 / 6 times with a 32nd of the reads of dense-doubling; its time is that of shared memory.  A
 * solve is that of dense-doubling. */
#include "config.h"

#include "base/debug.h"
#include "doubling.cuh"

enum { TILE = 32 };

/* Subtract from a tile of the lower halves: i / 32 products of tiles. */
template <class T> static __global__ void tile_kernel(int64_t n, int64_t i, view<T> L)
{
    __shared__ T above[TILE][TILE], multiplier[TILE][TILE]; /* L(d, x), L(y, d) */
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int64_t first = valid_row(blockIdx.y * (int64_t)TILE, i), y = first + ty;
    const int64_t x = blockIdx.x * (int64_t)TILE + tx, columns = valid_columns(first, i);
    TRS_ASSERT(columns % TILE == 0 && i % TILE == 0);
    if (blockIdx.x * (int64_t)TILE >= columns) return; /* the whole block, before any barrier */
    T sum = number<T>(0);
    for (int64_t d = columns; d < columns + i; d += TILE) {
        above[ty][tx] = L(d + ty, x);
        multiplier[ty][tx] = y < n ? L(y, d + tx) : number<T>(0);
        __syncthreads();
        for (int j = 0; j < TILE; j++) sum = sum + above[j][tx] * multiplier[ty][j];
        __syncthreads();
    }
    if (y < n) L(y, x) = L(y, x) - sum;
}

template <class T> static void double_tiles(const pair_data *d, int64_t i, cudaStream_t s)
{
    const int64_t rows = valid_rows(d->full.n, i);
    const int64_t columns = valid_columns(valid_row(rows - 1, i), i);
    const dim3 grid(blocks_of(columns, TILE), blocks_of(rows, TILE));
    if (columns > 0)
        tile_kernel<T><<<grid, dim3(TILE, TILE), 0, s>>>(d->full.n, i, typed<T>(d->full));
}

struct by_tiles {
    template <class T> static void step(const pair_data *d, int64_t i, cudaStream_t s)
    {
        if (i < TILE) double_elements<T>(d, i, s);
        else double_tiles<T>(d, i, s);
    }
};

constinit const trs_solver trs_solver_dense_doubling_tiled = doubling_solver<by_tiles>(
    "dense-doubling-tiled",
    "dense-doubling with 32x32 tiles in shared memory (baseline, Complex 2 optimised)");
