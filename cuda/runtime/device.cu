/* device.cu: gpu.h answered by the CUDA run-time, and the rows of a part on the device. */
#include "config.h"

#include "cuda.cuh"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

/* ---- is there a device ------------------------------------------------------------------------ */

static __global__ void probe_kernel() {}

/* The device that the caller has left current is noted, for trs_leave to restore. */
static cudaError_t set_device(int device)
{
    int *const before = trs_device_to_restore(), now = -1;
    const cudaError_t e = cudaGetDevice(&now);
    if (e != cudaSuccess || now == device) return e;
    if (*before < 0) *before = now;
    return cudaSetDevice(device);
}

void trs_gpu_restore(int device)
{
    if (cudaSetDevice(device) != cudaSuccess) (void)cudaGetLastError();
}

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
    if (e == cudaSuccess) return TRS_OK;
    (void)cudaGetLastError();
    return TRS_EDEVICE;
}

/* A failure is put into words, and not left for the next launch to find. */
static int told(cudaError_t e, const char *what)
{
    if (e == cudaSuccess) return TRS_OK;
    (void)cudaGetLastError();
    return trs_fail(TRS_EDEVICE, "%s: %s: %s", what, cudaGetErrorName(e), cudaGetErrorString(e));
}

int trs_gpu_use(trs_context *ctx)
{
    return told(set_device(ctx->device), "cudaSetDevice");
}

/* ---- how many blocks ------------------------------------------------------------------------------- */

int multiprocessors()
{
    int device = 0, count = 1;
    if (told(cudaGetDevice(&device), "cudaGetDevice") ||
        told(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
             "multiprocessors"))
        return 1;
    return count;
}

int waiting_blocks(const void *kernel, int threads, size_t shared, double wanted)
{
    const char *limit = getenv("TRISOLVE_BLOCKS");
    int each = 0;
    if (told(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared),
             "blocks of a kernel"))
        return 0;
    int most = each * multiprocessors();
    if (limit && atoi(limit) > 0) most = min(most, atoi(limit));
    return wanted < most ? (int)wanted : most;
}

/* ---- memory -------------------------------------------------------------------------------------- */

void *trs_gpu_new(trs_context *ctx, int64_t count, size_t size, const char *what)
{
    void *p = NULL;
    const trs_device_memory *mem = &ctx->device_memory;
    const size_t bytes = count > 0 ? (size_t)count * size : 1;
    cudaError_t e = cudaSuccess;
    if (mem->alloc) p = mem->alloc(mem->user, TRS_CUDA(ctx->device), bytes);
    else e = cudaMalloc(&p, bytes);
    if (e == cudaSuccess && p) return p;
    (void)cudaGetLastError();
    trs_fail(TRS_EMEM, "%s: %.3g bytes of device memory for %s",
             mem->alloc ? "no memory" : cudaGetErrorName(e), (double)bytes, what);
    return NULL;
}

void trs_gpu_free(trs_context *ctx, void *p)
{
    const trs_device_memory *mem = &ctx->device_memory;
    if (!p) return;
    if (mem->free) mem->free(mem->user, TRS_CUDA(ctx->device), p);
    else cudaFree(p);
}

void trs_gpu_drop_scratch(trs_context *ctx)
{
    if (ctx->scratch && ctx->device_memory.free) (void)trs_gpu_wait(NULL); /* cudaFree waits */
    trs_gpu_free(ctx, ctx->scratch);
    ctx->scratch = NULL;
    ctx->scratch_bytes = 0;
}

void *trs_gpu_scratch(trs_context *ctx, int64_t bytes, const char *what)
{
    if (ctx->scratch && ctx->scratch_bytes >= bytes) return ctx->scratch;
    trs_gpu_drop_scratch(ctx);
    ctx->scratch = trs_gpu_new(ctx, bytes, 1, what);
    if (ctx->scratch) ctx->scratch_bytes = bytes;
    return ctx->scratch;
}

/* Without a sentence, where there is a way around it. */
static bool failed(cudaError_t e)
{
    if (e != cudaSuccess) (void)cudaGetLastError();
    return e != cudaSuccess;
}

