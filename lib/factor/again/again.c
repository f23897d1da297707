/* again.c: new values for the factors of a library, on the host.
 *
 * The first update makes rows of L + U with all of the fill for the pivots that the library chose, or fronts, and lets the plans
 * read their numbers there.  Every update then computes the numbers, measures their growth, and gives them to the plans: no
 * conversion, and no memory.  If the pivots do not suit the new values, or the pattern is another one, *done is false, and
 * the library factors A.  All errors of A are found and reported there. */
#include "config.h"

#include "again.h"
#include "again_fronts.h"
#include "lu_again.h"
#include "base/debug.h"
#include "core/refresh.h"
#include "factor/lu_mat.h"

#include <math.h>
#include <string.h>

struct trs_lu_again {
    trs_again_rows rows;
    trs_again_fronts fronts;
    bool by_fronts; /* there are no rows */
    /* growth up to which the pivots suit, and that of the last values by fronts */
    double limit, growth;
    /* [nnz of A] place of each entry in lu->refined, or, for L S L^H, in lu->analysed; NULL: nothing is refined */
    int64_t *places;
    /* of fronts that solve without plans: their order of the rows of A, and scratch */
    int32_t *line;
    double *x;
};

/* Times the growth with the pivots that the library has chosen; and fill that the library did not find. */
static const double slack = 10;
enum { MOST_FILL = 3 };
/* Products for each entry of L + U, below which fronts are not looked at. */
static const double few_products = 10;

bool trs_lu_again_by_fronts(const trs_lu *lu)
{
    return lu->again && lu->again->by_fronts;
}

void trs_lu_again_free(trs_lu *lu)
{
    struct trs_lu_again *a = lu->again;
    trs_context ctx = {.mem = lu->mem};
    if (!a) return;
    trs_again_rows_free(&ctx, &a->rows);
    trs_again_fronts_free(&a->fronts);
    trs_lu_free(lu, a->places, a->line, a->x, a);
    lu->again = NULL;
}

/* ---- growth of the first factors ------------------------------------------------------------------ */

static double size_of(const trs_mat *m, int64_t p)
{
    double z[2];
    trs_number_get(m->val, m->dtype, p, z);
    return fabs(z[0]) + fabs(z[1]);
}

/* max |l(i, k) u(k, j)| / max |scale a|.  row [n] is scratch, for the largest number of each row of U. */
static double growth_of(const trs_factors *f, double *row)
{
    const trs_mat *m[2] = {&f->U, &f->L};
    double most = 0;
    memset(row, 0, (size_t)f->U.n * sizeof *row);
    for (int is_l = 0; is_l < 2; is_l++)
        for (int64_t l = 0; l < f->L.n; l++)
            for (int64_t p = trs_major_begin(m[is_l], l); p < trs_major_end(m[is_l], l); p++) {
                const bool major = trs_by_rows(m[is_l]) != is_l; /* is it k? */
                const int64_t k = major ? l : trs_minor_index(m[is_l], l, p);
                const double size = size_of(m[is_l], p);
                if (is_l) most = fmax(most, size * row[k]);
                else row[k] = fmax(row[k], size);
            }
    return most / f->largest_a;
}

/* ---- from the factors of the library to the rows ---------------------------------------------------- */

/* to [p]: where entry p of a factor stands in the rows.  next [n] is scratch.  false: the rows lack an entry. */
static bool map(const trs_mat *m, bool lower, const trs_ilu_rows *r, int64_t *next, int64_t *to)
{
    const bool by_rows = trs_by_rows(m);
    memcpy(next, lower ? r->t.ptr : r->diag, (size_t)m->n * sizeof *next);
    for (int64_t l = 0; l < m->n; l++)
        for (int64_t p = trs_major_begin(m, l); p < trs_major_end(m, l); p++) {
            const int64_t k = trs_minor_index(m, l, p), i = by_rows ? l : k, j = by_rows ? k : l;
            to[p] = r->t.nnz; /* there is a 1 */
            if (lower && i == j) continue;
            if (next[i] == r->t.ptr[i + 1] || r->t.idx[next[i]] != j) return false;
            to[p] = next[i]++;
        }
    return true;
}

