/* plan_create.c: makes a plan of the caller's options and matrix, which is checked and imported. */
#include "config.h"

#include "general.h"
#include "base/device.h"
#include "plan.h"
#include "matrix/permuted.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

static int take_options(trs_plan *p, const trs_mat *mat, const trs_options *opt)
{
    trs_context *ctx = &p->ctx;
    if (opt->nrhs < 0 || opt->threads < 0 || opt->memory_limit < 0 || opt->solves_per_update < 0)
        return trs_fail(TRS_EARG, "a negative number in the options");
    if (opt->threads > TRS_MOST_THREADS)
        return trs_fail(TRS_EARG, "%d threads are more than %d", opt->threads, TRS_MOST_THREADS);
    if (opt->ops & ~7u) return trs_fail(TRS_EARG, "unknown bits in ops: %u", opt->ops);
    if ((unsigned)opt->layout > TRS_ROW_MAJOR || (unsigned)opt->order > TRS_ORDER_LEVEL)
        return trs_fail(TRS_EARG, "unknown layout or order");
    ctx->base = mat->base == 1;
    const int device = opt->device > 0 ? opt->device : mat->device;
    ctx->device = device > 0 ? device - 1 : 0;
    ctx->limit = opt->memory_limit;
    ctx->threads = opt->threads ? opt->threads : trs_default_threads();
    ctx->nrhs = opt->nrhs ? opt->nrhs : 1;
    ctx->layout = opt->layout;
    ctx->ops = opt->ops ? opt->ops : 1u << TRS_N;
    ctx->bitwise = opt->bitwise;
    ctx->solves_per_update = opt->solves_per_update;
    p->on_device = opt->device > 0;
    p->measure = opt->measure != 0;
    p->order = opt->order;
    p->general = trs_is_general(mat);
    p->op[0].used = ctx->ops & 1u << TRS_N;
    p->op[1].used = ctx->ops & (1u << TRS_T | 1u << TRS_H);
    return TRS_OK;
}

static int take_pivots(trs_plan *p, const trs_options *opt, trs_dtype t)
{
    const double value = trs_is_single(t) ? (double)(float)opt->pivot_value : opt->pivot_value;
    p->pivot = opt->pivot;
    p->pivot_value = value;
    if ((unsigned)opt->pivot > TRS_PIVOT_REPLACE)
        return trs_fail(TRS_EARG, "unknown policy for pivots: %d", (int)opt->pivot);
    if (p->general && opt->pivot)
        return trs_fail(TRS_ESUPPORT, "the pivots of a general matrix: only to fail");
    if (opt->pivot == TRS_PIVOT_REPLACE && (!isfinite(value) || value == 0))
        return trs_fail(TRS_EARG, "%g cannot replace a pivot", opt->pivot_value);
    return TRS_OK;
}

int trs_plan_find_solver(trs_plan *p, const char *name)
{
    char why[200];
    if (!name) return TRS_OK;
    p->wanted = trs_solver_named(name);
    if (!p->wanted) return trs_fail(TRS_ESUPPORT, "no solver \"%.60s\" in this build", name);
    if (p->wanted->family != (p->general ? TRS_GENERAL_DENSE : TRS_TRIANGLE))
        return trs_fail(TRS_ESUPPORT, "%s does not solve %s", name,
                        p->general ? "general matrices" : "triangles");
    if (p->ctx.bitwise && !(p->wanted->caps & TRS_CAP_BITWISE))
        return trs_fail(TRS_ESUPPORT, "%s does not promise the same bits every time", name);
    if (p->wanted->place == TRS_ON_CPU && p->on_device)
        return trs_fail(TRS_ESUPPORT, "%s cannot solve where B and X live on a device", name);
    if (!trs_solver_available(p->wanted, p->ctx.device, why, sizeof why))
        return trs_fail(TRS_EDEVICE, "%s cannot run here: %s", name, why);
    return TRS_OK;
}

int trs_mat_fetch(trs_context *ctx, const trs_mat *m, bool pattern, trs_mat *host)
{
    *host = *m;
    if (m->device <= 0) return TRS_OK;
    const struct {
        const void *from;
        const void **to;
        int64_t count;
        size_t size;
    } a[] = {{m->val, &host->val, trs_value_count(m), trs_size(m->dtype)},
             {m->ptr, &host->ptr, trs_major_count(m) + 1, m->ptr_bits == 32 ? 4 : 8},
             {m->idx, &host->idx, m->nnz, m->idx_bits == 64 ? 8 : 4}};
    host->ptr = host->idx = host->val = NULL;
    host->device = TRS_HOST;
    int rc = trs_gpu_use(ctx);
    for (int k = 0; k < (pattern && m->format != TRS_DENSE ? 3 : 1) && !rc; k++) {
        void *p = trs_new(ctx, a[k].count, a[k].size, "a copy from the device");
        *a[k].to = p;
        rc = !p ? TRS_EMEM : trs_gpu_get(ctx, p, a[k].from, (size_t)a[k].count * a[k].size);
    }
    return rc;
}

