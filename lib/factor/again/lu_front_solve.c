/* lu_front_solve.c: x = op(L U)^-1 b by the panels of fronts, for factors that have no plans yet.
 *
 * With w = the numbers of x in the rows of a front, and F(:, J), B(:, J) columns J of its two panels, WIDTH at a time:
 *
 *     children first:   w(J) = F(J, J)^-1 w(J);   w(below J) -= F(below J, J) w(J)
 *     parents first:    w(J) = B(J, J)^-T (w(J) - B(below J, J)' w(below J))
 *
 * where F = L and B = U' for TRS_N, and F = U' and B = L, or their conjugates, for TRS_T and TRS_H: L has ones on its diagonal.
 * Every number of a panel is read once, in vectors of consecutive rows, and the memory that they come from bounds the solve. */
#ifndef T

#include "config.h"

#include "front_sweep.h"

#define TRS_WIDE_REALS
#define TRS_BODY "factor/again/lu_front_solve.c"
#include "base/each_width.h"

int64_t trs_again_fronts_solve_size(const trs_again_fronts *f)
{
    int64_t most = 0;
    for (int32_t k = 0; k < f->tree.count; k++)
        most = trs_max(most, (int64_t)f->tree.front[k].cols + f->tree.front[k].rows);
    return most + f->lanes;
}

void trs_again_fronts_solve(const trs_again_fronts *f, trs_op op, void *x, void *w)
{
    static void (*const solve[2][4])(const trs_again_fronts *, trs_op, void *, void *) =
        TRS_PER_WIDTH(solve_fronts);
    solve[trs_wide(f->type)][f->type](f, op, x, w);
}

#else

#include "base/number/vector.h"

/* Rows of a front in w, and one half of its panel. */
typedef struct FN(part) {
    const T *panel;
    T *w;
    int64_t cols, strips;
    bool conj;
} FN(part);

TRS_INLINE FN(part) FN(part_of)(const trs_again_fronts *f, int32_t k, int half, bool conj, T *w)
{
    const trs_front *s = &f->tree.front[k];
    return (FN(part)){.panel = (const T *)f->val + f->panel[k] + half * trs_again_panel_size(f, k),
                      .w = w,
                      .conj = conj,
                      .cols = s->cols,
                      .strips = ((int64_t)s->cols + s->rows + FN(LINE) - 1) / FN(LINE)};
}

/* a / b, or a / conj (b); the diagonal of L is 1. */
TRS_INLINE T FN(divide)(T a, T b, bool conj)
{
    if (b == 1) return a;
#if IS_COMPLEX
    if (conj) return a / (T)CMPLX(creal(b), -cimag(b));
#endif
    (void)conj;
    return a / b;
}

/* Columns j .. j+width-1, which are in one strip, of F. */
TRS_INLINE void FN(eliminate)(const FN(part) * p, int64_t j, int width)
{
    const int64_t first = j / FN(LINE), lane = j % FN(LINE), step = p->cols * FN(LINE);
    const T *l = p->panel + first * step + j * FN(LINE);
    T *w = p->w + first * FN(LINE);
    for (int d = 0; d < width; d++) {
        w[lane + d] = FN(divide)(w[lane + d], l[d * FN(LINE) + lane + d], p->conj);
        for (int64_t i = lane + d + 1; i < FN(LINE); i++)
            w[i] = FN(minus)(w[i], l[d * FN(LINE) + i], w[lane + d], p->conj);
    }
    FN(vector) x[WIDTH];
#pragma GCC unroll 4
    for (int d = 0; d < width; d++) x[d] = FN(splat)(w[lane + d]);
    for (int64_t s = first + 1; s < p->strips; s++) {
        l += step, w += FN(LINE);
#pragma GCC unroll 2
        for (int h = 0; h < FN(PARTS); h++) {
            FN(vector) v = FN(load)(w + h * FN(LANES));
#pragma GCC unroll 4
            for (int d = 0; d < width; d++)
                v = FN(subtract)(v, FN(load)(l + d * FN(LINE) + h * FN(LANES)), x[d], p->conj);
            FN(store)(w + h * FN(LANES), v);
        }
    }
}

