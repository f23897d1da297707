/* cusparse.c: the vendor's solver, for comparison: cusparseSpSV, and cusparseSpSM for the number of right-hand sides
 * that was announced.  Source: cuSPARSE 13 manual.
 *
 * cuSPARSE gets the caller's triangle as it is, lower or upper, and does T and H by its own transpose operations: what
 * is compared with is what a user of cuSPARSE would run.
 *
 * An analysis belongs to one solve in flight, and a solve uses its buffer; so both live in the work space.  After new
 * values the work space brings its analysis up to date before the next solve. */
#include "config.h"

#include "vendor.h"

#include <string.h>

typedef struct cusparse_data {
    trs_cusparse lib;
    int64_t n, nnz;
    trs_dtype dtype;
    void *ptr, *idx, *val; /* on the device: the caller's triangle by rows */
    void *src;             /* [nnz] there: entry p is entry src [p] of the operator */
    bool wide;             /* 64-bit indices, both */
    bool upper;
    bool transposed; /* the operator is op = T, H */
    int64_t version; /* of the values */
} cusparse_data;

typedef struct analysis { /* of one op and one way to call */
    cusparseSpSVDescr_t sv;
    cusparseSpSMDescr_t sm;
    void *buffer;
    int64_t version;
} analysis;

typedef struct cusparse_work {
    trs_cusparse lib;
    cusparseHandle_t handle;
    cusparseSpMatDescr_t mat;
    cusparseDnVecDescr_t b, x;
    int nrhs;
    analysis one[2], many[2]; /* [conj] */
} cusparse_work;

static int library(char *why, size_t size)
{
    trs_cusparse lib;
    int rc = trs_cusparse_open(&lib, why, size);
    trs_library_close(lib.library);
    return rc;
}

/* ---- the matrix ------------------------------------------------------------------------------- */

/* The caller's triangle by rows, from the operator's lower one. */
static int natural_csr(const trs_instance *inst, cusparse_data *d, trs_tri *csr)
{
    trs_tri t = inst->op->tri;
    t.src = NULL; /* places in the operator */
    int rc = d->transposed ? trs_tri_transpose(inst->ctx, &t, true, csr)
                           : trs_tri_copy(inst->ctx, &t, csr);
    if (!rc && inst->op->reversed) rc = trs_tri_reverse(inst->ctx, csr);
    d->upper = d->transposed != inst->op->reversed;
    return rc;
}

static int upload_indices(trs_context *ctx, cusparse_data *d, const void *from, bool from64,
                          int64_t count, void **to)
{
    const size_t size = d->long_indices ? 8 : 4;
    void *w = trs_new(ctx, count, size, "indices for cuSPARSE");
    *to = w ? trs_gpu_new(ctx, count, size, "indices for cuSPARSE") : NULL;
    int rc = *to ? TRS_OK : TRS_EMEM;
    for (int64_t k = 0; k < count && !rc; k++) {
        int64_t v = trs_index(from, from64 ? 64 : 32, k);
        if (d->long_indices) ((int64_t *)w)[k] = v;
        else ((int32_t *)w)[k] = (int32_t)v;
    }
    if (!rc) rc = trs_gpu_put(ctx, *to, w, (size_t)count * size);
    trs_free(&ctx->mem, w);
    return rc;
}

static int upload(const trs_instance *inst, cusparse_data *d)
{
    trs_context *ctx = inst->ctx;
    trs_tri csr;
    int rc = natural_csr(inst, d, &csr);
    if (rc) return rc;
    const size_t places = (size_t)csr.nnz * sizeof *csr.src;
    rc = upload_indices(ctx, d, csr.ptr, true, (int64_t)csr.n + 1, &d->ptr);
    if (!rc) rc = upload_indices(ctx, d, csr.idx, false, csr.nnz, &d->idx);
    if (!rc && csr.src) {
        d->src = trs_gpu_new(ctx, csr.nnz, sizeof *csr.src, "places of the values");
        rc = d->src ? trs_gpu_put(ctx, d->src, csr.src, places) : TRS_EMEM;
    }
    if (!rc) d->val = trs_gpu_new(ctx, csr.nnz, trs_size(csr.dtype), "values");
    if (!rc && !d->val) rc = TRS_EMEM;
    trs_tri_free(ctx, &csr);
    return rc;
}

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    cusparse_data *d = inst->data = trs_alloc_zero(&ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(TRS_EMEM, "out of memory");
    char why[200];
    int rc =
        trs_cusparse_open(&d->lib, why, sizeof why) ? trs_fail(TRS_ELIBRARY, "%s", why) : TRS_OK;
    if (rc) return rc;
    d->transposed = inst->op->transposed;
    d->n = inst->op->tri.n;
    d->nnz = inst->op->tri.nnz;
    d->dtype = inst->op->tri.dtype;
    d->wide = d->nnz > INT32_MAX;
    rc = trs_operator_host(inst->op, TRS_OP_PATTERN | TRS_OP_VALUES);
    return rc ? rc : upload(inst, d);
}

