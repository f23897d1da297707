/* lu.c: solve with the factors of a matrix.
 *
 *     (L U)(k, m) = s(P(k)) A(P(k), Q(m)):   x = Q U^-1 L^-1 P R b,   R = diag (s)
 *                                      and   x = R P' L^-T U^-T Q' b  for A' x = b
 *     L L^H = A(P, P):                       x = P' L^-H L^-1 P b
 *
 * The factors and the vectors y between the triangles are in double precision; B and X are of the type of A.  On demand the
 * plans have the factors rounded to single precision, and the vectors y are in single precision, too: each is divided by a
 * power of two near its largest number, so that its numbers stay in range.
 * Which library made the factors does not matter here.  The permutations and the scaling cost two passes over the vectors,
 * on the host; the triangles are ordinary plans.
 * Incomplete factors have neither, and are of the type of A: their plans work on B and X themselves, also on a device. */
#ifndef T

#include "config.h"

#include "lu.h"
#include "base/debug.h"
#include "core/plan.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- create and destroy --------------------------------------------------------------------- */

int trs_lu_new(trs_lu **lu, const trs_mat *A, const trs_options *opt)
{
    if (!lu) return trs_fail(TRS_EARG, "lu is NULL");
    *lu = NULL;
    if (!A) return trs_fail(TRS_EARG, "A is NULL");
    if (!opt->memory.alloc != !opt->memory.free)
        return trs_fail(TRS_EARG, "one of memory.alloc and memory.free is NULL");
    trs_lu *a = *lu = trs_alloc_zero(&opt->memory, 1, sizeof *a);
    if (!a) return trs_fail(TRS_EMEM, "out of memory for a handle");
    a->mem = opt->memory;
    a->opt = *opt;
    a->opt.layout = TRS_COL_MAJOR; /* of the vectors between the triangles */
    if (opt->solver) {
        snprintf(a->solver, sizeof a->solver, "%s", opt->solver);
        a->opt.solver = a->solver;
    }
    if (opt->nrhs < 0) return trs_fail(TRS_EARG, "nrhs = %d is negative", opt->nrhs);
    a->width = opt->nrhs > 0 ? opt->nrhs : 1;
    return TRS_OK;
}

void trs_lu_destroy(trs_lu *lu)
{
    if (!lu) return;
    trs_enter();
    if (lu->backend) lu->release(lu, lu->backend);
    trs_plan_destroy(lu->l);
    trs_plan_destroy(lu->u);
    trs_lu_factors_free(lu, &lu->f);
    trs_free(&lu->mem, lu->y);
    trs_free(&lu->mem, lu->power);
    trs_memory mem = lu->mem;
    trs_free(&mem, lu);
    trs_leave_silently();
}

void *trs_lu_alloc(trs_lu *lu, int64_t count, size_t size, const char *what)
{
    trs_context ctx = {.mem = lu->mem};
    return trs_new(&ctx, count, size, what);
}

void trs_lu_free(trs_lu *lu, void *p)
{
    trs_free(&lu->mem, p);
}

static void mat_free(trs_lu *lu, trs_mat *m)
{
    trs_free(&lu->mem, (void *)m->ptr);
    trs_free(&lu->mem, (void *)m->idx);
    trs_free(&lu->mem, (void *)m->val);
}

void trs_lu_factors_free(trs_lu *lu, trs_factors *f)
{
    if (f->U.ptr != f->L.ptr) mat_free(lu, &f->U);
    mat_free(lu, &f->L);
    trs_free(&lu->mem, f->P);
    trs_free(&lu->mem, f->Q);
    trs_free(&lu->mem, f->scale);
    memset(f, 0, sizeof *f);
}

/* ---- factors in, plans out ------------------------------------------------------------------ */

static bool same_pattern(const trs_mat *a, const trs_mat *b)
{
    if (a->n != b->n || a->nnz != b->nnz || a->dtype != b->dtype || a->format != b->format ||
        a->ptr_bits != b->ptr_bits || a->idx_bits != b->idx_bits || a->kind != b->kind)
        return false;
    if (!a->ptr) return !b->ptr;
    size_t p = a->ptr_bits == 32 ? 4 : 8, i = a->idx_bits == 64 ? 8 : 4;
    return !memcmp(a->ptr, b->ptr, ((size_t)a->n + 1) * p) &&
           (!a->nnz || !memcmp(a->idx, b->idx, (size_t)a->nnz * i));
}

