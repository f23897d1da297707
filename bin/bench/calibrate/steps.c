/* steps.c: what single steps cost on this machine.
 *
 * Each cost comes from a run in which it is most of the time, the rest being taken off by what is known already.  The
 * runs are solves, by the public solvers, of triangles made for it:
 *
 *     cpu_byte, cpu_cached   one core adds up an array that does not, and does, fit its cache
 *     cpu_entry, cpu_full    cpu-serial and cpu-dense on a full triangle
 *     cpu_row                cpu-serial on a diagonal;   cpu_latency: on a bidiagonal one, all of it
 *     cpu_scatter            cpu-level, one thread, on a bundle of chains whose b and x fit no cache
 *     cpu_barrier            ... with all threads on wide levels, over its share of cpu-serial
 *     gpu_byte               a copy within the device;   link_*: to it and back
 *     gpu_launch             cuda-multiblock, a level more;   gpu_latency: cuda-dataflow, a level more
 *     gpu_gather             cuda-dataflow on random columns
 *
 * A cost that comes out as nothing, lost in the noise or hidden behind another, is set to a femtosecond. */
#include "config.h"

#include "steps.h"

#include "bin/bench/measure/cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 9 };

static const double least = 1e-15; /* s */

static double at_least(double seconds)
{
    return seconds < least ? least : seconds; /* NaN stays */
}

/* ---- triangles: a lower one with some columns before the diagonal in each row --------------------- */

typedef struct made {
    int64_t *ptr;
    int32_t *idx;
    double *val;
    trs_mat T;
} made;

/* column (i, k): the k-th of length (i) - 1 columns of row i, ascending. */
static bool make(made *m, int32_t n, int32_t (*length)(int32_t),
                 int32_t (*column)(int32_t, int32_t))
{
    int64_t nnz = 0;
    for (int32_t i = 0; i < n; i++) nnz += length(i);
    m->ptr = malloc(((size_t)n + 1) * sizeof *m->ptr);
    m->idx = malloc((size_t)nnz * sizeof *m->idx);
    m->val = malloc((size_t)nnz * sizeof *m->val);
    if (!m->ptr || !m->idx || !m->val) return false;
    int64_t p = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t before = length(i) - 1;
        m->ptr[i] = p;
        for (int32_t k = 0; k <= before; k++, p++) {
            m->idx[p] = k < before ? column(i, k) : i;
            m->val[p] = k < before ? 1.0 / before : 2;
        }
    }
    m->ptr[n] = p;
    m->T = (trs_mat){
        .n = n, .nnz = nnz, .ptr = m->ptr, .idx = m->idx, .val = m->val, .kind = TRS_LOWER};
    return true;
}

static void made_free(made *m)
{
    free(m->ptr);
    free(m->idx);
    free(m->val);
}

enum { WIDTH = 2500, LEVELS = 80, HALF = 1000000, RANDOM = 16, LINK = 1000, CHAINS = 3000 };

static int32_t length_one(int32_t i)
{
    return i < 0 ? 0 : 1;
}
static int32_t length_two(int32_t i)
{
    return i > 0 ? 2 : 1;
}
static int32_t length_chains(int32_t i) /* CHAINS of them, LINK rows each, one after the other */
{
    return i % LINK ? 2 : 1;
}
static int32_t length_all(int32_t i)
{
    return i + 1;
}
static int32_t length_wide(int32_t i)
{
    return i < WIDTH ? 1 : 4;
}
static int32_t length_random(int32_t i)
{
    return i < HALF ? 1 : RANDOM + 1;
}
static int32_t column_before(int32_t i, int32_t k)
{
    return i - 1 - k;
}
static int32_t column_count(int32_t i, int32_t k)
{
    (void)i;
    return k;
}
static int32_t column_wide(int32_t i, int32_t k) /* in the level before */
{
    return (i / WIDTH - 1) * WIDTH + (i % WIDTH + 7 * i) % (WIDTH - 2) + k;
}
static int32_t column_random(int32_t i, int32_t k) /* one in each sixteenth of the first half */
{
    const uint32_t slot = HALF / RANDOM, z = ((uint32_t)i * RANDOM + (uint32_t)k) * 2654435761u;
    return (int32_t)((uint32_t)k * slot + (z >> 8) % slot);
}

/* ---- runs ------------------------------------------------------------------------------------------ */

