/* faults.c: functions in the place of those of the CUDA run-time (faults.h).  local.mk makes the flags of the linker from the
 * lines that begin with CALL, MAKE, FREE or DECLARE. */
#include "config.h"

#include "faults.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

trs_faults faults = {.fail_at = -1};

static bool fails(const char *name, bool of_memory)
{
    if (!faults.on || faults.calls++ != faults.fail_at) return false;
    faults.failed = name;
    faults.of_memory = of_memory;
    faults.last = of_memory ? cudaErrorMemoryAllocation : cudaErrorUnknown;
    return true;
}

#define DECLARE(name, parameters)                                                                  \
    cudaError_t __real_##name parameters;                                                          \
    cudaError_t __wrap_##name parameters

/* A function that makes or frees nothing; instead: what it is without a GPU. */
#define CALL(name, parameters, arguments, instead)                                                 \
    DECLARE(name, parameters);                                                                     \
    cudaError_t __wrap_##name parameters                                                           \
    {                                                                                              \
        if (fails(#name, false)) return cudaErrorUnknown;                                          \
        return faults.pretends ? instead : __real_##name arguments;                                \
    }

/* One that sets *p to something new, of so many bytes without a GPU. */
#define MAKE(name, parameters, arguments, bytes)                                                   \
    DECLARE(name, parameters);                                                                     \
    cudaError_t __wrap_##name parameters                                                           \
    {                                                                                              \
        cudaError_t e;                                                                             \
        if (fails(#name, true)) return cudaErrorMemoryAllocation;                                  \
        e = faults.pretends ? pretend_new((void **)p, bytes) : __real_##name arguments;            \
        faults.live += e == cudaSuccess;                                                           \
        return e;                                                                                  \
    }

#define FREE(name, type)                                                                           \
    DECLARE(name, (type p));                                                                       \
    cudaError_t __wrap_##name(type p)                                                              \
    {                                                                                              \
        const cudaError_t e = faults.pretends ? pretend_free((void *)p) : __real_##name(p);        \
        faults.live -= p && e == cudaSuccess;                                                      \
        return e;                                                                                  \
    }

/* ---- without a GPU ------------------------------------------------------------------------------------ */

static cudaError_t pretend_new(void **p, size_t bytes)
{
    *p = calloc(1, bytes + 1);
    return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t pretend_free(void *p)
{
    free(p);
    return cudaSuccess;
}

static cudaError_t pretend_int(int *to, int value)
{
    *to = value;
    return cudaSuccess;
}

static cudaError_t pretend_attribute(int *to, enum cudaDeviceAttr what)
{
    if (what == cudaDevAttrComputeCapabilityMajor) return pretend_int(to, 9);
    if (what == cudaDevAttrComputeCapabilityMinor) return pretend_int(to, 0);
    return pretend_int(to, what == cudaDevAttrMultiProcessorCount ? 8 : 200000);
}

static cudaError_t pretend_attributes(struct cudaFuncAttributes *to)
{
    *to = (struct cudaFuncAttributes){
        .maxThreadsPerBlock = 1024, .numRegs = 32, .ptxVersion = 90, .binaryVersion = 90};
    return cudaSuccess;
}

static cudaError_t pretend_copy(void *to, const void *from, size_t bytes)
{
    if (bytes) memmove(to, from, bytes);
    return cudaSuccess;
}

static cudaError_t pretend_copy_lines(void *to, size_t to_pitch, const void *from,
                                      size_t from_pitch, size_t width, size_t height)
{
    for (size_t k = 0; k < height; k++)
        pretend_copy((char *)to + k * to_pitch, (const char *)from + k * from_pitch, width);
    return cudaSuccess;
}

static cudaError_t pretend_set(void *p, int byte, size_t bytes)
{
    if (bytes) memset(p, byte, bytes);
    return cudaSuccess;
}

static cudaError_t pretend_call(cudaHostFn_t f, void *user)
{
    f(user);
    return cudaSuccess;
}

static cudaError_t pretend_free_bytes(size_t *available, size_t *all)
{
    *available = *all = (size_t)1 << 33;
    return cudaSuccess;
}

/* ---- the functions ------------------------------------------------------------------------------------- */

/* Each in a line of its own. */
/* clang-format off */
CALL(cudaGetDeviceCount, (int *count), (count), pretend_int(count, 1))
CALL(cudaGetDevice, (int *device), (device), pretend_int(device, 0))
CALL(cudaSetDevice, (int device), (device), cudaSuccess)
CALL(cudaDeviceGetAttribute, (int *to, enum cudaDeviceAttr what, int device), (to, what, device), pretend_attribute(to, what))
CALL(cudaFuncGetAttributes, (struct cudaFuncAttributes *to, const void *f), (to, f), pretend_attributes(to))
CALL(cudaFuncSetAttribute, (const void *f, enum cudaFuncAttribute what, int value), (f, what, value), cudaSuccess)
CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int *to, const void *f, int threads, size_t shared), (to, f, threads, shared), pretend_int(to, 2))
CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int *to, const void *f, int threads, size_t shared, unsigned flags), (to, f, threads, shared, flags), pretend_int(to, 2))
CALL(cudaMemGetInfo, (size_t *available, size_t *all), (available, all), pretend_free_bytes(available, all))
CALL(cudaMemcpy, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind), (to, from, bytes, kind), pretend_copy(to, from, bytes))
CALL(cudaMemcpyAsync, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t s), (to, from, bytes, kind, s), pretend_copy(to, from, bytes))
CALL(cudaMemcpy2DAsync, (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t s), (to, to_pitch, from, from_pitch, width, height, kind, s), pretend_copy_lines(to, to_pitch, from, from_pitch, width, height))
CALL(cudaMemset, (void *p, int byte, size_t bytes), (p, byte, bytes), pretend_set(p, byte, bytes))
CALL(cudaMemsetAsync, (void *p, int byte, size_t bytes, cudaStream_t s), (p, byte, bytes, s), pretend_set(p, byte, bytes))
CALL(cudaDeviceSynchronize, (void), (), cudaSuccess)
CALL(cudaStreamSynchronize, (cudaStream_t s), (s), cudaSuccess)
CALL(cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t event, unsigned flags), (s, event, flags), cudaSuccess)
CALL(cudaStreamIsCapturing, (cudaStream_t s, enum cudaStreamCaptureStatus *status), (s, status), pretend_int((int *)status, cudaStreamCaptureStatusNone))
CALL(cudaEventRecord, (cudaEvent_t event, cudaStream_t s), (event, s), cudaSuccess)
CALL(cudaEventSynchronize, (cudaEvent_t event), (event), cudaSuccess)
CALL(cudaLaunchHostFunc, (cudaStream_t s, cudaHostFn_t f, void *user), (s, f, user), pretend_call(f, user))
CALL(cudaLaunchKernel, (const void *f, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t s), (f, grid, block, arguments, shared, s), cudaSuccess)
CALL(cudaLaunchCooperativeKernel, (const void *f, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t s), (f, grid, block, arguments, shared, s), cudaSuccess)
CALL(cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *f, void **arguments), (config, f, arguments), cudaSuccess)
#if CUDART_VERSION >= 13000 /* what <<<...>>> calls */
CALL(__cudaLaunchKernel, (cudaKernel_t f, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t s), (f, grid, block, arguments, shared, s), cudaSuccess)
#endif
MAKE(cudaMalloc, (void **p, size_t bytes), (p, bytes), bytes)
MAKE(cudaMallocHost, (void **p, size_t bytes), (p, bytes), bytes)
MAKE(cudaStreamCreateWithFlags, (cudaStream_t *p, unsigned flags), (p, flags), 1)
MAKE(cudaEventCreateWithFlags, (cudaEvent_t *p, unsigned flags), (p, flags), 1)
MAKE(cudaEventCreate, (cudaEvent_t *p), (p), 1)
MAKE(cudaMallocArray, (cudaArray_t *p, const struct cudaChannelFormatDesc *format, size_t width, size_t height, unsigned flags), (p, format, width, height, flags), 1)
MAKE(cudaCreateTextureObject, (cudaTextureObject_t *p, const struct cudaResourceDesc *of, const struct cudaTextureDesc *how, const struct cudaResourceViewDesc *view), (p, of, how, view), 1)
MAKE(cudaCreateSurfaceObject, (cudaSurfaceObject_t *p, const struct cudaResourceDesc *of), (p, of), 1)
FREE(cudaFree, void *)
FREE(cudaFreeHost, void *)
FREE(cudaStreamDestroy, cudaStream_t)
FREE(cudaEventDestroy, cudaEvent_t)
FREE(cudaFreeArray, cudaArray_t)
FREE(cudaDestroyTextureObject, cudaTextureObject_t)
FREE(cudaDestroySurfaceObject, cudaSurfaceObject_t)
/* clang-format on */

