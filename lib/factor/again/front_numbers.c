/* front_numbers.c: the numbers of L L^H front by front, in vectors.
 *
 *     front   = A in its columns + S of each child
 *     for every block of WIDTH columns J:      front (J.., J) -= L(J.., before J) L(J, before J)^H
 *                                              L(J, J) = Cholesky factor of it;   L(below, J) = front (below, J) L(J, J)^-H
 *     S       = S - L(rows, :) L(rows, :)^H
 *
 * Both updates are the same loop: one vector of rows, WIDTH columns in registers, and a product for each column of L.  Rows of
 * the strips above the diagonal and after the last row hold anything finite or not, and nothing reads them. */
#ifndef T

#include "config.h"

#include "again_fronts.h"
#include "base/debug.h"
#include "base/parallel.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 4, SHARED = 1 << 22 /* products of S, from which threads share its columns */ };

typedef struct sweep {
    const trs_again_fronts *f;
    trs_dtype a_type;
    const void *a;
    int threads;
    trs_again_pivots outcome[TRS_AGAIN_WORKERS + 1]; /* of each worker, and of the top */
} sweep;

typedef struct product { /* of a panel with itself, for S */
    const trs_again_fronts *f;
    int32_t front;
} product;

#define TRS_WIDE_REALS
#define TRS_BODY "factor/again/front_numbers.c"
#include "base/each_width.h"

typedef void (*front_fn)(const sweep *, int32_t k, trs_again_pivots *, int threads);
static const front_fn one_front[2][4] = TRS_PER_WIDTH(one_front);

static void do_worker(sweep *s, int w, int threads)
{
    const trs_again_fronts *f = s->f;
    for (int32_t k = f->begin[w]; k < f->begin[w + 1] && !s->outcome[w].bad; k++)
        one_front[trs_wide(f->type)][f->type](s, f->order[k], &s->outcome[w], threads);
}

static void do_workers(void *user, int thread, int team)
{
    sweep *s = user;
    for (int w = thread; w < s->f->workers; w += team) do_worker(s, w, 1);
}

trs_again_pivots trs_again_fronts_run(const trs_again_fronts *f, trs_dtype a_type, const void *a)
{
    sweep s = {.f = f, .a_type = a_type, .a = a};
    trs_again_pivots all = {.least = INFINITY};
    for (int w = 0; w <= f->workers; w++) s.outcome[w] = all;
    if (trs_step("factorization", 0)) return all;
    trs_team_run(f->workers, do_workers, &s);
    do_worker(&s, f->workers, f->workers);
    for (int w = 0; w <= f->workers; w++) {
        const trs_again_pivots *o = &s.outcome[w];
        all.least = fmin(all.least, o->least);
        all.most = fmax(all.most, o->most);
        all.bad |= o->bad;
    }
    return all;
}

#else

#include "base/number/vector.h"

/* c - x conj (y) */
TRS_INLINE FN(vector) FN(less)(FN(vector) c, FN(vector) x, T y)
{
#if IS_COMPLEX
    return FN(subtract)(c, FN(splat)(y), x, true);
#else
    return c - y * x; /* gcc 12 builds the vector of y lane by lane in FN (splat) here */
#endif
}

/* `width` columns of a strip from p on, and back. */
TRS_INLINE void FN(take)(FN(vector) * v, const T *p, int width)
{
#pragma GCC unroll 8
    for (int d = 0; d < width * FN(PARTS); d++) v[d] = FN(load)(p + d * FN(LANES));
}

TRS_INLINE void FN(give)(const FN(vector) * v, T *p, int width)
{
#pragma GCC unroll 8
    for (int d = 0; d < width * FN(PARTS); d++) FN(store)(p + d * FN(LANES), v[d]);
}

/* c [d] -= x y [d]^H for `width` columns y [d] of `count` numbers each, which are rows of one strip. */
TRS_INLINE void FN(subtract_products)(FN(vector) * c, const T *x, const T *y, int64_t count,
                                      int width)
{
    for (int64_t k = 0; k < count; k++, x += FN(LINE), y += FN(LINE)) {
        FN(vector) v[FN(PARTS)];
        FN(take)(v, x, 1);
#pragma GCC unroll 8
        for (int d = 0; d < width * FN(PARTS); d++)
            c[d] = FN(less)(c[d], v[d % FN(PARTS)], y[d / FN(PARTS)]);
    }
}

