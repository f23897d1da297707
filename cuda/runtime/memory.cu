/* memory.cu: memory of the device, scratch memory of a context, and pinned memory of the host.
 *
 * A caller may provide an allocator for device memory (trs_options.device_memory); the library always
 * allocates pinned memory itself. */
#include "config.h"

#include "device.cuh"
#include "memory.cuh"

#include <cstdlib>

void *trs_gpu_new(trs_context *ctx, int64_t count, size_t size, const char *what)
{
    void *p = NULL;
    const trs_device_memory *mem = &ctx->device_memory;
    const size_t bytes = count > 0 ? (size_t)count * size : 1;
    cudaError_t e = cudaSuccess;
    if (mem->alloc) p = mem->alloc(mem->user, TRS_CUDA(ctx->device), bytes);
    else e = cudaMalloc(&p, bytes);
    if (e == cudaSuccess && p) return p;
    (void)cudaGetLastError();
    trs_fail(TRS_EMEM, "%s: %.3g bytes of device memory for %s",
             mem->alloc ? "no memory" : cudaGetErrorName(e), (double)bytes, what);
    return NULL;
}

void trs_gpu_free(trs_context *ctx, void *p)
{
    const trs_device_memory *mem = &ctx->device_memory;
    if (!p) return;
    if (mem->free) mem->free(mem->user, TRS_CUDA(ctx->device), p);
    else cudaFree(p);
}

int trs_gpu_room(trs_context *ctx, int64_t *bytes)
{
    size_t room = 0, all = 0;
    const int rc = trs_gpu_use(ctx);
    if (rc) return rc;
    const cudaError_t e = cudaMemGetInfo(&room, &all);
    *bytes = (int64_t)room;
    return cuda_status(e, "free memory");
}

/* A kernel may still be using the scratch memory.  cudaFree waits for it, and a caller's function need not. */
void trs_gpu_drop_scratch(trs_context *ctx)
{
    if (ctx->scratch && ctx->device_memory.free) (void)trs_gpu_wait(NULL);
    trs_gpu_free(ctx, ctx->scratch);
    ctx->scratch = NULL;
    ctx->scratch_bytes = 0;
}

void *trs_gpu_scratch(trs_context *ctx, int64_t bytes, const char *what)
{
    if (ctx->scratch && ctx->scratch_bytes >= bytes) return ctx->scratch;
    trs_gpu_drop_scratch(ctx);
    ctx->scratch = trs_gpu_new(ctx, bytes, 1, what);
    if (ctx->scratch) ctx->scratch_bytes = bytes;
    return ctx->scratch;
}

/* Large pages are allocated, touched and then registered, which takes a fraction of the time of cudaMallocHost,
 * whose pages are small.  Where memory cannot be registered, cudaMallocHost is what remains. */
void *trs_gpu_pinned_new(const trs_context *ctx, size_t bytes)
{
    const size_t some = bytes > 0 ? bytes : 1;
    void *p = trs_alloc_pages(some);
    if (p) trs_touch(ctx, p, some);
    if (p && !cuda_failed(cudaHostRegister(p, some, cudaHostRegisterDefault))) return p;
    free(p);
    return cuda_failed(cudaMallocHost(&p, some)) ? NULL : p;
}

void trs_gpu_pinned_free(void *p)
{
    if (!p) return;
    if (cuda_failed(cudaHostUnregister(p))) (void)cuda_failed(cudaFreeHost(p));
    else free(p);
}

int64_t count_flags(trs_context *ctx, const int *flags, int64_t count)
{
    int *there = (int *)trs_new(ctx, count, sizeof *there, "flags");
    const bool known = there && !trs_gpu_get(ctx, there, flags, (size_t)count * sizeof *there);
    int64_t set = known ? 0 : count;
    for (int64_t k = 0; k < count && known; k++) set += there[k] != 0;
    if (!known) trs_forget();
    trs_free(&ctx->mem, there);
    return set;
}
