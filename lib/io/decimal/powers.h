/* powers.h: powers of ten as integers of 128 bits, the multipliers for both reading and writing of
 * reals. */
#ifndef TRS_POWERS_H
#define TRS_POWERS_H

#include "digits.h"

typedef struct trs_u128 {
    uint64_t hi, lo;
} trs_u128;

/* trs_power [q - TRS_POWER_MIN] = c, 2^127 <= c < 2^128, with 10^q = c 2^e for the integer e that makes it so. */
#define TRS_POWER_MIN (-342)
#define TRS_POWER_MAX 324
extern const trs_u128 trs_power[TRS_POWER_MAX - TRS_POWER_MIN + 1];

/* a b, all 128 bits of it. */
TRS_INLINE trs_u128 trs_mul(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide c = (wide)a * b;
    return (trs_u128){(uint64_t)(c >> 64), (uint64_t)c};
}

#endif
