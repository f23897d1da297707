/* busy.cu: a block an SM, with all its shared memory and registers, that does nothing until the host says enough.
 *
 * The host speaks through pinned memory, as nothing else reaches a running kernel.  By itself it ends after
 * LIMIT, so that a test that has failed meanwhile, or a cudaFree, which waits for it, does not hang. */
#include "busy.h"

#include <cuda_runtime.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 1024, REGISTERS = 52, LIMIT = 20 /* s */ };

struct busy {
    volatile int *enough; /* pinned; then [count] 1: this block runs */
    int count;
    cudaStream_t stream;
};

static __device__ unsigned long long nanoseconds()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

/* keep: registers that are full as long as it runs. */
static __global__ void __launch_bounds__(THREADS) busy_kernel(volatile int *enough, unsigned *out)
{
    const unsigned long long end = nanoseconds() + LIMIT * 1000000000ull;
    unsigned keep[REGISTERS], sum = 0;
#pragma unroll
    for (int k = 0; k < REGISTERS; k++) asm volatile("mov.u32 %0, %%clock;" : "=r"(keep[k]));
    if (threadIdx.x == 0) {
        enough[1 + blockIdx.x] = 1;
        while (!*enough && nanoseconds() < end) __nanosleep(2000);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < REGISTERS; k++) sum = sum * 5 + keep[k];
    if (out) *out = sum;
}

static double seconds()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool all_run(const busy *b)
{
    for (int k = 0; k < b->count; k++)
        if (!b->enough[1 + k]) return false;
    return true;
}

int busy_sms(void)
{
    int device = 0, count = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    return count;
}

static bool start(busy *b)
{
    int device = 0, most = 0;
    void *p = NULL;
    if (cudaGetDevice(&device) ||
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) ||
        cudaFuncSetAttribute(busy_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most) ||
        cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking) ||
        cudaMallocHost(&p, (size_t)(b->count + 1) * sizeof(int)))
        return false;
    b->enough = (volatile int *)p;
    for (int k = 0; k <= b->count; k++) b->enough[k] = 0;
    busy_kernel<<<b->count, THREADS, most, b->stream>>>(b->enough, NULL);
    const double late = seconds() + LIMIT / 2;
    while (!all_run(b) && seconds() < late) continue;
    return cudaGetLastError() == cudaSuccess && all_run(b);
}

busy *busy_begin(int count)
{
    busy *b = (busy *)calloc(1, sizeof *b);
    if (!b) return NULL;
    b->count = count;
    if (start(b)) return b;
    busy_end(b);
    return NULL;
}

void busy_end(busy *b)
{
    if (b->enough) *b->enough = 1;
    if (b->stream) cudaStreamSynchronize(b->stream);
    if (b->enough) cudaFreeHost((void *)b->enough);
    if (b->stream) cudaStreamDestroy(b->stream);
    free(b);
}
