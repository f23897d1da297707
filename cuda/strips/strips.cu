/* strips.cu: each strip of consecutive rows (strips.h) belongs to one block, which goes through it level by
 * level with x in shared memory; x crosses to other strips as its own flag.
 *
 * The warps of a block, which has one strip at a time:
 *     team        each has every TEAM-th task, 32 rows of a level, a lane each
 *     loader      brings chunks (numbers, slots, b, rows) into shared memory, ahead of the team
 *     fetchers    bring foreign x into their slots, in the order in which the team needs them
 *
 * Who owns a row: a lane of the team.  How x becomes visible: to the strip by its slot in shared memory, to
 * other strips by y (position), which their fetchers poll and put into slots of theirs; all of these are their own
 * flags (flag.cuh).
 * Why it cannot hang: blocks draw strips in topological order, so all that the first of the unfinished
 * strips waits for is there or comes from itself, from tasks before; a fetcher waits for a slot to be emptied only
 * by tasks that lie before the one that needs it.  No block waits for one that has not started.
 * The sum of a row is made in an order that depends on the pattern alone: same bits every time.  Its terms are
 * multiplied by the inverse of the diagonal while there is nothing else to do, so they must not overflow where x
 * does not; a row whose diagonal is not near 1 (near.h) is multiplied by a power of two, b in fill_kernel.
 * Bytes (elem + 2) per entry, zeros that fill lines up included, + 5 elem + 12 a row.  Bound by
 * steps: on an H200 0.14 to 0.17 us from task to task of a strip, and 1.1 to 1.6 us from strip to strip. */
#include "config.h"

#include "cuda/runtime/flag.cuh"

extern "C" {
#include "strips.h"
}

enum {
    WARP = TRS_STRIP_WARP,
    TEAM = TRS_STRIP_TEAM,
    REACH = TRS_STRIP_REACH,
    OWN = TRS_STRIP_OWN,
    FOREIGN = TRS_STRIP_FOREIGN,
    ZERO = TRS_STRIP_ZERO,
    LINES = TRS_STRIP_LINES,
    EARLY = TRS_STRIP_EARLY,
    TASKS = TRS_STRIP_TASKS,
    LAST = TRS_STRIP_LAST,
    STAGES = 12,  /* most chunks in shared memory */
    PLACES = 128, /* of tasks: at least TASKS * STAGES, a power of two */
    FETCHERS = 2, /* warps */
    THREADS = (TEAM + 1 + FETCHERS) * WARP,
    GROUP = 4,       /* lines that are read at a time */
    FILL = 256,      /* threads of a block of the first kernel */
    ANY_ROWS = 4096, /* of a strip, where nothing speaks for any number */
};

struct strips {
    trs_strips s;     /* on the host */
    void *packed;     /* on the host, for the values */
    trs_strip *strip; /* on the device from here on */
    trs_chunk *chunk;
    trs_item *item;
    int32_t *row;   /* in one block with the next two */
    int16_t *power; /* [32 tasks] of two, that rows are multiplied by */
    int *scaled;    /* 1: some of them are not 0 */
    char *chunks;   /* packed */
    int32_t *entry; /* once they were needed */
    int64_t *ptr;   /* [n+1] of the triangle, likewise */
    int blocks, stages, shared;
};

template <class T> struct kernel_args {
    int32_t count, tasks;
    const trs_strip *strip;
    const trs_chunk *chunk;
    const trs_item *item;
    const int32_t *row;
    const char *chunks;
    T *y; /* [32 tasks] its own flag */
    T *c; /* [32 tasks] b */
    int *ticket;
    view<T> b, x;
    int stages;
    bool cj;
};

/* Where a chunk begins. */
template <class T> __device__ inline int64_t chunk_place(int64_t number, int64_t line, int64_t task)
{
    return number * (int64_t)sizeof(trs_chunk) + line * WARP * (int64_t)(sizeof(T) + 2) +
           task * WARP * (int64_t)(sizeof(T) + 4);
}

/* ---- shared memory ---------------------------------------------------------------------------------- */

template <class T> struct stage { /* a chunk, as far as it goes */
    trs_chunk chunk;
    unsigned char rest[LINES * WARP * (sizeof(T) + 2) + TASKS * WARP * (sizeof(T) + 4)];
    T c[TASKS * WARP];
};

