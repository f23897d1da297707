/* divide.h: quotients that neither overflow nor lose digits on the way, for the type that each_type.h has
 * set.  On the GPU: cuda/divide.cuh. */
#include "near.h"

#include <tgmath.h>

static inline REAL FN(near)(void) /* what is near 1 is at most so large */
{
    return (REAL)(sizeof(REAL) == sizeof(float) ? TRS_NEAR_SINGLE : TRS_NEAR);
}

static inline REAL FN(largest_part)(T a) /* a comparison, for fmax is a call */
{
    const REAL re = fabs(creal(a)), im = fabs(cimag(a));
    return re > im ? re : im;
}

/* s / d; the C standard promises nothing for a complex d whose |d|^2 is no normal number.  Rare: out of the way. */
static inline __attribute__((cold)) T FN(quotient)(T s, T d)
{
    if (sizeof(T) == sizeof(REAL)) return s / d;
    const REAL size = FN(largest_part)(d), most = FN(near)();
    const REAL by = size < 1 / most ? most : size > most ? 1 / most : 1;
    return (by * s) / (by * d);
}

/* s / d by a product, where the inverse is exact enough. */
static inline T FN(divide)(T s, T d)
{
    const T inverse = 1 / d;
    return NORMAL(inverse) ? s * inverse : FN(quotient)(s, d);
}

/* Of two, for d times it to be near 1; 0 for what is, and for what is no number. */
static inline int FN(power_for)(T d)
{
    const REAL size = FN(largest_part)(d), most = FN(near)();
    if (size >= 1 / most && size <= most) return 0;
    return size > 0 && isfinite(size) ? -ilogb(size) : 0;
}

static inline T FN(times_power)(T v, int power)
{
    return v * ldexp((REAL)1, power / 2) * ldexp((REAL)1, power - power / 2);
}
