/* level.cu: the levels of the rows of a side, on the device.
 *
 * find: one lane a row, in order, 32 rows a warp; a row with many entries is done by the whole warp
 * between the others.  How a level becomes visible: it is its own flag, -1 before.  Why it cannot hang: warps
 * are all resident (cooperative launch) and take rows in order, cyclically; no lane keeps its warp from
 * going on with the others, so the first row that is not done can always be done.  When it takes longer
 * than the host would, because the triangle is deep, it gives up.  Bytes 4 nnz + 20 n, gathers of levels;
 * bound by levels x one hop between SMs.
 * Then a stable sort by level, as on the host, and sums over each level. */
#include "config.h"

#include "cuda.cuh"
#include "delay.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

enum { THREADS = PLAIN, WARP = 32, BATCH = 4, LONG = 64 /* entries */ };

static __device__ int32_t index_of_thread()
{
    return (int32_t)(blockIdx.x * THREADS + threadIdx.x);
}

/* One thread a row in level order, which looks for its level. */
static __global__ void spread_kernel(int32_t n, int32_t count, const int32_t *topo,
                                     const int32_t *ptr, int32_t *level)
{
    const int32_t k = index_of_thread();
    if (k >= n) return;
    int32_t low = 0, high = count; /* ptr [low] <= k < ptr [high] */
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (ptr[middle] <= k) low = middle;
        else high = middle;
    }
    level[topo[k]] = low;
}

int trs_gpu_put_levels(trs_context *ctx, const trs_side *s)
{
    const trs_levels *lv = &s->lv;
    const int32_t n = s->tri.n;
    if (n == 0) return TRS_OK;
    int rc = TRS_EMEM;
    int32_t *topo = (int32_t *)device_copy(ctx, lv->topo, n, sizeof *topo, "topo"), *ptr = NULL;
    if (topo)
        ptr = (int32_t *)device_copy(ctx, lv->ptr, (int64_t)lv->count + 1, sizeof *ptr, "lv_ptr");
    if (ptr) {
        spread_kernel<<<blocks_of(n), THREADS>>>(n, lv->count, topo, ptr,
                                                 (int32_t *)s->direct.level);
        rc = trs_gpu_wait(NULL) ? trs_fail(ctx, TRS_EDEVICE, "levels on the device") : TRS_OK;
    }
    trs_gpu_free(ctx, topo);
    trs_gpu_free(ctx, ptr);
    return rc;
}

/* ---- find them -------------------------------------------------------------------------------------- */

struct search {
    int32_t n;
    const int64_t *Lp;
    const int32_t *Li;
    int32_t *level;              /* [n] */
    unsigned long long patience; /* ns */
    int *late;
};

