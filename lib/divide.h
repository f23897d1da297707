/* divide.h: quotients that neither overflow nor lose digits on the way, for the type that each_type.h has
 * set.  cuda/divide.cuh is the same on the GPU, and says why. */
#include "near.h"

#include <tgmath.h>

static inline REAL FN(near)(void) /* what is near 1 is at most so large */
{
    return (REAL)(sizeof(REAL) == sizeof(float) ? TRS_NEAR_SINGLE : TRS_NEAR);
}

/* s / d; the C standard promises nothing for a complex d whose |d|^2 is no normal number.  Rare: out of the way. */
static inline __attribute__((cold)) T FN(quotient)(T s, T d)
{
    if (sizeof(T) == sizeof(REAL)) return s / d;
    const REAL size = fmax(fabs(creal(d)), fabs(cimag(d))), most = FN(near)();
    const REAL by = size < 1 / most ? most : size > most ? 1 / most : 1;
    return (by * s) / (by * d);
}

/* s / d by a product, where the inverse is exact enough. */
static inline T FN(divide)(T s, T d)
{
    const T inverse = 1 / d;
    return NORMAL(inverse) ? s * inverse : FN(quotient)(s, d);
}

static inline REAL FN(square)(T a) /* |a|^2, to the last bit as the GPU finds it */
{
    const REAL re = creal(a), im = cimag(a);
    return fma(re, re, im * im);
}

static inline bool FN(is_near_one)(T a)
{
    const REAL s = FN(square)(a), most = FN(near)() * FN(near)();
    return s >= 1 / most && s <= most;
}

/* What is kept of a diagonal on the GPU. */
static inline T FN(kept)(T d)
{
    if (!FN(is_near_one)(d)) return d;
    const T inverse = 1 / d;
    if (FN(is_near_one)(inverse)) return inverse;
    const REAL rim = (REAL)(sizeof(REAL) == sizeof(float) ? TRS_RIM_SINGLE : TRS_RIM);
    return inverse * (FN(square)(inverse) < 1 ? 1 + rim : 1 - rim);
}
