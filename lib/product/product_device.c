/* product_device.c: Y = op(A) X with all arrays on a device. */
#include "config.h"

#include "product.h"
#include "accuracy/residual.h"
#include "base/device.h"

/* What takes memory can neither be captured nor repeated cheaply. */
static int refuse_capture(const trs_mat *A, trs_op op, void *stream)
{
    if (trs_rows_are_there(A, op) || !trs_gpu_is_capturing(stream)) return TRS_OK;
    return trs_fail(TRS_ESUPPORT,
                    "a product with op(A) across the lines of A, or with one triangle of it, "
                    "cannot be captured");
}

int trs_multiply_there(const trs_mat *A, trs_op op, int nrhs, trs_view x, trs_view y, void *stream)
{
    trs_context ctx = trs_device_context(A);
    trs_device_rows rows;
    int rc = refuse_capture(A, op, stream);
    if (rc) return rc;
    rc = trs_rows_open(&ctx, A, op, false, stream, &rows);
    if (!rc) rc = trs_gpu_multiply(&rows.lines, nrhs, x, y, stream);
    if (!trs_rows_are_there(A, op) && !rc) rc = trs_gpu_wait(stream);
    trs_rows_close(&ctx, &rows);
    return rc;
}
