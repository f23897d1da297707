/* level.cu: the levels of the rows of an operator, on the device: level_search.cuh finds them; then a stable sort by
 * level gives the rows in level order, as on the host, and sums over each level give the statistics. */
#include "config.h"

#include "base/debug.h"
#include "level_search.cuh"
#include "prune.cuh"
#include "cuda/runtime/sort.cuh"

enum { WARP = 32 };

/* level [topo [k]] = the l with ptr [l] <= k < ptr [l + 1].  A thread a row, in level order. */
static __global__ void spread_kernel(int32_t n, int32_t count, const int32_t *topo,
                                     const int32_t *ptr, int32_t *level)
{
    const int32_t k = index32_of_thread();
    if (k >= n) return;
    int32_t low = 0, high = count; /* ptr [low] <= k < ptr [high] */
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (ptr[middle] <= k) low = middle;
        else high = middle;
    }
    level[topo[k]] = low;
}

int trs_gpu_put_levels(const trs_operator *op)
{
    trs_context *ctx = op->ctx;
    const trs_levels *lv = &op->lv;
    const int32_t n = op->tri.n;
    if (n == 0) return TRS_OK;
    int rc = TRS_EMEM;
    int32_t *topo = device_copy(ctx, lv->topo, n, "topo");
    int32_t *ptr = topo ? device_copy(ctx, lv->ptr, (int64_t)lv->count + 1, "lv_ptr") : NULL;
    if (ptr) {
        spread_kernel<<<blocks_of(n), PLAIN>>>(n, lv->count, topo, ptr, op->device.level);
        rc = TRS_OK;
        if (trs_gpu_wait(NULL)) rc = trs_fail(TRS_EDEVICE, "levels on the device");
    }
    device_free(ctx, topo, ptr);
    return rc;
}

/* ---- the search -------------------------------------------------------------------------------------- */

enum { LONG = 16 }; /* entries of a row on average: from here on, pruning pays */

/* Lets the search wait for fewer entries (prune.cuh), where rows are long and there is memory for it. */
static void prune_entries(trs_context *ctx, const trs_tri *t, level_search::search *all)
{
    prune::pruning w = {.n = all->n, .Lp = all->Lp, .Li = all->Li};
    if (t->nnz < (int64_t)LONG * t->n) return;
    void *const base = carve_scratch(ctx, "the search for levels", [&](carver &carve) {
        carve(w.end, w.n);
        carve(w.first, w.n);
        carve(w.idx, t->nnz);
    });
    if (!base) {
        trs_forget();
        return;
    }
    prune::launch(w);
    all->Li = w.idx;
    all->end = w.end;
}

/* all->period, where it makes a difference; the samples are in all->level for a while. */
static int find_period(trs_context *ctx, level_search::search *all)
{
    int32_t reach[level_search::SAMPLES];
    all->period = 1;
    if (all->end || level_search::fits_at_once(*all)) return TRS_OK;
    level_search::reach_kernel<<<1, level_search::SAMPLES>>>(*all, all->level);
    const int rc = trs_gpu_get(ctx, reach, all->level, sizeof reach);
    all->period = level_search::period_of(reach);
    return rc;
}

int trs_gpu_search_levels(trs_operator *op)
{
    trs_context *ctx = op->ctx;
    op->device.level = device_new<int32_t>(ctx, op->tri.n, "levels");
    if (!op->device.level) return TRS_EMEM;
    /* nanoseconds; if the operator is on the device alone, the host has to fetch it first */
    const double host =
        op->tri.ptr ? 1e6 + 1.5 * (double)op->tri.nnz : 5e5 + 5 * (double)op->tri.nnz;
    level_search::search all = {.n = op->tri.n,
                                .Lp = op->device.ptr,
                                .Li = op->device.idx,
                                .level = op->device.level,
                                .host_ns = ctx->patient ? 1e30 : host,
                                .count = (level_search::counts *)op->device.found};
    level_search::counts count = {};
    prune_entries(ctx, &op->tri, &all);
    int rc = find_period(ctx, &all);
    if (rc) return rc;
    static_assert(sizeof count <= 2 * sizeof(int64_t), "what device.found has room for");
    cudaMemsetAsync(all.count, 0, sizeof count, NULL);
    cudaMemsetAsync(all.level, 0xff, (size_t)all.n * sizeof *all.level, NULL);
    rc = level_search::launch(all);
    if (!rc) rc = trs_gpu_get(ctx, &count, all.count, sizeof count);
    if (rc) return rc;
    op->lv.count = count.levels;
    op->statistics.longest = count.longest;
    return count.gave_up ? TRS_ESUPPORT : TRS_OK;
}

/* ---- level order and statistics --------------------------------------------------------------------------------- */

struct level_sum {
    unsigned long long entries;
    unsigned long long longest; /* entries of the longest row */
};

