/* cusparse_calls.c: descriptors, analysis and solve of cuSPARSE.  Source: cuSPARSE 13 manual. */
#include "config.h"

#include "cusparse.h"

static const void *one_of(trs_dtype t)
{
    static const double one64[2] = {1, 0};
    static const float one32[2] = {1, 0};
    return t == TRS_F64 || t == TRS_C64 ? (const void *)one64 : (const void *)one32;
}

static int said(const cusparse_data *d, cusparseStatus_t s, const char *what)
{
    if (s == CUSPARSE_STATUS_SUCCESS) return TRS_OK;
    return trs_fail(TRS_ELIBRARY, "cuSPARSE: %s: %s", what, d->lib.cusparseGetErrorString(s));
}

static cusparseOperation_t operation(const cusparse_data *d, bool conj)
{
    if (!d->transposed) return CUSPARSE_OPERATION_NON_TRANSPOSE;
    return conj ? CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE : CUSPARSE_OPERATION_TRANSPOSE;
}

int trs_cusparse_matrix(const cusparse_data *d, cusparse_work *w)
{
    const trs_cusparse *lib = &d->lib;
    const cusparseIndexType_t index = d->long_indices ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
    cusparseFillMode_t fill = d->upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diag = CUSPARSE_DIAG_TYPE_NON_UNIT;
    int rc = said(d, lib->cusparseCreate(&w->handle), "cusparseCreate");
    if (!rc)
        rc = said(d,
                  lib->cusparseCreateCsr(&w->mat, d->n, d->n, d->nnz, d->ptr, d->idx, d->val, index,
                                         index, CUSPARSE_INDEX_BASE_ZERO, trs_cuda_type(d->dtype)),
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
    const cudaDataType type = trs_cuda_type(d->dtype);
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
    const cudaDataType type = trs_cuda_type(d->dtype);
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

/* Was the op announced that this operator is solved for: N, or T, or H (conj)? */
static bool announced(const cusparse_data *d, const trs_context *ctx, bool conj)
{
    if (!d->transposed) return !conj;
    if (!trs_is_complex(d->dtype)) return !conj;
    return ctx->ops & (conj ? 1u << TRS_H : 1u << TRS_T);
}

int trs_cusparse_analyse(const cusparse_data *d, trs_context *ctx, cusparse_work *w)
{
    const trs_cusparse *lib = &d->lib;
    const cudaDataType type = trs_cuda_type(d->dtype);
    const int64_t n = d->n;
    cusparseDnMatDescr_t b = NULL;
    /* descriptors want an address: any will do, a solve sets the right ones */
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

/* ---- solve ------------------------------------------------------------------------------------------ */

/* Has the analysis seen the values of the last update?  If not, it takes them now. */
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

int trs_cusparse_one(const cusparse_data *d, cusparse_work *w, bool conj, void *b, void *x)
{
    const trs_cusparse *lib = &d->lib;
    if (refresh(d, w, &w->one[conj])) return TRS_ELIBRARY;
    if (lib->cusparseDnVecSetValues(w->b, b) || lib->cusparseDnVecSetValues(w->x, x))
        return TRS_ELIBRARY;
    return lib->cusparseSpSV_solve(w->handle, operation(d, conj), one_of(d->dtype), w->mat, w->b,
                                   w->x, trs_cuda_type(d->dtype), CUSPARSE_SPSV_ALG_DEFAULT,
                                   w->one[conj].sv)
               ? TRS_ELIBRARY
               : TRS_OK;
}

int trs_cusparse_many(const cusparse_data *d, cusparse_work *w, bool conj, trs_view vb, trs_view vx)
{
    const trs_cusparse *lib = &d->lib;
    const cudaDataType type = trs_cuda_type(d->dtype);
    const int64_t n = d->n;
    cusparseDnMatDescr_t b = NULL, x = NULL;
    int rc = TRS_ELIBRARY;
    if (refresh(d, w, &w->many[conj])) return rc;
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
