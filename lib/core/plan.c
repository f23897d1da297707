/* plan.c: analyse, update and destroy.
 *
 *     analyse  makes operators and levels (operators.c), chooses a solver, orders the rows as it wants them, builds
 *              instances of it and a work space, and gives them the first values
 *     update   brings new values to where the solvers read them, treats pivots, and tells the solvers.  If other rows
 *              have to be left out than before, it analyses again, with the same solver. */
#include "config.h"

#include "base/device.h"
#include "general.h"
#include "matrix/permuted.h"
#include "recall.h"
#include "refresh.h"
#include "select/wisdom.h"
#include "work.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- analyse: who solves ---------------------------------------------------------------------- */

static void describe_named(trs_plan *p, const trs_shape *shape)
{
    const char *why = p->info.analyses ? "kept, as other rows are left out" : "named by the caller";
    trs_describe_shape(p->reason, sizeof p->reason, shape);
    trs_plan_say(p, ": %s", why);
}

/* Add what the solver itself reports. */
static void describe(trs_plan *p, const trs_prospect *s)
{
    const size_t used = strlen(p->reason);
    if (p->solver->describe) p->solver->describe(s, p->reason + used, sizeof p->reason - used);
}

enum { MEASURED = 4 }; /* candidates at most, since each has a plan of its own */

/* By prediction, and by measuring where that was asked for. */
static int choose_anew(trs_plan *p, const trs_prospect *s, const char *wisdom_ignored)
{
    trs_candidate *c = p->candidate;
    p->candidates = trs_choose(s, p->on_device, c, p->reason, sizeof p->reason);
    TRS_ASSERT(p->candidates >= 0 && p->candidates <= TRS_CANDIDATES);
    if (!p->candidates) return trs_fail(TRS_ESUPPORT, "no solver of this build can do this here");
    trs_plan_say(p, "%s", wisdom_ignored);
    if (!p->measure) return TRS_OK;
    const int count = p->candidates < MEASURED ? p->candidates : MEASURED;
    p->candidates = 1;
    return trs_measure(p, s->op, c, count);
}

static int choose_among_all(trs_plan *p, const trs_prospect *s)
{
    trs_candidate *c = p->candidate;
    char ignored[100];
    p->candidates = trs_recall(p, s, c, ignored, sizeof ignored);
    int rc = TRS_OK;
    if (!p->candidates) rc = choose_anew(p, s, ignored);
    if (rc) return rc;
    p->solver = c[0].solver;
    p->info.predicted = c[0].seconds;
    return TRS_OK;
}

static int choose(trs_plan *p)
{
    trs_prospect s;
    const char *why;
    trs_cost cost;
    const bool named = p->solver;
    trs_prospect_of(&p->side[0].op, named ? TRS_NEED : TRS_LOOK_IF_LARGE, &s);
    p->info.levels = s.shape.levels;
    p->info.widest = s.shape.widest;
    p->info.longest = s.shape.longest;
    int rc = TRS_OK;
    if (named) {
        const double seconds =
            trs_predict(&s, &p->ctx.machine, p->solver, NULL, p->on_device, &cost, &why);
        p->info.predicted = isnan(seconds) ? 0 : trs_seconds_each(&cost, p->ctx.solves_per_update);
        describe_named(p, &s.shape);
    } else rc = choose_among_all(p, &s);
    if (rc) return rc;
    describe(p, &s);
    return trs_check_fit(p->solver, &s);
}

/* ---- values ------------------------------------------------------------------------------------ */

static int update_instances(trs_plan *p, void *stream)
{
    int rc = TRS_OK, waited = TRS_OK;
    if (!p->general && p->pivot != TRS_PIVOT_SKIP) rc = trs_pivots_treat(p);
    if (!p->general && p->bad_pivots && p->pivot == TRS_PIVOT_FAIL) return rc;
    for (int k = 0; k < p->sides && !rc; k++)
        rc = trs_instance_update(&p->side[k].instance, stream);
    if (p->info.on_gpu) waited = trs_gpu_wait(stream);
    if (rc == TRS_EDEVICE || waited) return trs_fail(TRS_EDEVICE, "update on the device");
    return rc;
}

