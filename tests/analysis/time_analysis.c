/* time_analysis.c: shows where the time of an analysis goes, phase by phase, in units of a solve by cpu-serial.
 *
 *     make tests/analysis/time_analysis && tests/analysis/time_analysis [-c] [-t THREADS] [-r ROUNDS] grid7:100 rmat:18 ...
 *
 * The rounds go through all phases in turn, so that a busy machine disturbs all of them, and the smallest time of each
 * counts.  With -c it is the time of the processor and not of the clock, for one thread on a busy machine.  "solve" is
 * that of cpu-serial, with its rows in the caller's order. */
#include "config.h"

#include "analysis/level.h"
#include "core/plan.h"
#include "bin/common/problems/problems.h"
#include "trisolve-mmio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SOLVE, CREATE, LEVELS, ANALYSE, UPDATE, LEVEL_PLAN, LEVEL_UPDATE, LEVEL_SOLVE, PHASES };

static const char *const name[PHASES] = {"solve",  "create",          "levels",     "ready",
                                         "update", "cpu-level ready", "its update", "its solve"};

static clockid_t the_clock = CLOCK_MONOTONIC;

typedef struct timing {
    trs_mat L;
    double *b, *x;
    double best[PHASES];
    int threads;
} timing;

static double now(void)
{
    struct timespec t;
    clock_gettime(the_clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void keep(timing *t, int phase, double seconds)
{
    if (t->best[phase] == 0 || seconds < t->best[phase]) t->best[phase] = seconds;
}

static void must(int rc, const char *what)
{
    if (!rc) return;
    fprintf(stderr, "%s: %s\n", what, trs_strerror(rc));
    exit(1);
}

/* The life of a plan of one solver; returned to go on with. */
static trs_plan *live(timing *t, const char *solver, int ready, int update, int solve)
{
    const trs_options opt = {.solver = solver, .threads = t->threads};
    trs_plan *p;
    double start = now();
    must(trs_plan_create(&p, &t->L, &opt), "create");
    keep(t, CREATE, now() - start);
    must(trs_plan_analyse(p), "analyse");
    keep(t, ready, now() - start);
    start = now();
    must(trs_plan_update(p, &t->L, NULL), "update");
    keep(t, update, now() - start);
    for (int k = 0; k < 3; k++) {
        start = now();
        must(trs_solve(p, TRS_N, 1, t->b, t->L.n, t->x, t->L.n, NULL), "solve");
        keep(t, solve, now() - start);
    }
    return p;
}

static void one_round(timing *t)
{
    trs_levels lv;
    trs_plan *p = live(t, "cpu-serial", ANALYSE, UPDATE, SOLVE);
    double start = now();
    must(trs_level_rows(&p->ctx, &p->side[0].op.tri, &lv), "levels");
    keep(t, LEVELS, now() - start);
    trs_levels_free(&p->ctx, &lv);
    trs_plan_destroy(p);
    trs_plan_destroy(live(t, "cpu-level", LEVEL_PLAN, LEVEL_UPDATE, LEVEL_SOLVE));
}

static void one_problem(const char *spec, int threads, int rounds)
{
    trs_mm mm;
    must(problem_named(spec, &mm), spec);
    timing t = {.L = {.n = mm.rows,
                      .nnz = mm.nnz,
                      .ptr = mm.ptr,
                      .idx = mm.idx,
                      .val = mm.val,
                      .kind = TRS_LOWER},
                .threads = threads};
    t.b = malloc((size_t)mm.rows * sizeof *t.b);
    t.x = malloc((size_t)mm.rows * sizeof *t.x);
    if (!t.b || !t.x) must(TRS_EMEM, spec);
    for (int64_t i = 0; i < mm.rows; i++) t.b[i] = 1;
    for (int k = 0; k < rounds; k++) one_round(&t);
    printf("%-16s %9.3f", spec, 1e3 * t.best[SOLVE]);
    for (int k = 1; k < PHASES; k++) printf(" %11.2f", t.best[k] / t.best[SOLVE]);
    printf("   %.2f ns a nonzero\n", 1e9 * t.best[SOLVE] / (double)mm.nnz);
    fflush(stdout);
    free(t.b);
    free(t.x);
    trs_mm_free(&mm);
}

int main(int argc, char **argv)
{
    int threads = 0, rounds = 7;
    for (int c; (c = getopt(argc, argv, "ct:r:")) != -1;) {
        if (c == 't') threads = atoi(optarg);
        else if (c == 'c') the_clock = CLOCK_PROCESS_CPUTIME_ID;
        else if (c == 'r') rounds = atoi(optarg);
        else return 1;
    }
    printf("%-16s %9s", "in solves", "solve ms");
    for (int k = 1; k < PHASES; k++) printf(" %11.11s", name[k]);
    printf("\n");
    for (; optind < argc; optind++) one_problem(argv[optind], threads, rounds);
    return 0;
}
