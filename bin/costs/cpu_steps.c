/* cpu_steps.c: what single steps cost on this CPU.
 *
 * Each cost comes from a run in which it is most of the time, the rest being taken off by what is known already.  The
 * runs are solves, by the public solvers, of triangles made for it:
 *
 *     cpu_byte, cpu_cached   one core adds up an array that does not, and does, fit its cache
 *     cpu_cache              ... of what size it does: several systems may share the cache that this one is said to have
 *     cpu_entry, cpu_full    cpu-serial and cpu-dense on a full triangle
 *     cpu_row                cpu-serial on a diagonal;   cpu_latency: on a bidiagonal one, all of it
 *     cpu_barrier            cpu-level with all threads on wide levels, over its share of cpu-serial
 *     cpu_scatter            cpu-level, one thread, on a bundle of chains whose b and x fit no cache
 *
 * The fastest run counts, so that other work on the machine does not. */
#include "config.h"

#include "cpu_steps.h"

#include "bin/common/timing.h"
#include "made.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- solves ----------------------------------------------------------------------------------------- */

enum { LEAST = 3, MOST = 50 };

/* The fastest solve by the plan, after one to warm up. */
static double time_plan(const trs_plan *plan, int64_t n, const double *b, double *x, double seconds)
{
    double best = NAN;
    const double begun = now();
    for (int k = 0; k <= MOST && (k <= LEAST || now() - begun < seconds); k++) {
        const double start = now();
        if (trs_solve(plan, TRS_N, 1, b, n, x, n, NULL)) return (double)NAN;
        if (k > 0) best = fmin(best, now() - start);
    }
    return best;
}

double cpu_solve_seconds(const char *solver, int threads, const trs_mat *T, double seconds,
                         trs_plan **plan)
{
    const trs_options opt = {.solver = solver, .threads = threads};
    double *b = malloc(2 * (size_t)T->n * sizeof *b), best = NAN;
    int rc = b ? trs_plan_create(plan, T, &opt) : TRS_EMEM;
    if (!rc) rc = trs_plan_analyse(*plan);
    for (int64_t k = 0; k < T->n && b; k++) b[k] = 1;
    if (!rc) best = time_plan(*plan, T->n, b, b + T->n, seconds);
    free(b);
    return best;
}

/* What is left of a time when all that is known is taken off: not zero, which would say that nothing was measured.  NAN,
 * which a solve without memory takes, stays. */
static double rest(double seconds)
{
    const double least = 1e-12;
    return seconds < least ? least : seconds;
}

typedef struct run {
    int threads;
    double seconds; /* for the solves of one solver */
    void (*watch)(void *user, const char *solver);
    void *user;
} run;

static double made_seconds(const run *r, const char *solver, int32_t n, int32_t (*length)(int32_t),
                           int32_t (*column)(int32_t, int32_t))
{
    made m = {0};
    trs_plan *plan = NULL;
    double seconds = NAN;
    if (r->watch) r->watch(r->user, solver);
    if (make(&m, n, length, column))
        seconds = cpu_solve_seconds(solver, r->threads, &m.T, r->seconds, &plan);
    trs_plan_destroy(plan);
    made_free(&m);
    return seconds;
}

/* ---- memory ----------------------------------------------------------------------------------------- */

/* Bytes of arrays: in the cache of any processor of this day, and more than in most. */
static const size_t NEAR = (size_t)1 << 23, FAR = (size_t)1 << 27;

/* Seconds a byte to add up the doubles of so many bytes, four sums at a time. */
static double stream(const double *a, size_t bytes)
{
    const size_t count = bytes / sizeof *a;
    double best = NAN, all = 0;
    for (int r = 0; r < 3; r++) {
        double s[4] = {0};
        const double start = now();
        for (size_t k = 0; k < count; k += 4)
            for (int j = 0; j < 4; j++) s[j] += a[k + (size_t)j];
        best = fmin(best, now() - start);
        all += s[0] + s[1] + s[2] + s[3];
    }
    return all < 0 ? (double)NAN : best / (double)bytes;
}

