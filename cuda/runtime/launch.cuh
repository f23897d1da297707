/* launch.cuh: the number of threads of a launch, the shared memory of its blocks, and the error
 * that it leaves. */
#ifndef TRS_LAUNCH_CUH
#define TRS_LAUNCH_CUH

#include "device.cuh"

/* ---- a thread an element ------------------------------------------------------------------------- */

enum { PLAIN = 256 }; /* threads of a block in which each has an element to itself */

inline unsigned blocks_of(int64_t count, int threads = PLAIN)
{
    return (unsigned)((count + threads - 1) / threads);
}

/* In blocks of PLAIN threads; the second where indices have 32 bits. */
__device__ inline int64_t index_of_thread()
{
    return blockIdx.x * (int64_t)PLAIN + threadIdx.x;
}

__device__ inline int32_t index32_of_thread()
{
    return (int32_t)(blockIdx.x * PLAIN + threadIdx.x);
}

/* ---- sums over many elements ---------------------------------------------------------------------- */

/* No more blocks than are busy at a time: a thread then has every all_threads ()-th element, and each warp adds to a
 * sum once, so that fewer warps mean fewer atomics. */
inline unsigned few_blocks(int64_t count)
{
    return min(blocks_of(count), 2048u);
}

__device__ inline int64_t all_threads()
{
    return gridDim.x * (int64_t)PLAIN;
}

/* Every lane of the warp calls it. */
__device__ inline void add_to(unsigned long long *sum, long long mine)
{
    for (int by = 16; by > 0; by /= 2) mine += __shfl_down_sync(~0u, mine, by);
    if (threadIdx.x % 32 == 0 && mine) atomicAdd(sum, (unsigned long long)mine);
}

/* *to = the larger one of *to and v, of all threads that ask.  The bits of numbers that are not negative have their order, and
 * a NaN without a sign is the largest, so nothing depends on who comes first. */
__device__ inline void atomic_larger(double *to, double v)
{
    atomicMax((unsigned long long *)to, (unsigned long long)__double_as_longlong(v));
}

/* ---- blocks that wait for one another --------------------------------------------------------------- */

int multiprocessors(); /* of the current device */
/* Blocks of a kernel whose blocks wait for one another: as many as are wanted, but no more than are resident on
 * the current device at once, nor than the environment variable TRISOLVE_BLOCKS says, which is for tests.  0:
 * not even one block fits.  A block that waited for one which the hardware does not start before others end
 * would never be answered, hence the bound; the launch has to be a cooperative one, so that the bound is kept
 * beside other work. */
int waiting_blocks(const void *kernel, int threads, size_t shared, double wanted);

/* Puts the failure of a launch into a sentence, and clears it, so that the next call does not report it
 * again. */
inline int launched()
{
    return cuda_status(cudaGetLastError(), "a kernel was not launched");
}

/* What shared memory the blocks of a launch need, in percent of the most that an SM has.  The rest is L1, where a load has a
 * line while it is under way: the driver would leave L1 as little as the most blocks that fit do. */
unsigned percent_shared(int blocks, size_t shared);

/* Launches a kernel of one argument whose blocks wait for one another. */
template <class A>
inline int launch_together(const void *kernel, int blocks, int threads, const A &argument,
                           cudaStream_t stream, size_t shared = 0)
{
    void *arguments[] = {(void *)&argument};
    cudaLaunchAttribute attribute[2] = {};
    attribute[0].id = cudaLaunchAttributeCooperative;
    attribute[0].val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = attribute;
    config.numAttrs = shared ? 2 : 1;
    attribute[1].id = cudaLaunchAttributePreferredSharedMemoryCarveout;
    if (shared) attribute[1].val.sharedMemCarveout = percent_shared(blocks, shared);
    return cuda_status(cudaLaunchKernelExC(&config, kernel, arguments),
                       "a kernel was not launched");
}

/* Lets a kernel have that much dynamic shared memory. */
template <class K> inline int allow_shared(K kernel, size_t bytes)
{
    return cuda_status(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
        "shared memory of a kernel");
}

/* ---- inside a block ----------------------------------------------------------------------------------- */

/* s[0] = s[0] + ... + s[count-1] by halving.  All threads of the block call it, after s was written and a
 * barrier was passed.  count is at most the size of the block; the order of the sum depends on count alone. */
template <class T> __device__ inline void block_sum(T *s, int count)
{
    TRS_ASSERT(count <= (int)blockDim.x);
    while (count > 1) {
        int half = (count + 1) / 2;
        if ((int)threadIdx.x < count - half)
            s[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + half];
        __syncthreads();
        count = half;
    }
}

/* Dynamic shared memory as numbers of any type.  There may be one extern declaration of it in a program, and
 * its type would have to be the same in every kernel; hence bytes, aligned for the widest number. */
template <class T> __device__ inline T *shared_numbers()
{
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    return reinterpret_cast<T *>(shared_bytes);
}

#endif