/* Large pages, touched and then registered: that takes a fraction of what cudaMallocHost does, whose pages are
 * small ones.  Where nothing can be registered, it has to do. */
void *trs_gpu_pinned_new(const trs_context *ctx, size_t bytes)
{
    const size_t some = bytes > 0 ? bytes : 1;
    void *p = trs_alloc_pages(some);
    if (p) trs_touch(ctx, p, some);
    if (p && !failed(cudaHostRegister(p, some, cudaHostRegisterDefault))) return p;
    free(p);
    return failed(cudaMallocHost(&p, some)) ? NULL : p;
}

void trs_gpu_pinned_free(void *p)
{
    if (!p) return;
    if (failed(cudaHostUnregister(p))) (void)failed(cudaFreeHost(p));
    else free(p);
}

/* cudaMemcpy from pageable memory may return before the last bytes have arrived, and a stream that does
 * not wait for the default one would not see them.  What goes to the host has arrived when it returns. */
static cudaError_t copy_and_wait(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    if (!bytes) return cudaSuccess;
    cudaError_t e = cudaMemcpy(to, from, bytes, kind);
    return e == cudaSuccess && kind == cudaMemcpyHostToDevice ? cudaStreamSynchronize(NULL) : e;
}

/* Large arrays go through pinned memory, filled or emptied by all threads while the device has the other stages:
 * four times as fast as cudaMemcpy, whose one thread does the same. */
enum { /* bytes; a ring that is there is used for less than one is made for */
       STAGES = 3,
       STAGE = 4 << 20,
       RING_FROM = 12 << 20,
       RING_TOO_FROM = 2 << 20,
       TOUCHED_FROM = 4 << 20
};

struct trs_ring {
    char *buffer;             /* [STAGES][STAGE] */
    cudaEvent_t done[STAGES]; /* the device with each */
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

/* NULL: it will do without. */
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

static size_t part_at(size_t at, size_t bytes)
{
    return bytes - at < STAGE ? bytes - at : (size_t)STAGE;
}

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

/* A stage is emptied, then filled again by the device, which fills the others meanwhile. */
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

static const trs_ring *ring_for(trs_context *ctx, size_t bytes)
{
    const size_t from = ctx->ring ? RING_TOO_FROM : RING_FROM;
    return bytes >= from && ctx->threads > 1 ? ring_of(ctx) : NULL;
}

int trs_gpu_put(trs_context *ctx, void *to, const void *from, size_t bytes)
{
    const trs_ring *r = ring_for(ctx, bytes);
    cudaError_t e = r ? put_by_ring(ctx, r, (char *)to, (const char *)from, bytes)
                      : copy_and_wait(to, from, bytes, cudaMemcpyHostToDevice);
    return told(e, "copy to the device");
}

int trs_gpu_get(trs_context *ctx, void *to, const void *from, size_t bytes)
{
    if (bytes >= TOUCHED_FROM) trs_touch(ctx, to, bytes);
    const trs_ring *r = ring_for(ctx, bytes);
    cudaError_t e = r ? get_by_ring(ctx, r, (char *)to, (const char *)from, bytes)
                      : copy_and_wait(to, from, bytes, cudaMemcpyDeviceToHost);
    return told(e, "copy from the device");
}

int64_t count_flags(trs_context *ctx, const int *flags, int64_t count)
{
    int *there = (int *)trs_new(ctx, count, sizeof *there, "flags");
    const bool known = there && !trs_gpu_get(ctx, there, flags, (size_t)count * sizeof *there);
    int64_t set = known ? 0 : count;
    for (int64_t k = 0; k < count && known; k++) set += there[k] != 0;
    if (!known) trs_forget();
    trs_free(&ctx->mem, there);
    return set;
}

int trs_gpu_copy_lines(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                       size_t height, bool to_device, void *stream)
{
    cudaMemcpyKind kind = to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    cudaStream_t s = static_cast<cudaStream_t>(stream);
    cudaError_t e = height == 1 || (to_pitch == width && from_pitch == width)
                        ? cudaMemcpyAsync(to, from, width * height, kind, s)
                        : cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, s);
    return told(e, to_device ? "copy to the device" : "copy from the device");
}

