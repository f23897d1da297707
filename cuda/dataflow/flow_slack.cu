/* flow_slack.cu: levels in the middle of what a row may have.
 *
 * A level set has a row as early as it can be; most rows of graphs with a few long rows could come much later, and
 * a row that has time does not have to be merged with those that it does not wait for last.  The latest level of a
 * row is one before the earliest of the latest levels of the rows that need it.
 * latest_kernel: levels from the last to the first, a grid-wide barrier after each; some lanes a row, a block a
 * long one, whose own level is settled, since all who need it have larger levels; it lowers those that it needs by
 * atomicMin.  One cooperative launch, so the barrier cannot hang.  Bytes: 12 an entry, at random; bound by
 * levels x a barrier, 1 us.  The result is unique, and goes by the pattern alone. */
#include "config.h"

#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "flow.h"
}

#include <cooperative_groups.h>
#include <cub/device/device_radix_sort.cuh>

namespace cg = cooperative_groups;

enum {
    THREADS = PLAIN,
    WIDE = 512, /* threads of a block of latest_kernel: a barrier takes less with few blocks */
    WARP = 32,
    DEEP = 10000,  /* levels: barriers would take longer than is saved */
    ROUNDS = 16,   /* of the lanes of a row; for a row of more entries a block is worth it */
    SAMPLED = 16,  /* one row of so many is looked at */
    WORTH_IT = 16, /* one of so many of these has to have time */
};

struct slack { /* on the device */
    trs_pattern t;
    int32_t *latest;          /* [n] */
    int32_t *number, *row;    /* [n] 0, 1, ...; rows by level */
    int32_t *sorted, *begin;  /* [n] their levels; [levels+1] */
    unsigned long long *seen; /* [2] of the sample: rows, those that have time */
    int lanes;                /* of a row: 8, 16 or 32 */
    void *temp;               /* of CUB */
    size_t temp_bytes;
};

static __device__ inline int64_t index_of_thread()
{
    return blockIdx.x * (int64_t)THREADS + threadIdx.x;
}

static __device__ inline bool in_sample(int32_t i)
{
    return ((unsigned)i * 2654435761u >> 16) % SAMPLED == 0;
}

/* Of rows in the sample: one before the first level of those that need it.  So many lanes a row. */
static __global__ void needed_kernel(const slack s, int lanes)
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

static __global__ void number_kernel(const slack s)
{
    const int64_t i = index_of_thread();
    if (i < s.t.n) s.number[i] = (int32_t)i;
    if (i < s.t.n) s.latest[i] = s.t.levels - 1;
}

static __global__ void begin_kernel(const slack s)
{
    const int64_t k = index_of_thread();
    if (k >= s.t.n) return;
    const int32_t l = s.sorted[k];
    if (k == 0 || s.sorted[k - 1] != l) s.begin[l] = (int32_t)k;
    if (k == s.t.n - 1) s.begin[l + 1] = s.t.n;
}

/* Those that a row needs come before it; by so many threads, of which this is one with its entries from p on. */
static __device__ inline void lower(const slack &s, int32_t before, int64_t p, int64_t end,
                                    int threads)
{
#pragma unroll 4
    for (; p < end; p += threads) atomicMin(&s.latest[s.t.idx[p]], before);
}

enum { AHEAD = 2 }; /* entries of a lane that are read ahead */
static_assert(AHEAD == 2, "as many -1 below");

/* What a lane has of a row, read before the row's own level is settled. */
struct share {
    int32_t row; /* -1: none */
    int64_t p, end;
    int32_t column[AHEAD]; /* of entries p, p + lanes; -1: there is none */
};

static __device__ inline share read_share(const slack &s, int64_t k, int64_t end)
{
    if (k >= end) return {-1, 0, 0, {-1, -1}};
    const int32_t i = s.row[k];
    const int64_t p = s.t.ptr[i] + threadIdx.x % s.lanes, last = s.t.ptr[i + 1] - 1;
    share w = {i, p, last, {-1, -1}};
    for (int a = 0; a < AHEAD; a++)
        if (p + a * s.lanes < last) w.column[a] = s.t.idx[p + a * s.lanes];
    return w;
}

/* A row for some lanes each; long ones by all of the block. */
static __device__ inline void lower_some(const slack &s, const share &w)
{
    __shared__ int32_t longs[WIDE];
    __shared__ int count;
    const int lane = threadIdx.x % s.lanes;
    const bool longer = w.row >= 0 && w.end - (w.p - lane) > ROUNDS * s.lanes;
    if (w.p < w.end && !longer) {
        const int32_t before = __ldcg(&s.latest[w.row]) - 1;
        for (int a = 0; a < AHEAD; a++)
            if (w.column[a] >= 0) atomicMin(&s.latest[w.column[a]], before);
        lower(s, before, w.p + AHEAD * s.lanes, w.end, s.lanes);
    }
    if (!__syncthreads_or(longer)) return;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (longer && lane == 0) longs[atomicAdd(&count, 1)] = w.row;
    __syncthreads();
    for (int k = 0; k < count; k++) {
        const int32_t i = longs[k];
        lower(s, __ldcg(&s.latest[i]) - 1, s.t.ptr[i] + threadIdx.x, s.t.ptr[i + 1] - 1, WIDE);
    }
    __syncthreads();
}