/* rc says whether the solvers have the values.  If the pivots are good, too, the plan can be solved with. */
static int values_known(trs_plan *p, int rc)
{
    if (!p->general && (!rc || rc == TRS_EPIVOT) && trs_pivots_report(p)) rc = TRS_EPIVOT;
    p->pivots_known = !rc || rc == TRS_EPIVOT;
    p->state = rc ? TRS_ANALYSED : TRS_READY;
    return rc;
}

/* ---- analyse: all of it ------------------------------------------------------------------------------ */

static bool may_use_gpu(const trs_plan *p)
{
    char why[200];
    if (p->solver) return p->solver->place == TRS_ON_CUDA;
    return !trs_gpu_probe(p->ctx.device, why, sizeof why);
}

/* Copy a permutation to the device, unless perm is NULL or it is there. */
static int put_permutation(trs_context *ctx, int64_t n, const int32_t *perm, int32_t **there)
{
    if (!perm || *there) return TRS_OK;
    *there = trs_gpu_new(ctx, n, sizeof *perm, "a permutation");
    if (!*there) return TRS_EMEM;
    return trs_gpu_put(ctx, *there, perm, (size_t)n * sizeof *perm);
}

static int put_permutations(trs_plan *p)
{
    trs_context *ctx = &p->ctx;
    int rc = put_permutation(ctx, p->info.n, p->P, &p->P_dev);
    if (!rc) rc = put_permutation(ctx, p->info.n, p->Q, &p->Q_dev);
    for (int k = 0; k < p->sides && !rc; k++) {
        trs_operator *op = &p->side[k].op;
        rc = put_permutation(ctx, p->info.n, op->perm, &op->perm_dev);
    }
    return rc;
}

static void release_instances(trs_plan *p)
{
    for (int k = 0; k < p->sides; k++) trs_instance_release(&p->side[k].instance);
}

/* Make instances of p->solver with values.  After TRS_EPIVOT they are there, and good with other values. */
static int build(trs_plan *p)
{
    int rc = TRS_OK;
    release_instances(p);
    p->info.on_gpu = p->solver->place == TRS_ON_CUDA;
    for (int k = 0; k < p->sides && !rc; k++)
        rc = trs_instance_build(&p->side[k].instance, &p->side[k].op, p->solver);
    if (!rc && p->info.on_gpu) rc = put_permutations(p);
    trs_gpu_drop_scratch(&p->ctx);
    if (!rc) rc = trs_pivots_put(p);
    if (!rc) rc = update_instances(p, NULL);
    return rc;
}

/* Build another solver in place of this one, which is predicted to take so many seconds; INFINITY: could not be made. */
static int build_other(trs_plan *p, const trs_solver *other, double seconds)
{
    const char *name = p->solver->name;
    if (isinf(seconds)) trs_plan_say(p, "; %s could not be made", name);
    else trs_plan_say(p, "; %s %.3g ms now", name, 1e3 * seconds);
    p->solver = other;
    const int rc = trs_plan_check_limit(p, p->solver);
    if (rc) return rc;
    return build(p);
}

/* Pivots that were replaced once are gone, so that a second build would find and count none. */
static bool may_build_again(const trs_plan *p)
{
    return !p->bad_pivots || p->pivot == TRS_PIVOT_SKIP;
}

/* Build the first candidate that there is memory for.  A solver that inverts without looking at the growth is not taken
 * in place of another, because the values may have been what made that one fail. */
static int build_first(trs_plan *p)
{
    int rc = trs_plan_check_limit(p, p->solver);
    if (!rc) rc = build(p);
    while (rc == TRS_EMEM && p->candidates > 1 && may_build_again(p)) {
        const trs_candidate next = p->candidate[1];
        memmove(p->candidate, p->candidate + 1, (size_t)--p->candidates * sizeof next);
        if (trs_inverts_blindly(next.solver)) continue;
        p->info.predicted = next.seconds;
        trs_forget();
        rc = build_other(p, next.solver, INFINITY);
    }
    return rc;
}

/* The predicted seconds of what is built. */
static double cost_now(trs_plan *p)
{
    TRS_ASSERT(trs_plan_is_built(p));
    return trs_plan_cost(p, &p->ctx.machine, TRS_LOOK_IF_LARGE, p->ctx.solves_per_update);
}

/* Choose again.  What was built, and the values, tell what was not known when p->solver was chosen: how many levels
 * could be rewritten, how many diagonal blocks have to be substituted.  Where the next candidate is predicted to be
 * faster than this solver is predicted now, that one is built instead; if it turns out to be slower, this one is built
 * again. */
