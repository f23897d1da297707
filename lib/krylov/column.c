/* column.c: the loop around a method, for one right-hand side.
 *
 * A method carries a residual along, which may depart from the true one.  So when it has converged, or a cycle has ended,
 * the residual is computed anew, with more than working precision where it decides.  If it is not small enough, the method begins
 * again from there, as long as that helps. */
#include "config.h"

#include "iteration.h"
#include "base/device.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* On a device a look at the scalars idles it for some 20 us, and iterations that follow the last one are in vain.  So a group of
 * iterations takes about this long, in seconds. */
#define GROUP_TIME 1e-3

static const char *const sentence[TRS_FLAWS] = {
    [TRS_FLAW_NONE] = "",
    [TRS_FLAW_B] = "b is not finite",
    [TRS_FLAW_RESIDUAL] = "the residual is not finite",
    [TRS_FLAW_A_INDEFINITE] = "A is not positive definite",
    [TRS_FLAW_M_INDEFINITE] = "the preconditioner is not positive definite",
    [TRS_FLAW_SINGULAR] = "A, or A M^-1, is singular",
    [TRS_FLAW_RHO] = "rho = r0' r is zero",
    [TRS_FLAW_R0V] = "r0' A p is zero",
    [TRS_FLAW_OMEGA] = "omega is zero",
    [TRS_FLAW_STAGNATION] = "iterations no longer reduce the residual",
};

void *trs_krylov_vector(const trs_iteration *k, int i)
{
    const trs_space *v = &k->of->space;
    return k->of->vector + i * v->ld * (int64_t)trs_size(v->dtype);
}

void trs_krylov_pass(trs_iteration *k, const trs_pass *p)
{
    if (k->rc) return;
    if (k->of->on_device) k->rc = trs_gpu_pass(&k->of->space, p, k->closing);
    else trs_pass_here(&k->of->space, p, k->closing);
}

/* ---- what the host knows ------------------------------------------------------------------------- */

/* Send what the host has set to the device, or get what the device has set, and wait for it. */
static void exchange(trs_iteration *k, bool to_device)
{
    void *here = k->of->known, *there = k->of->space.scalars, *stream = k->goal->stream;
    if (k->rc || !k->of->on_device) return;
    if (to_device)
        k->rc = trs_gpu_copy_lines(there, TRS_KNOWN, here, TRS_KNOWN, TRS_KNOWN, 1, true, stream);
    else k->rc = trs_gpu_copy_lines(here, TRS_KNOWN, there, TRS_KNOWN, TRS_KNOWN, 1, false, stream);
    if (!k->rc && !to_device) k->rc = trs_gpu_wait(stream);
}

static void tell(trs_iteration *k, int64_t iteration, double residual)
{
    const trs_krylov_goal *g = k->goal;
    if (g->history) g->history[k->column * (g->max_iterations + 1) + iteration] = residual;
    if (!g->monitor || !g->monitor(g->user, k->column, iteration, residual) || k->rc) return;
    k->rc =
        trs_fail(TRS_ECANCELED, "canceled by the caller in iteration %lld", (long long)iteration);
}

/* Tell the caller of the iterations that have been done. */
static void catch_up(trs_iteration *k)
{
    const trs_scalars *s = k->of->known;
    while (!k->rc && k->info.iterations < s->iterations) {
        const int64_t next = ++k->info.iterations;
        tell(k, next, s->recent[next % TRS_KRYLOV_GROUP]);
    }
}

/* The norm of the vector whose square the pass puts into RR. */
static double norm_by(trs_iteration *k, const trs_pass *p)
{
    trs_krylov_pass(k, p);
    exchange(k, false);
    return sqrt(k->of->known->s[RR].re);
}

/* r = b - op(A) x; returns its norm. */
static double residual(trs_iteration *k, bool exact)
{
    void *r = trs_krylov_vector(k, 0);
    if (exact && k->A.of->mat) {
        if (!k->rc) k->rc = trs_exact_residual(k, r);
        return norm_by(k, &(trs_pass){.dot = {{r, r, RR}}});
    }
    trs_krylov_multiply(k, k->x, r);
    return norm_by(k, &(trs_pass){.update = {{r, MINUS_ONE, k->b, ONE}}, .dot = {{r, r, RR}}});
}

/* ---- the loop --------------------------------------------------------------------------------------- */

/* Iterate `count` times and wait; on a device, choose the size of the next group by the time that this one took. */
static void iterate(trs_iteration *k, int64_t count)
{
    const double begun = trs_now();
    for (int64_t i = 0; i < count; i++) k->of->kind->iterate(k);
    exchange(k, false);
    const double each = (trs_now() - begun) / (double)count;
    const int most = k->of->on_device ? TRS_KRYLOV_GROUP : 1;
    k->group = 1;
    while (k->group < most && k->group * each < GROUP_TIME) k->group++;
    catch_up(k);
}