/* The rows as two triangles. */
static void show(const trs_tri *t, trs_mat *L, trs_mat *U)
{
    *L = (trs_mat){.n = t->n, .nnz = t->nnz, .ptr = t->ptr, .idx = t->idx, .val = t->val};
    L->dtype = t->dtype;
    *U = *L;
    L->kind = TRS_LOWER | TRS_UNIT;
    U->kind = TRS_UPPER;
}

/* Let a plan read its values from m, where entry p is at to [p]. */
static int redirect(const trs_lu *lu, trs_plan *plan, const trs_mat *m, const int64_t *to)
{
    trs_mat shape = trs_lu_shape(m);
    shape.dtype = trs_lu_plan_type(lu);
    return trs_plan_redirect(plan, &shape, to);
}

/* *where: the places in the fronts of the entries of L, or of L + U and of a 1. */
static int find_fronts(const trs_lu *lu, const trs_mat *m, int64_t **where)
{
    const trs_again_fronts *f = &lu->again->fronts;
    int rc = TRS_EMEM;
    int32_t *at = trs_lu_alloc((trs_lu *)lu, m->n, sizeof *at, "places of the factors");
    int64_t *next = trs_lu_alloc((trs_lu *)lu, m->n, sizeof *next, "places of the factors");
    *where = trs_lu_alloc((trs_lu *)lu, m->nnz + 1, sizeof **where, "places of the factors");
    const bool there = at && next && *where;
    if (there) rc = trs_again_fronts_places(f, m, at, next, *where) ? TRS_OK : TRS_ESUPPORT;
    trs_lu_free(lu, at, next);
    if (!rc) (*where)[m->nnz] = f->panel[0]; /* the diagonal of L begins there */
    return rc;
}

/* to: from the rows to the fronts. */
static int pass_on(const trs_lu *lu, const trs_mat *rows, int64_t count, int64_t *to)
{
    int64_t *where;
    const int rc = find_fronts(lu, rows, &where);
    for (int64_t p = 0; p < count && !rc; p++) to[p] = where[to[p]];
    trs_lu_free(lu, where);
    return rc;
}

/* Do the rows have the pattern of the factors?  Then to [p] is where each entry stands in them.  next [n] is scratch. */
static bool map_both(const trs_factors *f, const trs_ilu_rows *r, int64_t *next, int64_t *to)
{
    return f->L.nnz + f->U.nnz - f->L.n == r->t.nnz && map(&f->L, true, r, next, to) &&
           map(&f->U, false, r, next, to + f->L.nnz);
}

/* Let the plans read L and U of the rows, or their numbers in the fronts. */
static int redirect_both(trs_lu *lu, const trs_mat *L, const trs_mat *U, int64_t *to)
{
    const trs_factors *f = &lu->f;
    int rc = TRS_OK;
    if (lu->again->by_fronts) rc = pass_on(lu, L, f->L.nnz + f->U.nnz, to);
    if (!rc) rc = redirect(lu, lu->l, L, to);
    if (!rc) rc = redirect(lu, lu->u, U, to + f->L.nnz);
    return rc;
}

/* Let the factors and their plans be those of the rows.  Plans that lack entries are made anew. */
static int join(trs_lu *lu, const trs_ilu_rows *r)
{
    trs_factors *f = &lu->f;
    trs_mat L, U;
    int64_t *to = trs_lu_alloc(lu, f->L.nnz + f->U.nnz, sizeof *to, "places of the factors");
    int64_t *next = trs_lu_alloc(lu, f->L.n, sizeof *next, "places of the factors");
    int rc = to && next ? TRS_OK : TRS_EMEM;
    show(&r->t, &L, &U);
    const bool same = !rc && lu->l && lu->u && map_both(f, r, next, to);
    if (same) rc = redirect_both(lu, &L, &U, to);
    if (rc || !same) trs_lu_drop_plans(lu);
    trs_lu_free(lu, to, next);
    if (rc) return rc;
    trs_lu_triangles_free(lu, f);
    f->L = L, f->U = U;
    return TRS_OK;
}

