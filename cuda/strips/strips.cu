/* strips.cu: cuda-strips: a row tile (strips.h) belongs to one block, which solves it level by level with x in
 * shared memory; x crosses to other tiles as its own flag.  README.md draws it.
 *
 * The warps of a block, which has one tile at a time:
 *     consumers   each solves every CONSUMERS-th task, 32 rows of a level, a lane each     consumer.cuh
 *     loader      copies packets (values, slot codes, rows, b) to shared memory             loader.cuh
 *     fetchers    copy halo x to their slots, in the order in which tasks need them        fetcher.cuh
 *
 * Who owns a row: a lane of a consumer.  How x becomes visible: in its tile by its slot in shared memory, in other
 * tiles by y (position), which their fetchers poll and copy to slots of theirs; all of these are their own flags
 * (flag.cuh).
 * Why it cannot hang: blocks draw tiles in topological order, and none waits for one that has not started.  Of the
 * tiles that are not solved take the first, and in it the first task that is not done.  Its halo x are of tiles that
 * are solved, or of tasks before it; by (3) of strips.h their slots are free, and by (1) its consumer may begin.  A
 * stage is free for its packet, or has it, since all tasks of packets before are done.
 * The sum of a row is made in an order that depends on the pattern alone: same bits every time.  Its terms are
 * multiplied by the inverse of the diagonal while there is nothing else to do, so they must not overflow where x
 * does not; a row whose diagonal is not near 1 (near.h) is multiplied by a power of two, b in fill_kernel.
 * Bytes: elem + 2 per entry, padding included, + 7 elem + 8 a row, + elem + 8 per halo entry.  Bound by latency: on
 * an H200 0.14 to 0.17 us from a level to the next in a tile, and 1.1 to 1.6 us from a tile to the next. */
#include "config.h"

#include "consumer.cuh"
#include "fetcher.cuh"
#include "loader.cuh"
#include "update.cuh"

struct strips {
    trs_strips s;       /* on the host */
    trs_row_tile *tile; /* on the device from here on */
    trs_packet *packet;
    trs_halo_entry *halo;
    int32_t *row;   /* [32 tasks], in one allocation with the next two */
    int16_t *power; /* [32 tasks] of two, that rows are multiplied by */
    int *scaled;    /* 1: some of them are not 0 */
    char *packed;   /* the packets (strips.h) */
    int32_t *entry; /* [32 ells] */
    int blocks, stages, shared;
};

/* ---- kernels ----------------------------------------------------------------------------------------- */

/* c = b by position, times the power of two of its row; y is empty; the first tile is next. */
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
    tile_memory<T> *m = (tile_memory<T> *)shared_numbers<T>();
    if (threadIdx.x == 0) m->slot[ZERO] = number<T>(0);
    if (threadIdx.x < STAGES) {
        m->phase[threadIdx.x] = 0;
        bulk_init(&m->full[threadIdx.x]);
    }
    for (;;) {
        if (threadIdx.x == 0) {
            m->tile = atomicAdd(k.ticket, 1);
            m->loaded = 0;
        }
        if (threadIdx.x < CONSUMERS) m->next[threadIdx.x] = threadIdx.x;
        for (int j = threadIdx.x; j < ZERO; j += THREADS) m->slot[j] = empty_slot<T>();
        __syncthreads();
        const int32_t tile = m->tile;
        if (tile >= k.tiles) return;
        delay();
        const trs_row_tile begin = k.tile[tile], end = k.tile[tile + 1];
        const int warp = threadIdx.x / WARP;
        TRS_ASSERT(k.stages > 0 && k.stages <= STAGES && begin.task < end.task);
        if (warp < CONSUMERS) consume(k, m, begin.task, end.task - begin.task);
        else if (warp == CONSUMERS) load(k, m, begin, end.packet - begin.packet);
        else fetch(k, m, begin.halo, (int32_t)(end.halo - begin.halo));
        __syncthreads();
    }
}

/* ---- the host side ----------------------------------------------------------------------------------- */

static void release(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    strips *d = (strips *)inst->data;
    trs_strips_free(ctx, &d->s);
    device_free(ctx, d->tile, d->packet, d->halo, d->row, d->packed, d->entry);
    trs_free(&ctx->mem, d);
}

/* At most one block a tile, and as many stages as then fit. */
template <class T> static void count_blocks(trs_context *ctx, strips *d)
{
    const void *kernel = (const void *)strips_kernel<T>;
    const size_t least = sizeof(tile_memory<T>) + sizeof(stage<T>);
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
    if (!each || !d->s.tiles) return;
    if (each > (d->s.tiles + sms - 1) / sms) each = (d->s.tiles + sms - 1) / sms;
    const size_t room = (size_t)min(most, all / each - kept) - sizeof(tile_memory<T>);
    d->stages = 1 + (int)min(room / sizeof(stage<T>), (size_t)STAGES - 1);
    d->shared = (int)(sizeof(tile_memory<T>) + (size_t)(d->stages - 1) * sizeof(stage<T>));
    d->blocks = waiting_blocks(kernel, THREADS, (size_t)d->shared, d->s.tiles);
}

