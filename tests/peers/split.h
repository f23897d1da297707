/* split.h: a range of addresses whose first bytes are memory of device 0, and whose others are memory of device 1. */
#ifndef TRS_TESTS_SPLIT_H
#define TRS_TESTS_SPLIT_H

#include <cuda.h>
#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct split {
    CUdeviceptr p; /* 0: it could not be made */
    size_t bytes;
} split;

/* Functions of the driver by name, since programs do not link libcuda. */
static void *driver(const char *name)
{
    void *f = NULL;
    enum cudaDriverEntryPointQueryResult found;
    const cudaError_t e =
        cudaGetDriverEntryPointByVersion(name, &f, 12000, cudaEnableDefault, &found);
    return e || found != cudaDriverEntryPointSuccess ? NULL : f;
}

static bool split_map(CUdeviceptr at, size_t bytes, int device)
{
    CUresult (*create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *,
                       unsigned long long) = driver("cuMemCreate");
    CUresult (*map)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long) =
        driver("cuMemMap");
    CUresult (*release)(CUmemGenericAllocationHandle) = driver("cuMemRelease");
    CUmemGenericAllocationHandle h;
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = device;
    if (!create || !map || !release || create(&h, bytes, &prop, 0)) return false;
    const bool mapped = !map(at, bytes, 0, h, 0);
    return !release(h) && mapped;
}

/* first: bytes on device 0, at least; both devices can access all of it. */
static split split_new(size_t bytes, size_t first)
{
    enum { PAGE = 2 << 20 };
    CUresult (*reserve)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long) =
        driver("cuMemAddressReserve");
    CUresult (*allow)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t) =
        driver("cuMemSetAccess");
    const size_t cut = (first + PAGE - 1) / PAGE * PAGE, all = (bytes + PAGE - 1) / PAGE * PAGE;
    split s = {0, all > cut ? all : cut + PAGE};
    CUmemAccessDesc access[2];
    memset(access, 0, sizeof access);
    for (int k = 0; k < 2; k++) {
        access[k].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        access[k].location.id = k;
        access[k].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
    if (!reserve || !allow || cudaFree(NULL) || reserve(&s.p, s.bytes, 0, 0, 0))
        return (split){0, 0};
    if (!split_map(s.p, cut, 0) || !split_map(s.p + cut, s.bytes - cut, 1) ||
        allow(s.p, s.bytes, access, 2))
        s.p = 0;
    return s;
}

/* The program ends soon after: addresses are left reserved. */
static void split_free(const split *s)
{
    CUresult (*unmap)(CUdeviceptr, size_t) = driver("cuMemUnmap");
    CUresult (*release)(CUdeviceptr, size_t) = driver("cuMemAddressFree");
    if (s->p && unmap && release && !unmap(s->p, s->bytes)) release(s->p, s->bytes);
}

#endif