int trs_gpu_wait(void *stream)
{
    return told(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "work on the device");
}

bool trs_gpu_is_capturing(void *stream)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status) == cudaSuccess)
        return status != cudaStreamCaptureStatusNone;
    (void)cudaGetLastError();
    return false;
}

void *device_copy(trs_context *ctx, const void *from, int64_t count, size_t size, const char *what)
{
    void *p = trs_gpu_new(ctx, count, size, what);
    if (p && trs_gpu_put(ctx, p, from, (size_t)count * size)) {
        trs_gpu_free(ctx, p);
        p = NULL;
    }
    return p;
}

/* One block for all three: making and freeing each takes as long as a copy of a megabyte. */
static size_t lay_out(device_csr *d, char *base, int64_t rows, int64_t nnz, size_t size)
{
    size_t used = 0;
    d->ptr = carve<int64_t>(base, &used, rows + 1);
    d->idx = carve<int32_t>(base, &used, nnz);
    d->val = carve<char>(base, &used, nnz * (int64_t)size);
    return used;
}

/* The row pointers of a part count from its first entry. */
static int put_pointers(const trs_instance *inst, device_csr *d)
{
    trs_context *ctx = inst->ctx;
    const int64_t *Lp = inst->op->tri.ptr + inst->from;
    const int64_t count = (int64_t)(inst->op->tri.n) + 1;
    const size_t bytes = (size_t)count * sizeof *Lp;
    if (Lp[0] == 0) return trs_gpu_put(ctx, d->ptr, Lp, bytes);
    int64_t *ptr = (int64_t *)trs_new(ctx, count, sizeof *ptr, "row pointers of a inst");
    if (!ptr) return TRS_EMEM;
    for (int64_t k = 0; k < count; k++) ptr[k] = Lp[k] - Lp[0];
    const int rc = trs_gpu_put(ctx, d->ptr, ptr, bytes);
    trs_free(&ctx->mem, ptr);
    return rc;
}

int device_csr_new(const trs_instance *inst, device_csr *d)
{
    trs_context *ctx = inst->ctx;
    const trs_tri *t = &inst->op->tri;
    const int64_t begin = t->ptr[inst->from], nnz = t->ptr[inst->to] - begin;
    const int64_t rows = inst->op->tri.n;
    const size_t size = trs_size(t->dtype);
    *d = {};
    void *base = trs_gpu_new(ctx, (int64_t)lay_out(d, NULL, rows, nnz, size), 1, "a triangle");
    if (!base) return TRS_EMEM;
    lay_out(d, (char *)base, rows, nnz, size);
    const int rc = put_pointers(inst, d);
    return rc ? rc : trs_gpu_put(ctx, d->idx, t->idx + begin, (size_t)nnz * sizeof *t->idx);
}

int device_csr_values(const trs_instance *inst, device_csr *d)
{
    const trs_tri *t = &inst->op->tri;
    const size_t size = trs_size(t->dtype);
    const int64_t begin = t->ptr[inst->from], nnz = t->ptr[inst->to] - begin;
    return trs_gpu_put(inst->ctx, d->val, (const char *)t->val + (size_t)begin * size,
                       (size_t)nnz * size);
}

int device_csr_take(const trs_instance *inst, device_csr *d, const void *val, void *stream)
{
    const trs_tri *t = &inst->op->tri;
    const size_t size = trs_size(t->dtype);
    const int64_t begin = t->ptr[inst->from], nnz = t->ptr[inst->to] - begin;
    return trs_gpu_take_values(t->dtype, nnz, NULL, (const char *)val + (size_t)begin * size,
                               d->val, stream);
}

void device_csr_free(trs_context *ctx, device_csr *d)
{
    trs_gpu_free(ctx, d->ptr); /* the others are in its block */
}

/* ---- changing the order of X ------------------------------------------------------------------------ */

