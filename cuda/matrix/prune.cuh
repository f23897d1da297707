/* prune.cuh: of the entries of a triangle, those that the search for levels (find.cuh) has to wait for.
 *
 * Let k be the first row below j that has an entry in column j.  Where row i has both j and k, it comes after k,
 * which comes after j: the longest way to row i does not go from j to i directly, and all levels stay as they are
 * when that entry is left out.  Of a factor L of a symmetric pattern the elimination tree is left; of a full
 * triangle, of every row the one before.
 * A warp a row; none waits for another.  In longer rows only the next entry is asked whether it is such a k, which
 * is enough for the columns of supernodes, and very long ones stay as they are.  Bytes: 8 an entry read, a random
 * 4, a binary search among the columns of the row, which are in the cache by then; what is left is written. */
#ifndef TRS_PRUNE_CUH
#define TRS_PRUNE_CUH

#include "cuda/runtime/cuda.cuh"

namespace prune
{
enum { THREADS = PLAIN, WARP = 32 };

/* Entries of a row.  A warp does one alone, and the others should not wait for it. */
enum { SEARCHED = 4096, MOST = 1 << 16 };

struct pruning {
    int32_t n;
    const int64_t *Lp;
    const int32_t *Li;
    uint32_t *first; /* [n] row, not very long, below the diagonal of each column; ~0: none */
    int32_t *idx;    /* [nnz] row i from Lp [i] on, without its diagonal */
    int64_t *end;    /* [n] of each row there */
};

static __device__ inline int64_t row_of_warp()
{
    return (blockIdx.x * (int64_t)THREADS + threadIdx.x) / WARP;
}

/* Rows come about in order, so most are too late to be the first and need no atomic. */
static __global__ void first_kernel(const pruning w)
{
    const int64_t i = row_of_warp();
    if (i >= w.n) return;
    const int64_t begin = w.Lp[i], diagonal = w.Lp[i + 1] - 1;
    if (diagonal - begin > MOST) return;
    for (int64_t p = begin + threadIdx.x % WARP; p < diagonal; p += WARP) {
        uint32_t *first = &w.first[w.Li[p]];
        if (*(volatile uint32_t *)first > (uint32_t)i) atomicMin(first, (uint32_t)i);
    }
}

/* Is column k among those at low..high-1? */
static __device__ inline bool has(const int32_t *Li, int64_t low, int64_t high, int32_t k)
{
    const int64_t end = high;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (Li[middle] < k) low = middle + 1;
        else high = middle;
    }
    return low < end && Li[low] == k;
}

/* Does row i, with entries up to the diagonal, come after that of its entry p by way of another? */
static __device__ inline bool is_spare(const pruning &w, uint32_t i, int64_t p, int64_t diagonal,
                                       bool search)
{
    const uint32_t k = w.first[w.Li[p]];
    if (k >= i) return false;
    return (uint32_t)w.Li[p + 1] == k || (search && has(w.Li, p + 2, diagonal, (int32_t)k));
}

static __global__ void prune_kernel(const pruning w)
{
    const int64_t i = row_of_warp();
    const int lane = threadIdx.x % WARP;
    if (i >= w.n) return;
    const int64_t begin = w.Lp[i], diagonal = w.Lp[i + 1] - 1;
    const bool search = diagonal - begin <= SEARCHED, all = diagonal - begin > MOST;
    int64_t to = begin;
    for (int64_t p = begin + lane; p - lane < diagonal; p += WARP) {
        const bool stays = p < diagonal && (all || !is_spare(w, (uint32_t)i, p, diagonal, search));
        const unsigned those = __ballot_sync(~0u, stays);
        if (stays) w.idx[to + __popc(those & ((1u << lane) - 1))] = w.Li[p];
        to += __popc(those);
    }
    if (lane == 0) w.end[i] = to;
}

static inline size_t lay_out(pruning &w, int64_t nnz, char *base)
{
    size_t used = 0;
    w.end = carve<int64_t>(base, &used, w.n);
    w.first = carve<uint32_t>(base, &used, w.n);
    w.idx = carve<int32_t>(base, &used, nnz);
    return used;
}

static inline void launch(const pruning &w)
{
    const unsigned blocks = blocks_of((int64_t)w.n * WARP);
    cudaMemsetAsync(w.first, 0xff, (size_t)w.n * sizeof *w.first, NULL);
    first_kernel<<<blocks, THREADS>>>(w);
    prune_kernel<<<blocks, THREADS>>>(w);
}
} // namespace prune

#endif
