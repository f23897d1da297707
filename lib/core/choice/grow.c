/* grow.c: plans that begin with the solver that is prepared fastest, and build a better one when it pays.
 *
 * A caller who solves once should not pay for an analysis that helps in a thousand solves, and the library does not know how
 * many there will be.  This is the ski rental problem: rent until the rent that was paid equals the price, then buy.  Whatever
 * the number of solves turns out to be, this costs at most twice the better of the two in hindsight, and no rule that does not
 * know the future guarantees less.
 * Source: Karlin, Manasse, Rudolph, Sleator, Competitive snoopy caching, Algorithmica 3 (1988).
 *
 * Renting is a solve with a solver that needs no analysis but the levels (trs_solver.quick), or not even these (at_once).
 * Buying is the choice among all solvers, with the analyses that their estimates take, and the build of the best.  Both costs
 * are predicted, so two runs of a program grow at the same solve.  trs_options.solves lets the caller decide instead.
 *
 * On a GPU the predictions take the number of levels, and counting them takes about as long as a solve.  So a plan that began
 * without them counts them before its second solve.  It may then grow twice: first to the quick solver, which needs the levels
 * and solves faster, and then to the best.
 *
 * Each side grows by itself, in a solve with the plan's own work space.  During such a solve no other thread may use the plan,
 * so nothing needs a lock.  A work space of a caller, or a captured graph, keeps the instance that it was made with.  Such an
 * instance lives as long as the plan, and every update gives it the new values too. */
#include "config.h"

#include "choice.h"
#include "base/device.h"
#include "base/noun.h"
#include "core/refresh.h"
#include "core/work.h"
#include "select/wisdom.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- when ----------------------------------------------------------------------------------------- */

/* On a CPU a plan grows in this solve.  To choose and to build costs 4 to 195 solves by cpu-serial, 54 in the mean.  But on one
 * core the better solver mostly saves less than a sixth of a solve, so that it pays late
 * (doc/results/choice/2026-11-26-growth-cpu.csv). */
static const double CPU_SOLVES = 200;
/* On a GPU, in seconds: launches, copies and waits of the analyses, and what they take for each entry. */
static const double GPU_SECONDS = 2e-3, GPU_SECONDS_ENTRY = 1.5e-9;

/* The same for quick solvers of a GPU, besides what they say. */
static const double QUICK_SECONDS_ENTRY = 0.3e-9;

/* Solves on a GPU up to which it does not pay to count the levels. */
enum { GPU_AT_ONCE = 1 };

/* With few levels hardly any solver on a GPU is faster: rows that wait for one another take less than this share of the time
 * of the launches. */
static const double WAITING = 0.3;

/* May the plan begin with another solver than that with which it ends? */
static bool may_begin_quickly(const trs_plan *p)
{
    const bool decided = p->solver || p->measure || p->general || p->solves == TRS_SOLVES_MANY;
    const bool special = p->pivot == TRS_PIVOT_SKIP || p->order == TRS_ORDER_LEVEL;
    const bool bits_change = p->ctx.bitwise && p->solves == 0;
    return !decided && !special && !bits_change && trs_wisdom_is_empty();
}

/* The solver that can begin before the levels are known; NULL: there is none. */
static const trs_solver *find_at_once(const trs_plan *p)
{
    const trs_place place = p->on_device ? TRS_ON_CUDA : TRS_ON_CPU;
    const int64_t most = p->on_device ? GPU_AT_ONCE : (int64_t)CPU_SOLVES - 1;
    trs_prospect s;
    if (p->info.n == 0 || p->solves > most) return NULL;
    trs_prospect_of((trs_operator *)&p->side[0].op, TRS_NEED, &s);
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *solver = trs_solver_at(k);
        if (solver->place != place || p->info.n > solver->at_once / p->ctx.nrhs) continue;
        if (trs_may_choose(&s, solver, p->on_device)) return solver;
    }
    return NULL;
}

/* The fastest of the quick solvers where B and X live; false: none can solve this. */
static bool find_quick(const trs_plan *p, const trs_prospect *s, trs_candidate *best)
{
    const trs_place place = p->on_device ? TRS_ON_CUDA : TRS_ON_CPU;
    bool found = false;
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *solver = trs_solver_at(k);
        trs_candidate c;
        if (solver->quick == 0 || solver->place != place) continue;
        if (!trs_candidate_of(s, solver, p->on_device, &c)) continue;
        if (!found || c.seconds < best->seconds) *best = c;
        found = true;
    }
    return found;
}

