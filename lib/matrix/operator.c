/* operator.c: copies pattern, values and levels of an operator to where they are needed, and caches its analyses. */
#include "config.h"

#include "base/debug.h"
#include "base/device.h"
#include "on_device.h"
#include "operator.h"

#include <string.h>

int32_t trs_caller_row(const trs_operator *op, int32_t k)
{
    TRS_ASSERT(k >= 0 && k < op->tri.n);
    if (op->perm) return op->perm[k];
    return op->reversed ? op->tri.n - 1 - k : k;
}

trs_view trs_view_natural(const trs_operator *op, trs_view v)
{
    if (!op->reversed) return v;
    v.p = (char *)v.p + (op->tri.n - 1) * v.rs * (int64_t)trs_size(op->tri.dtype);
    v.rs = -v.rs;
    return v;
}

static int64_t value_count(const trs_operator *op)
{
    return op->general ? (int64_t)op->tri.n * op->tri.n : op->tri.nnz;
}

static size_t value_bytes(const trs_operator *op)
{
    return (size_t)value_count(op) * trs_size(op->tri.dtype);
}

static void *host_values(const trs_operator *op)
{
    return op->general ? op->full : op->tri.val;
}

/* ---- to the host ------------------------------------------------------------------------------ */

static int fetch_pattern(trs_operator *op)
{
    trs_context *ctx = op->ctx;
    trs_tri t = {.n = op->tri.n, .nnz = op->tri.nnz, .dtype = op->tri.dtype};
    TRS_ASSERT(op->on_device & TRS_OP_PATTERN);
    t.ptr = trs_new(ctx, (int64_t)t.n + 1, sizeof *t.ptr, "row pointers");
    if (!t.ptr) return TRS_EMEM;
    int rc = trs_tri_entries(ctx, &t, false, false);
    if (!rc) rc = trs_gpu_get(ctx, t.ptr, op->device.ptr, ((size_t)t.n + 1) * sizeof *t.ptr);
    if (!rc) rc = trs_gpu_get(ctx, t.idx, op->device.idx, (size_t)t.nnz * sizeof *t.idx);
    if (rc) trs_tri_free(ctx, &t);
    else op->tri.ptr = t.ptr, op->tri.idx = t.idx;
    return rc;
}

/* Code that reads new values on the host needs their places, too. */
static int fetch_places(trs_operator *op)
{
    trs_tri *t = &op->tri;
    const size_t bytes = (size_t)t->nnz * sizeof *t->src;
    int64_t *src = trs_new_touched(op->ctx, t->nnz, sizeof *src, "places of the values");
    if (!src) return TRS_EMEM;
    const int rc = trs_gpu_get(op->ctx, src, op->device.src, bytes);
    if (rc) trs_free(&op->ctx->mem, src);
    else t->src = src;
    return rc;
}

static int fetch_values(trs_operator *op)
{
    trs_context *ctx = op->ctx;
    void **val = op->general ? &op->full : &op->tri.val;
    TRS_ASSERT(op->on_device & TRS_OP_VALUES);
    if (!*val) *val = trs_new(ctx, value_count(op), trs_size(op->tri.dtype), "values");
    if (!*val) return TRS_EMEM;
    int rc = trs_gpu_wait(op->device.stream);
    if (!rc) rc = trs_gpu_get(ctx, *val, op->device.val, value_bytes(op));
    if (!rc && op->device.src && !op->tri.src) rc = fetch_places(op);
    return rc;
}

static int fetch_topo(trs_operator *op)
{
    trs_context *ctx = op->ctx;
    const size_t bytes = (size_t)op->tri.n * sizeof *op->lv.topo;
    TRS_ASSERT(op->device.topo && !op->lv.topo);
    int32_t *topo = trs_new(ctx, op->tri.n, sizeof *topo, "topo");
    if (!topo) return TRS_EMEM;
    const int rc = trs_gpu_get(ctx, topo, op->device.topo, bytes);
    if (rc) {
        trs_free(&ctx->mem, topo);
        return rc;
    }
    op->lv.topo = topo;
    trs_gpu_free(ctx, op->device.topo);
    op->device.topo = NULL;
    return TRS_OK;
}

int trs_operator_host(trs_operator *op, unsigned what)
{
    if (what & TRS_OP_VALUES) op->host_values_wanted = true;
    return trs_operator_show(op, what);
}

