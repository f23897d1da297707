/* block_rows.c: rows of blocks, for every type and every block size.
 *
 * A block is stored by columns.  Vectors hold a column of b numbers, or as many numbers more as fill them up; what stands in the
 * rest is never stored.  So a product of a block and a vector takes b loads and b fused multiply-adds, twice as many if complex:
 *
 *     s = s - sum_c a(:, c) x(c)
 *
 * Elimination of row i, for k < i in row i, ascending (Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., sections 10.3 and
 * 10.5 with blocks for numbers):
 *
 *     l(i, k) = a(i, k) d(k)^-1;   a(i, j) -= l(i, k) u(k, j)  for j > k, where row i has j
 *     DILU:  d(i) = a(i, i) - sum_(k < i) a(i, k) d(k)^-1 a(k, i)     (Pommerell, thesis, ETH Zurich 1992)
 *     IC:    a(i, k) = u(k, i)^H, and j >= i: half the products
 *
 * Diagonal blocks are inverted by Gauss-Jordan elimination with row exchanges within the block, those of IC without.
 * A row is computed by one thread in one order.  Vectors read numbers behind their column, but elimination only those of the same
 * block, since others may be another thread's. */
#ifndef T

#include "config.h"

#include "ilu_blocks.h"
#include "base/debug.h"
#include "base/number/clones.h"

#include <math.h>
#include <string.h>

enum { AHEAD = 8192 }; /* bytes from a block that is read to that which is fetched */

enum { LONGER = 16 }; /* a search takes about as long as so many blocks that are looked up */

/* Is a row of U with so many blocks to be searched for those of row i? */
static inline bool is_searched(const trs_ilu_blocks *m, int32_t i, int64_t pivot)
{
    const trs_ilu_block_side *f = &m->side[0];
    const int64_t lower = m->cholesky ? 0 : f->begin[0][i + 1] - f->begin[0][i];
    return pivot > LONGER * (lower + 1 + f->begin[1][i + 1] - f->begin[1][i]);
}

/* The place behind p in row i: of L, then d(i), then of U; begin [1][i + 1]: there is none. */
static inline int64_t next_block(const trs_ilu_blocks *m, int32_t i, int64_t p)
{
    const trs_ilu_block_side *f = &m->side[0];
    const int64_t d = f->begin[0][m->n] + i;
    if (p == d) return f->begin[1][i];
    return p + 1 == f->begin[0][i + 1] ? d : p + 1;
}

/* The first block of row i that the one at p changes. */
static inline int64_t first_target(const trs_ilu_blocks *m, int32_t i, int64_t p)
{
    return m->cholesky ? m->side[0].begin[0][m->n] + i : next_block(m, i, p);
}

#define TRS_BODY "factor/incomplete/block_rows.c"
#include "base/each_type.h"

#define TRS_PER_SIZE(name)                                                                         \
    {                                                                                              \
        name##_1, name##_2, name##_3, name##_4, name##_5, name##_6, name##_7, name##_8             \
    }
