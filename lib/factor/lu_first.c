/* lu_first.c: the first solves with complete factors, which whoever made them does itself.
 *
 *     A --numeric--> L, U in the library or in fronts --a few columns--> x
 *                          |
 *                          + settle, before any other use --> copies of L and U, two plans --> x
 *
 * To copy L and U and to make their plans takes as long as 5 to 20 solves by a library, and 14 to 53 by fronts, which solve nearly as
 * fast as plans.  So factors on the host wait there until FEW or FEW_BY_FRONTS columns were solved, or a caller wants what only plans
 * or copies have: a work space, L and U, facts, many columns at a time.  Whoever solves once, as most do, pays for no plans, and
 * whoever solves often pays about twice the least possible at most.  An update of factors that were used
 * makes the plans as well, because the kernels for known pivots need L and U (again/again.c).
 *
 * Fronts with pivots on the diagonal have computed L and U with a growth that may be large.  If one step of refinement repairs a
 * solve whose x is known, they wait, and all solves take that step; otherwise a library with pivoting factors A.
 *
 * If the backward error of x is larger than that of later solves may be (lu_refine.c), or, if one solve was announced, more than
 * two roundings, such a solve ends with a step of refinement, whose residual has twice the working precision: x then has the
 * error of its last rounding unless A is nearly singular, whichever pivots the library has preferred (Demmel et al., Error bounds
 * from extra-precise iterative refinement, ACM TOMS 32 (2006) 325-351). */
#include "config.h"

#include "again/lu_again.h"
#include "base/debug.h"
#include "base/number/clones.h"
#include "lu_first.h"
#include "lu_mat.h"
#include "lu_refine.h"
#include "vectors/gather.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    FEW = 8,            /* columns that the library solves, and at most so many at a time */
    FEW_BY_FRONTS = 24, /* that fronts solve */
    STEPS = 3,          /* of refinement at most; nearly always one */
    ACCURATE = 2 /* machine precisions: an announced x with this backward error is not refined */
};

/* A correction this many times smaller than x leaves an error of about its square. */
static const double ENOUGH = 1e-8;

/* ---- waiting ------------------------------------------------------------------------------------ */

/* Do the options leave the plans to the library? */
static bool is_plain(const trs_options *o)
{
    return !o->solver && o->order == TRS_ORDER_AUTO && !o->bitwise && !o->measure &&
           o->pivot == TRS_PIVOT_FAIL && o->memory_limit == 0;
}

/* Are they right?  Plans report what is wrong with them. */
static bool is_valid(const trs_options *o)
{
    return o->threads >= 0 && o->threads <= TRS_MOST_THREADS && !(o->ops & ~7u) &&
           o->solves_per_update == 0 && !o->device_memory.alloc && !o->device_memory.free;
}

bool trs_lu_may_wait(const trs_lu *lu)
{
    const trs_options *o = &lu->opt;
    if (o->device > 0 || lu->single || lu->l) return false;
    return is_plain(o) && is_valid(o) && (o->solves == 0 || o->solves == 1);
}

void trs_lu_stop_waiting(trs_lu *lu)
{
    if (!lu->waits) return;
    atomic_store(&lu->waits, false);
    trs_lu_free(lu, lu->first);
    lu->first = NULL;
}

/* After an error the factors are as before. */
static int settle(trs_lu *lu)
{
    const trs_factors names = lu->f;
    const trs_csc *A = lu->refined;
    trs_mute(true); /* solves report nothing */
    const int rc = lu->settle(lu);
    trs_mute(false);
    if (!rc) {
        trs_lu_stop_waiting(lu);
        return TRS_OK;
    }
    trs_lu_factors_free(lu, &lu->f);
    lu->f = names;
    lu->refined = A;
    lu->ready = true;
    return rc;
}

bool trs_lu_hold(trs_lu *lu)
{
    if (!atomic_load(&lu->waits)) return false;
    pthread_mutex_lock(&lu->lock);
    return true;
}

void trs_lu_release(trs_lu *lu)
{
    pthread_mutex_unlock(&lu->lock);
}

int trs_lu_settle(const trs_lu *lu)
{
    trs_lu *a = (trs_lu *)lu;
    if (!trs_lu_hold(a)) return TRS_OK;
    const int rc = a->waits ? settle(a) : TRS_OK;
    trs_lu_release(a);
    return rc;
}

int64_t trs_lu_ready_rows(const trs_lu *lu)
{
    trs_lu *a = (trs_lu *)lu;
    const bool held = trs_lu_hold(a);
    const int64_t rows = a->ready ? a->f.L.n : -1;
    if (held) trs_lu_release(a);
    return rows;
}

/* ---- solving ------------------------------------------------------------------------------------ */

