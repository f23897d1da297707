/* mm_digits.h: the characters of numbers, eight or sixteen at a time.
 *
 * The text must end in a character that belongs to no number, followed by TRS_TEXT_PAD readable
 * bytes: then no loop needs to look where the end is. */
#ifndef TRS_MM_DIGITS_H
#define TRS_MM_DIGITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define TRS_TEXT_PAD 64

/* Where a call in the loop over the lines costs as much as the work. */
#define TRS_INLINE static inline __attribute__((always_inline))

TRS_INLINE bool trs_is_blank(char c)
{
    return c == ' ' || c == '\t';
}
TRS_INLINE bool trs_is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

TRS_INLINE const char *trs_skip_blanks(const char *p)
{
    while ((unsigned char)*p <= ' ' && trs_is_blank(*p)) p++;
    return p;
}

/* ---- eight characters in a word ------------------------------------------------------------ */

/* The eight characters at p minus '0', the first in the lowest byte: digits become 0..9. */
TRS_INLINE uint64_t trs_eight(const char *p)
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
TRS_INLINE int trs_count_digits(uint64_t v)
{
    uint64_t other = ((v + 0x7676767676767676) | v) & 0x8080808080808080;
    return other ? __builtin_ctzll(other) >> 3 : 8;
}

/* The number that eight digits make: pairs, then fours, then all. */
TRS_INLINE uint64_t trs_join(uint64_t v)
{
    v = v * 10 + (v >> 8);
    uint64_t odd = v & 0x000000ff000000ff, even = (v >> 16) & 0x000000ff000000ff;
    return (uint32_t)((odd * (100 + (1000000ull << 32)) + even * (1 + (10000ull << 32))) >> 32);
}

/* The number that the first n make, 0 <= n < 8: zeros are put before them. */
TRS_INLINE uint64_t trs_join_n(uint64_t v, int n)
{
    return trs_join(v << 8 << (56 - 8 * n));
}

/* All digits? */
TRS_INLINE bool trs_are_digits(uint64_t v)
{
    return !(((v + 0x7676767676767676) | v) & 0x8080808080808080);
}

/* ---- sixteen ---------------------------------------------------------------------------------- */

#ifdef __SSE2__
typedef __m128i trs_sixteen;

/* The sixteen characters at p minus '0'. */
TRS_INLINE trs_sixteen trs_load_sixteen(const char *p)
{
    return _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)p), _mm_set1_epi8('0'));
}

TRS_INLINE trs_sixteen trs_make_sixteen(uint64_t first, uint64_t second)
{
    return _mm_set_epi64x((int64_t)second, (int64_t)first);
}

/* The first n, 0 <= n <= 16, and zeros. */
TRS_INLINE trs_sixteen trs_first(trs_sixteen v, int64_t n)
{
    static const signed char keep[32] = {-1, -1, -1, -1, -1, -1, -1, -1,
                                         -1, -1, -1, -1, -1, -1, -1, -1};
    return _mm_and_si128(v, _mm_loadu_si128((const __m128i *)(const void *)(keep + 16 - n)));
}

TRS_INLINE bool trs_are_sixteen_digits(trs_sixteen v)
{
    return !_mm_movemask_epi8(_mm_adds_epu8(v, _mm_set1_epi8(0x76)));
}

/* The number that the first eight digits make, and 2^32 times that of the others. */
TRS_INLINE uint64_t trs_join_sixteen(trs_sixteen v)
{
    v = _mm_srli_epi16(_mm_mullo_epi16(v, _mm_set1_epi16(1 + (10 << 8))), 8);
    v = _mm_madd_epi16(v, _mm_set1_epi32(100 + (1 << 16)));
    v = _mm_madd_epi16(_mm_packs_epi32(v, v), _mm_set1_epi32(10000 + (1 << 16)));
    return (uint64_t)_mm_cvtsi128_si64(v);
}

/* Sixteen bits: which of the characters at p are none of a number's, the first in the lowest? */
TRS_INLINE uint64_t trs_sixteen_gaps(const char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    return (uint64_t)_mm_movemask_epi8(_mm_cmplt_epi8(v, _mm_set1_epi8(' ' + 1)));
}
#else
typedef struct trs_sixteen {
    uint64_t first, second;
} trs_sixteen;

TRS_INLINE trs_sixteen trs_make_sixteen(uint64_t first, uint64_t second)
{
    return (trs_sixteen){first, second};
}

TRS_INLINE trs_sixteen trs_load_sixteen(const char *p)
{
    return trs_make_sixteen(trs_eight(p), trs_eight(p + 8));
}

TRS_INLINE uint64_t trs_first_eight(uint64_t v, int64_t n)
{
    return n <= 0 ? 0 : n >= 8 ? v : v & ((1ull << 8 * n) - 1);
}

TRS_INLINE trs_sixteen trs_first(trs_sixteen v, int64_t n)
{
    return trs_make_sixteen(trs_first_eight(v.first, n), trs_first_eight(v.second, n - 8));
}

TRS_INLINE bool trs_are_sixteen_digits(trs_sixteen v)
{
    return trs_are_digits(v.first) && trs_are_digits(v.second);
}

TRS_INLINE uint64_t trs_join_sixteen(trs_sixteen v)
{
    return trs_join(v.first) | trs_join(v.second) << 32;
}

TRS_INLINE uint64_t trs_eight_gaps(const char *p)
{
    const uint64_t top = 0x8080808080808080;
    uint64_t v = trs_eight(p) ^ 0x3030303030303030, ink = ((v & ~top) + 0x5f5f5f5f5f5f5f5f) & ~v;
    return ((~ink & top) >> 7) * 0x0102040810204080 >> 56; /* the top bits side by side */
}

TRS_INLINE uint64_t trs_sixteen_gaps(const char *p)
{
    return trs_eight_gaps(p) | trs_eight_gaps(p + 8) << 8;
}
#endif

/* One bit for each of the 64 characters at p, the first in the lowest: is it none of a number's, but a
 * blank, another control character or beyond ASCII? */
TRS_INLINE uint64_t trs_gaps(const char *p)
{
    return trs_sixteen_gaps(p) | trs_sixteen_gaps(p + 16) << 16 |
           (trs_sixteen_gaps(p + 32) | trs_sixteen_gaps(p + 48) << 16) << 32;
}

#endif