/* places [p]: where entry p of A is in C. */
static int find_places(trs_lu *lu, const trs_mat *A, const trs_csc *C, int64_t **places)
{
    if (!C) return TRS_OK;
    *places = trs_lu_alloc(lu, A->nnz, sizeof **places, "places of A");
    if (!*places) return TRS_EMEM;
    for (int64_t l = 0; l < A->n; l++)
        for (int64_t p = trs_major_begin(A, l); p < trs_major_end(A, l); p++) {
            const int64_t k = trs_minor_index(A, l, p);
            const int64_t i = trs_by_rows(A) ? l : k, j = trs_by_rows(A) ? k : l;
            int64_t low = C->p[j], high = C->p[j + 1] - 1;
            while (low < high) {
                const int64_t middle = low + (high - low) / 2;
                if (C->i[middle] < i) low = middle + 1;
                else high = middle;
            }
            TRS_ASSERT(C->i[low] == i);
            (*places)[p] = low;
        }
    return TRS_OK;
}

static double count_products(const trs_again_rows *r)
{
    const trs_tri *t = &r->rows.t;
    double count = 0;
    for (int32_t i = 0; i < t->n; i++)
        for (int64_t p = t->ptr[i]; p < r->rows.diag[i]; p++) {
            const int32_t k = t->idx[p];
            count += (double)(t->ptr[k + 1] - r->rows.diag[k]);
        }
    return count;
}

/* Let L U be computed by fronts if these are faster than rows. */
static int choose_fronts(trs_lu *lu, trs_context *ctx, const trs_mat *A)
{
    struct trs_lu_again *a = lu->again;
    if (a->rows.product) return TRS_OK;
    const double products = count_products(&a->rows);
    if (products < few_products * (double)a->rows.rows.t.nnz) return TRS_OK;
    const int rc = trs_again_fronts_make(ctx, A, &lu->f, products, &a->fronts);
    a->by_fronts = !rc;
    if (!rc) return TRS_OK;
    trs_again_fronts_free(&a->fronts);
    return rc == TRS_ESUPPORT ? TRS_OK : rc;
}

static int make_rows(trs_lu *lu, trs_context *ctx, const trs_mat *A)
{
    const trs_factors *f = &lu->f;
    struct trs_lu_again *a = lu->again;
    const trs_tri *t = &a->rows.rows.t;
    const int64_t fill = MOST_FILL * (f->L.nnz + f->U.nnz) + f->L.n;
    int rc = trs_again_rows_make(ctx, A, f, fill, &a->rows);
    if (!rc) a->limit = fmin(slack * growth_of(f, a->rows.largest), TRS_MOST_GROWTH);
    if (!rc) rc = choose_fronts(lu, ctx, A);
    if (!rc) rc = join(lu, &a->rows.rows);
    if (rc) trs_free_all(&lu->mem, t->ptr, t->idx, t->val);
    if (rc || !a->by_fronts) return rc;
    trs_again_rows_free(ctx, &a->rows);
    memset(&a->rows, 0, sizeof a->rows);
    return TRS_OK;
}

/* Places in the fronts of the numbers of L and of U, which may have the same arrays. */
typedef struct both_places {
    int64_t *l, *u; /* u: NULL where there is no U */
} both_places;

static bool are_joined(const trs_factors *f)
{
    return f->U.ptr == f->L.ptr;
}

static int find_both(const trs_lu *lu, both_places *to)
{
    const trs_factors *f = &lu->f;
    *to = (both_places){0};
    int rc = find_fronts(lu, &f->L, &to->l);
    if (rc || f->cholesky) return rc;
    if (are_joined(f)) to->u = to->l;
    else rc = find_fronts(lu, &f->U, &to->u);
    return rc;
}