static int choose_again(trs_plan *p)
{
    if (!may_build_again(p)) return TRS_OK;
    for (int k = 1; k < p->candidates && p->solver->reconsiders; k++) {
        const trs_candidate *next = &p->candidate[k];
        const trs_solver *const last = p->solver;
        const double now = cost_now(p);
        p->info.predicted = now;
        if (now <= next->seconds) break;
        if (trs_inverts_blindly(next->solver)) continue;
        const int failed = build_other(p, next->solver, now);
        const double then = failed ? INFINITY : cost_now(p);
        if (then < now) {
            p->info.predicted = then;
            continue;
        }
        trs_forget();
        return build_other(p, last, then);
    }
    return TRS_OK;
}

/* Where the plan has cpu-serial by prediction, not by measuring, and others are to be tried against it. */
static void try_others(trs_plan *p)
{
    bool any = false;
    for (int k = 1; k < p->candidates; k++) any |= p->candidate[k].to_try;
    if (!any || p->measure || p->solver != p->candidate[0].solver) return;
    trs_try(p);
    if (p->solver == p->candidate[0].solver || !p->solver->describe) return;
    trs_prospect s;
    trs_prospect_of(&p->side[0].op, TRS_LOOK_IF_LARGE, &s);
    describe(p, &s);
}

/* Build the solver, or another one.  Returns TRS_EPIVOT if it is built, but has no values that it can solve with. */
static int build_best(trs_plan *p)
{
    int rc = build_first(p);
    if (!rc) rc = choose_again(p);
    if (!rc) try_others(p);
    return rc;
}

int trs_plan_finish(trs_plan *p, double start)
{
    TRS_ASSERT(p->solver && p->side[0].op.ctx && !p->work);
    p->state = TRS_FAILED; /* until all of it has worked */
    p->info.analyses++;
    int rc = trs_plan_keep_topo(p), values = TRS_OK;
    if (!rc) rc = values = build_best(p);
    if (values == TRS_EPIVOT) rc = TRS_OK;
    for (int k = 0; k < p->sides; k++) trs_operator_trim(&p->side[k].op);
    if (!rc && p->ctx.refreshes) rc = trs_refresh_prepare(p);
    if (!rc) rc = trs_work_make(&p->work, p, p->ctx.nrhs, &p->ctx);
    if (!rc) rc = values_known(p, values);
    p->info.seconds_analyse = trs_now() - start;
    p->info.seconds_vendor = p->ctx.seconds_vendor;
    return rc;
}

/* Order the rows and finish.  The operators are there, and the solver is known. */
static int order_and_finish(trs_plan *p, double start)
{
    const trs_order order = p->order ? p->order : p->solver->order;
    const bool by_level = order == TRS_ORDER_LEVEL && !p->general;
    int rc = TRS_OK;
    for (int k = 0; k < p->sides && by_level && !rc; k++)
        rc = trs_plan_order_by_level(&p->side[k].op);
    if (rc) return rc;
    return trs_plan_finish(p, start);
}

static int analyse(trs_plan *p)
{
    if (!p) return trs_fail(TRS_EARG, "analyse: plan is NULL");
    if (p->state != TRS_CREATED) return trs_fail(TRS_ESTATE, "analyse: not a fresh plan");
    const double start = trs_now();
    p->state = TRS_FAILED;
    int rc = trs_wisdom_from_environment();
    if (!rc) rc = trs_machine_find(&p->ctx, may_use_gpu(p));
    if (!rc && p->general) rc = trs_general_choose(p);
    else if (!rc) rc = trs_plan_make_operators(p);
    if (!rc && !p->general) rc = choose(p);
    if (!rc) rc = order_and_finish(p, start);
    return rc;
}

int trs_plan_analyse(trs_plan *p)
{
    trs_enter();
    return trs_leave(analyse(p));
}

/* ---- new values -------------------------------------------------------------------------------------- */

/* Free all that an analysis has made. */
static void forget_analysis(trs_plan *p)
{
    trs_work_destroy(p->work);
    p->work = NULL;
    if (p->topo != p->side[0].op.lv.topo) trs_free(&p->ctx.mem, (void *)p->topo);
    p->topo = NULL;
    release_instances(p);
    for (int k = 0; k < p->sides; k++) trs_operator_free(&p->side[k].op);
}