template <class T> struct store {
    T slot[TRS_STRIP_SLOTS];
    uint8_t stage_of[PLACES]; /* tasks */
    uint64_t full[STAGES];    /* mbarriers: a stage has been brought */
    int32_t lap[STAGES];      /* how often it has */
    int32_t end[STAGES];      /* of the chunk in each, in tasks */
    volatile int32_t here;    /* tasks that have been brought */
    volatile int32_t
        next[TEAM]; /* task of each warp of the team: those before the least are done */
    int32_t strip;
    alignas(16) stage<T> stages[1]; /* as many as k.stages */
};

/* Addresses in shared memory, made once: the compiler would make them anew at each use. */
__device__ inline uint32_t shared_address(const void *p)
{
    uint32_t a;
    asm volatile("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }"
                 : "=r"(a)
                 : "l"(p));
    return a;
}

__device__ inline int lane_number()
{
    int lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

__device__ inline void slot_peek(uint32_t p, double &v)
{
    delay();
    asm volatile("ld.relaxed.cta.shared.f64 %0, [%1];" : "=d"(v) : "r"(p) : "memory");
}
__device__ inline void slot_peek(uint32_t p, float &v)
{
    delay();
    asm volatile("ld.relaxed.cta.shared.f32 %0, [%1];" : "=f"(v) : "r"(p) : "memory");
}
template <class T> __device__ inline void slot_peek(uint32_t p, T &v)
{
    slot_peek(p, v.x);
    slot_peek(p + (uint32_t)sizeof v.x, v.y);
}

__device__ inline void slot_put(uint32_t p, double v)
{
    delay();
    asm volatile("st.relaxed.cta.shared.f64 [%0], %1;" ::"r"(p), "d"(v) : "memory");
}
__device__ inline void slot_put(uint32_t p, float v)
{
    delay();
    asm volatile("st.relaxed.cta.shared.f32 [%0], %1;" ::"r"(p), "f"(v) : "memory");
}
template <class T> __device__ inline void slot_put(uint32_t p, T v)
{
    slot_put(p, v.x);
    slot_put(p + (uint32_t)sizeof v.x, v.y);
}

__device__ inline void fence()
{
    asm volatile("fence.acq_rel.cta;" ::: "memory");
}

/* Tasks that are done, and all that was done before with them: for every lane. */
__device__ inline int32_t tasks_done(const volatile int32_t *next)
{
    const int lane = threadIdx.x % WARP;
    delay();
    int32_t least = next[lane < TEAM ? lane : 0];
#if __CUDA_ARCH__ >= 800
    least = __reduce_min_sync(~0u, least);
#else
    for (int by = 1; by < WARP; by *= 2) least = min(least, __shfl_xor_sync(~0u, least, by));
#endif
    fence();
    __syncwarp();
    return least;
}

template <class T> __device__ inline T empty_slot()
{
    T v;
    memset(&v, 0xff, sizeof v);
    return v;
}

/* ---- the loader ------------------------------------------------------------------------------------- */

/* Multiples of 16 bytes, all lanes calling. */
__device__ inline void bring(void *to, const void *from, int bytes, uint64_t *full)
{
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x % WARP == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                     "l"(from), "r"(bytes), "r"(shared_address(full))
                     : "memory");
#else
    for (int at = threadIdx.x % WARP * 16; at < bytes; at += WARP * 16)
        *(int4 *)((char *)to + at) = *(const int4 *)((const char *)from + at);
#endif
}

__device__ inline void bring_begins(uint64_t *full, int bytes)
{
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x % WARP == 0)
        asm volatile(
            "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(full)),
            "r"(bytes)
            : "memory");
#endif
}

__device__ inline void bring_ends(uint64_t *full, int lap)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
                 "@!p bra again; }" ::"r"(shared_address(full)),
                 "r"(lap & 1)
                 : "memory");
#endif
}

/* What a chunk begins with. */
struct chunk_head {
    int64_t line;
    int32_t task;
    uint8_t lines, tasks, rest[2];
};

union head_words {
    chunk_head head;
    int4 words;
};

/* Of the chunks that come next each lane has one. */
__device__ inline chunk_head head_of(int4 mine, int which)
{
    head_words h;
    h.words.x = __shfl_sync(~0u, mine.x, which);
    h.words.y = __shfl_sync(~0u, mine.y, which);
    h.words.z = __shfl_sync(~0u, mine.z, which);
    h.words.w = __shfl_sync(~0u, mine.w, which);
    return h.head;
}

