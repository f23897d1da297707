/* flow_slack.cu: levels in the middle of those that a row may have.
 *
 * Level scheduling puts each row as early as it can be.  In project scheduling (the critical path method) that
 * is the earliest time of a job.  A job also has a latest time, which delays no other job, and the slack
 * between the two:
 *
 *        earliest (i) = 1 + max of earliest (j) over the columns j of row i,    0 if there are none
 *        latest (j)   = -1 + min of latest (i) over the rows i that need j,     levels - 1 if there are none
 *
 * In graphs with a few long rows most rows have slack.  cuda-merged substitutes rows of one level into those of
 * the next, which is wasted on a row that could come later.  It therefore uses the middle level, (earliest +
 * latest) / 2, of each row.
 *
 * latest_kernel goes through the levels from the last to the first; a grid-wide barrier ends each.  Some lanes
 * have a row, or all threads of a block if it is long.  When a level's turn comes, its latest levels are final,
 * since all rows that need its rows are in later levels; each row then lowers those of its columns by atomicMin.
 * One cooperative launch, so that all blocks come to the barrier and it cannot hang.  The result is unique and
 * depends on the pattern alone.  Bytes: 12 an entry, at random; bound by a barrier of 1 us a level.  A sample
 * of the rows first shows whether this is worthwhile. */
#include "config.h"

#include "dataflow.cuh"
#include "cuda/runtime/sort.cuh"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

enum {
    WIDE = 512, /* threads of a block of latest_kernel: a barrier takes less time with few blocks */
    WARP = 32,
    DEEP = 10000,  /* levels from which on the barriers would take longer than is saved */
    ROUNDS = 16,   /* loads of each lane from which on a row is one for the whole block */
    SAMPLED = 16,  /* one row in so many is in the sample */
    WORTH_IT = 16, /* one of so many rows of the sample has to have slack */
};

struct slack { /* the arrays are on the device */
    trs_pattern t;
    int32_t *latest;          /* [n] bound from above on the latest level of each row */
    int32_t *identity;        /* [n] 0, 1, ... */
    int32_t *by_level;        /* [n] rows by level */
    int32_t *level;           /* [n] their levels */
    int32_t *begin;           /* [levels+1] of each level in by_level */
    unsigned long long *seen; /* [2] rows of the sample, and those of them that have slack */
    int lanes;                /* of a row: 8, 16 or 32 */
    sort_temp temp;
};

/* ---- the sample --------------------------------------------------------------------------------------------- */

static __device__ inline bool in_sample(int32_t i)
{
    return ((unsigned)i * 2654435761u >> 16) % SAMPLED == 0;
}

/* Of rows in the sample: one before the earliest level of those that need it, which is at least the latest
 * level. */
static __global__ void sample_kernel(const slack s, int lanes)
{
    const int64_t i = index_of_thread() / lanes;
    if (i >= s.t.n) return;
    for (int64_t p = s.t.ptr[i] + threadIdx.x % lanes; p < s.t.ptr[i + 1] - 1; p += lanes) {
        const int32_t j = s.t.idx[p];
        if (in_sample(j)) atomicMin(&s.latest[j], s.t.level[i] - 1);
    }
}

static __global__ void seen_kernel(const slack s)
{
    const int64_t i = index_of_thread();
    const bool seen = i < s.t.n && in_sample((int32_t)i);
    const int rows = __syncthreads_count(seen);
    const int have = __syncthreads_count(seen && s.latest[i] > s.t.level[i]);
    if (threadIdx.x > 0) return;
    atomicAdd(&s.seen[0], (unsigned long long)rows);
    atomicAdd(&s.seen[1], (unsigned long long)have);
}

/* ---- latest levels -------------------------------------------------------------------------------------------- */

static __global__ void start_kernel(const slack s)
{
    const int64_t i = index_of_thread();
    if (i < s.t.n) s.identity[i] = (int32_t)i;
    if (i < s.t.n) s.latest[i] = s.t.levels - 1;
}

static __global__ void begin_kernel(const slack s)
{
    const int64_t k = index_of_thread();
    if (k >= s.t.n) return;
    const int32_t l = s.level[k];
    TRS_ASSERT(0 <= l && l < s.t.levels);
    if (k == 0 || s.level[k - 1] != l) s.begin[l] = (int32_t)k;
    if (k == s.t.n - 1) s.begin[l + 1] = s.t.n;
}

/* latest (j) <= bound for the columns j of the entries p, p + step, ... before end. */
static __device__ inline void lower(const slack &s, int32_t bound, int64_t p, int64_t end, int step)
{
#pragma unroll 4
    for (; p < end; p += step) atomicMin(&s.latest[s.t.idx[p]], bound);
}

enum { AHEAD = 2 }; /* entries of a lane that are read ahead */
static_assert(AHEAD == 2, "as many -1 below");

/* What a lane reads of a row before the row's own latest level is final. */
struct share {
    int32_t row; /* -1: none */
    int64_t p, end;
    int32_t column[AHEAD]; /* of entries p, p + lanes; -1: there is none */
};

static __device__ inline share read_share(const slack &s, int64_t k, int64_t end)
{
    if (k >= end) return {-1, 0, 0, {-1, -1}};
    const int32_t i = s.by_level[k];
    const int64_t p = s.t.ptr[i] + threadIdx.x % s.lanes, last = s.t.ptr[i + 1] - 1;
    share w = {i, p, last, {-1, -1}};
    for (int a = 0; a < AHEAD; a++)
        if (p + a * s.lanes < last) w.column[a] = s.t.idx[p + a * s.lanes];
    return w;
}

