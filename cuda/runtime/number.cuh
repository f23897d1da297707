/* number.cuh: arithmetic on the four types of numbers, real and complex, in single and in double precision.
 *
 * Kernels are templates over the type T of a number.  float and double have operators; cuComplex.h has only
 * functions, and this file defines the operators of the complex types by them.  Division is in divide.cuh,
 * since a quotient of complex numbers needs more care than the other three operations. */
#ifndef TRS_NUMBER_CUH
#define TRS_NUMBER_CUH

#include "trisolve-sparse.h"

#include <cuComplex.h>
#include <cuda_runtime.h>

/* The real number re as a T. */
template <class T> __host__ __device__ inline T number(double re)
{
    return T(re);
}
template <> __host__ __device__ inline cuFloatComplex number(double re)
{
    return make_cuFloatComplex(float(re), 0);
}
template <> __host__ __device__ inline cuDoubleComplex number(double re)
{
    return make_cuDoubleComplex(re, 0);
}

/* The number re + i im as a T, which is re if T is real. */
template <class T> __device__ inline T number(double re, double)
{
    return T(re);
}
template <> __device__ inline cuFloatComplex number(double re, double im)
{
    return make_cuFloatComplex(float(re), float(im));
}
template <> __device__ inline cuDoubleComplex number(double re, double im)
{
    return make_cuDoubleComplex(re, im);
}

/* Its real part. */
template <class T> __device__ inline T real_part(T a)
{
    return a;
}
__device__ inline float real_part(cuFloatComplex a)
{
    return a.x;
}
__device__ inline double real_part(cuDoubleComplex a)
{
    return a.x;
}

/* The complex conjugate of a if c holds; a real number is its own conjugate. */
template <class T> __device__ inline T conj_if(bool, T a)
{
    return a;
}
template <> __device__ inline cuFloatComplex conj_if(bool c, cuFloatComplex a)
{
    return c ? cuConjf(a) : a;
}
template <> __device__ inline cuDoubleComplex conj_if(bool c, cuDoubleComplex a)
{
    return c ? cuConj(a) : a;
}

__device__ inline cuFloatComplex operator+(cuFloatComplex a, cuFloatComplex b)
{
    return cuCaddf(a, b);
}
__device__ inline cuFloatComplex operator-(cuFloatComplex a, cuFloatComplex b)
{
    return cuCsubf(a, b);
}
__device__ inline cuFloatComplex operator*(cuFloatComplex a, cuFloatComplex b)
{
    return cuCmulf(a, b);
}
__device__ inline cuDoubleComplex operator+(cuDoubleComplex a, cuDoubleComplex b)
{
    return cuCadd(a, b);
}
__device__ inline cuDoubleComplex operator-(cuDoubleComplex a, cuDoubleComplex b)
{
    return cuCsub(a, b);
}
__device__ inline cuDoubleComplex operator*(cuDoubleComplex a, cuDoubleComplex b)
{
    return cuCmul(a, b);
}

/* |a| in double precision. */
template <class T> __device__ inline double magnitude(T a)
{
    return fabs((double)a);
}
template <> __device__ inline double magnitude(cuFloatComplex a)
{
    return hypot((double)a.x, (double)a.y);
}
template <> __device__ inline double magnitude(cuDoubleComplex a)
{
    return hypot(a.x, a.y);
}

template <class T> __device__ inline bool is_finite(T a)
{
    return isfinite(a);
}
template <> __device__ inline bool is_finite(cuFloatComplex a)
{
    return isfinite(a.x) && isfinite(a.y);
}
template <> __device__ inline bool is_finite(cuDoubleComplex a)
{
    return isfinite(a.x) && isfinite(a.y);
}

/* f applied to a real number, or to the real and the imaginary part of a complex one: this is how shuffles,
 * which know no complex numbers, are applied to both. */
template <class F> __device__ inline float for_parts(float v, F f)
{
    return f(v);
}
template <class F> __device__ inline double for_parts(double v, F f)
{
    return f(v);
}
template <class T, class F> __device__ inline T for_parts(T v, F f)
{
    return {f(v.x), f(v.y)};
}

/* Is T a complex type? */
template <class T> constexpr bool is_pair = false;
template <> inline constexpr bool is_pair<cuFloatComplex> = true;
template <> inline constexpr bool is_pair<cuDoubleComplex> = true;

/* f applied to the parts of v in double precision, as a number of type To. */
template <class To, class From, class F> __device__ inline To convert(From v, F f)
{
    if constexpr (is_pair<From>) {
        using part = decltype(To::x);
        return {(part)f((double)v.x), (part)f((double)v.y)};
    } else return (To)f((double)v);
}

/* v of another lane: of lane `from`, of the one whose number differs in the bits of mask, or of the one `by` lanes
 * behind, in each `width` lanes of the warp. */
template <class T> __device__ inline T shuffle(T v, int from, int width = 32)
{
    return for_parts(v, [=](auto part) { return __shfl_sync(~0u, part, from, width); });
}
template <class T> __device__ inline T shuffle_xor(T v, int mask)
{
    return for_parts(v, [=](auto part) { return __shfl_xor_sync(~0u, part, mask); });
}
template <class T> __device__ inline T shuffle_down(T v, int by, int width)
{
    return for_parts(v, [=](auto part) { return __shfl_down_sync(~0u, part, by, width); });
}

/* p += a.  The two parts of a complex number are added one after the other, so that a reader may see one
 * without the other; and the order of several sums is left to chance, hence the last bits of the result are,
 * too. */
template <class T> __device__ inline void atomic_add(T *p, T a)
{
    atomicAdd(p, a);
}
template <> __device__ inline void atomic_add(cuFloatComplex *p, cuFloatComplex a)
{
    atomicAdd(&p->x, a.x);
    atomicAdd(&p->y, a.y);
}
template <> __device__ inline void atomic_add(cuDoubleComplex *p, cuDoubleComplex a)
{
    atomicAdd(&p->x, a.x);
    atomicAdd(&p->y, a.y);
}

/* Calls f (T ()) with the C++ type T of a trs_dtype.  f is a lambda [..]<class T>(T) {...}, which is compiled for each
 * type. */
template <class F> inline int for_type(trs_dtype t, F f)
{
    switch (t) {
    case TRS_F32:
        return f(float());
    case TRS_F64:
        return f(double());
    case TRS_C32:
        return f(cuFloatComplex());
    case TRS_C64:
        return f(cuDoubleComplex());
    default: /* integers, which no solver takes */
        return TRS_EARG;
    }
}

#endif
