/* print.c: numbers as the shortest text that reads back to the same number.
 *
 * A double x = c 2^q is the nearest double to every real number between its two midpoints, (c - 1/2) 2^q and
 * (c + 1/2) 2^q.  A power of ten scales this interval so that its width is at least one and less than ten:
 *
 *     -----(--------|-----x--------|------)-----        | integers
 *         low       s             s+1    high
 *
 * Then it contains an integer, and perhaps a multiple of ten, which has one digit less.  Three rounded products, for
 * both ends and x, tell which of them to take.  Source: Giulietti, "The Schubfach way to render doubles", 2020. */
#include "config.h"

#include "print.h"
#include "powers.h"
#include "base/debug.h"

#include <math.h>

/* The pairs of digits 00..99. */
static const char pair[] = "00010203040506070809101112131415161718192021222324"
                           "25262728293031323334353637383940414243444546474849"
                           "50515253545556575859606162636465666768697071727374"
                           "75767778798081828384858687888990919293949596979899";

/* Write k in exactly n digits, with leading zeros. */
static void put_digits(char *p, uint64_t k, int n)
{
    TRS_ASSERT(n >= 0 && n <= TRS_INT_TEXT);
    for (; n > 1; n -= 2, k /= 100) memcpy(p + n - 2, pair + 2 * (k % 100), 2);
    if (n) *p = (char)('0' + k % 10);
}

static int digits_of(uint64_t k)
{
    int n = 1;
    for (; k >= 10000; k /= 10000) n += 4;
    return n + (k >= 10) + (k >= 100) + (k >= 1000);
}

char *trs_put_int(char *p, uint64_t k)
{
    int n = digits_of(k);
    put_digits(p, k, n);
    return p + n;
}

/* ---- shortest digits ----------------------------------------------------------------------- */

typedef struct decimal { /* d 10^k */
    uint64_t d;
    int k;
} decimal;

static int floor_log2_pow10(int e)
{
    return (e * 1741647) >> 19;
}

/* An upper bound of 10^k in 128 bits.  Beyond the last exact power the table rounds down. */
static trs_u128 power_above(int k)
{
    TRS_ASSERT(k >= TRS_POWER_MIN && k <= TRS_POWER_MAX);
    trs_u128 g = trs_power[k - TRS_POWER_MIN];
    if (k > 55 && ++g.lo == 0) g.hi++;
    return g;
}

/* g c / 2^128 rounded to odd: the last bit is set, too, when the quotient is not an integer. */
static uint64_t round_to_odd(trs_u128 g, uint64_t c)
{
    trs_u128 y = trs_mul(g.hi, c);
    uint64_t low = y.lo + trs_mul(g.lo, c).hi;
    return (y.hi + (low < y.lo)) | (low > 1);
}

/* The shortest decimal between the midpoints of c 2^q, and of several the one nearest to it.  low, mid and high are four
 * times the scaled ends and middle of the interval.  The midpoints of an odd c belong to its neighbours, which are
 * even.  narrow: c is a power of two, and the double below is half as far away as the one above. */
static decimal shortest(uint64_t c, int q, bool narrow)
{
    uint64_t odd = c & 1;
    int k = (q * 1262611 - (narrow ? 524031 : 0)) >> 22;
    int h = q + floor_log2_pow10(-k) + 1;
    trs_u128 g = power_above(-k);
    uint64_t low = round_to_odd(g, (4 * c - 2 + narrow) << h) + odd;
    uint64_t mid = round_to_odd(g, (4 * c) << h);
    uint64_t high = round_to_odd(g, (4 * c + 2) << h) - odd;
    uint64_t s = mid / 4, t = s / 10;
    bool down = low <= 40 * t, up = 40 * t + 40 <= high;
    if (s >= 10 && down != up) return (decimal){t + up, k + 1};
    down = low <= 4 * s;
    up = 4 * s + 4 <= high;
    if (down == up) up = mid > 4 * s + 2 || (mid == 4 * s + 2 && (s & 1));
    return (decimal){s + up, k};
}

/* ---- layout -------------------------------------------------------------------------------- */

/* Write d.ddd 10^e as d.ddde-k. */
static char *put_scientific(char *p, uint64_t d, int n, int e)
{
    put_digits(p + 1, d, n);
    p[0] = p[1];
    p[1] = '.';
    p += n > 1 ? n + 1 : 1;
    *p++ = 'e';
    if (e < 0) *p++ = '-';
    return trs_put_int(p, (uint64_t)(e < 0 ? -e : e));
}

/* Write x = d 10^k without an exponent when that is short, else with one. */
static char *put_decimal(char *p, decimal x)
{
    TRS_ASSERT(x.d > 0);
    while (x.d % 10 == 0) x.d /= 10, x.k++;
    int n = digits_of(x.d), e = n - 1 + x.k; /* x = d.ddd 10^e */
    if (e < -4 || e > 16) return put_scientific(p, x.d, n, e);
    if (e < 0) { /* 0.00ddd */
        memcpy(p, "0.0000", 6);
        put_digits(p + 1 - e, x.d, n);
        return p + 1 - e + n;
    }
    if (x.k >= 0) { /* ddd000 */
        put_digits(p, x.d, n);
        memset(p + n, '0', (size_t)x.k);
        return p + n + x.k;
    }
    put_digits(p + 1, x.d, n); /* dd.ddd */
    memmove(p, p + 1, (size_t)e + 1);
    p[e + 1] = '.';
    return p + n + 1;
}

static char *put_word(char *p, const char *word)
{
    size_t n = strlen(word);
    memcpy(p, word, n);
    return p + n;
}

/* Write the number with this sign, mantissa of `bits` bits without the leading one, and stored exponent with its bias. */
static char *put(char *p, bool minus, uint64_t mantissa, int exponent, int bits, int bias)
{
    if (minus) *p++ = '-';
    if (mantissa == 0 && exponent == 0) return put_word(p, "0");
    bool normal = exponent != 0;
    uint64_t c = mantissa | (uint64_t)normal << bits;
    bool narrow = mantissa == 0 && exponent > 1;
    return put_decimal(p, shortest(c, exponent + !normal - bias - bits, narrow));
}

/* Write nan, inf or -inf. */
static char *put_special(char *p, double x)
{
    if (isnan(x)) return put_word(p, "nan");
    return put_word(p, x < 0 ? "-inf" : "inf");
}

char *trs_put_real(char *p, double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    if (!isfinite(x)) return put_special(p, x);
    return put(p, b >> 63, b & ((1ull << 52) - 1), (int)(b >> 52 & 2047), 52, 1023);
}

char *trs_put_float(char *p, float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    if (!isfinite(x)) return put_special(p, (double)x);
    return put(p, b >> 31, b & ((1u << 23) - 1), (int)(b >> 23 & 255), 23, 127);
}