/* What has come is here, whether what follows comes or not. */
int trs_operator_show(trs_operator *op, unsigned what)
{
    static const struct {
        unsigned part;
        int (*fetch)(trs_operator *);
    } parts[] = {{TRS_OP_PATTERN, fetch_pattern},
                 {TRS_OP_VALUES, fetch_values},
                 {TRS_OP_LEVELS, fetch_topo}};
    const unsigned missing = what & ~op->on_host;
    int rc = missing ? trs_gpu_use(op->ctx) : TRS_OK;
    for (int k = 0; k < 3 && !rc; k++) {
        if (!(missing & parts[k].part)) continue;
        rc = parts[k].fetch(op);
        if (!rc) op->on_host |= parts[k].part;
    }
    return rc;
}

/* ---- to the device ---------------------------------------------------------------------------- */

static void *copy_to_device(trs_context *ctx, const void *from, int64_t count, size_t size,
                            const char *what)
{
    void *to = trs_gpu_new(ctx, count, size, what);
    if (!to || !trs_gpu_put(ctx, to, from, (size_t)count * size)) return to;
    trs_gpu_free(ctx, to);
    return NULL;
}

static int put_pattern(trs_operator *op)
{
    trs_context *ctx = op->ctx;
    trs_device_view *d = &op->device;
    const trs_tri *t = &op->tri;
    const int rc = trs_step("copy to the device", -1);
    if (rc) return rc;
    if (!d->ptr) d->ptr = copy_to_device(ctx, t->ptr, (int64_t)t->n + 1, sizeof *t->ptr, "rows");
    if (d->ptr && !d->idx) d->idx = copy_to_device(ctx, t->idx, t->nnz, sizeof *t->idx, "columns");
    return d->idx ? TRS_OK : TRS_EMEM;
}

static int put_levels(trs_operator *op)
{
    op->device.level = trs_gpu_new(op->ctx, op->tri.n, sizeof *op->device.level, "levels");
    if (!op->device.level) return TRS_EMEM;
    const int rc = trs_gpu_put_levels(op);
    if (!rc) return TRS_OK;
    trs_gpu_free(op->ctx, op->device.level);
    op->device.level = NULL;
    return rc;
}

static int new_values(trs_operator *op)
{
    void **val = &op->device.val;
    if (!*val) *val = trs_gpu_new(op->ctx, value_count(op), trs_size(op->tri.dtype), "values");
    return *val ? TRS_OK : TRS_EMEM;
}

static int put_values(trs_operator *op)
{
    int rc = new_values(op);
    if (!rc) rc = trs_gpu_put(op->ctx, op->device.val, host_values(op), value_bytes(op));
    op->device.stream = NULL;
    return rc;
}

int trs_operator_device(trs_operator *op, unsigned what)
{
    const unsigned missing = what & ~op->on_device;
    if (!missing) return TRS_OK;
    int rc = trs_gpu_use(op->ctx);
    if (!rc && missing & TRS_OP_PATTERN) rc = put_pattern(op);
    if (!rc && missing & TRS_OP_VALUES) rc = put_values(op);
    if (!rc && missing & TRS_OP_LEVELS) rc = trs_operator_host(op, TRS_OP_LEVELS);
    if (!rc && missing & TRS_OP_LEVELS) rc = put_levels(op);
    if (!rc) op->on_device |= missing;
    return rc;
}

void trs_operator_hold(trs_operator *op, unsigned what)
{
    op->held |= what;
}

void trs_operator_drop(trs_operator *op, unsigned what)
{
    trs_context *ctx = op->ctx;
    trs_device_view *d = &op->device;
    unsigned copied = TRS_OP_LEVELS;
    if (!d->block) copied |= op->on_host;
    what &= op->on_device & ~(op->held | op->kept) & copied;
    if (what & TRS_OP_LEVELS) {
        trs_gpu_free(ctx, d->level);
        d->level = NULL;
    }
    if (what & TRS_OP_PATTERN) { /* ptr stays, because pivots are found by it */
        trs_gpu_free(ctx, d->idx);
        d->idx = NULL;
    }
    if (what & TRS_OP_VALUES) {
        trs_gpu_free(ctx, d->val);
        d->val = NULL;
    }
    op->on_device &= ~what;
}

