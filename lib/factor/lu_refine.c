/* lu_refine.c: one step of refinement, for complete factors on the host whose errors are larger than they need to be.
 *
 *     r = b - op(A) x     d = op(A)^-1 r     x = x + d
 *
 * KLU accepts a pivot on the diagonal that is 1000 times smaller than the largest number of its column, and UMFPACK does
 * something alike, because that saves fill.  If the diagonal is weak, L and U have large numbers then, and x an error up to
 * 10^5 times that of partial pivoting.  One step in the same precision repairs it (Skeel 1980), and costs a second solve and
 * a product with A.  Most matrices do not need it.  So each factorisation is followed by a solve whose x is known to have
 * positive numbers of the same size; only if the backward error omega of the result is larger than a limit, A is kept, and
 * later solves take the step.
 *
 * The limit grows as the rounding errors of partial pivoting do: with n rows they are about sqrt (n) eps, as sums of n numbers
 * of random sign are.  On 62 matrices the error of x is then 0.5 times that of SuperLU's in the mean, and 3.1 times at most.
 * Source: Skeel, Iterative refinement implies numerical stability for Gaussian elimination, Math. Comp. 35 (1980) 817-832. */
#include "config.h"

#include "base/debug.h"
#include "base/number/clones.h"
#include "lu_refine.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- products with A ---------------------------------------------------------------------------- */

/* r = r - op(A) x, and, unless it is NULL, size = size + |op(A)| |x|: a loop for each op, and one without size. */
TRS_INLINE void subtract_with(const trs_csc *A, bool rows, const double *x, int64_t step, double *r,
                              double *size)
{
    for (int64_t j = 0; j < A->n; j++)
        for (int64_t p = A->p[j], end = A->p[j + 1]; p < end; p++) {
            const int64_t to = rows ? j : A->i[p], from = rows ? A->i[p] : j;
            const double t = A->x[p] * x[step * from];
            r[to] -= t;
            if (size) size[to] += fabs(t);
        }
}

static void subtract_real(const trs_csc *A, trs_op op, const double *x, int64_t step, double *r,
                          double *size)
{
    const bool rows = op != TRS_N;
    if (rows && size) subtract_with(A, true, x, step, r, size);
    else if (rows) subtract_with(A, true, x, step, r, NULL);
    else if (size) subtract_with(A, false, x, step, r, size);
    else subtract_with(A, false, x, step, r, NULL);
}

static void subtract_complex(const trs_csc *A, trs_op op, const double *x, int64_t step, double *r,
                             double *size)
{
    const double conj = op == TRS_H ? -1 : 1;
    for (int64_t j = 0; j < A->n; j++)
        for (int64_t p = A->p[j]; p < A->p[j + 1]; p++) {
            const int64_t to = op == TRS_N ? A->i[p] : j, from = A->i[p] + j - to;
            const double *a = A->x + 2 * p, *z = x + 2 * step * from, im = conj * a[1];
            r[2 * to] -= a[0] * z[0] - im * z[1];
            r[2 * to + 1] -= a[0] * z[1] + im * z[0];
            if (size) size[to] += hypot(a[0], a[1]) * hypot(z[0], z[1]);
        }
}

static void subtract(const trs_csc *A, trs_op op, const double *x, int64_t step, double *r,
                     double *size)
{
    if (A->is_complex) subtract_complex(A, op, x, step, r, size);
    else subtract_real(A, op, x, step, r, size);
}

void trs_lu_subtract(const trs_csc *A, trs_op op, const double *x, int64_t step, double *r)
{
    subtract(A, op, x, step, r, NULL);
}

/* ---- does it take a step? ------------------------------------------------------------------------ */

bool trs_lu_may_refine(const trs_lu *lu)
{
    const trs_factors *f = &lu->f;
    return lu->opt.device <= 0 && lu->update && f->P && !f->incomplete &&
           (!f->cholesky || f->sign) && !lu->single && !trs_is_single(lu->dtype);
}

double trs_lu_largest(const double *x, int64_t step, int64_t n, int parts)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        for (int q = 0; q < parts; q++) {
            const double size = fabs(x[i * step + q]);
            if (size <= most) continue;
            if (!(size <= DBL_MAX)) return NAN;
            most = size;
        }
    return most;
}

double trs_lu_accurate(int64_t n)
{
    return fmax(5, sqrt((double)n)) * DBL_EPSILON;
}

/* The backward error above which solves with n rows take a step; lower for pivots that were chosen in advance (f->sign). */
static double limit(const trs_factors *f, int64_t n)
{
    return f->sign ? 5 * DBL_EPSILON : trs_lu_accurate(n);
}

/* The first of the ops that can be solved. */
static trs_op first_op(const trs_lu *lu)
{
    const unsigned ops = lu->opt.ops ? lu->opt.ops : 1u << TRS_N;
    if (ops & 1u << TRS_N) return TRS_N;
    return ops & 1u << TRS_T ? TRS_T : TRS_H;
}

/* |z(i)| */
static double size_of(const trs_csc *A, const double *z, int64_t i)
{
    return A->is_complex ? hypot(z[2 * i], z[2 * i + 1]) : fabs(z[i]);
}

double trs_lu_backward_error(const trs_csc *A, trs_op op, const double *x, double *b, double *size)
{
    double omega = 0;
    for (int64_t i = 0; i < A->n; i++) size[i] = size_of(A, b, i);
    subtract(A, op, x, 1, b, size);
    for (int64_t i = 0; i < A->n; i++) {
        const double r = size_of(A, b, i);
        if (r > omega * size[i]) omega = r / size[i];
    }
    return omega;
}

void trs_lu_known_sides(const trs_csc *A, trs_op op, double *x, double *b)
{
    const int64_t n = A->n, parts = A->is_complex ? 2 : 1;
    const double golden = 0.6180339887498949;
    memset(b, 0, (size_t)(parts * n) * sizeof *b);
    memset(x, 0, (size_t)(parts * n) * sizeof *x);
    for (int64_t i = 0; i < n; i++) x[parts * i] = -1 - fmod(golden * (double)i, 1);
    trs_lu_subtract(A, op, x, 1, b);
}

/* omega: of an op(A) x = b that was solved.  x, b [parts*n] and size [n] are scratch. */
static int measure(trs_lu *lu, const trs_csc *A, double *x, double *b, double *size, double *omega)
{
    const trs_op op = first_op(lu);
    trs_lu_known_sides(A, op, x, b);
    const int rc = trs_lu_solve_planned(lu, op, b, x);
    if (!rc) *omega = trs_lu_backward_error(A, op, x, b, size);
    return rc;
}

int trs_lu_watch(trs_lu *lu, const trs_csc *A)
{
    const int64_t n = A->n, parts = A->is_complex ? 2 : 1;
    double omega = 0;
    lu->refined = NULL;
    lu->info.refines = 0;
    if (n == 0 || !trs_lu_may_refine(lu)) return TRS_OK;
    double *x = trs_lu_alloc(lu, parts * n, sizeof *x, "a solve that measures errors");
    double *b = trs_lu_alloc(lu, parts * n, sizeof *b, "a solve that measures errors");
    double *size = trs_lu_alloc(lu, n, sizeof *size, "a solve that measures errors");
    int rc = x && b && size ? TRS_OK : TRS_EMEM;
    if (!rc) rc = measure(lu, A, x, b, size, &omega);
    trs_lu_free(lu, x, b, size);
    if (rc || !(omega > limit(&lu->f, n))) return rc;
    lu->refined = A;
    lu->info.refines = 1;
    return TRS_OK;
}
