/* mm_number.h: numbers as text, digits taken eight at a time.
 *
 * The text must end in a character that belongs to no number, followed by TRS_TEXT_PAD readable
 * bytes: then no loop needs to look where the end is.  Nothing here knows the locale. */
#ifndef TRS_MM_NUMBER_H
#define TRS_MM_NUMBER_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TRS_TEXT_PAD 64

/* Where a call in the loop over the lines costs as much as the work. */
#define TRS_INLINE static inline __attribute__((always_inline))

typedef struct trs_u128 {
    uint64_t hi, lo;
} trs_u128;

#define TRS_POWER_MIN (-342)
#define TRS_POWER_MAX 324
extern const trs_u128 trs_power[TRS_POWER_MAX - TRS_POWER_MIN + 1];

/* The whole 128-bit product. */
static inline trs_u128 trs_mul(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide c = (wide)a * b;
    return (trs_u128){(uint64_t)(c >> 64), (uint64_t)c};
}

static inline bool trs_is_blank(char c)
{
    return c == ' ' || c == '\t';
}
static inline bool trs_is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static inline const char *trs_skip_blanks(const char *p)
{
    while ((unsigned char)*p <= ' ' && trs_is_blank(*p)) p++;
    return p;
}

/* ---- eight characters in a word ------------------------------------------------------------ */

/* The eight characters at p minus '0', the first in the lowest byte: digits become 0..9. */
static inline uint64_t trs_eight(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v ^ 0x3030303030303030;
}

/* How many of them, from the first, are digits.  Adding 0x76 carries 10..127 into the top bit; what
 * 128 and more carry into the next byte comes after the first character that is no digit. */
static inline int trs_count_digits(uint64_t v)
{
    uint64_t other = ((v + 0x7676767676767676) | v) & 0x8080808080808080;
    return other ? __builtin_ctzll(other) >> 3 : 8;
}

/* The number that eight digits make: pairs, then fours, then all. */
static inline uint64_t trs_join(uint64_t v)
{
    v = v * 10 + (v >> 8);
    uint64_t odd = v & 0x000000ff000000ff, even = (v >> 16) & 0x000000ff000000ff;
    return (uint32_t)((odd * (100 + (1000000ull << 32)) + even * (1 + (10000ull << 32))) >> 32);
}

/* The number that the first n make, 1 <= n <= 8: zeros are put before them. */
static inline uint64_t trs_join_n(uint64_t v, int n)
{
    return trs_join(v << (64 - 8 * n));
}

/* All digits? */
static inline bool trs_are_digits(uint64_t v)
{
    return !(((v + 0x7676767676767676) | v) & 0x8080808080808080);
}

/* w = w 10^n + the n digits at p (modulo 2^64: right for up to 19 significant digits). */
TRS_INLINE const char *trs_read_digits(const char *p, uint64_t *w)
{
    static const uint32_t ten[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    for (uint64_t v = trs_eight(p);; v = trs_eight(p)) {
        if (!trs_are_digits(v)) {
            int n = trs_count_digits(v);
            if (n) *w = *w * ten[n] + trs_join_n(v, n);
            return p + n;
        }
        *w = *w * 100000000 + trs_join(v);
        p += 8;
        if (!trs_is_digit(*p)) return p; /* a branch that can be guessed: nobody waits for n */
    }
}

/* ---- indices ------------------------------------------------------------------------------- */

/* Any number of digits, a plus sign before them; *k = UINT64_MAX when it does not fit. */
const char *trs_read_index_slow(const char *p, uint64_t *k);

/* An unsigned integer at p; returns where it ends, NULL: there is none. */
TRS_INLINE const char *trs_read_index(const char *p, uint64_t *k)
{
    uint64_t v = trs_eight(p);
    int n = trs_count_digits(v);
    if (n == 0 || n == 8) return trs_read_index_slow(p, k);
    *k = trs_join_n(v, n);
    return p + n;
}

/* ---- reals --------------------------------------------------------------------------------- */

/* The double nearest to w 10^q, ties to even; HUGE_VAL beyond DBL_MAX. */
double trs_nearest(uint64_t w, int64_t q);

/* The same for a text of any length, and for nan and inf; NULL: no number, or beyond DBL_MAX. */
const char *trs_read_real_slow(const char *p, double *x);

/* ["e" | "d" [sign] digits]: adds to *q; returns p itself when there is no exponent, NULL when
 * its digits are missing. */
static inline const char *trs_read_exponent(const char *p, int64_t *q)
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

/* x = -x when minus is 1, as it is when 0. */
static inline void trs_flip(double *x, uint64_t minus)
{
    uint64_t bits;
    memcpy(&bits, x, sizeof bits);
    bits ^= minus << 63;
    memcpy(x, &bits, sizeof bits);
}

/* [sign] digits [. digits] [exponent]: the correctly rounded double.  Returns where it ends;
 * NULL: no number, or one beyond DBL_MAX.  Source of the fast path, w and 10^|q| both exact:
 * Clinger 1990. */
TRS_INLINE const char *trs_read_real(const char *text, double *x)
{
    static const double ten[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *p = text;
    const uint64_t minus = *p == '-';
    p += minus |
         (*p == '+'); /* without a branch: half of the values are negative, who knows which */
    uint64_t w = (uint64_t)(*p - '0');
    const char *first = p;
    if (w < 10 && p[1] == '.') p++; /* one digit before the point: most values begin so */
    else w = 0, p = trs_read_digits(p, &w);
    int64_t digits = p - first, q = 0;
    if (*p == '.') {
        const char *point = ++p;
        p = trs_read_digits(p, &w);
        q = point - p;
        digits -= q;
    }
    if ((uint64_t)(digits - 1) >= 19)
        return trs_read_real_slow(text, x); /* none, or more than w holds */
    if (!(p = trs_read_exponent(p, &q))) return NULL;
    if (FLT_EVAL_METHOD == 0 && w <= 1ull << 53 && q >= -22 && q <= 22) {
        *x = q < 0 ? (double)w / ten[-q] : (double)w * ten[q];
    } else {
        *x = trs_nearest(w, q);
        if (*x > DBL_MAX) return NULL;
    }
    trs_flip(x, minus);
    return p;
}

/* ---- writing ------------------------------------------------------------------------------- */

enum { TRS_REAL_TEXT = 32, TRS_INT_TEXT = 20 }; /* characters that the longest number takes */

/* Shortest digits that read back to x; nan, inf, -inf.  Returns the end; no NUL is written. */
char *trs_put_real(char *p, double x);
char *trs_put_float(char *p, float x);
char *trs_put_int(char *p, uint64_t k);

#endif