/* hi + lo = hi + lo - a b, with an error of about eps^2: the rounding errors of product and sum are in lo. */
TRS_INLINE void subtract(double *hi, double *lo, double a, double b)
{
    double product = a * b;
    TRS_ROUNDED(product);
    const double sum = *hi - product, part = sum - *hi;
    *lo -= (product + part) - (*hi - (sum - part)) + fma(a, b, -product);
    *hi = sum;
}

/* r = r - op(A) x, with lo [n] as scratch. */
TRS_FMA_CLONES static void twofold_residual(const trs_csc *A, trs_op op, const double *x, double *r,
                                            double *lo)
{
    const int64_t parts = A->is_complex ? 2 : 1;
    const double conj = op == TRS_H ? -1 : 1;
    memset(lo, 0, (size_t)(parts * A->n) * sizeof *lo);
    for (int64_t j = 0; j < A->n; j++)
        for (int64_t p = A->p[j]; p < A->p[j + 1]; p++) {
            const int64_t i = op == TRS_N ? A->i[p] : j, k = A->i[p] + j - i;
            if (!A->is_complex) {
                subtract(&r[i], &lo[i], A->x[p], x[k]);
                continue;
            }
            const double *a = A->x + 2 * p, *z = x + 2 * k, im = conj * a[1];
            subtract(&r[2 * i], &lo[2 * i], a[0], z[0]);
            subtract(&r[2 * i], &lo[2 * i], -im, z[1]);
            subtract(&r[2 * i + 1], &lo[2 * i + 1], a[0], z[1]);
            subtract(&r[2 * i + 1], &lo[2 * i + 1], im, z[0]);
        }
    for (int64_t i = 0; i < parts * A->n; i++) r[i] += lo[i];
}

/* Is growth repaired by one step of refinement?  Otherwise A needs other pivots. */
static int check_growth(trs_lu *lu, const trs_csc *A)
{
    const int64_t count = A->n * (A->is_complex ? 2 : 1);
    double *x = lu->first, *b = x + count, *r = b + count, *lo = r + count, *d = lo + count;
    trs_lu_known_sides(A, TRS_N, x, b);
    trs_lu_again_solve(lu, TRS_N, x, b);
    memcpy(r, b, (size_t)count * sizeof *r);
    twofold_residual(A, TRS_N, x, r, lo);
    trs_lu_again_solve(lu, TRS_N, d, r);
    for (int64_t i = 0; i < count; i++) x[i] += d[i];
    if (trs_lu_backward_error(A, TRS_N, x, b, lo) <= trs_lu_accurate(A->n)) return TRS_OK;
    return trs_fail(TRS_EGROWTH, "pivots on the diagonal cost too many digits");
}

/* Compute the fronts of symbolic factors, which need P and Q for that alone. */
static int begin_fronts(trs_lu *lu, const trs_mat *given, const trs_csc *A)
{
    trs_factors *f = &lu->f;
    double growth;
    lu->never_again = false;
    int rc = trs_lu_again_begin(lu, given, TRS_MOST_GROWTH, &growth);
    trs_lu_free(lu, f->P, f->Q);
    f->P = f->Q = NULL;
    lu->info.rcond = f->rcond;
    if (!rc && growth > TRS_HARMLESS_GROWTH) rc = check_growth(lu, A);
    return rc;
}

int trs_lu_wait(trs_lu *lu, const trs_mat *given, trs_factors *f, const trs_csc *A)
{
    const int64_t n = A->n, parts = A->is_complex ? 2 : 1;
    trs_lu_info *info = &lu->info;
    int rc = TRS_OK;
    if (lu->opt.solves == 1 && !f->symbolic)
        trs_lu_mat_free(lu, &lu->pattern); /* that of an A before */
    else rc = trs_lu_keep_pattern(lu, given);
    if (rc) return rc;
    lu->first = trs_lu_alloc(lu, (4 * parts + 5) * n, sizeof *lu->first, "the first solves");
    if (!lu->first) return TRS_EMEM;
    trs_lu_again_free(lu);
    trs_lu_factors_free(lu, &lu->f);
    lu->f = *f;
    memset(f, 0, sizeof *f);
    const int64_t nnz_l = lu->f.L.nnz, nnz_u = lu->f.U.nnz;
    lu->f.U.nnz = 0;
    lu->f.L = (trs_mat){.n = n, .dtype = A->is_complex ? TRS_C64 : TRS_F64};
    info->library = lu->f.library, info->ordering = lu->f.ordering, info->rcond = lu->f.rcond;
    info->n = n;
    info->nnz_l = nnz_l, info->nnz_u = nnz_u;
    if (lu->f.symbolic) rc = begin_fronts(lu, given, A);
    if (rc) {
        trs_lu_free(lu, lu->first);
        lu->first = NULL;
        return rc;
    }
    lu->refined = A;
    lu->ready = true;
    lu->solved = 0;
    atomic_store(&lu->waits, true);
    return TRS_OK;
}

