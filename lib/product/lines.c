/* lines.c: sums over the entries of stored lines; product.h defines them.
 *
 * A core takes 0.3 ns for an entry of a long line while A is in its caches.  A comparison of the index costs little of that,
 * because its branch is never taken; a pass over the indices beforehand would cost 0.07 ns and more.  A sum along a long line
 * is split, since one sum would wait for its additions.  Where lines are short, the processor does not see early enough
 * which entries follow, hence they are fetched.
 *
 * The loops read indices of 32 bits.  Those of 64 bits, blocks and columns of full matrices are first brought into this form,
 * a piece of a line at a time. */
#ifndef T

#include "config.h"

#include "product.h"
#include "base/number/clones.h"
#include "base/debug.h"

enum { PIECE = 256 }; /* entries */

static bool is_plain(const trs_mat *A)
{
    return (A->format == TRS_CSR || A->format == TRS_CSC) && A->idx_bits != 64;
}

int trs_product_columns(const trs_mat *A, int nrhs)
{
    return is_plain(A) && nrhs >= TRS_PRODUCT_COLUMNS ? TRS_PRODUCT_COLUMNS : 1;
}

/* The indices of a line that the loops sum. */
typedef struct limits {
    /* the first one, with the base, and how many there are */
    uint32_t low, span;
} limits;

/* The diagonal is left out if it is 1, and if it counts once where other entries count twice. */
TRS_INLINE limits limits_of(const trs_product *s, int64_t l)
{
    const uint32_t apart = s->A->kind & TRS_UNIT || (s->along && s->across);
    const uint32_t first = s->tail ? (uint32_t)l + apart : 0;
    limits g = {(uint32_t)s->A->base + first, (uint32_t)s->A->n - first};
    if (s->head) g.span = (uint32_t)l + 1 - apart;
    return g;
}

/* c [4] = the places of four entries among these indices; false: one has none. */
TRS_INLINE bool places(limits g, const int32_t *idx, uint32_t *c)
{
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        c[k] = (uint32_t)idx[k] - g.low;
        if (c[k] >= g.span) return false;
    }
    return true;
}

/* Is it an index at all, whether it counts or not? */
TRS_INLINE bool is_index(const trs_mat *A, int32_t index)
{
    return (uint32_t)index - (uint32_t)A->base < (uint32_t)A->n;
}

#define LIKELY(condition) __builtin_expect(condition, 1)

/* Where a line, or a row of blocks, begins. */
TRS_INLINE int64_t begin_of(const trs_mat *A, int64_t l)
{
    const bool wide = A->ptr_bits != 32;
    const int64_t at = LIKELY(wide) ? ((const int64_t *)A->ptr)[l] : ((const int32_t *)A->ptr)[l];
    return (int64_t)((uint64_t)at - (uint64_t)A->base);
}

/* The number of entries of a line; negative: the pointers are wrong. */
static int64_t length_of(const trs_mat *A, int64_t l)
{
    const int64_t r = A->format == TRS_BSR ? A->block : 1;
    if (A->format == TRS_DENSE) return A->n;
    const int64_t begin = begin_of(A, l / r), end = begin_of(A, l / r + 1);
    return begin >= 0 && begin <= end && end <= A->nnz ? (end - begin) * r : -1;
}

#define TRS_BODY "product/lines.c"
#include "base/each_type.h"

bool trs_product_lines(const trs_product *s, int64_t begin, int64_t end, int columns, trs_view x,
                       trs_view y)
{
    typedef bool (*lines_fn)(const trs_product *, int64_t, int64_t, int, trs_view, trs_view);
    static const lines_fn table[] = TRS_PER_TYPE(any_lines);
    const trs_mat *A = s->A;
    TRS_ASSERT(columns == 1 || columns == TRS_PRODUCT_COLUMNS);
    if (!table[A->dtype](s, begin, end, columns, x, y)) return false;
    return end < A->n || A->format == TRS_DENSE || begin_of(A, trs_major_count(A)) == A->nnz;
}

void trs_product_start(const trs_product *s, int64_t begin, int64_t end, int columns, trs_view x,
                       trs_view y)
{
    typedef void (*start_fn)(const trs_product *, int64_t, int64_t, int, trs_view, trs_view);
    static const start_fn table[] = TRS_PER_TYPE(start);
    table[s->A->dtype](s, begin, end, columns, x, y);
}

void trs_product_add(trs_dtype t, int64_t begin, int64_t end, int columns, trs_view part,
                     trs_view y)
{
    typedef void (*add_fn)(int64_t, int64_t, int, trs_view, trs_view);
    static const add_fn table[] = TRS_PER_TYPE(add_part);
    table[t](begin, end, columns, part, y);
}

