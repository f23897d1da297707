/* residual.c: b - op(A) x in long double, and the backward errors made of it.
 *
 * Entry (i, j) of op(A), which is a, adds a x(j) to the sum of row i and |a| |x(j)| to its size.  |z| of a complex number is
 * |re| + |im|, as in LAPACK's error bounds.  Where rows of op(A) are the stored lines, threads share them, and otherwise one
 * thread goes over the entries.
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

/* Of one row of op(A): its numbers of trs_sums. */
typedef struct row_sums {
    long double re, im, size, row;
} row_sums;

/* The largest errors of some rows, and sizes of what they are compared with. */
typedef struct found {
    /* omega, |r|, |b|, |x|, row sum of |A| */
    long double worst, r, b, x, a;
    /* the first row with the worst error; -1: no row yet */
    int64_t row;
} found;

/* One right-hand side. */
typedef struct equations {
    const trs_mat *A;
    trs_op op;
    trs_column b, x;
    const trs_sums *s;
    /* rows of op(A) are lines of A */
    bool along;
    /* rows of a range, and what was found in each range */
    int64_t each;
    found *of;
} equations;

/* Is the entry of line l with index c one of A?  TRS_UNIT gives the diagonal instead. */
static inline bool counts(const trs_mat *A, int64_t l, int64_t c)
{
    const bool by_rows = A->format == TRS_CSR;
    if ((A->kind & TRS_UNIT) && l == c) return false;
    return trs_in_triangle(A->kind, by_rows ? l : c, by_rows ? c : l);
}

static inline row_sums sums_of(const trs_sums *s, int64_t i)
{
    return (row_sums){s->re[i], s->im[i], s->size[i], s->row[i]};
}

static inline void set_sums(const trs_sums *s, int64_t i, row_sums r)
{
    s->re[i] = r.re, s->im[i] = r.im, s->size[i] = r.size, s->row[i] = r.row;
}

#define TRS_BODY "accuracy/residual.c"
#include "base/each_type.h"

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
    trs_residual(A, c->op, b, x, s, c->shares > 1 ? 1 : trs_default_threads(), &one);
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

static inline void keep_worse(long double *most, long double a)
{
    if (is_worse(a, *most)) *most = a;
}

static inline void keep_worst_row(found *f, long double omega, int64_t row)
{
    if (f->row < 0 || is_worse(omega, f->worst)) f->worst = omega, f->row = row;
}

static void fold(found *all, const found *one)
{
    if (one->row < 0) return;
    keep_worst_row(all, one->worst, one->row);
    keep_worse(&all->r, one->r);
    keep_worse(&all->b, one->b);
    keep_worse(&all->x, one->x);
    keep_worse(&all->a, one->a);
}

/* r = b - op(A) x of rows begin .. end-1, whose sums are there.  A found of each row, to be folded, would cost a fifth of the
 * time of a sparse A. */
static void compare(const equations *q, int64_t begin, int64_t end, found *f)
{
    const trs_sums *s = q->s;
    const trs_dtype t = q->A->dtype;
    const double safmin = trs_is_single(t) ? (double)FLT_MIN : DBL_MIN;
    for (int64_t i = begin; i < end; i++) {
        double zb[2], zx[2];
        trs_number_get(q->b.p, t, i * q->b.step, zb);
        trs_number_get(q->x.p, t, i * q->x.step, zx);
        s->re[i] = zb[0] - s->re[i];
        s->im[i] = zb[1] - s->im[i];
        const long double r = magnitude(s->re[i], s->im[i]), b = magnitude(zb[0], zb[1]);
        keep_worst_row(f, r / (s->size[i] + b + safmin), i);
        keep_worse(&f->r, r);
        keep_worse(&f->b, b);
        keep_worse(&f->x, magnitude(zx[0], zx[1]));
        keep_worse(&f->a, s->row[i]);
    }
}

static void do_rows(void *user, int64_t begin, int64_t end)
{
    static void (*const rows[])(const equations *, int64_t, int64_t) = TRS_PER_TYPE(sum_rows);
    const equations *q = user;
    TRS_ASSERT(begin % q->each == 0 && end - begin <= q->each);
    if (q->along) rows[q->A->dtype](q, begin, end);
    compare(q, begin, end, &q->of[begin / q->each]);
}