/* Memory that the library has allocated itself.  Without a GPU it is refused, and cudaMallocHost is called instead. */
DECLARE(cudaHostRegister, (void *p, size_t bytes, unsigned flags));
cudaError_t __wrap_cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
    cudaError_t e = cudaErrorNotSupported;
    if (fails("cudaHostRegister", true)) return cudaErrorMemoryAllocation;
    if (!faults.pretends) e = __real_cudaHostRegister(p, bytes, flags);
    faults.live += e == cudaSuccess;
    return e;
}

DECLARE(cudaHostUnregister, (void *p));
cudaError_t __wrap_cudaHostUnregister(void *p)
{
    const cudaError_t e = faults.pretends ? cudaErrorNotSupported : __real_cudaHostUnregister(p);
    faults.live -= e == cudaSuccess;
    return e;
}

/* The error is forgotten, and so is one that the run-time has found itself. */
DECLARE(cudaGetLastError, (void));
cudaError_t __wrap_cudaGetLastError(void)
{
    const cudaError_t ours = (cudaError_t)faults.last;
    const cudaError_t real = faults.pretends ? cudaSuccess : __real_cudaGetLastError();
    faults.last = cudaSuccess;
    return ours ? ours : real;
}

DECLARE(cudaPeekAtLastError, (void));
cudaError_t __wrap_cudaPeekAtLastError(void)
{
    if (faults.last) return (cudaError_t)faults.last;
    return faults.pretends ? cudaSuccess : __real_cudaPeekAtLastError();
}
