/* copy.cu: copies between host and device. */
#include "config.h"

#include "device.cuh"

/* cudaMemcpy from pageable memory to the device may return before the last bytes have arrived, and a stream
 * that does not wait for the default one would not see them.  What goes to the host has arrived when cudaMemcpy
 * returns. */
cudaError_t copy_and_wait(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    if (!bytes) return cudaSuccess;
    cudaError_t e = cudaMemcpy(to, from, bytes, kind);
    return e == cudaSuccess && kind == cudaMemcpyHostToDevice ? cudaStreamSynchronize(NULL) : e;
}

/* ---- large arrays through a ring of pinned stages ------------------------------------------------------------
 *
 *        host array   | 0 | 1 | 2 | 3 | 4 | ...        all threads copy part k to or from stage k mod 3
 *                       |   |   |   |
 *        stages       [ 0 ][ 1 ][ 2 ]                  pinned; each has an event: the device has done with it
 *                       |   |   |   |
 *        device array | 0 | 1 | 2 | 3 | 4 | ...        the device copies by itself
 *
 * cudaMemcpy does the same with one thread.  With all threads it is four times as fast, as measured. */

enum { /* bytes */
       STAGES = 3,
       STAGE = 4 << 20,
       RING_FROM = 12 << 20,    /* arrays for which a ring is made */
       OLD_RING_FROM = 2 << 20, /* arrays for which a ring is used that was made before */
       TOUCHED_FROM = 4 << 20   /* arrays of the host whose pages all threads touch first */
};

struct trs_ring {
    char *buffer;             /* [STAGES][STAGE] pinned memory of the host */
    cudaEvent_t done[STAGES]; /* the device has read or written the stage */
};

void trs_gpu_drop_ring(trs_context *ctx)
{
    trs_ring *r = ctx->ring;
    for (int k = 0; r && k < STAGES; k++)
        if (r->done[k]) cudaEventDestroy(r->done[k]);
    if (r) trs_gpu_pinned_free(r->buffer);
    trs_free(&ctx->mem, r);
    ctx->ring = NULL;
}

/* NULL where a ring cannot be made: then cudaMemcpy does. */
static trs_ring *ring_of(trs_context *ctx)
{
    if (ctx->ring) return ctx->ring;
    trs_ring *r = ctx->ring = (trs_ring *)trs_alloc_zero(&ctx->mem, 1, sizeof *r);
    if (r) r->buffer = (char *)trs_gpu_pinned_new(ctx, (size_t)STAGES * STAGE);
    bool good = r && r->buffer;
    for (int k = 0; good && k < STAGES; k++)
        good = cudaEventCreateWithFlags(&r->done[k], cudaEventDisableTiming) == cudaSuccess;
    if (!good) {
        (void)cudaGetLastError();
        trs_gpu_drop_ring(ctx);
    }
    return ctx->ring;
}

/* Bytes of the part that begins at byte at. */
static size_t part_at(size_t at, size_t bytes)
{
    TRS_ASSERT(at < bytes);
    return bytes - at < STAGE ? bytes - at : (size_t)STAGE;
}

/* A stage is filled by the host when the device has read what was there before. */
static cudaError_t put_by_ring(trs_context *ctx, const trs_ring *r, char *to, const char *from,
                               size_t bytes)
{
    cudaError_t e = cudaSuccess;
    for (size_t at = 0, k = 0; at < bytes && !e; at += STAGE, k = (k + 1) % STAGES) {
        const size_t part = part_at(at, bytes);
        char *const stage = r->buffer + k * STAGE;
        e = cudaEventSynchronize(r->done[k]);
        if (e) break;
        trs_copy(ctx, stage, from + at, part);
        e = cudaMemcpyAsync(to + at, stage, part, cudaMemcpyHostToDevice, NULL);
        if (!e) e = cudaEventRecord(r->done[k], NULL);
    }
    const cudaError_t waited = cudaStreamSynchronize(NULL);
    return e ? e : waited;
}

/* Part k - STAGES leaves its stage before the device fills the stage with part k; meanwhile it fills the other
 * stages. */
static cudaError_t get_by_ring(trs_context *ctx, const trs_ring *r, char *to, const char *from,
                               size_t bytes)
{
    const size_t parts = (bytes + STAGE - 1) / STAGE;
    cudaError_t e = cudaSuccess;
    for (size_t k = 0; k < parts + STAGES && !e; k++) {
        const size_t at = k * STAGE, before = at - (size_t)STAGES * STAGE;
        char *const stage = r->buffer + k % STAGES * STAGE;
        if (k >= STAGES) {
            e = cudaEventSynchronize(r->done[k % STAGES]);
            if (!e) trs_copy(ctx, to + before, stage, part_at(before, bytes));
        }
        if (k >= parts || e) continue;
        e = cudaMemcpyAsync(stage, from + at, part_at(at, bytes), cudaMemcpyDeviceToHost, NULL);
        if (!e) e = cudaEventRecord(r->done[k % STAGES], NULL);
    }
    const cudaError_t waited = cudaStreamSynchronize(NULL);
    return e ? e : waited;
}

/* The ring for an array of so many bytes; NULL where cudaMemcpy is to copy it. */
static const trs_ring *ring_for(trs_context *ctx, size_t bytes)
{
    const size_t from = ctx->ring ? OLD_RING_FROM : RING_FROM;
    return bytes >= from && ctx->threads > 1 ? ring_of(ctx) : NULL;
}

int trs_gpu_put(trs_context *ctx, void *to, const void *from, size_t bytes)
{
    const trs_ring *r = ring_for(ctx, bytes);
    cudaError_t e;
    if (r) e = put_by_ring(ctx, r, (char *)to, (const char *)from, bytes);
    else e = copy_and_wait(to, from, bytes, cudaMemcpyHostToDevice);
    return cuda_status(e, "copy to the device");
}

int trs_gpu_get(trs_context *ctx, void *to, const void *from, size_t bytes)
{
    cudaError_t e = cudaGetLastError(); /* of the launch that was to write it */
    if (e) return cuda_status(e, "work on the device");
    if (bytes >= TOUCHED_FROM) trs_touch(ctx, to, bytes);
    const trs_ring *r = ring_for(ctx, bytes);
    if (r) e = get_by_ring(ctx, r, (char *)to, (const char *)from, bytes);
    else e = copy_and_wait(to, from, bytes, cudaMemcpyDeviceToHost);
    return cuda_status(e, "copy from the device");
}

int trs_gpu_copy_lines(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                       size_t height, bool to_device, void *stream)
{
    cudaMemcpyKind kind = to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    cudaStream_t s = static_cast<cudaStream_t>(stream);
    cudaError_t e;
    if (height == 1 || (to_pitch == width && from_pitch == width))
        e = cudaMemcpyAsync(to, from, width * height, kind, s);
    else e = cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, s);
    return cuda_status(e, to_device ? "copy to the device" : "copy from the device");
}
