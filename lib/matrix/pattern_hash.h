/* pattern_hash.h: a number of 64 bits that tells the patterns of operators apart.
 *
 *     hash = sum over the entries p of mix (2^31 p + idx [p])      modulo 2^64
 *
 * mix is a bijection: every bit of the argument changes every bit of the result with probability 1/2.  So the terms
 * of two different patterns are as good as random, and their sums are equal with probability 2^-64.  A sum does not
 * depend on the order of its terms: threads of the host and of the device take entries in any order, and both give
 * the same number.  Row pointers would add nothing: in canonical CSR the diagonal ends every row, so the columns
 * alone determine where row 0 ends, then row 1, and so on.  Source of mix: Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014 (splitmix64). */
#ifndef TRS_PATTERN_HASH_H
#define TRS_PATTERN_HASH_H

#include "operator.h"

#ifdef __CUDACC__
#define TRS_HOST_AND_DEVICE __host__ __device__
#else
#define TRS_HOST_AND_DEVICE
#endif

/* The term of entry p. */
TRS_HOST_AND_DEVICE static inline uint64_t trs_hash_entry(int64_t p, int32_t column)
{
    uint64_t z = ((uint64_t)p << 31) + (uint64_t)column + 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Of an operator that has not been permuted; it is computed where the pattern is.  TRS_OK, TRS_EDEVICE. */
int trs_pattern_hash(const trs_operator *op, uint64_t *hash);

#endif
