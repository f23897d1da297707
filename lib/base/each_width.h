/* each_width.h: include TRS_BODY for each number type (each_type.h), with vectors that are registers of the processor.
 *
 * gcc 12 keeps a vector that is longer than a register in memory, and a loop that adds up such vectors waits for its own stores:
 * with vectors of 64 bytes it takes 2 to 300 times as long where there is only AVX2.  So loops with sums in vectors are compiled
 * with vectors of 32 bytes, and once more, as NAME_wide_TYPE, with vectors of 64 bytes for AVX-512:
 *
 *     TRS_WIDE                 defined in the second copy
 *     WIDTH_CLONES             the instruction sets of a function with such vectors (number/clones.h)
 *     TRS_WIDE_REALS           defined by a file that takes the second copy by trs_wide (t): it has none for complex numbers
 *     TRS_PER_WIDTH (name)     the functions as a table indexed by trs_wide (t) or trs_avx512 (), and trs_dtype */
#include "base/number/clones.h"

#pragma push_macro("TRS_BODY")
#define WIDTH_CLONES TRS_FMA_CLONES
#include "base/each_type.h"
#undef WIDTH_CLONES
#pragma pop_macro("TRS_BODY")

#ifdef TRS_AVX512
#define TRS_WIDE
#define WIDTH_CLONES TRS_AVX512
#include "base/each_type.h"
#undef TRS_WIDE
#undef WIDTH_CLONES
#ifdef TRS_WIDE_REALS
#define TRS_PER_WIDTH(name)                                                                        \
    {                                                                                              \
        TRS_PER_TYPE(name),                                                                        \
        {                                                                                          \
            name##_wide_f64, name##_wide_f32, name##_c64, name##_c32                               \
        }                                                                                          \
    }
#else
#define TRS_PER_WIDTH(name)                                                                        \
    {                                                                                              \
        TRS_PER_TYPE(name), TRS_PER_TYPE(name##_wide)                                              \
    }
#endif
#else
#undef TRS_BODY
#define TRS_PER_WIDTH(name)                                                                        \
    {                                                                                              \
        TRS_PER_TYPE(name), TRS_PER_TYPE(name)                                                     \
    }
#endif
