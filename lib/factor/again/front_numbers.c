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

#include "front_sweep.h"
#include "base/debug.h"

#include <float.h>

enum { HALVES = 1 };

#define TRS_WIDE_REALS
#define TRS_BODY "factor/again/front_numbers.c"
#include "base/each_width.h"

static const trs_front_fn one_front[2][4] = TRS_PER_WIDTH(one_front);

static trs_front_fn front_of(const trs_again_fronts *f)
{
    return f->lu ? trs_front_of_lu(f->type) : one_front[trs_wide(f->type)][f->type];
}

static void do_worker(trs_front_sweep *s, int w, int threads)
{
    const trs_again_fronts *f = s->f;
    const trs_front_fn front = front_of(f);
    for (int32_t k = f->begin[w]; k < f->begin[w + 1] && !s->outcome[w].bad; k++)
        front(s, f->order[k], &s->outcome[w], threads);
}

static void do_workers(void *user, int thread, int team)
{
    trs_front_sweep *s = user;
    for (int w = thread; w < s->f->workers; w += team) do_worker(s, w, 1);
}

trs_again_pivots trs_again_fronts_run(const trs_again_fronts *f, trs_dtype a_type, const void *a)
{
    trs_front_sweep s = {.f = f, .a_type = a_type, .a = a};
    trs_again_pivots all = {.least = INFINITY};
    for (int w = 0; w <= f->workers; w++) s.outcome[w] = all;
    if (trs_step("factorization", 0)) return all;
    trs_team_run(f->workers, do_workers, &s);
    do_worker(&s, f->workers, f->workers);
    for (int w = 0; w <= f->workers; w++) {
        const trs_again_pivots *o = &s.outcome[w];
        all.least = fmin(all.least, o->least);
        all.most = fmax(all.most, o->most);
        all.largest_a = fmax(all.largest_a, o->largest_a);
        all.largest = fmax(all.largest, o->largest);
        all.bad |= o->bad;
    }
    return all;
}

#else

#include "front_loops.h"

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

/* The entries of A, which are those of a Hermitian matrix. */
static void FN(add_a)(const trs_front_sweep *w, int32_t k, trs_again_pivots *o)
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

static void FN(one_front)(const trs_front_sweep *w, int32_t k, trs_again_pivots *o, int threads)
{
    const trs_again_fronts *f = w->f;
    const trs_front *s = &f->tree.front[k];
    const int64_t L = FN(LINE), strips = ((int64_t)s->cols + s->rows + L - 1) / L;
    T *panel = FN(panel_of)(f, k, 0);
    FN(clear)(f, k);
    FN(add_a)(w, k, o);
    for (int32_t j = 0; j < s->cols; j++)
        f->diagonal[s->first + j] = creal(panel[(j / L * s->cols + j) * L + j % L]);
    FN(add_children)(f, k);
    FN(factor_panel)(panel, s->cols, strips, f->diagonal + s->first, o);
    FN(update)(f, k, threads);
}

#endif
