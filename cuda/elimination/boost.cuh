/* boost.cuh: pivots of L S L^H that are too small, or have another sign than expected, are replaced.
 *
 * The rule is that of lib/factor/suitesparse/ldlt/numbers.c.  It replaces few pivots, so each is counted by atomics; counts and
 * the first row do not depend on their order. */
#ifndef TRS_BOOST_CUH
#define TRS_BOOST_CUH

#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "elimination/elimination.h"
}

/* The pivot in place of d, where least = boost max |a(i, j)| of its row, and sign is 1, -1, or 0 if any will do. */
__device__ inline double boosted_pivot(double d, double least, int sign, bool &boosted)
{
    const bool wrong = (sign > 0 && d < least) || (sign < 0 && d > -least);
    boosted = is_finite(d) && (wrong || fabs(d) < least);
    if (!boosted) return d;
    return sign ? sign * least : copysign(least, d);
}

/* The first row that was boosted. */
__device__ inline void note_boosted(trs_elimination_outcome *o, int32_t row)
{
    atomicMin((unsigned long long *)&o->first_boosted, (unsigned long long)row);
}

#endif