static __device__ inline int32_t peek(const int32_t *p)
{
    int32_t v;
    delay();
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

static __device__ inline void publish(int32_t *p, int32_t v)
{
    delay();
    asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

static __device__ inline unsigned long long now()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

/* Entries p, p + STRIDE, ... that a lane waits for, and the highest level it has seen. */
template <int STRIDE> struct lookout {
    int64_t p, end;
    int32_t column[BATCH], highest;
    unsigned waiting;

    __device__ void load(const int32_t *Li)
    {
        waiting = 0;
#pragma unroll
        for (int j = 0; j < BATCH; j++)
            if (p + j * STRIDE < end) {
                column[j] = Li[p + j * STRIDE];
                waiting |= 1u << j;
            }
    }
    __device__ void begin(const int32_t *Li, int64_t from, int64_t to)
    {
        p = from;
        end = to;
        highest = -1;
        load(Li);
    }
    __device__ void poll(const int32_t *level)
    {
        int32_t v[BATCH];
#pragma unroll
        for (int j = 0; j < BATCH; j++) v[j] = waiting >> j & 1 ? peek(level + column[j]) : -1;
#pragma unroll
        for (int j = 0; j < BATCH; j++)
            if (v[j] >= 0) {
                highest = max(highest, v[j]);
                waiting &= ~(1u << j);
            }
    }
    __device__ void next(const int32_t *Li)
    {
        p += BATCH * STRIDE;
        load(Li);
    }
};

/* The largest of all lanes. */
static __device__ inline int32_t largest(int32_t v)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(~0u, v);
#else
    for (int by = WARP / 2; by > 0; by /= 2) v = max(v, __shfl_xor_sync(~0u, v, by));
    return v;
#endif
}

/* 32 rows; every lane of the warp goes round until all are done, or it is too late. */
static __device__ bool do_rows(const search &s, int32_t first, unsigned long long end)
{
    const int lane = threadIdx.x % WARP;
    const int64_t i = (int64_t)first + lane;
    const int64_t begin = i < s.n ? s.Lp[i] : 0, diagonal = i < s.n ? s.Lp[i + 1] - 1 : 0;
    const bool is_long = diagonal - begin > LONG;
    bool open = i < s.n && !is_long;
    unsigned longs = __ballot_sync(~0u, is_long);
    lookout<1> mine;
    lookout<WARP> shared;
    mine.begin(s.Li, begin, open ? diagonal : begin);
    for (int round = 0, owner = -1; __any_sync(~0u, open) || longs; round++) {
        if (open) {
            mine.poll(s.level);
            if (!mine.waiting) mine.next(s.Li);
            if (!mine.waiting) {
                publish(s.level + i, mine.highest + 1);
                open = false;
            }
        }
        if (longs) {
            if (owner < 0) {
                owner = __ffs(longs) - 1;
                const int64_t from = __shfl_sync(~0u, begin, owner) + lane;
                shared.begin(s.Li, from, __shfl_sync(~0u, diagonal, owner));
            }
            shared.poll(s.level);
            if (!__any_sync(~0u, shared.waiting)) shared.next(s.Li);
            if (!__any_sync(~0u, shared.waiting)) {
                const int32_t highest = largest(shared.highest);
                if (lane == 0) publish(s.level + first + owner, highest + 1);
                longs &= longs - 1;
                owner = -1;
            }
        }
        if (round % 64 == 63 && __any_sync(~0u, now() > end)) return false;
    }
    return true;
}

static __global__ void __launch_bounds__(THREADS) find_kernel(const search s)
{
    const unsigned long long end = now() + s.patience;
    const int64_t warps = (int64_t)gridDim.x * (THREADS / WARP);
    /* neighbours go to different SMs */
    for (int64_t t = (threadIdx.x / WARP) * (int64_t)gridDim.x + blockIdx.x; t * WARP < s.n;
         t += warps)
        if (!do_rows(s, (int32_t)(t * WARP), end)) {
            *s.late = 1;
            return;
        }
}

/* ---- sort and sum up --------------------------------------------------------------------------------- */

struct line { /* a row, or a level of them */
    int64_t entries, longest;
};

struct both {
    __host__ __device__ line operator()(const line &a, const line &b) const
    {
        return {a.entries + b.entries, a.longest > b.longest ? a.longest : b.longest};
    }
};

struct sorting { /* on the device */
    int32_t n;
    const int32_t *found;    /* [n] level of each row */
    int32_t *row, *level;    /* [n] 0, 1, ...; the levels in order */
    int32_t *topo, *ptr;     /* [n], [n+1] */
    line *line_of;           /* [n] of each place */
    line *sum;               /* [n] of each level */
    int32_t *number, *count; /* [n] and [1] of levels */
    int *late;
    void *temp; /* of CUB */
    size_t temp_bytes;
};

static __global__ void number_kernel(const sorting w)
{
    const int32_t i = index_of_thread();
    if (i < w.n) w.row[i] = i;
}

static __global__ void line_kernel(const sorting w, const int64_t *Lp)
{
    const int32_t k = index_of_thread();
    if (k >= w.n) return;
    const int32_t i = w.topo[k], l = w.level[k];
    const int64_t length = Lp[i + 1] - Lp[i];
    w.line_of[k] = {length, length};
    if (k == 0 || w.level[k - 1] != l) w.ptr[l] = k;
    if (k == w.n - 1) w.ptr[l + 1] = w.n;
}

static cudaError_t sort(sorting &w)
{
    return cub::DeviceRadixSort::SortPairs(w.temp, w.temp_bytes, w.found, w.level, w.row, w.topo,
                                           w.n);
}

static cudaError_t sum_up(sorting &w)
{
    return cub::DeviceReduce::ReduceByKey(w.temp, w.temp_bytes, w.level, w.number, w.line_of, w.sum,
                                          w.count, both(), w.n);
}

static size_t lay_out(sorting &w, char *base)
{
    size_t used = 0;
    w.row = carve<int32_t>(base, &used, w.n);
    w.level = carve<int32_t>(base, &used, w.n);
    w.topo = carve<int32_t>(base, &used, w.n);
    w.ptr = carve<int32_t>(base, &used, (int64_t)w.n + 1);
    w.line_of = carve<line>(base, &used, w.n);
    w.sum = carve<line>(base, &used, w.n);
    w.number = carve<int32_t>(base, &used, w.n);
    w.count = carve<int32_t>(base, &used, 1);
    w.late = carve<int>(base, &used, 1);
    w.temp = carve<char>(base, &used, (int64_t)w.temp_bytes);
    return used;
}

static cudaError_t find_temp(sorting &w)
{
    size_t first = 0;
    cudaError_t e = sort(w);
    first = w.temp_bytes;
    if (!e) e = sum_up(w);
    if (first > w.temp_bytes) w.temp_bytes = first;
    return e;
}

static int failed(trs_context *ctx, cudaError_t e)
{
    (void)cudaGetLastError();
    return trs_fail(ctx, TRS_EDEVICE, "levels on the device: %s", cudaGetErrorString(e));
}

/* s->direct.level; TRS_ESUPPORT: the host would have been faster. */
static int find(trs_context *ctx, const trs_side *s, int *late)
{
    const double patience = ctx->patient ? 1e18 : 2e6 + 10 * (double)s->tri.nnz; /* ns */
    search all = {s->tri.n,
                  (const int64_t *)s->direct.ptr,
                  (const int32_t *)s->direct.idx,
                  (int32_t *)s->direct.level,
                  (unsigned long long)patience,
                  late};
    int gave_up = 0;
    void *args[] = {&all};
    cudaMemsetAsync(late, 0, sizeof *late, NULL);
    cudaMemsetAsync(all.level, 0xff, (size_t)all.n * sizeof *all.level, NULL);
    const int blocks = waiting_blocks((const void *)find_kernel, THREADS, 0, s->tri.n);
    cudaError_t e = cudaLaunchCooperativeKernel((const void *)find_kernel, dim3((unsigned)blocks),
                                                dim3(THREADS), args, 0, NULL);
    if (e) return failed(ctx, e);
    const int rc = trs_gpu_get(ctx, &gave_up, late, sizeof gave_up);
    return rc ? rc : gave_up ? TRS_ESUPPORT : TRS_OK;
}

/* The sums over all levels. */
static int tally(trs_context *ctx, const sorting &w, int32_t count, trs_tally *sums)
{
    line *level = (line *)trs_new(ctx, count, sizeof *level, "sums over levels");
    int rc = level ? trs_gpu_get(ctx, level, w.sum, (size_t)count * sizeof *level) : TRS_EMEM;
    *sums = {};
    for (int32_t l = 0; l < count && !rc; l++) {
        sums->sum_longest += level[l].longest;
        if (level[l].longest > sums->longest) sums->longest = level[l].longest;
        if (level[l].entries < TRS_THIN) sums->thin += level[l].entries;
        else sums->wide++;
    }
    trs_free(&ctx->mem, level);
    return rc;
}

/* topo, ptr and widest, on the host. */
static int fetch_levels(trs_context *ctx, const sorting &w, trs_levels *lv)
{
    lv->topo = (int32_t *)trs_new(ctx, w.n, sizeof *lv->topo, "topo");
    lv->ptr = (int32_t *)trs_new(ctx, (int64_t)lv->count + 1, sizeof *lv->ptr, "lv_ptr");
    if (!lv->topo || !lv->ptr) return TRS_EMEM;
    int rc = trs_gpu_get(ctx, lv->topo, w.topo, (size_t)w.n * sizeof *lv->topo);
    if (!rc) rc = trs_gpu_get(ctx, lv->ptr, w.ptr, ((size_t)lv->count + 1) * sizeof *lv->ptr);
    for (int32_t l = 0; l < lv->count && !rc; l++)
        lv->widest = max(lv->widest, lv->ptr[l + 1] - lv->ptr[l]);
    return rc;
}

static int sort_levels(trs_context *ctx, sorting &w, trs_side *s)
{
    w.found = (const int32_t *)s->direct.level;
    number_kernel<<<blocks_of(w.n), THREADS>>>(w);
    cudaError_t e = sort(w);
    line_kernel<<<blocks_of(w.n), THREADS>>>(w, (const int64_t *)s->direct.ptr);
    if (!e) e = sum_up(w);
    if (e) return failed(ctx, e);
    int rc = trs_gpu_get(ctx, &s->lv.count, w.count, sizeof s->lv.count);
    if (!rc) rc = tally(ctx, w, s->lv.count, &s->tally);
    return rc ? rc : fetch_levels(ctx, w, &s->lv);
}

int trs_gpu_find_levels(trs_context *ctx, trs_side *s)
{
    sorting w = {.n = s->tri.n};
    const cudaError_t e = find_temp(w);
    if (e) return failed(ctx, e);
    s->direct.level = trs_gpu_new(ctx, w.n, sizeof(int32_t), "levels");
    void *base = s->direct.level
                     ? trs_gpu_new(ctx, (int64_t)lay_out(w, NULL), 1, "the level analysis")
                     : NULL;
    if (!base) return TRS_EMEM;
    lay_out(w, (char *)base);
    int rc = find(ctx, s, w.late);
    if (!rc) rc = sort_levels(ctx, w, s);
    trs_gpu_free(ctx, base);
    return rc;
}
