/* each_type.h: include TRS_BODY once for each number type.
 *
 * A file with code for all four types names itself in TRS_BODY, includes this header, and has the code under #ifdef T:
 *
 *     T            the type of a number
 *     REAL         the type of its real and imaginary part
 *     IS_COMPLEX   1, or 0
 *     FN (name)    the name of a function for this type: name_f64, name_f32, name_c64, name_c32
 *     CONJ (x)     the complex conjugate
 *     NORMAL (x)   is x finite and neither zero nor subnormal?  One part of a complex number must be.
 *     CLONES       TRS_CLONES for real numbers, TRS_FMA_CLONES for complex ones (number/clones.h)
 *
 * Headers of functions for T (divide.h, vector.h) are read once for each type. */
#include "base/number/cmplx.h"

#include <math.h>

#define TRS_GLUE_(name, suffix) name##_##suffix
#define TRS_GLUE(name, suffix)  TRS_GLUE_(name, suffix)
#undef FN
#ifdef TRS_WIDE
#define FN(name) TRS_GLUE(name##_wide, SUFFIX)
#else
#define FN(name) TRS_GLUE(name, SUFFIX)
#endif

/* The four functions as a table indexed by trs_dtype. */
#define TRS_PER_TYPE(name)                                                                         \
    {                                                                                              \
        name##_f64, name##_f32, name##_c64, name##_c32                                             \
    }

#define T          double
#define REAL       double
#define IS_COMPLEX 0
#define SUFFIX     f64
#define CONJ(x)    (x)
#define NORMAL(x)  isnormal(x)
#define CLONES     TRS_CLONES
#undef TRS_DIVIDE_H
#undef TRS_VECTOR_H
#include TRS_BODY
#undef T
#undef REAL
#undef IS_COMPLEX
#undef SUFFIX

#define T          float
#define REAL       float
#define IS_COMPLEX 0
#define SUFFIX     f32
#undef TRS_DIVIDE_H
#undef TRS_VECTOR_H
#include TRS_BODY
#undef T
#undef REAL
#undef IS_COMPLEX
#undef SUFFIX
#undef CONJ
#undef NORMAL
#undef CLONES

#if !defined TRS_WIDE || !defined TRS_WIDE_REALS
#define CLONES             TRS_FMA_CLONES
#define TRS_NORMAL(re, im) ((isnormal(re) || isnormal(im)) && isfinite(re) && isfinite(im))

#define T          double complex
#define REAL       double
#define IS_COMPLEX 1
#define SUFFIX     c64
#define CONJ(x)    conj(x)
#define NORMAL(x)  TRS_NORMAL(creal(x), cimag(x))
#undef TRS_DIVIDE_H
#undef TRS_VECTOR_H
#include TRS_BODY
#undef T
#undef REAL
#undef IS_COMPLEX
#undef SUFFIX
#undef CONJ
#undef NORMAL

#define T          float complex
#define REAL       float
#define IS_COMPLEX 1
#define SUFFIX     c32
#define CONJ(x)    conjf(x)
#define NORMAL(x)  TRS_NORMAL(crealf(x), cimagf(x))
#undef TRS_DIVIDE_H
#undef TRS_VECTOR_H
#include TRS_BODY
#undef T
#undef REAL
#undef IS_COMPLEX
#undef SUFFIX
#undef CONJ
#undef NORMAL
#undef TRS_NORMAL
#undef CLONES
#endif
#undef TRS_BODY
