/* cell.c: one solver on one triangle: analysis, update, solve, error.
 *
 * GPU solvers find B and X in device memory and are timed by CUDA events.  CPU solvers, and with
 * --host all of them, find B and X on the host and are timed by a steady clock.  The solve whose
 * result is checked comes after all the timed ones, into an X full of NaN: so it shows when a
 * solver leaves an element out, or takes it from what an earlier solve has left there. */
#include "config.h"

#include "cell.h"

#include "bin/common/numbers.h"

#include <stdio.h>
#include <string.h>

enum {
    ENOUGH = 40, /* solves at least, when there is time */
    PASSES = 2   /* at most, if the halves of the solves are apart */
};

static const double short_solves = 0.2; /* s: so long short solves are repeated */

static bool on_gpu(const cell *c)
{
    return !strcmp(c->solver.needs, "cuda");
}

/* Are B and X in device memory? */
static bool on_device(const bed *b, const cell *c)
{
    return on_gpu(c) && !b->settings->on_host;
}

/* ---- analysis and update --------------------------------------------------------------------- */

static int make_plan_for(const bed *b, const char *solver, int device, int64_t solves,
                         trs_plan **plan)
{
    const settings *s = b->settings;
    const trs_options opt = {.solver = solver,
                             .device = device,
                             .ops = 1u << s->op,
                             .nrhs = s->nrhs,
                             .threads = s->threads,
                             .memory_limit = s->memory_limit,
                             .measure = s->measure && !solver && solves,
                             .solves = solves};
    int rc = trs_plan_create(plan, b->T, &opt);
    return rc ? rc : trs_plan_analyse(*plan);
}

int make_plan(const bed *b, const char *solver, int device, trs_plan **plan)
{
    return make_plan_for(b, solver, device, TRS_SOLVES_MANY, plan);
}

int make_default_plan(const bed *b, int device, trs_plan **plan)
{
    return make_plan_for(b, NULL, device, 0, plan);
}

static int fail(cell *c, int status, const char *message)
{
    c->status = status;
    snprintf(c->message, sizeof c->message, "%s",
             message && *message ? message : trs_strerror(status));
    return status;
}

/* Makes several plans while there is time, and keeps the last. */
static int measure_analysis(const bed *b, cell *c, trs_plan **plan)
{
    const int device = on_device(b, c) ? b->settings->device : TRS_HOST;
    double analysis[PLANS], setup[PLANS], sum = 0;
    int k = 0;
    while (k < PLANS && (k == 0 || sum < b->settings->cell_seconds / SHARE)) {
        trs_plan_destroy(*plan);
        int rc = make_plan(b, c->solver.name, device, plan);
        if (rc) return fail(c, rc, trs_message());
        trs_plan_info(*plan, &c->info);
        const trs_info *i = &c->info;
        analysis[k] = i->seconds_vendor > 0 ? i->seconds_vendor : i->seconds_levels;
        setup[k] = i->seconds_analyse - analysis[k];
        sum += i->seconds_create + i->seconds_analyse;
        k++;
    }
    c->analysis = spread_of(analysis, k);
    c->setup = spread_of(setup, k);
    snprintf(c->levels_by, sizeof c->levels_by, "%s", c->info.analysis);
    c->info.solver = c->info.reason = c->info.costs = NULL; /* these strings end with the plan */
    c->info.analysis = NULL; /* and this one means nothing to another process */
    return TRS_OK;
}

int wait_for_gpu(const bed *b)
{
    double unused;
    int rc = trs_timer_start(b->timer, NULL);
    return rc ? rc : trs_timer_stop(b->timer, NULL, &unused);
}

static int measure_update(const bed *b, cell *c, trs_plan *plan)
{
    double s[PLANS], factor[PLANS], sum = 0;
    trs_info i;
    int k = 0;
    while (k < PLANS && (k == 0 || sum < b->settings->cell_seconds / SHARE)) {
        double start = now();
        int rc = trs_plan_update(plan, b->T, NULL);
        if (!rc && on_gpu(c)) rc = wait_for_gpu(b);
        if (rc) return fail(c, rc, trs_message());
        s[k] = now() - start;
        trs_plan_info(plan, &i);
        factor[k] = i.seconds_factor;
        sum += s[k++];
    }
    c->update = spread_of(s, k);
    c->factor = spread_of(factor, k).median;
    return TRS_OK;
}