static int update(trs_instance *inst, void *stream)
{
    cusparse_data *d = inst->data;
    const trs_tri *t = &inst->op->tri;
    const int rc = trs_operator_device(inst->op, TRS_OP_VALUES);
    d->version++;
    return rc ? rc
              : trs_gpu_take_values(t->dtype, t->nnz, d->src, inst->op->device.val, d->val, stream);
}

static void release(trs_instance *inst)
{
    cusparse_data *d = inst->data;
    trs_gpu_free(inst->ctx, d->ptr);
    trs_gpu_free(inst->ctx, d->idx);
    trs_gpu_free(inst->ctx, d->val);
    if (d->src) trs_gpu_free(inst->ctx, d->src);
    trs_library_close(d->lib.library);
    trs_free(&inst->ctx->mem, d);
}

/* ---- the work space: descriptors, analysis, buffer -------------------------------------------------- */

static cusparseOperation_t operation(const cusparse_data *d, bool conj)
{
    if (!d->transposed) return CUSPARSE_OPERATION_NON_TRANSPOSE;
    return conj ? CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE : CUSPARSE_OPERATION_TRANSPOSE;
}

static int make_matrix(const cusparse_data *d, cusparse_work *w)
{
    const trs_cusparse *lib = &d->lib;
    const cusparseIndexType_t index = d->wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
    cusparseFillMode_t fill = d->upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diag = CUSPARSE_DIAG_TYPE_NON_UNIT;
    int rc = said(d, lib->cusparseCreate(&w->handle), "cusparseCreate");
    if (!rc)
        rc = said(d,
                  lib->cusparseCreateCsr(&w->mat, d->n, d->n, d->nnz, d->ptr, d->idx, d->val, index,
                                         index, CUSPARSE_INDEX_BASE_ZERO, type_of(d->dtype)),
                  "cusparseCreateCsr");
    if (!rc)
        rc = said(
            d, lib->cusparseSpMatSetAttribute(w->mat, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill),
            "fill mode");
    if (!rc)
        rc = said(
            d, lib->cusparseSpMatSetAttribute(w->mat, CUSPARSE_SPMAT_DIAG_TYPE, &diag, sizeof diag),
            "diagonal type");
    return rc;
}

static int make_buffer(trs_context *ctx, size_t bytes, void **buffer)
{
    *buffer = trs_gpu_new(ctx, (int64_t)bytes, 1, "the buffer of cuSPARSE");
    return *buffer ? TRS_OK : TRS_EMEM;
}

static int analyse_one(const cusparse_data *d, trs_context *ctx, cusparse_work *w, bool conj)
{
    const trs_cusparse *lib = &d->lib;
    const cudaDataType type = type_of(d->dtype);
    const void *one = one_of(d->dtype);
    analysis *a = &w->one[conj];
    size_t bytes = 0;
    int rc = said(d, lib->cusparseSpSV_createDescr(&a->sv), "cusparseSpSV_createDescr");
    if (!rc)
        rc =
            said(d,
                 lib->cusparseSpSV_bufferSize(w->handle, operation(d, conj), one, w->mat, w->b,
                                              w->x, type, CUSPARSE_SPSV_ALG_DEFAULT, a->sv, &bytes),
                 "cusparseSpSV_bufferSize");
    if (!rc) rc = make_buffer(ctx, bytes, &a->buffer);
    if (!rc)
        rc = said(d,
                  lib->cusparseSpSV_analysis(w->handle, operation(d, conj), one, w->mat, w->b, w->x,
                                             type, CUSPARSE_SPSV_ALG_DEFAULT, a->sv, a->buffer),
                  "cusparseSpSV_analysis");
    a->version = d->version;
    return rc;
}