/* Other rows have to be left out: analyse what is left now.  The solver stays the same, since work spaces and captured
 * solves belong to it. */
static int analyse_again(trs_plan *p, const void *val)
{
    const double start = trs_now();
    forget_analysis(p);
    p->candidates = 0;
    p->info.seconds_levels = p->ctx.seconds_vendor = 0;
    int rc = trs_pivots_leave_out(p, val);
    p->info.nnz = p->imported.nnz;
    if (!rc) rc = trs_plan_make_operators(p);
    if (!rc) rc = choose(p);
    if (!rc) rc = order_and_finish(p, start);
    if (rc) forget_analysis(p);
    p->state = TRS_ANALYSED;
    return rc;
}

/* The triangle with all entries, those that are left out too, and their places in val. */
static const trs_tri *whole_triangle(trs_plan *p)
{
    return p->skip ? &p->whole : &p->side[0].op.tri;
}

/* Read new values of the matrix.  there: they are on the device that solves, else on the host. */
static int read_values(trs_plan *p, const trs_mat *mat, bool there, void *stream)
{
    int rc = TRS_OK;
    if (p->P) rc = trs_permuted_zeros(&p->ctx, mat, whole_triangle(p));
    if (rc) return rc;
    if (p->skip && (trs_pivots_other(p, mat->val) || !trs_plan_is_built(p)))
        return analyse_again(p, mat->val);
    if (p->general) rc = trs_general_take(p, mat, there, stream);
    for (int k = 0; k < p->sides && !rc && !p->general; k++)
        rc = trs_operator_take_values(&p->side[k].op, mat->val, there, stream);
    if (!rc) rc = update_instances(p, stream);
    return rc;
}

/* May the values stay on the device?  Not where the host has to look which zeros, or which rows, are left out. */
static bool may_stay(const trs_plan *p, const trs_mat *mat)
{
    return p->info.on_gpu && !p->P && !p->skip && mat->device == TRS_CUDA(p->ctx.device);
}

static int update(trs_plan *p, const trs_mat *mat, const trs_exec *exec)
{
    if (!p || !mat) return trs_fail(TRS_EARG, "update: plan or mat is NULL");
    trs_mat host;
    int rc = trs_plan_check_analysed(p, "update");
    if (rc) return rc;
    p->state = TRS_ANALYSED;
    p->pivots_known = false;
    rc = TRS_CHECK_RESERVED(exec, "trs_exec");
    if (!rc) rc = trs_check_values(mat);
    if (rc) return rc;
    if (!trs_same_arrays(&p->given, mat))
        return trs_fail(TRS_EARG, "update: n, nnz, ld, block, dtype or format differ from create");
    void *stream = exec ? exec->stream : NULL;
    if (may_stay(p, mat)) return values_known(p, read_values(p, mat, true, stream));
    if (mat->device > 0 && trs_gpu_wait(stream)) /* the stream may still be writing them */
        return trs_fail(TRS_EDEVICE, "update: the stream has failed");
    rc = trs_mat_fetch(&p->ctx, mat, false, &host);
    if (!rc) rc = read_values(p, &host, false, NULL);
    trs_mat_fetched(&p->ctx, mat, &host);
    return values_known(p, rc);
}

int trs_plan_update(trs_plan *p, const trs_mat *mat, const trs_exec *exec)
{
    trs_enter();
    return trs_leave(update(p, mat, exec));
}

/* ---- destroy ------------------------------------------------------------------------------------- */

void trs_plan_destroy(trs_plan *p)
{
    if (!p) return;
    trs_enter();
    trs_context *ctx = &p->ctx;
    forget_analysis(p);
    trs_tri_free(ctx, &p->imported);
    trs_tri_free(ctx, &p->whole);
    trs_free(&ctx->mem, p->P);
    trs_free(&ctx->mem, p->Q);
    trs_gpu_free(ctx, p->P_dev);
    trs_gpu_free(ctx, p->Q_dev);
    trs_free(&ctx->mem, p->skip);
    trs_gpu_free(ctx, p->skip_dev);
    trs_gpu_branch_free(ctx, p->branch);
    trs_gpu_drop_ring(ctx);
    trs_gpu_drop_scratch(ctx);
    pthread_mutex_destroy(&p->topo_lock);
    trs_memory mem = ctx->mem;
    trs_free(&mem, p);
    trs_leave_silently();
}
