/* cusolver_getrf.c: LU with partial pivoting by cuSOLVER (cusolverDnXgetrf, cusolverDnXgetrs).  A general matrix is
 * solved by it where B and X live on a device.  Source: cuSOLVER 13 manual.
 *
 * The operator of op = T, H factors A itself and solves with cuSOLVER's own transpositions, because there is none that
 * only conjugates.  A handle belongs to one solve in flight, so it lives in the work space, with a copy of X for
 * layouts that cuSOLVER does not know. */
#include "config.h"

#include "solvers/dense/general.h"
#include "vendor.h"

#include <math.h>
#include <string.h>

typedef struct cusolver_handle {
    cusolverDnHandle_t handle;
    cusolverDnParams_t params;
    int *info; /* on the device */
} cusolver_handle;

typedef struct cusolver_data {
    trs_cusolver lib;
    cusolver_handle own; /* for factoring */
    void *lu;            /* [n*n] on the device, by columns */
    int64_t *pivot;      /* [n] on the device, from 1 */
} cusolver_data;

typedef struct cusolver_work {
    trs_cusolver lib;
    cusolver_handle own;
    void *x; /* [n*nrhs] on the device, by columns */
} cusolver_work;

static int said(cusolverStatus_t s, const char *what)
{
    if (s == CUSOLVER_STATUS_SUCCESS) return TRS_OK;
    return trs_fail(s == CUSOLVER_STATUS_ALLOC_FAILED ? TRS_EMEM : TRS_ELIBRARY,
                    "cuSOLVER: %s: status %d", what, (int)s);
}

/* ---- handles ------------------------------------------------------------------------------------ */

static int handle_new(trs_context *ctx, const trs_cusolver *lib, cusolver_handle *h)
{
    int rc = said(lib->cusolverDnCreate(&h->handle), "cusolverDnCreate");
    if (!rc) rc = said(lib->cusolverDnCreateParams(&h->params), "cusolverDnCreateParams");
    if (rc) return rc;
    h->info = trs_gpu_new(ctx, 1, sizeof *h->info, "the answer of cuSOLVER");
    return h->info ? TRS_OK : TRS_EMEM;
}

static void handle_free(trs_context *ctx, const trs_cusolver *lib, cusolver_handle *h)
{
    trs_gpu_free(ctx, h->info);
    if (h->params) lib->cusolverDnDestroyParams(h->params);
    if (h->handle) lib->cusolverDnDestroy(h->handle);
}

/* ---- factors ------------------------------------------------------------------------------------ */

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    const trs_tri *t = &inst->op->tri;
    cusolver_data *d = inst->data = trs_alloc_zero(&ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(TRS_EMEM, "out of memory");
    int rc = trs_cusolver_open(&d->lib);
    if (!rc) rc = handle_new(ctx, &d->lib, &d->own);
    if (rc) return rc;
    d->lu = trs_gpu_new(ctx, (int64_t)t->n * t->n, trs_size(t->dtype), "the factors");
    if (d->lu) d->pivot = trs_gpu_new(ctx, t->n, sizeof *d->pivot, "row exchanges");
    return d->pivot ? TRS_OK : TRS_EMEM;
}

static void release(trs_instance *inst)
{
    cusolver_data *d = inst->data;
    handle_free(inst->ctx, &d->lib, &d->own);
    trs_gpu_free(inst->ctx, d->lu);
    trs_gpu_free(inst->ctx, d->pivot);
    trs_library_close(d->lib.library);
    trs_free(&inst->ctx->mem, d);
}

static int factor(const trs_instance *inst, const cusolver_data *d, int *info)
{
    trs_context *ctx = inst->ctx;
    const trs_cusolver *lib = &d->lib;
    const int64_t n = inst->op->tri.n;
    const cudaDataType type = trs_cuda_type(inst->op->tri.dtype);
    size_t there = 0, here = 0;
    int rc = said(lib->cusolverDnXgetrf_bufferSize(d->own.handle, d->own.params, n, n, type, d->lu,
                                                   n, type, &there, &here),
                  "cusolverDnXgetrf_bufferSize");
    if (rc) return rc;
    void *on_device = trs_gpu_new(ctx, (int64_t)there, 1, "the buffer of cuSOLVER");
    void *on_host = on_device ? trs_new(ctx, (int64_t)here + 1, 1, "the buffer of cuSOLVER") : NULL;
    if (!on_host) rc = TRS_EMEM;
    if (!rc)
        rc =
            said(lib->cusolverDnXgetrf(d->own.handle, d->own.params, n, n, type, d->lu, n, d->pivot,
                                       type, on_device, there, on_host, here, d->own.info),
                 "cusolverDnXgetrf");
    if (!rc) rc = trs_gpu_get(ctx, info, d->own.info, sizeof *info);
    trs_free(&ctx->mem, on_host);
    trs_gpu_free(inst->ctx, on_device);
    return rc;
}

/* *first: the first number of the diagonal of U that is not finite, -1: none; getrf itself does not look for NaN. */
static int look(const trs_instance *inst, const cusolver_data *d, int64_t *first)
{
    const trs_tri *t = &inst->op->tri;
    const bool single = trs_is_single(t->dtype);
    const int64_t each = trs_is_complex(t->dtype) ? 2 : 1;
    void *u = trs_new(inst->ctx, t->n, trs_size(t->dtype), "the diagonal of U");
    if (!u) return TRS_EMEM;
    int rc = trs_general_diagonal_there(inst, d->lu, u);
    *first = -1;
    for (int64_t k = each * t->n - 1; k >= 0 && !rc; k--)
        if (!isfinite(single ? (double)((float *)u)[k] : ((double *)u)[k])) *first = k / each;
    trs_free(&inst->ctx->mem, u);
    return rc;
}

