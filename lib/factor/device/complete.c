/* complete.c: complete factors that are computed on a device, by the pivots that a library has found on the host.
 *
 *     (L U)(k, m) = scale(P(k)) A(P(k), Q(m)), without further exchanges, on all of the fill that any values may make
 *     L S L^H     = A(P, P), S with 1 and -1 on its diagonal
 *
 * Their rows are those of A(P, Q) with the fill, and row k counts scale(P(k)) times.  When new values do not
 * suit the pivots, the host has to find others.  Pivots of two rows are eliminated as turned.h says. */
#include "config.h"

#include "complete_fill.h"
#include "lu_device.h"
#include "base/debug.h"

#include <math.h>
#include <string.h>

/* Elimination entry by entry stores some bytes for each product of two entries, and reads them in each run.  If each entry
 * has many products, as in large supernodes, fronts take less time. */
static const double most_products = 1 << 28, many_an_entry = 20;
/* Most fill of the pattern alone, relative to what the library found: values may cancel, but not often. */
enum { MOST_FILL = 3 };
static const double default_limit = 1e6;
/* Of L S L^H, relative to that of the first factors, which the regularisation of A bounds; as again/again.c has it. */
static const double slack = 10;
/* Of pivots that nobody has compared with others, the growth that is no reason for better ones. */
static const double first_limit = 1e2;

/* count [k] += the entries of row k, or of column k. */
static void count_entries(const trs_mat *m, bool rows, int64_t *count)
{
    const bool major = rows == trs_by_rows(m);
    for (int64_t l = 0; l < m->n; l++) {
        const int64_t begin = trs_major_begin(m, l), end = trs_major_end(m, l);
        if (major) count[l] += end - begin;
        for (int64_t p = begin; p < end && !major; p++) count[trs_minor_index(m, l, p)]++;
    }
}

/* How many products elimination by the factors of the library has; INFINITY after an error. */
static double count_products(trs_lu *lu)
{
    const trs_factors *f = &lu->f;
    const int64_t n = f->L.n;
    int64_t *below = trs_alloc_zero(&lu->mem, n, sizeof *below);
    int64_t *right = trs_alloc_zero(&lu->mem, n, sizeof *right);
    double products = INFINITY;
    if (below && right) {
        count_entries(&f->L, false, below);
        if (f->cholesky) memcpy(right, below, (size_t)n * sizeof *right);
        else count_entries(&f->U, true, right);
        products = 0;
        for (int64_t k = 0; k < n; k++) products += (double)(below[k] - 1) * (double)(right[k] - 1);
    }
    trs_lu_free(lu, below, right);
    return products;
}

static int64_t count_both(const trs_factors *f)
{
    return f->L.nnz + (f->cholesky ? f->L.nnz : f->U.nnz);
}

/* Fill beyond this is not worth it. */
static int64_t most_fill(const trs_lu *lu)
{
    return MOST_FILL * count_both(&lu->f) + lu->f.L.n;
}

static double growth_limit(const trs_lu *lu)
{
    const trs_factors *f = &lu->f;
    if (lu->growth_limit > 0) return lu->growth_limit;
    if (!f->sign || !(f->largest_a > 0)) return default_limit;
    return fmax(default_limit, slack * f->largest_l * f->largest_l / f->largest_a);
}

/* That of the values which the factors are made of. */
static double limit_now(const trs_lu *lu)
{
    const double later = growth_limit(lu);
    return lu->f.symbolic && later > first_limit ? first_limit : later;
}

/* ---- entry by entry ------------------------------------------------------------------------------ */

