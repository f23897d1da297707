/* refine.c: iterative refinement, which repeats while it helps
 *
 *     r = b - op(A) x     d = op(A)^-1 r     x = x + d
 *
 * The residual r is summed in long double, or on a device in twice the working precision, and rounded once.  Each
 * right-hand side is refined by itself, and the best x of its steps is returned.  With complete factors a step or two
 * suffice.  With incomplete ones this is a stationary iteration, whose errors may grow before they fall, and fall slowly.
 * That they grow, the residual shows; omega, the componentwise backward error, cannot, as it is never above 1.
 * The plan or the factors that solve may have lower precision than A, b and x.  Then r is scaled by a power of two, so that
 * its numbers stay in range.
 * What is done with vectors is in refine_host.c and refine_device.c; here is what is decided.
 * Sources: Wilkinson, Rounding Errors in Algebraic Processes, 1963, for the two precisions; Skeel, Iterative refinement
 * implies numerical stability for Gaussian elimination, Math. Comp. 35 (1980) 817-832; Arioli, Demmel, Duff, Solving sparse
 * linear systems with sparse backward error, SIAM J. Matrix Anal. Appl. 10 (1989) 165-190; Higham, Accuracy and Stability
 * of Numerical Algorithms, 2nd ed., chapter 12. */
#include "config.h"

#include "refine.h"
#include "factor/lu_mat.h"
#include "base/debug.h"
#include "base/parallel.h"
#include "factor/lu_first.h"

#include <float.h>
#include <math.h>

/* A step makes progress when omega or the residual falls by a hundredth.  After PATIENCE steps without progress no more is
 * expected; and when the residual has grown GROWTH times, it is given up.  Iterations with ILU(0) that converge in the end
 * were seen to make no progress for 40 steps, and to grow 100 times. */
enum { PATIENCE = 50, GROWTH = 10000 };

typedef struct progress {   /* of one right-hand side */
    trs_error now;          /* of the present x */
    double omega, residual; /* what they were when each last fell by a hundredth */
    int pause;              /* steps since one of them did */
} progress;

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
    if (omega || residual) p->pause = 0;
    else p->pause++;
}

/* Why to stop; TRS_STOP_NONE: go on. */
static trs_stop stop_of(const progress *p, double goal, int steps_left)
{
    /* A small normwise error means that only rows of small numbers have a large omega: that is no divergence. */
    const bool rounded = p->now.normwise <= goal;
    TRS_ASSERT(steps_left >= 0);
    if (p->now.omega <= goal) return TRS_STOP_CONVERGED;
    if (!isfinite(p->now.omega) || (!rounded && !(p->now.residual <= GROWTH * p->residual)))
        return TRS_STOP_DIVERGED;
    if (p->pause >= PATIENCE) return TRS_STOP_STAGNATED;
    return steps_left > 0 ? TRS_STOP_NONE : TRS_STOP_STEPS;
}

/* Refine one column.  e is the error of the x that is returned, with the reason why no more was done. */
static int refine_column(const trs_refiner *s, trs_column b, trs_column x, int max_steps,
                         int *steps, trs_error *e)
{
    const trs_refining *by = s->by;
    progress p = {0};
    trs_stop stop = TRS_STOP_NONE;
    bool best = true; /* x is the best so far */
    int rc = by->residual(s, b, x, e);
    *steps = 0;
    if (rc) return rc;
    p = (progress){.now = *e, .omega = e->omega, .residual = e->residual};
    for (; !(stop = stop_of(&p, s->goal, max_steps - *steps)); ++*steps) {
        if (best) rc = by->keep(s, x);
        if (!rc) rc = by->step(s, x, &p.now);
        if (!rc) rc = by->residual(s, b, x, &p.now);
        if (rc) break;
        note_progress(&p);
        best = is_better(&p.now, e);
        if (best) *e = p.now;
    }
    const int back = best ? TRS_OK : by->take_back(s, x);
    if (!rc) rc = back;
    e->stop = stop;
    return rc;
}

/* Refine all columns; the arguments are checked. */
static int refine(trs_refiner *s, int nrhs, const void *B, int64_t ldb, void *X, int64_t ldx,
                  int max_steps, int *steps, trs_error *error)
{
    trs_error all = {.row = -1, .col = -1}, one;
    const trs_layout layout = s->exec->layout;
    const trs_dtype type = s->A->dtype;
    const double eps = trs_is_single(type) ? (double)FLT_EPSILON : DBL_EPSILON;
    int most = 0, took = 0, rc = s->by->begin(s);
    s->goal = (s->longest + 1) * eps;
    for (int r = 0; r < nrhs && s->A->n && !rc; r++) {
        rc = refine_column(s, trs_column_of(B, r, ldb, layout, type),
                           trs_column_of(X, r, ldx, layout, type), max_steps, &took, &one);
        TRS_ASSERT(took >= 0 && took <= max_steps);
        most = (int)trs_max(most, took);
        if (!rc) trs_error_fold(&all, &one, r);
    }
    if (steps) *steps = most;
    if (error) *error = all;
    s->by->end(s);
    return rc;
}

