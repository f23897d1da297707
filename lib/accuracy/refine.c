/* refine.c: iterative refinement, which repeats while it helps
 *
 *     r = b - op(A) x     d = op(A)^-1 r     x = x + d
 *
 * The residual r is summed in long double and rounded once.  Each right-hand side is refined by itself, and the best x of its
 * steps is returned.  With complete factors a step or two suffice.  With incomplete ones this is a stationary iteration,
 * whose errors may grow before they fall, and fall slowly.  That they grow, the residual shows; omega, the componentwise
 * backward error, cannot, as it is never above 1.
 * The plan or the factors that solve may have lower precision than A, b and x.  Then r is scaled by a power of two, so that
 * its numbers stay in range.
 * Sources: Wilkinson, Rounding Errors in Algebraic Processes, 1963, for the two precisions; Skeel, Iterative refinement
 * implies numerical stability for Gaussian elimination, Math. Comp. 35 (1980) 817-832; Arioli, Demmel, Duff, Solving sparse
 * linear systems with sparse backward error, SIAM J. Matrix Anal. Appl. 10 (1989) 165-190; Higham, Accuracy and Stability of
 * Numerical Algorithms, 2nd ed., chapter 12. */
#include "config.h"

#include "factor/lu.h"
#include "residual.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct refiner {
    const trs_mat *A;
    trs_op op;
    const trs_exec *exec;
    const trs_memory *mem;
    trs_lu *lu;           /* what solves; NULL: plan does */
    const trs_plan *plan; /* NULL: lu does */
    void *stage;          /* [n] on the device, for a plan that solves there */
    trs_dtype low;        /* the type of the plan or the factors */
    trs_sums s;           /* the residual and the sizes of its terms */
    void *d;              /* [n] correction, of type low */
    double *best;         /* [2*n] the best x so far */
    double goal;          /* an omega that is small enough: that of a stable substitution */
} refiner;

/* A step makes progress when omega or the residual falls by a hundredth.  After PATIENCE steps without progress no more is
 * expected; and when the residual has grown GROWTH times, it is given up.  Iterations with ILU(0) that converge in the end
 * were seen to make no progress for 40 steps, and to grow 100 times. */
enum { PATIENCE = 50, GROWTH = 10000 };

typedef struct progress {   /* of one right-hand side */
    trs_error now;          /* of the present x */
    double omega, residual; /* what they were when each last fell by a hundredth */
    int pause;              /* steps since one of them did */
} progress;

static void get(const refiner *s, trs_column v, int64_t i, double z[2])
{
    trs_number_get(v.p, s->A->dtype, i * v.step, z);
}

static void put(const refiner *s, trs_column v, int64_t i, const double z[2])
{
    trs_number_put(v.p, s->A->dtype, i * v.step, z);
}

/* d = op(A)^-1 d */
static int correct(const refiner *s)
{
    const int64_t n = s->A->n;
    const trs_exec exec = {.stream = s->exec->stream, .threads = s->exec->threads};
    if (s->lu) return trs_lu_solve(s->lu, s->op, 1, s->d, n, s->d, n, &exec);
    return trs_solve_hosted(s->plan, s->op, s->d, s->stage, s->exec);
}

/* What r is divided by, and d multiplied with, when d has less range than r; else 1. */
static double scale_of(const refiner *s, const trs_error *e)
{
    return s->low == s->A->dtype ? 1 : trs_power_near(e->residual);
}

/* d = op(A)^-1 r;  x += d. */
static int step(const refiner *s, trs_column x, const trs_error *e)
{
    const int64_t n = s->A->n;
    const double scale = scale_of(s, e);
    double z[2], c[2];
    for (int64_t i = 0; i < n; i++) {
        z[0] = (double)(s->s.re[i] / scale), z[1] = (double)(s->s.im[i] / scale);
        trs_number_put(s->d, s->low, i, z);
    }
    int rc = correct(s);
    for (int64_t i = 0; i < n && !rc; i++) {
        get(s, x, i, z);
        trs_number_get(s->d, s->low, i, c);
        z[0] += scale * c[0], z[1] += scale * c[1];
        put(s, x, i, z);
    }
    return rc;
}

static void keep(const refiner *s, trs_column x)
{
    for (int64_t i = 0; i < s->A->n; i++) get(s, x, i, s->best + 2 * i);
}

static void take_back(const refiner *s, trs_column x)
{
    for (int64_t i = 0; i < s->A->n; i++) put(s, x, i, s->best + 2 * i);
}

