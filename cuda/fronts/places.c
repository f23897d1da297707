/* places.c: where the entries of A go in the panels of fronts, and where those of L and U come from. */
#include "config.h"

#include "schedule.h"

#include "base/debug.h"
#include "base/parallel.h"

#include <inttypes.h>
#include <stdatomic.h>

/* Calls visit (user, entry, row, column) for the entries of a checked matrix, in its order, until it does not return
 * TRS_OK. */
typedef int (*visitor)(void *user, int64_t e, int64_t row, int64_t column);
static int for_entries(const trs_mat *m, visitor visit, void *user)
{
    const bool rows = trs_by_rows(m);
    for (int64_t l = 0; l < m->n; l++)
        for (int64_t p = trs_major_begin(m, l); p < trs_major_end(m, l); p++) {
            const int64_t k = trs_minor_index(m, l, p);
            const int rc = visit(user, p, rows ? l : k, rows ? k : l);
            if (rc) return rc;
        }
    return TRS_OK;
}

/* ---- A -------------------------------------------------------------------------------------------------- */

typedef struct orders { /* the inverses of P and Q */
    int32_t *row, *column;
    int32_t *i, *j; /* out, for entry e of A */
} orders;

static int take_entry(void *user, int64_t e, int64_t row, int64_t column)
{
    const orders *o = user;
    o->i[e] = o->row[row];
    o->j[e] = o->column[column];
    return TRS_OK;
}

static int64_t entries_of(const trs_mat *A)
{
    return A->format == TRS_DENSE ? A->n * A->ld : trs_major_end(A, A->n - 1);
}

int trs_front_entries(trs_context *ctx, const trs_fronts_pattern *p, int64_t *entries, int32_t **i,
                      int32_t **j)
{
    const int64_t n = p->A->n, *Q = p->cholesky ? p->P : p->Q;
    *entries = n > 0 ? entries_of(p->A) : 0;
    orders o = {.row = trs_new(ctx, n, sizeof *o.row, "the inverse of P")};
    o.column = trs_new(ctx, n, sizeof *o.column, "the inverse of Q");
    o.i = *i = trs_new(ctx, *entries, sizeof **i, "the pattern of A");
    o.j = *j = trs_new(ctx, *entries, sizeof **j, "the pattern of A");
    const int rc = o.row && o.column && *i && *j ? TRS_OK : TRS_EMEM;
    for (int64_t k = 0; k < n && !rc; k++) {
        o.row[p->P[k]] = (int32_t)k;
        o.column[Q[k]] = (int32_t)k;
    }
    for (int64_t e = 0; e < *entries && !rc; e++) (*i)[e] = (*j)[e] = 0;
    if (!rc) for_entries(p->A, take_entry, &o);
    trs_free(&ctx->mem, o.row);
    trs_free(&ctx->mem, o.column);
    return rc;
}

/* ---- places ----------------------------------------------------------------------------------------------- */

typedef struct finder {
    const trs_front_tree *t;
    const trs_front_schedule *s;
    const trs_fronts_pattern *p;
    const int32_t *i, *j; /* of A */
    trs_front_places *q;
    int64_t *to; /* l or u of q */
} finder;

/* Where the last search ended.  The entries of a column of L, or of a row of U, are in one front, and mostly ascend. */
typedef struct last_place {
    int32_t front, near;
} last_place;

/* The front that has entry (a, b) in the new order, and where it stands there; -1: in none. */
static int32_t find_entry(const finder *f, int32_t a, int32_t b, last_place *last, int32_t *i,
                          int32_t *j)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a, k = f->t->of[low];
    if (k != last->front) *last = (last_place){.front = k};
    const trs_front *s = &f->t->front[k];
    const int32_t first = low - s->first, second = trs_front_find(f->t, s, high, &last->near);
    *i = a < b ? first : second;
    *j = a < b ? second : first;
    return second < 0 ? -1 : k;
}

/* A search takes as long as copying some entries. */
static int team_of(const trs_context *ctx, int64_t entries)
{
    enum { COPIES = 8 };
    return trs_team(ctx, COPIES * entries);
}

/* Offset of entry (i, j) of a front in lower or upper. */
static int64_t offset(const trs_front_numbers *d, int64_t i, int64_t j)
{
    const int64_t order = (int64_t)d->cols + d->rows;
    return i >= j ? d->lower + j * order + i : d->upper + i * order + j;
}

/* Offset of entry (i, j) of L or U: blocks on the diagonal of large fronts stand apart. */
static int64_t offset_of_factor(const trs_front_numbers *d, int64_t i, int64_t j)
{
    const int64_t block = i / TRS_FRONT_PANEL;
    const bool apart =
        d->diagonal >= 0 && i < d->cols && j < d->cols && block == j / TRS_FRONT_PANEL;
    if (!apart) return offset(d, i, j);
    return d->diagonal + (block * TRS_FRONT_PANEL + j % TRS_FRONT_PANEL) * TRS_FRONT_PANEL +
           i % TRS_FRONT_PANEL;
}

/* List the entries of A that are read. */
static int list_entry(void *user, int64_t e, int64_t row, int64_t column)
{
    finder *f = user;
    trs_front_places *q = f->q;
    if (f->p->cholesky && row < column) return TRS_OK;
    q->from[q->entries] = e;
    if (q->row) q->row[q->entries] = (int32_t)row;
    if (q->i) q->i[q->entries] = f->i[e], q->j[q->entries] = f->j[e];
    q->entries++;
    return TRS_OK;
}