template <class T>
__device__ inline void bring_chunk(const kernel_args<T> &k, store<T> *m, int32_t chunk,
                                   const chunk_head &c, int at, int32_t first)
{
    stage<T> *to = &m->stages[at];
    uint64_t *full = &m->full[at];
    const int lane = threadIdx.x % WARP, rows = c.tasks * WARP * (int)sizeof(T);
    const int bytes = (int)chunk_place<T>(1, c.lines, c.tasks);
    const int64_t from = chunk_place<T>(chunk, c.line, c.task);
    bring_begins(full, bytes + rows);
    bring(to, k.chunks + from, bytes, full);
    bring(to->c, k.c + (int64_t)c.task * WARP, rows, full);
    if (lane < c.tasks) m->stage_of[(c.task - first + lane) % PLACES] = (uint8_t)at;
    if (lane == 0) m->end[at] = c.task - first + c.tasks;
}

template <class T>
__device__ void load(const kernel_args<T> &k, store<T> *m, const trs_strip &strip, int32_t chunks)
{
    const int lane = threadIdx.x % WARP;
    const trs_chunk *chunk = k.chunk + strip.chunk;
    const int4 none = {0, 0, 0, 0};
    int4 now = none, next = none;
    int32_t issued = 0, told = 0;
    if (lane < chunks) next = *(const int4 *)(chunk + lane);
    while (told < chunks) {
        __syncwarp();
        const int at = issued % k.stages, oldest = told % k.stages;
        if (issued < chunks && (issued < k.stages || tasks_done(m->next) >= m->end[at])) {
            if (issued % WARP == 0) {
                now = next;
                if (issued + WARP + lane < chunks)
                    next = *(const int4 *)(chunk + issued + WARP + lane);
            }
            bring_chunk(k, m, strip.chunk + issued, head_of(now, issued % WARP), at, strip.task);
            issued++;
        } else if (told < issued) {
            bring_ends(&m->full[oldest], m->lap[oldest]);
            __syncwarp();
            if (lane == 0) m->lap[oldest]++;
            fence();
            __syncwarp();
            delay();
            if (lane == 0) m->here = m->end[oldest];
            told++;
        }
    }
}

/* ---- fetchers --------------------------------------------------------------------------------------- */

/* Two items a lane at a time.  After a look in vain only the lane looks whose item is needed first: many
 * that look and find nothing keep the others from finding something. */
template <class T>
__device__ void fetch(const kernel_args<T> &k, store<T> *m, int64_t first, int32_t items)
{
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP - TEAM - 1;
    const uint32_t slots = shared_address(m->slot);
    int32_t done = 0;
    trs_item next[2] = {{0, 0}, {0, 0}};
#pragma unroll
    for (int j = 0; j < 2; j++)
        if ((2 * warp + j) * WARP + lane < items)
            next[j] = k.item[first + (2 * warp + j) * WARP + lane];
    for (int32_t base = 2 * warp * WARP + lane; base - lane < items; base += 2 * FETCHERS * WARP) {
        trs_item mine[2];
        bool waiting[2];
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const int32_t after = base + (2 * FETCHERS + j) * WARP;
            mine[j] = next[j];
            waiting[j] = base + j * WARP < items;
            if (after < items) next[j] = k.item[first + after];
        }
        bool all = true;
        for (;;) {
            const unsigned left0 = __ballot_sync(~0u, waiting[0]);
            const unsigned left1 = __ballot_sync(~0u, waiting[1]);
            const unsigned left = left0 ? left0 : left1;
            if (!left) break;
            if (__any_sync(~0u, (waiting[0] && mine[0].gate > done) ||
                                    (waiting[1] && mine[1].gate > done)))
                done = tasks_done(m->next);
            const bool leads = (left & (0u - left)) >> lane & 1;
            T v[2];
            bool here[2];
#pragma unroll
            for (int j = 0; j < 2; j++)
                here[j] = waiting[j] && mine[j].gate <= done &&
                          (all || (leads && (j == 0) == (left0 != 0))) &&
                          flag_load(k.y + mine[j].from, v[j]);
            bool came = false;
#pragma unroll
            for (int j = 0; j < 2; j++)
                if (here[j]) {
                    slot_put(slots + (OWN + (base + j * WARP) % FOREIGN) * (uint32_t)sizeof(T),
                             v[j]);
                    waiting[j] = false;
                    came = true;
                }
            all = __any_sync(~0u, came);
        }
    }
}

