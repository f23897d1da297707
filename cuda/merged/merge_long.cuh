/* merge_long.cuh: a long row, as the block that rewrites it sees it.
 *
 * The terms of the row are numbered: first its own entries, then the entries of the substituted rows, one row after
 * the other.  Eliminated entries have numbers too, but are not terms.
 *
 *     term        0 .. length - 1           length ..                   terms - 1
 *                 entries of row i          row [0]    row [1]  ...   row [substituted - 1]
 *     begin []                              0          begin [1]      begin [substituted - 1]
 */
#ifndef TRS_MERGE_LONG_CUH
#define TRS_MERGE_LONG_CUH

#include "merge.cuh"

namespace long_rows
{
enum { THREADS = PLAIN, WARPS = THREADS / 32 };

struct substituted_rows { /* in shared memory */
    int32_t row[MERGE_LONG_ROWS];
    int32_t place[MERGE_LONG_ROWS];     /* of the entry that it is substituted for, in its row */
    int32_t begin[MERGE_LONG_ROWS + 1]; /* of its entries among those of all of them */
    int32_t warp_sum[WARPS];
    int32_t columns; /* that put_terms has found */
};

struct long_row { /* row i of T */
    int64_t begin;
    int32_t length; /* without the diagonal */
    int32_t level;
    int32_t substituted;
};

/* By the block: the sum of the counts of the threads before this one; all: of all threads.  A barrier comes before the next
 * call, which uses the same shared memory. */
static __device__ inline int32_t sum_of_threads_before(int32_t count, substituted_rows &sh,
                                                       int32_t &all)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    int32_t sum = count, before = 0;
    for (int by = 1; by < 32; by *= 2) {
        const int32_t left = __shfl_up_sync(~0u, sum, by);
        if (lane >= by) sum += left;
    }
    if (lane == 31) sh.warp_sum[warp] = sum;
    __syncthreads();
    all = 0;
    for (int w = 0; w < WARPS; w++) {
        if (w == warp) before = all;
        all += sh.warp_sum[w];
    }
    return before + sum - count;
}

/* By the block: sh.begin, once the rows are known. */
static __device__ inline void sum_lengths(const trs_pattern &t, int32_t rows, substituted_rows &sh)
{
    int32_t sum = 0;
    for (int32_t k0 = 0; k0 < rows; k0 += THREADS) {
        const int32_t k = k0 + (int32_t)threadIdx.x;
        const int32_t j = k < rows ? sh.row[k] : 0;
        const int32_t length = k < rows ? (int32_t)(t.ptr[j + 1] - t.ptr[j] - 1) : 0;
        int32_t all;
        const int32_t before = sum_of_threads_before(length, sh, all);
        __syncthreads(); /* the block has read the sums of its warps */
        if (k < rows) sh.begin[k] = sum + before;
        sum += all;
    }
    if (threadIdx.x == 0) sh.begin[rows] = sum;
    __syncthreads();
}

/* By the block: the rows that are substituted into row i, in their order. */
static __device__ inline long_row find_substituted(const trs_pattern &t, int32_t i,
                                                   substituted_rows &sh)
{
    long_row r = {t.ptr[i], (int32_t)(t.ptr[i + 1] - t.ptr[i] - 1), t.level[i], 0};
    __syncthreads(); /* the block has read what it had of the row before */
    for (int32_t a0 = 0; a0 < r.length; a0 += THREADS) {
        const int32_t a = a0 + (int32_t)threadIdx.x;
        const int32_t j = a < r.length ? t.idx[r.begin + a] : 0;
        const int32_t is = a < r.length && t.level[j] == r.level - 1;
        int32_t all;
        const int32_t before = sum_of_threads_before(is, sh, all);
        __syncthreads();
        TRS_ASSERT(r.substituted + all <= MERGE_LONG_ROWS);
        if (is) {
            sh.row[r.substituted + before] = j;
            sh.place[r.substituted + before] = a;
        }
        r.substituted += all;
    }
    __syncthreads();
    sum_lengths(t, r.substituted, sh);
    return r;
}
} // namespace long_rows

#endif
