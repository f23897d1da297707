/* lu_front_numbers.c: the numbers of L U front by front, in vectors.
 *
 *     front   = A in its columns and rows + S and S' of each child
 *     for every block of WIDTH columns J:      L (J.., J) -= L(J.., before J) U'(J, before J)^T, and the same for U'
 *                                              L(J, J) U(J, J) = it, without exchanges;
 *                                              L(below, J) = L (below, J) U(J, J)^-1;  U'(below, J) = U' (below, J) L(J, J)^-T
 *     S       = S - L(rows, :) U'(rows, :)^T;  S' = S' - U'(rows, :) L(rows, :)^T
 *
 * L has the 1 of its diagonal in its panel.  Above the diagonal, panels are zero, because the largest number of each column of
 * both is looked for: growth is the largest product of the two, of which each is an |l(i, k) u(k, j)|. */
#ifndef T

#include "config.h"

#include "front_sweep.h"
#include "base/debug.h"

enum { HALVES = 2 };

#define TRS_WIDE_REALS
#define TRS_BODY "factor/again/lu_front_numbers.c"
#include "base/each_width.h"

trs_front_fn trs_front_of_lu(trs_dtype t)
{
    static const trs_front_fn one_front[2][4] = TRS_PER_WIDTH(one_front);
    return one_front[trs_wide(t)][t];
}

#else

#include "front_loops.h"

/* ---- the largest numbers of columns ---------------------------------------------------------------- */

/* Sizes by their bits: as integers they have the order of the numbers, and a NaN is larger than Inf. */
typedef __typeof__((FN(vector)){0} < (FN(vector)){0}) FN(bits);

TRS_INLINE FN(bits) FN(size)(FN(vector) v)
{
    const FN(bits) magnitude = ~(FN(bits))(-(FN(vector)){0});
    v = (FN(vector))((FN(bits))v & magnitude);
#if IS_COMPLEX
    FN(vector) turned = {0};
#pragma GCC unroll 16
    for (int k = 0; k < 2 * FN(LANES); k += 2) turned[k] = v[k + 1], turned[k + 1] = v[k];
    v += turned;
#endif
    return (FN(bits))v & magnitude;
}

/* m [d] = max (m [d], size of column d of v) */
TRS_INLINE void FN(notice)(FN(bits) * m, const FN(vector) * v, int width)
{
#pragma GCC unroll 8
    for (int d = 0; d < width * FN(PARTS); d++) {
        const FN(bits) size = FN(size)(v[d]), more = size > m[d / FN(PARTS)];
        m[d / FN(PARTS)] = (size & more) | (m[d / FN(PARTS)] & ~more);
    }
}

TRS_INLINE REAL FN(largest)(const FN(bits) * m, trs_again_pivots *o)
{
    REAL number[FN(BYTES) / sizeof(REAL)], most = 0;
    memcpy(number, m, sizeof number);
    for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
        if (!isfinite(number[k])) o->bad = true;
        if (number[k] > most) most = number[k];
    }
    return most;
}

TRS_INLINE void FN(measure)(const FN(bits) * l, const FN(bits) * u, int width, trs_again_pivots *o)
{
    for (int d = 0; d < width; d++) {
        const double growth = (double)FN(largest)(l + d, o) * (double)FN(largest)(u + d, o);
        if (growth > o->largest) o->largest = growth;
    }
}

/* ---- panels ---------------------------------------------------------------------------------------- */

/* Returns the inverse of a pivot. */
TRS_INLINE T FN(pivot)(T pivot, trs_again_pivots *o)
{
    const T inverse = 1 / pivot;
    const double size = fabs(creal(pivot)) + fabs(cimag(pivot));
    if (size < o->least) o->least = size;
    if (size > o->most) o->most = size;
    if (!isnormal(size) || !isnormal(fabs(creal(inverse)) + fabs(cimag(inverse)))) o->bad = true;
    return inverse;
}

TRS_INLINE void FN(scale)(FN(vector) * v, T by)
{
#pragma GCC unroll 2
    for (int h = 0; h < FN(PARTS); h++) v[h] = FN(multiply)(FN(splat)(by), v[h], false);
}

