/* divide.cuh: quotients by the diagonal that neither overflow on the way nor lose digits.
 *
 * Each of many right-hand sides is divided by a diagonal entry d, and a product takes a fraction of the time of
 * a quotient.  So an update of the values stores 1 / d, and a solve multiplies.  The hazard: if d is so small
 * that 1 / d overflows, or so large that 1 / d is subnormal and has lost digits, s / d may still be an ordinary
 * number.  Such a d is stored unchanged, and the solve divides by it:
 *
 *        kept (d)    = 1 / d        if d is near 1: 2^-500 <= |d| <= 2^500 (2^-60, 2^60 in single precision)
 *                    = d            else; zero, Inf and NaN are not near 1
 *        s over d    = s kept       if kept is near 1
 *                    = s / kept     else
 *
 * No extra bit is needed to tell the two apart: the inverse of a number near 1 is near 1 itself, and a number
 * that is not near 1 was stored unchanged.  (An inverse that rounding moves past the bound is moved back by a
 * few units in the last place, TRS_RIM.) The bounds ensure that |d|^2 of a complex d is normal as well.
 *
 * Testing the size of kept lengthens the path from one row to the next by up to an eighth.  So an update also
 * sets a flag on the device that tells whether any diagonal was stored unchanged.  Kernels have code for both
 * cases and choose once, at their start.  The flag is on the device, so a captured graph follows new values. */
#ifndef TRS_DIVIDE_CUH
#define TRS_DIVIDE_CUH

#include "base/number/near.h"
#include "number.cuh"

#include <type_traits>

/* The bounds of base/number/near.h for the type R of a real number, or of the parts of a complex one. */
template <class R> constexpr R NEAR = TRS_NEAR;
template <class R> constexpr R RIM = TRS_RIM;
template <> inline constexpr float NEAR<float> = TRS_NEAR_SINGLE;
template <> inline constexpr float RIM<float> = TRS_RIM_SINGLE;

/* |a|^2.  The fused multiply-add is spelt out, so that the last bit is the same wherever a number is judged;
 * were it left to the compiler, the kernel that keeps a diagonal and the one that uses it might disagree. */
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

/* The larger of |Re a| and |Im a|, which cannot overflow. */
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

/* A power of 2 by which s and d of a complex quotient s / d are multiplied first, so that |d|^2 and 1 / |d| are
 * normal. */
template <class T> __device__ inline auto factor_for(T d)
{
    const auto size = largest_part(d);
    using R = std::remove_const_t<decltype(size)>;
    if (size < 1 / NEAR<R>) return NEAR<R>;
    return size > NEAR<R> ? 1 / NEAR<R> : R(1);
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

/* What is kept of a diagonal.  divides is set to 1 where that is not the inverse, and else left alone: threads
 * of a launch that all write 1 need no atomic.  The last bit of a complex inverse may differ from what the host
 * finds. */
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

/* s / d, from what is kept of d; divides: some diagonal may have been kept as it is. */
template <class T> __device__ inline T over(bool divides, T s, T kept)
{
    return !divides || is_near_one(kept) ? s * kept : s / kept;
}

/* The p for which 2^p d is near 1: 0 where d is near 1 already, and where it is zero, Inf or NaN.  A solver
 * that divides too often to look at sizes scales its rows by 2^p instead, which changes no digit. */
template <class T> __device__ inline int power_for(T d)
{
    const auto size = largest_part(d);
    using R = std::remove_const_t<decltype(size)>;
    if (size >= 1 / NEAR<R> && size <= NEAR<R>) return 0;
    return size > 0 && isfinite(size) ? -ilogb(size) : 0;
}

/* 2^power v */
template <class T> __device__ inline T times_power(T v, int power)
{
    if (power == 0) return v;
    return for_parts(v, [=](auto part) { return scalbn(part, power); });
}

#endif
