/* memory.cuh: arrays on the device, for the host side of kernels. */
#ifndef TRS_MEMORY_CUH
#define TRS_MEMORY_CUH

extern "C" {
#include "base/device.h"
}
#include "base/debug.h"

/* Arrays that live and die together share one allocation, since each call of cudaMalloc takes as long as a copy
 * of a megabyte.  A function lay_out calls carve for each of them: with base NULL to learn how many bytes they
 * need, and once more with the memory to get the pointers.  Each array begins at a multiple of 256 bytes, as
 * cudaMalloc's do. */
template <class V> inline V *carve(char *base, size_t *used, int64_t count)
{
    TRS_ASSERT(count >= 0 && *used % 256 == 0);
    V *p = base ? reinterpret_cast<V *>(base + *used) : NULL;
    *used += ((size_t)count * sizeof(V) + 255) / 256 * 256;
    return p;
}

/* count elements on the device, which are not cleared, or those of an array of the host.  Returns NULL with a
 * sentence. */
template <class V> inline V *device_new(trs_context *ctx, int64_t count, const char *what)
{
    return (V *)trs_gpu_new(ctx, count, sizeof(V), what);
}

template <class V>
inline V *device_copy(trs_context *ctx, const V *from, int64_t count, const char *what)
{
    V *p = device_new<V>(ctx, count, what);
    if (!p || !trs_gpu_put(ctx, p, from, (size_t)count * sizeof(V))) return p;
    trs_gpu_free(ctx, p);
    return NULL;
}

/* Each of the arrays may be NULL. */
template <class... V> inline void device_free(trs_context *ctx, V *...p)
{
    (trs_gpu_free(ctx, p), ...);
}

/* A D on the host, all zero, for trs_instance.data or a work space.  Returns NULL with a sentence. */
template <class D> inline D *data_new(trs_context *ctx, void **to)
{
    *to = trs_alloc_zero(&ctx->mem, 1, sizeof(D));
    if (!*to) trs_fail(TRS_EMEM, "out of memory");
    return (D *)*to;
}

/* How many of these flags on the device are not 0.  It waits for the device; when that fails, the answer is
 * all. */
int64_t count_flags(trs_context *ctx, const int *flags, int64_t count);

#endif
