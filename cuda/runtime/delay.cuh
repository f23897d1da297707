/* delay.cuh: for tests: hold up whoever comes by, at random, so that orders come about which are rare.
 *
 * Kernels whose blocks, or warps, wait for one another call delay where it matters in which order things
 * happen: when a task has been taken, before something is published, before a look whether something has been.
 * Nothing is done unless the library was configured with --enable-delays. */
#ifndef TRS_DELAY_CUH
#define TRS_DELAY_CUH

#ifdef TRS_DELAYS

/* One in eight times up to 1 us, of these one in sixteen up to 16 us; the lanes of a warp that come together
 * go on together. */
__device__ inline void delay()
{
    unsigned r;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(r)::"memory");
    r += (blockIdx.x * 32 + threadIdx.x / 32) * 0x9e3779b1u;
    r = (r ^ r >> 16) * 0x85ebca6bu;
    r = (r ^ r >> 13) * 0xc2b2ae35u;
    r ^= r >> 16;
    if (r % 8) return;
    const unsigned ns = r / 8 % 16 ? r / 128 % 1024 : r / 128 % 16384;
    asm volatile("nanosleep.u32 %0;" ::"r"(ns) : "memory");
}

#else

__device__ inline void delay() {}

#endif
#endif
