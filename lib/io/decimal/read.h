/* read.h: decimal text to numbers.  Nothing here depends on the locale.
 *
 * A real is read as w 10^q, where w is its digits as an integer of 64 bits, and rounded to the nearest double:
 *
 *     w and 10^|q| are exact doubles      one multiplication or division rounds correctly (Clinger 1990)
 *     w has up to 19 digits               trs_nearest: the method of Eisel and Lemire (Lemire 2021)
 *     more digits                         both ends of an interval of width 10^q, and strtod if they differ
 *
 * The fast methods are here, for inlining into the loop over the lines of a file; the slow ones are in read.c.
 * Sources: Clinger, "How to read floating point numbers accurately", PLDI 1990; Lemire, "Number parsing at a gigabyte
 * per second", Software: Practice and Experience 51 (2021) 1700-1727. */
#ifndef TRS_DECIMAL_READ_H
#define TRS_DECIMAL_READ_H

#include "digits.h"
#include "powers.h"
#include "base/debug.h"

#include <float.h>

/* ---- indices ------------------------------------------------------------------------------- */

/* The same for any number of digits, and with a plus sign before them; *k = UINT64_MAX when it does not fit. */
const char *trs_read_index_slow(const char *p, uint64_t *k);

/* Read the unsigned integer at p; returns where it ends, or NULL when there is none. */
TRS_INLINE const char *trs_read_index(const char *p, uint64_t *k)
{
    uint64_t v = trs_eight(p);
    int n = trs_count_digits(v);
    if (n == 0 || n == 8) return trs_read_index_slow(p, k);
    *k = trs_join_n(v, n);
    return p + n;
}

/* ---- reals --------------------------------------------------------------------------------- */

/* w 10^q, w with its top bit set: the upper 128 bits of the 192-bit product.  The lower half of the power is multiplied
 * only if it may matter, which is when the 9 bits below the mantissa are all ones. */
TRS_INLINE trs_u128 trs_scaled(uint64_t w, int64_t q)
{
    TRS_ASSERT(q >= TRS_POWER_MIN && q <= TRS_POWER_MAX && w >> 63);
    trs_u128 c = trs_power[q - TRS_POWER_MIN], z = trs_mul(w, c.hi);
    if ((z.hi & 0x1ff) == 0x1ff) {
        uint64_t more = trs_mul(w, c.lo).hi;
        z.lo += more;
        z.hi += z.lo < more;
    }
    return z;
}

/* The biased exponent of such a product: w had been shifted left by `zeros` bits, and `top` is the first bit of the
 * product.  217706 / 2^16 is log2 (10) well enough for all q of the table. */
TRS_INLINE int64_t trs_exponent(int64_t q, int zeros, int top)
{
    return ((217706 * q) >> 16) + 63 + top - zeros + 1023;
}

/* The double nearest to w 10^q, ties to even; HUGE_VAL when it is beyond DBL_MAX. */
double trs_nearest(uint64_t w, int64_t q);

/* The same for w > 0 and -300 <= q < -4, where there are no ties and the exponent is that of a normal number. */
TRS_INLINE double trs_nearest_small(uint64_t w, int64_t q)
{
    TRS_ASSERT(w > 0 && q >= -300 && q < -4);
    int zeros = __builtin_clzll(w);
    uint64_t hi = trs_scaled(w << zeros, q).hi;
    int top = (int)(hi >> 63);
    uint64_t m = hi >> (top + 9); /* 54 bits; the last one decides the rounding */
    uint64_t bits = ((m + (m & 1)) >> 1) + ((uint64_t)(trs_exponent(q, zeros, top) - 1) << 52);
    double x;
    memcpy(&x, &bits, sizeof x); /* a carry out of the mantissa gives the next power of two */
    return x;
}

/* trs_read_real for any number of digits, and for nan and inf. */
const char *trs_read_real_slow(const char *p, double *x);

/* ["e" | "d" [sign] digits]: add the exponent to *q.  Returns where it ends, p itself when there is none, and NULL when
 * its digits are missing. */
TRS_INLINE const char *trs_read_exponent(const char *p, int64_t *q)
{
    if ((unsigned char)*p <= ' ' || ((*p | 0x20) != 'e' && (*p | 0x20) != 'd')) return p;
    bool minus = *++p == '-';
    if (*p == '-' || *p == '+') p++;
    if (!trs_is_digit(*p)) return NULL;
    int64_t e = 0;
    for (; trs_is_digit(*p); p++)
        if (e < 100000000) e = 10 * e + (*p - '0');
    *q += minus ? -e : e;
    return p;
}

/* x = -x when minus is 1; x stays as it is when minus is 0. */
TRS_INLINE void trs_flip(double *x, uint64_t minus)
{
    uint64_t bits;
    memcpy(&bits, x, sizeof bits);
    bits ^= minus << 63;
    memcpy(x, &bits, sizeof bits);
}

