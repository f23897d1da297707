/* refine.c: iterative refinement in fixed precision: x += A^-1 (b - A x) while that helps.
 *
 * The residual is summed in long double and rounded once.  Each right-hand side is refined by itself,
 * until its componentwise backward error is that of a stable substitution, or a step no longer halves
 * it; a step that makes it worse is taken back.
 * Source: Skeel 1980; Arioli, Demmel, Duff 1989; Higham, Accuracy and Stability, chapter 12. */
#include "config.h"

#include "lu.h"
#include "internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct refiner {
    trs_lu *lu;
    const trs_mat *A;
    trs_op op;
    const trs_exec *exec;
    long double *re, *im;    /* op(A) x, then b - op(A) x, [n] each */
    long double *size, *row; /* |op(A)| |x|, |op(A)| 1 */
    void *d;                 /* [n] correction, of the type of A */
    double *old;             /* [2*n] x before it */
    double goal;             /* omega that is good enough */
} refiner;

typedef struct column { /* number i is number first + i*step of p */
    void *p;
    int64_t first, step;
} column;

static void get(const refiner *s, column v, int64_t i, double z[2])
{
    trs_number_get(v.p, s->A->dtype, v.first + i * v.step, z);
}

static void put(const refiner *s, column v, int64_t i, const double z[2])
{
    trs_number_put(v.p, s->A->dtype, v.first + i * v.step, z);
}

/* Add op(A)(i, j) x(j), the entry stored at place p. */
static void add(refiner *s, int64_t i, int64_t j, int64_t p, column x)
{
    double a[2], z[2];
    trs_number_get(s->A->val, s->A->dtype, p, a);
    get(s, x, j, z);
    const long double are = a[0], aim = s->op == TRS_H ? -a[1] : a[1], xre = z[0], xim = z[1];
    s->re[i] += are * xre;
    if (aim != 0 || xim != 0) {
        s->re[i] -= aim * xim;
        s->im[i] += are * xim + aim * xre;
    }
    s->size[i] += (fabsl(are) + fabsl(aim)) * (fabsl(xre) + fabsl(xim));
    s->row[i] += fabsl(are) + fabsl(aim);
}

/* Do the lines of A, rows of CSR or columns, run along the rows of op(A)? */
static bool by_rows(const refiner *s)
{
    return (s->A->format == TRS_CSR) == (s->op == TRS_N);
}

/* re, im = op(A) x */
static void multiply(refiner *s, column x)
{
    const trs_mat *A = s->A;
    const bool rows = by_rows(s);
    for (int64_t l = 0; l < A->n; l++) {
        const int64_t end = trs_line_end(A, l);
        for (int64_t p = trs_line_begin(A, l); p < end; p++) {
            const int64_t c = trs_line_cross(A, l, p);
            add(s, rows ? l : c, rows ? c : l, p, x);
        }
    }
}

/* Is a a worse error than b?  NaN is the worst. */
static bool worse(long double a, long double b)
{
    return !isnan(b) && (isnan(a) || a > b);
}

static long double magnitude(const double z[2])
{
    return fabsl((long double)z[0]) + fabsl((long double)z[1]);
}

/* The residual of one column, and how large it is. */
static void measure(refiner *s, column b, column x, trs_error *e)
{
    const int64_t n = s->A->n;
    long double rnorm = 0, bnorm = 0, xnorm = 0, anorm = 0, worst = 0;
    double z[2];
    *e = (trs_error){.row = -1};
    for (int64_t i = 0; i < 4 * n; i++) s->re[i] = 0; /* im, size, row follow */
    multiply(s, x);
    for (int64_t i = 0; i < n; i++) {
        get(s, x, i, z);
        if (worse(magnitude(z), xnorm)) xnorm = magnitude(z);
        get(s, b, i, z);
        if (worse(magnitude(z), bnorm)) bnorm = magnitude(z);
        s->re[i] = z[0] - s->re[i];
        s->im[i] = z[1] - s->im[i];
        long double r = fabsl(s->re[i]) + fabsl(s->im[i]), scale = s->size[i] + magnitude(z);
        long double omega = r == 0 && scale == 0 ? 0 : r / scale;
        if (e->row < 0 || worse(omega, worst)) worst = omega, e->row = i;
        if (worse(r, rnorm)) rnorm = r;
        if (worse(s->row[i], anorm)) anorm = s->row[i];
    }
    long double scale = anorm * xnorm + bnorm;
    e->omega = (double)worst;
    e->residual = (double)rnorm;
    e->normwise = rnorm == 0 && scale == 0 ? 0 : (double)(rnorm / scale);
}

/* d = op(A)^-1 r;  old = x;  x += d. */
static int step(refiner *s, column x)
{
    const int64_t n = s->A->n;
    const trs_exec exec = {.stream = s->exec->stream, .threads = s->exec->threads};
    const column d = {s->d, 0, 1};
    double z[2], c[2];
    for (int64_t i = 0; i < n; i++) {
        z[0] = (double)s->re[i], z[1] = (double)s->im[i];
        put(s, d, i, z);
    }
    int rc = trs_lu_solve(s->lu, s->op, 1, s->d, n, s->d, n, &exec);
    for (int64_t i = 0; i < n && !rc; i++) {
        get(s, x, i, z);
        get(s, d, i, c);
        s->old[2 * i] = z[0], s->old[2 * i + 1] = z[1];
        z[0] += c[0], z[1] += c[1];
        put(s, x, i, z);
    }
    return rc;
}

