/* device.cu: whether a device can run our kernels, which device is current, and how many blocks it holds. */
#include "config.h"

#include "device.cuh"
#include "launch.cuh"

#include <cstdio>
#include <cstdlib>
#include <mutex>

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

static cudaError_t ask_chip(int device, trs_chip *chip)
{
    int kilohertz = 0, memory_kilohertz = 0, bus_bits = 0;
    const struct {
        cudaDeviceAttr what;
        int *answer;
    } questions[] = {
        {cudaDevAttrComputeCapabilityMajor, &chip->major},
        {cudaDevAttrComputeCapabilityMinor, &chip->minor},
        {cudaDevAttrMultiProcessorCount, &chip->sms},
        {cudaDevAttrClockRate, &kilohertz},
        {cudaDevAttrMemoryClockRate, &memory_kilohertz},
        {cudaDevAttrGlobalMemoryBusWidth, &bus_bits},
    };
    for (const auto &q : questions) {
        const cudaError_t e = cudaDeviceGetAttribute(q.answer, q.what, device);
        if (e != cudaSuccess) return e;
    }
    chip->clock = 1e3 * kilohertz;
    chip->bandwidth = 2 * 1e3 * memory_kilohertz * bus_bits / 8; /* double data rate */
    return cudaSuccess;
}

/* Every plan asks.  Clock rates are read over PCIe, which takes a millisecond, so the answer is kept. */
int trs_gpu_chip(int device, trs_chip *chip)
{
    enum { KEPT = 64 };
    static trs_chip kept[KEPT];
    static std::mutex lock;
    const std::lock_guard<std::mutex> guard(lock);
    const bool keep = device >= 0 && device < KEPT;
    *chip = {};
    if (keep && kept[device].sms) *chip = kept[device];
    else if (cuda_failed(ask_chip(device, chip))) return TRS_EDEVICE;
    if (keep) kept[device] = *chip;
    return TRS_OK;
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

unsigned percent_shared(int blocks, size_t shared)
{
    const int sms = multiprocessors(), each = (blocks + sms - 1) / sms;
    int device = 0, most = 0, kept = 0; /* of an SM; by the system, for each block */
    if (cuda_failed(cudaGetDevice(&device)) ||
        cuda_failed(
            cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device)) ||
        cuda_failed(cudaDeviceGetAttribute(&kept, cudaDevAttrReservedSharedMemoryPerBlock, device)))
        return 100;
    const size_t needed = (size_t)each * (shared + (size_t)kept) * 100 + (size_t)most - 1;
    return (unsigned)min((size_t)100, needed / (size_t)most);
}

/* ---- streams ------------------------------------------------------------------------------------------- */

/* The error of a launch before it, too. */
int trs_gpu_wait(void *stream)
{
    const cudaError_t before = cudaGetLastError();
    const cudaError_t waited = cudaStreamSynchronize(static_cast<cudaStream_t>(stream));
    return cuda_status(before ? before : waited, "work on the device");
}

bool trs_gpu_is_capturing(void *stream)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (cuda_failed(cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status)))
        return false;
    return status != cudaStreamCaptureStatusNone;
}