#else

enum {
    FN(AHEAD) = 4096 / sizeof(T)
}; /* entries from those that are read to those that are fetched */

/* ---- terms -------------------------------------------------------------------------------------------- */

/* A sum of products a x.  That of complex numbers has the parts of a apart, so that a term is two products of a number and
 * a vector:  s = sum of re (a) x,  t = sum of im (a) x,  sum of a x = s + i t,  sum of conj (a) x = s - i t. */
#if IS_COMPLEX
typedef REAL FN(number) __attribute__((vector_size(sizeof(T)), aligned(sizeof(REAL)), may_alias));
typedef struct FN(sum) {
    FN(number) s, t;
} FN(sum);
#else
typedef T FN(number);
typedef T FN(sum);
#endif

TRS_INLINE void FN(add)(FN(sum) * sum, const T *a, const T *x)
{
#if IS_COMPLEX
    const FN(number) v = *(const FN(number) *)x;
    sum->s += ((const REAL *)a)[0] * v;
    sum->t += ((const REAL *)a)[1] * v;
#else
    *sum += *a * *x;
#endif
}

/* The real part of a alone. */
TRS_INLINE void FN(add_real)(FN(sum) * sum, const T *a, const T *x)
{
#if IS_COMPLEX
    sum->s += *(const REAL *)a * *(const FN(number) *)x;
#else
    FN(add)(sum, a, x);
#endif
}

TRS_INLINE void FN(merge)(FN(sum) * sum, const FN(sum) * other)
{
#if IS_COMPLEX
    sum->s += other->s;
    sum->t += other->t;
#else
    *sum += *other;
#endif
}

TRS_INLINE T FN(value)(const FN(sum) * sum, bool conj)
{
#if IS_COMPLEX
    const REAL re = conj ? -sum->t[1] : sum->t[1], im = conj ? -sum->t[0] : sum->t[0];
    return (T)CMPLX(sum->s[0] - re, sum->s[1] + im);
#else
    (void)conj;
    return *sum;
#endif
}

/* x as a factor of many a: x, and i x, or -i x if a is to be conjugated. */
typedef struct FN(factor) {
    FN(number) x, turned;
} FN(factor);

TRS_INLINE FN(factor) FN(factor_of)(T x, bool conj)
{
#if IS_COMPLEX
    const REAL re = (REAL)creal(x), im = (REAL)cimag(x);
    return (FN(factor)){{re, im}, {conj ? im : -im, conj ? -re : re}};
#else
    (void)conj;
    return (FN(factor)){x, 0};
#endif
}

/* y += a x */
TRS_INLINE void FN(update)(T *y, const T *a, FN(factor) f)
{
#if IS_COMPLEX
    FN(number) *v = (FN(number) *)y;
    *v = *v + ((const REAL *)a)[0] * f.x + ((const REAL *)a)[1] * f.turned;
#else
    *y += *a * f.x;
#endif
}

/* ---- one column of X and Y --------------------------------------------------------------------------- */

/* The loops below do the entries p..end-1, and return false if an index is out of range.  x and y begin at the first index
 * that counts; their elements are step numbers apart. */

/* sum += a x(c) for entries in groups of four, until one does not count.  Returns the first one that remains. */
TRS_INLINE int64_t FN(groups)(limits g, int64_t p, int64_t end, const int32_t *idx, const T *val,
                              const T *x, int64_t step, FN(sum) * sum)
{
#if IS_COMPLEX
    FN(sum) s[4] = {0};
#else
    typedef T four __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));
    four s = {0};
#endif
    uint32_t c[4];
    for (; p + 4 <= end && places(g, idx + p, c); p += 4) {
#if IS_COMPLEX
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) FN(add)(&s[k], val + p + k, x + c[k] * step);
#else
        const four u = {x[c[0] * step], x[c[1] * step], x[c[2] * step], x[c[3] * step]};
        s += *(const four *)(val + p) * u;
#endif
    }
#if IS_COMPLEX
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) FN(merge)(sum, &s[k]);
#else
    *sum += (s[0] + s[1]) + (s[2] + s[3]);
#endif
    return p;
}