/* Factor columns j .. j+width-1 of both panels. */
TRS_INLINE void FN(factor_block)(T *const panel[2], int32_t cols, int64_t strips, int64_t j,
                                 int width, trs_again_pivots *o)
{
    const int64_t first = j / FN(LINE), lane = j % FN(LINE), step = cols * FN(LINE);
    T *l = panel[0] + first * step, *u = panel[1] + first * step;
    const T *const row_l = l + lane, *const row_u = u + lane;
    T of_l[WIDTH][WIDTH], of_u[WIDTH][WIDTH], inverse[WIDTH];
    FN(vector) x[WIDTH * FN(PARTS)], y[WIDTH * FN(PARTS)];
    FN(bits) most_l[WIDTH] = {0}, most_u[WIDTH] = {0};
    FN(subtract_strip)(x, l, row_u, j, width);
    FN(subtract_strip)(y, u, row_l, j, width);
#pragma GCC unroll 4
    for (int d = 0; d < width; d++) {
        T *const column_l = l + (j + d) * FN(LINE), *const column_u = u + (j + d) * FN(LINE);
        FN(subtract_earlier)(x, d, of_u);
        FN(subtract_earlier)(y, d, of_l);
        FN(give)(y + d * FN(PARTS), column_u, 1);
        inverse[d] = FN(pivot)(column_u[lane + d], o);
        FN(scale)(x + d * FN(PARTS), inverse[d]);
        FN(give)(x + d * FN(PARTS), column_l, 1);
        for (int64_t i = 0; i < lane + d; i++) column_l[i] = column_u[i] = 0;
        column_l[lane + d] = 1;
        for (int e = d + 1; e < width; e++)
            of_l[e][d] = column_l[lane + e], of_u[e][d] = column_u[lane + e];
    }
    FN(take)(x, l + j * FN(LINE), width);
    FN(take)(y, u + j * FN(LINE), width);
    FN(notice)(most_l, x, width);
    FN(notice)(most_u, y, width);
    for (int64_t s = first + 1; s < strips; s++) {
        l += step, u += step;
        FN(subtract_strip)(x, l, row_u, j, width);
#pragma GCC unroll 4
        for (int d = 0; d < width; d++) {
            FN(subtract_earlier)(x, d, of_u);
            FN(scale)(x + d * FN(PARTS), inverse[d]);
        }
        FN(give)(x, l + j * FN(LINE), width);
        FN(notice)(most_l, x, width);
        FN(subtract_strip)(y, u, row_l, j, width);
#pragma GCC unroll 4
        for (int d = 1; d < width; d++) FN(subtract_earlier)(y, d, of_l);
        FN(give)(y, u + j * FN(LINE), width);
        FN(notice)(most_u, y, width);
    }
    FN(measure)(most_l, most_u, width, o);
}

WIDTH_CLONES static void FN(factor_panels)(T *const panel[2], int32_t cols, int64_t strips,
                                           trs_again_pivots *o)
{
    int64_t j = 0;
    for (; j + WIDTH <= cols; j += WIDTH) FN(factor_block)(panel, cols, strips, j, WIDTH, o);
    for (; j < cols; j++) FN(factor_block)(panel, cols, strips, j, 1, o);
}

/* ---- fronts ---------------------------------------------------------------------------------------- */

/* Entry e of the fronts, as a number of the factors. */
TRS_INLINE T FN(entry)(const trs_front_sweep *w, int64_t e)
{
    T number;
    double z[2];
    if (w->a_type == w->f->type) return ((const T *)w->a)[w->f->src[e]];
    trs_number_get(w->a, w->a_type, w->f->src[e], z);
    trs_number_put(&number, w->f->type, 0, z);
    return number;
}

static void FN(add_a)(const trs_front_sweep *w, int32_t k, trs_again_pivots *o)
{
    const trs_again_fronts *f = w->f;
    T *val = f->val;
    for (int64_t e = f->a_ptr[k]; e < f->a_ptr[k + 1]; e++) {
        T z = FN(entry)(w, e);
        if (f->scale) z *= (REAL)f->scale[e];
        const double size = fabs(creal(z)) + fabs(cimag(z));
        if (!isfinite(size)) o->bad = true;
        if (size > o->largest_a) o->largest_a = size;
        val[f->to[e]] = z;
    }
}

static void FN(one_front)(const trs_front_sweep *w, int32_t k, trs_again_pivots *o, int threads)
{
    const trs_again_fronts *f = w->f;
    const trs_front *s = &f->tree.front[k];
    const int64_t L = FN(LINE), strips = ((int64_t)s->cols + s->rows + L - 1) / L;
    T *const panel[2] = {FN(panel_of)(f, k, 0), FN(panel_of)(f, k, 1)};
    FN(clear)(f, k);
    FN(add_a)(w, k, o);
    FN(add_children)(f, k);
    FN(factor_panels)(panel, s->cols, strips, o);
    FN(update)(f, k, threads);
}

#endif
