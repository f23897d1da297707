/* fronts_reference.c: what schedule.h says of the launches, in plain loops. */
#include "fronts_reference.h"

enum { PANEL = TRS_FRONT_PANEL, TILE = TRS_FRONT_TILE };

static zz conj_of(const fronts_reference *r, zz x)
{
    return r->cholesky ? conj(x) : x;
}

/* Entry (i, j) of a front before its panel is eliminated. */
static zz *entry(const fronts_reference *r, const trs_front_numbers *d, int64_t i, int64_t j)
{
    const int64_t order = d->cols + d->rows;
    if (i >= d->cols && j >= d->cols)
        return &r->pool[d->update + (j - d->cols) * d->rows + i - d->cols];
    return &r->panels[i >= j ? d->lower + j * order + i : d->upper + i * order + j];
}

/* Entries above the diagonal are those below it, of L L^H. */
static bool kept(const fronts_reference *r, int64_t i, int64_t j)
{
    return !r->cholesky || i >= j;
}

static void clear_update(const fronts_reference *r, const trs_front_numbers *d)
{
    for (int64_t k = 0; k < (int64_t)d->rows * d->rows; k++) r->pool[d->update + k] = 0;
}

static void add_children(const fronts_reference *r, const trs_front_numbers *d)
{
    for (int32_t c = 0; c < d->children; c++) {
        const trs_front_numbers *child = &r->s->numbers[r->t->child[d->child + c]];
        const int32_t *to = r->t->to + child->row;
        for (int64_t b = 0; b < child->rows; b++)
            for (int64_t a = 0; a < child->rows; a++)
                if (kept(r, a, b))
                    *entry(r, d, to[a], to[b]) += r->pool[child->update + b * child->rows + a];
    }
}

/* The shares of the strips of a large front are those of its children, each row in one of them. */
static void check_shares(const fronts_reference *r, const trs_front_numbers *d)
{
    int64_t rows = 0, shared = 0;
    for (int32_t c = 0; c < d->children; c++) rows += r->s->numbers[r->t->child[d->child + c]].rows;
    for (int32_t k = 0; k < d->strips; k++) {
        const int32_t begin =
            k < d->pivot_strips ? k * TILE : d->cols + (k - d->pivot_strips) * TILE;
        const int32_t most = k < d->pivot_strips ? d->cols : d->cols + d->rows;
        const int32_t end = begin + TILE < most ? begin + TILE : most;
        int32_t last = -1;
        for (int64_t p = r->s->strip_ptr[d->strip + k]; p < r->s->strip_ptr[d->strip + k + 1];
             p++) {
            const trs_front_share *s = &r->s->share[p];
            const int32_t *to = r->t->to + r->s->numbers[s->child].row;
            assert_true(s->child > last && s->begin < s->end);
            assert_true(to[s->begin] >= begin && to[s->end - 1] < end);
            last = s->child;
            shared += s->end - s->begin;
        }
    }
    assert_true(shared == rows);
}

/* Eliminate the columns begin .. end-1, which are known up to there, and put their block on the diagonal apart. */
static void eliminate(const fronts_reference *r, const trs_front_numbers *d, int64_t begin,
                      int64_t end)
{
    const int64_t order = d->cols + d->rows;
    for (int64_t k = begin; k < end; k++) {
        const zz pivot = *entry(r, d, k, k), below = r->cholesky ? csqrt(pivot) : pivot;
        *entry(r, d, k, k) = below;
        for (int64_t i = k + 1; i < order; i++) *entry(r, d, i, k) /= below;
        for (int64_t j = k + 1; j < end; j++)
            for (int64_t i = k + 1; i < order; i++) {
                const zz u = r->cholesky ? conj(*entry(r, d, j, k)) : *entry(r, d, k, j);
                if (i >= j) *entry(r, d, i, j) -= *entry(r, d, i, k) * u;
                else if (!r->cholesky) *entry(r, d, i, j) -= *entry(r, d, i, k) * u;
                if (i >= end && !r->cholesky)
                    *entry(r, d, j, i) -= *entry(r, d, j, k) * *entry(r, d, k, i);
            }
    }
    if (d->diagonal < 0) return;
    for (int64_t j = begin; j < end; j++)
        for (int64_t i = begin; i < end; i++)
            if (kept(r, i, j)) r->panels[d->diagonal + j * PANEL + i - begin] = *entry(r, d, i, j);
}

/* Subtract the products of the columns from .. end-1 from entries of columns, and rows, that are not less than `end`, and
 * of which one is a pivot, or none is. */
static void subtract(const fronts_reference *r, const trs_front_numbers *d, int64_t from,
                     int64_t end, bool pivots)
{
    const int64_t order = d->cols + d->rows;
    for (int64_t j = end; j < order; j++)
        for (int64_t i = end; i < order; i++) {
            if (!kept(r, i, j) || (i < d->cols || j < d->cols) != pivots) continue;
            for (int64_t k = from; k < end; k++)
                *entry(r, d, i, j) -=
                    *entry(r, d, i, k) *
                    (r->cholesky ? conj_of(r, *entry(r, d, j, k)) : *entry(r, d, k, j));
        }
}

static void do_front(const fronts_reference *r, const trs_front_numbers *d,
                     const trs_front_launch *l)
{
    const int64_t begin = (int64_t)l->panel * PANEL;
    const int64_t end = begin + PANEL < d->cols ? begin + PANEL : d->cols;
    switch (l->step) {
    case TRS_FRONT_STEP_SMALL:
        clear_update(r, d);
        add_children(r, d);
        eliminate(r, d, 0, d->cols);
        subtract(r, d, 0, d->cols, false);
        break;
    case TRS_FRONT_STEP_ASSEMBLE:
        check_shares(r, d);
        clear_update(r, d);
        add_children(r, d);
        break;
    case TRS_FRONT_STEP_PANEL:
        eliminate(r, d, begin, end);
        break;
    case TRS_FRONT_STEP_TRAIL:
        subtract(r, d, begin, end, true);
        break;
    case TRS_FRONT_STEP_SCHUR:
        subtract(r, d, 0, d->cols, false);
        break;
    }
}

void fronts_reference_run(const fronts_reference *r)
{
    for (int32_t k = 0; k < r->s->launches; k++) {
        const trs_front_launch *l = &r->s->launch[k];
        for (int32_t f = 0; f < l->fronts; f++) {
            assert_true(r->s->start[l->start + f] <= r->s->start[l->start + f + 1]);
            do_front(r, &r->s->numbers[r->s->list[l->list + f]], l);
        }
        assert_int_equal(r->s->start[l->start], 0);
        assert_int_equal(r->s->start[l->start + l->fronts], l->blocks);
    }
}
