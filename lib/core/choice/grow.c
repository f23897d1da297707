/* grow.c: plans that begin with the solver that is prepared fastest, and build a better one when it pays.
 *
 * A caller who solves once should not pay for an analysis that helps in a thousand solves, and the library does not know how
 * many there will be.  This is the ski rental problem: rent until the rent that was paid equals the price, then buy.  Whatever
 * the number of solves turns out to be, this costs at most twice the better of the two in hindsight, and no rule that does not
 * know the future guarantees less.
 * Source: Karlin, Manasse, Rudolph, Sleator, Competitive snoopy caching, Algorithmica 3 (1988).
 *
 * Renting is a solve with a solver that needs no analysis but the levels (trs_solver.quick).  Buying is the choice among all
 * solvers, with the analyses that their estimates take, and the build of the best.  Both costs are predicted, so two runs of a
 * program grow at the same solve.  trs_options.solves lets the caller decide instead.
 *
 * Each side grows by itself, in a solve with the plan's own work space.  During such a solve no other thread may use the plan,
 * so nothing needs a lock.  A work space of a caller, or a captured graph, keeps the instance that it was made with.  Such an
 * instance lives as long as the plan, and every update gives it the new values too. */
#include "config.h"

#include "choice.h"
#include "base/device.h"
#include "core/refresh.h"
#include "core/work.h"
#include "select/wisdom.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- when ----------------------------------------------------------------------------------------- */

/* What it costs to choose and to build on a CPU, in solves by cpu-serial: 4 to 190 were measured (doc/performance.md). */
static const double CPU_SOLVES = 50;
/* On a GPU, in seconds: launches, copies and waits of the analyses, and what they take for each entry. */
static const double GPU_SECONDS = 2e-3, GPU_SECONDS_ENTRY = 1.5e-9;

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

/* The solver that is prepared fastest where B and X live; false: there is none that can solve this. */
static bool find_quick(const trs_plan *p, const trs_prospect *s, trs_candidate *c)
{
    const trs_place place = p->on_device ? TRS_ON_CUDA : TRS_ON_CPU;
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *solver = trs_solver_at(k);
        if (!solver->quick || solver->place != place) continue;
        if (trs_candidate_of(s, solver, p->on_device, c)) return true;
    }
    return false;
}

/* The number of solves that cost as much as a better solver; INT64_MAX: there is hardly a better one. */
static int64_t solves_to_pay(const trs_shape *s, const trs_candidate *c)
{
    if (c->solver->place == TRS_ON_CPU) return s->nnz < TRS_TINY ? INT64_MAX : (int64_t)CPU_SOLVES;
    if (c->cost.latency < WAITING * c->cost.sync) return INT64_MAX;
    const double seconds = GPU_SECONDS + GPU_SECONDS_ENTRY * (double)s->nnz;
    return (int64_t)ceil(fmin(seconds / fmax(c->seconds, 1e-7), 1e9));
}

int trs_plan_choose_quickly(trs_plan *p)
{
    trs_candidate c[2];
    trs_prospect s[2];
    int64_t pays[2];
    if (!may_begin_quickly(p)) return TRS_OK;
    const int rc = trs_machine_find(&p->ctx, p->on_device);
    if (rc) return rc;
    for (int k = 0; k < p->sides; k++) {
        trs_prospect_of(&p->side[k].op, TRS_NEED, &s[k]);
        if (!find_quick(p, &s[k], &c[k])) return TRS_OK;
        pays[k] = solves_to_pay(&s[k].shape, &c[k]);
    }
    if (p->solves >= pays[0]) return TRS_OK;
    trs_plan_know_shape(p, &s[0].shape);
    trs_describe_shape(p->reason, sizeof p->reason, &s[0].shape);
    for (int k = 0; k < p->sides; k++) {
        p->side[k].quick = true;
        if (p->solves == 0 && pays[k] < INT64_MAX) p->side[k].grows_at = pays[k];
    }
    trs_plan_say(p, ": prepared fastest");
    p->candidate[0] = c[0];
    p->candidates = 1;
    p->solver = c[0].solver;
    p->info.predicted = c[0].seconds;
    return TRS_OK;
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
    trs_plan_stay(p, p->begin, p->end); /* whatever comes of it, it is not tried again */
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
    if (!rc && p->ctx.refreshes) rc = trs_refresh_prepare(p);
    if (!rc) rc = renew_work(p);
    return rc;
}

/* Sides begin .. end - 1 grow. */
static void grow(trs_plan *p, int begin, int end)
{
    before b;
    TRS_ASSERT(begin < end && end <= p->sides && p->state == TRS_READY && p->pivots_known);
    p->begin = begin;
    p->end = end;
    put_aside(p, &b);
    int rc = make_room(p, &b);
    if (!rc) rc = trs_plan_choose(p);
    const bool same = !rc && is_the_same(p, &b);
    if (!rc && !same) rc = build(p);
    if (rc || same) put_back(p, &b, rc != TRS_OK);
    else retire(p, &b);
    for (int k = begin; k < end; k++) trs_operator_trim(&p->side[k].op);
    p->begin = 0;
    p->end = p->sides;
    p->info.on_gpu = trs_is_on_gpu(&p->side[0].instance);
    trs_forget();
}

static bool may_grow(const trs_plan *p)
{
    return p->side[0].grows_at || p->side[1].grows_at;
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
    if (!side->grows_at || side->solves < side->grows_at) return;
    if (on_gpu && (trs_gpu_use(&p->ctx) || trs_gpu_wait(stream))) return;
    const int k = (int)(side - p->side);
    const int64_t solves = side->solves;
    grow(p, k, k + 1);
    trs_plan_say(p, "; after %" PRId64 " solves", solves);
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
    if (!rc) grow(p, begin, end);
    return rc;
}

int trs_plan_tune(trs_plan *p)
{
    trs_enter();
    return trs_leave(tune(p));
}