/* The number of solves that cost as much as a better solver; INT64_MAX: there is hardly a better one. */
static int64_t solves_to_pay(const trs_shape *s, const trs_candidate *c)
{
    if (c->solver->place == TRS_ON_CPU) return s->nnz < TRS_TINY ? INT64_MAX : (int64_t)CPU_SOLVES;
    if (c->cost.latency < WAITING * c->cost.sync) return INT64_MAX;
    const double seconds = GPU_SECONDS + GPU_SECONDS_ENTRY * (double)s->nnz;
    return (int64_t)ceil(fmin(seconds / fmax(c->seconds, 1e-7), 1e9));
}

static void take(trs_plan *p, const trs_candidate *c)
{
    p->candidate[0] = *c;
    p->candidates = 1;
    p->solver = c->solver;
    p->info.predicted = c->seconds;
}

static void take_quick(trs_plan *p, const trs_shape *shape, const trs_candidate *c)
{
    snprintf(p->reason, sizeof p->reason,
             "%" PRId64 " %s, longest row %" PRId64 ": prepared fastest", shape->levels,
             trs_noun(shape->levels, "level", "levels"), shape->longest);
    take(p, c);
}

/* The side begins with such a solver, and grows when that has paid. */
static void begin_with(trs_plan *p, trs_side *side, int64_t pays)
{
    side->quick = true;
    if (p->solves == 0 && pays < INT64_MAX) side->grows_at = pays;
}

static void begin_at_once(trs_plan *p, const trs_solver *solver)
{
    int64_t pays = p->info.nnz < TRS_TINY ? INT64_MAX : (int64_t)CPU_SOLVES;
    if (solver->place == TRS_ON_CUDA) pays = GPU_AT_ONCE + 1;
    for (int k = 0; k < p->sides; k++) begin_with(p, &p->side[k], pays);
    trs_plan_say(p, TRS_NO_ANALYSIS);
    take(p, &(trs_candidate){.solver = solver});
}

static int begin_by_levels(trs_plan *p)
{
    trs_candidate c[2];
    trs_prospect s[2];
    int64_t pays[2] = {0, 0};
    int rc = trs_step("levels", -1);
    if (!rc) rc = trs_machine_find(&p->ctx, p->on_device);
    for (int k = 0; k < p->sides && !rc; k++) rc = trs_plan_count_levels(p, &p->side[k]);
    if (rc) return rc;
    for (int k = 0; k < p->sides; k++) {
        trs_prospect_of(&p->side[k].op, TRS_NEED, &s[k]);
        if (!find_quick(p, &s[k], &c[k])) return TRS_OK;
        pays[k] = solves_to_pay(&s[k].shape, &c[k]);
    }
    if (p->solves >= pays[0]) return TRS_OK;
    for (int k = 0; k < p->sides; k++) begin_with(p, &p->side[k], pays[k]);
    take_quick(p, &s[0].shape, &c[0]);
    return TRS_OK;
}

int trs_plan_choose_quickly(trs_plan *p)
{
    if (!may_begin_quickly(p)) return TRS_OK;
    const trs_solver *at_once = find_at_once(p);
    if (!at_once) return begin_by_levels(p);
    begin_at_once(p, at_once);
    /* cpu-serial looks at the caches; a GPU needs no costs yet, but a file that cannot be read is an error */
    if (p->on_device && !getenv("TRISOLVE_MACHINE")) return TRS_OK;
    return trs_machine_find(&p->ctx, p->on_device);
}

/* ---- growing ---------------------------------------------------------------------------------------- */

/* What the sides that grow had before. */
typedef struct before {
    const trs_solver *solver;
    trs_instance instance[2];
    trs_retired *room[2]; /* memory for an instance that may be in use elsewhere, else NULL */
    unsigned held[2], kept[2];
    double predicted;
    char reason[sizeof((trs_plan *)0)->reason];
} before;

void trs_plan_stay(trs_plan *p, int begin, int end)
{
    for (int k = begin; k < end; k++) {
        p->side[k].quick = false;
        p->side[k].next = NULL;
        p->side[k].grows_at = 0;
    }
}