static int analyse_many(const cusparse_data *d, trs_context *ctx, cusparse_work *w, bool conj,
                        cusparseDnMatDescr_t b)
{
    const trs_cusparse *lib = &d->lib;
    const cudaDataType type = type_of(d->dtype);
    const void *one = one_of(d->dtype);
    analysis *a = &w->many[conj];
    size_t bytes = 0;
    int rc = said(d, lib->cusparseSpSM_createDescr(&a->sm), "cusparseSpSM_createDescr");
    if (!rc)
        rc = said(d,
                  lib->cusparseSpSM_bufferSize(w->handle, operation(d, conj),
                                               CUSPARSE_OPERATION_NON_TRANSPOSE, one, w->mat, b, b,
                                               type, CUSPARSE_SPSM_ALG_DEFAULT, a->sm, &bytes),
                  "cusparseSpSM_bufferSize");
    if (!rc) rc = make_buffer(ctx, bytes, &a->buffer);
    if (!rc)
        rc = said(d,
                  lib->cusparseSpSM_analysis(w->handle, operation(d, conj),
                                             CUSPARSE_OPERATION_NON_TRANSPOSE, one, w->mat, b, b,
                                             type, CUSPARSE_SPSM_ALG_DEFAULT, a->sm, a->buffer),
                  "cusparseSpSM_analysis");
    a->version = d->version;
    return rc;
}

/* Which of {T, H}, or N, will be solved? */
static bool announced(const cusparse_data *d, const trs_context *ctx, bool conj)
{
    if (!d->transposed) return !conj;
    if (!trs_is_complex(d->dtype)) return !conj;
    return ctx->ops & (conj ? 1u << TRS_H : 1u << TRS_T);
}

static int analyse_all(const cusparse_data *d, trs_context *ctx, cusparse_work *w)
{
    const trs_cusparse *lib = &d->lib;
    const cudaDataType type = type_of(d->dtype);
    const int64_t n = d->n;
    cusparseDnMatDescr_t b = NULL;
    /* the descriptors want an address; solve will set the right ones */
    int rc = said(d, lib->cusparseCreateDnVec(&w->b, n, d->val, type), "cusparseCreateDnVec");
    if (!rc) rc = said(d, lib->cusparseCreateDnVec(&w->x, n, d->val, type), "cusparseCreateDnVec");
    if (!rc && w->nrhs > 1)
        rc = said(d, lib->cusparseCreateDnMat(&b, n, w->nrhs, n, d->val, type, CUSPARSE_ORDER_COL),
                  "cusparseCreateDnMat");
    for (int conj = 0; conj < 2 && !rc; conj++) {
        if (!announced(d, ctx, conj)) continue;
        rc = analyse_one(d, ctx, w, conj);
        if (!rc && w->nrhs > 1) rc = analyse_many(d, ctx, w, conj, b);
    }
    if (b) lib->cusparseDestroyDnMat(b);
    return rc;
}

static void work_destroy(trs_context *ctx, void *work)
{
    cusparse_work *w = work;
    const trs_cusparse *lib = &w->lib;
    for (int conj = 0; conj < 2; conj++) {
        if (w->one[conj].sv) lib->cusparseSpSV_destroyDescr(w->one[conj].sv);
        if (w->many[conj].sm) lib->cusparseSpSM_destroyDescr(w->many[conj].sm);
        trs_gpu_free(ctx, w->one[conj].buffer);
        trs_gpu_free(ctx, w->many[conj].buffer);
    }
    if (w->b) lib->cusparseDestroyDnVec(w->b);
    if (w->x) lib->cusparseDestroyDnVec(w->x);
    if (w->mat) lib->cusparseDestroySpMat(w->mat);
    if (w->handle) lib->cusparseDestroy(w->handle);
    trs_free(&ctx->mem, w);
}

static int work_create(const trs_instance *inst, trs_context *ctx, int nrhs, void **work)
{
    const cusparse_data *d = inst->data;
    cusparse_work *w = *work = trs_alloc_zero(&ctx->mem, 1, sizeof *w);
    if (!w) return trs_fail(TRS_EMEM, "out of memory");
    w->lib = d->lib;
    w->nrhs = nrhs;
    if (d->n == 0) return TRS_OK;
    int rc = make_matrix(d, w);
    if (rc) return rc;
    trs_gpu_wait(NULL);
    double start = trs_now();
    rc = trs_cusparse_analyse(d, ctx, w);
    if (!rc) rc = trs_gpu_wait(NULL);
    ctx->seconds_vendor += trs_now() - start;
    return rc;
}