static const uint32_t trs_ten[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};

/* w = w 10^n + the n digits at p, modulo 2^64, which is correct for up to 19 significant digits. */
TRS_INLINE const char *trs_read_digits(const char *p, uint64_t *w)
{
    for (uint64_t v = trs_eight(p);; v = trs_eight(p)) {
        if (!trs_are_digits(v)) {
            int n = trs_count_digits(v);
            *w = *w * trs_ten[n] + trs_join_n(v, n);
            return p + n;
        }
        *w = *w * 100000000 + trs_join(v);
        p += 8;
        if (!trs_is_digit(*p))
            return p; /* a branch that is predicted, so that nothing waits for n */
    }
}

/* w = the digits of "d." and n digits, n < 16, filled up with zeros to 17 digits; false: the text is not of that
 * form. */
TRS_INLINE bool trs_join_short(const char *p, int64_t n, uint64_t *w)
{
    trs_sixteen v = trs_first(trs_load_sixteen(p + 2), n);
    uint64_t pair = trs_join_sixteen(v), d = (uint64_t)(*p - '0');
    *w = (d * 100000000 + (uint32_t)pair) * 100000000 + (pair >> 32);
    return trs_are_sixteen_digits(v) && d < 10 && p[1] == '.';
}

/* w = the digits of "d." and 16 to 18 digits: the last 16 are joined together, and those before them one by one; false:
 * the text is not of that form. */
TRS_INLINE bool trs_join_long(const char *p, int64_t n, uint64_t *w)
{
    static const uint32_t times[3][3] = {{1, 0, 0}, {10, 1, 0}, {100, 10, 1}};
    TRS_ASSERT(n >= 16 && n <= 18);
    uint32_t head = (uint32_t)trs_word(p) ^ 0x30302e30; /* d, 0 for the point, two more digits */
    trs_sixteen v = trs_load_sixteen(p + n - 14);
    uint64_t pair = trs_join_sixteen(v);
    const uint32_t *t = times[n - 16];
    uint64_t front = (head & 0xff) * t[0] + (head >> 16 & 0xff) * t[1] + (head >> 24) * t[2];
    *w = (front * 100000000 + (uint32_t)pair) * 100000000 + (pair >> 32);
    return trs_are_sixteen_digits(v) && !(((head + 0x76767f76) | head) & 0x80808080);
}

/* Read [-] d . and at most 18 digits that end at `end`, the plain form, in which most values are written.  false: the
 * value has another form, or is 0. */
TRS_INLINE bool trs_read_plain(const char *p, const char *end, double *x)
{
    const uint64_t minus = *p == '-';
    p += minus;
    int64_t n = end - p - 2;
    uint64_t w;
    if ((uint64_t)n > 18) return false;
    bool ok = n < 16 ? trs_join_short(p, n, &w) : trs_join_long(p, n, &w);
    if (!ok || !w) return false;
    *x = trs_nearest_small(w, n < 16 ? -16 : -n);
    trs_flip(x, minus);
    return true;
}

/* How many zeros a number begins with, before the point and after it. */
static inline int64_t trs_count_zeros(const char *p)
{
    int64_t n = 0;
    for (; *p == '0' || *p == '.'; p++) n += *p == '0';
    return n;
}

/* Read [sign] digits [. digits] [exponent], correctly rounded.  Returns where it ends, or NULL when there is no number,
 * or one beyond DBL_MAX.  The sign is skipped without a branch, for half of the values may be negative, and no
 * processor predicts which. */
TRS_INLINE const char *trs_read_real(const char *text, double *x)
{
    static const double ten[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *p = text;
    const uint64_t minus = *p == '-';
    p += minus | (*p == '+');
    uint64_t w = (uint64_t)(*p - '0');
    const char *first = p;
    if (w < 10 && p[1] == '.') p++; /* most values have one digit before the point */
    else w = 0, p = trs_read_digits(p, &w);
    int64_t digits = p - first, q = 0;
    if (*p == '.') {
        const char *point = ++p;
        p = trs_read_digits(p, &w);
        q = point - p;
        digits -= q;
    }
    if ((uint64_t)(digits - 1) >= 19 && (uint64_t)(digits - 1 - trs_count_zeros(first)) >= 19)
        return trs_read_real_slow(text, x); /* there are no digits, or more than w holds */
    if (!(p = trs_read_exponent(p, &q))) return NULL;
    if ((uint64_t)(q + 300) < 296 && w) {
        *x = trs_nearest_small(w, q);
    } else if (FLT_EVAL_METHOD == 0 && w <= 1ull << 53 && q >= -22 && q <= 22) {
        *x = q < 0 ? (double)w / ten[-q] : (double)w * ten[q];
    } else {
        *x = trs_nearest(w, q);
        if (*x > DBL_MAX) return NULL;
    }
    trs_flip(x, minus);
    return p;
}

#endif
