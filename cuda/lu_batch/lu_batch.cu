/* lu_batch.cu: a batch on a device: its schedule, its memory, its launches. */
#include "config.h"

#include "kernel.cuh"

#include <string.h>

struct trs_lu_batch_there {
    trs_context *ctx;
    trs_dtype dtype;
    int64_t count;
    batch_shape shape;
    int64_t blocks; /* of a launch, at most */
    batch_call call;
    int64_t bytes;
    /* the allocations */
    void *memory[48];
    int allocations;
};

/* ---- memory ------------------------------------------------------------------------------------------ */

static void *new_array(trs_lu_batch_there *b, int64_t count, size_t size)
{
    TRS_ASSERT(b->allocations < (int)(sizeof b->memory / sizeof b->memory[0]));
    void *p = trs_gpu_new(b->ctx, count, size, "a batch");
    if (p) b->memory[b->allocations++] = p, b->bytes += count * (int64_t)size;
    return p;
}

/* *to = a copy of count elements.  TRS_OK, TRS_EMEM, TRS_EDEVICE. */
template <class V>
static int send(trs_lu_batch_there *b, const V *&to, const V *from, int64_t count)
{
    V *p = (V *)new_array(b, count, sizeof *p);
    to = p;
    if (!p) return TRS_EMEM;
    return trs_gpu_put(b->ctx, p, from, (size_t)count * sizeof *p);
}

/* ---- the schedule ------------------------------------------------------------------------------------ */

/* Places of 16 bits each, `none` where one is -1. */
static int send_narrow(trs_lu_batch_there *b, const int32_t *place, int64_t count,
                       const int32_t none[2], const void *&to)
{
    uint16_t *narrow = (uint16_t *)trs_new(b->ctx, count, sizeof *narrow, "a schedule");
    const uint16_t *there = NULL;
    if (!narrow) return TRS_EMEM;
    for (int64_t q = 0; q < count; q++)
        narrow[q] = (uint16_t)(place[q] < 0 ? none[q % 2] : place[q]);
    const int rc = send(b, there, (const uint16_t *)narrow, count);
    to = there;
    trs_free(&b->ctx->mem, narrow);
    return rc;
}

/* A pair that is none has the zeros behind L + U and, in a substitution, behind y. */
static int send_places(trs_lu_batch_there *b, const trs_lu_batch_list *l, batch_list *to)
{
    const int64_t places = TRS_LU_BATCH_QUAD * l->quads;
    const int32_t zero = (int32_t)b->call.nnz, zeros[2] = {zero, zero};
    const int32_t none[2] = {zero, l->pivot ? zero : b->call.n};
    if (b->shape.kind == BATCH_SLOTS) {
        const int32_t *pair = NULL;
        const int rc = send(b, pair, (const int32_t *)l->pair, 2 * places);
        to->pair = pair;
        return rc;
    }
    const int rc = send_narrow(b, l->pair, 2 * places, none, to->pair);
    return rc || !l->pivot ? rc : send_narrow(b, l->pivot, places, zeros, to->pivot);
}

static int send_list(trs_lu_batch_there *b, const trs_lu_batch_list *l, batch_list *to)
{
    to->steps = l->steps;
    to->items = l->items;
    int rc = send(b, to->stream, (const int32_t *)l->stream, (int64_t)l->warps + 1);
    if (!rc) rc = send(b, to->task, (const trs_lu_batch_task *)l->task, l->tasks);
    if (!rc) rc = send(b, to->item, (const int32_t *)l->item, l->items);
    if (!rc) rc = send(b, to->by, (const int32_t *)l->by, l->items);
    if (!rc) rc = send_places(b, l, to);
    return rc;
}

static int make_lists(trs_lu_batch_there *b, const trs_lu_batch_rows *rows)
{
    const int warps = b->shape.kind == BATCH_WARPS ? 1 : b->shape.threads / TRS_LU_BATCH_WARP;
    const bool late = b->shape.kind != BATCH_SLOTS; /* device memory is too slow for it */
    int rc = TRS_OK;
    for (int which = 0; which < TRS_LU_BATCH_LISTS && !rc; which++) {
        trs_lu_batch_list l;
        rc = trs_lu_batch_list_make(b->ctx, rows, which, warps, late, &l);
        if (!rc) rc = send_list(b, &l, &b->call.list[which]);
        trs_lu_batch_list_free(b->ctx, &l);
    }
    return rc;
}

/* The entries of A(P, Q) by their numbers in `line`. */
static int make_lines(trs_lu_batch_there *b, const trs_lu_batch_rows *r, const int32_t *line,
                      batch_lines *to)
{
    trs_context *ctx = b->ctx;
    int32_t *ptr = (int32_t *)trs_alloc_zero(&ctx->mem, (int64_t)r->n + 2, sizeof *ptr);
    int32_t *entry = (int32_t *)trs_new(ctx, r->nnz_a, sizeof *entry, "entries");
    int rc = TRS_EMEM;
    if (ptr && entry) {
        for (int64_t q = 0; q < r->nnz_a; q++) ptr[line[q] + 2]++;
        for (int32_t i = 0; i < r->n; i++) ptr[i + 2] += ptr[i + 1];
        for (int64_t q = 0; q < r->nnz_a; q++) entry[ptr[line[q] + 1]++] = (int32_t)q;
        rc = send(b, to->ptr, (const int32_t *)ptr, (int64_t)r->n + 1);
        if (!rc) rc = send(b, to->entry, (const int32_t *)entry, r->nnz_a);
    }
    trs_free(&ctx->mem, ptr);
    trs_free(&ctx->mem, entry);
    return rc;
}

