/* plan_create.c: makes a plan of the caller's options and matrix, which is checked and imported. */
#include "config.h"

#include "general.h"
#include "base/device.h"
#include "base/nearest.h"
#include "plan.h"
#include "matrix/permuted.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

/* They ascend, so that no two plans wait for each other (cuda/peers/README.md). */
static int check_devices(const trs_options *opt)
{
    const int64_t count = opt->device_count;
    if (count < 0 || count > TRS_MOST_DEVICES)
        return trs_fail(TRS_EARG, "devices: their number is not within 0 .. %d", TRS_MOST_DEVICES);
    if (count == 0) return TRS_OK;
    if (!opt->devices) return trs_fail(TRS_EARG, "devices is NULL, and device_count is not 0");
    for (int64_t k = 0; k < count; k++) {
        const int device = opt->devices[k];
        if (device <= 0) return trs_fail(TRS_EARG, "devices: %d is no TRS_CUDA(k)", device);
        if (k > 0 && device < opt->devices[k - 1])
            return trs_fail(TRS_EARG, "devices do not ascend");
    }
    if (opt->device > 0 && opt->device != opt->devices[0])
        return trs_fail(TRS_EARG, "device is neither TRS_HOST nor the first one of devices");
    return TRS_OK;
}

static int check_options(const trs_options *opt)
{
    const int rc = TRS_CHECK_RESERVED(opt, "trs_options");
    if (rc) return rc;
    if (!opt->memory.alloc != !opt->memory.free ||
        !opt->device_memory.alloc != !opt->device_memory.free)
        return trs_fail(TRS_EARG, "create: one of memory's callbacks alloc and free is NULL");
    if (opt->nrhs < 0 || opt->threads < 0 || opt->memory_limit < 0 || opt->solves_per_update < 0 ||
        opt->solves < 0 || opt->sweeps < 0)
        return trs_fail(TRS_EARG, "a negative number in the options");
    if (opt->threads > TRS_MOST_THREADS)
        return trs_fail(TRS_EARG, "%d threads are more than %d", opt->threads, TRS_MOST_THREADS);
    if (opt->ops & ~7u) return trs_fail(TRS_EARG, "unknown bits in ops: %u", opt->ops);
    if ((unsigned)opt->layout > TRS_ROW_MAJOR || (unsigned)opt->order > TRS_ORDER_LEVEL)
        return trs_fail(TRS_EARG, "unknown layout or order");
    return check_devices(opt);
}

static void copy_devices(trs_context *ctx, const trs_options *opt)
{
    ctx->device_count = (int)opt->device_count;
    for (int k = 0; k < ctx->device_count; k++) ctx->devices[k] = opt->devices[k] - 1;
    if (ctx->device_count) ctx->device = ctx->devices[0];
}

static void copy_options(trs_plan *p, const trs_mat *mat, const trs_options *opt)
{
    trs_context *ctx = &p->ctx;
    const int device = opt->device > 0 ? opt->device : mat->device;
    ctx->mem = opt->memory;
    ctx->device_memory = opt->device_memory;
    ctx->base = mat->base == 1;
    ctx->device = device > 0 ? device - 1 : 0;
    copy_devices(ctx, opt);
    ctx->limit = opt->memory_limit;
    ctx->threads = opt->threads ? opt->threads : trs_default_threads();
    ctx->nrhs = opt->nrhs ? opt->nrhs : 1;
    ctx->layout = opt->layout;
    ctx->ops = opt->ops ? opt->ops : 1u << TRS_N;
    ctx->bitwise = opt->bitwise;
    ctx->solves_per_update = opt->solves_per_update;
    ctx->sweeps = opt->sweeps;
    p->on_device = opt->device > 0;
    p->measure = opt->measure != 0;
    p->solves = opt->solves;
    p->order = opt->order;
    p->general = trs_is_general(mat);
    if (ctx->ops & 1u << TRS_N) p->side[p->sides++].transposed = false;
    if (ctx->ops & (1u << TRS_T | 1u << TRS_H)) p->side[p->sides++].transposed = true;
    TRS_ASSERT(p->sides == 1 || p->sides == 2);
    p->end = p->sides;
}

static int choose_pivots(trs_plan *p, const trs_options *opt, trs_dtype t)
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