/* `width` columns of `strips` strips from x on, at c: minus their products with y.  A strip of x has `count` columns, and one
 * of c is `step` numbers long. */
TRS_INLINE void FN(subtract_panel)(T *c, int64_t step, const T *x, const T *y, int64_t count,
                                   int64_t strips, int width)
{
    for (int64_t s = 0; s < strips; s++, c += step, x += count * FN(LINE)) {
        FN(vector) v[WIDTH * FN(PARTS)];
        FN(take)(v, c, width);
        FN(subtract_products)(v, x, y, count, width);
        FN(give)(v, c, width);
    }
}

/* Columns j .. j+width-1 of one strip of a panel: minus what columns before j give. */
TRS_INLINE void FN(subtract_strip)(FN(vector) * v, const T *strip, const T *y, int64_t j, int width)
{
    FN(take)(v, strip + j * FN(LINE), width);
    FN(subtract_products)(v, strip, y, j, width);
}

/* Column d of v, from which earlier columns are subtracted by `factor`. */
TRS_INLINE void FN(subtract_earlier)(FN(vector) * v, int d, T factor[WIDTH][WIDTH])
{
#pragma GCC unroll 4
    for (int e = 0; e < d; e++)
#pragma GCC unroll 2
        for (int h = 0; h < FN(PARTS); h++)
            v[d * FN(PARTS) + h] =
                FN(less)(v[d * FN(PARTS) + h], v[e * FN(PARTS) + h], factor[d][e]);
}

TRS_INLINE void FN(scale)(FN(vector) * v, REAL by)
{
#pragma GCC unroll 2
    for (int h = 0; h < FN(PARTS); h++) v[h] *= by;
}

/* Factor columns j .. j+width-1 of a panel. */
TRS_INLINE void FN(factor_block)(T *panel, int32_t cols, int64_t strips, int64_t j, int width,
                                 const double *diagonal, trs_again_pivots *o)
{
    const int64_t first = j / FN(LINE), lane = j % FN(LINE);
    T *strip = panel + first * cols * FN(LINE), *const y = strip + lane;
    T factor[WIDTH][WIDTH];
    REAL inverse[WIDTH];
    FN(vector) v[WIDTH * FN(PARTS)];
    FN(subtract_strip)(v, strip, y, j, width);
#pragma GCC unroll 4
    for (int d = 0; d < width; d++) {
        T *column = strip + (j + d) * FN(LINE);
        FN(subtract_earlier)(v, d, factor);
        FN(give)(v + d * FN(PARTS), column, 1);
        const REAL pivot = creal(column[lane + d]), root = sqrt(pivot);
        if (!(pivot > 8 * (REAL)DBL_EPSILON * (REAL)diagonal[j + d]) || !isfinite(pivot))
            o->bad = true;
        if (root < o->least) o->least = root;
        if (root > o->most) o->most = root;
        inverse[d] = 1 / root;
        FN(scale)(v + d * FN(PARTS), inverse[d]);
        FN(give)(v + d * FN(PARTS), column, 1);
        column[lane + d] = root;
        for (int e = d + 1; e < width; e++) factor[e][d] = column[lane + e];
    }
    for (int64_t s = first + 1; s < strips; s++) {
        strip += cols * FN(LINE);
        FN(subtract_strip)(v, strip, y, j, width);
#pragma GCC unroll 4
        for (int d = 0; d < width; d++) {
            FN(subtract_earlier)(v, d, factor);
            FN(scale)(v + d * FN(PARTS), inverse[d]);
        }
        FN(give)(v, strip + j * FN(LINE), width);
    }
}

WIDTH_CLONES static void FN(factor_panel)(T *panel, int32_t cols, int64_t strips,
                                          const double *diagonal, trs_again_pivots *o)
{
    int64_t j = 0;
    for (; j + WIDTH <= cols; j += WIDTH)
        FN(factor_block)(panel, cols, strips, j, WIDTH, diagonal, o);
    for (; j < cols; j++) FN(factor_block)(panel, cols, strips, j, 1, diagonal, o);
}

