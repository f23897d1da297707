/* no_device.c: answers elimination.h and lu_rows.h in a library that is built without CUDA. */
#include "config.h"

#include "base/device.h"
#include "elimination.h"
#include "lu_rows.h"

int trs_elimination_create(trs_context *ctx, const trs_elimination_pattern *p, trs_elimination **e)
{
    (void)p;
    *e = NULL;
    return trs_gpu_use(ctx);
}

void trs_elimination_destroy(trs_elimination *e)
{
    (void)e;
}

int trs_elimination_run(trs_elimination *e, const trs_elimination_job *job)
{
    (void)e, (void)job;
    return TRS_EDEVICE;
}

int64_t trs_elimination_bytes(const trs_elimination *e)
{
    (void)e;
    return 0;
}

const char *trs_elimination_kernel(const trs_elimination *e)
{
    (void)e;
    return "";
}

int trs_gpu_lu_rows(trs_context *ctx, const trs_mat *m, const int64_t *src, bool cholesky,
                    trs_lu_rows *rows)
{
    (void)m, (void)src, (void)cholesky;
    *rows = (trs_lu_rows){0};
    return trs_gpu_use(ctx);
}

void trs_gpu_lu_rows_join(trs_context *ctx, trs_lu_rows *rows)
{
    (void)ctx, (void)rows;
}

void trs_gpu_lu_rows_free(trs_context *ctx, trs_lu_rows *rows)
{
    (void)ctx, (void)rows;
}

int trs_gpu_unit_diagonal(const trs_lu_rows *rows, trs_dtype t, void *val)
{
    (void)rows, (void)t, (void)val;
    return TRS_EDEVICE;
}

int trs_gpu_convert(int64_t count, trs_dtype from_type, const void *from, trs_dtype to_type,
                    void *to, void *stream)
{
    (void)count, (void)from_type, (void)from, (void)to_type, (void)to, (void)stream;
    return TRS_EDEVICE;
}

int trs_gpu_wait_for_all(trs_context *ctx)
{
    return trs_gpu_use(ctx);
}
