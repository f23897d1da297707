/* delay.cuh: random delays, which make rare orders of events common in tests.
 *
 * The hazard of kernels whose blocks or warps wait for one another is an order of events that their author did
 * not foresee, and that a quiet machine shows once in a million solves.  Such kernels call delay wherever the
 * order matters: when a task has been taken, before a number is published, before a number is polled.  In a
 * library configured with --enable-delays a call delays the warp at random; otherwise it does nothing.
 *
 * A delay is a nanosleep, which lets other warps run.  It never waits for an event, so a solve that ends
 * without it also ends with it.  The random number comes from the clock of the SM: no state, and no two runs
 * alike. */
#ifndef TRS_DELAY_CUH
#define TRS_DELAY_CUH

#ifdef TRS_DELAYS

/* One call in eight sleeps for up to 1 us, and one in sixteen of these for up to 16 us.  Lanes of a warp that
 * come together draw the same number, so that they go on together. */
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
