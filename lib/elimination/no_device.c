/* no_device.c: implements elimination.h and lu_rows.h in a library that is built without CUDA. */
#include "config.h"

#include "base/device.h"
#include "elimination.h"
#include "lu_rows.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* A function that can only be called with an object on a device. */
#define UNREACHED(type, name, result, ...)                                                         \
    type name(__VA_ARGS__)                                                                         \
    {                                                                                              \
        return result;                                                                             \
    }

UNREACHED(int, trs_elimination_run, TRS_EDEVICE, trs_elimination *e, const trs_elimination_job *job)
UNREACHED(int64_t, trs_elimination_bytes, 0, const trs_elimination *e)
UNREACHED(const char *, trs_elimination_kernel, "", const trs_elimination *e)
UNREACHED(int, trs_gpu_unit_diagonal, TRS_EDEVICE, const trs_lu_rows *rows, trs_dtype t, void *val)
UNREACHED(int, trs_gpu_convert, TRS_EDEVICE, int64_t count, trs_dtype from_type, const void *from,
          trs_dtype to_type, void *to, void *stream)
UNREACHED(void, trs_elimination_destroy, , trs_elimination *e)
UNREACHED(void, trs_gpu_lu_rows_join, , trs_context *ctx, trs_lu_rows *rows)
UNREACHED(void, trs_gpu_lu_rows_free, , trs_context *ctx, trs_lu_rows *rows)

int trs_elimination_create(trs_context *ctx, const trs_elimination_pattern *p, trs_elimination **e)
{
    *e = NULL;
    return trs_gpu_use(ctx);
}

int trs_gpu_lu_rows(trs_context *ctx, const trs_mat *m, const int64_t *src, bool cholesky,
                    trs_lu_rows *rows)
{
    *rows = (trs_lu_rows){0};
    return trs_gpu_use(ctx);
}

int trs_gpu_wait_for_all(trs_context *ctx)
{
    return trs_gpu_use(ctx);
}