/* One thread an element; y(k) = x(perm(k)), or the other way round; perm NULL: the identity.
 * Bytes: 4 + 2 elements each, one of the two at random. */
template <class T>
static __global__ void reorder_kernel(int32_t n, int nrhs, const int32_t *perm, view<T> x,
                                      view<T> y, bool back)
{
    int64_t t = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (t >= (int64_t)n * nrhs) return;
    int64_t k = t % n, r = t / n, i = perm ? perm[k] : k;
    if (back) x(i, r) = y(k, r);
    else y(k, r) = x(i, r);
}

static int reorder(trs_dtype t, int32_t n, int nrhs, const int32_t *perm, trs_view x, trs_view y,
                   bool back, void *stream)
{
    const int threads = 256;
    const unsigned blocks = (unsigned)(((int64_t)n * nrhs + threads - 1) / threads);
    return for_type(t, [&](auto zero) {
        using T = decltype(zero);
        reorder_kernel<T><<<blocks, threads, 0, static_cast<cudaStream_t>(stream)>>>(
            n, nrhs, perm, typed<T>(x), typed<T>(y), back);
        return launched();
    });
}

int trs_gpu_gather(trs_dtype t, int32_t n, int nrhs, const int32_t *perm, trs_view x, trs_view y,
                   void *stream)
{
    return reorder(t, n, nrhs, perm, x, y, false, stream);
}

int trs_gpu_scatter(trs_dtype t, int32_t n, int nrhs, const int32_t *perm, trs_view y, trs_view x,
                    void *stream)
{
    return reorder(t, n, nrhs, perm, x, y, true, stream);
}

template <class T>
static __global__ void leave_out_kernel(int32_t n, int nrhs, const unsigned char *skip, view<T> b,
                                        view<T> x)
{
    int64_t t = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (t >= (int64_t)n * nrhs) return;
    int64_t i = t % n, r = t / n;
    x(i, r) = skip[i] ? number<T>(0) : b(i, r);
}

int trs_gpu_leave_out(trs_dtype t, int32_t n, int nrhs, const unsigned char *skip, trs_view b,
                      trs_view x, void *stream)
{
    const int threads = 256;
    const unsigned blocks = (unsigned)(((int64_t)n * nrhs + threads - 1) / threads);
    return for_type(t, [&](auto zero) {
        using T = decltype(zero);
        leave_out_kernel<T><<<blocks, threads, 0, static_cast<cudaStream_t>(stream)>>>(
            n, nrhs, skip, typed<T>(b), typed<T>(x));
        return launched();
    });
}

/* ---- device memory and events for callers without nvcc ----------------------------------------------- */

static int use(int device)
{
    if (device <= 0) return trs_fail(TRS_EARG, "device %d is not TRS_CUDA (k)", device);
    return told(set_device(device - 1), "cudaSetDevice");
}

static int new_memory(int device, size_t bytes, void **p)
{
    if (!p) return trs_fail(TRS_EARG, "p is NULL");
    *p = NULL;
    int rc = use(device);
    if (rc || !failed(cudaMalloc(p, bytes ? bytes : 1))) return rc;
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
    return rc ? rc : told(copy_and_wait(to, from, bytes, kind), "copy");
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
    return told(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice,
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
    int rc = told(cudaGetDeviceProperties(&p, device - 1), "cudaGetDeviceProperties");
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
    rc = told(cudaEventCreate(&t->start), "cudaEventCreate");
    if (!rc) rc = told(cudaEventCreate(&t->stop), "cudaEventCreate");
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
    return told(cudaEventRecord(t->start, static_cast<cudaStream_t>(stream)), "cudaEventRecord");
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
    int rc = told(cudaEventRecord(t->stop, static_cast<cudaStream_t>(stream)), "cudaEventRecord");
    if (!rc) rc = told(cudaEventSynchronize(t->stop), "cudaEventSynchronize");
    if (!rc) rc = told(cudaEventElapsedTime(&ms, t->start, t->stop), "cudaEventElapsedTime");
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
