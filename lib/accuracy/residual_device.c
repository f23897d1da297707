/* residual_device.c: products and backward errors with all arrays on a device.  residual.c has the formulas.
 *
 * The sums have twice the working precision, as those in long double have more than it, but the range of double. */
#include "config.h"

#include "residual.h"

#include "base/device.h"

#include <float.h>

trs_context trs_device_context(const trs_mat *A)
{
    return (trs_context){.device = A->device - 1};
}

/* What takes memory can neither be captured nor repeated cheaply. */
static int refuse_capture(const trs_mat *A, trs_op op, void *stream)
{
    if (!trs_lines_across(A, op) || !trs_gpu_is_capturing(stream)) return TRS_OK;
    return trs_fail(TRS_ESUPPORT, "a product with op(A) across the lines of A cannot be captured");
}

int trs_multiply_there(const trs_mat *A, trs_op op, int nrhs, trs_view x, trs_view y, void *stream)
{
    trs_context ctx = trs_device_context(A);
    trs_lines lines = {0};
    int rc = refuse_capture(A, op, stream);
    if (!rc) rc = trs_lines_make(&ctx, A, op, stream, &lines);
    if (!rc) rc = trs_gpu_multiply(&lines, nrhs, x, y, stream);
    if (lines.memory && !rc) rc = trs_gpu_wait(stream);
    trs_lines_free(&ctx, &lines);
    return rc;
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
    const int most = nrhs < TRS_RESIDUAL_COLUMNS ? nrhs : TRS_RESIDUAL_COLUMNS;
    trs_context ctx = trs_device_context(A);
    trs_lines lines = {0};
    int rc = trs_lines_check(&ctx, A, NULL);
    if (!rc) rc = trs_lines_make(&ctx, A, op, NULL, &lines);
    void *scratch =
        rc ? NULL : trs_gpu_new(&ctx, trs_gpu_residual_bytes(most), 1, "the errors of a residual");
    if (!rc && !scratch) rc = TRS_EMEM;
    for (int r = 0; r < nrhs && !rc; r += most)
        rc = some_columns(&lines, r, nrhs - r < most ? nrhs - r : most, b, x, scratch, error);
    trs_gpu_free(&ctx, scratch);
    trs_lines_free(&ctx, &lines);
    return rc;
}
