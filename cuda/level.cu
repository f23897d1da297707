/* level.cu: the levels of the rows of a side, on the device. */
#include "config.h"

#include "cuda.cuh"

enum { THREADS = 256 };

static unsigned blocks_of(int64_t count)
{
    return (unsigned)((count + THREADS - 1) / THREADS);
}

/* One thread a row in level order, which looks for its level. */
static __global__ void spread_kernel(int32_t n, int32_t count, const int32_t *topo,
                                     const int32_t *ptr, int32_t *level)
{
    const int32_t k = (int32_t)(blockIdx.x * THREADS + threadIdx.x);
    if (k >= n) return;
    int32_t low = 0, high = count; /* ptr [low] <= k < ptr [high] */
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (ptr[middle] <= k) low = middle;
        else high = middle;
    }
    level[topo[k]] = low;
}

int trs_gpu_put_levels(trs_context *ctx, const trs_side *s)
{
    const trs_levels *lv = &s->lv;
    const int32_t n = s->tri.n;
    if (n == 0) return TRS_OK;
    int rc = TRS_EMEM;
    int32_t *topo = (int32_t *)device_copy(ctx, lv->topo, n, sizeof *topo, "topo"), *ptr = NULL;
    if (topo)
        ptr = (int32_t *)device_copy(ctx, lv->ptr, (int64_t)lv->count + 1, sizeof *ptr, "lv_ptr");
    if (ptr) {
        spread_kernel<<<blocks_of(n), THREADS>>>(n, lv->count, topo, ptr,
                                                 (int32_t *)s->direct.level);
        rc = trs_gpu_wait(NULL) ? trs_fail(ctx, TRS_EDEVICE, "levels on the device") : TRS_OK;
    }
    trs_gpu_free(ctx, topo);
    trs_gpu_free(ctx, ptr);
    return rc;
}