/* The columns of a row that is not long, by its lanes. */
static __device__ inline void lower_short(const slack &s, const share &w)
{
    const int32_t bound = __ldcg(&s.latest[w.row]) - 1;
    for (int a = 0; a < AHEAD; a++)
        if (w.column[a] >= 0) atomicMin(&s.latest[w.column[a]], bound);
    lower(s, bound, w.p + AHEAD * s.lanes, w.end, s.lanes);
}

/* A row for some lanes each; the long ones among these are listed, and then all threads have one after the
 * other. */
static __device__ inline void lower_some(const slack &s, const share &w)
{
    __shared__ int32_t longs[WIDE];
    __shared__ int count;
    const int lane = threadIdx.x % s.lanes;
    const bool is_long = w.row >= 0 && w.end - (w.p - lane) > ROUNDS * s.lanes;
    if (w.p < w.end && !is_long) lower_short(s, w);
    if (!__syncthreads_or(is_long)) return;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (is_long && lane == 0) longs[atomicAdd(&count, 1)] = w.row;
    __syncthreads();
    TRS_ASSERT(count <= WIDE);
    for (int k = 0; k < count; k++) {
        const int32_t i = longs[k];
        lower(s, __ldcg(&s.latest[i]) - 1, s.t.ptr[i] + threadIdx.x, s.t.ptr[i + 1] - 1, WIDE);
    }
    __syncthreads();
}

/* What the next level is going to need is read while the barrier is waited for. */
static __global__ void __launch_bounds__(WIDE) latest_kernel(const slack s)
{
    const int32_t rows = (int32_t)gridDim.x * (WIDE / s.lanes);
    const int32_t mine = (int32_t)(threadIdx.x / s.lanes * gridDim.x + blockIdx.x);
    const int32_t last = s.t.levels - 1;
    int64_t begin = s.begin[last], end = s.t.n;
    share w = read_share(s, begin + mine, end);
    for (int32_t l = last; l > 0; l--) {
        TRS_ASSERT(begin < end); /* no level is empty */
        for (int64_t k = begin; k < end; k += rows) {
            if (k > begin) w = read_share(s, k + mine, end);
            lower_some(s, w);
        }
        end = begin;
        begin = s.begin[l - 1];
        w = read_share(s, begin + mine, end);
        cg::this_grid().sync();
    }
}

static __global__ void middle_kernel(const slack s, int32_t *level)
{
    const int64_t i = index_of_thread();
    if (i >= s.t.n) return;
    TRS_ASSERT(s.t.level[i] <= s.latest[i]);
    level[i] = (s.t.level[i] + s.latest[i]) / 2;
}

/* ---- the host side ------------------------------------------------------------------------------------------ */

static int sort(slack *s)
{
    int bits = 1;
    while (s->t.levels - 1 >> bits) bits++;
    return sort_pairs(s->temp, s->t.level, s->level, s->identity, s->by_level, s->t.n, bits);
}

/* The least lanes, a power of 2 up to a warp, for which a row of average length is at most `each` entries of
 * each lane. */
static int lanes_for(const trs_pattern &t, int least, int each)
{
    int lanes = least;
    while (lanes < WARP && (int64_t)each * lanes * t.n < t.nnz - t.n) lanes *= 2;
    return lanes;
}

/* Do enough rows of the sample have slack? */
static int look(trs_context *ctx, const slack *s, bool *worth_it)
{
    unsigned long long seen[2] = {0};
    const int lanes = lanes_for(s->t, 1, 1);
    start_kernel<<<blocks_of(s->t.n), PLAIN>>>(*s);
    const cudaError_t e = cudaMemsetAsync(s->seen, 0, sizeof seen, NULL);
    sample_kernel<<<blocks_of(s->t.n * (int64_t)lanes), PLAIN>>>(*s, lanes);
    seen_kernel<<<blocks_of(s->t.n), PLAIN>>>(*s);
    int rc = cuda_status(e, "the latest levels");
    if (!rc) rc = trs_gpu_get(ctx, seen, s->seen, sizeof seen);
    *worth_it = seen[1] > seen[0] / WORTH_IT;
    return rc;
}

static int find_latest(slack *s)
{
    const double rows = (double)s->t.n / s->t.levels; /* of a level, on average */
    const double wanted = min(max(rows / (WIDE / (int)WARP), 8.0), (double)multiprocessors());
    const int blocks = waiting_blocks((const void *)latest_kernel, WIDE, 0, wanted);
    s->lanes = lanes_for(s->t, 8, AHEAD);
    start_kernel<<<blocks_of(s->t.n), PLAIN>>>(*s);
    const int rc = sort(s);
    begin_kernel<<<blocks_of(s->t.n), PLAIN>>>(*s);
    if (rc) return rc;
    return launch_together((const void *)latest_kernel, blocks, WIDE, *s, NULL);
}

int trs_flow_slack(trs_context *ctx, const trs_pattern *t, int32_t *level)
{
    slack s = {.t = *t};
    bool worth_it = false;
    if (t->levels > DEEP || t->n < 2) return TRS_OK;
    int rc = sort(&s);
    if (rc) return rc;
    void *const base = carve_scratch(ctx, "the latest levels", [&](carver &carve) {
        carve(s.latest, t->n);
        carve(s.identity, t->n);
        carve(s.by_level, t->n);
        carve(s.level, t->n);
        carve(s.begin, (int64_t)t->levels + 1);
        carve(s.seen, 2);
        carve(s.temp.p, (int64_t)s.temp.bytes);
    });
    if (!base) return TRS_EMEM;
    rc = look(ctx, &s, &worth_it);
    if (rc || !worth_it) return rc;
    rc = find_latest(&s);
    if (rc) return rc;
    middle_kernel<<<blocks_of(t->n), PLAIN>>>(s, level);
    cudaError_t e = cudaGetLastError();
    if (!e) e = cudaDeviceSynchronize();
    return cuda_status(e, "the latest levels");
}
