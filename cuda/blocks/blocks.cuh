/* blocks.cuh: triangles cut into blocks of 64 rows and columns, solved by one kernel in which a block of
 * rows waits for the blocks before it.  Pieces for dense-blocked and for supernodes.
 *
 * A tile is a 64x64 block of the matrix, stored in the order in which 256 threads read it:
 * entry (i, k) at (k/4)*256 + i*4 + k%4; a smaller one with the same formula, 4 times its rows for 256.  With one
 * right-hand side four lanes share row i of a supernode (lane q has the columns k = q mod 4) and neighbours read
 * neighbours; with more, a thread reads four entries of its row at once and has a quarter of the right-hand sides. */
#ifndef TRS_BLOCKS_CUH
#define TRS_BLOCKS_CUH

#include "cuda/runtime/flag.cuh"

#include <cuda_pipeline.h>
#include <type_traits>

enum { BLOCK = 64, TILE_SIZE = BLOCK * BLOCK, BLOCK_THREADS = 256 };

__host__ __device__ constexpr int tile_place(int i, int k, int rows = BLOCK)
{
    return k / 4 * 4 * rows + i * 4 + k % 4;
}

/* Empty again: the pattern of flag.cuh. */
template <class T> __device__ inline void flag_clear(T *p)
{
    delay();
    for (int w = 0; w < (int)(sizeof(T) / sizeof(unsigned)); w++) ((unsigned *)p)[w] = ~0u;
}

/* ---- who does what in a block of 256 threads --------------------------------------------------- */

template <int R> struct share { /* R right-hand sides, 1 or a multiple of 4 */
    static constexpr int COLUMNS = R == 1 ? 1 : R / 4;
    int row, first; /* this thread's row of 64, and the first of its COLUMNS right-hand sides */
    int lane;       /* R = 1: which of the four that share the row */
    __device__ share()
        : row(R == 1 ? (int)threadIdx.x / 4 : (int)threadIdx.x % BLOCK),
          first(R == 1 ? 0 : (int)threadIdx.x / BLOCK * COLUMNS), lane((int)threadIdx.x % 4)
    {
    }
    __device__ bool writes() const { return R > 1 || lane == 0; } /* one of those who have it */
};

template <class T> struct alignas(16) quad {
    T v[4];
};

