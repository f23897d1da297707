/* digits.h: the characters of decimal numbers, eight or sixteen at a time.
 *
 * A word of 64 bits holds eight characters, the first in the lowest byte.  Tests for digits and the conversion to a
 * number process all eight at once, without a loop or a branch; SSE2 processes sixteen.
 *
 * The text must end in a character that belongs to no number, followed by TRS_TEXT_PAD readable bytes.  Then no loop
 * needs to check for the end of the text. */
#ifndef TRS_DIGITS_H
#define TRS_DIGITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define TRS_TEXT_PAD 64

/* For functions of the loop over the lines of a file, in which a call would cost as much as the work. */
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

/* v, loaded from memory, with the first byte lowest, whatever the byte order of the machine. */
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

/* How many of them, from the first, are digits.  Adding 0x76 to a byte sets its top bit when the byte is 10..127.  A
 * byte of 128 or more has that bit already; it may carry into the next byte, but that one comes after the first
 * character that is no digit, and does not count. */
TRS_INLINE int trs_count_digits(uint64_t v)
{
    uint64_t other = ((v + 0x7676767676767676) | v) & 0x8080808080808080;
    return other ? __builtin_ctzll(other) >> 3 : 8;
}

/* The number that eight digits make: neighbours are joined to pairs, these to fours, and these to all eight. */
TRS_INLINE uint64_t trs_join(uint64_t v)
{
    v = v * 10 + (v >> 8);
    uint64_t odd = v & 0x000000ff000000ff, even = (v >> 16) & 0x000000ff000000ff;
    return (uint32_t)((odd * (100 + (1000000ull << 32)) + even * (1 + (10000ull << 32))) >> 32);
}

/* The number that the first n digits make, 0 <= n < 8, by shifting zeros in before them. */
TRS_INLINE uint64_t trs_join_n(uint64_t v, int n)
{
    return trs_join(v << 8 << (56 - 8 * n));
}

/* Are all eight characters digits? */
TRS_INLINE bool trs_are_digits(uint64_t v)
{
    return !(((v + 0x7676767676767676) | v) & 0x8080808080808080);
}

/* ---- sixteen characters ---------------------------------------------------------------------- */

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

/* The first n digits of v, 0 <= n <= 16, and zeros after them. */
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

/* Eight times 1 + 10 2^8.  It is defined in another file, because gcc replaces a product with a constant that it sees
 * by shifts and sums: four instructions in place of one. */
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

/* Bit k, for k < 16: is character p [k] one of ASCII that is printed, as all characters of a number are? */
TRS_INLINE uint64_t trs_sixteen_printed(const char *p)
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
    if (n <= 0) return 0;
    return n >= 8 ? v : v & ((1ull << 8 * n) - 1);
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

/* The same for eight characters.  Adding 0x5f to a byte below 128 sets its top bit when the byte is above ' '; the
 * product puts the top bits side by side. */
TRS_INLINE uint64_t trs_eight_printed(const char *p)
{
    const uint64_t top = 0x8080808080808080;
    uint64_t v = trs_word(p), printed = ((v & ~top) + 0x5f5f5f5f5f5f5f5f) & ~v;
    return ((printed & top) >> 7) * 0x0102040810204080 >> 56;
}

TRS_INLINE uint64_t trs_sixteen_printed(const char *p)
{
    return trs_eight_printed(p) | trs_eight_printed(p + 8) << 8;
}
#endif

/* ---- delimiters ------------------------------------------------------------------------------
 *
 * A delimiter is a character that belongs to no number: a blank, a control character or one beyond ASCII.  A bitmap of
 * a window of text has a bit for each character, 1 for a delimiter:
 *
 *     text      1 2 _ 7 _ - 0 . 5 \n      (_ a blank)
 *     bitmap    0 0 1 0 1 0 0 0 0 1 */

/* The bits of the 64 characters at p, the first in the lowest. */
TRS_INLINE uint64_t trs_find_delimiters(const char *p)
{
    return ~(trs_sixteen_printed(p) | trs_sixteen_printed(p + 16) << 16 |
             (trs_sixteen_printed(p + 32) | trs_sixteen_printed(p + 48) << 16) << 32);
}

enum {
    TRS_WINDOW = 4096,               /* characters of a window */
    TRS_BITMAP = TRS_WINDOW / 8 + 16 /* bytes of its bitmap */
};

/* map = the bits of the n characters at p, n <= TRS_WINDOW, and of up to 63 characters after them; a word of zeros
 * follows.  The next window is prefetched, because no processor prefetches beyond a page by itself. */
TRS_INLINE void trs_map_delimiters(const char *p, int64_t n, char *map)
{
    uint64_t bits = 0;
    for (int64_t k = 0; k < n; k += 64, map += sizeof bits) {
        __builtin_prefetch(p + k + TRS_WINDOW);
        bits = trs_little_endian(trs_find_delimiters(p + k));
        memcpy(map, &bits, sizeof bits);
    }
    memset(map, 0, sizeof bits);
}

/* The bits of the characters from number `at` of the window on: of all 64, or of at least 57. */
TRS_INLINE uint64_t trs_delimiters_at(const char *map, int64_t at, const bool all)
{
    int out = (int)(at & 7);
    uint64_t bits = trs_word(map += at >> 3) >> out;
    return all ? bits | (uint64_t)(unsigned char)map[8] << 1 << (63 - out) : bits;
}

#endif
