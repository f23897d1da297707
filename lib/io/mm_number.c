/* mm_number.c: the rarer ways of a number.
 *
 * trs_nearest is Eisel and Lemire's: one or two 64 x 64 products of the digits with a power of
 * ten kept to 128 bits give 55 right bits, and whether that is enough to round.  Source: Lemire,
 * "Number parsing at a gigabyte per second", Software Practice and Experience 51, 2021; that the
 * 128 bits always suffice for 64-bit w: Mushtak and Lemire, "Fast number parsing without
 * fallback", 2023. */
#include "config.h"

#include "mm_number.h"

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
    uint64_t m = z.hi >> (top + 9); /* 54 bits, the last one to round with */
    int64_t e = trs_exponent(q, zeros, top);
    if (e <= 0) { /* denormal: no tie can occur, w has too few digits for one */
        m = e > -63 ? m >> (1 - e) : 0;
        m = (m + (m & 1)) >> 1;
        return from_bits(m, 0); /* a carry into bit 52 is the smallest normal number */
    }
    /* A product without remainder just between two doubles goes to the even one. */
    bool tie = z.lo <= 1 && q >= -4 && q <= 23 && (m & 3) == 1 && m << (top + 9) == z.hi;
    if (tie) m &= ~(uint64_t)1;
    m = (m + (m & 1)) >> 1;
    if (m >> 53) m >>= 1, e++;
    return e >= 2047 ? HUGE_VAL : from_bits(m & ~(1ull << 52), e);
}

/* strtod for what 19 digits cannot decide, in the C locale.  768 digits decide any double, so of
 * a longer number 780 are kept and one more says whether all that follow are zeros. */
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

/* [sign] nan | inf | infinity in any case. */
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

/* The first 19 significant digits as w, the power of ten that goes with them, and how many
 * follow. */
typedef struct decimal {
    uint64_t w;
    int64_t q, digits, significant;
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
    /* Digits were cut, so that w <= the number < w + 1: settled when both ends round to one
     * double. */
    bool cut = d.significant > 19;
    if (cut && trs_nearest(d.w + 1, d.q + exponent) != *x && !by_strtod(first, exponent, x))
        return NULL;
    if (minus) *x = -*x;
    return fabs(*x) <= DBL_MAX ? p : NULL;
}