/* Prefix the sentence of a plan's failure with the factor's name. */
static int name_factor(int rc, const char *name)
{
    return rc ? trs_fail(rc, "factor %s: %s", name, trs_message()) : rc;
}

/* Make the plan of one triangle, or give it new values.  A plan that cannot be analysed is destroyed. */
static int plan_of(trs_lu *lu, trs_plan **plan, const trs_mat *m, const char *name)
{
    if (*plan) return name_factor(trs_plan_update(*plan, m, NULL), name);
    trs_options opt = lu->opt;
    if (lu->f.cholesky) opt.ops = 1u << TRS_N | 1u << TRS_H;
    int rc = trs_plan_create(plan, m, &opt);
    if (!rc) rc = trs_plan_analyse(*plan);
    name_factor(rc, name);
    if (rc) trs_plan_destroy(*plan), *plan = NULL;
    return rc;
}

static trs_dtype single_of(trs_dtype t)
{
    return trs_is_complex(t) ? TRS_C32 : TRS_F32;
}

/* val = the values of m in single precision. */
static int round_values(const trs_mat *m, void *val, const char *name)
{
    double z[2];
    for (int64_t p = 0; p < m->nnz; p++) {
        trs_number_get(m->val, m->dtype, p, z);
        if (fabs(z[0]) > (double)FLT_MAX || fabs(z[1]) > (double)FLT_MAX)
            return trs_fail(TRS_ESUPPORT, "factor %s: %.3g is beyond its range", name,
                            fmax(fabs(z[0]), fabs(z[1])));
        trs_number_put(val, single_of(m->dtype), p, z);
    }
    return TRS_OK;
}

/* The same for the triangle in the precision of the plans. */
static int plan_for(trs_lu *lu, trs_plan **plan, const trs_mat *m, const char *name)
{
    trs_mat low = *m;
    if (!lu->single) return plan_of(lu, plan, m, name);
    low.dtype = single_of(m->dtype);
    void *val = trs_lu_alloc(lu, m->nnz, trs_size(low.dtype), "rounded factors");
    low.val = val;
    int rc = val ? round_values(m, val, name) : TRS_EMEM;
    if (!rc) rc = plan_of(lu, plan, &low, name);
    trs_lu_free(lu, val);
    return rc;
}

static void drop_plans(trs_lu *lu)
{
    trs_plan_destroy(lu->l);
    trs_plan_destroy(lu->u);
    lu->l = lu->u = NULL;
}

static int64_t entries(const trs_plan *plan)
{
    trs_info info;
    return !plan || trs_plan_info(plan, &info) ? 0 : info.nnz;
}

static void set_info(trs_lu *lu, double seconds)
{
    trs_lu_info *info = &lu->info;
    info->library = lu->f.library;
    info->ordering = lu->f.ordering;
    info->n = lu->f.L.n;
    info->nnz_l = entries(lu->l);
    info->nnz_u = entries(lu->u);
    info->rcond = lu->f.rcond;
    info->l = lu->l;
    info->u = lu->u;
    info->seconds_analyse = seconds;
}

int trs_lu_plan(trs_lu *lu, bool only_l)
{
    const double start = trs_now();
    const bool s = lu->single, both = !lu->f.cholesky && !only_l;
    int rc = plan_for(lu, &lu->l, &lu->f.L, s ? "L in single precision" : "L");
    if (!rc && both) rc = plan_for(lu, &lu->u, &lu->f.U, s ? "U in single precision" : "U");
    lu->ready = !rc && !only_l;
    set_info(lu, trs_now() - start);
    return rc;
}

/* Is p a permutation of 0 .. n-1?  For assertions: without memory, true is the answer. */
static inline bool is_permutation(const int64_t *p, int64_t n)
{
    char *seen = trs_alloc_zero(NULL, n, 1);
    bool good = true;
    for (int64_t k = 0; k < n && seen && good; k++) {
        good = p[k] >= 0 && p[k] < n && !seen[p[k]];
        if (good) seen[p[k]] = 1;
    }
    trs_free(NULL, seen);
    return good;
}

