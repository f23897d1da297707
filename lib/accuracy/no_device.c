/* no_device.c: implements on_device.h in a library that is built without CUDA. */
#include "config.h"

#include "base/device.h"
#include "on_device.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* A function that can only be called with arrays on a device. */
#define UNREACHED(name, ...)                                                                       \
    int name(__VA_ARGS__)                                                                          \
    {                                                                                              \
        return TRS_EDEVICE;                                                                        \
    }

UNREACHED(trs_gpu_multiply, const trs_lines *l, int nrhs, trs_view x, trs_view y, void *stream)
UNREACHED(trs_gpu_residual, const trs_lines *l, int nrhs, trs_view b, trs_view x, void *r,
          void *scratch, trs_findings *found, void *stream)
UNREACHED(trs_gpu_survey, const trs_lines *l, void *scratch, int64_t *longest, double *norm,
          void *stream)

bool trs_lines_across(const trs_mat *A, trs_op op)
{
    return false;
}

int64_t trs_gpu_residual_bytes(int nrhs)
{
    return 0;
}

void trs_lines_free(trs_context *ctx, trs_lines *l) {}

int trs_lines_make(trs_context *ctx, const trs_mat *A, trs_op op, void *stream, trs_lines *l)
{
    *l = (trs_lines){0};
    return trs_gpu_use(ctx);
}

int trs_lines_check(trs_context *ctx, const trs_mat *A, void *stream)
{
    return trs_gpu_use(ctx);
}
