/* int_flag.cuh: an integer that is its own flag, as a number is (flag.cuh): -1 is "not yet". */
#ifndef TRS_INT_FLAG_CUH
#define TRS_INT_FLAG_CUH

#include "cuda.cuh"
#include "delay.cuh"

/* One look: the integer, or -1. */
__device__ inline int32_t int_peek(const int32_t *p)
{
    int32_t v;
    delay();
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

/* Once. */
__device__ inline void int_store(int32_t *p, int32_t v)
{
    TRS_ASSERT(v >= 0 && int_peek(p) < 0);
    delay();
    asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

#endif