/* All of the schedule that solves and updates read, and packets without values. */
static int put_schedule(trs_context *ctx, trs_dtype dtype, strips *d)
{
    const trs_strips *s = &d->s;
    const int64_t lanes = s->ells * WARP, places = (int64_t)s->tasks * WARP;
    d->packed = (char *)trs_gpu_new(ctx, (int64_t)trs_strips_bytes(s, dtype), 1, "packets");
    d->tile = device_copy(ctx, s->tile, (int64_t)s->tiles + 1, "tiles");
    d->packet = device_copy(ctx, s->packet, s->packets, "packets");
    d->halo = device_copy(ctx, s->halo, s->halo_entries, "halo x");
    d->entry = device_copy(ctx, s->entry, lanes, "entries");
    carve_new(ctx, "rows", [&](carver &carve) {
        carve(d->row, places);
        carve(d->power, places);
        carve(d->scaled, 1);
    });
    uint16_t *code = device_copy(ctx, s->code, lanes, "slot codes");
    int rc = d->packed && d->tile && d->packet && d->halo && d->entry && d->row && code ? TRS_OK
                                                                                        : TRS_EMEM;
    if (!rc) rc = trs_gpu_put(ctx, d->row, s->row, (size_t)places * sizeof *s->row);
    if (!rc && s->packets)
        rc = for_type(dtype, [&]<class T>(T) {
            frame_kernel<T><<<packet_blocks(s->packets), FILL>>>(s->packets, d->packet, d->row,
                                                                 code, d->packed);
            return launched() ? launched() : trs_gpu_wait(NULL);
        });
    trs_gpu_free(ctx, code);
    return rc;
}

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    const trs_tri *t = &inst->op->tri;
    const void *size;
    int rc = trs_operator_analysis(inst->op, &trs_strips_analysis, true, &size);
    if (!rc) rc = trs_operator_show(inst->op, TRS_OP_PATTERN | TRS_OP_LEVELS);
    if (!rc) rc = trs_operator_device(inst->op, TRS_OP_PATTERN);
    if (rc) return rc;
    strips *d = data_new<strips>(ctx, &inst->data);
    if (!d) return TRS_EMEM;
    rc = trs_strips_make(ctx, t, &inst->op->lv, ((const trs_strips_size *)size)->rows, &d->s);
    if (!rc) rc = put_schedule(ctx, t->dtype, d);
    if (rc) return rc;
    for_type(t->dtype, [&]<class T>(T) {
        count_blocks<T>(ctx, d);
        return int(TRS_OK);
    });
    return d->blocks || !t->n
               ? TRS_OK
               : trs_fail(TRS_ESUPPORT, "cuda-strips: too little shared memory on this GPU");
}

static int update(trs_instance *inst, void *stream)
{
    strips *d = (strips *)inst->data;
    const trs_device_view *L = &inst->op->device;
    const int rc = trs_operator_device(inst->op, TRS_OP_VALUES);
    if (rc || !d->s.packets) return rc;
    if (cudaMemsetAsync(d->scaled, 0, sizeof *d->scaled, (cudaStream_t)stream) != cudaSuccess)
        return TRS_EDEVICE;
    return for_type(inst->op->tri.dtype, [&]<class T>(T) {
        update_kernel<T><<<packet_blocks(d->s.packets), FILL, 0, (cudaStream_t)stream>>>(
            d->s.packets, d->packet, d->entry, d->row, L->ptr, (const T *)L->val, d->packed,
            d->power, d->scaled);
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
        const kernel_args<T> k = {d->s.tiles,
                                  d->s.tasks,
                                  d->tile,
                                  d->packet,
                                  d->halo,
                                  d->row,
                                  d->packed,
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
    return for_type(inst->op->tri.dtype, [&]<class T>(T) { return solve_columns<T>(inst, job); });
}

/* The latency is that of the levels inside a tile and of the steps from one tile to the next one.  No tile is passed
 * twice, and a level of a tile waits for lower ones only: so much is enough. */
static const char *estimate(const trs_prospect *p, const trs_instance *, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    const trs_strips_size *size =
        (const trs_strips_size *)trs_prospect_analysis(p, &trs_strips_analysis, true);
    if (!size) return "row tiles of it would need too many x of one another";
    c->bytes =
        ((double)s->nnz * (s->elem + 2) * m->strips_packing + (double)s->n * (6 * s->elem + 16)) *
        m->gpu_byte * s->nrhs;
    c->sync = m->strips_launches * m->gpu_launch * s->nrhs;
    c->latency = ((double)s->levels * m->strips_level + (double)size->tiles * m->strips_tile) *
                 m->gpu_latency * s->nrhs;
    c->update = m->strips_update_launches * m->gpu_launch +
                m->strips_update_copies * (double)s->nnz * (2 * s->elem + 4) * m->gpu_byte;
    return NULL;
}

/* The schedule, the packets, and the operator's own pointers and values. */
static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return s->nnz * (int64_t)(2 * s->elem + 12) + s->n * (28 + 2 * (int64_t)s->elem);
}

const trs_solver trs_solver_strips = {
    .name = "cuda-strips",
    .about = "a block of threads for a row tile, level by level, x in shared memory",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .refreshes = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};
