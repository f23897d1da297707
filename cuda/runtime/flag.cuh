/* flag.cuh: a number that is its own flag.
 *
 * In a triangular solve a row waits for numbers that other warps compute in the same launch.  Usually the
 * producer writes the number, a fence and a flag; the reader polls the flag, and reads the number after another
 * fence: two trips to the L2 cache one after the other.  Here the number itself is the flag:
 *
 *        before the solve    y(k) = 0xff..ff for all k        the reserved bit pattern, "not yet"
 *        who computes y(k)   st.relaxed.gpu  y(k)             once in a solve
 *        who needs y(k)      do v = ld.relaxed.gpu y(k) while v has the reserved pattern
 *
 * Why this needs no fence.  Nothing but y(k) is handed over, and it is one location.  Relaxed accesses of gpu
 * scope are strong in the PTX memory model, so the two are not a data race.  A strong access of a naturally
 * aligned number is single-copy atomic, so no half of a number is seen.  Coherence of the one location
 * guarantees that a load returns either the pattern or the number.  Everything else that a row reads (pattern,
 * values, b) was in memory before the launch.  A kernel that hands over anything besides the number needs a
 * fence or a release store for it.
 *
 * Why the loop ends.  L2 answers a relaxed load of gpu scope, not the L1 cache of the SM, which is not
 * coherent; volatile keeps the compiler from moving the load out of the loop.  So the loop ends if the writer
 * runs.  Each solver has to show that: its warps are all resident, and in some order the first missing number
 * can always be computed (README.md).
 *
 * NaN.  The reserved pattern is a NaN: negative, quiet, all bits of its payload set.  A computed number may be
 * that NaN, above all if the caller's b contains it, since arithmetic in double precision propagates payloads.
 * Such a number is rewritten as the usual quiet NaN when it is published; otherwise all rows that need it would
 * wait forever.  So a NaN in b reaches all x that depend on it, as in a sequential substitution; only its
 * payload may be lost.
 *
 * Complex numbers and packs.  An access of 8 or 16 bytes is, in the model, one access to each of its elements,
 * in unspecified order.  So each part of a complex number, and each number of a pack, is its own flag, and the
 * whole has arrived when all of its parts have. */
#ifndef TRS_FLAG_CUH
#define TRS_FLAG_CUH

#include "cuda.cuh"
#include "delay.cuh"

/* Is v a number that was published, and not the reserved pattern? */
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

/* The reserved pattern. */
template <class T> __device__ inline T flag_unset()
{
    T v;
    memset(&v, 0xff, sizeof v);
    return v;
}

/* v, or the usual quiet NaN if v has the reserved pattern. */
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

/* For one type: PEEK (p) looks once and returns the number, or the reserved pattern; STORE (p, v) publishes a number.  C: the
 * constraint of its parts in assembly, which are B bits wide. */
#define FLAG_REAL(PEEK, STORE, SCOPE, T, C, B)                                                     \
    __device__ inline T PEEK(const T *p)                                                           \
    {                                                                                              \
        T v;                                                                                       \
        delay();                                                                                   \
        asm volatile("ld.relaxed." SCOPE ".global.f" B " %0, [%1];"                                \
                     : "=" C(v)                                                                    \
                     : "l"(p)                                                                      \
                     : "memory");                                                                  \
        return v;                                                                                  \
    }                                                                                              \
    __device__ inline void STORE(T *p, T v)                                                        \
    {                                                                                              \
        delay();                                                                                   \
        asm volatile("st.relaxed." SCOPE ".global.f" B " [%0], %1;" ::"l"(p), C(flag_free(v))      \
                     : "memory");                                                                  \
    }
#define FLAG_COMPLEX(PEEK, STORE, SCOPE, T, C, B)                                                  \
    __device__ inline T PEEK(const T *p)                                                           \
    {                                                                                              \
        T v;                                                                                       \
        delay();                                                                                   \
        asm volatile("ld.relaxed." SCOPE ".global.v2.f" B " {%0, %1}, [%2];"                       \
                     : "=" C(v.x), "=" C(v.y)                                                      \
                     : "l"(p)                                                                      \
                     : "memory");                                                                  \
        return v;                                                                                  \
    }                                                                                              \
    __device__ inline void STORE(T *p, T v)                                                        \
    {                                                                                              \
        v = flag_free(v);                                                                          \
        delay();                                                                                   \
        asm volatile("st.relaxed." SCOPE ".global.v2.f" B " [%0], {%1, %2};" ::"l"(p), C(v.x),     \
                     C(v.y)                                                                        \
                     : "memory");                                                                  \
    }
#define FLAG_ACCESSES(PEEK, STORE, SCOPE)                                                          \
    FLAG_REAL(PEEK, STORE, SCOPE, double, "d", "64")                                               \
    FLAG_REAL(PEEK, STORE, SCOPE, float, "f", "32")                                                \
    FLAG_COMPLEX(PEEK, STORE, SCOPE, cuDoubleComplex, "d", "64")                                   \
    FLAG_COMPLEX(PEEK, STORE, SCOPE, cuFloatComplex, "f", "32")

FLAG_ACCESSES(flag_peek, flag_store, "gpu")
/* ... between the devices of a host */
FLAG_ACCESSES(flag_peek_system, flag_store_system, "sys")
#undef FLAG_REAL
#undef FLAG_COMPLEX
#undef FLAG_ACCESSES

/* One look; true if the number is there. */
template <class T> __device__ inline bool flag_load(const T *p, T &v)
{
    v = flag_peek(p);
    return flag_there(v);
}

/* Looks until the number is there.  The lanes of a warp that call this together leave the loop together: so no
 * lane may wait here for a number that another lane of its own warp publishes only afterwards. */
template <class T> __device__ inline T flag_wait(const T *p)
{
    T v;
    while (!flag_load(p, v)) continue;
    return v;
}

/* ---- N numbers side by side, in one access of up to 16 bytes -------------------------------------------- */

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

/* ---- an integer that is its own flag: -1 is "not yet" ------------------------------------------------ */

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