/* ---- the team --------------------------------------------------------------------------------------- */

template <class T> __device__ inline uint32_t slot_at(uint32_t slots, unsigned code)
{
    return slots + (code & ~(unsigned)LAST) * (uint32_t)sizeof(T);
}

/* COUNT lines, once all of their x are there. */
template <class T, int COUNT> __device__ inline T sum_lines(const uint32_t *slot, const T *a, T s)
{
    T x[COUNT];
    bool there;
    do {
        there = true;
#pragma unroll
        for (int j = 0; j < COUNT; j++) slot_peek(slot[j], x[j]);
#pragma unroll
        for (int j = 0; j < COUNT; j++) there = there && flag_there(x[j]);
    } while (!__all_sync(~0u, there));
#pragma unroll
    for (int j = 0; j < COUNT; j++) s = s + a[j] * x[j];
    return s;
}

/* Numbers times factor, and addresses of slots, of the next GROUP lines. */
template <class T>
__device__ inline void read_lines(const T *val, const uint16_t *code, uint32_t slots, int count,
                                  bool cj, T factor, T *a, uint32_t *slot)
{
#pragma unroll
    for (int j = 0; j < GROUP; j++) {
        const bool there = j < count;
        a[j] = there ? conj_if(cj, val[j * WARP]) * factor : number<T>(0);
        slot[j] = slot_at<T>(slots, there ? code[j * WARP] : (unsigned)ZERO);
    }
}

/* s + factor * the sum of these lines */
template <class T>
__device__ inline T add_lines(const T *val, const uint16_t *code, uint32_t slots, int count,
                              bool cj, T factor, T s)
{
    T a[GROUP];
    uint32_t slot[GROUP];
    for (; count > 0; count -= GROUP, val += GROUP * WARP, code += GROUP * WARP) {
        read_lines(val, code, slots, count, cj, factor, a, slot);
        if (count > 2) s = sum_lines<T, 4>(slot, a, s);
        else if (count == 2) s = sum_lines<T, 2>(slot, a, s);
        else s = sum_lines<T, 1>(slot, a, s);
    }
    return s;
}

template <class T>
__device__ inline void run_task(const kernel_args<T> &k, store<T> *m, uint32_t slots, int lane,
                                int32_t first, int32_t task, uint16_t *last)
{
    const stage<T> *s = &m->stages[m->stage_of[task % PLACES]];
    const int at = first + task - s->chunk.task, rows = s->chunk.tasks * WARP;
    const int entries = s->chunk.lines * WARP, early = s->chunk.early[at];
    const T *val = (const T *)s->rest, *inverse = val + entries;
    const int32_t *row_of = (const int32_t *)(inverse + rows);
    const uint16_t *code = (const uint16_t *)(row_of + rows);
    const int32_t row = row_of[at * WARP + lane];
    const T inv = conj_if(k.cj, inverse[at * WARP + lane]), minus = number<T>(0) - inv;
    const uint32_t own = slots + (task * WARP % OWN + lane) * (uint32_t)sizeof(T);
    T sum = s->c[at * WARP + lane] * inv;
    val += s->chunk.from[at] * WARP + lane;
    code += s->chunk.from[at] * WARP + lane;
    sum = add_lines(val, code, slots, early, k.cj, minus, sum);
    sum = add_lines(val + early * WARP, code + early * WARP, slots, s->chunk.late[at], k.cj, minus,
                    sum);
    const T x = flag_free(sum);
    slot_put(own, x);
    if (row >= 0) {
        flag_store(k.y + ((int64_t)first + task) * WARP + lane, x);
        k.x(row, 0) = x;
    }
#pragma unroll
    for (int j = 0; j < EARLY; j++) {
        const uint16_t c = j < early ? code[j * WARP] : 0;
        last[j] = c & LAST ? c : 0;
    }
}

