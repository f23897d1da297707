/* divide.cuh: quotients that neither overflow nor lose digits on the way.
 *
 * Every right-hand side is divided by a diagonal d, and a product is several times faster than a quotient: so
 * 1 / d is kept.  But where d is so small that 1 / d overflows, or so large that 1 / d is subnormal, s / d may be a
 * number like any other: such a d is kept as it is, and divided by.  Which of the two it is its size says: the
 * inverse of what is near 1 (near.h) is near 1, and what is not near 1 is kept as it is.  Zero, Inf and NaN
 * are not near 1.  To look at the size of each would take up to an eighth of a hop: an update says whether any is
 * kept as it is, a number on the device, so that a captured solve follows, and kernels have code for both. */
#ifndef TRS_DIVIDE_CUH
#define TRS_DIVIDE_CUH

#include "base/near.h"

#include <type_traits>

/* R: the parts of a number */
template <class R> constexpr R NEAR = TRS_NEAR;
template <class R> constexpr R RIM = TRS_RIM;
template <> inline constexpr float NEAR<float> = TRS_NEAR_SINGLE;
template <> inline constexpr float RIM<float> = TRS_RIM_SINGLE;

/* |a|^2, to the last bit the same wherever it is asked for */
__device__ inline float square(float a)
{
    return a * a;
}
__device__ inline double square(double a)
{
    return a * a;
}
__device__ inline float square(cuFloatComplex a)
{
    return fmaf(a.x, a.x, a.y * a.y);
}
__device__ inline double square(cuDoubleComplex a)
{
    return fma(a.x, a.x, a.y * a.y);
}

template <class T> __device__ inline bool is_near_one(T a)
{
    const auto s = square(a);
    constexpr auto most = NEAR<decltype(square(a))> * NEAR<decltype(square(a))>;
    return s >= 1 / most && s <= most;
}

/* The larger of the parts. */
__device__ inline float largest_part(float a)
{
    return fabsf(a);
}
__device__ inline double largest_part(double a)
{
    return fabs(a);
}
template <class T> __device__ inline auto largest_part(T a)
{
    return max(largest_part(a.x), largest_part(a.y));
}

/* What both parts of a quotient are multiplied by, for |d|^2 and 1 / |d| to be normal. */
template <class T> __device__ inline auto factor_for(T d)
{
    const auto size = largest_part(d);
    using R = std::remove_const_t<decltype(size)>;
    return size < 1 / NEAR<R> ? NEAR<R> : size > NEAR<R> ? 1 / NEAR<R> : R(1);
}

__device__ inline cuFloatComplex operator/(cuFloatComplex a, cuFloatComplex d)
{
    const float by = factor_for(d);
    return cuCdivf({a.x * by, a.y * by}, {d.x * by, d.y * by});
}
__device__ inline cuDoubleComplex operator/(cuDoubleComplex a, cuDoubleComplex d)
{
    const double by = factor_for(d);
    return cuCdiv({a.x * by, a.y * by}, {d.x * by, d.y * by});
}

/* What is kept of a diagonal; divides: set when that is not the inverse.  Of a complex one the last bit may
 * differ from what the host finds. */
template <class T> __device__ inline T kept(T d, int *divides)
{
    using R = decltype(square(d));
    if (!is_near_one(d)) {
        *divides = 1;
        return d;
    }
    const T inverse = number<T>(1) / d;
    if (is_near_one(inverse)) return inverse;
    const R by = square(inverse) < 1 ? 1 + RIM<R> : 1 - RIM<R>;
    return for_parts(inverse, [=](R part) { return part * by; });
}

/* s / d, from what is kept of d. */
template <class T> __device__ inline T over(bool divides, T s, T kept)
{
    return !divides || is_near_one(kept) ? s * kept : s / kept;
}

/* Of two, for d times it to be near 1; 0 for what is, and for what is no number. */
template <class T> __device__ inline int power_for(T d)
{
    const auto size = largest_part(d);
    using R = std::remove_const_t<decltype(size)>;
    if (size >= 1 / NEAR<R> && size <= NEAR<R>) return 0;
    return size > 0 && isfinite(size) ? -ilogb(size) : 0;
}

template <class T> __device__ inline T times_power(T v, int power)
{
    if (power == 0) return v;
    return for_parts(v, [=](auto part) { return scalbn(part, power); });
}

#endif
