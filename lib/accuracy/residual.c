/* residual.c: b - op(A) x in long double, and the backward errors made of it.
 *
 * One loop serves all formats and ops: entry (i, j) of op(A), which is a, adds a x(j) to the sum of row i and |a| |x(j)| to
 * its size.  |z| of a complex number is |re| + |im|, as in LAPACK's error bounds.
 * With gradual underflow, the model of rounding is
 *
 *     fl(x op y) = (x op y) (1 + d) + u,    |d| <= eps/2,    |u| <= eps/2 safmin       (Demmel 1984).
 *
 * So besides |a| |x(j)|, which stands for d, the size has safmin for each product and for b(i), which may underflow, and
 * |a| safmin for each x(j), which may have done so before.
 * Sources: Oettli, Prager, Compatibility of approximate solution of linear equations with given error bounds for
 * coefficients and right-hand sides, Numer. Math. 6 (1964) 405-409; Higham, Accuracy and Stability of Numerical Algorithms,
 * 2nd ed., section 7.1; Demmel, Underflow and the reliability of numerical software, SIAM J. Sci. Stat. Comput. 5 (1984)
 * 887-919. */
#ifndef T

#include "config.h"

#include "residual.h"
#include "base/debug.h"
#include "base/parallel.h"
#include "factor/lu_mat.h"

#include <float.h>
#include <math.h>

static long double magnitude(long double re, long double im)
{
    return fabsl(re) + fabsl(im);
}

#define TRS_BODY "accuracy/residual.c"
#include "base/each_type.h"

typedef void (*multiply_fn)(const trs_mat *, trs_op, const void *, int64_t, const trs_sums *);

static const multiply_fn multiply[] = TRS_PER_TYPE(multiply);

int trs_check_columns(const trs_mat *A, trs_op op, int nrhs, const void *X, int64_t ldx,
                      const void *Y, int64_t ldy, trs_layout layout, bool apart)
{
    if ((unsigned)op > TRS_H || nrhs < 0 || (unsigned)layout > TRS_ROW_MAJOR)
        return trs_fail(TRS_EARG, "op, nrhs or layout is out of range");
    if (!nrhs || !A->n) return TRS_OK;
    const int64_t x = trs_extent(X, A->n, nrhs, ldx, layout, A->dtype);
    const int64_t y = trs_extent(Y, A->n, nrhs, ldy, layout, A->dtype);
    if (x < 0 || y < 0)
        return trs_fail(TRS_EARG, "an array is NULL, or its leading dimension is out of range");
    if (apart && trs_overlap(X, x, Y, y)) return trs_fail(TRS_EARG, "the two arrays overlap");
    return TRS_OK;
}

int trs_sums_new(const trs_memory *mem, int64_t n, trs_sums *s)
{
    long double *p = trs_alloc(mem, 4 * n, sizeof *p);
    if (!p) return trs_fail(TRS_EMEM, "out of memory for the sums of a residual");
    *s = trs_sums_at(p, n);
    return TRS_OK;
}

/* s = op(A) x, with the sizes and row sums. */
static void sum_up(const trs_mat *A, trs_op op, const void *x, int64_t step, const trs_sums *s)
{
    TRS_ASSERT(s->row == s->re + 3 * A->n);
    for (int64_t i = 0; i < 4 * A->n; i++) s->re[i] = 0; /* im, size, row follow */
    multiply[A->dtype](A, op, x, step, s);
}

trs_column trs_column_of(const void *X, int r, int64_t ld, trs_layout layout, trs_dtype t)
{
    const bool rows = layout == TRS_ROW_MAJOR;
    const int64_t first = rows ? r : r * ld;
    return (trs_column){(char *)X + first * (int64_t)trs_size(t), rows ? ld : 1};
}

/* ---- columns, shared among threads ------------------------------------------------------------------ */

enum { SHARES = 8 }; /* of the columns, at most: each has sums of 64 bytes a row */

