/* determinant.c: det A as the product of the pivots of its LU, or of the diagonal of a triangle.
 *
 *     P A = L U:                              det A = sgn (P) prod U(k, k)
 *     (L U)(k, m) = s(P(k)) A(P(k), Q(m)):    det A = sgn (P) sgn (Q) prod U(k, k) / prod s(k)
 *     L L^H = A(P, P):                        det A = prod |L(k, k)|^2
 *     T(k, m) = A(P(k), Q(m)), a triangle:    det A = sgn (P) sgn (Q) prod T(k, k)
 *
 * A product of n numbers leaves the range of double long before n is large.  So it is kept as LINPACK's xGEDI keeps it: as
 * a mantissa, which is brought back near 1 after every factor, and an exponent of its own.  The base is 2 and not 10,
 * because then only the n multiplications round, with a relative error of eps each.
 * Sources: Dongarra, Bunch, Moler, Stewart, LINPACK Users' Guide, 1979; Higham, Accuracy and Stability of Numerical
 * Algorithms, 2nd ed., section 14.6. */
#include "config.h"

#include "base/device.h"
#include "base/debug.h"
#include "core/plan.h"
#include "matrix/on_device.h"
#include "device/lu_device.h"
#include "again/lu_again.h"
#include "lu_first.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- products ------------------------------------------------------------------------------- */

typedef struct product { /* (re + i im) 2^exponent; the larger part is in [1/2, 1), or both are 0 */
    double re, im;
    int64_t exponent;
} product;

static void normalise(product *d)
{
    int e;
    frexp(fmax(fabs(d->re), fabs(d->im)), &e);
    d->re = ldexp(d->re, -e);
    d->im = ldexp(d->im, -e);
    d->exponent += e;
}

static void multiply(product *d, double re, double im)
{
    product f = {re, im, 0};
    normalise(&f); /* so that no product of the parts overflows */
    *d = (product){d->re * f.re - d->im * f.im, d->re * f.im + d->im * f.re,
                   d->exponent + f.exponent};
    normalise(d);
}

static void divide(product *d, double by)
{
    int e;
    const double f = frexp(by, &e);
    *d = (product){d->re / f, d->im / f, d->exponent - e};
    normalise(d);
}

/* Multiply d by number p of an array; false: that number is not finite. */
static bool multiply_by(product *d, const void *a, trs_dtype t, int64_t p)
{
    double z[2];
    trs_number_get(a, t, p, z);
    if (!isfinite(z[0]) || !isfinite(z[1])) return false;
    multiply(d, z[0], z[1]);
    return true;
}

static trs_det result(const product *d, bool negative)
{
    const double size = hypot(d->re, d->im), sign = negative ? -1 : 1;
    int e;
    if (size == 0) return (trs_det){0};
    trs_det det = {.re = sign * d->re / size, .mantissa = 2 * frexp(size, &e)};
    if (d->im != 0) det.im = sign * d->im / size; /* never -0 */
    det.exponent = d->exponent + e - 1;
    return det;
}

/* ---- signs ---------------------------------------------------------------------------------- */

/* *odd changes when the permutation p [n] is odd, that is when it has an odd number of even cycles.  A cycle of c elements
 * marks the c - 1 that follow its first one, and each of them is a transposition. */
static int find_parity(trs_context *ctx, const int64_t *p, int64_t n, bool *odd)
{
    unsigned char *seen = trs_alloc_zero(&ctx->mem, n, 1);
    if (!seen) return trs_fail(TRS_EMEM, "out of memory for the sign of a permutation");
    for (int64_t k = 0; k < n; k++)
        for (int64_t j = seen[k] ? k : p[k]; j != k; j = p[j]) {
            TRS_ASSERT(j >= 0 && j < n && !seen[j]); /* else p is no permutation */
            seen[j] = 1;
            *odd = !*odd;
        }
    trs_free(&ctx->mem, seen);
    return TRS_OK;
}

