/* measure.c: chooses by solving.  If trs_options.measure is set, the cheapest candidates solve.  Otherwise, on a CPU,
 * cpu-serial and the solvers that are predicted to be the fastest have a trial.
 *
 * With trs_options.measure a candidate solves in a separate plan over the operator's triangle.  It has b = T * ones, so
 * that x neither overflows nor has tiny numbers.  B and X are where they will live, with the layout and the number of
 * right-hand sides that were announced.  A candidate that fails is not chosen unless all others fail too.  The result is
 * stored as wisdom, for later plans of the same kind (recall.c).
 * Source: FFTW's planner, which times what it would otherwise estimate.
 *
 * In a trial the solvers are built for the sides of the plan itself, and the fastest stays (select/trial.c).  cpu-serial
 * is there already, since it has no data.  It stays unless another one is clearly faster.  A prediction from the costs of
 * another machine does not justify being slower than the plain loop, and the cost model knows little about caches, about
 * other programs that use the memory, and about the latency between cores. */
#include "config.h"

#include "choice.h"
#include "select/trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TRIES = 9 }; /* solves after one to warm up, of which the fastest counts */

static const double ENOUGH = 0.05; /* seconds for the tries of one candidate */
/* A third candidate that is predicted to take so many times as long as the second one is not tried. */
static const double TOO_SLOW = 4;

typedef struct trial { /* the solves of one candidate */
    const trs_plan *plan;
    trs_mat T;
    int64_t ld;
    size_t bytes;
    void *B, *X;               /* on the host */
    void *device_B, *device_X; /* NULL: B and X live on the host */
    trs_timer *timer;
} trial;

static void trial_end(trial *t)
{
    const int device = TRS_CUDA(t->plan->ctx.device);
    const trs_memory *mem = &t->plan->ctx.mem;
    trs_timer_destroy(t->timer);
    trs_device_free(device, t->device_B);
    trs_device_free(device, t->device_X);
    trs_free(mem, t->B);
    trs_free(mem, t->X);
}

static void set_ones(trs_dtype t, int64_t count, void *x)
{
    const double one[2] = {1, 0};
    for (int64_t k = 0; k < count; k++) trs_number_put(x, t, k, one);
}

static int trial_begin(trial *t, const trs_plan *p, trs_operator *op)
{
    const trs_context *ctx = &p->ctx;
    const int device = TRS_CUDA(ctx->device);
    const int64_t n = op->tri.n, count = n * ctx->nrhs;
    *t = (trial){.plan = p, .ld = ctx->layout == TRS_ROW_MAJOR ? ctx->nrhs : n};
    t->T = (trs_mat){.n = n,
                     .nnz = op->tri.nnz,
                     .ptr = op->tri.ptr,
                     .idx = op->tri.idx,
                     .val = op->tri.val,
                     .dtype = op->tri.dtype,
                     .kind = TRS_LOWER};
    t->bytes = (size_t)count * trs_size(op->tri.dtype);
    t->B = trs_alloc(&ctx->mem, count, trs_size(op->tri.dtype));
    t->X = trs_alloc(&ctx->mem, count, trs_size(op->tri.dtype));
    if (!t->B || !t->X) return TRS_EMEM;
    set_ones(op->tri.dtype, count, t->X);
    int rc = trs_multiply(&t->T, TRS_N, ctx->nrhs, t->X, t->ld, t->B, t->ld, ctx->layout);
    if (rc || !p->on_device) return rc;
    rc = trs_timer_create(&t->timer, device);
    if (!rc) rc = trs_device_new(device, t->bytes, &t->device_B);
    if (!rc) rc = trs_device_new(device, t->bytes, &t->device_X);
    if (!rc) rc = trs_device_put(device, t->device_B, t->B, t->bytes);
    return rc;
}

static int solve_once(const trial *t, const trs_plan *plan, double *seconds)
{
    const trs_context *ctx = &t->plan->ctx;
    const trs_exec exec = {.layout = ctx->layout};
    const void *B = t->timer ? t->device_B : t->B;
    void *X = t->timer ? t->device_X : t->X;
    const double start = trs_now();
    int rc = TRS_OK;
    if (t->timer) rc = trs_timer_start(t->timer, NULL);
    if (!rc) rc = trs_solve(plan, TRS_N, ctx->nrhs, B, t->ld, X, t->ld, &exec);
    *seconds = trs_now() - start;
    if (!rc && t->timer) rc = trs_timer_stop(t->timer, NULL, seconds);
    return rc;
}

/* *best = the seconds of the fastest of some solves after one to warm up. */
static int time_plan(const trial *t, const trs_plan *plan, double *best)
{
    const double start = trs_now();
    double s;
    int rc = solve_once(t, plan, best);
    for (int k = 0; k < TRIES && !rc && (k == 0 || trs_now() - start < ENOUGH); k++) {
        rc = solve_once(t, plan, &s);
        if (k == 0 || s < *best) *best = s;
    }
    return rc;
}