static int refuse_name(const char *name)
{
    const trs_solver *s;
    const char *best = NULL;
    for (int k = 0; (s = trs_solver_at(k)) != NULL; k++) trs_nearer(name, s->name, &best);
    if (!best) return trs_fail(TRS_ESUPPORT, "no solver \"%.60s\" in this build", name);
    return trs_fail(TRS_ESUPPORT, "no solver \"%.60s\" in this build; did you mean \"%s\"?", name,
                    best);
}

int trs_plan_find_solver(trs_plan *p, const char *name)
{
    char why[200];
    if (!name) return TRS_OK;
    p->solver = trs_solver_named(name);
    if (!p->solver) return refuse_name(name);
    if (p->general && p->solver->family != TRS_GENERAL_DENSE)
        return trs_fail(TRS_ESUPPORT, "%s does not solve general matrices", name);
    if (!p->general && p->solver->family != TRS_TRIANGLE)
        return trs_fail(TRS_ESUPPORT, "%s does not solve triangles", name);
    if (p->ctx.bitwise && !(p->solver->caps & TRS_CAP_BITWISE))
        return trs_fail(TRS_ESUPPORT, "%s does not promise the same bits every time", name);
    if (p->solver->place == TRS_ON_CPU && p->on_device)
        return trs_fail(TRS_ESUPPORT, "%s cannot solve where B and X live on a device", name);
    if (!trs_solver_available(p->solver, p->ctx.device, why, sizeof why))
        return trs_fail(TRS_EDEVICE, "%s cannot run here: %s", name, why);
    return TRS_OK;
}

/* Sweeps take the place of a solver: the one that does them is found here, and nowhere else. */
static int find_sweeps(trs_plan *p, const trs_options *opt)
{
    char why[200];
    if (p->general) return trs_fail(TRS_ESUPPORT, "sweeps are for triangles");
    if (opt->solver || opt->measure)
        return trs_fail(TRS_EARG, "sweeps take the place of solver and measure");
    if (opt->pivot == TRS_PIVOT_SKIP || opt->order == TRS_ORDER_LEVEL)
        return trs_fail(TRS_ESUPPORT, "sweeps go with neither TRS_PIVOT_SKIP nor TRS_ORDER_LEVEL");
    p->solver = trs_solver_of_option(false, p->on_device ? TRS_ON_CUDA : TRS_ON_CPU, 0);
    if (!p->solver)
        return trs_fail(TRS_ESUPPORT, "this build has no sweeps %s",
                        p->on_device ? "on a device" : "on the host");
    if (!trs_solver_available(p->solver, p->ctx.device, why, sizeof why))
        return trs_fail(TRS_EDEVICE, "%s cannot run here: %s", p->solver->name, why);
    return TRS_OK;
}

static int check_shared(const trs_plan *p, const trs_options *opt)
{
    if (p->general) return trs_fail(TRS_ESUPPORT, "several devices are for triangles");
    if (opt->sweeps || opt->measure)
        return trs_fail(TRS_EARG, "several devices exclude sweeps and measure");
    if (opt->pivot == TRS_PIVOT_SKIP || opt->order == TRS_ORDER_LEVEL)
        return trs_fail(TRS_ESUPPORT, "several devices exclude TRS_PIVOT_SKIP and TRS_ORDER_LEVEL");
    if (opt->layout == TRS_ROW_MAJOR && opt->nrhs > 1)
        return trs_fail(TRS_ESUPPORT, "several devices exclude B and X by rows");
    if (opt->device_memory.alloc)
        return trs_fail(TRS_ESUPPORT, "several devices exclude device_memory, which need not be "
                                      "memory that other devices can access");
    return TRS_OK;
}

/* The solver of several devices that has this name, or, without a name, the first one; NULL: none. */
static const trs_solver *shared_solver(const char *name)
{
    const trs_solver *s;
    for (int k = 0; (s = trs_solver_of_option(true, TRS_ON_CUDA, k)) != NULL; k++)
        if (!name || !strcmp(name, s->name)) return s;
    return NULL;
}

/* A solver that cuts a triangle over devices is found here, and nowhere else.  If the caller has named none, analyse decides
 * which of them, and whether it pays. */