/* Iterate until the method stops, or the cycle ends. */
static void cycle(trs_iteration *k)
{
    const trs_krylov_kind *kind = k->of->kind;
    trs_scalars *s = k->of->known;
    s->columns = 0;
    s->stop = TRS_STOP_NONE;
    s->target = k->target;
    exchange(k, true);
    k->closing = false;
    kind->begin(k);
    k->step = 0;
    while (!k->rc && !s->stop && s->iterations < k->most) {
        int64_t count = trs_min(k->most - s->iterations, k->group);
        if (kind->restarts) count = trs_min(count, s->restart - k->step);
        if (!count) break;
        iterate(k, count);
    }
    k->closing = true;
    if (kind->end) kind->end(k);
}

static void stop(trs_iteration *k, trs_stop why, trs_krylov_flaw flaw)
{
    k->info.stop = why;
    k->info.why = sentence[flaw];
}

/* What the true residual says after a cycle.  *claimed is what it was when the method had last converged by its own. */
static void judge(trs_iteration *k, double before, double *claimed)
{
    const trs_scalars *s = k->of->known;
    const double eps = s->eps;
    const trs_stop its = s->stop;
    const trs_krylov_flaw flaw = s->flaw;
    const bool last = its || s->iterations >= k->most;
    double now = residual(k, last);
    if (now <= k->target && !last) now = residual(k, true);
    k->info.residual = now;
    if (now <= k->target) stop(k, TRS_STOP_CONVERGED, TRS_FLAW_NONE);
    else if (its > TRS_STOP_CONVERGED) stop(k, its, flaw);
    else if (!isfinite(now)) stop(k, TRS_STOP_DIVERGED, TRS_FLAW_RESIDUAL);
    else if (s->iterations >= k->most) stop(k, TRS_STOP_STEPS, TRS_FLAW_NONE);
    else if (!(now < (its ? *claimed / 2 : before * (1 - 100 * eps))))
        stop(k, TRS_STOP_STAGNATED, TRS_FLAW_STAGNATION);
    if (its) *claimed = now;
}

static double spacing(const trs_iteration *k)
{
    return trs_is_single(k->of->opt.dtype) ? (double)FLT_EPSILON : DBL_EPSILON;
}

/* The norms of b and of the first residual; is there anything to do? */
static bool start(trs_iteration *k)
{
    const trs_krylov_goal *g = k->goal;
    trs_scalars *s = k->of->known;
    void *r = trs_krylov_vector(k, 0);
    const double rtol = g->rtol > 0 || g->atol > 0 ? g->rtol : 1e-8;
    memset(s, 0, TRS_KNOWN);
    s->restart = k->of->opt.restart;
    s->eps = spacing(k);
    s->s[ONE].re = 1, s->s[MINUS_ONE].re = -1;
    exchange(k, true);
    k->closing = true;
    const double norm =
        norm_by(k, &(trs_pass){.update = {{r, ZERO, k->b, ONE}}, .dot = {{r, r, RR}}});
    k->info.norm_b = k->info.residual = norm;
    k->target = fmax(rtol * norm, g->atol);
    if (!g->guess || norm == 0) trs_krylov_pass(k, &(trs_pass){.update = {{k->x, ZERO}}});
    else if (isfinite(norm)) k->info.residual = residual(k, false);
    if (k->rc) return false;
    tell(k, 0, k->info.residual);
    if (k->info.residual <= k->target && g->guess && norm > 0) k->info.residual = residual(k, true);
    if (!isfinite(norm)) stop(k, TRS_STOP_DIVERGED, TRS_FLAW_B);
    else if (!isfinite(k->info.residual)) stop(k, TRS_STOP_DIVERGED, TRS_FLAW_RESIDUAL);
    else if (k->info.residual <= k->target) stop(k, TRS_STOP_CONVERGED, TRS_FLAW_NONE);
    return !k->rc && !k->info.stop;
}

void trs_krylov_column(trs_iteration *k)
{
    const double begun = trs_now();
    double claimed = INFINITY;
    k->group = 1;
    k->info = (trs_krylov_info){.why = ""};
    k->A.calls = k->M.calls = 0;
    k->A.seconds = k->M.seconds = 0;
    bool more = start(k);
    while (more) {
        const double before = k->info.residual;
        cycle(k);
        if (!k->rc) judge(k, before, &claimed);
        more = !k->rc && !k->info.stop;
    }
    k->info.products = k->A.calls;
    k->info.applications = k->M.calls;
    k->info.seconds_product = k->A.seconds;
    k->info.seconds_preconditioner = k->M.seconds;
    k->info.seconds = trs_now() - begun;
}
