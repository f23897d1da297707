/* hosted.c: solves with a vector that is on the host, wherever the plan solves. */
#include "config.h"

#include "base/device.h"
#include "plan.h"

int trs_hosted_new(const trs_plan *p, void **stage)
{
    trs_context ctx = p->ctx; /* a copy, since the plan is const */
    *stage = NULL;
    if (!p->on_device) return TRS_OK;
    int rc = trs_gpu_use(&ctx);
    if (rc) return rc;
    *stage = trs_gpu_new(&ctx, p->info.n, trs_size(p->given.dtype), "a vector");
    return *stage ? TRS_OK : TRS_EMEM;
}

void trs_hosted_free(const trs_plan *p, void *stage)
{
    trs_context ctx = p->ctx;
    trs_gpu_free(&ctx, stage);
}

/* This solves on the default stream, because the copies are in its order. */
int trs_solve_hosted(const trs_plan *p, trs_op op, void *x, void *stage, const trs_exec *exec)
{
    const int64_t n = p->info.n;
    const size_t bytes = (size_t)n * trs_size(p->given.dtype);
    trs_exec e = *exec;
    e.layout = TRS_COL_MAJOR;
    if (!stage) return trs_solve(p, op, 1, x, n, x, n, &e);
    const int device = TRS_CUDA(p->ctx.device);
    e.stream = NULL;
    int rc = trs_device_put(device, stage, x, bytes);
    if (!rc) rc = trs_solve(p, op, 1, stage, n, stage, n, &e);
    if (!rc) rc = trs_device_get(device, x, stage, bytes);
    return rc;
}