/* Place those from begin to end - 1 of this list. */
static void place_entries(void *user, int64_t begin, int64_t end)
{
    const finder *f = user;
    last_place last = {.front = -1};
    for (int64_t p = begin; p < end; p++) {
        const int64_t e = f->q->from[p];
        const int32_t a = f->t->place[f->i[e]], b = f->t->place[f->j[e]];
        const bool turned = f->p->cholesky && a < b; /* a(b, a) = conj (a(a, b)) */
        int32_t i, j;
        const int32_t k =
            turned ? find_entry(f, b, a, &last, &i, &j) : find_entry(f, a, b, &last, &i, &j);
        TRS_ASSERT(k >= 0);
        const int64_t to = offset(&f->s->numbers[k], i, j);
        f->q->to[p] = turned ? ~to : to;
    }
}

/* Entry e of L or U, at (row, column).  false: it cannot come of A. */
static bool place_factor(const finder *f, int64_t e, int64_t row, int64_t column, last_place *last)
{
    const bool is_l = f->to == f->q->l;
    int32_t i, j;
    if (is_l && !f->p->cholesky && row == column) {
        f->to[e] = TRS_FRONT_ONE;
        return true;
    }
    const int32_t k = find_entry(f, f->t->place[row], f->t->place[column], last, &i, &j);
    if (k < 0 && f->p->indefinite) { /* the host expected a pair, and found two pivots */
        f->to[e] = TRS_FRONT_ZERO;
        return true;
    }
    if (k < 0 || (is_l ? i < j : i > j)) return false;
    f->to[e] = offset_of_factor(&f->s->numbers[k], i, j);
    return true;
}

typedef struct factor_search { /* of all entries, which threads share */
    const finder *f;
    const trs_mat *m;
    _Atomic int64_t
        bad; /* the row or column of an entry that has no place; -1: none has been found */
} factor_search;

static void place_majors(void *user, int64_t begin, int64_t end)
{
    factor_search *s = user;
    const trs_mat *m = s->m;
    const bool rows = trs_by_rows(m);
    last_place last = {.front = -1};
    for (int64_t l = begin; l < end; l++)
        for (int64_t p = trs_major_begin(m, l); p < trs_major_end(m, l); p++) {
            const int64_t k = trs_minor_index(m, l, p);
            if (!place_factor(s->f, p, rows ? l : k, rows ? k : l, &last)) s->bad = l;
        }
}

static int factor_places(trs_context *ctx, finder *f, const trs_mat *m, int64_t **to,
                         int64_t *count)
{
    enum { EACH = 256 };
    factor_search s = {.f = f, .m = m, .bad = -1};
    *count = m->n > 0 ? entries_of(m) : 0;
    f->to = *to = trs_new(ctx, *count, sizeof **to, "the places of factors");
    if (!f->to) return TRS_EMEM;
    trs_share(team_of(ctx, *count), m->n, EACH, place_majors, &s);
    if (s.bad < 0) return TRS_OK;
    return trs_fail(TRS_EMATRIX, "an entry of %s %" PRId64 " of the factors cannot come of A",
                    trs_by_rows(m) ? "row" : "column", (int64_t)s.bad);
}

/* Arrays for the places of up to `most` entries of A. */
static int new_places(trs_context *ctx, const trs_fronts_pattern *p, int64_t most,
                      trs_front_places *q)
{
    const bool scaled = !p->cholesky && p->scale;
    *q = (trs_front_places){.entries = 0};
    q->from = trs_new(ctx, most, sizeof *q->from, "the places of A");
    q->to = trs_new(ctx, most, sizeof *q->to, "the places of A");
    if (!q->from || !q->to) return TRS_EMEM;
    if (scaled) q->row = trs_new(ctx, most, sizeof *q->row, "the places of A");
    if (p->indefinite) {
        q->i = trs_new(ctx, most, sizeof *q->i, "the places of A");
        q->j = trs_new(ctx, most, sizeof *q->j, "the places of A");
    }
    return !q->row == !scaled && !q->i == !p->indefinite && !q->i == !q->j ? TRS_OK : TRS_EMEM;
}

int trs_front_places_make(trs_context *ctx, const trs_fronts_pattern *p, const trs_front_tree *t,
                          const trs_front_schedule *s, const int32_t *i, const int32_t *j,
                          trs_front_places *q)
{
    const int64_t most = p->A->n > 0 ? entries_of(p->A) : 0;
    finder f = {.t = t, .s = s, .p = p, .i = i, .j = j, .q = q};
    enum { EACH = 4096 };
    int rc = new_places(ctx, p, most, q);
    if (!rc) rc = for_entries(p->A, list_entry, &f);
    if (!rc) trs_share(team_of(ctx, q->entries), q->entries, EACH, place_entries, &f);
    if (!rc) rc = factor_places(ctx, &f, p->L, &q->l, &q->lnz);
    if (!rc && !p->cholesky) rc = factor_places(ctx, &f, p->U, &q->u, &q->unz);
    return rc;
}

void trs_front_places_free(trs_context *ctx, trs_front_places *q)
{
    trs_free(&ctx->mem, q->from);
    trs_free(&ctx->mem, q->to);
    trs_free_all(&ctx->mem, q->row, q->i, q->j, q->l, q->u);
    *q = (trs_front_places){.entries = 0};
}
