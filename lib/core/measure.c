/* measure.c: chooses by solving: among the cheapest candidates where trs_options.measure asks for it, and between
 * cpu-serial and another solver that gives its bits wherever the choice comes to these two.
 *
 * With trs_options.measure a candidate solves in a plan of its own over the operator's triangle.  It has b = T * ones,
 * so that x neither overflows nor has tiny numbers, and B and X are where they will live, with the layout and the
 * number of right-hand sides that were announced.  A candidate that cannot be tried is not taken unless all others fail
 * too.  What was found is kept as wisdom, for later plans of the kind (recall.c).
 * Source: FFTW's planner, which times what it would otherwise estimate.
 *
 * A solver with the bits of cpu-serial differs from it in the order of the rows only.  Whether that pays depends on the
 * caches, on other users of the memory and on how fast cores hand work over, of which the cost model knows too little
 * on a machine that nobody has calibrated.  x does not depend on which of the two is taken, and cpu-serial keeps no
 * data of its own, so both solve with the operators of the plan itself. */
#include "config.h"

#include "recall.h"

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
    return rc ? rc : trs_device_put(device, t->device_B, t->B, t->bytes);
}

static int solve_once(const trial *t, const trs_plan *plan, double *seconds)
{
    const trs_context *ctx = &t->plan->ctx;
    const trs_exec exec = {.layout = ctx->layout};
    const double start = trs_now();
    int rc = t->timer ? trs_timer_start(t->timer, NULL) : TRS_OK;
    if (!rc)
        rc = trs_solve(plan, TRS_N, ctx->nrhs, t->timer ? t->device_B : t->B, t->ld,
                       t->timer ? t->device_X : t->X, t->ld, &exec);
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
    int rc = trs_plan_create(&plan, &t->T, &opt);
    if (!rc) rc = trs_plan_analyse(plan);
    if (!rc) rc = time_plan(t, plan, seconds);
    trs_plan_destroy(plan);
    return rc;
}

int trs_measure(trs_plan *p, trs_operator *op, trs_candidate *c, int count, char *reason,
                size_t size)
{
    size_t used = strlen(reason);
    double seconds[TRS_CANDIDATES];
    int best = -1;
    trial t;
    if (count < 2 || op->tri.n == 0) return TRS_OK;
    int rc = trial_begin(&t, p, op);
    if (rc) trs_fail(rc, "no memory for B and X to measure with");
    for (int k = 0; k < count && !rc; k++) {
        if (k > 1 && c[k].seconds > TOO_SLOW * c[1].seconds) continue;
        if (try_candidate(&t, c[k].solver, &seconds[k])) continue;
        seconds[k] +=
            c[k].seconds - trs_seconds(&c[k].cost); /* the share of an update, predicted */
        const int w = snprintf(reason + used, size - used, "; measured %s %.3g ms",
                               c[k].solver->name, 1e3 * seconds[k]);
        if (w > 0 && (size_t)w < size - used) used += (size_t)w;
        if (best < 0 || seconds[k] < seconds[best]) best = k;
    }
    trial_end(&t);
    if (best > 0) {
        const trs_candidate fastest = c[best];
        c[best] = c[0];
        c[0] = fastest;
    }
    if (best >= 0) trs_remember(p, c[0].solver, seconds[best]);
    return rc;
}

/* ---- another solver with the bits of cpu-serial ----------------------------------------------------- */

/* Caches fill, and branches of rows of changing length are learnt, only over tens of short solves.  So a round goes on
 * until STEADY solves in a row were not faster than the fastest before them, but no longer than MOST_SECONDS.  Where
 * solves take longer than LONG and the difference is plain, one round is enough. */
enum { FEW = 2, STEADY = 4, ROUNDS = 2 };

/* a solve is faster if it takes less than so many times the best */
static const double GAIN = 0.98;
static const double MOST_SECONDS = 1e-3; /* of a round */
static const double LONG = 1e-3;         /* seconds of a solve */
static const double BETTER = 1.25,
                    WORSE = 2; /* ratios by which the other solver is plainly faster, or slower */