enum { RANGES = 256, LEAST_ROWS = 512 };

void trs_residual(const trs_mat *A, trs_op op, trs_column b, trs_column x, const trs_sums *s,
                  int threads, trs_error *e)
{
    static void (*const scatter[])(const equations *) = TRS_PER_TYPE(sum_scattered);
    const double safmin = trs_is_single(A->dtype) ? (double)FLT_MIN : DBL_MIN;
    const int64_t n = A->n;
    const trs_context ctx = {.threads = threads};
    found of[RANGES], all = {.row = -1};
    equations q = {A, op, b, x, s, .along = (A->format == TRS_CSR) == (op == TRS_N), .of = of};
    q.each = trs_max(LEAST_ROWS, (n + RANGES - 1) / RANGES);
    for (int k = 0; k < RANGES; k++) of[k] = all;
    if (!q.along) scatter[A->dtype](&q);
    const int64_t entries = A->format == TRS_DENSE ? n * n : A->nnz;
    trs_share(trs_team(&ctx, n + (q.along ? entries : 0)), n, q.each, do_rows, &q);
    for (int k = 0; k < RANGES; k++) fold(&all, &of[k]);
    const long double scale = all.a * (all.x + safmin) + all.b + safmin;
    *e = (trs_error){.row = all.row,
                     .omega = (double)all.worst,
                     .residual = (double)all.r,
                     .normwise = (double)(all.r / scale)};
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

/* Add the term of an entry a of A and its x. */
static inline void FN(add_term)(row_sums *s, T a, trs_op op, T x)
{
    const long double safmin = sizeof(REAL) == sizeof(float) ? (double)FLT_MIN : DBL_MIN;
    const double complex za = op == TRS_H ? CONJ(a) : a, zx = x;
    const long double are = creal(za), aim = cimag(za), xre = creal(zx), xim = cimag(zx);
    s->re += are * xre;
    if (aim != 0 || xim != 0) {
        s->re -= aim * xim;
        s->im += are * xim + aim * xre;
    }
    s->size += magnitude(are, aim) * (magnitude(xre, xim) + safmin) + safmin;
    s->row += magnitude(are, aim);
}

static void FN(sum_rows)(const equations *q, int64_t begin, int64_t end)
{
    const trs_mat *A = q->A;
    const T *val = A->val, *x = q->x.p;
    for (int64_t l = begin; l < end; l++) {
        row_sums row = {0};
        const int64_t stop = trs_major_end(A, l);
        for (int64_t p = trs_major_begin(A, l); p < stop; p++) {
            const int64_t c = trs_minor_index(A, l, p);
            if (counts(A, l, c)) FN(add_term)(&row, val[p], q->op, x[c * q->x.step]);
        }
        if (A->kind & TRS_UNIT) FN(add_term)(&row, 1, q->op, x[l * q->x.step]);
        set_sums(q->s, l, row);
    }
}

static inline void FN(scatter)(const trs_sums *s, int64_t i, T a, trs_op op, T x)
{
    row_sums row = sums_of(s, i);
    FN(add_term)(&row, a, op, x);
    set_sums(s, i, row);
}

static void FN(sum_scattered)(const equations *q)
{
    const trs_mat *A = q->A;
    const trs_sums *s = q->s;
    const T *val = A->val, *x = q->x.p;
    TRS_ASSERT(s->row == s->re + 3 * A->n);
    for (int64_t i = 0; i < 4 * A->n; i++) s->re[i] = 0; /* im, size, row follow */
    for (int64_t l = 0; l < A->n; l++) {
        const T xl = x[l * q->x.step];
        const int64_t stop = trs_major_end(A, l);
        for (int64_t p = trs_major_begin(A, l); p < stop; p++) {
            const int64_t c = trs_minor_index(A, l, p);
            if (counts(A, l, c)) FN(scatter)(s, c, val[p], q->op, xl);
        }
        if (A->kind & TRS_UNIT) FN(scatter)(s, l, 1, q->op, xl);
    }
}

#endif
