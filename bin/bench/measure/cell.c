/* cell.c: one solver on one triangle: analysis, update, solve, error.
 *
 * GPU solvers find B and X in device memory and are timed by CUDA events; CPU solvers, and with --host
 * all, find them on the host and are timed by a steady clock.  The solve that is checked comes last, after all the
 * timed ones, into an X full of NaN: a solver that leaves an element out, or lives on what an earlier
 * solve left behind, shows. */
#include "config.h"

#include "bin/bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PLANS = 5,   /* analyses and updates at most; their median counts */
    ENOUGH = 20, /* solves at least, when there is time */
    MOST = 1000, /* solves at most */
    SHARE = 5    /* analyses and updates may take cell_seconds / SHARE each */
};

static const double settle = 0.2; /* s: short solves are repeated for as long as this */

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static spread spread_of(double *s, int count)
{
    qsort(s, (size_t)count, sizeof *s, ascending);
    return (spread){count, s[0], 0.5 * (s[(count - 1) / 2] + s[count / 2]), s[count - 1]};
}

static bool on_gpu(const cell *c)
{
    return !strcmp(c->solver.needs, "cuda");
}

/* Where B and X are. */
static bool on_device(const bed *b, const cell *c)
{
    return on_gpu(c) && !b->settings->on_host;
}

static size_t size_of(trs_dtype t)
{
    return t == TRS_F32 ? 4 : t == TRS_C64 ? 16 : 8;
}

/* ---- B and X --------------------------------------------------------------------------------- */

/* Numbers in [-1, 1), the same in every run (splitmix64). */
static void fill(trs_dtype t, void *x, int64_t count)
{
    const bool half = t == TRS_F32 || t == TRS_C32;
    uint64_t state = SEED;
    if (t == TRS_C32 || t == TRS_C64) count *= 2;
    for (int64_t k = 0; k < count; k++) {
        uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        double v = (double)((z ^ z >> 31) >> 11) * 0x1p-52 - 1;
        if (half) ((float *)x)[k] = (float)v;
        else ((double *)x)[k] = v;
    }
}

/* No GPU, or no room on it, leaves device_B NULL. */
static void bed_device(bed *b)
{
    const int device = b->settings->device;
    if (device == TRS_HOST) return;
    int rc = trs_timer_create(&b->timer, device);
    if (!rc) rc = trs_device_new(device, b->bytes, &b->device_B);
    if (!rc) rc = trs_device_new(device, b->bytes, &b->device_X);
    if (!rc) rc = trs_device_put(device, b->device_B, b->B, b->bytes);
    if (!rc) return;
    trs_device_free(device, b->device_B);
    b->device_B = NULL;
}

/* b = op(T) x for a known x, so that the solution has moderate numbers. */
int bed_make(bed *b, const settings *s, const trs_mat *T)
{
    const int64_t n = T->n, count = n * s->nrhs, ld = n > 0 ? n : 1;
    *b = (bed){.settings = s, .T = T, .bytes = (size_t)count * size_of(T->dtype)};
    b->B = malloc(b->bytes + 1);
    b->X = malloc(b->bytes + 1);
    if (!b->B || !b->X) return TRS_EMEM;
    fill(T->dtype, b->X, count);
    int rc = trs_multiply(T, s->op, s->nrhs, b->X, ld, b->B, ld, TRS_COL_MAJOR);
    if (!rc) bed_device(b);
    return rc;
}

void bed_free(bed *b)
{
    trs_timer_destroy(b->timer);
    trs_device_free(b->settings->device, b->device_B);
    trs_device_free(b->settings->device, b->device_X);
    free(b->B);
    free(b->X);
}

/* ---- analysis and update --------------------------------------------------------------------- */

int make_plan(const bed *b, const char *solver, int device, trs_plan **plan)
{
    const settings *s = b->settings;
    const trs_options opt = {.solver = solver,
                             .device = device,
                             .ops = 1u << s->op,
                             .nrhs = s->nrhs,
                             .threads = s->threads,
                             .memory_limit = s->memory_limit,
                             .measure = s->measure && !solver};
    int rc = trs_plan_create(plan, b->T, &opt);
    return rc ? rc : trs_plan_analyse(*plan);
}

static int fail(cell *c, int status, const char *message)
{
    c->status = status;
    snprintf(c->message, sizeof c->message, "%s",
             message && *message ? message : trs_strerror(status));
    return status;
}