/* sum += a x(c) */
TRS_INLINE bool FN(dot)(const trs_mat *A, limits g, bool triangle, bool fetch, int64_t p,
                        int64_t end, const int32_t *idx, const T *val, const T *x, int64_t step,
                        FN(sum) * sum)
{
    FN(sum) s = *sum;
    if (LIKELY(end - p < 8)) {
        if (fetch) TRS_PREFETCH(idx + p + FN(AHEAD));
        if (fetch) TRS_PREFETCH(val + p + FN(AHEAD));
    } else p = FN(groups)(g, p, end, idx, val, x, step, &s);
    for (; p < end; p++) {
        const uint32_t c = (uint32_t)idx[p] - g.low;
        if (c >= g.span) {
            if (triangle && is_index(A, idx[p])) continue;
            return false;
        }
        FN(add)(&s, val + p, x + c * step);
    }
    *sum = s;
    return true;
}

/* y(c) += a x(l), where f is x(l) */
TRS_INLINE bool FN(spread)(const trs_mat *A, limits g, bool triangle, int64_t p, int64_t end,
                           const int32_t *idx, const T *val, FN(factor) f, T *y, int64_t step)
{
    uint32_t c[4];
    for (; p + 4 <= end && places(g, idx + p, c); p += 4) {
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) FN(update)(y + c[k] * step, val + p + k, f);
    }
    for (; p < end; p++) {
        c[0] = (uint32_t)idx[p] - g.low;
        if (c[0] >= g.span) {
            if (triangle && is_index(A, idx[p])) continue;
            return false;
        }
        FN(update)(y + c[0] * step, val + p, f);
    }
    return true;
}

/* Both; of the diagonal, which is most often the first or the last entry, the real part counts once. */
TRS_INLINE bool FN(dot_and_spread)(const trs_mat *A, limits g, int64_t l, int64_t p, int64_t end,
                                   const int32_t *idx, const T *val, const T *x, const T *x_l,
                                   int64_t x_step, FN(factor) f, T *y, int64_t y_step,
                                   FN(sum) * sum)
{
    const int32_t own = (int32_t)(l + A->base);
    FN(sum) s[4] = {0};
    uint32_t c[4];
    if (p < end && idx[p] == own) FN(add_real)(sum, val + p++, x_l);
    if (p < end && idx[end - 1] == own) FN(add_real)(sum, val + --end, x_l);
    for (; p + 4 <= end && places(g, idx + p, c); p += 4) {
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) {
            FN(add)(&s[k], val + p + k, x + c[k] * x_step);
            FN(update)(y + c[k] * y_step, val + p + k, f);
        }
    }
    for (; p < end; p++) {
        c[0] = (uint32_t)idx[p] - g.low;
        if (c[0] < g.span) {
            FN(add)(&s[0], val + p, x + c[0] * x_step);
            FN(update)(y + c[0] * y_step, val + p, f);
        } else if (idx[p] == own) FN(add_real)(sum, val + p, x_l);
        else if (!is_index(A, idx[p])) return false;
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) FN(merge)(sum, &s[k]);
    return true;
}

/* Write the indices of count entries of line l, the last of which are `left`, and return their values, which may be in
 * copy.  An index that is out of range becomes one that no matrix has. */
static const T *FN(piece)(const trs_mat *A, int64_t l, int64_t left, int64_t count, int32_t *idx,
                          T *copy)
{
    const bool by_rows = A->block_layout == TRS_ROW_MAJOR, full = A->format == TRS_DENSE;
    const int64_t r = A->format == TRS_BSR ? A->block : 1, limit = A->n / r;
    const int64_t down = by_rows ? r : 1, right = by_rows ? 1 : r;
    const T *val = A->val;
    for (int64_t i = 0; i < count && full; i++) idx[i] = (int32_t)(A->n - left + i + A->base);
    if (full) return val + l * A->ld + A->n - left;
    int64_t p = begin_of(A, l / r + 1) - (left + r - 1) / r, c = (r - left % r) % r;
    val += l % r * down;
    for (int64_t i = 0; i < count; i++) {
        const int64_t J = trs_index(A->idx, A->idx_bits, p);
        const bool in = J >= A->base && J < A->base + limit;
        idx[i] = in ? (int32_t)((J - A->base) * r + c + A->base) : -1;
        copy[i] = val[p * r * r + c * right];
        if (++c == r) c = 0, p++;
    }
    return copy;
}

/* Add the terms of some entries of line l to sum, or to y, or to both; x and y begin at the first index that counts, and f is
 * x(l). */
TRS_INLINE bool FN(entries)(const trs_mat *A, limits g, bool plain, bool triangle, int64_t l,
                            int64_t p, int64_t end, const int32_t *idx, const T *val, trs_view x,
                            const T *x_l, FN(factor) f, trs_view y, FN(sum) * sum, bool along,
                            bool across)
{
    if (along && across)
        return FN(dot_and_spread)(A, g, l, p, end, idx, val, x.p, x_l, x.rs, f, y.p, y.rs, sum);
    if (along) return FN(dot)(A, g, triangle, plain, p, end, idx, val, x.p, x.rs, sum);
    return FN(spread)(A, g, triangle, p, end, idx, val, f, y.p, y.rs);
}

