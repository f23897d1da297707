/* public.cu: the public functions for callers without nvcc: memory of a device, copies, its name, and timers.
 *
 * Each public function is a pair of trs_enter and trs_leave around a static function, which does the work and
 * returns early if an argument is wrong (base/call.h). */
#include "config.h"

#include "device.cuh"

#include <cstdio>
#include <new>

static int use(int device)
{
    if (device <= 0) return trs_fail(TRS_EARG, "device %d is not TRS_CUDA (k)", device);
    return cuda_status(set_device(device - 1), "cudaSetDevice");
}

static int new_memory(int device, size_t bytes, void **p)
{
    if (!p) return trs_fail(TRS_EARG, "p is NULL");
    *p = NULL;
    int rc = use(device);
    if (rc || !cuda_failed(cudaMalloc(p, bytes ? bytes : 1))) return rc;
    return trs_fail(TRS_EMEM, "out of device memory: %.3g bytes", (double)bytes);
}

int trs_device_new(int device, size_t bytes, void **p)
{
    trs_enter();
    return trs_leave(new_memory(device, bytes, p));
}

void trs_device_free(int device, void *p)
{
    trs_enter();
    if (p && !use(device)) cudaFree(p);
    trs_leave_silently();
}

static int check_copy(int device, const void *to, const void *from, size_t bytes)
{
    if (bytes && (!to || !from)) return trs_fail(TRS_EARG, "copy: to or from is NULL");
    return use(device);
}

static int copy(int device, void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    int rc = check_copy(device, to, from, bytes);
    if (rc) return rc;
    return cuda_status(copy_and_wait(to, from, bytes, kind), "copy");
}

int trs_device_put(int device, void *to, const void *from, size_t bytes)
{
    trs_enter();
    return trs_leave(copy(device, to, from, bytes, cudaMemcpyHostToDevice));
}

int trs_device_get(int device, void *to, const void *from, size_t bytes)
{
    trs_enter();
    return trs_leave(copy(device, to, from, bytes, cudaMemcpyDeviceToHost));
}

static int copy_on_stream(int device, void *to, const void *from, size_t bytes, void *stream)
{
    int rc = check_copy(device, to, from, bytes);
    if (rc || bytes == 0) return rc;
    return cuda_status(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice,
                                       static_cast<cudaStream_t>(stream)),
                       "copy on a stream");
}

int trs_device_copy(int device, void *to, const void *from, size_t bytes, void *stream)
{
    trs_enter();
    return trs_leave(copy_on_stream(device, to, from, bytes, stream));
}

static int name_of(int device, char *name, size_t size)
{
    cudaDeviceProp p;
    int driver = 0;
    if (!name || device <= 0) return trs_fail(TRS_EARG, "name is NULL, or device is the host");
    if (trs_gpu_probe(device - 1, name, size)) return trs_fail(TRS_EDEVICE, "%s", name);
    int rc = cuda_status(cudaGetDeviceProperties(&p, device - 1), "cudaGetDeviceProperties");
    if (rc) return rc;
    cudaDriverGetVersion(&driver);
    snprintf(name, size, "%s, %d SMs, %.0f GiB, driver for CUDA %d.%d", p.name,
             p.multiProcessorCount, (double)p.totalGlobalMem / (1 << 30), driver / 1000,
             driver % 1000 / 10);
    return TRS_OK;
}

int trs_device_name(int device, char *name, size_t size)
{
    trs_enter();
    return trs_leave(name_of(device, name, size));
}

struct trs_timer {
    cudaEvent_t start, stop;
};

static int new_timer(trs_timer **timer, int device)
{
    if (!timer) return trs_fail(TRS_EARG, "timer is NULL");
    *timer = NULL;
    int rc = use(device);
    if (rc) return rc;
    trs_timer *t = new (std::nothrow) trs_timer();
    if (!t) return trs_fail(TRS_EMEM, "out of memory for a timer");
    rc = cuda_status(cudaEventCreate(&t->start), "cudaEventCreate");
    if (!rc) rc = cuda_status(cudaEventCreate(&t->stop), "cudaEventCreate");
    if (rc) trs_timer_destroy(t);
    else *timer = t;
    return rc;
}

int trs_timer_create(trs_timer **timer, int device)
{
    trs_enter();
    return trs_leave(new_timer(timer, device));
}

static int start_timer(trs_timer *t, void *stream)
{
    if (!t) return trs_fail(TRS_EARG, "timer is NULL");
    return cuda_status(cudaEventRecord(t->start, static_cast<cudaStream_t>(stream)),
                       "cudaEventRecord");
}

int trs_timer_start(trs_timer *t, void *stream)
{
    trs_enter();
    return trs_leave(start_timer(t, stream));
}

static int stop_timer(trs_timer *t, void *stream, double *seconds)
{
    float ms = 0;
    if (!t || !seconds) return trs_fail(TRS_EARG, "timer or seconds is NULL");
    int rc =
        cuda_status(cudaEventRecord(t->stop, static_cast<cudaStream_t>(stream)), "cudaEventRecord");
    if (!rc) rc = cuda_status(cudaEventSynchronize(t->stop), "cudaEventSynchronize");
    if (!rc) rc = cuda_status(cudaEventElapsedTime(&ms, t->start, t->stop), "cudaEventElapsedTime");
    if (!rc) *seconds = 1e-3 * ms;
    return rc;
}

int trs_timer_stop(trs_timer *t, void *stream, double *seconds)
{
    trs_enter();
    return trs_leave(stop_timer(t, stream, seconds));
}

void trs_timer_destroy(trs_timer *t)
{
    if (!t) return;
    if (t->start) cudaEventDestroy(t->start);
    if (t->stop) cudaEventDestroy(t->stop);
    delete t;
}
