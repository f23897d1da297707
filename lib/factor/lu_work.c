/* lu_work.c: work spaces of solves with factors, and what such solves need on a device besides the plans. */
#include "config.h"

#include "base/device.h"
#include "base/debug.h"
#include "incomplete/ilu_blocks.h"
#include "lu_first.h"
#include "lu_hosted.h"
#include "lu_refine.h"

static bool on_device(const trs_lu *lu)
{
    return lu->opt.device > 0;
}

/* For memory of the lu, on the host and on its device. */
static trs_context context_of(const trs_lu *lu)
{
    trs_context ctx = {.mem = lu->mem, .device_memory = lu->opt.device_memory};
    if (on_device(lu)) ctx.device = lu->opt.device - 1;
    return ctx;
}

/* ---- work spaces ---------------------------------------------------------------------------- */

/* count elements where y of this work space is. */
static void *new_vector(trs_lu_work *w, int64_t count, size_t size, const char *what)
{
    if (w->on_device) return trs_gpu_new(&w->ctx, count, size, what);
    return trs_new(&w->ctx, count, size, what);
}

static void free_vector(trs_lu_work *w, void *p)
{
    if (w->on_device) trs_gpu_free(&w->ctx, p);
    else trs_free(&w->ctx.mem, p);
}

/* What a solve by blocks needs. */
static int make_sweeps(trs_lu_work *w)
{
    const trs_ilu_blocks *m = w->lu->blocks;
    if (w->on_device) {
        const int rc = trs_gpu_use(&w->ctx);
        if (rc) return rc;
        w->sweeps = trs_gpu_new(&w->ctx, 2 * w->n, trs_size(w->lu->dtype), "work vectors");
        return w->sweeps ? TRS_OK : TRS_EMEM;
    }
    w->progress = trs_new(&w->ctx, trs_ilu_blocks_progress(m), sizeof *w->progress, "stages");
    return w->progress ? TRS_OK : TRS_EMEM;
}

/* Memory for y and, where its numbers need to be kept in range, for its powers of two. */
static int make_vectors(trs_lu_work *w)
{
    if (w->lu->blocks) return make_sweeps(w);
    if (!w->lu->f.P) return TRS_OK;
    int rc = TRS_OK;
    if (w->on_device) rc = trs_gpu_use(&w->ctx);
    if (rc) return rc;
    w->y = new_vector(w, w->n * w->width, trs_size(w->type), "work vectors");
    if (!w->y) return TRS_EMEM;
    if (trs_lu_may_refine(w->lu)) {
        w->r = new_vector(w, w->n * w->width, trs_size(w->lu->dtype), "residuals");
        if (!w->r) return TRS_EMEM;
    }
    if (!w->lu->single) return TRS_OK;
    w->power = new_vector(w, w->width, sizeof *w->power, "their powers of two");
    return w->power ? TRS_OK : TRS_EMEM;
}

static int make(trs_lu_work **work, const trs_lu *lu, int width)
{
    const trs_context ctx = context_of(lu);
    TRS_ASSERT(width > 0);
    trs_lu_work *w = *work = trs_alloc_zero(&ctx.mem, 1, sizeof *w);
    if (!w) return trs_fail(TRS_EMEM, "out of memory for a work space");
    *w = (trs_lu_work){.ctx = ctx, .lu = lu, .drops = lu->drops, .n = lu->f.L.n, .width = width};
    w->type = trs_lu_plan_type(lu);
    w->on_device = on_device(lu);
    return make_vectors(w);
}

static int check(const trs_lu *lu, int max_nrhs)
{
    if (!lu) return trs_fail(TRS_EARG, "work space: lu is NULL");
    const int rc = trs_lu_settle(lu); /* first of all: another thread may be doing it */
    if (rc) return rc;
    if (!lu->ready) return trs_lu_no_factors(lu, "work space");
    if (max_nrhs > 0) return TRS_OK;
    return trs_fail(TRS_EARG, "work space: max_nrhs = %d is not positive", max_nrhs);
}