static const double FASTER = 1.08; /* cpu-serial stays unless the other is so many times as fast */

/* The seconds of the fastest solve of a round, of which the first one warms up. */
static double time_solver(const trs_instance *i, const trs_job *job)
{
    double best = INFINITY, sum = 0;
    for (int k = 0, steady = 0; k <= FEW || (steady < STEADY && sum < MOST_SECONDS); k++) {
        const double start = trs_now();
        (void)i->solver->solve(i, job); /* a solve on a CPU cannot fail */
        const double seconds = trs_now() - start;
        if (k == 0) continue;
        steady = seconds < GAIN * best ? 0 : steady + 1;
        sum += seconds;
        best = fmin(best, seconds);
    }
    return best;
}

/* B or X of an operator as a solve has them, filled with zeros: then no x grows, whatever the values are, and sums and
 * products of zeros take as long as others.  p is NULL if there is no memory. */
static trs_view zeros(const trs_plan *p, const trs_operator *op)
{
    const bool rows = p->ctx.layout == TRS_ROW_MAJOR;
    const int64_t n = op->tri.n, nrhs = p->ctx.nrhs, size = (int64_t)trs_size(op->tri.dtype);
    const trs_view v = {trs_alloc(&p->ctx.mem, n * nrhs, (size_t)size), rows ? nrhs : 1,
                        rows ? 1 : n};
    if (v.p) memset(v.p, 0, (size_t)(n * nrhs * size));
    return v;
}

/* Add the seconds that this solver takes, and cpu-serial, to *other and *serial.  Returns false if there is no memory. */
static bool time_both(trs_plan *p, const trs_instance *i, double *other, double *serial)
{
    const trs_view b = zeros(p, i->op), x = zeros(p, i->op);
    void *work = trs_alloc(&p->ctx.mem, i->solver->work_bytes(i, p->ctx.nrhs), 1);
    const bool room = b.p && x.p && work;
    const trs_job job = {.nrhs = p->ctx.nrhs,
                         .b = trs_view_natural(i->op, b),
                         .x = trs_view_natural(i->op, x),
                         .threads = p->ctx.threads,
                         .work = work};
    double a = INFINITY, c = INFINITY;
    trs_instance plain = *i;
    plain.solver = &trs_solver_cpu_serial;
    plain.data = NULL;
    for (int k = 0; k < ROUNDS && room; k++) {
        a = fmin(a, time_solver(i, &job));
        c = fmin(c, time_solver(&plain, &job));
        if ((k > 0 || a > LONG) && (c > BETTER * a || a > WORSE * c)) break;
    }
    *other += a;
    *serial += c;
    trs_free(&p->ctx.mem, b.p);
    trs_free(&p->ctx.mem, x.p);
    trs_free(&p->ctx.mem, work);
    return room;
}

static void take_serial(trs_plan *p)
{
    p->wanted = &trs_solver_cpu_serial;
    for (int k = 0; k < 2; k++) {
        trs_instance_release(&p->solver[k]);
        if (p->op[k].used) (void)trs_instance_build(&p->solver[k], &p->op[k], p->wanted);
    }
    for (int k = 0; k < p->candidates; k++)
        if (p->candidate[k].solver == p->wanted) p->info.predicted = p->candidate[k].seconds;
}

void trs_try_serial(trs_plan *p)
{
    const size_t used = strlen(p->reason), left = sizeof p->reason - used;
    const char *name = p->wanted->name;
    double other = 0, serial = 0;
    bool tried = true;
    for (int k = 0; k < 2 && tried; k++)
        if (p->op[k].used) tried = time_both(p, &p->solver[k], &other, &serial);
    if (tried)
        snprintf(p->reason + used, left, "; both tried: %s %.3g ms, cpu-serial %.3g ms", name,
                 1e3 * other, 1e3 * serial);
    else snprintf(p->reason + used, left, "; %s could not be tried", name);
    if (!tried || serial < FASTER * other) take_serial(p);
}
