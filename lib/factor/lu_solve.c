/* lu_solve.c: solve with the factors of a matrix.
 *
 *     (L U)(k, m) = s(P(k)) A(P(k), Q(m)):   x = Q U^-1 L^-1 P R b,   R = diag (s)
 *                                      and   x = R P' L^-T U^-T Q' b  for A' x = b
 *     L L^H = A(P, P):                       x = P' L^-H L^-1 P b
 *
 * The vectors y between the triangles are in double precision; B and X are of the type of A.  Where the plans have the
 * factors in single precision, the vectors y are in single precision, too: each is divided by a power of two near its
 * largest number, so that its numbers stay in range.
 * The permutations and the scaling cost two passes over the vectors, on the host; the triangles are ordinary plans.
 * Incomplete factors in the order of A have neither: their plans work on B and X themselves, also on a device.  In another
 * order they are solved with as complete factors are, with y of their type. */
#ifndef T

#include "config.h"

#include "lu.h"
#include "core/plan.h"

#include <math.h>

double trs_power_near(double size)
{
    int e = 0;
    if (isfinite(size)) frexp(size, &e);
    if (e < -1000) e = -1000;
    if (e > 1000) e = 1000;
    return ldexp(1, e);
}

/* ---- solving -------------------------------------------------------------------------------- */

/* How B or X is copied to or from y: element (i, r) is p [i*rs + r*cs] of lu->dtype, and y is n by nrhs. */
typedef struct move {
    int64_t n;
    int nrhs;
    int parts; /* of a number of y: 2 when complex, else 1 */
    bool low;  /* y is in single precision */
    /* [nrhs] the powers of two that divide the columns of y; NULL: these are not divided */
    double *power;
    const int64_t *perm;
    const double *scale; /* NULL: there is no scaling */
    bool conj;
    int64_t rs, cs;
} move;

static void put(const move *m, void *y, int64_t k, double v)
{
    if (m->low) ((float *)y)[k] = (float)v;
    else ((double *)y)[k] = v;
}

static double get(const move *m, const void *y, int64_t k)
{
    return m->low ? (double)((const float *)y)[k] : ((const double *)y)[k];
}

#define TRS_BODY "factor/lu_solve.c"
#include "base/each_type.h"

typedef void (*move_fn)(const move *, const void *, void *);
static const move_fn gather[] = TRS_PER_TYPE(gather);   /* y = R P b */
static const move_fn scatter[] = TRS_PER_TYPE(scatter); /* x = R P' y */

/* y = op(T)^-1 y for the triangle T of this plan. */
static int triangle(trs_lu *lu, const trs_plan *plan, trs_op op, int nrhs, const trs_exec *exec)
{
    const trs_exec e = {.stream = exec->stream, .threads = exec->threads};
    const int64_t n = lu->f.L.n;
    int rc = trs_solve(plan, op, nrhs, lu->y, n, lu->y, n, &e);
    if (!rc) return rc;
    return trs_fail(rc, "solving with %s: %s", plan == lu->l ? "L" : "U", trs_message());
}

/* Solve for at most lu->width right-hand sides. */
static int solve_some(trs_lu *lu, trs_op op, const void *B, move in, void *X, move out,
                      const trs_exec *exec)
{
    const trs_factors *f = &lu->f;
    const bool back = !f->cholesky && op != TRS_N; /* A' x = b begins with U' */
    in.perm = back ? f->Q : f->P;
    in.scale = back ? NULL : f->scale;
    out.perm = back || f->cholesky ? f->P : f->Q;
    out.scale = back ? f->scale : NULL;
    in.conj = out.conj = f->cholesky && op == TRS_T; /* A' = conj (A), for A is Hermitian */
    gather[lu->dtype](&in, B, lu->y);
    int rc = triangle(lu, back ? lu->u : lu->l, back ? op : TRS_N, in.nrhs, exec);
    if (rc) return rc;
    if (f->cholesky) rc = triangle(lu, lu->l, TRS_H, in.nrhs, exec);
    else rc = triangle(lu, back ? lu->l : lu->u, op, in.nrhs, exec);
    if (!rc) scatter[lu->dtype](&out, lu->y, X);
    return rc;
}

/* Solve with factors in the order of A: X = op(L U)^-1 B, or op(L L^H)^-1 B.  The second triangle is solved in place. */
static int solve_unpermuted(trs_lu *lu, trs_op op, int nrhs, const void *B, int64_t ldb, void *X,
                            int64_t ldx, const trs_exec *exec)
{
    const bool cholesky = lu->f.cholesky, back = !cholesky && op != TRS_N;
    const trs_plan *first = back ? lu->u : lu->l;
    const trs_plan *second = back || cholesky ? lu->l : lu->u;
    int rc = trs_solve(first, back ? op : TRS_N, nrhs, B, ldb, X, ldx, exec);
    if (!rc) rc = trs_solve(second, cholesky ? TRS_H : op, nrhs, X, ldx, X, ldx, exec);
    return rc ? trs_fail(rc, "solving: %s", trs_message()) : rc;
}

/* May this op be solved? */
static int check_op(const trs_lu *lu, trs_op op)
{
    const unsigned ops = lu->opt.ops ? lu->opt.ops : 1u << TRS_N;
    if (!lu->ready) return trs_fail(TRS_ESTATE, "solve: there are no factors");
    if (!lu->f.cholesky && !(ops & 1u << op))
        return trs_fail(TRS_ESTATE, "solve: this op was not announced in the options");
    if (lu->f.cholesky && !lu->f.P && op == TRS_T && trs_is_complex(lu->dtype))
        return trs_fail(TRS_ESUPPORT, "solve: IC(0) of a complex matrix has no TRS_T");
    return TRS_OK;
}

