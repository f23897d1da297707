/* trial.c: measures CPU solvers that are built, so that none is chosen by its prediction alone.
 *
 * B and X are zeros.  Then no x grows, whatever the values are, and sums and products of zeros take as long as others.
 * The contenders take turns, so that the load of the machine affects all of them.  A contender that takes far longer than
 * the fastest drops out after a round.  When one is left, its time is known well enough.  So a trial of a long solve takes
 * three solves by cpu-serial, or six where it is close, besides those of the others.
 *
 * Caches fill and branch predictors adapt only over tens of short solves.  So a turn continues until STEADY solves in a row
 * were not faster than the fastest before them, but no longer than MOST_SECONDS. */
#include "config.h"

#include "trial.h"

#include "base/call.h"
#include "base/debug.h"

#include <math.h>
#include <string.h>

enum { FEW = 3, STEADY = 4, ROUNDS = 2 };

/* a solve is faster if it takes less than so many times the best */
static const double GAIN = 0.98;
static const double MOST_SECONDS = 3e-4; /* of a turn, if it has FEW solves */
/* A solve is long from so many seconds on.  A solver drops out that takes so many times as long as the fastest. */
static const double LONG = 1e-3, BEATEN = 1.25, BEATEN_SHORT = 2;

/* The seconds of the fastest solve of a turn. */
static double take_turn(const trs_instance *i, const trs_job *job)
{
    double best = INFINITY, sum = 0;
    for (int k = 0, steady = 0; k < FEW || (steady < STEADY && sum < MOST_SECONDS); k++) {
        const double start = trs_now();
        (void)i->solver->solve(i, job); /* a solve on a CPU cannot fail */
        const double seconds = trs_now() - start;
        steady = seconds < GAIN * best ? 0 : steady + 1;
        sum += seconds;
        best = fmin(best, seconds);
    }
    return best;
}

/* B or X of an operator as a solve has them; p is NULL if there is no memory. */
static trs_view zeros(const trs_operator *op)
{
    const trs_context *ctx = op->ctx;
    const int64_t n = op->tri.n, nrhs = ctx->nrhs, size = (int64_t)trs_size(op->tri.dtype);
    void *p = trs_alloc(&ctx->mem, n * nrhs, (size_t)size);
    if (p) memset(p, 0, (size_t)(n * nrhs * size));
    return trs_view_of(p, ctx->layout == TRS_ROW_MAJOR ? nrhs : n, ctx->layout);
}

/* in [count]: which contenders take part in the next round.  Returns how many. */
static int find_left(const double *best, int count, bool *in)
{
    double fastest = INFINITY;
    int left = 0;
    for (int j = 0; j < count; j++) fastest = fmin(fastest, best[j]);
    const double limit = (fastest > LONG ? BEATEN : BEATEN_SHORT) * fastest;
    for (int j = 0; j < count; j++) left += in[j] = best[j] <= limit;
    return left;
}

/* best [count]: seconds with side k. */
static void take_turns(const trs_contender *c, int count, int k, trs_job *job,
                       const trs_instance_work *work, double *best)
{
    bool in[TRS_CONTENDERS];
    TRS_ASSERT(count > 0 && count <= TRS_CONTENDERS);
    for (int j = 0; j < count; j++) best[j] = INFINITY;
    for (int round = 0; round < ROUNDS && find_left(best, count, in) > 1; round++)
        for (int j = 0; j < count; j++) {
            if (!in[j]) continue;
            job->work = work[j].p;
            best[j] = fmin(best[j], take_turn(&c[j].instance[k], job));
        }
}

static bool try_side(trs_contender *c, int count, int k)
{
    const trs_operator *op = c[0].instance[k].op;
    trs_context *ctx = c[0].instance[k].ctx;
    trs_instance_work work[TRS_CONTENDERS] = {{0}};
    const trs_view b = zeros(op), x = zeros(op);
    bool memory = b.p && x.p;
    for (int j = 0; j < count && memory; j++)
        memory = !trs_instance_work_create(&c[j].instance[k], ctx, ctx->nrhs, &work[j]);
    trs_job job = {.nrhs = ctx->nrhs,
                   .b = trs_view_natural(op, b),
                   .x = trs_view_natural(op, x),
                   .threads = ctx->threads};
    double best[TRS_CONTENDERS];
    if (memory) take_turns(c, count, k, &job, work, best);
    for (int j = 0; j < count && memory; j++) c[j].seconds += best[j];
    for (int j = 0; j < count; j++) trs_instance_work_destroy(ctx, &work[j]);
    trs_free(&ctx->mem, b.p);
    trs_free(&ctx->mem, x.p);
    return memory;
}

bool trs_trial(trs_contender *c, int count, int begin, int end)
{
    bool memory = true;
    for (int k = begin; k < end && memory; k++) memory = try_side(c, count, k);
    return memory;
}
