/* number.h: the four types of numbers, for code that reads or writes a few numbers of any type. */
#ifndef TRS_NUMBER_H
#define TRS_NUMBER_H

#include "trisolve-sparse.h"

#include <stdbool.h>

size_t trs_size(trs_dtype t); /* bytes of one number */
bool trs_is_complex(trs_dtype t);
bool trs_is_single(trs_dtype t); /* Is it of single precision, real or complex? */

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