static int send_rows(trs_lu_batch_there *b, const trs_lu_batch_rows *r)
{
    batch_call *c = &b->call;
    int32_t *ptr = (int32_t *)trs_new(b->ctx, (int64_t)r->n + 1, sizeof *ptr, "row pointers");
    if (!ptr) return TRS_EMEM;
    for (int32_t i = 0; i <= r->n; i++) ptr[i] = (int32_t)r->ptr[i];
    int rc = send(b, c->ptr, (const int32_t *)ptr, (int64_t)r->n + 1);
    trs_free(&b->ctx->mem, ptr);
    if (!rc) rc = send(b, c->a_row, (const int32_t *)r->a_row, r->nnz_a);
    if (!rc) rc = send(b, c->a_col, (const int32_t *)r->a_col, r->nnz_a);
    if (!rc) rc = send(b, c->a_from, (const int64_t *)r->a_from, r->nnz_a);
    if (!rc) rc = send(b, c->a_to, (const int64_t *)r->a_to, r->nnz_a);
    if (!rc) rc = send(b, c->P, (const int64_t *)r->P, r->n);
    if (!rc) rc = send(b, c->Q, (const int64_t *)r->Q, r->n);
    if (!rc) rc = send(b, c->scale, (const double *)r->scale, r->n);
    if (!rc) rc = make_lines(b, r, r->a_row, &c->by_row);
    if (!rc) rc = make_lines(b, r, r->a_col, &c->by_column);
    return rc;
}

/* ---- the shape --------------------------------------------------------------------------------------- */

/* Threads of a system by its entries, and whether it has an SM alone: half or twice as many take 1.1 to 1.9 times as long. */
static int threads_for(int64_t nnz, bool alone)
{
    if (alone) return BATCH_THREADS;
    if (nnz < 3000) return 64;
    return nnz < 15000 ? 256 : 512;
}

/* Systems of at most so many entries are given a warp. */
enum { WARP_ENTRIES = 600 };

static int choose_shape(const trs_context *ctx, const trs_lu_batch_rows *r, batch_shape *s)
{
    int most = 0;
    const size_t size = trs_size(r->dtype);
    if (cuda_failed(
            cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, ctx->device)))
        most = 48 << 10;
    s->space =
        (r->nnz + 2 * (int64_t)r->n + 4) / 2 * 2; /* in all types a multiple of 16 bytes, or 8 */
    const size_t bytes = (size_t)s->space * size;
    s->kind = BATCH_SLOTS, s->threads = BATCH_SLOT_THREADS, s->shared = 0;
    if (r->nnz >= UINT16_MAX || bytes > (size_t)most - 1024) return TRS_OK;
    s->kind = BATCH_BLOCKS, s->shared = bytes;
    s->threads = threads_for(r->nnz, 2 * bytes > (size_t)most);
    if (r->nnz > WARP_ENTRIES || bytes * BATCH_UNITS > (size_t)most - 1024) return TRS_OK;
    s->kind = BATCH_WARPS, s->threads = 32 * BATCH_UNITS, s->shared = bytes * BATCH_UNITS;
    return TRS_OK;
}

/* Blocks of a launch: of slots as many as are resident, and fit the limit. */
static int count_blocks(trs_lu_batch_there *b, int64_t limit)
{
    const int64_t size = (int64_t)trs_size(b->dtype) * b->shape.space;
    const int64_t units = b->shape.kind == BATCH_WARPS ? BATCH_UNITS : 1;
    int resident = 0;
    const int rc =
        for_type(b->dtype, [&]<class T>(T) { return batch_prepare<T>(b->shape, &resident); });
    if (rc) return rc;
    b->blocks = trs_min((b->count + units - 1) / units, INT32_MAX);
    if (b->shape.kind != BATCH_SLOTS) return TRS_OK;
    b->blocks = trs_min(b->blocks, (int64_t)trs_max(resident, 1) * multiprocessors());
    if (limit > 0) b->blocks = trs_min(b->blocks, (limit - b->bytes) / trs_max(size, 1));
    if (b->blocks < 1) return trs_fail(TRS_EMEM, "batch: memory_limit is too low");
    b->call.slots = new_array(b, b->blocks, (size_t)size);
    return b->call.slots ? TRS_OK : TRS_EMEM;
}

/* ---- create and destroy -------------------------------------------------------------------------------- */

int trs_gpu_lu_batch_set_outcome(trs_lu_batch_there *b, const trs_lu_batch_outcome *outcome)
{
    return trs_gpu_put(b->ctx, b->call.outcome, outcome, (size_t)b->count * sizeof *outcome);
}

