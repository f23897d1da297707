/* divide.h: quotients that neither overflow nor lose digits on the way, for the type that each_type.h has set.
 * cuda/runtime/divide.cuh has the same for the GPU. */
#ifndef TRS_DIVIDE_H
#define TRS_DIVIDE_H

#include "near.h"

#include <tgmath.h>

/* A number is near 1 when its size is between the inverse of this and this. */
static inline REAL FN(near)(void)
{
    return (REAL)(sizeof(REAL) == sizeof(float) ? TRS_NEAR_SINGLE : TRS_NEAR);
}

/* The larger of |re| and |im|, by a comparison, because fmax is a function call. */
static inline REAL FN(largest_part)(T a)
{
    const REAL re = fabs(creal(a)), im = fabs(cimag(a));
    return re > im ? re : im;
}

/* s / d where |d| may be far from 1.  The C standard promises nothing for a complex d whose |d|^2 is no normal number,
 * so that both are scaled first.  The function is cold: compilers keep it out of the loops. */
static inline __attribute__((cold)) T FN(quotient)(T s, T d)
{
    if (sizeof(T) == sizeof(REAL)) return s / d;
    const REAL size = FN(largest_part)(d), most = FN(near)();
    REAL by = 1;
    if (size < 1 / most) by = most;
    else if (size > most) by = 1 / most;
    return (by * s) / (by * d);
}

/* s / d as a product with the inverse where that is a normal number. */
static inline T FN(divide)(T s, T d)
{
    const T inverse = 1 / d;
    return NORMAL(inverse) ? s * inverse : FN(quotient)(s, d);
}

/* The exponent e for which 2^e d is near 1; 0 when d is near 1 itself, zero, or not finite. */
static inline int FN(power_for)(T d)
{
    const REAL size = FN(largest_part)(d), most = FN(near)();
    if (size >= 1 / most && size <= most) return 0;
    return size > 0 && isfinite(size) ? -ilogb(size) : 0;
}

/* v 2^power, in two steps because 2^power itself may be out of range. */
static inline T FN(times_power)(T v, int power)
{
    return v * ldexp((REAL)1, power / 2) * ldexp((REAL)1, power - power / 2);
}

#endif
