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
#include "delay.cuh"

/* What stands there, perhaps the pattern. */
__device__ inline double flag_peek(const double *p)
{
    double v;
    delay();
    asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(v) : "l"(p) : "memory");
    return v;
}

__device__ inline float flag_peek(const float *p)
{
    float v;
    delay();
    asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");
    return v;
}

__device__ inline cuDoubleComplex flag_peek(const cuDoubleComplex *p)
{
    return make_cuDoubleComplex(flag_peek(&p->x), flag_peek(&p->y));
}

__device__ inline cuFloatComplex flag_peek(const cuFloatComplex *p)
{
    return make_cuFloatComplex(flag_peek(&p->x), flag_peek(&p->y));
}

/* Has it been written? */
__device__ inline bool flag_there(double v)
{
    return __double_as_longlong(v) != -1ll;
}

__device__ inline bool flag_there(float v)
{
    return __float_as_int(v) != -1;
}

template <class T> __device__ inline bool flag_there(T v)
{
    return flag_there(v.x) && flag_there(v.y);
}

template <class T> __device__ inline bool flag_load(const T *p, T &v)
{
    v = flag_peek(p);
    return flag_there(v);
}

template <class T> __device__ inline T flag_wait(const T *p)
{
    T v;
    while (!flag_load(p, v)) continue;
    return v;
}

/* v, or the usual quiet NaN where it has the pattern. */
__device__ inline double flag_free(double v)
{
    return flag_there(v) ? v : __longlong_as_double(0x7ff8000000000000ll);
}

__device__ inline float flag_free(float v)
{
    return flag_there(v) ? v : __int_as_float(0x7fc00000);
}

template <class T> __device__ inline T flag_free(T v)
{
    v.x = flag_free(v.x);
    v.y = flag_free(v.y);
    return v;
}

__device__ inline void flag_store(double *p, double v)
{
    delay();
    asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(p), "d"(flag_free(v)) : "memory");
}

__device__ inline void flag_store(float *p, float v)
{
    delay();
    asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" ::"l"(p), "f"(flag_free(v)) : "memory");
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