/* The same for all entries of a line that is not plain. */
TRS_INLINE bool FN(in_pieces)(const trs_mat *A, limits g, int64_t l, trs_view x, const T *x_l,
                              FN(factor) f, trs_view y, FN(sum) * sum, bool along, bool across)
{
    int32_t idx[PIECE];
    T copy[PIECE];
    int64_t left = length_of(A, l);
    bool ok = left >= 0;
    while (ok && left > 0) {
        const int64_t count = trs_min(left, PIECE);
        const T *val = FN(piece)(A, l, left, count, idx, copy);
        ok =
            FN(entries)(A, g, false, true, l, 0, count, idx, val, x, x_l, f, y, sum, along, across);
        left -= count;
    }
    return ok;
}

/* y(l) of the sum along the line. */
TRS_INLINE void FN(finish)(const FN(sum) * sum, bool conj, bool unit, const T *x_l, T *y,
                           bool across)
{
    const T value = FN(value)(sum, conj);
    if (across) *y += value;
    else if (unit) *y = value + *x_l;
    else *y = value;
}

TRS_INLINE trs_view FN(from_row)(trs_view v, int64_t i)
{
    return (trs_view){(T *)v.p + i * v.rs, v.rs, v.cs};
}

TRS_INLINE bool FN(one)(const trs_product *s, int64_t begin, int64_t end, trs_view x, trs_view y,
                        bool plain, bool triangle, bool along, bool across)
{
    const trs_mat *A = s->A;
    const bool conj = s->conj_along, unit = triangle && A->kind & TRS_UNIT;
    const int32_t *idx = A->idx;
    const T *xp = x.p, *val = A->val;
    T *yp = y.p;
    limits g = limits_of(s, 0);
    trs_view u = x, v = y;
    int64_t next = plain ? begin_of(A, begin) : 0;
    if (next < 0 || next > A->nnz) return false;
    for (int64_t l = begin; l < end; l++) {
        const int64_t p = next;
        const T *x_l = xp + l * x.rs;
        FN(sum) sum = {0};
        FN(factor) f = {0};
        if (plain) next = begin_of(A, l + 1);
        if (p > next || next > A->nnz) return false;
        if (triangle) {
            g = limits_of(s, l);
            u = FN(from_row)(x, g.low - (uint32_t)A->base);
            v = FN(from_row)(y, g.low - (uint32_t)A->base);
        }
        if (across) f = FN(factor_of)(*x_l, s->conj_across);
        bool ok;
        if (!plain) ok = FN(in_pieces)(A, g, l, u, x_l, f, v, &sum, along, across);
        else
            ok = FN(entries)(A, g, true, triangle, l, p, next, idx, val, u, x_l, f, v, &sum, along,
                             across);
        if (!ok) return false;
        if (along) FN(finish)(&sum, conj, unit, x_l, yp + l * y.rs, across);
    }
    return true;
}

/* ---- all columns of plain lines ---------------------------------------------------------------------- */

enum { FN(W) = TRS_PRODUCT_COLUMNS };

TRS_INLINE void FN(entry)(const T *a, const T *x, int64_t x_step, FN(sum) * sum,
                          const FN(factor) * f, T *y, int64_t y_step, bool along, bool across)
{
#pragma GCC unroll 4
    for (int r = 0; r < FN(W); r++) {
        if (along) FN(add)(&sum[r], a, x + r * x_step);
        if (across) FN(update)(y + r * y_step, a, f[r]);
    }
}

/* An entry that is not one of those that the loop sums.  False: its index is out of range. */
TRS_INLINE bool FN(other_entry)(const trs_mat *A, bool twice, int64_t l, int32_t index,
                                const T *val, const T *x_l, int64_t step, FN(sum) * sum)
{
    if (twice && index == l + A->base)
#pragma GCC unroll 4
        for (int r = 0; r < FN(W); r++) FN(add_real)(&sum[r], val, x_l + r * step);
    return is_index(A, index);
}

