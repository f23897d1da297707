/* memory.cuh: arrays on the device, for the host side of kernels. */
#ifndef TRS_MEMORY_CUH
#define TRS_MEMORY_CUH

extern "C" {
#include "base/device.h"
}
#include "base/debug.h"

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

/* ---- arrays that live and die together ------------------------------------------------------------------ */

/* They share one allocation, since each call of cudaMalloc takes as long as a copy of a megabyte.  Whoever owns them
 * has a function lay_out (carve), which calls carve (p, count) for each array p.  It is called twice: once to learn
 * how many bytes they need, when all of them become NULL, and once more with the memory.  Each array begins at a
 * multiple of 256 bytes, as cudaMalloc's do. */
struct carver {
    char *base; /* NULL: only the bytes are counted */
    size_t used;
    void operator()(void *&p, int64_t bytes)
    {
        TRS_ASSERT(bytes >= 0 && used % 256 == 0);
        p = base ? base + used : NULL;
        used += ((size_t)bytes + 255) / 256 * 256;
    }
    template <class V> void operator()(V *&p, int64_t count)
    {
        void *there;
        (*this)(there, count * (int64_t)sizeof(V));
        p = (V *)there;
    }
};

/* The bytes alone; the arrays are NULL afterwards. */
template <class L> inline size_t carved_bytes(L lay_out)
{
    carver count = {};
    lay_out(count);
    return count.used;
}

/* New memory for them, or NULL with a sentence.  Unless all is NULL, the bytes are added to it. */
template <class L>
inline void *carve_new(trs_context *ctx, const char *what, L lay_out, int64_t *all = NULL)
{
    const int64_t bytes = (int64_t)carved_bytes(lay_out);
    carver carve = {(char *)trs_gpu_new(ctx, bytes, 1, what), 0};
    if (carve.base) lay_out(carve);
    if (carve.base && all) *all += bytes;
    return carve.base;
}

/* The same in the scratch memory of the context. */
template <class L> inline void *carve_scratch(trs_context *ctx, const char *what, L lay_out)
{
    carver carve = {(char *)trs_gpu_scratch(ctx, (int64_t)carved_bytes(lay_out), what), 0};
    if (carve.base) lay_out(carve);
    return carve.base;
}

/* How many of these flags on the device are not 0.  It waits for the device; when that fails, the answer is
 * all. */
int64_t count_flags(trs_context *ctx, const int *flags, int64_t count);

#endif