TRS_INLINE T FN(sum)(FN(vector) v)
{
    T part[FN(LANES)], sum = 0;
    FN(store)(part, v);
    for (int i = 0; i < FN(LANES); i++) sum += part[i];
    return sum;
}

/* The same columns of B. */
TRS_INLINE void FN(substitute)(const FN(part) * p, int64_t j, int width)
{
    const int64_t first = j / FN(LINE), lane = j % FN(LINE), step = p->cols * FN(LINE);
    const T *const top = p->panel + first * step + j * FN(LINE), *u = top;
    T *w = p->w + first * FN(LINE);
    FN(vector) v[WIDTH] = {0};
    for (int64_t s = first + 1; s < p->strips; s++) {
        u += step, w += FN(LINE);
#pragma GCC unroll 2
        for (int h = 0; h < FN(PARTS); h++) {
            const FN(vector) x = FN(load)(w + h * FN(LANES));
#pragma GCC unroll 4
            for (int d = 0; d < width; d++)
                v[d] = FN(subtract)(v[d], FN(load)(u + d * FN(LINE) + h * FN(LANES)), x, p->conj);
        }
    }
    w = p->w + first * FN(LINE);
    for (int d = width - 1; d >= 0; d--) {
        T sum = w[lane + d] + FN(sum)(v[d]);
        for (int64_t i = lane + d + 1; i < FN(LINE); i++)
            sum = FN(minus)(sum, top[d * FN(LINE) + i], w[i], p->conj);
        w[lane + d] = FN(divide)(sum, top[d * FN(LINE) + lane + d], p->conj);
    }
}

WIDTH_CLONES static void FN(forward)(const FN(part) * p)
{
    int64_t j = 0;
    for (; j + WIDTH <= p->cols; j += WIDTH) FN(eliminate)(p, j, WIDTH);
    for (; j < p->cols; j++) FN(eliminate)(p, j, 1);
}

WIDTH_CLONES static void FN(backward)(const FN(part) * p)
{
    int64_t j = p->cols;
    for (; j % WIDTH; j--) FN(substitute)(p, j - 1, 1);
    for (; j > 0; j -= WIDTH) FN(substitute)(p, j - WIDTH, WIDTH);
}

/* x [n] in the order of the fronts; w [trs_again_fronts_solve_size] */
static void FN(solve_fronts)(const trs_again_fronts *f, trs_op op, void *x_, void *w_)
{
    const trs_front_tree *t = &f->tree;
    const bool turned = op != TRS_N, conj = op == TRS_H;
    T *x = x_, *w = w_;
    for (int32_t k = 0; k < t->count; k++) {
        const trs_front *s = &t->front[k];
        const FN(part) p = FN(part_of)(f, k, turned, conj, w);
        memset(w, 0, (size_t)(p.strips * FN(LINE)) * sizeof *w);
        memcpy(w, x + s->first, (size_t)s->cols * sizeof *w);
        FN(forward)(&p);
        memcpy(x + s->first, w, (size_t)s->cols * sizeof *w);
        for (int32_t i = 0; i < s->rows; i++) x[t->row[s->row + i]] += w[s->cols + i];
    }
    for (int32_t k = t->count - 1; k >= 0; k--) {
        const trs_front *s = &t->front[k];
        const FN(part) p = FN(part_of)(f, k, !turned, conj, w);
        memset(w + (p.strips - 1) * FN(LINE), 0, FN(LINE) * sizeof *w);
        memcpy(w, x + s->first, (size_t)s->cols * sizeof *w);
        for (int32_t i = 0; i < s->rows; i++) w[s->cols + i] = x[t->row[s->row + i]];
        FN(backward)(&p);
        memcpy(x + s->first, w, (size_t)s->cols * sizeof *w);
    }
}

#endif