/* What is known at first of all systems, and of the factors that are kept. */
static int init_outcome(trs_lu_batch_there *b, const trs_lu_batch_outcome *outcome)
{
    const size_t from = sizeof *b->call.outcome, to = sizeof *b->call.kept_code;
    const int rc = trs_gpu_lu_batch_set_outcome(b, outcome);
    if (rc || !b->call.kept_code || b->count == 0) return rc;
    return cuda_status(cudaMemcpy2D(b->call.kept_code, to, &b->call.outcome->code, from, to,
                                    (size_t)b->count, cudaMemcpyDeviceToDevice),
                       "the codes of a batch");
}

static int fill(trs_lu_batch_there *b, const trs_lu_batch_rows *r,
                const trs_lu_batch_outcome *outcome, bool keep, int64_t limit)
{
    batch_call *c = &b->call;
    c->n = r->n, c->nnz = r->nnz, c->nnz_a = r->nnz_a, c->shift = r->shift;
    int rc = choose_shape(b->ctx, r, &b->shape);
    c->space = b->shape.space;
    if (!rc) rc = send_rows(b, r);
    if (!rc) rc = make_lists(b, r);
    if (rc) return rc;
    c->outcome = (trs_lu_batch_outcome *)new_array(b, b->count, sizeof *c->outcome);
    if (keep && c->outcome) c->kept = new_array(b, b->count * r->nnz, trs_size(r->dtype));
    if (keep && c->kept) c->kept_code = (int64_t *)new_array(b, b->count, sizeof *c->kept_code);
    if (!c->outcome || (keep && !c->kept_code)) return TRS_EMEM;
    if (limit > 0 && b->bytes > limit) return trs_fail(TRS_EMEM, "batch: memory_limit is too low");
    rc = init_outcome(b, outcome);
    if (!rc) rc = count_blocks(b, limit);
    return rc;
}

int trs_gpu_lu_batch_create(trs_context *ctx, const trs_lu_batch_rows *rows, int64_t count,
                            const trs_lu_batch_outcome *outcome, bool keep, int64_t limit,
                            trs_lu_batch_there **batch)
{
    *batch = NULL;
    int rc = trs_gpu_use(ctx);
    if (rc) return rc;
    trs_lu_batch_there *b = (trs_lu_batch_there *)trs_alloc_zero(&ctx->mem, 1, sizeof *b);
    if (!b) return trs_fail(TRS_EMEM, "out of memory for a batch");
    b->ctx = ctx;
    b->dtype = rows->dtype;
    b->count = count;
    rc = fill(b, rows, outcome, keep, limit);
    trs_gpu_drop_ring(ctx);
    if (rc) trs_gpu_lu_batch_destroy(b);
    else *batch = b;
    return rc;
}

void trs_gpu_lu_batch_destroy(trs_lu_batch_there *b)
{
    if (!b) return;
    for (int k = 0; k < b->allocations; k++) trs_gpu_free(b->ctx, b->memory[k]);
    trs_free(&b->ctx->mem, b);
}

/* ---- calls ---------------------------------------------------------------------------------------------- */

int trs_gpu_lu_batch_run(trs_lu_batch_there *b, const trs_lu_batch_job *j, void *stream)
{
    batch_call c = b->call;
    const int64_t units = b->shape.kind == BATCH_WARPS ? BATCH_UNITS : 1;
    const int64_t blocks = trs_min((j->s->count + units - 1) / units, b->blocks);
    int rc = trs_gpu_use(b->ctx);
    if (rc || blocks == 0 || c.n == 0) return rc;
    c.s = *j->s;
    c.b = j->b, c.x = j->x;
    c.op = j->op, c.nrhs = j->nrhs;
    c.factors = j->factors, c.solves = j->solves;
    c.growth_limit = j->growth_limit;
    if (!j->keeps) c.kept = NULL;
    return for_type(b->dtype, [&]<class T>(T) {
        return batch_launch<T>(b->shape, c, (unsigned)blocks, static_cast<cudaStream_t>(stream));
    });
}

int trs_gpu_lu_batch_outcome(trs_lu_batch_there *b, trs_lu_batch_outcome *outcome)
{
    int rc = trs_gpu_use(b->ctx);
    if (!rc) rc = cuda_status(cudaDeviceSynchronize(), "a batch");
    if (rc) return rc;
    return trs_gpu_get(b->ctx, outcome, b->call.outcome, (size_t)b->count * sizeof *outcome);
}

int64_t trs_gpu_lu_batch_bytes(const trs_lu_batch_there *b)
{
    return b->bytes;
}

int64_t trs_gpu_lu_batch_workers(const trs_lu_batch_there *b)
{
    return b->blocks * (b->shape.kind == BATCH_WARPS ? BATCH_UNITS : 1);
}

const char *trs_gpu_lu_batch_kernel(const trs_lu_batch_there *b)
{
    static const char *const name[] = {"a warp a system, in shared memory",
                                       "a block a system, in shared memory",
                                       "a block a system, in device memory"};
    return name[b->shape.kind];
}