/* Is a the better error? */
static bool is_better(const trs_error *a, const trs_error *b)
{
    return a->omega < b->omega || (a->omega == b->omega && a->residual < b->residual);
}

static void note_progress(progress *p)
{
    const double enough = 0.99;
    const bool omega = p->now.omega < enough * p->omega;
    const bool residual = p->now.residual < enough * p->residual;
    if (omega) p->omega = p->now.omega;
    if (residual) p->residual = p->now.residual;
    p->pause = omega || residual ? 0 : p->pause + 1;
}

/* Why to stop; TRS_STOP_NONE: go on. */
static trs_stop stop_of(const progress *p, double goal, int steps_left)
{
    /* A small normwise error means that only rows of small numbers have a large omega: that is no divergence. */
    const bool rounded = p->now.normwise <= goal;
    if (p->now.omega <= goal) return TRS_STOP_CONVERGED;
    if (!isfinite(p->now.omega) || (!rounded && !(p->now.residual <= GROWTH * p->residual)))
        return TRS_STOP_DIVERGED;
    if (p->pause >= PATIENCE) return TRS_STOP_STAGNATED;
    return steps_left > 0 ? TRS_STOP_NONE : TRS_STOP_STEPS;
}

/* Refine one column.  e is the error of the x that is returned, with the reason why no more was done. */
static int refine_column(const refiner *s, trs_column b, trs_column x, int max_steps, int *steps,
                         trs_error *e)
{
    progress p;
    trs_stop stop;
    bool best = true; /* x is the best so far */
    int rc = TRS_OK;
    trs_residual(s->A, s->op, b, x, &s->s, e);
    p = (progress){.now = *e, .omega = e->omega, .residual = e->residual};
    for (*steps = 0; !(stop = stop_of(&p, s->goal, max_steps - *steps)); ++*steps) {
        if (best) keep(s, x);
        if ((rc = step(s, x, &p.now))) break;
        trs_residual(s->A, s->op, b, x, &s->s, &p.now);
        note_progress(&p);
        best = is_better(&p.now, e);
        if (best) *e = p.now;
    }
    if (!best) take_back(s, x);
    e->stop = stop;
    return rc;
}

/* How many entries the longest row of op(A) has.  Counts are kept in s->size, which is not in use yet. */
static double longest_row(const refiner *s)
{
    const trs_mat *A = s->A;
    const bool rows = (A->format == TRS_CSR) == (s->op == TRS_N);
    long double most = 0, *count = s->s.size;
    for (int64_t i = 0; i < A->n; i++) count[i] = 0;
    for (int64_t l = 0; l < A->n; l++) {
        const int64_t end = trs_major_end(A, l);
        for (int64_t p = trs_major_begin(A, l); p < end; p++) {
            const int64_t c = trs_minor_index(A, l, p), i = A->format == TRS_CSR ? l : c;
            if (trs_in_triangle(A->kind, i, l + c - i)) count[rows ? l : c] += 1;
        }
    }
    for (int64_t i = 0; i < A->n; i++)
        if (count[i] > most) most = count[i];
    return (double)most;
}

static int prepare(refiner *s)
{
    const int64_t n = s->A->n;
    const bool single = trs_is_single(s->A->dtype);
    int rc = trs_sums_new(s->mem, n, &s->s);
    s->d = trs_alloc(s->mem, n, trs_size(s->low));
    s->best = trs_alloc(s->mem, 2 * n, sizeof *s->best);
    if (rc || !s->d || !s->best) return trs_fail(TRS_EMEM, "out of memory for the refinement");
    s->goal = (longest_row(s) + 1) * (single ? (double)FLT_EPSILON : DBL_EPSILON);
    return TRS_OK;
}

/* Refine all columns; the arguments are checked. */
static int refine(refiner *s, int nrhs, const void *B, int64_t ldb, void *X, int64_t ldx,
                  int max_steps, int *steps, trs_error *error)
{
    trs_error all = {.row = -1, .col = -1}, one;
    const trs_layout layout = s->exec->layout;
    trs_context ctx = {.mem = *s->mem};
    const trs_mat *const A = s->A;
    trs_mat scalar;
    int most = 0, took = 0, rc = trs_unblock(&ctx, A, &scalar);
    if (rc) return rc;
    s->A = &scalar;
    rc = prepare(s);
    for (int r = 0; r < nrhs && s->A->n && !rc; r++) {
        rc = refine_column(s, trs_column_of(B, r, ldb, layout, s->A->dtype),
                           trs_column_of(X, r, ldx, layout, s->A->dtype), max_steps, &took, &one);
        if (took > most) most = took;
        if (!rc) trs_error_fold(&all, &one, r);
    }
    if (steps) *steps = most;
    if (error) *error = all;
    trs_free(s->mem, s->s.re);
    trs_free(s->mem, s->d);
    trs_free(s->mem, s->best);
    trs_unblock_done(&ctx, A, &scalar);
    return rc;
}

