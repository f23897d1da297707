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

/* The first byte is the lowest, whatever the machine's own order. */
TRS_INLINE uint64_t trs_little_endian(uint64_t v)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(v);
#else
    return v;
#endif
}

TRS_INLINE uint64_t trs_word(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return trs_little_endian(v);
}

/* The eight characters at p minus '0', the first in the lowest byte: digits become 0..9. */
TRS_INLINE uint64_t trs_eight(const char *p)
{
    return trs_word(p) ^ 0x3030303030303030;
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

/* Eight times 1 + 10 2^8.  In another file, because gcc makes shifts and sums of a product with a constant
 * that it sees: four instructions for one. */
extern const uint16_t trs_pair[8];

/* The number that the first eight digits make, and 2^32 times that of the others. */
TRS_INLINE uint64_t trs_join_sixteen(trs_sixteen v)
{
    const __m128i pair = _mm_loadu_si128((const __m128i *)(const void *)trs_pair);
    v = _mm_srli_epi16(_mm_mullo_epi16(v, pair), 8);
    v = _mm_madd_epi16(v, _mm_set1_epi32(100 + (1 << 16)));
    v = _mm_madd_epi16(_mm_packs_epi32(v, v), _mm_set1_epi32(10000 + (1 << 16)));
    return (uint64_t)_mm_cvtsi128_si64(v);
}

/* Sixteen bits: which of the characters at p can be a number's, the first in the lowest? */
TRS_INLINE uint64_t trs_sixteen_ink(const char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    return (uint64_t)_mm_movemask_epi8(_mm_cmpgt_epi8(v, _mm_set1_epi8(' ')));
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

TRS_INLINE uint64_t trs_eight_ink(const char *p)
{
    const uint64_t top = 0x8080808080808080;
    uint64_t v = trs_word(p), ink = ((v & ~top) + 0x5f5f5f5f5f5f5f5f) & ~v;
    return ((ink & top) >> 7) * 0x0102040810204080 >> 56; /* the top bits side by side */
}

TRS_INLINE uint64_t trs_sixteen_ink(const char *p)
{
    return trs_eight_ink(p) | trs_eight_ink(p + 8) << 8;
}
#endif

/* ---- gaps: characters that are none of a number's, but blanks, other controls or beyond ASCII -------- */

/* One bit for each of the 64 characters at p, the first in the lowest. */
TRS_INLINE uint64_t trs_sixty_four_gaps(const char *p)
{
    return ~(trs_sixteen_ink(p) | trs_sixteen_ink(p + 16) << 16 |
             (trs_sixteen_ink(p + 32) | trs_sixteen_ink(p + 48) << 16) << 32);
}

enum { TRS_WINDOW = 4096 }; /* characters whose gaps are looked for at once */

/* The same for the n characters at p, n <= TRS_WINDOW, and up to 63 after them, one after the other, and none
 * after those: n / 8 + 16 bytes.  Asks for the next window: no processor reads ahead beyond a page. */
TRS_INLINE void trs_map_gaps(const char *p, int64_t n, char *map)
{
    uint64_t gaps = 0;
    for (int64_t k = 0; k < n; k += 64, map += sizeof gaps) {
        __builtin_prefetch(p + k + TRS_WINDOW);
        gaps = trs_little_endian(trs_sixty_four_gaps(p + k));
        memcpy(map, &gaps, sizeof gaps);
    }
    memset(map, 0, sizeof gaps);
}

/* Those of the characters from number `at` on: of 57 at least, or of all 64. */
TRS_INLINE uint64_t trs_gaps_at(const char *map, int64_t at, const bool all)
{
    int out = (int)(at & 7);
    uint64_t gaps = trs_word(map += at >> 3) >> out;
    return all ? gaps | (uint64_t)(unsigned char)map[8] << 1 << (63 - out) : gaps;
}

#endif