template <class T>
__device__ void consume(const kernel_args<T> &k, store<T> *m, int32_t first, int32_t tasks)
{
    const uint32_t slots = shared_address(m->slot);
    const int lane = lane_number(), warp = threadIdx.x / WARP;
    uint16_t last[EARLY] = {}; /* codes of the items that the task before was the last to read */
    for (int32_t t = warp; t < tasks; t += TEAM) {
        /* the fence in tasks_done is behind both looks */
        while (!__all_sync(~0u, m->here > t) || tasks_done(m->next) < t - TEAM + 1) continue;
        const int32_t past = t - TEAM - REACH;
        if (past >= 0)
            slot_put(slots + (past * WARP % OWN + lane) * (uint32_t)sizeof(T), empty_slot<T>());
#pragma unroll
        for (int j = 0; j < EARLY; j++)
            if (last[j]) slot_put(slot_at<T>(slots, last[j]), empty_slot<T>());
        run_task(k, m, slots, lane, first, t, last);
        __syncwarp(); /* so that the fence of lane 0 is behind what all lanes did */
        fence();
        delay();
        if (lane == 0) m->next[warp] = t + TEAM;
    }
    if (lane == 0) m->next[warp] = INT32_MAX;
}

/* ---- kernels ----------------------------------------------------------------------------------------- */

/* b in the order of the strips; nothing of x is there. */
template <class T>
static __global__ void fill_kernel(const kernel_args<T> k, const int16_t *power, const int *scaled)
{
    const int64_t p = (int64_t)blockIdx.x * FILL + threadIdx.x;
    if (p == 0) *k.ticket = 0;
    if (p >= (int64_t)k.tasks * WARP) return;
    const int32_t row = k.row[p];
    k.y[p] = empty_slot<T>();
    T b = row < 0 ? number<T>(0) : k.b(row, 0);
    if (*scaled) b = times_power(b, power[p]);
    k.c[p] = b;
}

template <class T>
static __global__ void __launch_bounds__(THREADS, sizeof(T) > 8 ? 2 : 3)
    strips_kernel(const kernel_args<T> k)
{
    store<T> *m = (store<T> *)shared_numbers<T>();
    if (threadIdx.x == 0) m->slot[ZERO] = number<T>(0);
    if (threadIdx.x < STAGES) {
        m->lap[threadIdx.x] = 0;
#if __CUDA_ARCH__ >= 900
        asm volatile(
            "mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&m->full[threadIdx.x]))
            : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
    }
    for (;;) {
        if (threadIdx.x == 0) {
            m->strip = atomicAdd(k.ticket, 1);
            m->here = 0;
        }
        if (threadIdx.x < TEAM) m->next[threadIdx.x] = threadIdx.x;
        for (int j = threadIdx.x; j < ZERO; j += THREADS) m->slot[j] = empty_slot<T>();
        __syncthreads();
        const int32_t strip = m->strip;
        if (strip >= k.count) return;
        delay();
        const trs_strip begin = k.strip[strip], end = k.strip[strip + 1];
        const int warp = threadIdx.x / WARP;
        if (warp < TEAM) consume(k, m, begin.task, end.task - begin.task);
        else if (warp == TEAM) load(k, m, begin, end.chunk - begin.chunk);
        else fetch(k, m, begin.item, (int32_t)(end.item - begin.item));
        __syncthreads();
    }
}

/* ---- the host side ----------------------------------------------------------------------------------- */

static void release(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    strips *d = (strips *)inst->data;
    trs_strips_free(ctx, &d->s);
    trs_free(&ctx->mem, d->packed);
    trs_gpu_free(ctx, d->strip);
    trs_gpu_free(ctx, d->chunk);
    trs_gpu_free(ctx, d->item);
    trs_gpu_free(ctx, d->row);
    trs_gpu_free(ctx, d->chunks);
    trs_gpu_free(ctx, d->entry);
    trs_gpu_free(ctx, d->ptr);
    trs_free(&ctx->mem, d);
}

/* At most one block a strip, and as many stages as then fit. */
template <class T> static void count_blocks(trs_context *ctx, strips *d)
{
    const void *kernel = (const void *)strips_kernel<T>;
    const size_t least = sizeof(store<T>) + sizeof(stage<T>);
    const int sms = multiprocessors();
    int most = 0, all = 0, kept = 0, each = 0;
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, ctx->device);
    cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, ctx->device);
    cudaDeviceGetAttribute(&kept, cudaDevAttrReservedSharedMemoryPerBlock, ctx->device);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    /* between kernels that divide the cache differently an SM would have to run empty */
    cudaFuncSetAttribute(fill_kernel<T>, cudaFuncAttributePreferredSharedMemoryCarveout,
                         cudaSharedmemCarveoutMaxShared);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, THREADS, least);
    cudaGetLastError(); /* too much shared memory: each is 0 */
    if (!each || !d->s.count) return;
    if (each > (d->s.count + sms - 1) / sms) each = (d->s.count + sms - 1) / sms;
    const size_t room = (size_t)min(most, all / each - kept) - sizeof(store<T>);
    d->stages = 1 + (int)min(room / sizeof(stage<T>), (size_t)STAGES - 1);
    d->shared = (int)(sizeof(store<T>) + (size_t)(d->stages - 1) * sizeof(stage<T>));
    d->blocks = waiting_blocks(kernel, THREADS, (size_t)d->shared, d->s.count);
}