/* Several plans while there is time, of which the last is kept. */
static int measure_analysis(const bed *b, cell *c, trs_plan **plan)
{
    double analysis[PLANS], setup[PLANS], sum = 0;
    int k = 0;
    while (k < PLANS && (k == 0 || sum < b->settings->cell_seconds / SHARE)) {
        trs_plan_destroy(*plan);
        int rc =
            make_plan(b, c->solver.name, on_device(b, c) ? b->settings->device : TRS_HOST, plan);
        if (rc) return fail(c, rc, trs_message());
        trs_plan_info(*plan, &c->info);
        const trs_info *i = &c->info;
        analysis[k] = i->seconds_vendor > 0 ? i->seconds_vendor : i->seconds_levels;
        setup[k] = i->seconds_analyse - analysis[k];
        sum += i->seconds_create + i->seconds_analyse;
        k++;
    }
    c->analysis = spread_of(analysis, k).median;
    c->setup = spread_of(setup, k).median;
    snprintf(c->levels_by, sizeof c->levels_by, "%s", c->info.analysis);
    c->info.solver = c->info.reason = c->info.costs = NULL; /* they lived in the plan */
    c->info.analysis = NULL;                                /* and this in the program */
    return TRS_OK;
}

/* What was enqueued has been done. */
static int wait_for_gpu(const bed *b)
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
    c->update = spread_of(s, k).median;
    c->factor = spread_of(factor, k).median;
    return TRS_OK;
}

/* ---- solve ----------------------------------------------------------------------------------- */

static int solve_once(const bed *b, const cell *c, const trs_plan *plan, double *seconds)
{
    const settings *s = b->settings;
    const bool gpu = on_device(b, c);
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

static int poison(const bed *b, const cell *c)
{
    memset(b->X, 0xff, b->bytes); /* a NaN in every type */
    return on_device(b, c) ? trs_device_put(b->settings->device, b->device_X, b->X, b->bytes)
                           : TRS_OK;
}

/* The timed solves.  One that alone takes longer than a cell may is the only one. */
static int measure_solve(const bed *b, cell *c, const trs_plan *plan)
{
    const double limit = b->settings->cell_seconds;
    double s[MOST], first;
    int k = 0, rc = solve_once(b, c, plan, &first);
    if (!rc && first >= limit) s[k++] = first;
    double start = now(), spent = 0;
    while (!rc && first < limit && k < MOST && (k == 0 || spent < limit) &&
           (k < ENOUGH || spent < settle)) {
        rc = solve_once(b, c, plan, &s[k]);
        if (!rc) k++;
        spent = now() - start;
    }
    if (rc) return fail(c, rc, NULL);
    c->solve = spread_of(s, k);
    return TRS_OK;
}

static int check_solve(const bed *b, cell *c, const trs_plan *plan)
{
    const settings *s = b->settings;
    const bool half = b->T->dtype == TRS_F32 || b->T->dtype == TRS_C32;
    const int64_t ld = b->T->n > 0 ? b->T->n : 1;
    double unused;
    int rc = poison(b, c);
    if (!rc) rc = solve_once(b, c, plan, &unused);
    if (!rc && on_device(b, c)) rc = trs_device_get(s->device, b->X, b->device_X, b->bytes);
    if (!rc)
        rc = trs_backward_error(b->T, s->op, s->nrhs, b->B, ld, b->X, ld, TRS_COL_MAJOR, &c->error);
    if (rc) return fail(c, rc, NULL);
    double e = c->solver.accuracy == TRS_INVERTING ? c->error.normwise : c->error.omega;
    c->accurate = e <= (half ? 1e-4 : 1e-10); /* false for a NaN */
    return TRS_OK;
}

void measure_cell(const bed *b, cell *c)
{
    trs_plan *plan = NULL;
    int rc = TRS_OK;
    if (on_gpu(c) && b->settings->device == TRS_HOST)
        rc = fail(c, TRS_EDEVICE, b->settings->no_gpu);
    else if (on_device(b, c) && !b->device_B)
        rc = fail(c, TRS_EMEM, "no room for B and X in device memory");
    if (!rc) rc = measure_analysis(b, c, &plan);
    if (!rc) rc = measure_update(b, c, plan);
    if (!rc) rc = measure_solve(b, c, plan);
    if (!rc) check_solve(b, c, plan);
    trs_plan_destroy(plan);
}
