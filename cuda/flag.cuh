/* flag.cuh: a number that is its own flag.
 *
 * Before a solve every number of a buffer is set to one reserved bit pattern (all ones, a NaN).  A
 * relaxed load of the whole number is then both the data and the news: as long as it has the pattern
 * it has not been written.  Nothing else is published with it, so no fence is needed.  A computed NaN
 * that happens to have the pattern is rewritten as the usual quiet NaN, so real NaNs pass through.
 * The parts of a complex number are two flags; it is there when both are. */
#ifndef TRS_FLAG_CUH
#define TRS_FLAG_CUH

#include "cuda.cuh"

__device__ inline bool flag_load(const double *p, double &v)
{
    unsigned long long w;
    asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(w) : "l"(p) : "memory");
    v = __longlong_as_double((long long)w);
    return w != ~0ull;
}

__device__ inline bool flag_load(const float *p, float &v)
{
    unsigned w;
    asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(w) : "l"(p) : "memory");
    v = __uint_as_float(w);
    return w != ~0u;
}

__device__ inline void flag_store(double *p, double v)
{
    unsigned long long w = (unsigned long long)__double_as_longlong(v);
    if (w == ~0ull) w = 0x7ff8000000000000ull;
    asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(p), "l"(w) : "memory");
}

__device__ inline void flag_store(float *p, float v)
{
    unsigned w = __float_as_uint(v);
    if (w == ~0u) w = 0x7fc00000u;
    asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(p), "r"(w) : "memory");
}

__device__ inline bool flag_load(const cuDoubleComplex *p, cuDoubleComplex &v)
{
    bool re = flag_load(&p->x, v.x);
    return flag_load(&p->y, v.y) && re;
}

__device__ inline bool flag_load(const cuFloatComplex *p, cuFloatComplex &v)
{
    bool re = flag_load(&p->x, v.x);
    return flag_load(&p->y, v.y) && re;
}

__device__ inline void flag_store(cuDoubleComplex *p, cuDoubleComplex v)
{
    flag_store(&p->x, v.x);
    flag_store(&p->y, v.y);
}

__device__ inline void flag_store(cuFloatComplex *p, cuFloatComplex v)
{
    flag_store(&p->x, v.x);
    flag_store(&p->y, v.y);
}

#endif
