/* device.cu: whether there is a device that can run our kernels, which one is current, and how many blocks it
 * holds. */
#include "config.h"

#include "device.cuh"
#include "launch.cuh"

#include <cstdio>
#include <cstdlib>

int cuda_status(cudaError_t e, const char *what)
{
    if (e == cudaSuccess) return TRS_OK;
    (void)cudaGetLastError();
    return trs_fail(TRS_EDEVICE, "%s: %s: %s", what, cudaGetErrorName(e), cudaGetErrorString(e));
}

bool cuda_failed(cudaError_t e)
{
    if (e != cudaSuccess) (void)cudaGetLastError();
    return e != cudaSuccess;
}

/* ---- the current device --------------------------------------------------------------------------- */

cudaError_t set_device(int device)
{
    int *const before = trs_device_to_restore(), now = -1;
    const cudaError_t e = cudaGetDevice(&now);
    if (e != cudaSuccess || now == device) return e;
    if (*before < 0) *before = now;
    return cudaSetDevice(device);
}

void trs_gpu_restore(int device)
{
    (void)cuda_failed(cudaSetDevice(device));
}

int trs_gpu_use(trs_context *ctx)
{
    return cuda_status(set_device(ctx->device), "cudaSetDevice");
}

/* ---- what it is ------------------------------------------------------------------------------------ */

static __global__ void probe_kernel() {}

/* A device whose architecture the library was not compiled for is found by asking for the attributes of a
 * kernel, which has to be loaded for that. */
int trs_gpu_probe(int device, char *why, size_t size)
{
    int count = 0;
    cudaFuncAttributes a;
    cudaError_t e = cudaGetDeviceCount(&count);
    if (e == cudaSuccess && device >= count) {
        snprintf(why, size, "no CUDA device %d, there are %d", device, count);
        return TRS_EDEVICE;
    }
    if (e == cudaSuccess) e = set_device(device);
    if (e == cudaSuccess) e = cudaFuncGetAttributes(&a, probe_kernel);
    if (e == cudaSuccess) return TRS_OK;
    snprintf(why, size, "%s: %s", cudaGetErrorName(e), cudaGetErrorString(e));
    (void)cudaGetLastError();
    return TRS_EDEVICE;
}

int trs_gpu_chip(int device, int *major, int *minor, int *bus_bits)
{
    cudaError_t e = cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, device);
    if (e == cudaSuccess)
        e = cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, device);
    if (e == cudaSuccess)
        e = cudaDeviceGetAttribute(bus_bits, cudaDevAttrGlobalMemoryBusWidth, device);
    return cuda_failed(e) ? TRS_EDEVICE : TRS_OK;
}

/* ---- how many blocks it holds ------------------------------------------------------------------------- */

int multiprocessors()
{
    int device = 0, count = 1;
    if (cuda_status(cudaGetDevice(&device), "cudaGetDevice") ||
        cuda_status(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
                    "multiprocessors"))
        return 1;
    TRS_ASSERT(count > 0);
    return count;
}

int waiting_blocks(const void *kernel, int threads, size_t shared, double wanted)
{
    const char *limit = getenv("TRISOLVE_BLOCKS");
    int each = 0;
    if (cuda_status(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared),
                    "blocks of a kernel"))
        return 0;
    int most = each * multiprocessors();
    if (limit && atoi(limit) > 0) most = min(most, atoi(limit));
    return wanted < most ? (int)wanted : most;
}

/* ---- streams ------------------------------------------------------------------------------------------- */

int trs_gpu_wait(void *stream)
{
    return cuda_status(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)),
                       "work on the device");
}

bool trs_gpu_is_capturing(void *stream)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (cuda_failed(cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status)))
        return false;
    return status != cudaStreamCaptureStatusNone;
}
