/* number.h: the four types of numbers, for code that reads or writes a few numbers of any type. */
#ifndef TRS_NUMBER_H
#define TRS_NUMBER_H

#include "trisolve-sparse.h"

#include <stdbool.h>

size_t trs_size(trs_dtype t); /* bytes of one number */
bool trs_is_complex(trs_dtype t);
bool trs_is_single(trs_dtype t); /* Is it of single precision, real or complex? */

/* Has the processor AVX-512?  Then loops may take their copy with vectors of 64 bytes (base/each_width.h). */
bool trs_avx512(void);
/* Is that copy the faster one?  Of complex numbers it is not if it exchanges their parts: gcc 12 does it one by one. */
bool trs_wide(trs_dtype t);

/* Bytes and numbers of a vector of the faster copy. */
int64_t trs_vector_bytes(trs_dtype t);
int trs_lanes(trs_dtype t);

/* Bytes of a vector (vector.h) that is a register of AVX2, and of a line of the cache: a register of AVX-512. */
enum { TRS_NARROW = 32, TRS_LINE = 64 };
int trs_line(trs_dtype t); /* numbers of a line */

/* Number k of an array of this type, as (re, im). */
void trs_number_get(const void *a, trs_dtype t, int64_t k, double z[2]);
void trs_number_put(void *a, trs_dtype t, int64_t k, const double z[2]);

static inline int64_t trs_index(const void *a, int bits, int64_t k) /* a[k] of 32 or 64 bits */
{
    return bits == 64 ? ((const int64_t *)a)[k] : ((const int32_t *)a)[k];
}

static inline int64_t trs_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t trs_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
