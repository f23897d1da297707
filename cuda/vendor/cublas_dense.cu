/* cublas_dense.cu: the vendor's dense solver on the triangle as a full matrix, for comparison: cublasXtrsv, and
 * cublasXtrsm for several right-hand sides stored by columns.
 * Source: slides "GPU-accelerated sparse triangular solver", page "Results", row "CUBLAS".
 *
 * The full matrix is stored by rows, which cuBLAS sees as the transpose stored by columns: op = T solves with the
 * matrix, op = C with its conjugate.  An operator whose rows are counted backwards is stored in the caller's order,
 * so cuBLAS sees plain vectors.  It multiplies zeros too, so a NaN or Inf in b spreads within the triangle, and the
 * accuracy is that of an inverting solver.
 * Bytes: elem n^2 / 2.  The time is that of dependency latencies, 4.2 us for each 64 rows on an H200. */
#include "config.h"

#include "cuda/matrix/full.cuh"

#include "vendor.h"

struct cublas_data {
    trs_cublas lib;
    device_full full; /* by rows, in the caller's order */
};

struct cublas_work {
    trs_cublas lib;
    cublasHandle_t handle;
};

static void release(trs_instance *inst)
{
    cublas_data *d = (cublas_data *)inst->data;
    trs_gpu_free(inst->ctx, d->full.val);
    trs_library_close(d->lib.library);
    trs_free(&inst->ctx->mem, d);
}

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    cublas_data *d = data_new<cublas_data>(ctx, &inst->data);
    if (!d) return TRS_EMEM;
    int rc = trs_cublas_open(&d->lib);
    if (rc) return rc;
    d->full.reversed = inst->op->reversed;
    return device_full_new(inst, true, &d->full);
}

static int work_create(const trs_instance *inst, trs_context *ctx, int, void **work)
{
    cublas_work *w = data_new<cublas_work>(ctx, work);
    if (!w) return TRS_EMEM;
    w->lib = ((const cublas_data *)inst->data)->lib;
    if (w->lib.cublasCreate_v2(&w->handle) == CUBLAS_STATUS_SUCCESS) return TRS_OK;
    return trs_fail(TRS_ELIBRARY, "cublasCreate failed");
}

static void work_destroy(trs_context *ctx, void *work)
{
    cublas_work *w = (cublas_work *)work;
    if (w->handle) w->lib.cublasDestroy_v2(w->handle);
    trs_free(&ctx->mem, w);
}

static cublasStatus_t trsv(const trs_cublas *lib, cublasHandle_t h, trs_dtype t,
                           cublasFillMode_t uplo, cublasOperation_t op, int64_t n, const void *A,
                           void *x, int64_t inc)
{
    const cublasDiagType_t diag = CUBLAS_DIAG_NON_UNIT;
    switch (t) {
    case TRS_F32:
        return lib->cublasStrsv_v2_64(h, uplo, op, diag, n, (const float *)A, n, (float *)x, inc);
    case TRS_F64:
        return lib->cublasDtrsv_v2_64(h, uplo, op, diag, n, (const double *)A, n, (double *)x, inc);
    case TRS_C32:
        return lib->cublasCtrsv_v2_64(h, uplo, op, diag, n, (const cuComplex *)A, n, (cuComplex *)x,
                                      inc);
    default:
        return lib->cublasZtrsv_v2_64(h, uplo, op, diag, n, (const cuDoubleComplex *)A, n,
                                      (cuDoubleComplex *)x, inc);
    }
}

static cublasStatus_t trsm(const trs_cublas *lib, cublasHandle_t h, trs_dtype t,
                           cublasFillMode_t uplo, cublasOperation_t op, int64_t n, int64_t nrhs,
                           const void *A, void *X, int64_t ld)
{
    const cublasSideMode_t left = CUBLAS_SIDE_LEFT;
    const cublasDiagType_t diag = CUBLAS_DIAG_NON_UNIT;
    const double one = 1;
    const float onef = 1;
    const cuComplex onec = {1, 0};
    const cuDoubleComplex onez = {1, 0};
    switch (t) {
    case TRS_F32:
        return lib->cublasStrsm_v2_64(h, left, uplo, op, diag, n, nrhs, &onef, (const float *)A, n,
                                      (float *)X, ld);
    case TRS_F64:
        return lib->cublasDtrsm_v2_64(h, left, uplo, op, diag, n, nrhs, &one, (const double *)A, n,
                                      (double *)X, ld);
    case TRS_C32:
        return lib->cublasCtrsm_v2_64(h, left, uplo, op, diag, n, nrhs, &onec, (const cuComplex *)A,
                                      n, (cuComplex *)X, ld);
    default:
        return lib->cublasZtrsm_v2_64(h, left, uplo, op, diag, n, nrhs, &onez,
                                      (const cuDoubleComplex *)A, n, (cuDoubleComplex *)X, ld);
    }
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    const cublas_data *d = (const cublas_data *)inst->data;
    const trs_tri *t = &inst->op->tri;
    const trs_view b = trs_view_natural(inst->op, job->b), x = trs_view_natural(inst->op, job->x);
    const cublasHandle_t h = ((const cublas_work *)job->work)->handle;
    /* lower by rows is upper by columns, and op = T undoes the transposition */
    const cublasFillMode_t uplo =
        inst->op->reversed ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    const cublasOperation_t op = job->conj ? CUBLAS_OP_C : CUBLAS_OP_T;
    cublasStatus_t s = d->lib.cublasSetStream_v2(h, (cudaStream_t)job->stream);
    if (s == CUBLAS_STATUS_SUCCESS && b.p != x.p) {
        int rc = trs_gpu_gather(t->dtype, t->n, job->nrhs, NULL, b, x, job->stream);
        if (rc) return rc;
    }
    if (s == CUBLAS_STATUS_SUCCESS && job->nrhs > 1 && x.rs == 1)
        s = trsm(&d->lib, h, t->dtype, uplo, op, t->n, job->nrhs, d->full.val, x.p, x.cs);
    else
        for (int r = 0; r < job->nrhs && s == CUBLAS_STATUS_SUCCESS; r++)
            s = trsv(&d->lib, h, t->dtype, uplo, op, t->n, d->full.val,
                     (char *)x.p + r * x.cs * (int64_t)trs_size(t->dtype), x.rs);
    return s == CUBLAS_STATUS_SUCCESS ? TRS_OK : TRS_ELIBRARY;
}

static const char *estimate(const trs_prospect *p, const trs_instance *, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    c->bytes = 0.5 * (double)s->n * (double)s->n * s->elem * m->gpu_byte;
    c->sync = 2 * m->gpu_launch;
    c->latency = (double)s->n / 64 * m->cublas_block;
    return NULL;
}

const trs_solver trs_solver_cublas_dense = {
    .name = "cublas-dense",
    .about = "cuBLAS trsv, trsm on the triangle as a full matrix (vendor)",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .full = true,
    .refreshes = true,
    .library = trs_cublas_library,
    .estimate = estimate,
    .bytes = device_full_bytes,
    .build = build,
    .update = dense_fill<cublas_data>,
    .solve = solve,
    .release = release,
    .work_create = work_create,
    .work_destroy = work_destroy,
};