static int check_solve(trs_lu *lu, trs_op op, int nrhs, const void *B, int64_t ldb, const void *X,
                       int64_t ldx, const trs_exec *exec)
{
    if ((unsigned)op > TRS_H || nrhs < 0 || (unsigned)exec->layout > TRS_ROW_MAJOR)
        return trs_fail(TRS_EARG, "solve: op, nrhs or layout out of range");
    if (exec->work) return trs_fail(TRS_EARG, "solve: exec->work must be NULL, the lu has its own");
    int rc = check_op(lu, op);
    if (rc || nrhs == 0 || lu->f.L.n == 0) return rc;
    const int64_t b = trs_extent(B, lu->f.L.n, nrhs, ldb, exec->layout, lu->dtype);
    const int64_t x = trs_extent(X, lu->f.L.n, nrhs, ldx, exec->layout, lu->dtype);
    if (b < 0 || x < 0)
        return trs_fail(TRS_EARG, "solve: B or X is NULL, or ldb or ldx too small or too large");
    if (B == X ? ldb != ldx : trs_overlap(B, b, X, x))
        return trs_fail(TRS_EARG, "solve: B and X overlap");
    return TRS_OK;
}

static int solve(trs_lu *lu, trs_op op, int nrhs, const void *B, int64_t ldb, void *X, int64_t ldx,
                 const trs_exec *exec)
{
    static const trs_exec defaults = {0};
    if (!lu) return trs_fail(TRS_EARG, "solve: lu is NULL");
    if (!exec) exec = &defaults;
    int rc = check_solve(lu, op, nrhs, B, ldb, X, ldx, exec);
    const int64_t size = (int64_t)trs_size(lu->dtype);
    const bool rows = exec->layout == TRS_ROW_MAJOR;
    if (lu->f.L.n == 0) return rc;
    if (!rc && !lu->f.P) return solve_unpermuted(lu, op, nrhs, B, ldb, X, ldx, exec);
    if (!rc && lu->opt.device > 0)
        rc = trs_fail(TRS_ESUPPORT, "solve: factors with a permutation solve on the host only");
    for (int r = 0; r < nrhs && !rc; r += lu->width) {
        const int some = nrhs - r < lu->width ? nrhs - r : lu->width;
        move in = {.n = lu->f.L.n, .nrhs = some}, out;
        in.parts = trs_is_complex(lu->dtype) ? 2 : 1;
        in.power = lu->single ? lu->power : NULL;
        in.low = lu->single || lu->f.L.dtype == TRS_F32 || lu->f.L.dtype == TRS_C32;
        out = in;
        in.rs = rows ? ldb : 1, in.cs = rows ? 1 : ldb;
        out.rs = rows ? ldx : 1, out.cs = rows ? 1 : ldx;
        const char *b = (const char *)B + r * in.cs * size;
        char *x = (char *)X + r * out.cs * size;
        rc = solve_some(lu, op, b, in, x, out, exec);
    }
    return rc;
}

int trs_lu_solve(trs_lu *lu, trs_op op, int nrhs, const void *B, int64_t ldb, void *X, int64_t ldx,
                 const trs_exec *exec)
{
    trs_enter();
    return trs_leave(solve(lu, op, nrhs, B, ldb, X, ldx, exec));
}

#else

/* The size of the largest number of R b. */
static double FN(size)(const move *m, const T *b)
{
    double most = 0;
    for (int64_t i = 0; i < m->n; i++) {
        const double complex z = b[i * m->rs];
        const double s = m->scale ? m->scale[i] : 1;
        most = fmax(most, s * fmax(fabs(creal(z)), fabs(cimag(z))));
    }
    return most;
}

static void FN(gather)(const move *m, const void *B, void *y)
{
    const bool pairs = m->parts == 2;
    for (int r = 0; r < m->nrhs; r++) {
        const T *b = (const T *)B + r * m->cs;
        const int64_t first = r * m->parts * m->n;
        if (m->power) m->power[r] = trs_power_near(FN(size)(m, b));
        const double unit = m->power ? 1 / m->power[r] : 1;
        for (int64_t k = 0; k < m->n; k++) {
            const int64_t i = m->perm[k];
            const double complex z = m->conj ? CONJ(b[i * m->rs]) : b[i * m->rs];
            const double s = m->scale ? m->scale[i] : 1;
            put(m, y, first + m->parts * k, unit * (s * creal(z)));
            if (pairs) put(m, y, first + 2 * k + 1, unit * (s * cimag(z)));
        }
    }
}

static void FN(scatter)(const move *m, const void *y, void *X)
{
    const bool pairs = m->parts == 2;
    for (int r = 0; r < m->nrhs; r++) {
        T *x = (T *)X + r * m->cs;
        const int64_t first = r * m->parts * m->n;
        const double power = m->power ? m->power[r] : 1;
        for (int64_t k = 0; k < m->n; k++) {
            const int64_t i = m->perm[k];
            const double s = m->scale ? m->scale[i] : 1;
            const double re = s * (power * get(m, y, first + m->parts * k));
            const double im = pairs ? s * (power * get(m, y, first + 2 * k + 1)) : 0;
            x[i * m->rs] = (T)CMPLX(re, m->conj ? -im : im);
        }
    }
}

#endif
