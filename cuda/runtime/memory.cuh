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

/* count elements of host memory in new device memory.  NULL: ctx has the sentence. */
void *device_copy(trs_context *ctx, const void *from, int64_t count, size_t size, const char *what);

/* How many of these flags on the device are not 0.  It waits for the device; when that fails, the answer is
 * all. */
int64_t count_flags(trs_context *ctx, const int *flags, int64_t count);

#endif