/* sum += or -= tile * x, this thread's share; x [64][R] in shared memory, R > 1. */
template <class T, int R>
__device__ inline void add_product(T (&sum)[share<R>::COLUMNS], const T *tile, const T *x,
                                   bool minus, bool cj)
{
    constexpr int C = share<R>::COLUMNS;
    const share<R> me;
    T part[C];
    for (int c = 0; c < C; c++) part[c] = number<T>(0);
#pragma unroll 2
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

__device__ inline float from_lane(float a, int mask)
{
    return __shfl_xor_sync(~0u, a, mask);
}
__device__ inline double from_lane(double a, int mask)
{
    return __shfl_xor_sync(~0u, a, mask);
}
template <class T> __device__ inline T from_lane(T a, int mask)
{
    a.x = __shfl_xor_sync(~0u, a.x, mask);
    a.y = __shfl_xor_sync(~0u, a.y, mask);
    return a;
}

__device__ inline float of_lane(float a, int lane)
{
    return __shfl_sync(~0u, a, lane);
}
__device__ inline double of_lane(double a, int lane)
{
    return __shfl_sync(~0u, a, lane);
}
template <class T> __device__ inline T of_lane(T a, int lane)
{
    a.x = __shfl_sync(~0u, a.x, lane);
    a.y = __shfl_sync(~0u, a.y, lane);
    return a;
}

/* R = 1: the sum over the four lanes of a row, the same in each of them. */
template <class T, int R> __device__ inline void join_lanes(T (&sum)[share<R>::COLUMNS])
{
    if constexpr (R == 1) {
        sum[0] = sum[0] + from_lane(sum[0], 1);
        sum[0] = sum[0] + from_lane(sum[0], 2);
    }
}

/* v = tile^-1 v by substitution, row after row, where the inverse would be inaccurate; the tile is lower,
 * x [rows][R] in shared memory is scratch.  A barrier a row: slow, and rare. */
template <class T, int R>
__device__ inline void substitute(T (&v)[share<R>::COLUMNS], const T *tile, int rows, T *x, bool cj)
{
    const share<R> me;
    for (int k = 0; k < rows; k++) {
        for (int c = 0; c < share<R>::COLUMNS && me.row == k; c++)
            x[k * R + me.first + c] = v[c] = v[c] / conj_if(cj, tile[tile_place(k, k, rows)]);
        __syncthreads();
        for (int c = 0; c < share<R>::COLUMNS && me.row > k && me.row < rows; c++)
            v[c] = v[c] - conj_if(cj, tile[tile_place(me.row, k, rows)]) * x[k * R + me.first + c];
    }
}

/* ---- a slice: 16 rows of 64, one right-hand side, 256 threads ------------------------------------------ */

enum {
    SLICE = 16, /* rows that a block of threads has, so that all SMs have some to read */
    SLICES = BLOCK / SLICE, /* in a row of tiles */
    WARPS = BLOCK_THREADS / 32
};

/* What a thread has of a slice of a tile: four columns of row threadIdx.x % SLICE. */
template <class T> struct part_of_tile {
    quad<T> v;
    __device__ static int column() { return 4 * ((int)threadIdx.x / SLICE); }
    __device__ void load(const T *tile, int first_row, int rows = BLOCK)
    {
        v = *(const quad<T> *)(tile +
                               tile_place(first_row + (int)threadIdx.x % SLICE, column(), rows));
    }
    /* sum += it times x [64]. */
    __device__ void multiply(T (&sum)[4], const T *x, bool cj) const
    {
        const quad<T> w = *(const quad<T> *)(x + column());
#pragma unroll
        for (int z = 0; z < 4; z++) sum[z] = sum[z] + conj_if(cj, v.v[z]) * w.v[z];
    }
};

/* The sum of what all threads have of a row, in each of them; part [WARPS] in shared memory is scratch. */
template <class T> __device__ inline T join_parts(T (*part)[SLICE], const T (&sum)[4])
{
    const int row = threadIdx.x % SLICE;
    T v = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    v = v + from_lane(v, SLICE);
    part[threadIdx.x / 32][row] = v;
    __syncthreads();
    T half[2];
    for (int k = 0; k < 2; k++)
        half[k] = (part[4 * k][row] + part[4 * k + 1][row]) +
                  (part[4 * k + 2][row] + part[4 * k + 3][row]);
    return half[0] + half[1];
}

/* ---- tiles from global to shared memory, ahead of their use --------------------------------------- */

/* Every thread copies its sixteen bytes, then the next; one commit by the caller. */
template <class T> __device__ inline void fetch_tile(T *to, const T *from)
{
    constexpr int EACH = 16 / sizeof(T);
#pragma unroll
    for (int e = (int)threadIdx.x * EACH; e < TILE_SIZE; e += BLOCK_THREADS * EACH)
        __pipeline_memcpy_async(to + e, from + e, 16);
}

/* ---- the inverse of a diagonal block ----------------------------------------------------------------- */

/* inverse = tile^-1 (lower, both 64x64 in shared memory, of which the first rows count, inverse zero
 * before), by columns: thread j < rows owns column j.  Returns in every thread the growth: the largest row
 * sum of |inverse| |tile|, Skeel's condition number of the block, no finite number where a diagonal is so far
 * from 1 that the inverse may have underflowed; norm [64] in shared memory is scratch. */
template <class T>
__device__ inline double invert(const T *tile, T *inverse, double *norm, int rows)
{
    const int j = threadIdx.x;
    if (j < rows) {
        double sum = 0;
        for (int k = 0; k <= j; k++) sum += magnitude(tile[tile_place(j, k)]);
        norm[j] = is_near_one(tile[tile_place(j, j)]) ? sum : INFINITY;
        for (int i = j; i < rows; i++) {
            T s = number<T>(i == j);
            for (int k = j; k < i; k++) s = s - tile[tile_place(i, k)] * inverse[tile_place(k, j)];
            inverse[tile_place(i, j)] = s / tile[tile_place(i, i)];
        }
    }
    __syncthreads();
    double growth = 0;
    if (j < rows)
        for (int k = 0; k <= j; k++) growth += magnitude(inverse[tile_place(j, k)]) * norm[k];
    __syncthreads();
    if (j < rows) norm[j] = growth;
    __syncthreads();
    for (int k = 0; k < rows; k++) growth = norm[k] > growth || isnan(norm[k]) ? norm[k] : growth;
    __syncthreads();
    return growth;
}

/* ---- turns ------------------------------------------------------------------------------------------ */

struct turn { /* on the device, in the work space */
    unsigned ticket, done;
    unsigned now;      /* the copy of this solve */
    unsigned width[2]; /* right-hand sides that each copy may hold */
};

/* The last block to finish hands the turn over. */
template <int R> __device__ inline void finish(turn *state, unsigned now)
{
    __syncthreads();
    if (threadIdx.x > 0) return;
    delay();
    __threadfence();
    if (atomicAdd(&state->done, 1u) + 1 < gridDim.x) return;
    state->ticket = state->done = 0;
    state->width[1 - now] = 0;
    state->width[now] = R;
    state->now = 1 - now;
}

/* ---- right-hand sides at a time --------------------------------------------------------------------- */

/* One right-hand side: four groups of 64 threads look after the x of a step in turn, four steps ahead.
 * More: all threads look after that of the next step. */
template <int R> constexpr int GROUPS = R == 1 ? 4 : 1;
template <int R> constexpr int LOOKERS = BLOCK_THREADS / GROUPS<R>;
template <int R>
constexpr int MINE = BLOCK *R / LOOKERS<R>; /* numbers of a step that a thread has */

/* Is this thread one of those who look after step p? */
template <int R> __device__ inline bool looks_after(int p)
{
    return (int)threadIdx.x / LOOKERS<R> == p % GROUPS<R>;
}

/* A first look at count of 64 x R numbers of x, the others are 0; place (e) is where number e is published.
 * Whether it was there is not asked before collect, so that the loads are under way meanwhile. */
template <class T, int R, class F> __device__ inline void look(T (&v)[MINE<R>], int count, F place)
{
#pragma unroll
    for (int m = 0; m < MINE<R>; m++) {
        const int e = m * LOOKERS<R> + (int)threadIdx.x % LOOKERS<R>;
        v[m] = number<T>(0);
        if (e < count) v[m] = flag_peek(place(e));
    }
}

/* They into shared memory, waiting for what was not there. */
template <class T, int R, class F> __device__ inline void collect(T *to, T (&v)[MINE<R>], F place)
{
#pragma unroll
    for (int m = 0; m < MINE<R>; m++) {
        const int e = m * LOOKERS<R> + (int)threadIdx.x % LOOKERS<R>;
        if (!flag_there(v[m])) v[m] = flag_wait(place(e));
        to[e] = v[m];
    }
}

/* f (integral_constant R) for the smallest R = 1, 8, 32, 64 that holds nrhs; k is its number. */
template <class T, class F> static auto for_width(int nrhs, F f)
{
    using std::integral_constant;
    if (nrhs <= 1) return f(integral_constant<int, 1>(), 0);
    if (nrhs <= 8) return f(integral_constant<int, 8>(), 1);
    if constexpr (sizeof(T) < 16)
        if (nrhs > 32) return f(integral_constant<int, 64>(), 3);
    return f(integral_constant<int, 32>(), 2);
}

/* ---- updates ---------------------------------------------------------------------------------------- */

/* Seconds that the substitution of a block takes, measured on an H200. */
static const double SUBSTITUTED = 13e-6;

/* Growth beyond which a block is substituted: 4 of 16 digits, 2 of 7. */
template <class T>
constexpr double WORST = std::is_same_v<T, float> || std::is_same_v<T, cuFloatComplex> ? 1e2 : 1e4;

template <class T> struct two_tiles { /* shared memory */
    T a[TILE_SIZE], b[TILE_SIZE];
    double norm[BLOCK];
};

/* Let a kernel have that much dynamic shared memory. */
template <class K> inline cudaError_t allow(K kernel, size_t bytes)
{
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

#endif
