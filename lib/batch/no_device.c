/* no_device.c: answers batch.h in a library that is built without CUDA. */
#include "config.h"

#include "batch.h"

int trs_gpu_solve_batch(const trs_batch_job *job, int64_t *first)
{
    (void)job;
    *first = -1;
    return TRS_EDEVICE;
}