/* The fastest solve, in seconds; NaN: the solver did not run. */
static double solve_seconds(const settings *s, const char *solver, const trs_mat *T)
{
    cell c = {.status = TRS_ESUPPORT};
    settings quick = *s;
    bed b;
    quick.cell_seconds = 0.5;
    quick.nrhs = 1;
    quick.op = TRS_N;
    quick.on_host = false;
    for (int k = 0; trs_solver_get(k, &c.solver) == TRS_OK; k++) {
        if (strcmp(c.solver.name, solver) || !c.solver.available) continue;
        progress(s, "calibrate", solver);
        c.status = bed_make(&b, &quick, T);
        if (!c.status) measure_cell(&b, &c);
        bed_free(&b);
        progress(s, NULL, NULL);
        break;
    }
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

/* Seconds a byte to add up count doubles, four sums at a time. */
static double stream(int64_t count)
{
    double *a = malloc((size_t)count * sizeof *a), best = NAN, all = 0;
    for (int64_t k = 0; k < count && a; k++) a[k] = (double)k;
    for (int r = 0; r < RUNS && a; r++) {
        double s[4] = {0};
        const double start = now();
        for (int64_t k = 0; k + 4 <= count; k += 4)
            for (int j = 0; j < 4; j++) s[j] += a[k + j];
        best = fmin(best, now() - start);
        all += s[0] + s[1] + s[2] + s[3];
    }
    free(a);
    return all < 0 ? (double)NAN : best / ((double)count * sizeof *a);
}

/* ---- the CPU --------------------------------------------------------------------------------------- */

/* What a row takes beyond its bytes and its arithmetic when those around it in memory are not its neighbours in
 * level order. */
static double scatter_seconds(const settings *s, const trs_machine *c)
{
    const int32_t n = CHAINS * LINK;
    settings alone = *s;
    alone.threads = 1;
    const double t = made_seconds(&alone, "cpu-level", n, length_chains, column_before) / n;
    return at_least(t - (24 + 32) * c->cpu_byte - 2 * c->cpu_entry - c->cpu_row);
}

void steps_cpu(const settings *s, int threads, trs_machine *c)
{
    const int n = 20000, full = 1000, wide = WIDTH * LEVELS;
    const double entries = 0.5 * full * (full + 1);
    c->cpu_byte = stream((int64_t)32 << 20);
    c->cpu_cached = stream((int64_t)1 << 19);
    const double t_full = made_seconds(s, "cpu-serial", full, length_all, column_count);
    const double t_one = made_seconds(s, "cpu-serial", n, length_one, column_before) / n;
    const double t_two = made_seconds(s, "cpu-serial", n, length_two, column_before) / n;
    const double t_dense = made_seconds(s, "cpu-dense", full, length_all, column_count);
    c->cpu_entry = at_least((t_full - full * t_one) / (entries - full) - 12 * c->cpu_cached);
    c->cpu_row = at_least(t_one - 44 * c->cpu_cached - c->cpu_entry);
    c->cpu_full = at_least((t_dense - full * c->cpu_row) / entries - 8 * c->cpu_cached);
    c->cpu_latency = at_least(t_two);
    c->cpu_scatter = scatter_seconds(s, c);
    if (threads < 2) return;
    const int shared = threads < 8 ? threads : 8;
    const double serial = made_seconds(s, "cpu-serial", wide, length_wide, column_wide);
    const double level = made_seconds(s, "cpu-level", wide, length_wide, column_wide);
    c->cpu_barrier = at_least((level - serial / shared) / (LEVELS + 2));
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
        c->link_start = at_least(link_seconds(device, here, a, 8));
        c->link_byte =
            at_least((link_seconds(device, here, a, some) - c->link_start) / (double)some);
        c->gpu_byte = at_least(copy_seconds(device, b, a, bytes) / (2 * (double)bytes));
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
    c->gpu_launch = at_least(level_seconds(s, "cuda-multiblock"));
    c->gpu_latency = at_least(level_seconds(s, "cuda-dataflow"));
    const double t = made_seconds(s, "cuda-dataflow", 2 * HALF, length_random, column_random);
    if (!(c->gpu_byte > 0)) return; /* no room: nothing to take off */
    const double known =
        (12 * entries + 44 * rows) * c->gpu_byte + launches * c->gpu_launch + 2 * c->gpu_latency;
    c->gpu_gather = at_least((t - known) / entries);
}
