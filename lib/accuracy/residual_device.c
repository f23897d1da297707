/* residual_device.c: backward errors with all arrays on a device.  residual.c has the formulas.
 *
 * The sums have twice the working precision, as those in long double have more than it, but the range of double. */
#include "config.h"

#include "residual.h"
#include "base/debug.h"
#include "base/device.h"

#include <float.h>

/* ---- rows of op(A) --------------------------------------------------------------------------------- */

static void *send(trs_context *ctx, const void *from, int64_t count, size_t size)
{
    void *to = trs_gpu_new(ctx, count, size, "a Hermitian matrix");
    if (!to || !trs_gpu_put(ctx, to, from, (size_t)count * size)) return to;
    trs_gpu_free(ctx, to);
    return NULL;
}

/* *there = the whole of A, of which a triangle is stored; *host, on the host, is freed by the caller. */
static int make_whole(trs_context *ctx, const trs_mat *A, trs_whole *host, trs_mat *there)
{
    trs_mat half;
    int rc = trs_mat_fetch(ctx, A, true, &half);
    if (!rc) rc = trs_whole_make(ctx, &half, host);
    trs_mat_fetched(ctx, A, &half);
    if (rc) return rc;
    const trs_mat *w = &host->mat;
    *there = *w;
    there->device = A->device;
    const bool dense = w->format == TRS_DENSE;
    there->ptr = there->idx = NULL;
    if (!dense) there->ptr = send(ctx, w->ptr, w->n + 1, sizeof(int64_t));
    if (!dense) there->idx = send(ctx, w->idx, w->nnz, sizeof(int32_t));
    there->val = send(ctx, w->val, trs_value_count(w), trs_size(w->dtype));
    return there->val && (dense || (there->ptr && there->idx)) ? TRS_OK : TRS_EMEM;
}

static int whole_there(trs_context *ctx, const trs_mat *A, void *stream, trs_mat *there)
{
    trs_whole host = {.mat = {0}};
    int rc = trs_gpu_use(ctx);
    if (!rc && trs_gpu_wait(stream)) /* it may still be writing A */
        rc = trs_fail(TRS_EDEVICE, "the stream has failed");
    if (!rc) rc = make_whole(ctx, A, &host, there);
    trs_whole_free(ctx, &host);
    trs_gpu_drop_ring(ctx);
    return rc;
}

bool trs_rows_are_there(const trs_mat *A, trs_op op)
{
    return !trs_lines_across(A, op) && !trs_is_half(A);
}

int trs_rows_open(trs_context *ctx, const trs_mat *A, trs_op op, bool look, void *stream,
                  trs_device_rows *r)
{
    *r = (trs_device_rows){.whole = {0}};
    int rc = TRS_OK;
    if (look) rc = trs_lines_check(ctx, A, stream);
    if (!rc && trs_is_half(A)) {
        rc = whole_there(ctx, A, stream, &r->whole);
        A = &r->whole;
    }
    if (!rc) rc = trs_lines_make(ctx, A, op, stream, &r->lines);
    return rc;
}

void trs_rows_close(trs_context *ctx, trs_device_rows *r)
{
    trs_lines_free(ctx, &r->lines);
    trs_gpu_free(ctx, (void *)r->whole.ptr);
    trs_gpu_free(ctx, (void *)r->whole.idx);
    trs_gpu_free(ctx, (void *)r->whole.val);
}

/* ---- errors ---------------------------------------------------------------------------------------- */

trs_context trs_device_context(const trs_mat *A)
{
    return (trs_context){.device = A->device - 1};
}

trs_error trs_error_of(const trs_findings *f, trs_dtype t)
{
    const double safmin = trs_is_single(t) ? (double)FLT_MIN : DBL_MIN;
    trs_error e = {.omega = f->omega, .residual = f->residual, .row = f->row};
    const long double scale = (long double)f->a * (f->x + safmin) + f->b + safmin;
    e.normwise = (double)(f->residual / scale);
    return e;
}

/* Columns r .. r + count - 1. */
static int some_columns(const trs_lines *l, int r, int count, trs_view b, trs_view x, void *scratch,
                        trs_error *error)
{
    const int64_t size = (int64_t)trs_size(l->A.dtype);
    trs_findings found[TRS_RESIDUAL_COLUMNS];
    TRS_ASSERT(count > 0 && count <= TRS_RESIDUAL_COLUMNS);
    b.p = (char *)b.p + r * b.cs * size;
    x.p = (char *)x.p + r * x.cs * size;
    const int rc = trs_gpu_residual(l, count, b, x, NULL, scratch, found, NULL);
    for (int k = 0; k < count && !rc; k++) {
        const trs_error one = trs_error_of(&found[k], l->A.dtype);
        trs_error_fold(error, &one, r + k);
    }
    return rc;
}

int trs_backward_error_there(const trs_mat *A, trs_op op, int nrhs, trs_view b, trs_view x,
                             trs_error *error)
{
    const int most = (int)trs_min(nrhs, TRS_RESIDUAL_COLUMNS);
    trs_context ctx = trs_device_context(A);
    trs_device_rows rows;
    int rc = trs_rows_open(&ctx, A, op, true, NULL, &rows);
    void *scratch = NULL;
    if (!rc)
        scratch = trs_gpu_new(&ctx, trs_gpu_residual_bytes(most), 1, "the errors of a residual");
    if (!rc && !scratch) rc = TRS_EMEM;
    for (int r = 0; r < nrhs && !rc; r += most)
        rc = some_columns(&rows.lines, r, (int)trs_min(nrhs - r, most), b, x, scratch, error);
    trs_gpu_free(&ctx, scratch);
    trs_rows_close(&ctx, &rows);
    return rc;
}