/* The array is made larger while there is time, since new pages take far longer than to read them; so on a slow machine
 * it may be one that fits the cache, and cpu_byte is that of it. */
static void memory_steps(double seconds, trs_machine *c)
{
    double each[32]; /* seconds a byte of an array of NEAR << k bytes */
    double *a = malloc(FAR);
    const double start = now();
    int sizes = 0;
    if (!a) return;
    for (size_t bytes = NEAR, touched = 0; bytes <= FAR; bytes *= 2) {
        for (; touched < bytes; touched += sizeof *a) a[touched / sizeof *a] = 1;
        each[sizes++] = stream(a, bytes);
        if (now() - start > seconds / 3) break; /* the next one takes twice as long */
    }
    free(a);
    const double between = sqrt(each[0] * each[sizes - 1]);
    int k = 0;
    c->cpu_cached = each[0];
    c->cpu_byte = each[sizes - 1];
    while (k + 1 < sizes && each[k + 1] < between) k++;
    if (each[sizes - 1] > 1.3 * each[0]) c->cpu_cache = sqrt(2) * (double)(NEAR << k);
}

/* ---- the triangles of scatter and barrier ------------------------------------------------------------- */

enum { WIDTH = 2500, LEVELS = 60, LINK = 1000, CHAINS = 3000 };

static int32_t length_chains(int32_t i) /* CHAINS of them, LINK rows each, one after the other */
{
    return i % LINK ? 2 : 1;
}
static int32_t length_wide(int32_t i)
{
    return i < WIDTH ? 1 : 4;
}
static int32_t column_wide(int32_t i, int32_t k) /* in the level before */
{
    return (i / WIDTH - 1) * WIDTH + (i % WIDTH + 7 * i) % (WIDTH - 2) + k;
}

/* What a row takes beyond its bytes and its arithmetic when those around it in memory are not its neighbours in level
 * order. */
static double scatter_seconds(const run *r, const trs_machine *c)
{
    const int32_t n = CHAINS * LINK;
    run alone = *r;
    alone.threads = 1;
    const double t = made_seconds(&alone, "cpu-level", n, length_chains, column_before) / n;
    return rest(t - (24 + 32) * c->cpu_byte - 2 * c->cpu_entry - c->cpu_row);
}

static double barrier_seconds(const run *r)
{
    const int shared = r->threads < 8 ? r->threads : 8;
    const double serial = made_seconds(r, "cpu-serial", WIDTH * LEVELS, length_wide, column_wide);
    const double level = made_seconds(r, "cpu-level", WIDTH * LEVELS, length_wide, column_wide);
    return rest((level - serial / shared) / (LEVELS + 2));
}

/* ---- all of it ---------------------------------------------------------------------------------------- */

static const double LONG = 1; /* s: then there is time for the chains, which take as long to make */

void cpu_steps(int threads, double seconds, trs_machine *c,
               void (*watch)(void *user, const char *solver), void *user)
{
    const run r = {threads, seconds / 50, watch, user};
    const int n = 20000, full = 600;
    const double entries = 0.5 * full * (full + 1);
    memory_steps(0.5 * seconds, c);
    const double t_full = made_seconds(&r, "cpu-serial", full, length_all, column_count);
    const double t_one = made_seconds(&r, "cpu-serial", n, length_one, column_before) / n;
    const double t_two = made_seconds(&r, "cpu-serial", n, length_two, column_before) / n;
    const double t_dense = made_seconds(&r, "cpu-dense", full, length_all, column_count);
    c->cpu_entry = rest((t_full - full * t_one) / (entries - full) - 12 * c->cpu_cached);
    c->cpu_row = rest(t_one - 44 * c->cpu_cached - c->cpu_entry);
    c->cpu_full = rest((t_dense - full * c->cpu_row) / entries - 8 * c->cpu_cached);
    c->cpu_latency = t_two;
    if (threads > 1) c->cpu_barrier = barrier_seconds(&r);
    if (seconds >= LONG) c->cpu_scatter = scatter_seconds(&r, c);
}