/* ---- solve ------------------------------------------------------------------------------------------ */

static int refresh(const cusparse_data *d, cusparse_work *w, analysis *a)
{
    if (a->version == d->version) return TRS_OK;
    cusparseStatus_t s = a->sv ? d->lib.cusparseSpSV_updateMatrix(w->handle, a->sv, d->val,
                                                                  CUSPARSE_SPSV_UPDATE_GENERAL)
                               : d->lib.cusparseSpSM_updateMatrix(w->handle, a->sm, d->val,
                                                                  CUSPARSE_SPSM_UPDATE_GENERAL);
    if (s != CUSPARSE_STATUS_SUCCESS) return TRS_ELIBRARY;
    a->version = d->version;
    return TRS_OK;
}

static int solve_one(const cusparse_data *d, cusparse_work *w, bool conj, void *b, void *x)
{
    const trs_cusparse *lib = &d->lib;
    if (lib->cusparseDnVecSetValues(w->b, b) || lib->cusparseDnVecSetValues(w->x, x))
        return TRS_ELIBRARY;
    return lib->cusparseSpSV_solve(w->handle, operation(d, conj), one_of(d->dtype), w->mat, w->b,
                                   w->x, type_of(d->dtype), CUSPARSE_SPSV_ALG_DEFAULT,
                                   w->one[conj].sv)
               ? TRS_ELIBRARY
               : TRS_OK;
}

static int solve_many(const cusparse_data *d, cusparse_work *w, bool conj, trs_view vb, trs_view vx)
{
    const trs_cusparse *lib = &d->lib;
    const cudaDataType type = type_of(d->dtype);
    const int64_t n = d->n;
    cusparseDnMatDescr_t b = NULL, x = NULL;
    int rc = TRS_ELIBRARY;
    if (!lib->cusparseCreateDnMat(&b, n, w->nrhs, vb.cs, vb.p, type, CUSPARSE_ORDER_COL) &&
        !lib->cusparseCreateDnMat(&x, n, w->nrhs, vx.cs, vx.p, type, CUSPARSE_ORDER_COL) &&
        !lib->cusparseSpSM_solve(w->handle, operation(d, conj), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                 one_of(d->dtype), w->mat, b, x, type, CUSPARSE_SPSM_ALG_DEFAULT,
                                 w->many[conj].sm))
        rc = TRS_OK;
    if (b) lib->cusparseDestroyDnMat(b);
    if (x) lib->cusparseDestroyDnMat(x);
    return rc;
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    const cusparse_data *d = inst->data;
    const size_t size = trs_size(d->dtype);
    const trs_view b = trs_view_natural(inst->op, job->b), x = trs_view_natural(inst->op, job->x);
    cusparse_work *w = job->work;
    bool together = job->nrhs > 1 && job->nrhs == w->nrhs;
    if (d->lib.cusparseSetStream(w->handle, job->stream)) return TRS_ELIBRARY;
    if (b.rs != 1 || x.rs != 1) return TRS_ESUPPORT;
    if (together) return trs_cusparse_many(d, w, job->conj, b, x);
    int rc = TRS_OK;
    for (int r = 0; r < job->nrhs && !rc; r++)
        rc = trs_cusparse_one(d, w, job->conj, (char *)b.p + (size_t)(r * b.cs) * size,
                              (char *)x.p + (size_t)(r * x.cs) * size);
    return rc;
}

static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    (void)built;
    bool wide = s->n > 4 * s->levels;
    c->bytes = ((double)s->nnz * ((s->elem + 4) * m->gpu_byte + m->gpu_gather) +
                (double)s->n * (8 + 3 * s->elem) * m->gpu_byte) *
               s->nrhs;
    c->sync = (s->nrhs > 1 ? 6 : 2.5) * m->gpu_launch; /* SpSM, SpSV */
    c->hops = (double)s->levels * (wide ? 1.7e-6 : 0.6e-6) + s->sum_longest * 1e-9;
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return s->nnz * (int64_t)(s->elem + 4) + 4 * (s->n + 1);
}

const trs_solver trs_solver_cusparse = {
    .name = "cusparse",
    .about = "cuSPARSE SpSV; SpSM for several right-hand sides, column-major (vendor)",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = 0, /* a captured SpSV would go on with the values of before an update */
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .library = library,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
    .release = release,
    .work_create = work_create,
    .work_destroy = work_destroy,
};
