/* cpu_solvers.c: what the steps of single CPU solvers cost.
 *
 * A solver solves a triangle that is made for a cost, or for several at once.  The prediction p (f) for f
 * times these costs is a sum in which they have a large share, so that Newton's method finds the f for
 * which p (f) is the time it took.  The library predicts, by what was built (select/predict.h), so no
 * formula is here twice.
 *
 * The costs of cpu-blocked, which is for large triangles, and of cpu-stencil, whose analysis depends on
 * them, would take too long. */
#include "config.h"

#include "cpu_solvers.h"

#include "bin/common/timing.h"
#include "cpu_steps.h"
#include "made.h"
#include "select/predict.h"

#include <math.h>
#include <string.h>

/* ---- triangles ------------------------------------------------------------------------------- */

enum { THIN = 8, NODE = 12, FAR = 37 };

/* Levels of THIN rows. */
static int32_t length_thin(int32_t i)
{
    return i < THIN ? 1 : 3;
}
static int32_t column_thin(int32_t i, int32_t k)
{
    return (i / THIN - 1) * THIN + (i + k) % THIN;
}

/* Rows of changing lengths. */
static int32_t length_uneven(int32_t i)
{
    const int32_t most = 1 + i / FAR, length = 1 + (int32_t)((uint32_t)i * 2654435761u >> 29);
    return length < most ? length : most;
}
static int32_t column_uneven(int32_t i, int32_t k)
{
    return i - 1 - FAR * k;
}

/* A tree of full blocks of NODE rows: each block needs one of half its number. */
static int32_t length_tree(int32_t i)
{
    return 1 + i % NODE + (i < NODE ? 0 : NODE);
}
static int32_t column_tree(int32_t i, int32_t k)
{
    const int32_t block = i / NODE, before = block ? NODE : 0;
    return k < before ? (block - 1) / 2 * NODE + k : block * NODE + k - before;
}

/* ---- costs ----------------------------------------------------------------------------------- */

typedef struct step {
    /* what their names begin with */
    const char *costs;
    const char *solver;
    int32_t rows;
    int32_t (*length)(int32_t);
    int32_t (*column)(int32_t, int32_t);
} step;

/* Each depends on those before it. */
static const step steps[] = {
    {"cpu_branch", "cpu-serial", 20000, length_uneven, column_uneven},
    {"ell_row", "cpu-ell", 20000, length_one, column_before},
    {"ell_level", "cpu-ell", 8000, length_thin, column_thin},
    {"tiles_", "cpu-supernodal", 6000, length_tree, column_tree},
    {"tiles_value", "cpu-supernodal", 500, length_all, column_count},
};

static bool is_cost(const step *s, int k)
{
    return !strncmp(cost_names[k].name, s->costs, strlen(s->costs)) &&
           !strcmp(cost_names[k].unit, "s");
}

/* m with factor times the costs of the step. */
static trs_machine scaled(const step *s, const trs_machine *m, double factor)
{
    trs_machine with = *m;
    for (int k = 0; k < COSTS; k++)
        if (is_cost(s, k)) *cost_in(&with, k) *= factor;
    return with;
}

static double predict(const step *s, const trs_plan *plan, const trs_machine *m, double factor)
{
    const trs_machine with = scaled(s, m, factor);
    return trs_plan_predict(plan, &with);
}

/* The factor for which that many seconds are predicted, within bounds.  NaN: the costs are less than a
 * tenth of what is predicted so far, or nothing is. */
static double find_factor(const step *s, const trs_plan *plan, const trs_machine *m, double seconds)
{
    const double least = 0.125, most = 32, share = 0.1;
    double factor = 1;
    for (int turn = 0; turn < 4; turn++) {
        const double p = predict(s, plan, m, factor);
        const double slope = (predict(s, plan, m, 2 * factor) - p) / factor;
        if (turn == 0 && !(slope > share * p)) return (double)NAN;
        factor = fmax(least, fmin(most, factor + (seconds - p) / slope));
    }
    return factor;
}

static void take_step(const step *s, int threads, double seconds, trs_machine *m, bool *known)
{
    made T = {0};
    trs_plan *plan = NULL;
    double factor = NAN;
    if (make(&T, s->rows, s->length, s->column)) {
        const double t = cpu_solve_seconds(s->solver, threads, &T.T, seconds, &plan);
        if (t > 0) factor = find_factor(s, plan, m, t);
    }
    for (int k = 0; k < COSTS && factor > 0; k++) known[k] = known[k] || is_cost(s, k);
    if (factor > 0) *m = scaled(s, m, factor);
    trs_plan_destroy(plan);
    made_free(&T);
}

void cpu_solver_steps(int threads, double seconds, trs_machine *m, bool known[COSTS])
{
    const int count = sizeof steps / sizeof steps[0];
    const double until = now() + seconds;
    for (int k = 0; k < count && now() < until; k++)
        take_step(&steps[k], threads, seconds / (4 * count), m, known);
}
