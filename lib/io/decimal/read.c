/* read.c: decimal text to numbers: the forms that are too rare to be inlined.
 *
 * trs_nearest is the method of Eisel and Lemire: one or two products of 64 by 64 bits, of the digits with a power of ten
 * that is known to 128 bits, give 55 correct bits, which is enough to round.  Sources: Lemire, "Number parsing at a
 * gigabyte per second", Software: Practice and Experience 51 (2021) 1700-1727; that 128 bits always suffice for w of 64
 * bits: Mushtak and Lemire, "Fast number parsing without fallback", Software: Practice and Experience 53 (2023). */
#include "config.h"

#include "read.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#ifdef __SSE2__
const uint16_t trs_pair[8] = {2561, 2561, 2561, 2561, 2561, 2561, 2561, 2561};
#endif

const char *trs_read_index_slow(const char *p, uint64_t *k)
{
    if (*p == '+') p++;
    if (!trs_is_digit(*p)) return NULL;
    uint64_t w = 0;
    bool fits = true;
    for (; trs_is_digit(*p); p++) {
        fits = fits && w < UINT64_MAX / 10; /* the last few values below 2^64 count as too large */
        if (fits) w = 10 * w + (uint64_t)(*p - '0');
    }
    *k = fits ? w : UINT64_MAX;
    return p;
}

static double from_bits(uint64_t mantissa, int64_t exponent)
{
    uint64_t bits = mantissa | (uint64_t)exponent << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double trs_nearest(uint64_t w, int64_t q)
{
    if (w == 0 || q < -342) return 0;
    if (q > 308) return HUGE_VAL;
    int zeros = __builtin_clzll(w);
    trs_u128 z = trs_scaled(w << zeros, q);
    int top = (int)(z.hi >> 63);
    uint64_t m = z.hi >> (top + 9); /* 54 bits; the last one decides the rounding */
    int64_t e = trs_exponent(q, zeros, top);
    if (e <= 0) { /* subnormal: w has too few digits for a tie */
        m = e > -63 ? m >> (1 - e) : 0;
        m = (m + (m & 1)) >> 1;
        return from_bits(m, 0); /* a carry into bit 52 is the smallest normal number */
    }
    /* A product without remainder that is midway between two doubles is rounded to the even one. */
    bool tie = z.lo <= 1 && q >= -4 && q <= 23 && (m & 3) == 1 && m << (top + 9) == z.hi;
    if (tie) m &= ~(uint64_t)1;
    m = (m + (m & 1)) >> 1;
    if (m >> 53) m >>= 1, e++;
    return e >= 2047 ? HUGE_VAL : from_bits(m & ~(1ull << 52), e);
}

/* strtod, in the C locale, for what 19 digits cannot decide.  768 significant digits decide any double; of a longer
 * number 780 are kept, and one more says whether all digits after these are zeros. */
static bool by_strtod(const char *p, int64_t exponent, double *x)
{
    char copy[820];
    int n = 0;
    bool point = false, rest = false;
    for (; trs_is_digit(*p) || (*p == '.' && !point); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        exponent -= point;
        if (n == 0 && *p == '0') continue;
        if (n < 780) copy[n++] = *p;
        else exponent++, rest = rest || *p != '0';
    }
    snprintf(copy + n, sizeof copy - (size_t)n, "%de%lld", rest, (long long)exponent - 1);
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c == (locale_t)0) return false;
    *x = strtod_l(copy, NULL, c);
    freelocale(c);
    return true;
}

/* Read [sign] nan | inf | infinity, in capitals or not. */
static const char *read_word(const char *p, double *x)
{
    static const char *const word[] = {"infinity", "inf", "nan"};
    bool minus = *p == '-';
    if (*p == '-' || *p == '+') p++;
    for (int k = 0; k < 3; k++) {
        int n = 0;
        while (word[k][n] && (p[n] | 0x20) == word[k][n]) n++;
        if (word[k][n]) continue;
        *x = k == 2 ? (double)NAN : HUGE_VAL;
        if (minus) *x = -*x;
        return p + n;
    }
    return NULL;
}

typedef struct decimal { /* w 10^q, cut off after 19 significant digits */
    uint64_t w;
    int64_t q;
    int64_t digits, significant; /* how many the text has; significant: without leading zeros */
} decimal;

static const char *read_decimal(const char *p, decimal *d)
{
    *d = (decimal){0};
    bool point = false;
    for (; trs_is_digit(*p) || (*p == '.' && !point); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        d->digits++;
        if (d->significant || *p != '0') d->significant++;
        bool kept = d->significant <= 19;
        if (kept) d->w = 10 * d->w + (uint64_t)(*p - '0');
        d->q += (kept ? 0 : 1) - (point ? 1 : 0);
    }
    return p;
}

const char *trs_read_real_slow(const char *text, double *x)
{
    const char *p = text;
    bool minus = *p == '-';
    if (minus || *p == '+') p++;
    const char *first = p;
    decimal d;
    p = read_decimal(p, &d);
    if (!d.digits) return read_word(text, x);
    int64_t exponent = 0;
    if (!(p = trs_read_exponent(p, &exponent))) return NULL;
    *x = trs_nearest(d.w, d.q + exponent);
    /* Digits were cut off, so that the number is in [w, w + 1) 10^q: decided when both ends round to the same double. */
    bool cut = d.significant > 19;
    if (cut && trs_nearest(d.w + 1, d.q + exponent) != *x && !by_strtod(first, exponent, x))
        return NULL;
    if (minus) *x = -*x;
    return fabs(*x) <= DBL_MAX ? p : NULL;
}
