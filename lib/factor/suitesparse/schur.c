/* schur.c: the Schur complement of some rows s of A, a dense matrix, by factors of the other rows r.
 *
 *     A = [ A(r, r)  A(r, s) ]      S = A(s, s) - A(s, r) A(r, r)^-1 A(r, s)
 *         [ A(s, r)  A(s, s) ]
 *
 * A few columns of A(r, s) at a time are solved with and multiplied by A(s, r): here, or, if the factors solve on a device, there
 * (factor/device/schur.c). */
#include "config.h"

#include "factor.h"
#include "base/debug.h"
#include "factor/device/schur.h"
#include "matrix/whole.h"
#include "trisolve-suitesparse.h"

#include <inttypes.h>
#include <string.h>

enum { WIDTH = 16 }; /* columns at a time */

typedef struct job {
    trs_lu *lu;    /* owns the arrays below */
    trs_csc A;     /* all of it */
    int64_t count; /* rows of S */
    int64_t rest;  /* rows of A(r, r) */
    int64_t
        *to; /* [n] row i of A is row to(i) of S, or, if that is negative, row ~to(i) of A(r, r) */
    trs_csc R;     /* A(r, r); its arrays have as many elements as those of A */
    int8_t *signs; /* [rest] trs_factor_options.signs of these rows; NULL: none is known */
    double *x;     /* [rest*WIDTH]; NULL: the factors solve on a device */
    double *S;     /* the caller's */
    int64_t ld;
    /* of the factors and of S, as in trs_options */
    int device;
} job;