static const trs_exec defaults = {0};

/* Refuse what neither refinement can do. */
static int check(const refiner *s, int nrhs, const void *B, int64_t ldb, const void *X, int64_t ldx,
                 int max_steps)
{
    const int rc =
        max_steps < 0 ? trs_fail(TRS_EARG, "max_steps = %d is negative", max_steps)
                      : trs_check_columns(s->A, s->op, nrhs, B, ldb, X, ldx, s->exec->layout, true);
    return rc ? trs_fail(rc, "refine: %s", trs_message()) : TRS_OK;
}

/* Can the factors refine at all? */
static int check_lu(const trs_lu *lu, const trs_mat *A)
{
    if (!lu || !A) return trs_fail(TRS_EARG, "refine: lu or A is NULL");
    if (!lu->ready) return trs_fail(TRS_ESTATE, "refine: there are no factors");
    if (lu->opt.device > 0) return trs_fail(TRS_ESUPPORT, "refine: the factors solve on a device");
    return A->kind ? trs_fail(TRS_ESUPPORT, "refine: kind of A") : TRS_OK;
}

int trs_lu_refine(trs_lu *lu, const trs_mat *A, trs_op op, int nrhs, const void *B, int64_t ldb,
                  void *X, int64_t ldx, const trs_exec *exec, int max_steps, int *steps,
                  trs_error *error)
{
    trs_enter();
    int rc = check_lu(lu, A);
    if (rc) return trs_leave(rc);
    refiner s = {.A = A, .op = op, .exec = exec ? exec : &defaults, .lu = lu, .mem = &lu->mem};
    s.low = lu->dtype;
    rc = check(&s, nrhs, B, ldb, X, ldx, max_steps);
    if (!rc && (A->n != lu->f.L.n || A->dtype != lu->dtype))
        rc = trs_fail(TRS_EARG, "refine: A is not the matrix that was factored");
    return trs_leave(rc ? rc : refine(&s, nrhs, B, ldb, X, ldx, max_steps, steps, error));
}

static bool single_of(trs_dtype low, trs_dtype high)
{
    return (low == TRS_F32 && high == TRS_F64) || (low == TRS_C32 && high == TRS_C64);
}

/* Has the plan, in s, been made of A, for this op? */
static int check_plan(const refiner *s)
{
    const trs_plan *plan = s->plan;
    const unsigned same = TRS_LOWER | TRS_UPPER | TRS_UNIT | TRS_PERMUTED;
    if (plan->state != TRS_READY || !(plan->ctx.ops & 1u << s->op))
        return trs_fail(TRS_ESTATE, "refine: the plan cannot be solved with this op");
    if (s->A->n != plan->info.n || (s->A->kind & same) != (plan->shape.kind & same) ||
        (s->A->dtype != s->low && !single_of(s->low, s->A->dtype)))
        return trs_fail(TRS_EARG, "refine: T is not the matrix of the plan");
    return TRS_OK;
}

int trs_refine(const trs_plan *plan, const trs_mat *A, trs_op op, int nrhs, const void *B,
               int64_t ldb, void *X, int64_t ldx, const trs_exec *exec, int max_steps, int *steps,
               trs_error *error)
{
    trs_enter();
    if (!plan || !A) return trs_leave(trs_fail(TRS_EARG, "refine: plan or T is NULL"));
    refiner s = {.A = A, .op = op, .exec = exec ? exec : &defaults, .plan = plan};
    s.mem = &plan->ctx.mem;
    s.low = plan->shape.dtype;
    int rc = check(&s, nrhs, B, ldb, X, ldx, max_steps);
    if (!rc) rc = check_plan(&s);
    if (rc) return trs_leave(rc);
    rc = trs_hosted_new(plan, &s.stage);
    if (!rc) rc = refine(&s, nrhs, B, ldb, X, ldx, max_steps, steps, error);
    trs_hosted_free(plan, s.stage);
    return trs_leave(rc);
}