static void take_back(const refiner *s, column x)
{
    for (int64_t i = 0; i < s->A->n; i++) put(s, x, i, s->old + 2 * i);
}

static int refine_column(refiner *s, column b, column x, int max_steps, int *steps, trs_error *e)
{
    trs_error next;
    *steps = 0;
    measure(s, b, x, e);
    while (*steps < max_steps && e->omega > s->goal) {
        int rc = step(s, x);
        if (rc) return rc;
        measure(s, b, x, &next);
        if (!(next.omega < e->omega)) {
            take_back(s, x);
            break;
        }
        const bool halved = next.omega <= e->omega / 2;
        *e = next;
        ++*steps;
        if (!halved) break;
    }
    return TRS_OK;
}

/* Entries in the longest row of op(A); counts in s->size. */
static double longest_row(refiner *s)
{
    const trs_mat *A = s->A;
    const bool rows = by_rows(s);
    long double most = 0;
    for (int64_t i = 0; i < A->n; i++) s->size[i] = 0;
    for (int64_t l = 0; l < A->n; l++) {
        const int64_t end = trs_line_end(A, l);
        for (int64_t p = trs_line_begin(A, l); p < end; p++)
            s->size[rows ? l : trs_line_cross(A, l, p)] += 1;
    }
    for (int64_t i = 0; i < A->n; i++)
        if (s->size[i] > most) most = s->size[i];
    return (double)most;
}

static void fold(trs_error *all, const trs_error *one, int r)
{
    if (all->row < 0 || worse(one->omega, all->omega))
        all->omega = one->omega, all->row = one->row, all->col = r;
    if (worse(one->residual, all->residual)) all->residual = one->residual;
    if (worse(one->normwise, all->normwise)) all->normwise = one->normwise;
}

static int check(trs_lu *lu, const trs_mat *A, trs_op op, int nrhs, const void *B, int64_t ldb,
                 const void *X, int64_t ldx, const trs_exec *exec, int max_steps)
{
    trs_context ctx = {.mem = lu->mem, .base = A->base == 1};
    if ((unsigned)op > TRS_H || nrhs < 0 || max_steps < 0 || (unsigned)exec->layout > TRS_ROW_MAJOR)
        return trs_lu_fail(lu, TRS_EARG, "refine: op, nrhs, layout or max_steps out of range");
    if (!lu->ready) return trs_lu_fail(lu, TRS_ESTATE, "refine: there are no factors");
    if (A->device > 0 || A->kind)
        return trs_lu_fail(lu, TRS_ESUPPORT, "refine: kind or device of A");
    if (A->format == TRS_BSR) return trs_lu_fail(lu, TRS_ESUPPORT, "BSR is for triangles");
    int rc = trs_check_mat(&ctx, A);
    if (rc) return trs_lu_fail(lu, rc, "refine: %s", ctx.message);
    if (A->n != lu->f.L.n || A->dtype != lu->dtype)
        return trs_lu_fail(lu, TRS_EARG, "refine: A is not the matrix that was factored");
    const int64_t width = exec->layout == TRS_ROW_MAJOR ? nrhs : A->n;
    if (nrhs && A->n && (!B || !X || B == X || ldb < width || ldx < width))
        return trs_lu_fail(lu, TRS_EARG, "refine: B or X is NULL, or ldb or ldx too small");
    return TRS_OK;
}

static int refiner_new(refiner *s)
{
    const int64_t n = s->A->n;
    const bool single = s->A->dtype == TRS_F32 || s->A->dtype == TRS_C32;
    s->re = trs_lu_alloc(s->lu, 4 * n, sizeof *s->re, "a residual");
    s->d = trs_lu_alloc(s->lu, n, trs_size(s->A->dtype), "a correction");
    s->old = trs_lu_alloc(s->lu, 2 * n, sizeof *s->old, "a copy of x");
    if (!s->re || !s->d || !s->old) return TRS_EMEM;
    s->im = s->re + n;
    s->size = s->re + 2 * n;
    s->row = s->re + 3 * n;
    s->goal = (longest_row(s) + 1) * (single ? (double)FLT_EPSILON : DBL_EPSILON);
    return TRS_OK;
}

int trs_lu_refine(trs_lu *lu, const trs_mat *A, trs_op op, int nrhs, const void *B, int64_t ldb,
                  void *X, int64_t ldx, const trs_exec *exec, int max_steps, int *steps,
                  trs_error *error)
{
    static const trs_exec defaults = {0};
    trs_error all = {.row = -1, .col = -1}, one;
    int most = 0, took = 0;
    if (!lu || !A) return TRS_EARG;
    if (!exec) exec = &defaults;
    refiner s = {.lu = lu, .A = A, .op = op, .exec = exec};
    int rc = check(lu, A, op, nrhs, B, ldb, X, ldx, exec, max_steps);
    if (!rc) rc = refiner_new(&s);
    const bool rows = exec->layout == TRS_ROW_MAJOR;
    for (int r = 0; r < nrhs && A->n && !rc; r++) {
        column b = {(void *)B, rows ? r : r * ldb, rows ? ldb : 1};
        column x = {X, rows ? r : r * ldx, rows ? ldx : 1};
        rc = refine_column(&s, b, x, max_steps, &took, &one);
        if (took > most) most = took;
        if (!rc) fold(&all, &one, r);
    }
    if (steps) *steps = most;
    if (error) *error = all;
    trs_lu_free(lu, s.re);
    trs_lu_free(lu, s.d);
    trs_lu_free(lu, s.old);
    return rc;
}