int trs_lu_adopt(trs_lu *lu, trs_factors *f)
{
    TRS_ASSERT(!f->P || is_permutation(f->P, f->L.n));
    TRS_ASSERT(!f->Q || is_permutation(f->Q, f->L.n));
    const double start = trs_now();
    if (!same_pattern(&lu->f.L, &f->L) || !same_pattern(&lu->f.U, &f->U)) drop_plans(lu);
    if (lu->f.L.n != f->L.n || lu->f.L.dtype != f->L.dtype) {
        trs_free(&lu->mem, lu->y);
        lu->y = NULL;
    }
    lu->ready = false;
    trs_lu_factors_free(lu, &lu->f);
    lu->f = *f;
    memset(f, 0, sizeof *f);
    const int64_t count = lu->f.L.n * (int64_t)lu->width;
    const trs_dtype type = lu->single ? single_of(lu->f.L.dtype) : lu->f.L.dtype;
    if (!lu->y) lu->y = trs_lu_alloc(lu, count, trs_size(type), "work vectors");
    if (lu->single && !lu->power)
        lu->power = trs_lu_alloc(lu, lu->width, sizeof *lu->power, "their powers of two");
    int rc = lu->y && (lu->power || !lu->single) ? trs_lu_plan(lu, false) : TRS_EMEM;
    if (rc) drop_plans(lu); /* so that the next adopt makes new ones */
    set_info(lu, trs_now() - start);
    return rc;
}

int trs_lu_update(trs_lu *lu, const trs_mat *A)
{
    trs_enter();
    if (!lu || !A) return trs_leave(trs_fail(TRS_EARG, "update: lu or A is NULL"));
    if (!lu->update) return trs_leave(trs_fail(TRS_ESTATE, "update: there is no pattern yet"));
    return trs_leave(lu->update(lu, A));
}

const struct trs_core *trs_core(void)
{
#define ENTRY(name) .name = name,
    static const struct trs_core table = {TRS_CORE_FUNCTIONS(ENTRY)};
    return &table;
}

/* ---- what the caller may ask ------------------------------------------------------------------ */

int trs_lu_factors(const trs_lu *lu, trs_mat *L, trs_mat *U, const int64_t **P, const int64_t **Q,
                   const double **scale)
{
    trs_enter();
    if (!lu || !lu->f.L.ptr) return trs_leave(trs_fail(TRS_EARG, "factors: there are none"));
    if (L) *L = lu->f.L;
    if (U) *U = lu->f.U;
    if (P) *P = lu->f.P;
    if (Q) *Q = lu->f.cholesky ? lu->f.P : lu->f.Q;
    if (scale) *scale = lu->f.scale;
    return trs_leave(TRS_OK);
}

int trs_lu_get_info(const trs_lu *lu, trs_lu_info *info)
{
    trs_enter();
    if (!lu || !info) return trs_leave(trs_fail(TRS_EARG, "info: lu or info is NULL"));
    *info = lu->info;
    trs_leave_silently();
    return TRS_OK;
}

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
    /* [nrhs] the powers of two that divide the columns of y; NULL: y is in double precision */
    double *power;
    const int64_t *perm;
    const double *scale; /* NULL: there is no scaling */
    bool conj;
    int64_t rs, cs;
} move;

static void put(const move *m, void *y, int64_t k, double v)
{
    if (m->power) ((float *)y)[k] = (float)v;
    else ((double *)y)[k] = v;
}

static double get(const move *m, const void *y, int64_t k)
{
    return m->power ? (double)((const float *)y)[k] : ((const double *)y)[k];
}

#define TRS_BODY "factor/lu.c"
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

/* Solve with incomplete factors: X = op(L U)^-1 B, or op(L L^H)^-1 B.  The second triangle is solved in place. */
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
    for (int r = 0; r < nrhs && !rc; r += lu->width) {
        const int some = nrhs - r < lu->width ? nrhs - r : lu->width;
        move in = {.n = lu->f.L.n, .nrhs = some}, out;
        in.parts = trs_is_complex(lu->dtype) ? 2 : 1;
        in.power = lu->single ? lu->power : NULL;
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