/* cuda/factor sorts the rows of the fill. */
static int factor_rows(trs_lu *lu, const trs_mat *A, const trs_complete_fill *fill,
                       const trs_turned *turned, bool *made)
{
    const trs_mat rows = {.n = fill->n, .nnz = fill->nnz, .ptr = fill->ptr, .idx = fill->idx};
    trs_lu_task task = {.A = A, .pattern = &rows, .src = fill->src, .dtype = lu->f.L.dtype};
    const trs_factors *f = &lu->f;
    TRS_ASSERT(fill->n == f->L.n && fill->n == A->n);
    double *scale = NULL; /* in the order of the pivots */
    if (f->scale) scale = trs_lu_alloc(lu, f->L.n, sizeof *scale, "the row scaling");
    if (f->scale && !scale) return TRS_EMEM;
    for (int64_t k = 0; k < f->L.n && scale; k++) scale[k] = f->scale[f->P[k]];
    task.cholesky = f->cholesky;
    task.turned = turned;
    task.scale = scale;
    task.limit = limit_now(lu);
    task.waits = lu->refactors || f->symbolic;
    const int rc = trs_lu_device_make(lu, &task, made);
    trs_lu_free(lu, scale);
    return rc;
}

static int by_entries(trs_lu *lu, const trs_mat *A, const trs_turned *turned, bool *made)
{
    trs_context ctx = {.mem = lu->mem, .threads = 1};
    const trs_factors *f = &lu->f;
    const int64_t *Q = f->cholesky ? f->P : f->Q;
    trs_complete_fill fill;
    int rc = trs_complete_fill_find(&ctx, turned ? &turned->G : A, f->P, Q, most_fill(lu), &fill);
    if (rc) return rc;
    rc = factor_rows(lu, A, &fill, turned, made);
    trs_complete_fill_free(&ctx, &fill);
    return rc;
}

/* ---- front by front --------------------------------------------------------------------------------- */

static int by_fronts(trs_lu *lu, const trs_mat *A, const trs_turned *turned, bool *made)
{
    int rc = TRS_OK;
    if (!lu->f.cholesky && !lu->f.symbolic) rc = trs_lu_complete_factors(lu, A, most_fill(lu));
    if (!rc) rc = trs_lu_fronts_make(lu, A, turned, limit_now(lu), made);
    return rc;
}

/* ---- either -------------------------------------------------------------------------------------- */

/* turned: pivots of two rows, or NULL */
static int by(bool fronts, trs_lu *lu, const trs_mat *A, const trs_turned *turned, bool *made)
{
    return fronts ? by_fronts(lu, A, turned, made) : by_entries(lu, A, turned, made);
}

static int with_pairs(bool fronts, trs_lu *lu, const trs_mat *A, bool *made)
{
    trs_turned t;
    int rc = trs_turned_make(lu, A, &t);
    if (!rc) rc = by(fronts, lu, A, t.count > 0 ? &t : NULL, made);
    trs_turned_free(lu, &t);
    return rc;
}

/* Factor front by front, or entry by entry.  If that is not possible *made is false, there are no plans, and lu->f is unchanged
 * except for zeros that were added.  TRS_EGROWTH: the pivots of symbolic factors are bad. */
static int attempt(trs_lu *lu, const trs_mat *A, bool fronts, bool *made)
{
    const int rc = lu->f.block ? with_pairs(fronts, lu, A, made) : by(fronts, lu, A, NULL, made);
    if (!rc && *made) return rc;
    trs_lu_device_free(lu);
    trs_lu_drop_plans(lu);
    *made = false;
    const bool bad = rc == TRS_EPIVOT || rc == TRS_EGROWTH;
    if (bad && lu->f.symbolic) return trs_fail(TRS_EGROWTH, "pivots on the diagonal do not suit A");
    if (!bad && rc != TRS_ESUPPORT && rc != TRS_EMATRIX) return rc;
    trs_forget();
    return TRS_OK;
}

int trs_lu_complete_make(trs_lu *lu, const trs_mat *A, bool *made)
{
    const double products = count_products(lu);
    const bool few = products <= many_an_entry * (double)count_both(&lu->f);
    *made = false;
    int rc = attempt(lu, A, !few, made);
    if (!rc && !*made && products <= most_products) rc = attempt(lu, A, few, made);
    if (lu->device) {
        lu->device->limit = growth_limit(lu);
        lu->device->waits = lu->refactors;
    }
    lu->host_only = !rc && !*made && !lu->f.symbolic;
    return rc;
}