struct sorting {          /* on the device */
    int32_t n, count;     /* rows, levels */
    const int32_t *found; /* [n] level of each row */
    int32_t *topo;        /* [n] of the operator */
    int32_t *row, *level; /* [n] 0, 1, ...; the levels in order */
    int32_t *ptr;         /* [count+1] */
    level_sum *sum;       /* [count] */
    sort_temp temp;
};

static __global__ void number_kernel(const sorting w)
{
    const int32_t i = index32_of_thread();
    if (i < w.n) w.row[i] = i;
}

static __device__ void add_to(level_sum *sum, int64_t entries, int64_t longest)
{
    atomicAdd(&sum->entries, (unsigned long long)entries);
    atomicMax(&sum->longest, (unsigned long long)longest);
}

/* A thread a row, in level order.  The rows of a warp mostly have one level: then they are added up before. */
static __global__ void sum_kernel(const sorting w, const int64_t *Lp)
{
    const int32_t k = index32_of_thread(), l = k < w.n ? w.level[k] : -1;
    int64_t length = 0;
    if (k < w.n) {
        const int32_t i = w.topo[k];
        length = Lp[i + 1] - Lp[i];
        TRS_ASSERT(l >= 0 && l < w.count && (k == 0 || l - w.level[k - 1] <= 1));
        if (k == 0 || w.level[k - 1] != l) w.ptr[l] = k;
        if (k == w.n - 1) w.ptr[l + 1] = w.n;
    }
    if (!__all_sync(~0u, l == __shfl_sync(~0u, l, 0))) {
        if (k < w.n) add_to(&w.sum[l], length, length);
        return;
    }
    int64_t longest = length;
    for (int by = WARP / 2; by > 0; by /= 2) {
        length += __shfl_xor_sync(~0u, length, by);
        longest = max(longest, __shfl_xor_sync(~0u, longest, by));
    }
    if (threadIdx.x % WARP == 0 && l >= 0) add_to(&w.sum[l], length, longest);
}

static int sort(sorting &w)
{
    int bits = 1;
    while (w.count - 1 >> bits) bits++;
    return sort_pairs(w.temp, w.found, w.level, w.row, w.topo, w.n, bits);
}

/* The statistics: sums over all levels. */
static int sum_up(trs_context *ctx, const sorting &w, trs_level_statistics *sums)
{
    level_sum *level = (level_sum *)trs_new(ctx, w.count, sizeof *level, "sums over levels");
    int rc = TRS_EMEM;
    if (level) rc = trs_gpu_get(ctx, level, w.sum, (size_t)w.count * sizeof *level);
    *sums = {};
    for (int32_t l = 0; l < w.count && !rc; l++) {
        const int64_t entries = (int64_t)level[l].entries, longest = (int64_t)level[l].longest;
        sums->sum_longest += longest;
        if (longest > sums->longest) sums->longest = longest;
        if (entries < TRS_THIN) sums->thin += entries;
        else sums->wide++;
    }
    trs_free(&ctx->mem, level);
    return rc;
}

/* ptr and widest, on the host. */
static int fetch_levels(trs_context *ctx, const sorting &w, trs_levels *lv)
{
    lv->ptr = (int32_t *)trs_new(ctx, (int64_t)lv->count + 1, sizeof *lv->ptr, "lv_ptr");
    if (!lv->ptr) return TRS_EMEM;
    int rc = trs_gpu_get(ctx, lv->ptr, w.ptr, ((size_t)lv->count + 1) * sizeof *lv->ptr);
    for (int32_t l = 0; l < lv->count && !rc; l++)
        lv->widest = max(lv->widest, lv->ptr[l + 1] - lv->ptr[l]);
    TRS_ASSERT(rc || (lv->ptr[0] == 0 && lv->ptr[lv->count] == w.n));
    return rc;
}

int trs_gpu_order_levels(trs_operator *op)
{
    trs_context *ctx = op->ctx;
    op->device.topo = device_new<int32_t>(ctx, op->tri.n, "topo");
    if (!op->device.topo) return TRS_EMEM;
    sorting w = {
        .n = op->tri.n, .count = op->lv.count, .found = op->device.level, .topo = op->device.topo};
    TRS_ASSERT(0 < w.count && w.count <= w.n);
    int rc = sort(w);
    if (rc) return rc;
    void *const base = carve_scratch(ctx, "the level analysis", [&](carver &carve) {
        carve(w.row, w.n);
        carve(w.level, w.n);
        carve(w.ptr, (int64_t)w.count + 1);
        carve(w.sum, w.count);
        carve(w.temp.p, (int64_t)w.temp.bytes);
    });
    if (!base) return TRS_EMEM;
    cudaMemsetAsync(w.sum, 0, (size_t)w.count * sizeof *w.sum, NULL);
    number_kernel<<<blocks_of(w.n), PLAIN>>>(w);
    rc = launched();
    if (!rc) rc = sort(w);
    if (rc) return rc;
    sum_kernel<<<blocks_of(w.n), PLAIN>>>(w, op->device.ptr);
    rc = sum_up(ctx, w, &op->statistics);
    if (rc) return rc;
    return fetch_levels(ctx, w, &op->lv);
}