typedef struct columns {
    const trs_mat *A;
    trs_op op;
    trs_layout layout;
    int nrhs, shares;
    const void *X, *B;
    int64_t ldx, ldb;
    trs_sums sums[SHARES];
    trs_error error[SHARES]; /* the worst of the columns of each share */
} columns;

/* Make as many shares as there is work, and memory, for. */
static int columns_new(columns *c)
{
    const trs_mat *A = c->A;
    const trs_context ctx = {.threads = trs_default_threads()};
    const int64_t entries = A->format == TRS_DENSE ? A->n * A->n : A->nnz;
    const int team = trs_team(&ctx, entries * c->nrhs);
    const int64_t wanted = trs_min(trs_min(c->nrhs, team), SHARES);
    while (c->shares < wanted && !trs_sums_new(NULL, c->A->n, &c->sums[c->shares])) c->shares++;
    return c->shares > 0 ? TRS_OK : TRS_EMEM; /* with the sentence of trs_sums_new */
}

static void columns_free(columns *c)
{
    for (int k = 0; k < c->shares; k++) trs_free(NULL, c->sums[k].re);
}

/* The errors of column r. */
static void one_column(const columns *c, int r, const trs_sums *s, trs_error *worst)
{
    const trs_mat *A = c->A;
    const trs_column x = trs_column_of(c->X, r, c->ldx, c->layout, A->dtype);
    const trs_column b = trs_column_of(c->B, r, c->ldb, c->layout, A->dtype);
    trs_error one;
    trs_residual(A, c->op, b, x, s, &one);
    trs_error_fold(worst, &one, r);
}

/* Do the columns of shares begin..end-1. */
static void do_shares(void *user, int64_t begin, int64_t end)
{
    columns *c = user;
    for (int64_t k = begin; k < end; k++) {
        trs_error worst = {.row = -1, .col = -1};
        TRS_ASSERT(k >= 0 && k < c->shares && c->shares <= SHARES);
        for (int64_t r = c->nrhs * k / c->shares; r < c->nrhs * (k + 1) / c->shares; r++)
            one_column(c, (int)r, &c->sums[k], &worst);
        c->error[k] = worst;
    }
}

/* Do all columns; the arguments are checked. */
static int each_column(columns *c)
{
    trs_context ctx = {0};
    trs_mat scalar;
    int rc = trs_expand(&ctx, c->A, &scalar);
    if (rc) return rc;
    const trs_mat *A = c->A;
    c->A = &scalar;
    rc = columns_new(c);
    if (!rc) trs_share(c->shares, c->shares, 1, do_shares, c);
    trs_expand_done(&ctx, A, &scalar);
    return rc;
}

/* Is a a worse error than b?  NaN is worse than any number. */
static bool is_worse(long double a, long double b)
{
    return !isnan(b) && (isnan(a) || a > b);
}

void trs_residual(const trs_mat *A, trs_op op, trs_column b, trs_column x, const trs_sums *s,
                  trs_error *e)
{
    const double safmin = trs_is_single(A->dtype) ? (double)FLT_MIN : DBL_MIN;
    long double rnorm = 0, bnorm = 0, xnorm = 0, anorm = 0, worst = 0;
    *e = (trs_error){.row = -1};
    sum_up(A, op, x.p, x.step, s);
    for (int64_t i = 0; i < A->n; i++) {
        double zb[2], zx[2];
        trs_number_get(b.p, A->dtype, i * b.step, zb);
        trs_number_get(x.p, A->dtype, i * x.step, zx);
        s->re[i] = zb[0] - s->re[i];
        s->im[i] = zb[1] - s->im[i];
        const long double r = magnitude(s->re[i], s->im[i]), bsize = magnitude(zb[0], zb[1]);
        const long double omega = r / (s->size[i] + bsize + safmin);
        if (e->row < 0 || is_worse(omega, worst)) worst = omega, e->row = i;
        if (is_worse(r, rnorm)) rnorm = r;
        if (is_worse(bsize, bnorm)) bnorm = bsize;
        if (is_worse(magnitude(zx[0], zx[1]), xnorm)) xnorm = magnitude(zx[0], zx[1]);
        if (is_worse(s->row[i], anorm)) anorm = s->row[i];
    }
    long double scale = anorm * (xnorm + safmin) + bnorm + safmin;
    e->omega = (double)worst;
    e->residual = (double)rnorm;
    e->normwise = (double)(rnorm / scale);
}

