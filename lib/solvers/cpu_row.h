/* cpu_row.h: rows of forward substitution, for the type that each_type.h has set.
 *
 * Row i with the diagonal d = L(i, i) and an entry l = L(i, i-1) is solved as
 *
 *     s = b(i) - sum of L(i, k) x(k) over k < i-1,     r = 1 / d,     x(i) = s r - (l r) x(i-1)
 *
 * The sum is taken in the order of the columns, or as four sums where a row is long.  Rows of a chain wait for one
 * another: a core computes a row while it waits for the row before, except for the last step, which is one fused
 * multiplication and subtraction if the processor has it.  The division, by far the slowest operation, depends on no
 * x at all, and a core does several at a time.  So it costs less than reading n reciprocals.  This formula applies if
 * rows are chained, that is, if most of them have such an entry and are next to rows that have one too
 * (trs_rows_chained).  In other triangles the entry is one of the sum, and x(i) = s r: there a core could not predict
 * which rows have one, and rows hardly wait for one another.  If r or l r is not a normal number, the row is solved
 * by a division, x(i) = (s - l x(i-1)) / d: products with r would overflow or lose digits though x(i) need not.
 *
 * Solvers that go row by row on the host compute this function, and so give the same bits in any order of the rows.
 * Each statement that compilers may fuse has one product (base/number/clones.h).  r and l r are conjugated only when
 * they are used, because the inverse of a conjugate may have other signs of zeros. */

#include "base/debug.h"
#include "base/number/divide.h"
#include "base/number/vector.h"
#include "solvers/cpu_serial.h"

#include <string.h>

/* entries of a row from which on four sums pay */
enum { FN(LONG) = 16 };

/* As NORMAL, by the bits of the exponent: that takes fewer instructions. */
TRS_INLINE bool FN(is_normal)(T a)
{
#if IS_COMPLEX
    return NORMAL(a);
#else
    const bool single = sizeof a == sizeof(float);
    uint32_t word[sizeof a / sizeof(uint32_t)];
    memcpy(word, &a, sizeof a);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint32_t high = word[sizeof a / sizeof(uint32_t) - 1];
#else
    const uint32_t high = word[0];
#endif
    return single ? ((high >> 23) + 1) & 0xfe : ((high >> 20) + 1) & 0x7fe;
#endif
}

/* l r is zero, and does no harm, where l is. */
static __attribute__((cold, noinline)) bool FN(is_zero)(T l)
{
    return l == 0;
}

/* Is x(i) = s r - c x(i-1), where c = l r?  If not, it is a quotient. */
TRS_INLINE bool FN(scales)(T r, T l, T c)
{
    return FN(is_normal)(r) && (FN(is_normal)(c) || FN(is_zero)(l));
}

/* x(i) of the sum s where there is no l.  scales: it is known that r is normal. */
TRS_INLINE T FN(first_of_chain)(T s, T d, bool cj, bool scales)
{
    const T r = 1 / d;
    if (scales || FN(is_normal)(r)) return FN(times)(r, s, cj);
    return FN(quotient)(s, cj ? CONJ(d) : d);
}

/* The same where there is an l; y = x(i-1). */
TRS_INLINE T FN(next_of_chain)(T s, T d, T l, T y, bool cj, bool scales)
{
    const T r = 1 / d, c = FN(times)(r, l, false);
    if (scales || FN(scales)(r, l, c)) return FN(minus)(FN(times)(r, s, cj), c, y, cj);
    return FN(quotient)(FN(minus)(s, l, y, cj), cj ? CONJ(d) : d);
}

TRS_INLINE void FN(fetch_entries)(const trs_tri *L, int64_t p)
{
    TRS_PREFETCH(L->idx + p + FN(AHEAD));
    TRS_PREFETCH((const T *)L->val + p + FN(AHEAD));
}

/* s less the product of entry p with its x; fetch_x: x of an entry ahead is fetched. */
TRS_INLINE T FN(subtract_entry)(const trs_tri *L, int64_t p, T s, const T *x, int64_t xs, bool cj,
                                bool fetch_x)
{
    if (fetch_x) TRS_PREFETCH(x + L->idx[p + TRS_X_AHEAD] * xs);
    return FN(minus)(s, ((const T *)L->val)[p], x[L->idx[p] * xs], cj);
}

/* s less the products of the entries p..end-1 with their x */
TRS_INLINE T FN(short_sum)(const trs_tri *L, int64_t p, int64_t end, T s, const T *x, int64_t xs,
                           bool cj, bool fetch_x)
{
    for (; p < end; p++) s = FN(subtract_entry)(L, p, s, x, xs, cj, fetch_x);
    return s;
}