/* ---- new values ------------------------------------------------------------------------------- */

int trs_operator_prepare(trs_operator *op)
{
    trs_context *ctx = op->ctx;
    const trs_tri *t = &op->tri;
    int64_t **src = &op->device.src;
    const int rc = trs_gpu_use(ctx);
    if (rc) return rc;
    if (t->src && !*src)
        *src = copy_to_device(ctx, t->src, t->nnz, sizeof **src, "places of the values");
    if (t->src && !*src) return TRS_EMEM;
    return new_values(op);
}

static int take_on_device(trs_operator *op, const void *val, void *stream)
{
    trs_device_view *d = &op->device;
    int rc = trs_operator_prepare(op);
    if (!rc) rc = trs_gpu_take_values(op->tri.dtype, op->tri.nnz, d->src, val, d->val, stream);
    d->stream = stream;
    return rc;
}

/* Copy the caller's values to the device as they are, and gather there.  This is for operators whose triangle is not on the
 * host, or whose values no code reads on the host. */
static int send_to_device(trs_operator *op, const void *val)
{
    trs_context *ctx = op->ctx;
    const size_t size = trs_size(op->tri.dtype);
    int rc = trs_gpu_use(ctx);
    if (!rc) rc = new_values(op);
    op->device.stream = NULL;
    if (rc) return rc;
    if (!op->device.src) return trs_gpu_put(ctx, op->device.val, val, value_bytes(op));
    void *there = copy_to_device(ctx, val, op->device.places, size, "new values");
    if (!there) return TRS_EMEM;
    rc = take_on_device(op, there, NULL);
    trs_gpu_free(ctx, there);
    return rc;
}

static int read_on_host(trs_operator *op, const void *val)
{
    trs_tri *t = &op->tri;
    if (!t->val) t->val = trs_new(op->ctx, t->nnz, trs_size(t->dtype), "values");
    if (!t->val) return TRS_EMEM;
    trs_tri_read_values(op->ctx, t, val);
    return TRS_OK;
}

int trs_operator_take_values(trs_operator *op, const void *val, bool there, void *stream)
{
    const bool device_only =
        !(op->on_host & TRS_OP_PATTERN) ||
        (op->on_device & TRS_OP_VALUES && !op->host_values_wanted && !op->tri.src);
    int rc = TRS_OK;
    if (there) rc = take_on_device(op, val, stream);
    else if (device_only) rc = send_to_device(op, val);
    else rc = read_on_host(op, val);
    const bool on_device = there || device_only;
    op->on_host = (op->on_host & ~(unsigned)TRS_OP_VALUES) | (on_device ? 0 : TRS_OP_VALUES);
    op->on_device = (op->on_device & ~(unsigned)TRS_OP_VALUES) | (on_device ? TRS_OP_VALUES : 0);
    op->host_values_wanted = false;
    return rc;
}

void trs_operator_changed_on_host(trs_operator *op)
{
    TRS_ASSERT(op->on_host & TRS_OP_VALUES);
    op->on_device &= ~(unsigned)TRS_OP_VALUES;
}

/* ---- analyses --------------------------------------------------------------------------------- */

typedef struct trs_cached {
    const trs_analysis *analysis;
    bool needed; /* it was made for a solver that cannot do without it */
    bool found;
    struct trs_cached *next;
    _Alignas(16) char result[];
} cached;

static void cached_free(trs_operator *op, cached *c)
{
    if (c->analysis->trim) c->analysis->trim(op->ctx, c->result);
    trs_free(&op->ctx->mem, c);
}

/* Where the operator keeps an analysis, or would. */
static cached **place_of(trs_operator *op, const trs_analysis *a)
{
    cached **at = &op->analyses;
    while (*at && (*at)->analysis != a) at = &(*at)->next;
    return at;
}

/* Make an analysis, in the place of an earlier one that found nothing worth while.  Its place is looked for when it is
 * made, as it may have asked for others. */