void trs_error_fold(trs_error *all, const trs_error *one, int r)
{
    if (one->row >= 0 && (all->row < 0 || is_worse(one->omega, all->omega)))
        all->omega = one->omega, all->row = one->row, all->col = r;
    if (is_worse(one->residual, all->residual)) all->residual = one->residual;
    if (is_worse(one->normwise, all->normwise)) all->normwise = one->normwise;
    if (one->stop > all->stop) all->stop = one->stop;
}

int trs_backward_error(const trs_mat *A, trs_op op, int nrhs, const void *B, int64_t ldb,
                       const void *X, int64_t ldx, trs_layout layout, trs_error *error)
{
    trs_enter();
    columns c = {A, op, layout, nrhs, .X = X, .ldx = ldx, .B = B, .ldb = ldb};
    if (!error) return trs_leave(trs_fail(TRS_EARG, "error is NULL"));
    *error = (trs_error){.row = -1, .col = -1};
    int rc = trs_check_where(A);
    if (!rc) rc = trs_check_columns(A, op, nrhs, B, ldb, X, ldx, layout, false);
    if (rc || !nrhs || !A->n) return trs_leave(rc);
    if (A->device > 0)
        rc = trs_backward_error_there(A, op, nrhs, trs_view_of(B, ldb, layout),
                                      trs_view_of(X, ldx, layout), error);
    else rc = each_column(&c);
    for (int k = 0; k < c.shares && !rc; k++)
        trs_error_fold(error, &c.error[k], (int)c.error[k].col);
    columns_free(&c);
    return trs_leave(rc);
}

#else

/* Add the term of entry (i, j) = a of A. */
static void FN(entry)(T a, int64_t i, int64_t j, trs_op op, const T *x, int64_t step,
                      const trs_sums *s)
{
    const long double safmin = sizeof(REAL) == sizeof(float) ? (double)FLT_MIN : DBL_MIN;
    if (op != TRS_N) {
        const int64_t k = i;
        i = j, j = k;
    }
    double complex za = op == TRS_H ? CONJ(a) : a, zx = x[j * step];
    TRS_ASSERT(i >= 0 && j >= 0);
    long double are = creal(za), aim = cimag(za), xre = creal(zx), xim = cimag(zx);
    s->re[i] += are * xre;
    if (aim != 0 || xim != 0) {
        s->re[i] -= aim * xim;
        s->im[i] += are * xim + aim * xre;
    }
    s->size[i] += magnitude(are, aim) * (magnitude(xre, xim) + safmin) + safmin;
    s->row[i] += magnitude(are, aim);
}

static void FN(multiply)(const trs_mat *A, trs_op op, const void *x, int64_t step,
                         const trs_sums *s)
{
    const T *Ax = A->val;
    const bool unit = A->kind & TRS_UNIT;
    for (int64_t l = 0; l < A->n; l++) {
        const int64_t end = trs_major_end(A, l);
        for (int64_t p = trs_major_begin(A, l); p < end; p++) {
            const int64_t c = trs_minor_index(A, l, p);
            const int64_t i = A->format == TRS_CSR ? l : c, j = A->format == TRS_CSR ? c : l;
            if (!trs_in_triangle(A->kind, i, j) || (unit && i == j)) continue;
            FN(entry)(Ax[p], i, j, op, x, step, s);
        }
        if (unit) FN(entry)(1, l, l, op, x, step, s);
    }
}

#endif