static const trs_exec defaults = {0};

/* Refuse what neither refinement can do.  device: where B and X of what solves live. */
static int check(trs_refiner *s, int device, int nrhs, const void *B, int64_t ldb, const void *X,
                 int64_t ldx, int max_steps)
{
    const trs_mat *A = s->A;
    if (A->device > 0 && A->device != device)
        return trs_fail(TRS_ESUPPORT, "refine: the matrix is on a device, and what solves takes B "
                                      "and X elsewhere");
    int rc = TRS_CHECK_RESERVED(s->exec, "trs_exec");
    if (!rc) rc = trs_check_threads("refine", s->exec->threads);
    if (rc) return rc;
    s->by = A->device > 0 ? &trs_refining_there : &trs_refining_here;
    if (max_steps < 0) return trs_fail(TRS_EARG, "refine: max_steps = %d is negative", max_steps);
    rc = trs_check_where(A);
    if (!rc) rc = trs_check_columns(A, s->op, nrhs, B, ldb, X, ldx, s->exec->layout, true);
    if (rc) trs_fail(rc, "refine: %s", trs_message());
    return rc;
}

/* Can the factors refine at all? */
static int check_lu(const trs_lu *lu, const trs_mat *A)
{
    if (!lu || !A) return trs_fail(TRS_EARG, "refine: lu or A is NULL");
    const int64_t n = trs_lu_ready_rows(lu);
    if (n < 0) return trs_fail(TRS_ESTATE, "refine: there are no factors");
    if (A->kind && !trs_is_half(A)) return trs_fail(TRS_ESUPPORT, "refine: kind of A");
    if (A->n == n && A->dtype == lu->dtype) return TRS_OK;
    return trs_fail(TRS_EARG, "refine: A is not the matrix that was factored");
}

/* Residuals get as many threads as solves. */
static int threads_of(const trs_exec *exec, int of_plan)
{
    if (exec->threads > 0) return exec->threads;
    return of_plan > 0 ? of_plan : trs_default_threads();
}

int trs_lu_refine(trs_lu *lu, const trs_mat *A, trs_op op, int nrhs, const void *B, int64_t ldb,
                  void *X, int64_t ldx, const trs_exec *exec, int max_steps, int *steps,
                  trs_error *error)
{
    trs_enter();
    int rc = check_lu(lu, A);
    if (rc) return trs_leave(rc);
    trs_refiner s = {.A = A, .op = op, .exec = exec ? exec : &defaults, .lu = lu};
    s.ctx = (trs_context){.mem = lu->mem,
                          .device_memory = lu->opt.device_memory,
                          .threads = threads_of(s.exec, lu->opt.threads)};
    s.low = lu->dtype;
    rc = check(&s, lu->opt.device, nrhs, B, ldb, X, ldx, max_steps);
    if (!rc) rc = refine(&s, nrhs, B, ldb, X, ldx, max_steps, steps, error);
    return trs_leave(rc);
}

/* Has the plan, in s, been made of A, for this op? */
static int check_plan(const trs_refiner *s)
{
    const trs_plan *plan = s->plan;
    const unsigned same = TRS_LOWER | TRS_UPPER | TRS_UNIT | TRS_PERMUTED | TRS_SELFADJOINT;
    if (plan->state != TRS_READY || !(plan->ctx.ops & 1u << s->op))
        return trs_fail(TRS_ESTATE, "refine: the plan cannot be solved with this op");
    if (s->A->n != plan->info.n || (s->A->kind & same) != (plan->given.kind & same) ||
        (s->A->dtype != s->low && s->low != trs_lu_single(s->A->dtype)))
        return trs_fail(TRS_EARG, "refine: T is not the matrix of the plan");
    return TRS_OK;
}

int trs_refine(const trs_plan *plan, const trs_mat *A, trs_op op, int nrhs, const void *B,
               int64_t ldb, void *X, int64_t ldx, const trs_exec *exec, int max_steps, int *steps,
               trs_error *error)
{
    trs_enter();
    if (!plan || !A) return trs_leave(trs_fail(TRS_EARG, "refine: plan or T is NULL"));
    trs_refiner s = {.A = A, .op = op, .exec = exec ? exec : &defaults, .plan = plan};
    s.ctx = (trs_context){.mem = plan->ctx.mem,
                          .device_memory = plan->ctx.device_memory,
                          .threads = threads_of(s.exec, plan->ctx.threads)};
    s.low = plan->given.dtype;
    const int device = plan->on_device ? TRS_CUDA(plan->ctx.device) : TRS_HOST;
    int rc = check(&s, device, nrhs, B, ldb, X, ldx, max_steps);
    if (!rc) rc = check_plan(&s);
    if (!rc) rc = refine(&s, nrhs, B, ldb, X, ldx, max_steps, steps, error);
    return trs_leave(rc);
}
