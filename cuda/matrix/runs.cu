/* runs.cu: the rows of a pattern on the device as runs of consecutive columns, for the host, which makes supernodes
 * of them (analysis/supernodal/run_length.h).  With supernodes, runs are far fewer than entries, and only runs are
 * copied.
 *
 * A warp has a row, whose entries its lanes take 32 at a time; none waits for another.  An entry begins a run if the
 * entry before it is not its left neighbour, and ends one if the next is not its right neighbour.  A row with the
 * columns of the row before and its own diagonal writes no runs.  Bytes: 12 an entry, in order, most of them from the
 * caches, where neighbouring warps have just read them. */
#include "config.h"

#include "cuda/runtime/cuda.cuh"
#include "cuda/runtime/sort.cuh"
extern "C" {
#include "matrix/on_device.h"
}

enum { THREADS = PLAIN, WARP = 32 };

struct finding { /* arrays on the device */
    int32_t n;
    const int64_t *Lp;
    const int32_t *Li;
    int32_t *own;    /* [n+1] runs of each row that are its own, then 0 */
    int64_t *first;  /* [n+1] where they begin */
    uint8_t *differ; /* [n] */
    trs_run *run;    /* [first [n]] */
    sort_temp temp;
};

static __device__ inline int32_t row_of_warp()
{
    return (int32_t)((blockIdx.x * (int64_t)THREADS + threadIdx.x) / WARP);
}

/* Does a run begin at entry q of a row, whose column is j?  Does one end there? */
static __device__ inline bool begins_run(const int32_t *column, int64_t q, int32_t j)
{
    return q == 0 || column[q - 1] != j - 1;
}

static __device__ inline bool ends_run(const int32_t *column, int64_t q, int64_t length, int32_t j)
{
    return q == length - 1 || column[q + 1] != j + 1;
}

static __global__ void count_kernel(const finding w)
{
    const int32_t i = row_of_warp(), lane = threadIdx.x % WARP;
    if (i > w.n || (i == w.n && lane > 0)) return;
    if (i == w.n) {
        w.own[i] = 0;
        return;
    }
    const int64_t begin = w.Lp[i], before = i > 0 ? w.Lp[i - 1] : begin;
    const int64_t length = w.Lp[i + 1] - begin;
    bool alike = i > 0 && length == begin - before + 1;
    int32_t runs = 0;
    for (int64_t q = lane; q < length; q += WARP) {
        const int32_t j = w.Li[begin + q];
        runs += begins_run(w.Li + begin, q, j);
        alike = alike && (q == length - 1 || w.Li[before + q] == j);
    }
    for (int by = WARP / 2; by > 0; by /= 2) runs += __shfl_xor_sync(~0u, runs, by);
    alike = __all_sync(~0u, alike);
    if (lane == 0) w.own[i] = alike ? 0 : runs;
}

/* Several warps may write the same byte of differ, all of them 1. */
static __global__ void write_kernel(const finding w)
{
    const int32_t i = row_of_warp(), lane = threadIdx.x % WARP;
    if (i >= w.n || w.own[i] == 0) return;
    const int64_t begin = w.Lp[i], length = w.Lp[i + 1] - begin;
    int64_t to = w.first[i];
    for (int64_t from = 0; from < length; from += WARP) {
        const int64_t q = from + lane;
        const bool is_entry = q < length, is_last = q == length - 1;
        const int32_t j = is_entry ? w.Li[begin + q] : 0;
        const bool begins = is_entry && begins_run(w.Li + begin, q, j);
        const bool ends = is_entry && ends_run(w.Li + begin, q, length, j);
        const unsigned some = __ballot_sync(~0u, begins);
        trs_run *run = w.run + to + __popc(some & ((2u << lane) - 1)) - 1;
        TRS_ASSERT(!is_entry || (run >= w.run + w.first[i] && run < w.run + w.first[i + 1]));
        if (begins) run->begin = j;
        if (begins && j > 0) w.differ[j - 1] = 1;
        if (ends) run->end = j + 1;
        if (ends && !is_last) w.differ[j] = 1;
        to += __popc(some);
    }
}

static int add_up(finding &w)
{
    return sum_before(w.temp, w.own, w.first, w.n + (int64_t)1);
}

/* Count them; *all is the sum. */
static int count(trs_context *ctx, finding &w, int64_t *all)
{
    int rc = add_up(w);
    if (rc) return rc;
    void *const base = carve_scratch(ctx, "runs of columns", [&](carver &carve) {
        carve(w.own, w.n + (int64_t)1);
        carve(w.first, w.n + (int64_t)1);
        carve(w.differ, w.n);
        carve(w.temp.p, (int64_t)w.temp.bytes);
    });
    if (!base) return TRS_EMEM;
    cudaMemsetAsync(w.differ, 0, (size_t)w.n, NULL);
    count_kernel<<<blocks_of((w.n + (int64_t)1) * WARP), THREADS>>>(w);
    rc = add_up(w);
    if (rc) return rc;
    return trs_gpu_get(ctx, all, w.first + w.n, sizeof *all);
}

static int fetch(trs_context *ctx, const finding &w, int64_t all, trs_device_runs *r)
{
    const int64_t n = w.n;
    TRS_ASSERT(all >= 0);
    r->ptr = (int64_t *)trs_new_touched(ctx, n + 1, sizeof *r->ptr, "row pointers");
    r->own = (int32_t *)trs_new_touched(ctx, n, sizeof *r->own, "runs of rows");
    r->run = (trs_run *)trs_new_touched(ctx, all, sizeof *r->run, "runs of columns");
    r->differ = (uint8_t *)trs_new_touched(ctx, n, sizeof *r->differ, "columns that differ");
    if (!r->ptr || !r->own || !r->run || !r->differ) return TRS_EMEM;
    int rc = trs_gpu_get(ctx, r->ptr, w.Lp, ((size_t)n + 1) * sizeof *r->ptr);
    if (!rc) rc = trs_gpu_get(ctx, r->own, w.own, (size_t)n * sizeof *r->own);
    if (!rc) rc = trs_gpu_get(ctx, r->run, w.run, (size_t)all * sizeof *r->run);
    if (rc) return rc;
    return trs_gpu_get(ctx, r->differ, w.differ, (size_t)n * sizeof *r->differ);
}

int trs_gpu_runs(const trs_operator *op, trs_device_runs *r)
{
    trs_context *ctx = op->ctx;
    finding w = {.n = op->tri.n, .Lp = op->device.ptr, .Li = op->device.idx};
    int64_t all;
    *r = {};
    int rc = trs_gpu_use(ctx);
    if (!rc) rc = count(ctx, w, &all);
    if (rc) return rc;
    w.run = device_new<trs_run>(ctx, all, "runs of columns");
    if (!w.run) return TRS_EMEM;
    write_kernel<<<blocks_of(w.n * (int64_t)WARP), THREADS>>>(w);
    rc = launched();
    if (!rc) rc = fetch(ctx, w, all, r);
    trs_gpu_free(ctx, w.run);
    return rc;
}