/* The same as four sums. */
TRS_INLINE T FN(long_sum)(const trs_tri *L, int64_t p, int64_t end, T s, const T *x, int64_t xs,
                          bool cj, bool fetch_x)
{
    T s1 = 0, s2 = 0, s3 = 0;
    for (; p < end - 3; p += 4) {
        if (fetch_x) FN(fetch_entries)(L, p);
        s = FN(subtract_entry)(L, p, s, x, xs, cj, fetch_x);
        s1 = FN(subtract_entry)(L, p + 1, s1, x, xs, cj, fetch_x);
        s2 = FN(subtract_entry)(L, p + 2, s2, x, xs, cj, fetch_x);
        s3 = FN(subtract_entry)(L, p + 3, s3, x, xs, cj, fetch_x);
    }
    return FN(short_sum)(L, p, end, (s + s1) + (s2 + s3), x, xs, cj, fetch_x);
}

/* The same of a row of any length.  Values of a row that is not long are in two lines of memory, or three. */
TRS_INLINE T FN(sum)(const trs_tri *L, int64_t p, int64_t end, T s, const T *x, int64_t xs, bool cj,
                     trs_fetch fetch)
{
    const bool fetch_x = fetch == TRS_FETCH_X && end + TRS_X_AHEAD <= L->nnz;
    if (end - p >= FN(LONG)) {
        if (fetch_x) return FN(long_sum)(L, p, end, s, x, xs, cj, true);
        return FN(long_sum)(L, p, end, s, x, xs, cj, false);
    }
    if (fetch != TRS_FETCH_NOTHING) {
        FN(fetch_entries)(L, p);
        TRS_PREFETCH((const T *)L->val + p + FN(AHEAD) + FN(LINE));
    }
    if (fetch_x) return FN(short_sum)(L, p, end, s, x, xs, cj, true);
    return FN(short_sum)(L, p, end, s, x, xs, cj, false);
}

/* Has row i, which is stored as row k, an entry in the column just before it? */
TRS_INLINE bool FN(follows)(const trs_tri *L, int32_t k, int32_t i)
{
    const int64_t p = L->ptr[k], q = L->ptr[k + 1] - 1;
    return p < q && L->idx[q - 1] == i - 1;
}

/* x(i) of row i, which is stored as row k; *y is x(i-1), and is read only if there is an entry in that column.
 * fetch: what is fetched for later rows.  scales: it is known that no x is a quotient.  chained: rows are. */
TRS_INLINE T FN(row)(const trs_tri *L, int32_t k, int32_t i, T b, const T *x, int64_t xs,
                     const T *y, bool cj, trs_fetch fetch, bool scales, bool chained)
{
    const T *Lx = L->val;
    const int64_t p = L->ptr[k], q = L->ptr[k + 1] - 1;
    TRS_ASSERT(p <= q && L->idx[q] == i);
#if IS_COMPLEX
    const bool follows = chained && FN(follows)(L, k, i);
    const T s = FN(sum)(L, p, q - follows, b, x, xs, cj, fetch);
    if (follows) return FN(next_of_chain)(s, Lx[q], Lx[q - 1], *y, cj, scales);
    return FN(first_of_chain)(s, Lx[q], cj, scales);
#else /* two loops are faster here, and slower with complex numbers */
    if (chained && FN(follows)(L, k, i)) {
        const T s = FN(sum)(L, p, q - 1, b, x, xs, cj, fetch);
        return FN(next_of_chain)(s, Lx[q], Lx[q - 1], *y, cj, scales);
    }
    return FN(first_of_chain)(FN(sum)(L, p, q, b, x, xs, cj, fetch), Lx[q], cj, scales);
#endif
}

/* Rows begin..end-1 in natural order, one after the other.  The x just before them is not looked at if they do not need
 * it: it may be another thread's. */
TRS_INLINE void FN(rows)(const trs_tri *L, int32_t begin, int32_t end, const T *b, int64_t bs, T *x,
                         int64_t xs, bool cj, trs_fetch fetch, bool scales, bool chained)
{
    T y = chained && begin < end && FN(follows)(L, begin, begin) ? x[(begin - 1) * xs] : 0;
    for (int32_t i = begin; i < end; i++) {
        y = FN(row)(L, i, i, b[i * bs], x, xs, &y, cj, fetch, scales, chained);
        x[i * xs] = y;
    }
}

/* Is no x(i) a quotient? */
TRS_INLINE bool FN(all_scale)(const trs_tri *L, bool chained)
{
    const T *Lx = L->val;
    bool all = true;
    for (int32_t i = 0; i < L->n; i++) {
        const int64_t q = L->ptr[i + 1] - 1;
        const T r = 1 / Lx[q];
        if (!chained || !FN(follows)(L, i, i)) all &= FN(is_normal)(r);
        else all &= FN(scales)(r, Lx[q - 1], FN(times)(r, Lx[q - 1], false));
    }
    return all;
}