static int try_candidate(const trial *t, const trs_solver *solver, double *seconds)
{
    const trs_plan *p = t->plan;
    const trs_options opt = {.solver = solver->name,
                             .device = p->on_device ? TRS_CUDA(p->ctx.device) : TRS_HOST,
                             .nrhs = p->ctx.nrhs,
                             .layout = p->ctx.layout,
                             .threads = p->ctx.threads,
                             .memory_limit = p->ctx.limit,
                             .order = p->order,
                             .memory = p->ctx.mem,
                             .device_memory = p->ctx.device_memory};
    trs_plan *plan = NULL;
    int rc = trs_step("trial of a solver", -1);
    if (!rc) rc = trs_plan_create(&plan, &t->T, &opt);
    if (!rc) rc = trs_plan_analyse(plan);
    if (!rc) rc = time_plan(t, plan, seconds);
    trs_plan_destroy(plan);
    return rc;
}

/* The predicted seconds of an update that a solve has to bear. */
static double share_of_update(const trs_candidate *c)
{
    return c->seconds - trs_seconds(&c->cost);
}

/* Solve with the candidates.  *seconds are those of the fastest.  Returns its number, or -1: none could solve. */
static int measure_all(const trial *t, trs_plan *p, const trs_candidate *c, int count,
                       double *seconds)
{
    int best = -1;
    for (int k = 0; k < count; k++) {
        double now;
        if (k > 1 && c[k].seconds > TOO_SLOW * c[1].seconds) continue;
        if (try_candidate(t, c[k].solver, &now)) continue;
        now += share_of_update(&c[k]);
        trs_plan_say(p, "; measured %s %.3g ms", c[k].solver->name, 1e3 * now);
        if (best >= 0 && now >= *seconds) continue;
        *seconds = now;
        best = k;
    }
    return best;
}

int trs_measure(trs_plan *p, trs_operator *op, trs_candidate *c, int count)
{
    double seconds = 0;
    int best = -1;
    trial t;
    if (count < 2 || op->tri.n == 0) return TRS_OK;
    const int rc = trial_begin(&t, p, op);
    if (rc) trs_fail(rc, "no memory for B and X to measure with");
    else best = measure_all(&t, p, c, count, &seconds);
    trial_end(&t);
    if (best < 0) return rc;
    const trs_candidate fastest = c[best];
    c[best] = c[0];
    c[0] = fastest;
    trs_remember(p, fastest.solver, seconds);
    return rc;
}

/* ---- a trial ------------------------------------------------------------------------------------ */

static const double FASTER = 1.05; /* cpu-serial stays unless another is so many times as fast */

/* Build the candidate as a contender.  false: it cannot be made here, and c->instance is empty. */
static bool build_contender(trs_plan *p, const trs_solver *solver, trs_contender *c)
{
    int rc = trs_plan_check_limit(p, solver);
    if (!rc) rc = trs_step("trial of a solver", -1);
    for (int k = p->begin; k < p->end && !rc; k++) {
        rc = trs_instance_build(&c->instance[k], &p->side[k].op, solver);
        if (!rc) rc = trs_instance_update(&c->instance[k], NULL);
    }
    if (!rc) return true;
    for (int k = p->begin; k < p->end; k++) trs_instance_release(&c->instance[k]);
    trs_plan_say(p, "; %s could not be tried", solver->name);
    trs_forget();
    return false;
}

/* The fastest, with the share of an update that is predicted of each; number 0 is cpu-serial. */
static int find_fastest(const trs_contender *c, trs_candidate *const *of, int count)
{
    double best = INFINITY;
    int fastest = 0;
    for (int j = 0; j < count; j++) {
        const double handicap = j > 0 ? FASTER : 1;
        const double seconds = handicap * (c[j].seconds + share_of_update(of[j]));
        if (seconds < best) best = seconds, fastest = j;
    }
    return fastest;
}

/* c [0] is cpu-serial.  Returns the number of the fastest. */
static int try_contenders(trs_plan *p, trs_contender *c, trs_candidate *const *of, int count)
{
    if (count == 1) return 0;
    if (!trs_trial(c, count, p->begin, p->end)) {
        trs_plan_say(p, "; no memory for a trial");
        return 0;
    }
    for (int j = 0; j < count; j++)
        trs_plan_say(p, "%s%s %.3g ms", j ? ", " : "; tried: ", of[j]->solver->name,
                     1e3 * c[j].seconds);
    return find_fastest(c, of, count);
}

void trs_try(trs_plan *p)
{
    trs_contender c[TRS_CONTENDERS] = {0};
    trs_candidate *of[TRS_CONTENDERS] = {&p->candidate[0]};
    const int most = p->ctx.limit ? 2 : TRS_CONTENDERS; /* that the memory has to hold */
    int count = 1;
    for (int k = p->begin; k < p->end; k++) c[0].instance[k] = p->side[k].instance;
    for (int k = 1; k < p->candidates && count < most; k++) {
        of[count] = &p->candidate[k];
        if (of[count]->to_try) count += build_contender(p, of[count]->solver, &c[count]);
    }
    const int fastest = try_contenders(p, c, of, count);
    TRS_ASSERT(fastest >= 0 && fastest < count);
    for (int k = p->begin; k < p->end; k++) {
        p->side[k].instance = c[fastest].instance[k];
        for (int j = 0; j < count; j++)
            if (j != fastest) trs_instance_release(&c[j].instance[k]);
    }
    p->solver = of[fastest]->solver;
    p->info.predicted = of[fastest]->seconds;
}