static int make_room(const trs_plan *p, before *b)
{
    for (int k = p->begin; k < p->end; k++) {
        if (!atomic_load(&p->side[k].shared)) continue;
        b->room[k] = trs_alloc_zero(&p->ctx.mem, 1, sizeof *b->room[k]);
        if (!b->room[k]) return trs_fail(TRS_EMEM, "out of memory");
    }
    return TRS_OK;
}

static void put_aside(trs_plan *p, before *b)
{
    *b = (before){.solver = p->solver, .predicted = p->info.predicted};
    memcpy(b->reason, p->reason, sizeof b->reason);
    for (int k = p->begin; k < p->end; k++) {
        trs_side *side = &p->side[k];
        b->instance[k] = side->instance;
        b->held[k] = side->op.held;
        b->kept[k] = side->op.kept;
        side->op.kept |= side->op.held;
        side->instance = (trs_instance){0};
        side->version++;
    }
    p->solver = NULL;
    p->candidates = 0;
}

/* There is no better solver, and what was said about it stays; or it could not be built, for the reason of the message.  The
 * plan solves as before. */
static void put_back(trs_plan *p, const before *b, bool failed)
{
    for (int k = p->begin; k < p->end; k++) {
        trs_side *side = &p->side[k];
        trs_instance_release(&side->instance);
        side->instance = b->instance[k];
        side->op.held = b->held[k];
        side->op.kept = b->kept[k];
        side->version--;
        trs_free(&p->ctx.mem, b->room[k]);
    }
    p->solver = b->solver;
    if (!failed) return;
    p->info.predicted = b->predicted;
    memcpy(p->reason, b->reason, sizeof b->reason);
    trs_plan_say(p, "; no better solver: %s", trs_message());
}

/* Release the instances that nothing else uses; the others retire. */
static void retire(trs_plan *p, const before *b)
{
    for (int k = p->begin; k < p->end; k++) {
        trs_side *side = &p->side[k];
        trs_instance old = b->instance[k];
        if (b->room[k]) {
            *b->room[k] = (trs_retired){old, side->version - 1, side->retired};
            side->retired = b->room[k];
        } else {
            side->op.kept = b->kept[k];
            trs_instance_release(&old);
        }
        atomic_store(&side->shared, false);
    }
}

/* Is the solver that was chosen the one that is there, and is it sure to stay? */
static bool is_the_same(const trs_plan *p, const before *b)
{
    return p->solver == b->solver && p->solver->place == TRS_ON_CUDA;
}

/* Make the work space of solves with what was built, in place of the one that served them before. */
static int renew_work(trs_plan *p)
{
    trs_work *work;
    const int rc = trs_work_make(&work, p, p->ctx.nrhs, &p->ctx);
    if (rc) return rc;
    work->older = p->work;
    if (!p->work->captured) {
        work->older = p->work->older;
        p->work->older = NULL;
        trs_work_destroy(p->work);
    }
    p->work = work;
    return TRS_OK;
}

/* Build what was chosen, with its values and the work space of the plan. */
static int build(trs_plan *p)
{
    int rc = trs_plan_build(p);
    if (!rc) rc = trs_canceled(); /* in a trial that growth could do without */
    if (!rc && p->ctx.refreshes) rc = trs_refresh_prepare(p);
    if (!rc) rc = renew_work(p);
    return rc;
}

static int choose(trs_plan *p, const trs_solver *next)
{
    trs_prospect s;
    trs_candidate c;
    if (!next) return trs_plan_choose(p);
    trs_prospect_of(&p->side[p->begin].op, TRS_NEED, &s);
    if (!trs_candidate_of(&s, next, p->on_device, &c))
        return trs_fail(TRS_ESUPPORT, "%s cannot be chosen any more", next->name);
    take_quick(p, &s.shape, &c);
    return TRS_OK;
}

/* Sides begin .. end - 1 grow to the next solver; NULL: to the best.  If that fails they stay as they are, and do not try
 * again unless the caller has canceled it. */
static int grow(trs_plan *p, int begin, int end, const trs_solver *next)
{
    before b;
    TRS_ASSERT(begin < end && end <= p->sides && p->state == TRS_READY && p->pivots_known);
    p->begin = begin;
    p->end = end;
    put_aside(p, &b);
    int rc = make_room(p, &b);
    if (!rc) rc = choose(p, next);
    const bool same = !rc && is_the_same(p, &b);
    if (!rc && !same) rc = build(p);
    if (rc || same) put_back(p, &b, rc != TRS_OK);
    else retire(p, &b);
    p->begin = 0;
    p->end = p->sides;
    p->info.on_gpu = trs_is_on_gpu(&p->side[0].instance);
    trs_forget();
    if (rc != TRS_ECANCELED) trs_plan_stay(p, begin, end);
    return rc;
}