int trs_lu_work_create(trs_lu_work **work, const trs_lu *lu, int max_nrhs)
{
    trs_enter();
    if (!work) return trs_leave(trs_fail(TRS_EARG, "work space: work is NULL"));
    *work = NULL;
    int rc = check(lu, max_nrhs);
    if (rc) return trs_leave(rc);
    rc = make(work, lu, max_nrhs);
    if (!rc && lu->l) rc = trs_work_create(&(*work)->l, lu->l, max_nrhs);
    if (!rc && lu->u) rc = trs_work_create(&(*work)->u, lu->u, max_nrhs);
    if (rc) trs_lu_work_destroy(*work), *work = NULL;
    return trs_leave(rc);
}

void trs_lu_work_destroy(trs_lu_work *w)
{
    if (!w) return;
    trs_enter();
    trs_work_destroy(w->l);
    trs_work_destroy(w->u);
    free_vector(w, w->y);
    free_vector(w, w->r);
    free_vector(w, w->power);
    free_vector(w, w->sweeps);
    trs_free(&w->ctx.mem, w->progress);
    const trs_memory mem = w->ctx.mem;
    trs_free(&mem, w);
    trs_leave_silently();
}

/* ---- what the lu itself stores ------------------------------------------------------------------ */

static void free_order(trs_lu *lu)
{
    trs_context ctx = context_of(lu);
    trs_lu_order *t = &lu->there;
    void *const array[] = {t->P,     t->Q,         t->scale,     t->sign,
                           t->block, t->P_inverse, t->Q_inverse, t->pivot_scale};
    for (size_t k = 0; k < sizeof array / sizeof array[0]; k++) {
        if (on_device(lu)) trs_gpu_free(&ctx, array[k]);
        else trs_lu_free(lu, array[k]);
    }
    *t = (trs_lu_order){0};
}

/* Copy an array [n] to the device, where *there is or becomes its memory. */
static int put_array(trs_context *ctx, const void *from, int64_t n, size_t size, void **there)
{
    if (!*there) *there = trs_gpu_new(ctx, n, size, "the order of rows and columns");
    if (*there) return trs_gpu_put(ctx, *there, from, (size_t)n * size);
    return TRS_EMEM;
}

/* The same for a permutation, unless it is NULL. */
static int put_permutation(trs_lu *lu, trs_context *ctx, const int64_t *p, int32_t **there)
{
    const int64_t n = lu->f.L.n;
    if (!p) return TRS_OK;
    int32_t *narrow = trs_lu_alloc(lu, n, sizeof *narrow, "a permutation");
    void *to = *there;
    for (int64_t k = 0; k < n && narrow; k++) narrow[k] = (int32_t)p[k];
    int rc = TRS_EMEM;
    if (narrow) rc = put_array(ctx, narrow, n, sizeof *narrow, &to);
    *there = to;
    trs_lu_free(lu, narrow);
    return rc;
}

static int put_order_there(trs_lu *lu)
{
    trs_context ctx = context_of(lu);
    const trs_factors *f = &lu->f;
    void *scale = lu->there.scale, *sign = lu->there.sign, *block = lu->there.block;
    int rc = put_permutation(lu, &ctx, f->P, &lu->there.P);
    if (!rc) rc = put_permutation(lu, &ctx, f->Q, &lu->there.Q);
    if (!rc && f->scale) rc = put_array(&ctx, f->scale, f->L.n, sizeof *f->scale, &scale);
    lu->there.scale = scale;
    if (!rc && f->sign && !lu->device)
        rc = put_array(&ctx, f->sign, f->L.n, sizeof *f->sign, &sign);
    lu->there.sign = sign;
    if (!rc && f->block) rc = put_array(&ctx, f->block, 4 * f->L.n, sizeof *f->block, &block);
    lu->there.block = block;
    trs_gpu_drop_ring(&ctx);
    return rc;
}

/* *narrow = the permutation p, and *inverse = its inverse, unless p is NULL. */
static int narrow_permutation(trs_lu *lu, const int64_t *p, int32_t **narrow, int32_t **inverse)
{
    const int64_t n = lu->f.L.n;
    if (!p) return TRS_OK;
    if (!*narrow) *narrow = trs_lu_alloc(lu, n, sizeof **narrow, "a permutation");
    if (!*inverse) *inverse = trs_lu_alloc(lu, n, sizeof **inverse, "a permutation");
    if (!*narrow || !*inverse) return TRS_EMEM;
    for (int64_t k = 0; k < n; k++) {
        TRS_ASSERT(p[k] >= 0 && p[k] < n);
        (*narrow)[k] = (int32_t)p[k];
        (*inverse)[p[k]] = (int32_t)k;
    }
    return TRS_OK;
}

