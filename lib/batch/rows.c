/* rows.c: the pattern of an operator as a batch reads it: every index is that of the caller's arrays. */
#include "config.h"

#include "base/debug.h"
#include "base/device.h"
#include "batch.h"

#include <string.h>

typedef struct source { /* the pattern of an operator, on the host */
    int64_t *ptr, *src;
    int32_t *idx;
} source;

static void source_free(trs_context *ctx, source *s)
{
    trs_free(&ctx->mem, s->ptr);
    trs_free(&ctx->mem, s->src);
    trs_free(&ctx->mem, s->idx);
}

/* A copy of an array that is on the host, or else on the device. */
static void *copy(trs_context *ctx, const void *here, const void *there, int64_t count, size_t size)
{
    void *to = trs_new(ctx, count, size, "the rows of a batch");
    const size_t bytes = (size_t)count * size;
    if (to && here) memcpy(to, here, bytes);
    else if (to && trs_gpu_get(ctx, to, there, bytes)) {
        trs_free(&ctx->mem, to);
        to = NULL;
    }
    return to;
}

/* These are copies, so that the operator can leave its pattern where it is.  tri.ptr and tri.idx are NULL while the pattern
 * is on the device only. */
static int read_pattern(const trs_operator *op, source *s)
{
    trs_context *ctx = op->ctx;
    const trs_tri *t = &op->tri;
    const trs_device_view *d = &op->device;
    const bool has_src = t->src || d->src;
    TRS_ASSERT(!(op->on_host & TRS_OP_PATTERN) == !t->ptr);
    if (!t->ptr || (has_src && !t->src)) {
        const int rc = trs_gpu_use(ctx);
        if (rc) return rc;
    }
    s->ptr = copy(ctx, t->ptr, d->ptr, (int64_t)t->n + 1, sizeof *s->ptr);
    s->idx = copy(ctx, t->ptr ? t->idx : NULL, d->idx, t->nnz, sizeof *s->idx);
    if (!s->ptr || !s->idx) return TRS_EMEM;
    if (!has_src) return TRS_OK;
    s->src = copy(ctx, t->src, d->src, t->nnz, sizeof *s->src);
    return s->src ? TRS_OK : TRS_EMEM;
}

/* order NULL: that of the operator. */
static int fill(const trs_operator *op, const source *s, const int32_t *order, trs_batch_rows *r)
{
    trs_context *ctx = op->ctx;
    int64_t q = 0;
    r->ptr = trs_new(ctx, (int64_t)r->n + 1, sizeof *r->ptr, "the rows of a batch");
    r->at = trs_new(ctx, r->nnz, sizeof *r->at, "the rows of a batch");
    r->src = trs_new(ctx, r->nnz, sizeof *r->src, "the rows of a batch");
    if (!r->ptr || !r->at || !r->src) return TRS_EMEM;
    for (int32_t i = 0; i < r->n; i++) {
        const int32_t k = order ? order[i] : i;
        r->ptr[i] = q;
        for (int64_t p = s->ptr[k]; p < s->ptr[k + 1]; p++, q++) {
            TRS_ASSERT(q < r->nnz);
            r->at[q] = trs_caller_row(op, s->idx[p]);
            r->src[q] = s->src ? s->src[p] : p;
        }
    }
    r->ptr[r->n] = q;
    return TRS_OK;
}

static int make(trs_operator *op, const int32_t *order, trs_batch_rows *r)
{
    source s = {0};
    *r = (trs_batch_rows){.n = op->tri.n, .levels = op->lv.count, .widest = op->lv.widest};
    r->nnz = op->tri.nnz;
    int rc = read_pattern(op, &s);
    if (!rc) rc = fill(op, &s, order, r);
    source_free(op->ctx, &s);
    return rc;
}

static int make_here(trs_operator *op, bool needed, void *result, bool *found)
{
    (void)needed;
    *found = true;
    return make(op, NULL, result);
}

static void *send(trs_context *ctx, const void *from, int64_t count, size_t size)
{
    void *to = trs_gpu_new(ctx, count, size, "the rows of a batch");
    if (!to || !trs_gpu_put(ctx, to, from, (size_t)count * size)) return to;
    trs_gpu_free(ctx, to);
    return NULL;
}

static void trim(trs_context *ctx, void *result)
{
    trs_batch_rows *r = result;
    void *const all[] = {r->ptr, r->at, r->src, r->level, r->found};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        if (r->there) trs_gpu_free(ctx, all[k]);
        else trs_free(&ctx->mem, all[k]);
    r->ptr = r->src = r->found = NULL;
    r->at = r->level = NULL;
}

/* r: the same rows on the device.  What there was no memory for is NULL. */
static int send_rows(trs_operator *op, const trs_batch_rows *here, trs_batch_rows *r)
{
    trs_context *ctx = op->ctx;
    *r = (trs_batch_rows){.n = here->n, .levels = here->levels, .widest = here->widest};
    r->nnz = here->nnz;
    r->there = true;
    r->ptr = send(ctx, here->ptr, (int64_t)here->n + 1, sizeof *r->ptr);
    r->at = send(ctx, here->at, here->nnz, sizeof *r->at);
    r->src = send(ctx, here->src, here->nnz, sizeof *r->src);
    r->level = send(ctx, op->lv.ptr, (int64_t)here->levels + 1, sizeof *r->level);
    r->found = trs_gpu_new(ctx, 1, sizeof *r->found, "a pivot");
    return r->ptr && r->at && r->src && r->level && r->found ? TRS_OK : TRS_EMEM;
}

static int make_there(trs_operator *op, bool needed, void *result, bool *found)
{
    trs_batch_rows here = {0};
    (void)needed;
    *found = true;
    int rc = trs_operator_host(op, TRS_OP_LEVELS);
    if (!rc) rc = make(op, op->lv.topo, &here);
    if (!rc) rc = trs_gpu_use(op->ctx);
    if (!rc) rc = send_rows(op, &here, result);
    trim(op->ctx, &here);
    return rc;
}

const trs_analysis trs_batch_here = {.name = "rows of a batch",
                                     .size = sizeof(trs_batch_rows),
                                     .make = make_here,
                                     .trim = trim,
                                     .stays = true};
const trs_analysis trs_batch_there = {.name = "rows of a batch on the device",
                                      .size = sizeof(trs_batch_rows),
                                      .make = make_there,
                                      .trim = trim,
                                      .stays = true};
