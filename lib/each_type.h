/* each_type.h: include TRS_BODY once for each number type.
 *
 * A file with code for all four types names itself in TRS_BODY, includes this, and has its body
 * under #ifdef T:  T the number, FN (name) the name for this type, CONJ (x) the conjugate. */
#include <complex.h>

#define TRS_GLUE_(name, suffix) name##_##suffix
#define TRS_GLUE(name, suffix)  TRS_GLUE_(name, suffix)
#define FN(name)                TRS_GLUE(name, SUFFIX)

/* A table indexed by trs_dtype. */
#define TRS_PER_TYPE(name)                                                                         \
    {                                                                                              \
        name##_f64, name##_f32, name##_c64, name##_c32                                             \
    }

#define T       double
#define SUFFIX  f64
#define CONJ(x) (x)
#include TRS_BODY
#undef T
#undef SUFFIX

#define T      float
#define SUFFIX f32
#include TRS_BODY
#undef T
#undef SUFFIX
#undef CONJ

#define T       double complex
#define SUFFIX  c64
#define CONJ(x) conj(x)
#include TRS_BODY
#undef T
#undef SUFFIX
#undef CONJ

#define T       float complex
#define SUFFIX  c32
#define CONJ(x) conjf(x)
#include TRS_BODY
#undef T
#undef SUFFIX
#undef CONJ
#undef TRS_BODY