static int order_scale(trs_lu *lu)
{
    double **to = &lu->there.pivot_scale;
    const int64_t n = lu->f.L.n;
    if (!lu->f.scale) return TRS_OK;
    if (!*to) *to = trs_lu_alloc(lu, n, sizeof **to, "the scaling of rows");
    if (!*to) return TRS_EMEM;
    for (int64_t k = 0; k < n; k++) (*to)[k] = lu->f.scale[lu->f.P[k]];
    return TRS_OK;
}

static int put_order_here(trs_lu *lu)
{
    trs_lu_order *t = &lu->there;
    int rc = narrow_permutation(lu, lu->f.P, &t->P, &t->P_inverse);
    if (!rc) rc = narrow_permutation(lu, lu->f.Q, &t->Q, &t->Q_inverse);
    if (!rc) rc = order_scale(lu);
    return rc;
}

/* The arrays keep their addresses as long as n stays the same, so that a CUDA graph finds the new numbers there. */
static int put_order(trs_lu *lu)
{
    trs_context ctx = context_of(lu);
    trs_lu_order *t = &lu->there;
    const bool scaled = t->scale || t->pivot_scale;
    int rc = TRS_OK;
    if (on_device(lu)) rc = trs_gpu_use(&ctx);
    if (rc) return rc;
    if (t->n != lu->f.L.n || scaled != (lu->f.scale != NULL)) free_order(lu);
    t->n = lu->f.L.n;
    if (on_device(lu)) return put_order_there(lu);
    return put_order_here(lu);
}

/* Does the work space of the lu fit its factors? */
static bool own_fits(const trs_lu *lu)
{
    const trs_lu_work *w = lu->own;
    return w && w->n == lu->f.L.n && w->type == trs_lu_plan_type(lu) && !w->y == !lu->f.P &&
           !w->r == !trs_lu_may_refine(lu);
}

int trs_lu_vectors(trs_lu *lu)
{
    int rc = TRS_OK;
    if (lu->f.P) rc = put_order(lu);
    if (rc) return rc;
    if (!own_fits(lu)) {
        trs_lu_work_destroy(lu->own);
        rc = make(&lu->own, lu, lu->width);
    }
    if (rc) trs_lu_work_destroy(lu->own), lu->own = NULL;
    else lu->own->drops = lu->drops; /* it uses the work spaces of the plans */
    return rc;
}

void trs_lu_vectors_free(trs_lu *lu)
{
    trs_lu_work_destroy(lu->own);
    free_order(lu);
}

/* ---- single vectors on the host --------------------------------------------------------------- */

int trs_lu_hosted_new(const trs_lu *lu, void **stage)
{
    trs_context ctx = context_of(lu);
    *stage = NULL;
    if (!on_device(lu)) return TRS_OK;
    const int rc = trs_gpu_use(&ctx);
    if (rc) return rc;
    *stage = trs_gpu_new(&ctx, lu->f.L.n, trs_size(lu->dtype), "a vector");
    return *stage ? TRS_OK : TRS_EMEM;
}

void trs_lu_hosted_free(const trs_lu *lu, void *stage)
{
    trs_context ctx = context_of(lu);
    trs_gpu_free(&ctx, stage);
}

/* On a device this solves on the default stream, because the copies are in its order. */
int trs_lu_solve_hosted(trs_lu *lu, trs_op op, void *x, void *stage, const trs_exec *exec)
{
    const int64_t n = lu->f.L.n;
    const size_t bytes = (size_t)n * trs_size(lu->dtype);
    trs_exec e = {.stream = exec->stream, .threads = exec->threads, .lu_work = exec->lu_work};
    TRS_ASSERT(!stage == !on_device(lu));
    if (!stage) return trs_lu_solve_roughly(lu, op, x, &e);
    e.stream = NULL;
    int rc = trs_device_put(lu->opt.device, stage, x, bytes);
    if (!rc) rc = trs_lu_solve_roughly(lu, op, stage, &e);
    if (!rc) rc = trs_device_get(lu->opt.device, x, stage, bytes);
    return rc;
}
