/* no_device.c: answers on_device.h in a library that is built without CUDA. */
#include "config.h"

#include "base/device.h"
#include "on_device.h"

bool trs_lines_across(const trs_mat *A, trs_op op)
{
    (void)A, (void)op;
    return false;
}

int trs_lines_make(trs_context *ctx, const trs_mat *A, trs_op op, void *stream, trs_lines *l)
{
    (void)A, (void)op, (void)stream;
    *l = (trs_lines){0};
    return trs_gpu_use(ctx);
}

void trs_lines_free(trs_context *ctx, trs_lines *l)
{
    (void)ctx, (void)l;
}

int trs_lines_check(trs_context *ctx, const trs_mat *A, void *stream)
{
    (void)A, (void)stream;
    return trs_gpu_use(ctx);
}

int trs_gpu_multiply(const trs_lines *l, int nrhs, trs_view x, trs_view y, void *stream)
{
    (void)l, (void)nrhs, (void)x, (void)y, (void)stream;
    return TRS_EDEVICE;
}

int64_t trs_gpu_residual_bytes(int nrhs)
{
    (void)nrhs;
    return 0;
}

int trs_gpu_residual(const trs_lines *l, int nrhs, trs_view b, trs_view x, void *r, void *scratch,
                     trs_findings *found, void *stream)
{
    (void)b, (void)r, (void)scratch, (void)found;
    return trs_gpu_multiply(l, nrhs, x, x, stream);
}

int trs_gpu_survey(const trs_lines *l, void *scratch, int64_t *longest, double *norm, void *stream)
{
    (void)l, (void)scratch, (void)longest, (void)norm, (void)stream;
    return TRS_EDEVICE;
}
