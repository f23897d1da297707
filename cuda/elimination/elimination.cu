/* elimination.cu: answers lib/elimination/elimination.h. */
#include "config.h"

#include "cuda/runtime/cuda.cuh"
extern "C" {
#include "elimination/elimination.h"
}

struct trs_elimination {
    trs_context *ctx;
};

int trs_elimination_create(trs_context *ctx, const trs_elimination_pattern *p, trs_elimination **e)
{
    (void)ctx, (void)p;
    *e = NULL;
    return trs_fail(TRS_ESUPPORT, "not yet");
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