static size_t lay_out_rows(strips *d, char *base)
{
    const int64_t places = (int64_t)d->s.tasks * WARP;
    size_t used = 0;
    d->row = carve<int32_t>(base, &used, places);
    d->power = carve<int16_t>(base, &used, places);
    d->scaled = carve<int>(base, &used, 1);
    return used;
}

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    const trs_tri *t = &inst->op->tri;
    strips *d = (strips *)trs_alloc_zero(&ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(TRS_EMEM, "out of memory");
    inst->data = d;
    const int32_t rows = inst->op->strip_rows ? inst->op->strip_rows : (int32_t)ANY_ROWS;
    int rc = trs_strips_make(ctx, t, inst->lv, rows, &d->s);
    if (rc) return rc;
    const trs_strips *s = &d->s;
    const size_t bytes = trs_strips_bytes(s, t->dtype);
    d->packed = trs_new(ctx, (int64_t)bytes, 1, "strips");
    d->chunks = (char *)trs_gpu_new(ctx, (int64_t)bytes, 1, "strips");
    d->strip =
        (trs_strip *)device_copy(ctx, s->strip, (int64_t)s->count + 1, sizeof *s->strip, "strips");
    d->chunk = (trs_chunk *)device_copy(ctx, s->chunk, s->chunks, sizeof *s->chunk, "chunks");
    d->item = (trs_item *)device_copy(ctx, s->item, s->items, sizeof *s->item, "items");
    d->row = (int32_t *)trs_gpu_new(ctx, (int64_t)lay_out_rows(d, NULL), 1, "rows");
    if (!d->packed || !d->chunks || !d->strip || !d->chunk || !d->item || !d->row) return TRS_EMEM;
    lay_out_rows(d, (char *)d->row);
    rc = trs_gpu_put(ctx, d->row, s->row, (size_t)s->tasks * WARP * sizeof *s->row);
    if (rc) return rc;
    for_type(t->dtype, [&](auto zero) {
        count_blocks<decltype(zero)>(ctx, d);
        return int(TRS_OK);
    });
    return d->blocks || !t->n
               ? TRS_OK
               : trs_fail(TRS_ESUPPORT, "cuda-strips: too little shared memory on this GPU");
}

static int update(trs_instance *inst)
{
    strips *d = (strips *)inst->data;
    const trs_tri *t = &inst->op->tri;
    const trs_strips *s = &d->s;
    const int scaled = trs_strips_pack(inst->ctx, s, t, d->packed);
    int rc = trs_gpu_put(inst->ctx, d->scaled, &scaled, sizeof scaled);
    if (!rc && scaled)
        rc = trs_gpu_put(inst->ctx, d->power, s->power, (size_t)s->tasks * WARP * sizeof *s->power);
    return rc ? rc
              : trs_gpu_put(inst->ctx, d->chunks, d->packed, trs_strips_bytes(&d->s, t->dtype));
}