void trs_mat_fetched(trs_context *ctx, const trs_mat *m, trs_mat *host)
{
    if (m->device <= 0) return;
    trs_free(&ctx->mem, (void *)host->ptr);
    trs_free(&ctx->mem, (void *)host->idx);
    trs_free(&ctx->mem, (void *)host->val);
}

static int import(trs_plan *p, const trs_mat *mat)
{
    trs_context *ctx = &p->ctx;
    trs_mat host = *mat;
    int rc = trs_check_values(mat);
    if (rc) return rc;
    const bool permuted = mat->kind & TRS_PERMUTED;
    if (mat->kind & TRS_SELFADJOINT)
        return trs_fail(TRS_EARG, "kind: a plan is of a triangle, not of the matrix that "
                                  "TRS_SELFADJOINT makes of it");
    if (!p->general && !permuted && !(mat->kind & (TRS_LOWER | TRS_UPPER)))
        return trs_fail(TRS_EARG, "kind says neither TRS_LOWER nor TRS_UPPER nor TRS_PERMUTED");
    p->info.n = mat->n;
    p->shape = *mat;
    p->shape.ptr = p->shape.idx = p->shape.val = NULL;
    p->imported_is_t = !permuted && !trs_by_rows(mat);
    bool taken = false;
    rc = trs_plan_take_resident(p, mat, &taken);
    if (rc || taken) return rc;
    rc = trs_mat_fetch(ctx, mat, true, &host);
    if (!rc && p->general) rc = trs_general_take(p, &host, false, NULL);
    else if (!rc && permuted) rc = trs_permuted_import(ctx, &host, &p->imported, &p->P, &p->Q);
    else if (!rc) rc = trs_tri_import(ctx, &host, &p->imported);
    if (!rc && p->pivot == TRS_PIVOT_SKIP) rc = trs_pivots_import(p, host.val);
    trs_mat_fetched(ctx, mat, &host);
    return rc;
}

static int64_t entries_of(const trs_plan *p, const trs_mat *mat)
{
    if (p->general) return mat->n * mat->n;
    const trs_operator *op = &p->op[p->op[0].used ? 0 : 1];
    return op->ctx ? op->tri.nnz : p->imported.nnz;
}

static int create(trs_plan **plan, const trs_mat *mat, const trs_options *opt)
{
    static const trs_options defaults = {0};
    if (!plan) return trs_fail(TRS_EARG, "create: plan is NULL");
    *plan = NULL;
    if (!mat) return trs_fail(TRS_EARG, "create: mat is NULL");
    if (!opt) opt = &defaults;
    int rc = TRS_CHECK_RESERVED(opt, "trs_options");
    if (rc) return rc;
    if (!opt->memory.alloc != !opt->memory.free ||
        !opt->device_memory.alloc != !opt->device_memory.free)
        return trs_fail(TRS_EARG, "create: one of memory's callbacks alloc and free is NULL");
    double start = trs_now();
    trs_plan *p = trs_alloc_zero(&opt->memory, 1, sizeof *p);
    if (!p) return trs_fail(TRS_EMEM, "out of memory for a plan");
    pthread_mutex_init(&p->topo_lock, NULL);
    p->ctx.mem = opt->memory;
    p->ctx.device_memory = opt->device_memory;
    rc = take_options(p, mat, opt);
    if (!rc) rc = take_pivots(p, opt, mat->dtype);
    if (!rc) rc = trs_plan_find_solver(p, opt->solver);
    if (!rc) rc = trs_check_device(opt->device);
    if (!rc) rc = trs_check_device(mat->device);
    if (!rc) rc = import(p, mat);
    if (rc) {
        trs_plan_destroy(p);
        return rc;
    }
    *plan = p;
    p->state = TRS_CREATED;
    p->info.nnz = entries_of(p, mat);
    p->info.seconds_create = trs_now() - start;
    return TRS_OK;
}

int trs_plan_create(trs_plan **plan, const trs_mat *mat, const trs_options *opt)
{
    trs_enter();
    return trs_leave(create(plan, mat, opt));
}