static int parts_of(const job *b)
{
    return b->A.is_complex ? 2 : 1;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static int check_rows(const job *b, int64_t n, const int64_t *rows)
{
    for (int64_t i = 0; i < n; i++) b->to[i] = -1;
    for (int64_t k = 0; k < b->count; k++) {
        if (rows[k] < 0 || rows[k] >= n)
            return trs_fail(TRS_EARG, "schur: rows[%" PRId64 "] = %" PRId64 " is out of range", k,
                            rows[k]);
        if (b->to[rows[k]] >= 0)
            return trs_fail(TRS_EARG, "schur: row %" PRId64 " is in rows twice", rows[k]);
        b->to[rows[k]] = k;
    }
    return TRS_OK;
}

static void number_rest(job *b)
{
    for (int64_t i = 0; i < b->A.n; i++)
        if (b->to[i] < 0) b->to[i] = ~b->rest++;
}

/* ---- A(r, r) and A(s, s) ------------------------------------------------------------------------ */

static void clear(const job *b)
{
    const int parts = parts_of(b);
    for (int64_t j = 0; j < b->count; j++)
        memset(b->S + parts * j * b->ld, 0, (size_t)(parts * b->count) * sizeof *b->S);
}

/* On a device S has no part of A yet. */
static void split(job *b)
{
    const int parts = parts_of(b);
    const size_t size = (size_t)parts * sizeof *b->S;
    trs_csc *R = &b->R;
    R->p[0] = 0;
    if (b->device <= 0) clear(b);
    for (int64_t j = 0; j < b->A.n; j++) {
        const int64_t column = b->to[j];
        for (int64_t p = b->A.p[j]; p < b->A.p[j + 1]; p++) {
            const int64_t row = b->to[b->A.i[p]];
            const double *a = b->A.x + parts * p;
            if ((row < 0) != (column < 0)) continue;
            if (row < 0) {
                R->i[R->nnz] = ~row;
                memcpy(R->x + parts * R->nnz++, a, size);
            } else if (b->device <= 0) memcpy(b->S + parts * (row + column * b->ld), a, size);
        }
        if (column < 0) R->p[~column + 1] = R->nnz;
    }
}

/* Factor A(r, r), or update its factors. */
static int factor_rest(job *b, trs_lu **lu, const trs_factor_options *opt)
{
    trs_factor_options o = *opt;
    const trs_mat R = {.n = b->rest,
                       .nnz = b->R.nnz,
                       .ptr = b->R.p,
                       .idx = b->R.i,
                       .val = b->R.x,
                       .ptr_bits = 64,
                       .idx_bits = 64,
                       .dtype = b->A.is_complex ? TRS_C64 : TRS_F64,
                       .format = TRS_CSC};
    if (*lu) return trs_lu_update(*lu, &R);
    o.signs = b->signs;
    o.plan.ops |= 1u << TRS_N;
    if (o.plan.nrhs == 0 && b->count > 0) o.plan.nrhs = b->count < WIDTH ? (int)b->count : WIDTH;
    return trs_factor(lu, &R, &o);
}

/* ---- A(s, r) A(r, r)^-1 A(r, s) ------------------------------------------------------------------- */

/* x = columns rows [0 ..] of A(r, s) */
static void gather(const job *b, const int64_t *rows, int width)
{
    const int parts = parts_of(b);
    memset(b->x, 0, (size_t)(parts * width * b->rest) * sizeof *b->x);
    for (int c = 0; c < width; c++)
        for (int64_t p = b->A.p[rows[c]]; p < b->A.p[rows[c] + 1]; p++) {
            const int64_t row = b->to[b->A.i[p]];
            if (row >= 0) continue;
            memcpy(b->x + parts * (c * b->rest + ~row), b->A.x + parts * p,
                   (size_t)parts * sizeof *b->x);
        }
}

/* s = s - a x */
static void subtract(double *s, const double *a, const double *x, int parts)
{
    s[0] -= a[0] * x[0];
    if (parts == 1) return;
    s[0] += a[1] * x[1];
    s[1] -= a[0] * x[1] + a[1] * x[0];
}

/* S(:, first ..) = S(:, first ..) - A(s, r) x */
static void multiply(const job *b, int64_t first, int width)
{
    const int parts = parts_of(b);
    for (int64_t j = 0; j < b->A.n; j++) {
        if (b->to[j] >= 0) continue;
        for (int64_t p = b->A.p[j]; p < b->A.p[j + 1]; p++) {
            const int64_t row = b->to[b->A.i[p]];
            for (int c = 0; c < width && row >= 0; c++)
                subtract(b->S + parts * (row + (first + c) * b->ld), b->A.x + parts * p,
                         b->x + parts * (c * b->rest + ~b->to[j]), parts);
        }
    }
}

/* Of a Hermitian A rounding errors would leave S a little unsymmetric. */
static void mirror(const job *b)
{
    const int parts = parts_of(b);
    for (int64_t j = 0; j < b->count; j++)
        for (int64_t i = j; i < b->count; i++) {
            double *below = b->S + parts * (i + j * b->ld), *above = b->S + parts * (j + i * b->ld);
            if (parts == 2) above[1] = i == j ? 0 : -below[1];
            above[0] = below[0];
        }
}

static int eliminate_there(const job *b, trs_lu *lu, bool hermitian)
{
    const trs_schur_task task = {.A = &b->A,
                                 .to = b->to,
                                 .count = b->count,
                                 .rest = b->rest,
                                 .S = b->S,
                                 .ld = b->ld,
                                 .hermitian = hermitian};
    return trs_lu_schur(lu, &task);
}

static int eliminate(const job *b, trs_lu *lu, const int64_t *rows, bool hermitian)
{
    int rc = TRS_OK;
    if (b->device > 0) return eliminate_there(b, lu, hermitian);
    for (int64_t k = 0; k < b->count && b->rest > 0 && !rc; k += WIDTH) {
        const int width = b->count - k < WIDTH ? (int)(b->count - k) : WIDTH;
        gather(b, rows + k, width);
        rc = trs_lu_solve(lu, TRS_N, width, b->x, b->rest, b->x, b->rest, NULL);
        if (!rc) multiply(b, k, width);
    }
    if (!rc && hermitian) mirror(b);
    return rc;
}

/* ---- public ------------------------------------------------------------------------------------- */

static int allocate(job *b, const int8_t *signs)
{
    const int64_t n = b->A.n, nnz = b->A.nnz, parts = parts_of(b);
    const char *const what = "a Schur complement";
    b->R.p = trs_lu_alloc(b->lu, n + 1, sizeof *b->R.p, what);
    b->R.i = trs_lu_alloc(b->lu, nnz, sizeof *b->R.i, what);
    b->R.x = trs_lu_alloc(b->lu, nnz * parts, sizeof *b->R.x, what);
    if (b->device <= 0) b->x = trs_lu_alloc(b->lu, b->rest * WIDTH * parts, sizeof *b->x, what);
    if (signs) b->signs = trs_lu_alloc(b->lu, b->rest, 1, what);
    if (!b->R.p || !b->R.i || !b->R.x || (b->device <= 0 && !b->x) || (signs && !b->signs))
        return TRS_EMEM;
    for (int64_t i = 0; i < n && signs; i++)
        if (b->to[i] < 0) b->signs[~b->to[i]] = signs[i];
    return TRS_OK;
}

/* b->A = A, all of it, and which of its rows go where. */
static int import(job *b, const trs_mat *A, const int64_t *rows, const int8_t *signs)
{
    int rc = trs_lu_schur_import(b->lu, A, &b->A);
    if (rc) return rc;
    b->to = trs_lu_alloc(b->lu, A->n, sizeof *b->to, "a Schur complement");
    rc = b->to ? check_rows(b, A->n, rows) : TRS_EMEM;
    if (rc) return rc;
    number_rest(b);
    return allocate(b, signs);
}

static int check(trs_lu **lu, const trs_mat *A, int64_t count, const int64_t *rows, const void *S,
                 int64_t ld)
{
    if (!lu || !A || count < 0 || (count > 0 && (!rows || !S || ld < count)))
        return trs_fail(TRS_EARG, "schur: lu, A, rows or S is NULL, or count or ld out of range");
    return TRS_OK;
}

static int schur(trs_lu **lu, const trs_mat *A, int64_t count, const int64_t *rows, void *S,
                 int64_t ld, const trs_factor_options *opt)
{
    static const trs_factor_options defaults = {0};
    if (!opt) opt = &defaults;
    job b = {.count = count, .S = S, .ld = ld};
    int rc = check(lu, A, count, rows, S, ld);
    if (!rc) rc = TRS_CHECK_RESERVED(opt, "trs_factor_options");
    if (rc) return rc;
    trs_options plan = opt->plan;
    if (*lu) plan.device = (*lu)->opt.device;
    b.device = plan.device;
    if (A->device > 0 && b.device <= 0)
        return trs_fail(TRS_ESUPPORT, "schur: A is on a device, and its factors are not");
    rc = trs_lu_new(&b.lu, A, &plan, 1);
    if (!rc) rc = import(&b, A, rows, opt->signs);
    if (!rc) {
        split(&b);
        rc = factor_rest(&b, lu, opt);
    }
    if (!rc) rc = eliminate(&b, *lu, rows, trs_is_half(A));
    if (b.lu) {
        trs_lu_free(b.lu, b.to, b.R.p, b.R.i, b.R.x, b.signs, b.x);
        trs_lu_csc_free(b.lu, &b.A);
        trs_lu_destroy(b.lu);
    }
    return rc;
}

int trs_schur(trs_lu **lu, const trs_mat *A, int64_t count, const int64_t *rows, void *S,
              int64_t ld, const trs_factor_options *opt)
{
    return trs_call(schur(lu, A, count, rows, S, ld, opt));
}