#define TRS_PER_TYPE_AND_SIZE(name)                                                                \
    {                                                                                              \
        TRS_PER_SIZE(name##_f64), TRS_PER_SIZE(name##_f32), TRS_PER_SIZE(name##_c64),              \
            TRS_PER_SIZE(name##_c32)                                                               \
    }

void trs_ilu_block_rows(const trs_ilu_block_sweep *s, int32_t begin, int32_t end)
{
    static void (*const table[][TRS_BLOCK_MOST])(const trs_ilu_block_sweep *, int32_t, int32_t) =
        TRS_PER_TYPE_AND_SIZE(rows);
    table[s->m->dtype][s->m->b - 1](s, begin, end);
}

trs_ilu_fault trs_ilu_block_factor_row(const trs_ilu_blocks *m, int thread, int32_t i,
                                       int64_t *boosted)
{
    static trs_ilu_fault (*const table[][TRS_BLOCK_MOST])(
        const trs_ilu_blocks *, int64_t *, int32_t, int64_t *) = TRS_PER_TYPE_AND_SIZE(factor_row);
    return table[m->dtype][m->b - 1](m, m->where + (int64_t)m->n * thread, i, boosted);
}

void trs_ilu_block_transpose(const trs_ilu_blocks *m, int64_t begin, int64_t end)
{
    static void (*const table[])(const trs_ilu_blocks *, int64_t, int64_t) =
        TRS_PER_TYPE(transpose_blocks);
    table[m->dtype](m, begin, end);
}

int64_t trs_ilu_block_infinite(const trs_ilu_blocks *m)
{
    static int64_t (*const table[])(const trs_ilu_blocks *) = TRS_PER_TYPE(first_infinite);
    return table[m->dtype](m);
}

#else

#include "base/number/vector.h"

TRS_INLINE double FN(size)(T z)
{
    return hypot((double)creal(z), (double)cimag(z));
}

/* Are all of so many numbers finite? */
TRS_INLINE bool FN(finite)(const T *x, int64_t count)
{
    const REAL *re = (const REAL *)x;
    bool good = true;
    for (int64_t k = 0; k < count * (IS_COMPLEX + 1); k++) good &= isfinite(re[k]);
    return good;
}

static int64_t FN(first_infinite)(const trs_ilu_blocks *m)
{
    const int64_t size = (int64_t)m->b * m->b;
    int64_t p = trs_ilu_blocks_read(m);
    while (p < m->count && FN(finite)((const T *)m->side[0].val + p * size, size)) p++;
    return p;
}

static void FN(transpose_blocks)(const trs_ilu_blocks *m, int64_t begin, int64_t end)
{
    const int b = m->b;
    for (int64_t p = begin; p < end; p++) {
        const T *a = (const T *)m->side[0].val + m->from[p] * b * b;
        T *t = (T *)m->side[1].val + p * b * b;
        for (int c = 0; c < b; c++)
            for (int r = 0; r < b; r++) t[c * b + r] = a[r * b + c];
    }
}

/* In x [b], find the row of column c of a [b*b] with the largest number on or below the diagonal. */
TRS_INLINE int FN(pivot_of)(const T *a, int b, int c)
{
    int at = c;
    for (int r = c + 1; r < b; r++)
        if (FN(size)(a[r + b * c]) > FN(size)(a[at + b * c])) at = r;
    return at;
}

TRS_INLINE void FN(swap_rows)(T *a, int b, int r, int s)
{
    for (int c = 0; c < b && r != s; c++) {
        const T z = a[r + b * c];
        a[r + b * c] = a[s + b * c];
        a[s + b * c] = z;
    }
}

/* The pivot d, or, if it is smaller than `least`, a number of that size and of the same sign or phase; positive: least itself. */
TRS_INLINE T FN(pivot)(T d, bool positive, double least, int64_t *boosted)
{
    const double size = positive ? (double)creal(d) : FN(size)(d);
    if (positive) d = creal(d);
    if (least <= 0 || !(size < least)) return d;
    ++*boosted;
    if (positive || size == 0) return (T)least;
    return (T)(d / size * least);
}

/* a [b*b] = its inverse.  A pivot smaller than `least` is replaced.  positive: a is Hermitian, and its pivots must be positive. */
TRS_FMA_CLONES static trs_ilu_fault FN(invert)(T *a, int b, bool positive, double least,
                                               int64_t *boosted)
{
    T e[TRS_BLOCK_MOST * TRS_BLOCK_MOST] = {0}; /* becomes the inverse, from the identity */
    for (int c = 0; c < b; c++) e[c + b * c] = 1;
    for (int k = 0; k < b; k++) {
        const int at = positive ? k : FN(pivot_of)(a, b, k);
        FN(swap_rows)(a, b, k, at);
        FN(swap_rows)(e, b, k, at);
        const T d = FN(pivot)(a[k + b * k], positive, least, boosted);
        if (positive && creal(d) <= 0) return TRS_ILU_NEGATIVE;
        if (d == 0) return TRS_ILU_ZERO;
        const T inverse = 1 / d;
        for (int c = 0; c < b; c++) a[k + b * c] *= inverse, e[k + b * c] *= inverse;
        for (int r = 0; r < b; r++) {
            const T l = a[r + b * k];
            if (r == k) continue;
            for (int c = 0; c < b; c++)
                a[r + b * c] -= l * a[k + b * c], e[r + b * c] -= l * e[k + b * c];
        }
    }
    memcpy(a, e, sizeof(T) * (size_t)(b * b));
    return TRS_ILU_GOOD;
}

#define BN(name) TRS_GLUE(FN(name), B)
#define B        1
#include "block_kernels.h"
#undef B
#define B 2
#include "block_kernels.h"
#undef B
#define B 3
#include "block_kernels.h"
#undef B
#define B 4
#include "block_kernels.h"
#undef B
#define B 5
#include "block_kernels.h"
#undef B
#define B 6
#include "block_kernels.h"
#undef B
#define B 7
#include "block_kernels.h"
#undef B
#define B 8
#include "block_kernels.h"
#undef B
#undef BN

#endif
