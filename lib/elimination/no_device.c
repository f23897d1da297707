/* no_device.c: answers elimination.h in a library that is built without CUDA. */
#include "config.h"

#include "base/device.h"
#include "elimination.h"

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