/* A warp a chunk, as trs_strips_pack does it. */
template <class T>
static __global__ void update_kernel(int32_t count, const trs_chunk *chunk, const int32_t *entry,
                                     const int32_t *rows, const int64_t *ptr, const T *from,
                                     char *chunks, int16_t *powers, int *scaled)
{
    const int32_t which = (int32_t)(((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP);
    const int lane = threadIdx.x % WARP;
    if (which >= count) return;
    const trs_chunk *c = &chunk[which];
    T *val = (T *)(chunks + chunk_place<T>(which, c->line, c->task) + sizeof *c) + lane;
    T *inv = val + c->lines * WARP;
    for (int k = 0; k < c->tasks; k++) {
        const int64_t position = ((int64_t)c->task + k) * WARP + lane;
        const int32_t stored = rows[position];
        const int32_t row = stored < -1 ? TRS_STRIP_PIECE - stored : stored;
        const T d = row < 0 ? number<T>(1) : from[ptr[row + 1] - 1];
        const int power = power_for(d);
        powers[position] = (int16_t)power;
        if (power) *scaled = 1;
        for (int l = c->from[k]; l < c->from[k] + c->early[k] + c->late[k]; l++) {
            const int32_t e = entry[(c->line + l) * WARP + lane];
            val[l * WARP] = e >= 0 ? times_power(from[ptr[row] + e], power)
                                   : number<T>(e == TRS_STRIP_PIECE ? -1 : 0);
        }
        inv[k * WARP] = stored >= 0 ? number<T>(1) / times_power(d, power) : number<T>(stored < -1);
    }
}

static int update_direct(trs_instance *inst, const void *val, void *stream)
{
    trs_context *ctx = inst->ctx;
    strips *d = (strips *)inst->data;
    const trs_tri *t = &inst->op->tri;
    const trs_strips *s = &d->s;
    if (!d->entry)
        d->entry =
            (int32_t *)device_copy(ctx, s->entry, s->lines * WARP, sizeof *s->entry, "entries");
    if (!d->ptr)
        d->ptr = (int64_t *)device_copy(ctx, t->ptr, (int64_t)t->n + 1, sizeof *t->ptr, "pointers");
    if (!d->entry || !d->ptr) return TRS_EMEM;
    if (!s->chunks) return TRS_OK;
    if (cudaMemsetAsync(d->scaled, 0, sizeof *d->scaled, (cudaStream_t)stream) != cudaSuccess)
        return TRS_EDEVICE;
    return for_type(t->dtype, [&](auto zero) {
        using T = decltype(zero);
        const unsigned blocks = (unsigned)((s->chunks + FILL / WARP - 1) / (FILL / WARP));
        update_kernel<T><<<blocks, FILL, 0, (cudaStream_t)stream>>>(s->chunks, d->chunk, d->entry,
                                                                    d->row, d->ptr, (const T *)val,
                                                                    d->chunks, d->power, d->scaled);
        return launched();
    });
}

/* y, b and the ticket */
static int64_t work_bytes(const trs_instance *inst, int)
{
    const strips *d = (const strips *)inst->data;
    return 2 * (int64_t)d->s.tasks * WARP * (int64_t)trs_size(inst->op->tri.dtype) + 16;
}

template <class T> static int solve_columns(const trs_instance *inst, const trs_job *job)
{
    const strips *d = (const strips *)inst->data;
    const int64_t places = (int64_t)d->s.tasks * WARP;
    const cudaStream_t stream = (cudaStream_t)job->stream;
    T *y = (T *)job->work;
    if (places == 0) return TRS_OK;
    for (int r = 0; r < job->nrhs; r++) {
        const kernel_args<T> k = {d->s.count,
                                  d->s.tasks,
                                  d->strip,
                                  d->chunk,
                                  d->item,
                                  d->row,
                                  d->chunks,
                                  y,
                                  y + places,
                                  (int *)(y + 2 * places),
                                  from_column(typed<T>(job->b), r),
                                  from_column(typed<T>(job->x), r),
                                  d->stages,
                                  job->conj};
        fill_kernel<T>
            <<<(unsigned)((places + FILL - 1) / FILL), FILL, 0, stream>>>(k, d->power, d->scaled);
        strips_kernel<T><<<d->blocks, THREADS, d->shared, stream>>>(k);
    }
    return launched();
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    return for_type(inst->op->tri.dtype,
                    [&](auto zero) { return solve_columns<decltype(zero)>(inst, job); });
}

/* Measured: a level inside a strip, and from one strip to the next one.  No strip is passed twice, and a level
 * of a strip waits for lower ones only: so much is enough. */
static const double LEVEL = 0.28, STRIP = 3.8; /* hops */

static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    (void)built;
    const double count = s->strips ? (double)s->strips : (double)s->n / (double)ANY_ROWS + 1;
    c->bytes = ((double)s->nnz * (s->elem + 2) * 1.2 + (double)s->n * (6 * s->elem + 16)) *
               m->gpu_byte * s->nrhs;
    c->sync = 3 * m->gpu_launch * s->nrhs;
    c->hops = ((double)s->levels * LEVEL + count * STRIP) * m->gpu_hop * s->nrhs;
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return s->nnz * (int64_t)(s->elem + 4) + s->n * (20 + 2 * (int64_t)s->elem);
}

const trs_solver trs_solver_strips = {
    .name = "cuda-strips",
    .about = "a block of threads for a strip of rows, level by level, x in shared memory",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .strips = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .update_direct = update_direct,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};
