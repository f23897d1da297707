/* steps_device.c: what single steps cost on the GPU of this machine:
 *
 *     gpu_byte               a copy within the device;   link_*: to it and back
 *     gpu_launch             cuda-multiblock, a level more;   gpu_latency: cuda-dataflow, a level more
 *     gpu_gather             cuda-dataflow on random columns */
#include "config.h"

#include "steps.h"

#include "bin/bench/measure/cell.h"
#include "bin/bench/measure/solvers.h"
#include "bin/common/timing.h"
#include "bin/costs/made.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 9 };

/* ---- triangles --------------------------------------------------------------------------------------- */

/* RANDOM is more than in rows of wide.cu, which gathers in another way. */
enum { HALF = 1000000, RANDOM = 40 };

static int32_t length_random(int32_t i)
{
    return i < HALF ? 1 : RANDOM + 1;
}
/* One in each RANDOM-th part of the first half. */
static int32_t column_random(int32_t i, int32_t k)
{
    const uint32_t slot = HALF / RANDOM, z = ((uint32_t)i * RANDOM + (uint32_t)k) * 2654435761u;
    return (int32_t)((uint32_t)k * slot + (z >> 8) % slot);
}

/* ---- runs ------------------------------------------------------------------------------------------ */

/* The fastest solve, in seconds; NaN: the solver did not run. */
static double solve_seconds(const settings *s, const char *solver, const trs_mat *T)
{
    cell c = {.status = TRS_OK};
    settings quick = *s;
    bed b;
    quick.cell_seconds = 0.5;
    quick.nrhs = 1;
    quick.op = TRS_N;
    quick.on_host = false;
    if (!find_solver(solver, &c.solver) || !c.solver.available) return (double)NAN;
    progress(s, "calibrate", solver);
    c.status = bed_make(&b, &quick, T);
    if (!c.status) measure_cell(&b, &c);
    bed_free(&b);
    progress(s, NULL, NULL);
    return c.status ? (double)NAN : c.solve.min;
}

static double made_seconds(const settings *s, const char *solver, int32_t n,
                           int32_t (*length)(int32_t), int32_t (*column)(int32_t, int32_t))
{
    made m = {0};
    double seconds = NAN;
    if (make(&m, n, length, column)) seconds = solve_seconds(s, solver, &m.T);
    made_free(&m);
    return seconds;
}

/* ---- the GPU --------------------------------------------------------------------------------------- */

/* Seconds of the fastest copy to the device and back, halved. */
static double link_seconds(int device, void *here, void *there, size_t bytes)
{
    double best = NAN;
    for (int k = 0; k < RUNS; k++) {
        const double start = now();
        if (trs_device_put(device, there, here, bytes) ||
            trs_device_get(device, here, there, bytes))
            return (double)NAN;
        best = fmin(best, 0.5 * (now() - start));
    }
    return best;
}

static double copy_seconds(int device, void *to, const void *from, size_t bytes)
{
    double best = NAN, t;
    trs_timer *timer;
    int rc = trs_timer_create(&timer, device);
    for (int k = 0; k < RUNS && !rc; k++) {
        rc = trs_timer_start(timer, NULL);
        if (!rc) rc = trs_device_copy(device, to, from, bytes, NULL);
        if (!rc) rc = trs_timer_stop(timer, NULL, &t);
        if (!rc) best = fmin(best, t);
    }
    trs_timer_destroy(timer);
    return rc ? (double)NAN : best;
}

static void calibrate_memory(int device, trs_machine *c)
{
    const size_t bytes = (size_t)256 << 20, some = bytes / 4;
    void *here = calloc(1, some), *a = NULL, *b = NULL;
    int rc = here ? trs_device_new(device, bytes, &a) : TRS_EMEM;
    if (!rc) rc = trs_device_new(device, bytes, &b);
    if (!rc) {
        memset(here, 1, some);
        c->link_start = fmax(0, link_seconds(device, here, a, 8));
        c->link_byte =
            fmax(0, (link_seconds(device, here, a, some) - c->link_start) / (double)some);
        c->gpu_byte = fmax(0, copy_seconds(device, b, a, bytes) / (2 * (double)bytes));
    }
    trs_device_free(device, a);
    trs_device_free(device, b);
    free(here);
}

/* What a level more takes: a bidiagonal triangle has as many levels as rows. */
static double level_seconds(const settings *s, const char *solver)
{
    const int few = 2000, many = 12000;
    return (made_seconds(s, solver, many, length_two, column_before) -
            made_seconds(s, solver, few, length_two, column_before)) /
           (many - few);
}

void steps_gpu(const settings *s, double launches, trs_machine *c)
{
    const double entries = HALF * (RANDOM + 2.), rows = 2. * HALF;
    calibrate_memory(s->device, c);
    c->gpu_launch = fmax(0, level_seconds(s, "cuda-multiblock"));
    c->gpu_latency = fmax(0, level_seconds(s, "cuda-dataflow"));
    const double t = made_seconds(s, "cuda-dataflow", 2 * HALF, length_random, column_random);
    if (!(c->gpu_byte > 0)) return; /* no room: nothing to take off */
    const double known =
        (12 * entries + 44 * rows) * c->gpu_byte + launches * c->gpu_launch + 2 * c->gpu_latency;
    c->gpu_gather = fmax(0, (t - known) / entries);
}