/* The same for sgn (P) sgn (Q), the sign of the permutation that takes row P(k) to the column Q(k) of its pivot. */
static int find_parity_of_pivots(trs_context *ctx, const trs_plan *p, bool *odd)
{
    const int64_t n = p->info.n;
    int64_t *column = trs_new(ctx, n, sizeof *column, "the sign of a permutation");
    if (!column) return TRS_EMEM;
    for (int64_t k = 0; k < n; k++) column[p->P[k]] = p->Q[k];
    int rc = find_parity(ctx, column, n, odd);
    trs_free(&ctx->mem, column);
    return rc;
}

/* ---- of a plan ------------------------------------------------------------------------------ */

/* u = the diagonal of an operator whose values only the device has up to date. */
static int fetch_diagonal(trs_context *ctx, const trs_operator *op, void *u)
{
    const int64_t n = op->tri.n;
    const size_t size = trs_size(op->tri.dtype), bytes = (size_t)n * sizeof(int64_t);
    int64_t *last = trs_new(ctx, n, sizeof *last, "the places of the diagonal");
    int rc = last ? trs_gpu_use(ctx) : TRS_EMEM;
    void *place = rc ? NULL : trs_gpu_new(ctx, n, sizeof *last, "the places of the diagonal");
    void *there = place ? trs_gpu_new(ctx, n, size, "the diagonal") : NULL;
    if (!rc && !there) rc = TRS_EMEM;
    if (!rc) rc = trs_gpu_get(ctx, last, op->device.ptr + 1, bytes);
    for (int64_t k = 0; k < n && !rc; k++) last[k]--;
    if (!rc) rc = trs_gpu_put(ctx, place, last, bytes);
    if (!rc) rc = trs_gpu_take_values(op->tri.dtype, n, place, op->device.val, there, NULL);
    if (!rc) rc = trs_gpu_get(ctx, u, there, (size_t)n * size);
    trs_gpu_free(ctx, there);
    trs_gpu_free(ctx, place);
    trs_free(&ctx->mem, last);
    return rc;
}

/* u [n] = the diagonal of the operator. */
static int get_diagonal(trs_context *ctx, const trs_operator *op, void *u)
{
    const trs_tri *t = &op->tri;
    const size_t size = trs_size(t->dtype);
    if (!(op->on_host & TRS_OP_VALUES)) return fetch_diagonal(ctx, op, u);
    for (int64_t k = 0; k < t->n; k++)
        memcpy((char *)u + (size_t)k * size,
               (const char *)t->val + (size_t)(t->ptr[k + 1] - 1) * size, size);
    return TRS_OK;
}

/* u [n] = diag (U), of which count numbers are to be multiplied, and the parity of the row exchanges.  An LU that broke
 * down has pivots up to there.  Their product is det A if no row below had a better pivot to offer, which is so when rows
 * are exchanged, or when there is no row below. */
static int get_pivots(trs_context *ctx, const trs_instance *i, void *u, int64_t *count, bool *odd)
{
    if (!i->solver->pivots)
        return trs_fail(TRS_ESUPPORT, "determinant: %s keeps no record of its row exchanges",
                        i->solver->name);
    if (i->breakdown >= 0) *count = i->breakdown + 1;
    if (*count < i->op->tri.n && !(i->solver->caps & TRS_CAP_PIVOTS))
        return trs_fail(TRS_EPIVOT,
                        "determinant: row %" PRId64 " has a bad pivot, and %s exchanges no rows",
                        i->breakdown + ctx->base, i->solver->name);
    const int rc = i->solver->place == TRS_ON_CUDA ? trs_gpu_use(ctx) : TRS_OK;
    if (rc) return rc;
    return i->solver->pivots(i, ctx, u, odd);
}