/* L and U of the values in d->lu, in their place. */
static int make_factors(trs_instance *inst)
{
    const cusolver_data *d = inst->data;
    const double start = trs_now();
    int info = 0;
    int64_t first = -1;
    int rc = factor(inst, d, &info);
    inst->seconds_factor = trs_now() - start;
    if (!rc && info < 0)
        rc = trs_fail(TRS_ELIBRARY, "cuSOLVER refuses argument %d of getrf", -info);
    if (!rc) rc = look(inst, d, &first);
    if (rc) return rc;
    /* a zero; a pivot before it may be infinite */
    if (info > 0 && (first < 0 || first > info - 1)) first = info - 1;
    return trs_general_judge(inst, first < 0 ? 1 : INFINITY, first);
}

/* The operator has op(A); what is factored is A. */
static int update(trs_instance *inst, void *stream)
{
    trs_operator *op = inst->op;
    const cusolver_data *d = inst->data;
    const trs_tri *t = &op->tri;
    if (t->n == 0) return TRS_OK;
    int rc = trs_operator_device(op, TRS_OP_VALUES);
    if (!rc)
        rc = trs_gpu_take_full(t->dtype, t->n, t->n, op->transposed, op->device.val, d->lu, stream);
    if (!rc) rc = trs_gpu_wait(stream); /* cuSOLVER works on the default one */
    if (!rc) trs_operator_drop(op, TRS_OP_VALUES);
    return rc ? rc : make_factors(inst);
}

static int pivots(const trs_instance *inst, trs_context *ctx, void *u, bool *odd)
{
    const cusolver_data *d = inst->data;
    const int32_t n = inst->op->tri.n;
    int64_t *pivot = trs_new(ctx, n, sizeof *pivot, "row exchanges");
    int rc = pivot ? trs_general_diagonal_there(inst, d->lu, u) : TRS_EMEM;
    if (!rc) rc = trs_gpu_get(ctx, pivot, d->pivot, (size_t)n * sizeof *pivot);
    for (int32_t k = 0; k < n && !rc; k++)
        if (pivot[k] != k + 1) *odd = !*odd;
    trs_free(&ctx->mem, pivot);
    return rc;
}

/* ---- solve -------------------------------------------------------------------------------------- */

static int work_create(const trs_instance *inst, trs_context *ctx, int nrhs, void **work)
{
    const cusolver_data *d = inst->data;
    const trs_tri *t = &inst->op->tri;
    cusolver_work *w = *work = trs_alloc_zero(&ctx->mem, 1, sizeof *w);
    if (!w) return trs_fail(TRS_EMEM, "out of memory");
    w->lib = d->lib;
    int rc = handle_new(ctx, &w->lib, &w->own);
    if (rc) return rc;
    w->x = trs_gpu_new(ctx, (int64_t)t->n * nrhs, trs_size(t->dtype), "X for cuSOLVER");
    return w->x ? TRS_OK : TRS_EMEM;
}

static void work_destroy(trs_context *ctx, void *work)
{
    cusolver_work *w = work;
    handle_free(ctx, &w->lib, &w->own);
    trs_gpu_free(ctx, w->x);
    trs_free(&ctx->mem, w);
}

static cublasOperation_t operation(const trs_instance *inst, bool conj)
{
    if (!inst->op->transposed) return CUBLAS_OP_N;
    return conj ? CUBLAS_OP_C : CUBLAS_OP_T;
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    const cusolver_data *d = inst->data;
    const trs_tri *t = &inst->op->tri;
    const cusolver_work *w = job->work;
    const bool fits = job->x.rs == 1 && job->x.cs >= t->n;
    const trs_view x = fits ? job->x : (trs_view){w->x, 1, t->n};
    const cublasOperation_t op = operation(inst, job->conj);
    if (d->lib.cusolverDnSetStream(w->own.handle, job->stream)) return TRS_ELIBRARY;
    int rc = TRS_OK;
    if (x.p != job->b.p)
        rc = trs_gpu_gather(t->dtype, t->n, job->nrhs, NULL, job->b, x, job->stream);
    if (!rc && d->lib.cusolverDnXgetrs(w->own.handle, w->own.params, op, t->n, job->nrhs,
                                       trs_cuda_type(t->dtype), d->lu, t->n, d->pivot,
                                       trs_cuda_type(t->dtype), x.p, x.cs, w->own.info))
        rc = TRS_ELIBRARY;
    if (!rc && !fits) rc = trs_gpu_gather(t->dtype, t->n, job->nrhs, NULL, x, job->x, job->stream);
    return rc;
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return (int64_t)((s->elem * (double)s->n + 8) * (double)s->n);
}

static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    (void)built;
    c->bytes = (double)s->n * (double)s->n * s->elem * m->gpu_byte;
    c->sync = m->cusolver_launches * m->gpu_launch;
    c->latency = 2 * (double)s->n / 64 * m->cusolver_block;
    return NULL;
}

const trs_solver trs_solver_cusolver_getrf = {
    .name = "cusolver-getrf",
    .about = "LU with partial pivoting by cuSOLVER (vendor)",
    .place = TRS_ON_CUDA,
    .family = TRS_GENERAL_DENSE,
    .caps = TRS_CAP_ROW_MAJOR | TRS_CAP_PIVOTS | TRS_CAP_CAPTURE,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .full = true,
    .library = trs_cusolver_library,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
    .pivots = pivots,
    .release = release,
    .work_create = work_create,
    .work_destroy = work_destroy,
};