static bool is_time(const trs_side *side)
{
    return side->grows_at && side->solves >= side->grows_at;
}

static bool may_grow(const trs_plan *p)
{
    return p->side[0].grows_at || p->side[1].grows_at;
}

/* What a side on the GPU grows to, and when.  It has counted its levels. */
static void plan_growth(const trs_plan *p, trs_side *side)
{
    trs_prospect s;
    trs_candidate now, quick;
    side->grows_at = 0;
    side->next = NULL;
    trs_prospect_of(&side->op, TRS_NEED, &s);
    if (!trs_candidate_of(&s, side->instance.solver, p->on_device, &now)) return;
    int64_t pays = solves_to_pay(&s.shape, &now);
    if (find_quick(p, &s, &quick) && quick.seconds < now.seconds) {
        const double cost = quick.solver->quick + QUICK_SECONDS_ENTRY * (double)s.shape.nnz;
        const double solves = cost / (now.seconds - quick.seconds);
        if (solves < (double)pays) {
            pays = (int64_t)solves;
            side->next = quick.solver;
        }
    }
    if (pays < INT64_MAX) side->grows_at = pays > side->solves ? pays : side->solves;
}

/* A side that solved on the GPU without its levels counts them. */
static void look(trs_plan *p, trs_side *side)
{
    int rc = trs_machine_find(&p->ctx, true);
    if (!rc) rc = trs_plan_count_levels(p, side);
    if (rc) side->grows_at = 0;
    else plan_growth(p, side);
    if (!side->grows_at) trs_operator_trim(&side->op);
    trs_forget();
}

static void grow_side(trs_plan *p, trs_side *side)
{
    const int k = (int)(side - p->side);
    const trs_solver *next = side->next;
    const int rc = grow(p, k, k + 1, next);
    side->quick = next && !rc;
    if (side->quick) plan_growth(p, side);
    if (!side->grows_at) trs_operator_trim(&side->op);
    trs_plan_say(p, "; after %" PRId64 " solves", side->solves);
}

void trs_plan_count(trs_plan *p, trs_side *side, int nrhs, void *stream)
{
    const bool on_gpu = trs_is_on_gpu(&side->instance);
    if (!may_grow(p)) return;
    if (on_gpu && trs_gpu_is_capturing(stream)) { /* it stays valid, so what it has must */
        atomic_store(&side->shared, true);
        p->work->captured = true;
        return;
    }
    side->solves += (nrhs + p->ctx.nrhs - 1) / p->ctx.nrhs;
    if (!is_time(side) || (on_gpu && trs_gpu_use(&p->ctx))) return;
    trs_mute(true);
    if (on_gpu && !trs_side_knows_levels(side)) look(p, side);
    if (is_time(side) && !(on_gpu && trs_gpu_wait(stream))) grow_side(p, side);
    trs_mute(false);
}

void trs_retired_free(trs_side *side)
{
    for (trs_retired *r = side->retired, *next; r; r = next) {
        const trs_memory mem = side->op.ctx->mem;
        next = r->next;
        trs_instance_release(&r->instance);
        trs_free(&mem, r);
    }
    side->retired = NULL;
}

static int tune(trs_plan *p)
{
    int rc = trs_plan_check_analysed(p, "tune");
    if (rc) return rc;
    if (p->state != TRS_READY) return trs_fail(TRS_ESTATE, "tune: the plan has no values");
    int begin = 0, end = p->sides;
    while (begin < end && !p->side[begin].quick) begin++;
    while (end > begin && !p->side[end - 1].quick) end--;
    if (begin == end) return TRS_OK;
    if (p->on_device) rc = trs_gpu_use(&p->ctx);
    if (rc) return rc;
    if (grow(p, begin, end, NULL) == TRS_ECANCELED) return TRS_ECANCELED;
    for (int k = begin; k < end; k++) trs_operator_trim(&p->side[k].op);
    return TRS_OK;
}

int trs_plan_tune(trs_plan *p)
{
    trs_enter();
    return trs_leave(tune(p));
}