static int of_plan(const trs_plan *p, trs_det *det)
{
    if (!p || !det) return trs_fail(TRS_EARG, "determinant: plan or det is NULL");
    trs_context ctx = p->ctx;           /* the plan is const, and may be in use */
    ctx.ring = NULL, ctx.threads = 1;   /* so that large copies do without its pinned memory */
    const trs_side *side = &p->side[0]; /* of A or of A', which have the same determinant */
    const trs_operator *op = &side->op;
    int64_t count = op->tri.n;
    product d = {.re = 1};
    bool odd = false;
    *det = (trs_det){0};
    if (!p->pivots_known) return trs_fail(TRS_ESTATE, "determinant: the plan has no values");
    void *u = trs_new(&ctx, count, trs_size(op->tri.dtype), "the pivots");
    int rc = u ? TRS_OK : TRS_EMEM;
    if (!rc && count > 0)
        rc = p->general ? get_pivots(&ctx, &side->instance, u, &count, &odd)
                        : get_diagonal(&ctx, op, u);
    for (int64_t k = 0; k < count && !rc; k++)
        if (!multiply_by(&d, u, op->tri.dtype, k))
            rc = trs_fail(TRS_EPIVOT, "determinant: a pivot is not finite");
    if (!rc && p->P) rc = find_parity_of_pivots(&ctx, p, &odd);
    trs_free(&ctx.mem, u);
    if (!rc) *det = result(&d, odd);
    return rc;
}

int trs_plan_determinant(const trs_plan *p, trs_det *det)
{
    return trs_call(of_plan(p, det));
}

/* ---- of factors ----------------------------------------------------------------------------- */

/* The place of the diagonal entry k, or -1.  That is the last entry of each row of L by rows and of each column of U by columns,
 * the first one of each column of L by columns; of rows of L + U it is searched for. */
static int64_t place_of_diagonal(const trs_mat *m, int64_t k)
{
    const int64_t begin = trs_major_begin(m, k), end = trs_major_end(m, k);
    if (begin < end && trs_minor_index(m, k, begin) == k) return begin;
    for (int64_t p = end - 1; p >= begin; p--)
        if (trs_minor_index(m, k, p) == k) return p;
    return -1;
}

/* Multiply d by the diagonal of a factor.  false: a number is not finite, or not there. */
static bool multiply_diagonal(product *d, const trs_mat *m)
{
    bool finite = true;
    if (m->kind & TRS_UNIT) return true;
    for (int64_t k = 0; k < m->n && finite; k++) {
        const int64_t p = place_of_diagonal(m, k);
        finite = p >= 0 && multiply_by(d, m->val, m->dtype, p);
    }
    return finite;
}

/* The signs of both permutations, the diagonals of both factors, and the row scaling; n = 0 gives 1. */
static int multiply_factors(const trs_lu *lu, trs_det *det)
{
    trs_context ctx = {.mem = lu->mem};
    const trs_factors *f = &lu->f;
    const int64_t n = f->L.n;
    product d = {.re = 1};
    bool odd = false;
    int rc = TRS_OK;
    if (!f->cholesky) rc = find_parity(&ctx, f->P, n, &odd);
    if (!rc && !f->cholesky) rc = find_parity(&ctx, f->Q, n, &odd);
    if (rc) return rc;
    if (!multiply_diagonal(&d, &f->L) || (!f->cholesky && !multiply_diagonal(&d, &f->U)))
        return trs_fail(TRS_EPIVOT, "determinant: a pivot is not finite");
    if (f->cholesky) { /* det L^H = conj (det L) */
        const product l = d;
        multiply(&d, l.re, -l.im);
        d.exponent += l.exponent;
    }
    for (int64_t k = 0; k < n && f->sign; k++) odd ^= f->sign[k] < 0;
    for (int64_t k = 0; k < n && f->scale; k++) divide(&d, f->scale[k]);
    *det = result(&d, odd);
    return TRS_OK;
}

static int of_factors(const trs_lu *lu, trs_det *det)
{
    if (!lu || !det) return trs_fail(TRS_EARG, "determinant: lu or det is NULL");
    *det = (trs_det){0};
    if (lu->singular) return TRS_OK;
    int rc = trs_lu_settle(lu);
    if (rc) return rc;
    if (!lu->ready) return trs_fail(TRS_ESTATE, "determinant: there are no factors");
    if (lu->f.incomplete)
        return trs_fail(TRS_ESUPPORT,
                        "determinant: incomplete factors are those of another matrix than A");
    if (lu->device) rc = trs_lu_device_fetch((trs_lu *)lu);
    else rc = trs_lu_again_fetch((trs_lu *)lu);
    if (rc) return rc;
    return multiply_factors(lu, det);
}

int trs_lu_determinant(const trs_lu *lu, trs_det *det)
{
    return trs_call(of_factors(lu, det));
}