/* ---- solve ----------------------------------------------------------------------------------- */

int time_solve(const bed *b, const trs_plan *plan, bool gpu, double *seconds)
{
    const settings *s = b->settings;
    const int64_t ld = b->T->n > 0 ? b->T->n : 1;
    double start = now();
    int rc = gpu ? trs_timer_start(b->timer, NULL) : TRS_OK;
    if (!rc)
        rc = trs_solve(plan, s->op, s->nrhs, gpu ? b->device_B : b->B, ld, gpu ? b->device_X : b->X,
                       ld, NULL);
    int stopped = gpu ? trs_timer_stop(b->timer, NULL, seconds) : TRS_OK;
    if (!gpu) *seconds = now() - start;
    return rc ? rc : stopped;
}

static int solve_once(const bed *b, const cell *c, const trs_plan *plan, double *seconds)
{
    return time_solve(b, plan, on_device(b, c), seconds);
}

/* X becomes NaN: all bits 1 are one in every type. */
static int poison(const bed *b, const cell *c)
{
    memset(b->X, 0xff, b->bytes);
    return on_device(b, c) ? trs_device_put(b->settings->device, b->device_X, b->X, b->bytes)
                           : TRS_OK;
}

/* The first solve warms up; when it alone takes longer than a cell may, it counts and is the only one. */
int time_solves(const bed *b, const trs_plan *plan, bool gpu, int64_t most, spread half[2])
{
    const double limit = b->settings->cell_seconds;
    double s[MOST_SOLVES], first = 0;
    int k = 0, rc = time_solve(b, plan, gpu, &first);
    const bool only = first >= limit || most == 1;
    if (!rc && only) s[k++] = first;
    double start = now(), spent = 0;
    while (!rc && !only && k < most - 1 && (k == 0 || spent < limit) &&
           (k < ENOUGH || spent < short_solves)) {
        rc = time_solve(b, plan, gpu, &s[k]);
        if (!rc) k++;
        spent = now() - start;
    }
    if (rc) return rc;
    half[1] = spread_of(s + k / 2, k - k / 2);
    half[0] = k > 1 ? spread_of(s, k / 2) : half[1];
    return TRS_OK;
}

/* Where the two halves are apart, something else keeps the machine busy: they are measured again. */
static int measure_solve(const bed *b, cell *c, const trs_plan *plan)
{
    spread half[2];
    int rc;
    do {
        rc = time_solves(b, plan, on_device(b, c), MOST_SOLVES, half);
        if (rc) return fail(c, rc, NULL);
        c->steady = !are_apart(&half[0], &half[1]);
    } while (++c->passes < PASSES && !c->steady);
    c->first = half[0];
    c->solve = half[1];
    return TRS_OK;
}

static int check_solve(const bed *b, cell *c, const trs_plan *plan)
{
    const settings *s = b->settings;
    const int64_t ld = b->T->n > 0 ? b->T->n : 1;
    double unused;
    int rc = poison(b, c);
    if (!rc) rc = solve_once(b, c, plan, &unused);
    if (!rc && on_device(b, c)) rc = trs_device_get(s->device, b->X, b->device_X, b->bytes);
    if (!rc)
        rc = trs_backward_error(b->T, s->op, s->nrhs, b->B, ld, b->X, ld, TRS_COL_MAJOR, &c->error);
    if (rc) return fail(c, rc, NULL);
    c->accurate = promised_error(c) <= (is_single(b->T->dtype) ? 1e-4 : 1e-10); /* a NaN is not */
    return TRS_OK;
}

void measure_cell(const bed *b, cell *c)
{
    trs_plan *plan = NULL;
    int rc = TRS_OK;
    if (on_gpu(c) && b->settings->device == TRS_HOST)
        rc = fail(c, TRS_EDEVICE, b->settings->no_gpu);
    else if (on_device(b, c) && !b->device_B)
        rc = fail(c, TRS_EMEM, "not enough device memory for B and X");
    if (!rc) rc = measure_analysis(b, c, &plan);
    if (!rc) rc = measure_update(b, c, plan);
    if (!rc) rc = measure_solve(b, c, plan);
    if (!rc) check_solve(b, c, plan);
    trs_plan_destroy(plan);
}
