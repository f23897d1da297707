/* branch.cu: a second stream next to the caller's (lib/base/device.h).  Its events order the two streams.  If the
 * caller's stream is captured, they also put the work of the second stream into the graph. */
#include "config.h"

#include "device.cuh"
#include "memory.cuh"

struct trs_branch {
    cudaStream_t stream;
    cudaEvent_t forked, joined;
};

int trs_gpu_branch_new(trs_context *ctx, trs_branch **branch)
{
    trs_branch *b = (trs_branch *)trs_alloc_zero(&ctx->mem, 1, sizeof *b);
    *branch = b;
    if (!b) return trs_fail(TRS_EMEM, "out of memory for a stream");
    if (!cuda_failed(cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking)) &&
        !cuda_failed(cudaEventCreateWithFlags(&b->forked, cudaEventDisableTiming)) &&
        !cuda_failed(cudaEventCreateWithFlags(&b->joined, cudaEventDisableTiming)))
        return TRS_OK;
    trs_gpu_branch_free(ctx, b);
    *branch = NULL;
    return TRS_OK;
}

void trs_gpu_branch_free(trs_context *ctx, trs_branch *b)
{
    if (!b) return;
    if (b->joined) (void)cuda_failed(cudaEventDestroy(b->joined));
    if (b->forked) (void)cuda_failed(cudaEventDestroy(b->forked));
    if (b->stream) (void)cuda_failed(cudaStreamDestroy(b->stream));
    trs_free(&ctx->mem, b);
}

int trs_gpu_fork(trs_branch *b, void *stream, void **side)
{
    *side = stream;
    if (!b) return TRS_OK;
    *side = b->stream;
    cudaError_t e = cudaEventRecord(b->forked, (cudaStream_t)stream);
    if (!e) e = cudaStreamWaitEvent(b->stream, b->forked, 0);
    return cuda_status(e, "a second stream");
}

int trs_gpu_join(trs_branch *b, void *stream)
{
    if (!b) return TRS_OK;
    cudaError_t e = cudaEventRecord(b->joined, b->stream);
    if (!e) e = cudaStreamWaitEvent((cudaStream_t)stream, b->joined, 0);
    return cuda_status(e, "a second stream");
}
