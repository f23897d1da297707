/* front_loops.h: loops over panels and update matrices, for the vectors of base/number/vector.h.
 *
 * A front of L L^H has one half, the lower triangle.  A front of L U has two with the same layout, L and U', and each is updated
 * by products with the other (HALVES):
 *
 *     L(:, j) -= L(:, k) U'(j, k)          U'(:, j) -= U'(:, k) L(j, k)
 *     S(i, j) -= L(i, :) U'(j, :)          S'(i, j) -= U'(i, :) L(j, :)
 *
 * All of these are the same loop: one vector of rows, WIDTH columns in registers, and a product for each column of the panel. */
#include "base/number/vector.h"

/* c - x y; of L L^H, c - x conj (y) */
TRS_INLINE FN(vector) FN(less)(FN(vector) c, FN(vector) x, T y)
{
#if IS_COMPLEX
    return FN(subtract)(c, FN(splat)(y), x, HALVES == 1);
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

/* c [d] -= x y [d]^T for `width` rows y [d] of `count` numbers each, which are in one strip. */
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

/* ---- parts of a front ------------------------------------------------------------------------------ */

TRS_INLINE T *FN(panel_of)(const trs_again_fronts *f, int32_t k, int half)
{
    return (T *)f->val + f->panel[k] + half * trs_again_panel_size(f, k);
}

TRS_INLINE T *FN(update_of)(const trs_again_fronts *f, int32_t k, int half)
{
    return (T *)f->pool + f->update[k] + half * trs_again_update_size(f, k);
}

static void FN(clear)(const trs_again_fronts *f, int32_t k)
{
    const size_t size = HALVES * sizeof(T);
    memset(FN(panel_of)(f, k, 0), 0, (size_t)trs_again_panel_size(f, k) * size);
    memset(FN(update_of)(f, k, 0), 0, (size_t)trs_again_update_size(f, k) * size);
}

/* Column j of a strip of S is added to `to`, from row `begin` of the strip on.  at [i]: the place of row i; run: all
 * rows of a strip go to one strip, in their order. */
TRS_INLINE void FN(add_column)(T *to, const int64_t *at, const T *from, int64_t begin, int64_t end,
                               bool run)
{
    if (!run || begin > 0)
        for (int64_t i = begin; i < end; i++) to[at[i]] += from[i];
    else
#pragma GCC unroll 8
        for (int h = 0; h < FN(PARTS); h++) {
            T *p = to + at[0] + h * FN(LANES);
            FN(store)(p, FN(load)(p) + FN(load)(from + h * FN(LANES)));
        }
}

/* Add S of a child: entry (i, j) goes to row to [i] and column to [j] of its parent. */
WIDTH_CLONES static void FN(add_half)(const trs_again_fronts *f, int32_t k, int32_t child, int half)
{
    const trs_front *s = &f->tree.front[k], *g = &f->tree.front[child];
    const int64_t L = FN(LINE), rows = g->rows;
    const int32_t *to = f->tree.to + g->row;
    T *panel = FN(panel_of)(f, k, half), *S = FN(update_of)(f, k, half);
    const T *from = FN(update_of)(f, child, half) + g->cols % L;
    int64_t left = 0; /* columns that go to the panel */
    while (left < rows && to[left] < s->cols) left++;
    S -= (int64_t)s->cols * L + s->cols / L * s->rows * L;
    for (int64_t first = 0, end; first < rows; first = end) {
        int64_t in_panel[FN(LINE)], in_S[FN(LINE)];
        end = trs_min(rows, first + L - (g->cols + first) % L);
        for (int64_t i = first; i < end; i++) {
            const int64_t strip = to[i] / L, lane = to[i] % L;
            in_panel[i - first] = strip * s->cols * L + lane;
            in_S[i - first] = strip * s->rows * L + lane;
        }
        const bool run = end - first == L && to[first] % L == 0 && to[end - 1] == to[first] + L - 1;
        for (int64_t j = 0; j < end; j++) {
            const bool is_left = j < left;
            T *column = (is_left ? panel : S) + to[j] * L;
            FN(add_column)
            (column, is_left ? in_panel : in_S, from + j * L, trs_max(j - first, 0), end - first,
             run);
        }
        from += rows * L - (first > 0 ? 0 : g->cols % L);
    }
}

static void FN(add_children)(const trs_again_fronts *f, int32_t k)
{
    const trs_front *s = &f->tree.front[k];
    for (int32_t c = 0; c < s->children; c++)
        for (int half = 0; half < HALVES; half++)
            FN(add_half)(f, k, f->tree.child[s->child + c], half);
}

/* ---- S --------------------------------------------------------------------------------------------- */

/* Columns begin .. end-1 of S, in blocks of WIDTH that do not cross the end of a strip. */
WIDTH_CLONES static void FN(update_half)(const product *p, int half, int64_t begin, int64_t end)
{
    const trs_again_fronts *f = p->f;
    const trs_front *s = &f->tree.front[p->front];
    const int64_t L = FN(LINE), cols = s->cols, rows = s->rows;
    const int64_t strips = (cols + rows + L - 1) / L, above = cols / L;
    const T *panel = FN(panel_of)(f, p->front, half);
    const T *other = FN(panel_of)(f, p->front, HALVES - 1 - half);
    T *S = FN(update_of)(f, p->front, half);
    for (int64_t j = begin; j < end;) {
        const int64_t i = cols + j, strip = i / L;
        const T *x = panel + strip * cols * L, *y = other + strip * cols * L + i % L;
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
    for (int half = 0; half < HALVES; half++) FN(update_half)(p, half, begin, end - skip);
}

static void FN(update)(const trs_again_fronts *f, int32_t k, int threads)
{
    product p = {f, k};
    const trs_front *s = &f->tree.front[k];
    const int64_t skip = s->cols % WIDTH;
    const double products = (double)s->cols * s->rows * s->rows;
    if (s->rows == 0) return;
    if (threads == 1 || products < SHARED) FN(update_some)(&p, 0, s->rows + skip);
    else trs_share(threads, s->rows + skip, 4 * WIDTH, FN(update_some), &p);
}