static void both_free(const trs_lu *lu, both_places *to)
{
    if (to->u != to->l) trs_lu_free(lu, to->u);
    trs_lu_free(lu, to->l);
}

/* The plans read the panels of the fronts. */
static int redirect_to_fronts(trs_lu *lu, const both_places *to)
{
    const trs_factors *f = &lu->f;
    int rc = redirect(lu, lu->l, &f->L, to->l);
    if (!rc && lu->u) rc = redirect(lu, lu->u, &f->U, to->u);
    return rc;
}

static int make_fronts(trs_lu *lu, trs_context *ctx, const trs_mat *A)
{
    struct trs_lu_again *a = lu->again;
    a->by_fronts = true;
    both_places to = {0};
    int rc = trs_again_fronts_make(ctx, A, &lu->f, 0, &a->fronts);
    if (!rc) rc = find_both(lu, &to);
    if (!rc) rc = redirect_to_fronts(lu, &to);
    both_free(lu, &to);
    return rc;
}

/* max |l s l| / max |a| of L S L^H */
static double growth_of_middle(const trs_factors *f)
{
    return f->largest_l * f->largest_l / f->largest_a;
}

/* The backend computes L S L^H where it is. */
static int make_places(trs_lu *lu, const trs_mat *A)
{
    lu->again->limit = slack * growth_of_middle(&lu->f);
    return find_places(lu, A, lu->analysed, &lu->again->places);
}

static int make(trs_lu *lu, const trs_mat *A)
{
    trs_context ctx = {.mem = lu->mem, .base = lu->base};
    ctx.threads = lu->opt.threads > 0 ? lu->opt.threads : trs_default_threads();
    lu->again = trs_alloc_zero(&lu->mem, 1, sizeof *lu->again);
    if (!lu->again) return trs_fail(TRS_EMEM, "out of memory for a handle");
    int rc;
    if (lu->f.sign) rc = make_places(lu, A);
    else rc = lu->f.cholesky ? make_fronts(lu, &ctx, A) : make_rows(lu, &ctx, A);
    if (!rc) return rc;
    trs_lu_again_free(lu);
    if (rc != TRS_ESUPPORT) return rc;
    lu->never_again = true;
    return TRS_OK;
}

/* Copy the numbers of m, which are at `where` in the fronts, to its array. */
static void fetch_from(const trs_lu *lu, const trs_mat *m, const int64_t *where)
{
    const void *from = lu->again->fronts.val;
    double *to = (double *)m->val;
    if (trs_is_complex(m->dtype))
        for (int64_t p = 0; p < m->nnz; p++)
            memcpy(to + 2 * p, (const double *)from + 2 * where[p], 2 * sizeof *to);
    else
        for (int64_t p = 0; p < m->nnz; p++) to[p] = ((const double *)from)[where[p]];
}

static void fetch_both(const trs_lu *lu, const both_places *from)
{
    const trs_factors *f = &lu->f;
    fetch_from(lu, &f->L, from->l);
    if (from->u && !are_joined(f)) fetch_from(lu, &f->U, from->u);
}

int trs_lu_again_fetch(trs_lu *lu)
{
    both_places from;
    if (!trs_lu_again_by_fronts(lu)) return TRS_OK;
    const int rc = find_both(lu, &from);
    if (!rc) fetch_both(lu, &from);
    both_free(lu, &from);
    return rc;
}

/* ---- new values ------------------------------------------------------------------------------------- */

/* Is A what the pivots were chosen for, but for its values? */
static bool has_pattern(const trs_lu *lu, const trs_mat *A)
{
    const trs_mat *was = &lu->pattern;
    return was->ptr && A->ptr && A->idx && trs_same_arrays(was, A) && was->base == A->base &&
           trs_lu_same_pattern(was, A) && !trs_check_values(A);
}

