/* no_fronts.c: answers fronts.h in a library that is built without CUDA. */
#include "config.h"

#include "base/device.h"
#include "fronts.h"

int trs_fronts_create(trs_context *ctx, const trs_fronts_pattern *p, trs_fronts **f)
{
    (void)p;
    *f = NULL;
    return trs_gpu_use(ctx);
}

void trs_fronts_destroy(trs_fronts *f)
{
    (void)f;
}

int trs_fronts_run(trs_fronts *f, const trs_fronts_job *job)
{
    (void)f, (void)job;
    return TRS_EDEVICE;
}

void trs_fronts_get_info(const trs_fronts *f, trs_fronts_info *info)
{
    (void)f;
    *info = (trs_fronts_info){.fronts = 0};
}