TRS_INLINE bool FN(many)(const trs_product *s, int64_t begin, int64_t end, trs_view x, trs_view y,
                         bool along, bool across)
{
    const trs_mat *A = s->A;
    const T *xp = x.p, *val = A->val;
    T *yp = y.p;
    const int32_t *idx = A->idx;
    const bool triangle = s->head || s->tail, conj = s->conj_along, unit = A->kind & TRS_UNIT;
    limits g = limits_of(s, 0);
    trs_view u = x, v = y;
    int64_t p = begin_of(A, begin);
    if (p < 0) return false;
    for (int64_t l = begin; l < end; l++) {
        const int64_t stop = begin_of(A, l + 1);
        const T *x_l = xp + l * x.rs;
        FN(sum) sum[FN(W)] = {0};
        FN(factor) f[FN(W)] = {0};
        if (p > stop || stop > A->nnz) return false;
        if (triangle) {
            g = limits_of(s, l);
            u = FN(from_row)(x, g.low - (uint32_t)A->base);
            v = FN(from_row)(y, g.low - (uint32_t)A->base);
        }
        if (across)
#pragma GCC unroll 4
            for (int r = 0; r < FN(W); r++) f[r] = FN(factor_of)(x_l[r * x.cs], s->conj_across);
        for (; p < stop; p++) {
            const uint32_t c = (uint32_t)idx[p] - g.low;
            if (c >= g.span) {
                if (FN(other_entry)(A, along && across, l, idx[p], val + p, x_l, x.cs, sum))
                    continue;
                return false;
            }
            FN(entry)
            (val + p, (const T *)u.p + c * x.rs, x.cs, sum, f, (T *)v.p + c * y.rs, y.cs, along,
             across);
        }
        if (along)
#pragma GCC unroll 4
            for (int r = 0; r < FN(W); r++)
                FN(finish)(&sum[r], conj, unit, x_l + r * x.cs, yp + l * y.rs + r * y.cs, across);
    }
    return true;
}

/* ---- the same with constants --------------------------------------------------------------------------- */

typedef bool FN(lines)(const trs_product *s, int64_t begin, int64_t end, trs_view x, trs_view y);

#define LINES(name, set, loop, ...)                                                                \
    static TRS_FMA_CLONES bool FN(name)(const trs_product *s, int64_t begin, int64_t end,          \
                                        trs_view x, trs_view y)                                    \
    {                                                                                              \
        set;                                                                                       \
        return FN(loop)(s, begin, end, x, y, __VA_ARGS__);                                         \
    }

/* Plain lines: a column of a general matrix, and of a triangle; a column that does not lie in one piece; all columns, stored
 * by columns, and by rows. */
#define SHAPES(name, along, across)                                                                \
    LINES(name##_triangle, x.rs = y.rs = 1, one, true, true, along, across)                        \
    LINES(name##_scattered, , one, true, true, along, across)                                      \
    LINES(name##_columns, x.rs = y.rs = 1, many, along, across)                                    \
    LINES(name##_rows, x.cs = y.cs = 1, many, along, across)

LINES(along_general, x.rs = y.rs = 1, one, true, false, true, false)
LINES(across_general, x.rs = y.rs = 1, one, true, false, false, true)
SHAPES(along, true, false)
SHAPES(across, false, true)
SHAPES(both, true, true)
LINES(pieces, , one, false, true, s->along, s->across) /* a column of any other A */

static bool FN(any_lines)(const trs_product *s, int64_t begin, int64_t end, int columns, trs_view x,
                          trs_view y)
{
    static FN(lines) *const table[3][5] = {
        {FN(along_general), FN(along_triangle), FN(along_scattered), FN(along_columns),
         FN(along_rows)},
        {FN(across_general), FN(across_triangle), FN(across_scattered), FN(across_columns),
         FN(across_rows)},
        {NULL, FN(both_triangle), FN(both_scattered), FN(both_columns), FN(both_rows)},
    };
    FN(lines) *const *shape = table[s->along + 2 * s->across - 1];
    const bool by_columns = x.rs == 1 && y.rs == 1, triangle = s->head || s->tail;
    if (!is_plain(s->A)) return FN(pieces)(s, begin, end, x, y);
    if (columns > 1) shape += by_columns ? 3 : 4;
    else shape += by_columns ? triangle : 2;
    return (*shape)(s, begin, end, x, y);
}

static void FN(start)(const trs_product *s, int64_t begin, int64_t end, int columns, trs_view x,
                      trs_view y)
{
    const T *from = x.p;
    T *to = y.p;
    for (int r = 0; r < columns; r++)
        for (int64_t i = begin; i < end; i++)
            to[i * y.rs + r * y.cs] = s->A->kind & TRS_UNIT ? from[i * x.rs + r * x.cs] : 0;
}

static void FN(add_part)(int64_t begin, int64_t end, int columns, trs_view part, trs_view y)
{
    const T *from = part.p;
    T *to = y.p;
    for (int r = 0; r < columns; r++)
        for (int64_t i = begin; i < end; i++)
            to[i * y.rs + r * y.cs] += from[i * part.rs + r * part.cs];
}

#endif