/* Can these factors be computed again? */
static bool may(const trs_lu *lu, const trs_mat *A)
{
    const bool known = lu->f.P || lu->f.symbolic; /* those that wait have no P */
    return !lu->never_again && lu->ready && lu->opt.device <= 0 && known && lu->f.L.n > 0 &&
           !lu->f.incomplete && !lu->single && lu->opt.pivot != TRS_PIVOT_SKIP &&
           has_pattern(lu, A);
}

static void refine_with(const trs_lu *lu, const trs_mat *A)
{
    const trs_csc *C = lu->refined;
    for (int64_t e = 0; C && e < A->nnz; e++) {
        double z[2];
        trs_number_get(A->val, A->dtype, e, z);
        const int64_t p = lu->again->places[e];
        if (C->is_complex) C->x[2 * p] = z[0], C->x[2 * p + 1] = z[1];
        else C->x[p] = z[0];
    }
}

/* Make plans of the numbers.  Those of fronts read the arrays of the factors this once. */
static int make_plans(trs_lu *lu)
{
    both_places at;
    if (!lu->again->by_fronts) return trs_lu_plan(lu, false);
    trs_lu_drop_plans(lu);
    int rc = find_both(lu, &at);
    if (!rc) {
        fetch_both(lu, &at);
        rc = trs_lu_plan(lu, false);
    }
    if (!rc) rc = redirect_to_fronts(lu, &at);
    both_free(lu, &at);
    if (!rc) return TRS_OK;
    trs_lu_drop_plans(lu);
    lu->ready = false;
    return rc;
}

/* Give the numbers to the plans, or make plans of them. */
static int feed_plans(trs_lu *lu)
{
    trs_mat L = lu->f.L, U = lu->f.U;
    if (!lu->l || !lu->own) return make_plans(lu);
    const double start = trs_now();
    if (lu->again->by_fronts) L.val = U.val = lu->again->fronts.val;
    int rc = trs_lu_plan_of(lu, &lu->l, &L, "L", NULL);
    if (!rc && !lu->f.cholesky) rc = trs_lu_plan_of(lu, &lu->u, &U, "U", NULL);
    trs_lu_set_info(lu, trs_now() - start);
    lu->ready = !rc;
    return rc;
}

/* Do the pivots suit these values?  Then the factors are there. */
static bool compute_rows(trs_lu *lu, const trs_mat *A)
{
    const struct trs_lu_again *a = lu->again;
    const trs_again_outcome o = trs_again_rows_run(&a->rows, A->val);
    lu->f.rcond = o.least / o.most;
    return !o.bad && isfinite(o.largest_a) && o.largest <= a->limit * o.largest_a;
}

static bool compute_fronts(trs_lu *lu, const trs_mat *A)
{
    struct trs_lu_again *a = lu->again;
    const trs_again_pivots o = trs_again_fronts_run(&a->fronts, A->dtype, A->val);
    lu->f.rcond = o.least / o.most;
    a->growth = o.largest / o.largest_a;
    if (!lu->f.cholesky) return !o.bad && a->growth <= a->limit;
    lu->f.rcond *= o.least / o.most;
    return !o.bad;
}

static int compute(trs_lu *lu, const trs_mat *A, bool *suits)
{
    if (!lu->f.sign) {
        *suits = lu->again->by_fronts ? compute_fronts(lu, A) : compute_rows(lu, A);
        return trs_canceled();
    }
    const int rc = lu->renew(lu, A, lu->again->places, suits);
    *suits = *suits && growth_of_middle(&lu->f) <= lu->again->limit;
    return rc;
}