static int make(trs_operator *op, const trs_analysis *a, bool needed)
{
    cached *c = trs_alloc_zero(&op->ctx->mem, 1, sizeof *c + a->size);
    if (!c) return trs_fail(TRS_EMEM, "out of memory for %s", a->name);
    c->analysis = a;
    int rc = a->make(op, needed, c->result, &c->found);
    c->needed = needed && !rc; /* after an error it is made again for somebody who needs it */
    if (rc) {
        if (a->trim) a->trim(op->ctx, c->result);
        memset(c->result, 0, a->size);
        c->found = false;
    }
    cached **at = place_of(op, a), *before = *at;
    c->next = before ? before->next : NULL;
    if (before) cached_free(op, before);
    *at = c;
    return rc;
}

int trs_operator_analysis(trs_operator *op, const trs_analysis *a, bool needed, const void **result)
{
    const cached *c = *place_of(op, a);
    int rc = TRS_OK;
    if (!c || (needed && !c->needed && !c->found)) rc = make(op, a, needed);
    if (rc && !needed) {
        trs_forget();
        rc = TRS_OK;
    }
    c = *place_of(op, a);
    *result = c && c->found ? c->result : NULL;
    return rc;
}

const trs_analysis *trs_operator_analysis_at(const trs_operator *op, int k, const void **result)
{
    for (const cached *c = op->analyses; c; c = c->next) {
        if (!c->found || k-- > 0) continue;
        *result = c->result;
        return c->analysis;
    }
    return NULL;
}

void trs_operator_trim(trs_operator *op)
{
    for (cached *c = op->analyses; c; c = c->next)
        if (c->analysis->trim && !c->analysis->stays) c->analysis->trim(op->ctx, c->result);
    trs_operator_drop(op, TRS_OP_PATTERN | TRS_OP_LEVELS);
}

/* ---- beginning and end ------------------------------------------------------------------------ */

void trs_operator_from_host(trs_operator *op, trs_context *ctx, trs_tri *t)
{
    op->ctx = ctx;
    op->tri = *t;
    op->on_host = TRS_OP_PATTERN | TRS_OP_VALUES;
    memset(t, 0, sizeof *t);
}

static int64_t padded(int64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* All arrays are in one allocation, since each allocation takes up to 0.1 ms. */
int trs_operator_new_resident(trs_operator *op, int64_t places, bool src)
{
    const trs_tri *t = &op->tri;
    trs_device_view *d = &op->device;
    const int64_t found = padded(2 * (int64_t)sizeof *d->found);
    const int64_t ptr = padded(((int64_t)t->n + 1) * (int64_t)sizeof *d->ptr);
    const int64_t idx = padded(t->nnz * (int64_t)sizeof *d->idx);
    const int64_t val = padded(t->nnz * (int64_t)trs_size(t->dtype));
    const int64_t all = found + ptr + idx + val + src * t->nnz * (int64_t)sizeof *d->src;
    char *block = trs_gpu_new(op->ctx, all, 1, "a triangle");
    if (!block) return TRS_EMEM;
    d->block = block;
    d->found = (int64_t *)block;
    d->ptr = (int64_t *)(block + found);
    d->idx = (int32_t *)(block + found + ptr);
    d->val = block + found + ptr + idx;
    d->src = src ? (int64_t *)(block + found + ptr + idx + val) : NULL;
    d->places = places;
    return TRS_OK;
}

static void device_free(trs_operator *op)
{
    trs_device_view *d = &op->device;
    if (d->block) d->ptr = NULL, d->idx = NULL, d->val = NULL, d->src = NULL, d->found = NULL;
    void *const all[] = {d->block, d->ptr, d->idx, d->val, d->level, d->topo, d->src, d->found};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) trs_gpu_free(op->ctx, all[k]);
    memset(d, 0, sizeof *d);
    op->on_device = 0;
}

void trs_operator_forget(trs_operator *op)
{
    for (cached *c = op->analyses, *next; c; c = next) {
        next = c->next;
        cached_free(op, c);
    }
    op->analyses = NULL;
    device_free(op);
}

void trs_operator_free(trs_operator *op)
{
    if (!op->ctx) return;
    const trs_memory *mem = &op->ctx->mem;
    trs_operator_forget(op);
    trs_gpu_free(op->ctx, op->perm_dev);
    trs_free(mem, op->perm);
    trs_free(mem, op->lv.topo);
    trs_free(mem, op->lv.ptr);
    trs_free(mem, op->full);
    trs_tri_free(op->ctx, &op->tri);
    memset(op, 0, sizeof *op);
}