/* What the next level is going to need is on its way while the barrier is waited for. */
static __global__ void __launch_bounds__(WIDE) latest_kernel(const slack s)
{
    const int32_t rows = (int32_t)gridDim.x * (WIDE / s.lanes);
    const int32_t mine = (int32_t)(threadIdx.x / s.lanes * gridDim.x + blockIdx.x);
    const int32_t last = s.t.levels - 1;
    int64_t begin = s.begin[last], end = s.t.n;
    share w = read_share(s, begin + mine, end);
    for (int32_t l = last; l > 0; l--) {
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
    if (i < s.t.n) level[i] = (s.t.level[i] + s.latest[i]) / 2;
}

/* ---- the host side ------------------------------------------------------------------------------------------ */

static int failed(cudaError_t e)
{
    (void)cudaGetLastError();
    return trs_fail(TRS_EDEVICE, "the latest levels: %s", cudaGetErrorString(e));
}

static cudaError_t sort(slack *s)
{
    int bits = 1;
    while (s->t.levels - 1 >> bits) bits++;
    return cub::DeviceRadixSort::SortPairs(s->temp, s->temp_bytes, s->t.level, s->sorted, s->number,
                                           s->row, s->t.n, 0, bits);
}

static size_t lay_out(slack *s, char *base)
{
    size_t used = 0;
    s->latest = carve<int32_t>(base, &used, s->t.n);
    s->number = carve<int32_t>(base, &used, s->t.n);
    s->row = carve<int32_t>(base, &used, s->t.n);
    s->sorted = carve<int32_t>(base, &used, s->t.n);
    s->begin = carve<int32_t>(base, &used, (int64_t)s->t.levels + 1);
    s->seen = carve<unsigned long long>(base, &used, 2);
    s->temp = carve<char>(base, &used, (int64_t)s->temp_bytes);
    return used;
}

/* As many as a row has entries, so many a lane; a warp at most. */
static int lanes_for(const trs_pattern &t, int least, int each)
{
    int lanes = least;
    while (lanes < WARP && (int64_t)each * lanes * t.n < t.nnz - t.n) lanes *= 2;
    return lanes;
}

/* Have enough rows of the sample time? */
static int look(trs_context *ctx, const slack *s, bool *worth_it)
{
    unsigned long long seen[2] = {0};
    const int lanes = lanes_for(s->t, 1, 1);
    number_kernel<<<blocks_of(s->t.n), THREADS>>>(*s);
    const cudaError_t e = cudaMemsetAsync(s->seen, 0, sizeof seen, NULL);
    needed_kernel<<<blocks_of(s->t.n * (int64_t)lanes), THREADS>>>(*s, lanes);
    seen_kernel<<<blocks_of(s->t.n), THREADS>>>(*s);
    const int rc = e ? failed(e) : trs_gpu_get(ctx, seen, s->seen, sizeof seen);
    *worth_it = seen[1] > seen[0] / WORTH_IT;
    return rc;
}

static int find_latest(slack *s)
{
    const double rows = (double)s->t.n / s->t.levels; /* of a level, on average */
    const double wanted = min(max(rows / (WIDE / (int)WARP), 8.0), (double)multiprocessors());
    const int blocks = waiting_blocks((const void *)latest_kernel, WIDE, 0, wanted);
    void *args[] = {s};
    s->lanes = lanes_for(s->t, 8, AHEAD);
    number_kernel<<<blocks_of(s->t.n), THREADS>>>(*s);
    cudaError_t e = sort(s);
    begin_kernel<<<blocks_of(s->t.n), THREADS>>>(*s);
    if (!e)
        e = cudaLaunchCooperativeKernel((const void *)latest_kernel, dim3((unsigned)blocks),
                                        dim3(WIDE), args, 0, NULL);
    return e ? failed(e) : TRS_OK;
}

int trs_flow_slack(trs_context *ctx, const trs_pattern *t, int32_t *level)
{
    slack s = {.t = *t};
    bool worth_it = false;
    if (t->levels > DEEP || t->n < 2) return TRS_OK;
    cudaError_t e = sort(&s); /* says what it needs */
    if (e) return failed(e);
    void *base = trs_gpu_scratch(ctx, (int64_t)lay_out(&s, NULL), "the latest levels");
    if (!base) return TRS_EMEM;
    lay_out(&s, (char *)base);
    int rc = look(ctx, &s, &worth_it);
    if (rc || !worth_it) return rc;
    rc = find_latest(&s);
    if (rc) return rc;
    middle_kernel<<<blocks_of(t->n), THREADS>>>(s, level);
    e = cudaGetLastError();
    if (!e) e = cudaDeviceSynchronize();
    return e ? failed(e) : TRS_OK;
}