int trs_lu_again(trs_lu *lu, const trs_mat *A, bool *done)
{
    const double start = trs_now();
    *done = false;
    if (!may(lu, A)) return TRS_OK;
    int rc = lu->again ? TRS_OK : make(lu, A);
    if (!rc && lu->again && !lu->again->places)
        rc = find_places(lu, A, lu->refined, &lu->again->places);
    if (rc) lu->ready = false; /* plans may be gone */
    if (rc || !lu->again) return rc;
    lu->ready = lu->singular = false;
    bool suits;
    rc = compute(lu, A, &suits);
    *done = rc || suits;
    if (rc || !suits) return rc;
    lu->info.seconds_factor = trs_now() - start;
    if (!lu->f.sign) refine_with(lu, A);
    if (!lu->f.symbolic) return feed_plans(lu);
    lu->ready = true; /* they wait on */
    lu->solved = 0;
    return TRS_OK;
}

/* ---- first values with the pivots of symbolic factors ------------------------------------------------ */

/* Solves by the fronts, in whose order line [i] is the row and column of A. */
static int prepare_solves(trs_lu *lu)
{
    struct trs_lu_again *a = lu->again;
    const trs_again_fronts *f = &a->fronts;
    const int64_t n = f->tree.n;
    a->line = trs_lu_alloc(lu, n, sizeof *a->line, "the order of fronts");
    a->x =
        trs_lu_alloc(lu, n + trs_again_fronts_solve_size(f), trs_size(f->type), "the first solves");
    if (!a->line || !a->x) return TRS_EMEM;
    for (int64_t i = 0; i < n; i++) a->line[i] = (int32_t)lu->f.P[f->tree.pivot[i]];
    return TRS_OK;
}

static int make_first(trs_lu *lu, const trs_mat *A)
{
    struct trs_lu_again *a = lu->again;
    trs_context ctx = {.mem = lu->mem, .base = lu->base};
    ctx.threads = lu->opt.threads > 0 ? lu->opt.threads : trs_default_threads();
    a->by_fronts = true;
    const int rc = trs_again_fronts_make(&ctx, A, &lu->f, INFINITY, &a->fronts);
    return rc || lu->f.cholesky ? rc : prepare_solves(lu);
}

int trs_lu_again_begin(trs_lu *lu, const trs_mat *A, double most, double *growth)
{
    bool suits;
    lu->again = trs_alloc_zero(&lu->mem, 1, sizeof *lu->again);
    if (!lu->again) return trs_fail(TRS_EMEM, "out of memory for a handle");
    lu->again->limit = most;
    int rc = make_first(lu, A);
    if (!rc) rc = compute(lu, A, &suits);
    if (!rc && !suits) rc = trs_fail(TRS_EGROWTH, "pivots on the diagonal do not suit A");
    if (rc) {
        trs_lu_again_free(lu);
        return rc;
    }
    struct trs_lu_again *a = lu->again;
    *growth = a->growth;
    a->limit = fmin(fmax(TRS_HARMLESS_GROWTH, slack * a->growth), most);
    return TRS_OK;
}

void trs_lu_again_solve(const trs_lu *lu, trs_op op, double *x, const double *b)
{
    const struct trs_lu_again *a = lu->again;
    const int64_t n = a->fronts.tree.n, parts = trs_is_complex(a->fronts.type) ? 2 : 1;
    double *y = a->x;
    for (int64_t i = 0; i < n; i++)
        for (int64_t q = 0; q < parts; q++) y[parts * i + q] = b[parts * a->line[i] + q];
    trs_again_fronts_solve(&a->fronts, op, y, y + parts * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t q = 0; q < parts; q++) x[parts * a->line[i] + q] = y[parts * i + q];
}

int trs_lu_again_settle(trs_lu *lu)
{
    trs_factors *f = &lu->f;
    const size_t size = trs_size(f->L.dtype);
    f->L.val = trs_lu_alloc(lu, f->L.nnz, size, "the values of a factor");
    if (!f->cholesky) f->U.val = trs_lu_alloc(lu, f->U.nnz, size, "the values of a factor");
    if (!f->L.val || !(f->cholesky || f->U.val)) return TRS_EMEM;
    const int rc = make_plans(lu);
    f->symbolic = rc;
    return rc;
}