/* x = op(A)^-1 b by whoever has the factors.  work [5*n] is scratch. */
static int solve_there(trs_lu *lu, trs_op op, double *x, const double *b, double *work)
{
    if (!lu->f.symbolic) return lu->solve_first(lu, op, x, b, work);
    trs_lu_again_solve(lu, op, x, b);
    return TRS_OK;
}

/* The backward error up to which x is not refined: unless one solve was announced, that of plans (lu_refine.c). */
static double limit(const trs_lu *lu)
{
    return lu->opt.solves == 1 ? ACCURATE * DBL_EPSILON : trs_lu_accurate(lu->refined->n);
}

/* x = op(A)^-1 r, refined unless it is accurate.  A correction is refused if it is not finite, or not smaller than the one before,
 * and for the first one than x.  r, d and lo [n] and work [5*n] are scratch. */
static int solve_column(trs_lu *lu, trs_op op, double *x, double *r, double *d, double *lo,
                        double *work)
{
    const trs_csc *A = lu->refined;
    const int64_t count = A->n * (A->is_complex ? 2 : 1);
    int rc = solve_there(lu, op, x, r, work);
    if (rc) return rc;
    memcpy(d, r, (size_t)count * sizeof *d);
    if (trs_lu_backward_error(A, op, x, d, lo) <= limit(lu)) return TRS_OK;
    double before = trs_lu_largest(x, 1, count, 1), size = before;
    for (int step = 0; step < STEPS && !rc && size > ENOUGH * trs_lu_largest(x, 1, count, 1);
         step++) {
        twofold_residual(A, op, step ? d : x, r, lo);
        rc = solve_there(lu, op, d, r, work);
        size = trs_lu_largest(d, 1, count, 1);
        if (rc || !(size <= before)) break;
        for (int64_t i = 0; i < count; i++) x[i] += d[i];
        before = size / 2;
    }
    return rc;
}

static int solve_columns(trs_lu *lu, trs_op op, int nrhs, trs_view b, trs_view x, bool rough)
{
    const trs_csc *A = lu->refined;
    const int64_t n = A->n, size = (int64_t)trs_size(lu->dtype), step = A->is_complex ? 2 : 1;
    double *z = lu->first, *r = z + step * n, *d = r + step * n, *lo = d + step * n;
    const trs_view at_z = {.p = z, .rs = 1, .cs = n}, at_r = {.p = r, .rs = 1, .cs = n};
    trs_gather in = {.n = n, .nrhs = 1, .from = lu->dtype, .to = lu->f.L.dtype}, out = in;
    out.from = in.to, out.to = in.from;
    int rc = TRS_OK;
    for (int c = 0; c < nrhs && !rc; c++) {
        const trs_view from = {.p = (char *)b.p + c * b.cs * size, .rs = b.rs, .cs = b.cs};
        const trs_view to = {.p = (char *)x.p + c * x.cs * size, .rs = x.rs, .cs = x.cs};
        trs_gather_rows(&in, 1, from, at_r);
        if (rough) rc = solve_there(lu, op, z, r, lo + step * n);
        else rc = solve_column(lu, op, z, r, d, lo, lo + step * n);
        if (!rc) trs_gather_rows(&out, 1, at_z, to);
    }
    return rc;
}

/* If there is no memory to settle, the library goes on solving. */
static int solve_or_settle(trs_lu *lu, trs_op op, int nrhs, trs_view b, trs_view x, bool own,
                           bool rough, bool *done)
{
    int rc = TRS_OK;
    const bool conjugate = lu->f.cholesky && op == TRS_T && trs_is_complex(lu->dtype);
    const bool fits = own && !conjugate;
    const int few = lu->f.symbolic ? FEW_BY_FRONTS : FEW;
    *done = fits && nrhs <= FEW && nrhs <= few - lu->solved;
    if (!*done) rc = settle(lu);
    if (rc == TRS_EMEM && fits) {
        trs_forget();
        rc = TRS_OK;
        *done = true;
    }
    if (rc || !*done) return rc;
    lu->solved = (int)trs_min(lu->solved + nrhs, few);
    return solve_columns(lu, op, nrhs, b, x, rough);
}

int trs_lu_solve_first(trs_lu *lu, trs_op op, int nrhs, trs_view b, trs_view x,
                       const trs_exec *exec, bool rough, bool *done)
{
    *done = false;
    if (!lu->waits) return TRS_OK;
    return solve_or_settle(lu, op, nrhs, b, x, !exec->lu_work, rough, done);
}
