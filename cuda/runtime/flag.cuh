/* flag.cuh: a number that is its own flag.
 *
 * Before a solve every number of a buffer is set to one reserved bit pattern (all ones, a NaN).  A
 * relaxed load of the whole number is then both the data and the news: as long as it has the pattern
 * it has not been written.  Nothing else is published with it, so no fence is needed.  A computed NaN
 * that happens to have the pattern is rewritten as the usual quiet NaN, so real NaNs pass through.
 * The parts of a complex number, and of a pack, are a flag each; it is there when all are.  They are read and written
 * by one access of up to 16 bytes, which is ordered as one of each part by itself. */
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
    cuDoubleComplex v;
    delay();
    asm volatile("ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2];"
                 : "=d"(v.x), "=d"(v.y)
                 : "l"(p)
                 : "memory");
    return v;
}

__device__ inline cuFloatComplex flag_peek(const cuFloatComplex *p)
{
    cuFloatComplex v;
    delay();
    asm volatile("ld.relaxed.gpu.global.v2.f32 {%0, %1}, [%2];"
                 : "=f"(v.x), "=f"(v.y)
                 : "l"(p)
                 : "memory");
    return v;
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
    v = flag_free(v);
    delay();
    asm volatile("st.relaxed.gpu.global.v2.f64 [%0], {%1, %2};" ::"l"(p), "d"(v.x), "d"(v.y)
                 : "memory");
}

__device__ inline void flag_store(cuFloatComplex *p, cuFloatComplex v)
{
    v = flag_free(v);
    delay();
    asm volatile("st.relaxed.gpu.global.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"(v.x), "f"(v.y)
                 : "memory");
}

/* ---- several side by side ------------------------------------------------------------------------------ */

template <class T, int N> struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) pack {
    T v[N];
};

__device__ inline pack<double, 2> flag_peek(const pack<double, 2> *p)
{
    const cuDoubleComplex v = flag_peek((const cuDoubleComplex *)p);
    return {{v.x, v.y}};
}

__device__ inline pack<float, 2> flag_peek(const pack<float, 2> *p)
{
    const cuFloatComplex v = flag_peek((const cuFloatComplex *)p);
    return {{v.x, v.y}};
}

__device__ inline pack<cuFloatComplex, 2> flag_peek(const pack<cuFloatComplex, 2> *p)
{
    pack<cuFloatComplex, 2> w;
    delay();
    asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(w.v[0].x), "=f"(w.v[0].y), "=f"(w.v[1].x), "=f"(w.v[1].y)
                 : "l"(p)
                 : "memory");
    return w;
}

__device__ inline pack<cuDoubleComplex, 1> flag_peek(const pack<cuDoubleComplex, 1> *p)
{
    return {{flag_peek(p->v)}};
}

template <class T, int N> __device__ inline bool flag_there(const pack<T, N> &w)
{
    bool there = true;
    for (int k = 0; k < N; k++) there = flag_there(w.v[k]) && there;
    return there;
}

__device__ inline void flag_store(pack<double, 2> *p, const pack<double, 2> &w)
{
    flag_store((cuDoubleComplex *)p, {w.v[0], w.v[1]});
}

__device__ inline void flag_store(pack<float, 2> *p, const pack<float, 2> &w)
{
    flag_store((cuFloatComplex *)p, {w.v[0], w.v[1]});
}

__device__ inline void flag_store(pack<cuFloatComplex, 2> *p, const pack<cuFloatComplex, 2> &w)
{
    const cuFloatComplex a = flag_free(w.v[0]), b = flag_free(w.v[1]);
    delay();
    asm volatile("st.relaxed.gpu.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(p), "f"(a.x),
                 "f"(a.y), "f"(b.x), "f"(b.y)
                 : "memory");
}

__device__ inline void flag_store(pack<cuDoubleComplex, 1> *p, const pack<cuDoubleComplex, 1> &w)
{
    flag_store(p->v, w.v[0]);
}

#endif
