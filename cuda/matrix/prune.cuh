/* prune.cuh: leaves out entries that no level depends on, so that level_search.cuh waits for fewer.
 *
 * Let k be the first row below j that has an entry in column j.  If row i has both j and k, the path j -> k -> i is
 * longer than the entry (i, j) alone.  So that entry decides no level and can be left out:
 *
 *     j | d
 *     k | x  d          level(k) > level(j), level(i) > level(k):  (i, j) is left out
 *     i | x  x  d
 *         j  k  i
 *
 * This is a part of the transitive reduction of the graph (Aho, Garey and Ullman 1972).  For a factor L of a
 * symmetric pattern this finds the whole reduction and leaves the elimination tree (Liu 1990); for a full triangle it
 * leaves the entry just before the diagonal.  A warp has a row; none waits for another.  In rows of more than
 * SEARCHED entries only the next entry is tested as such a k, which is enough for the columns of supernodes; rows of
 * more than MOST entries remain unchanged.
 * Bytes: 8 an entry read, a random 4, and a binary search among the columns of the row, which are in the cache
 * by then; the remaining entries are written. */
#ifndef TRS_PRUNE_CUH
#define TRS_PRUNE_CUH

#include "cuda/runtime/cuda.cuh"

namespace prune
{
enum { THREADS = PLAIN, WARP = 32 };

/* Entries of a row: a warp has one alone, and should not take much longer than the others. */
enum { SEARCHED = 4096, MOST = 1 << 16 };

struct pruning {
    int32_t n;
    const int64_t *Lp;
    const int32_t *Li;
    /* [n] first row, of at most MOST entries, below the diagonal of each column; ~0: none */
    uint32_t *first;
    int32_t *idx; /* [nnz] what is left of row i, from Lp [i] on, without the diagonal */
    int64_t *end; /* [n] of each row there */
};

static __device__ inline int64_t row_of_warp()
{
    return (blockIdx.x * (int64_t)THREADS + threadIdx.x) / WARP;
}

/* Rows come roughly in order, so most find a smaller row there already and need no atomic. */
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

/* Is there a path to row i from the column of its entry p by way of another entry of the row? */
static __device__ inline bool is_implied(const pruning &w, uint32_t i, int64_t p, int64_t diagonal,
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
        const bool stays =
            p < diagonal && (all || !is_implied(w, (uint32_t)i, p, diagonal, search));
        const unsigned those = __ballot_sync(~0u, stays);
        if (stays) w.idx[to + __popc(those & ((1u << lane) - 1))] = w.Li[p];
        to += __popc(those);
    }
    if (lane == 0) w.end[i] = to;
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