/* Columns begin .. end-1 of S, in blocks of WIDTH that do not cross the end of a strip. */
WIDTH_CLONES static void FN(update_columns)(const product *p, int64_t begin, int64_t end)
{
    const trs_again_fronts *f = p->f;
    const trs_front *s = &f->tree.front[p->front];
    const int64_t L = FN(LINE), cols = s->cols, rows = s->rows;
    const int64_t strips = (cols + rows + L - 1) / L, above = cols / L;
    const T *panel = (const T *)f->val + f->panel[p->front];
    T *S = (T *)f->pool + f->update[p->front];
    for (int64_t j = begin; j < end;) {
        const int64_t i = cols + j, strip = i / L;
        const T *x = panel + strip * cols * L, *y = x + i % L;
        T *c = S + ((strip - above) * rows + j) * L;
        if (i % WIDTH == 0 && j + WIDTH <= end) {
            FN(subtract_panel)(c, rows * L, x, y, cols, strips - strip, WIDTH);
            j += WIDTH;
        } else FN(subtract_panel)(c, rows * L, x, y, cols, strips - strip, 1), j++;
    }
}

static void FN(update_some)(void *user, int64_t begin, int64_t end)
{
    const product *p = user;
    const int64_t skip = p->f->tree.front[p->front].cols %
                         WIDTH; /* blocks begin at multiples of WIDTH in the front */
    begin = begin ? begin - skip : 0;
    FN(update_columns)(p, begin, end - skip);
}

static void FN(update)(const trs_again_fronts *f, int32_t k, int threads)
{
    product p = {f, k};
    const trs_front *s = &f->tree.front[k];
    const double products = (double)s->cols * s->rows * s->rows;
    if (s->rows == 0) return;
    if (threads == 1 || products < SHARED) FN(update_columns)(&p, 0, s->rows);
    else trs_share(threads, s->rows + s->cols % WIDTH, 4 * WIDTH, FN(update_some), &p);
}

/* Add S of a child: entry (i, j) goes to row to [i] and column to [j] of its parent. */
static void FN(add_child)(const trs_again_fronts *f, int32_t k, int32_t child)
{
    const trs_front *s = &f->tree.front[k], *g = &f->tree.front[child];
    const int64_t L = FN(LINE), rows = g->rows, above = g->cols / L;
    const int32_t *to = f->tree.to + g->row;
    T *panel = (T *)f->val + f->panel[k], *S = (T *)f->pool + f->update[k];
    const T *from = (const T *)f->pool + f->update[child];
    int64_t left = 0; /* columns that go to the panel */
    while (left < rows && to[left] < s->cols) left++;
    S -= (int64_t)s->cols * L + s->cols / L * s->rows * L;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t at = g->cols + i, strip = to[i] / L, lane = to[i] % L;
        const T *row = from + (at / L - above) * rows * L + at % L;
        T *p = panel + strip * s->cols * L + lane, *q = S + strip * s->rows * L + lane;
        const int64_t most = i < left ? i + 1 : left;
        for (int64_t j = 0; j < most; j++) p[to[j] * L] += row[j * L];
        for (int64_t j = left; j <= i; j++) q[to[j] * L] += row[j * L];
    }
}

/* The entries of A, which are those of a Hermitian matrix. */
static void FN(add_a)(const sweep *w, int32_t k, trs_again_pivots *o)
{
    const trs_again_fronts *f = w->f;
    T *val = f->val;
    for (int64_t e = f->a_ptr[k]; e < f->a_ptr[k + 1]; e++) {
        double z[2], m[2];
        trs_number_get(w->a, w->a_type, f->src[e], z);
        trs_number_get(w->a, w->a_type, f->mirror[e], m);
        if (!(z[0] == m[0] && z[1] == -m[1])) o->bad = true;
        trs_number_put(val, f->type, f->to[e], z);
    }
}

static void FN(one_front)(const sweep *w, int32_t k, trs_again_pivots *o, int threads)
{
    const trs_again_fronts *f = w->f;
    const trs_front *s = &f->tree.front[k];
    const int64_t L = FN(LINE), strips = ((int64_t)s->cols + s->rows + L - 1) / L;
    T *panel = (T *)f->val + f->panel[k], *S = (T *)f->pool + f->update[k];
    memset(panel, 0, (size_t)(strips * s->cols * L) * sizeof *panel);
    memset(S, 0, (size_t)((strips - s->cols / L) * s->rows * L) * sizeof *S);
    FN(add_a)(w, k, o);
    for (int32_t j = 0; j < s->cols; j++)
        f->diagonal[s->first + j] = creal(panel[(j / L * s->cols + j) * L + j % L]);
    for (int32_t c = 0; c < s->children; c++) FN(add_child)(f, k, f->tree.child[s->child + c]);
    FN(factor_panel)(panel, s->cols, strips, f->diagonal + s->first, o);
    FN(update)(f, k, threads);
}

#endif
