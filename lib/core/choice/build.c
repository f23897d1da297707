/* build.c: chooses a solver and builds it for the sides of a plan that are being built: for all of them in analyse, for one of
 * them when a plan grows (grow.c).
 *
 *     choose  asks wisdom, else predicts, else measures where that was asked for: a list of candidates, the best one first
 *     build   builds the first candidate that there is memory for; what that has found may favour the next one; on a CPU,
 *             cpu-serial and solvers with the same bits are tried against one another */
#include "config.h"

#include "choice.h"
#include "base/device.h"

#include <math.h>
#include <string.h>

/* ---- who solves ----------------------------------------------------------------------------------- */

static void describe_named(trs_plan *p, const trs_shape *shape)
{
    const char *why = "named by the caller";
    if (p->info.analyses) why = "kept, as other rows are left out";
    if (p->ctx.sweeps) why = "sweeps, as the caller asked";
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

static bool may_use_gpu(const trs_plan *p)
{
    char why[200];
    if (p->solver) return p->solver->place == TRS_ON_CUDA;
    return !trs_gpu_probe(p->ctx.device, why, sizeof why);
}

/* Of the sides that are being built. */
static int find_levels(trs_plan *p)
{
    int rc = TRS_OK;
    for (int k = p->begin; k < p->end && !rc; k++) {
        if (!p->side[k].op.lv.ptr) rc = trs_step("levels", -1);
        if (!rc) rc = trs_plan_find_levels(p, &p->side[k]);
    }
    return rc;
}

/* With a dependency latency for each level, more devices cannot halve the time of one. */
static const double LATENCIES = 0.5;

/* Does the best solver of one device have the memory that it needs there? */
static bool fits_one(trs_plan *p, const trs_prospect *s)
{
    const trs_solver *one = p->candidate[0].solver;
    int64_t there = 0;
    return one->place == TRS_ON_CPU || trs_gpu_room(&p->ctx, &there) || one->bytes(s) <= there;
}

/* c: what several devices are predicted to take; they have to. */
static void share(trs_plan *p, const trs_solver *several, const trs_cost *c, const char *because)
{
    p->solver = several;
    p->candidates = 0;
    p->info.predicted = trs_seconds_each(c, p->ctx.solves_per_update);
    trs_plan_say(p, "; %son %d devices by %s: %.3g ms (bytes %.2g, latency %.2g)", because,
                 p->ctx.device_count, several->name, 1e3 * trs_seconds(c), 1e3 * c->bytes,
                 1e3 * c->latency);
}

/* What the best solver of several devices is predicted to take, in *c; NULL: none is for this triangle, and why the first one
 * is not. */
static const trs_solver *best_shared(trs_plan *p, const trs_prospect *s, trs_cost *c,
                                     const char **why)
{
    const trs_solver *best = NULL, *other;
    double least = INFINITY;
    for (int k = 0; (other = trs_solver_of_option(true, TRS_ON_CUDA, k)) != NULL; k++) {
        trs_cost cost;
        const char *refused;
        const double t =
            trs_predict(s, &p->ctx.machine, other, NULL, p->on_device, &cost, &refused);
        if (k == 0) *why = refused;
        if (refused || (best && !(t < least))) continue;
        best = other;
        least = t;
        *c = cost;
        *why = NULL;
    }
    return best;
}

/* Keep a solver that cuts the triangle over devices, or take the best one of the first device. */
static int weigh(trs_plan *p, const trs_prospect *s)
{
    const char *why = NULL;
    trs_cost c = {0};
    const trs_solver *const several = best_shared(p, s, &c, &why);
    const int rc = choose_among_all(p, s);
    const bool none = rc == TRS_ESUPPORT && !p->candidates;
    if (rc && (!none || !several)) return rc;
    const double one = p->info.predicted;
    if (none) {
        trs_forget();
        trs_describe_shape(p->reason, sizeof p->reason, &s->shape);
    }
    if (!several) trs_plan_say(p, "; on one device: %s", why);
    else if (none || !fits_one(p, s)) share(p, several, &c, "too large for one device, ");
    else if (c.latency > LATENCIES * one)
        trs_plan_say(p, "; on one device: the levels alone take %.2g ms on several",
                     1e3 * c.latency);
    else if (!(trs_seconds_each(&c, p->ctx.solves_per_update) < one))
        trs_plan_say(p, "; on one device: %d take %.3g ms", p->ctx.device_count,
                     1e3 * trs_seconds(&c));
    else share(p, several, &c, "");
    return TRS_OK;
}

int trs_plan_choose(trs_plan *p)
{
    trs_prospect s;
    const char *why;
    trs_cost cost;
    const bool named = p->solver && !p->weighs;
    int rc = find_levels(p);
    if (!rc) rc = trs_step("choice of a solver", -1);
    if (!rc) rc = trs_machine_find(&p->ctx, may_use_gpu(p));
    if (rc) return rc;
    trs_prospect_of(&p->side[p->begin].op, named ? TRS_NEED : TRS_LOOK_IF_LARGE, &s);
    if (named) {
        const double seconds =
            trs_predict(&s, &p->ctx.machine, p->solver, NULL, p->on_device, &cost, &why);
        p->info.predicted = isnan(seconds) ? 0 : trs_seconds_each(&cost, p->ctx.solves_per_update);
        describe_named(p, &s.shape);
    } else if (p->weighs) rc = weigh(p, &s);
    else rc = choose_among_all(p, &s);
    if (rc) return rc;
    describe(p, &s);
    return trs_check_fit(p->solver, &s);
}

/* ---- values ------------------------------------------------------------------------------------ */

static int prepare_values(trs_plan *p, bool fresh)
{
    if (p->general) return trs_step("factorization", -1);
    if (fresh && p->pivot != TRS_PIVOT_SKIP) return trs_pivots_treat(p);
    return TRS_OK;
}

int trs_plan_give_values(trs_plan *p, void *stream)
{
    const bool fresh = !p->pivots_known; /* else the plan grows, and they were there before */
    int rc = prepare_values(p, fresh), waited = TRS_OK;
    bool on_gpu = false;
    if (!p->general && p->bad_pivots && p->pivot == TRS_PIVOT_FAIL) return rc;
    for (int k = p->begin; k < p->end && !rc; k++) {
        trs_side *side = &p->side[k];
        rc = trs_instance_update(&side->instance, stream);
        for (trs_retired *r = side->retired; r && fresh && !rc; r = r->next)
            rc = trs_instance_update(&r->instance, stream);
        on_gpu |= trs_is_on_gpu(&side->instance);
    }
    if (on_gpu) waited = trs_gpu_wait(stream);
    if (rc == TRS_EDEVICE || waited) return trs_fail(TRS_EDEVICE, "update on the device");
    return rc;
}

/* ---- instances -------------------------------------------------------------------------------------- */

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
    for (int k = p->begin; k < p->end; k++) trs_instance_release(&p->side[k].instance);
}

/* Make instances of p->solver with values.  After TRS_EPIVOT they are there, and good with other values. */
static int build(trs_plan *p)
{
    int rc = trs_step("solver", -1);
    release_instances(p);
    for (int k = p->begin; k < p->end && !rc; k++)
        rc = trs_instance_build(&p->side[k].instance, &p->side[k].op, p->solver);
    p->info.on_gpu = p->solver->place == TRS_ON_CUDA;
    if (!rc && p->info.on_gpu) rc = put_permutations(p);
    trs_gpu_drop_scratch(&p->ctx);
    if (!rc) rc = trs_pivots_put(p);
    if (!rc) rc = trs_plan_give_values(p, NULL);
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
    trs_prospect_of(&p->side[p->begin].op, TRS_LOOK_IF_LARGE, &s);
    describe(p, &s);
}

int trs_plan_build(trs_plan *p)
{
    int rc = build_first(p);
    if (!rc) rc = choose_again(p);
    if (!rc) try_others(p);
    return rc;
}