static int find_shared(trs_plan *p, const trs_options *opt)
{
    const trs_solver *first = shared_solver(NULL), *s = shared_solver(opt->solver);
    char why[200];
    const int rc = check_shared(p, opt);
    if (rc) return rc;
    if (!first) return trs_fail(TRS_ESUPPORT, "this build solves on one device only");
    if (!s)
        return trs_fail(TRS_EARG, "%.60s does not solve on several devices, %s does", opt->solver,
                        first->name);
    for (int k = 0; k < p->ctx.device_count; k++)
        if (!trs_solver_available(s, p->ctx.devices[k], why, sizeof why))
            return trs_fail(TRS_EDEVICE, "%s cannot run there: %s", s->name, why);
    if (opt->device_count == 1 && !opt->solver) return TRS_OK;
    p->solver = s;
    p->weighs = !opt->solver;
    return TRS_OK;
}

static int find_solver(trs_plan *p, const trs_options *opt)
{
    if (p->ctx.device_count) return find_shared(p, opt);
    return opt->sweeps ? find_sweeps(p, opt) : trs_plan_find_solver(p, opt->solver);
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
    const int arrays = pattern && m->format != TRS_DENSE ? 3 : 1;
    host->ptr = host->idx = host->val = NULL;
    host->device = TRS_HOST;
    int rc = trs_gpu_use(ctx);
    for (int k = 0; k < arrays && !rc; k++) {
        void *p = trs_new(ctx, a[k].count, a[k].size, "a copy from the device");
        *a[k].to = p;
        if (!p) return TRS_EMEM;
        rc = trs_gpu_get(ctx, p, a[k].from, (size_t)a[k].count * a[k].size);
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

/* Does a plan know what to solve with from the kind of this matrix? */
static int check_kind(const trs_mat *mat)
{
    if (mat->kind & TRS_SELFADJOINT)
        return trs_fail(TRS_EARG, "kind: a plan is of a triangle, not of the matrix that "
                                  "TRS_SELFADJOINT makes of it");
    if (trs_is_general(mat) || mat->kind & (TRS_LOWER | TRS_UPPER | TRS_PERMUTED)) return TRS_OK;
    return trs_fail(TRS_EARG, "kind says neither TRS_LOWER nor TRS_UPPER nor TRS_PERMUTED");
}

static int import_on_host(trs_plan *p, const trs_mat *host)
{
    int rc;
    if (p->general) return trs_general_take(p, host, false, NULL);
    if (host->kind & TRS_PERMUTED)
        rc = trs_permuted_import(&p->ctx, host, &p->imported, &p->P, &p->Q);
    else rc = trs_tri_import(&p->ctx, host, &p->imported);
    if (!rc && p->pivot == TRS_PIVOT_SKIP) rc = trs_pivots_import(p, host->val);
    return rc;
}

static int import(trs_plan *p, const trs_mat *mat)
{
    trs_mat host;
    bool done = false;
    int rc = trs_check_values(mat);
    if (!rc) rc = check_kind(mat);
    if (!rc) rc = trs_step("import", -1);
    if (rc) return rc;
    p->info.n = mat->n;
    p->given = *mat;
    p->given.ptr = p->given.idx = p->given.val = NULL;
    p->imported_is_t = !(mat->kind & TRS_PERMUTED) && !trs_by_rows(mat);
    rc = trs_plan_import_there(p, mat, &done);
    if (rc || done) return rc;
    rc = trs_mat_fetch(&p->ctx, mat, true, &host);
    if (!rc) rc = import_on_host(p, &host);
    trs_mat_fetched(&p->ctx, mat, &host);
    return rc;
}

static int64_t entries_of(const trs_plan *p, const trs_mat *mat)
{
    if (p->general) return mat->n * mat->n;
    const trs_operator *op = &p->side[0].op;
    return op->ctx ? op->tri.nnz : p->imported.nnz;
}

static int create(trs_plan **plan, const trs_mat *mat, const trs_options *opt)
{
    static const trs_options defaults = {0};
    if (!plan) return trs_fail(TRS_EARG, "create: plan is NULL");
    *plan = NULL;
    if (!mat) return trs_fail(TRS_EARG, "create: mat is NULL");
    if (!opt) opt = &defaults;
    int rc = check_options(opt);
    if (rc) return rc;
    const double start = trs_now();
    trs_plan *p = trs_alloc_zero(&opt->memory, 1, sizeof *p);
    if (!p) return trs_fail(TRS_EMEM, "out of memory for a plan");
    pthread_mutex_init(&p->topo_lock, NULL);
    copy_options(p, mat, opt);
    rc = choose_pivots(p, opt, mat->dtype);
    if (!rc) rc = find_solver(p, opt);
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
