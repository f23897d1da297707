/* groups.c: times of the solvers of a group on the problems that suit them, and the costs of the group by these.
 *
 * A plan is kept for each time, since a prediction looks at what was built.  What a solver refuses, or what is predicted
 * to take long, is left out; the fit goes by what is there. */
#include "config.h"

#include "groups.h"

#include "base/debug.h"
#include "bin/bench/measure/cell.h"
#include "bin/bench/measure/solvers.h"
#include "bin/common/numbers.h"
#include "bin/common/timing.h"
#include "bin/costs/costs.h"
#include "select/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 15, MOST_SAMPLES = MOST_PROBLEMS * GROUP_NAMES * GROUP_NAMES };

static const double ENOUGH = 0.02, TOO_LONG = 0.3; /* s: of all runs, of a solve */
/* s of a fit, and times settings.cell_seconds at most; of that the runs take no more than one */
static const double FITTING = 10, FITTING_TIMES = 8;

static const cost_group groups[] = {
    {"cpu", {"cpu_"}, {"cpu-serial", "cpu-level"}, {1, 8, 32}, 0, false, 0},
    {"cpu-dense", {"cpu_full"}, {"cpu-dense"}, {1, 8, 32}, 1500, true, 0},
    {"cpu-stencil", {"stencil_"}, {"cpu-stencil"}, {1, 8, 32}, 0, false, 3},
    {"cpu-supernodal", {"tiles_"}, {"cpu-supernodal"}, {1, 8, 32}, 0, false, 3},
    {"cpu-ell", {"ell_"}, {"cpu-ell"}, {1, 8, 32}, 0, false, 3},
    {"cpu-blocked", {"blocked_"}, {"cpu-blocked"}, {1, 8, 32}, 0, false, 3},
    {"dataflow", {"dataflow_"}, {"cuda-dataflow"}, {1, 8, 32}, 0, false, 0},
    {"rows", {"rows_"}, {"cuda-rows"}, {1, 8}, 50000, false, 3},
    {"levels", {"levels_"}, {"cuda-levels"}, {1, 8}, 0, false, 3},
    {"dense", {"dense_", "blocks_"}, {"dense-blocked"}, {1, 8, 32}, 12000, false, 3},
    {"supernodal", {"supernodal_"}, {"cuda-supernodal"}, {1, 8, 32}, 0, false, 0},
    {"merged", {"merged_"}, {"cuda-merged"}, {1, 8, 32}, 0, false, 3},
    {"segments", {"segments_"}, {"cuda-segments"}, {1, 8}, 0, false, 3},
    {"cusparse", {"cusparse_"}, {"cusparse"}, {1, 8, 32}, 0, false, 0},
    {"cublas", {"cublas_"}, {"cublas-dense"}, {1, 8, 32}, 5000, false, 0},
    {"cusolver", {"cusolver_"}, {"cusolver-getrf"}, {1, 8, 32}, 0, false, 0},
    {"chain", {"chain_"}, {"cuda-chain", "cuda-host"}, {1, 8, 32}, 100000, false, 4},
    {"naive", {"naive_"}, {"cuda-naive"}, {1}, 20000, false, 0},
    {"single-block", {"single_"}, {"cuda-single-block"}, {1}, 100000, false, 0},
    {"multiblock", {"multiblock_"}, {"cuda-multiblock"}, {1, 8}, 0, false, 0},
    {"doubling", {"doubling_"}, {"dense-doubling", "dense-doubling-tiled"}, {1, 8}, 5000, false, 0},
    {"lu", {"general_"}, {"lu-row-shared", "lu-submatrix"}, {1, 8}, 0, false, 0},
    {"gauss", {"gauss_"}, {"gauss-vec4", "gauss-shared"}, {1}, 0, false, 0},
};

const cost_group *cost_group_at(int k)
{
    return k >= 0 && k < (int)(sizeof groups / sizeof groups[0]) ? &groups[k] : NULL;
}

bool is_of_cpu(const cost_group *g)
{
    return !strncmp(g->name, "cpu", 3);
}

bool is_in_group(const cost_group *g, const char *name)
{
    for (int k = 0; k < GROUP_NAMES && g->prefix[k]; k++)
        if (!strncmp(name, g->prefix[k], strlen(g->prefix[k]))) return true;
    return false;
}

int costs_before(const settings *s, const char *solver, int device, trs_machine *m)
{
    static const int64_t ptr[] = {0, 1, 2};
    static const int32_t idx[] = {0, 1};
    static const double val[] = {1, 1};
    const trs_mat T = {.n = 2, .nnz = 2, .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
    const bed b = {.settings = s, .T = &T};
    trs_plan *plan = NULL;
    int rc = make_plan(&b, solver, device, &plan);
    if (!rc) rc = trs_plan_machine(plan, m);
    trs_plan_destroy(plan);
    return rc;
}

/* ---- samples --------------------------------------------------------------------------------- */

typedef struct samples {
    const settings *settings;
    const cost_group *group;
    trs_machine machine;
    int costs, cost[FIT_COSTS]; /* numbers of the costs of the group */
    double until;               /* no further sample is begun */
    int count;
    trs_plan *plan[MOST_SAMPLES];
    int problem[MOST_SAMPLES], column[MOST_SAMPLES];
    double measured[MOST_SAMPLES];
    double seconds[MOST_SAMPLES]; /* by which the costs are fitted: measured, */
    bool at_least[MOST_SAMPLES];  /* or less than that */
} samples;

static bool suits(const cost_group *g, const fit_problem *p, const trs_solver_info *solver)
{
    const trs_mat *T = &p->T;
    if (!solver->general != !p->full) return false;
    if (g->only_full && 4 * T->nnz < T->n * T->n) return false;
    return !g->rows || T->n <= g->rows;
}

/* The fastest of some runs after one to warm up, since others may use the machine; NaN: it cannot be solved. */
static double seconds_of_solves(const bed *b, const trs_plan *plan, bool gpu)
{
    const double enough = fmin(ENOUGH, b->settings->cell_seconds);
    double run[RUNS], unused;
    const double start = now();
    int count = 0;
    if (time_solve(b, plan, gpu, &unused)) return (double)NAN;
    while (count < RUNS && (count < 3 || now() - start < enough))
        if (time_solve(b, plan, gpu, &run[count++])) return (double)NAN;
    return spread_of(run, count).min;
}

/* The time beyond which nobody would choose a solver, since those of earlier groups are so much faster. */
static double longest_of_use(const cost_group *g, const fit_problem *p, int column)
{
    return g->slower && p->best[column] > 0 ? g->slower * p->best[column] : INFINITY;
}

/* Is it one of those among which a choice is made?  B and X are on the GPU, if there is one. */
static bool competes(const samples *s, const trs_solver_info *solver)
{
    return (s->settings->device != TRS_HOST) == (strcmp(solver->needs, "cpu") != 0);
}

/* Adds a sample with columns [column], if the solver can do it in good time. */
static void add_sample(samples *s, const bed *b, const trs_solver_info *solver, fit_problem *p,
                       int problem, int column)
{
    const bool gpu = strcmp(solver->needs, "cpu") != 0;
    trs_plan *plan = NULL;
    double seconds = NAN;
    int rc = gpu && !b->device_B ? TRS_EMEM : TRS_OK;
    if (!rc) rc = make_plan(b, solver->name, gpu ? b->settings->device : TRS_HOST, &plan);
    if (!rc && trs_plan_predict(plan, &s->machine) < TOO_LONG)
        seconds = seconds_of_solves(b, plan, gpu);
    if (!(seconds > 0)) {
        trs_plan_destroy(plan);
        return;
    }
    const double longest = longest_of_use(s->group, p, column);
    if (competes(s, solver) && !(p->best[column] > 0 && p->best[column] < seconds))
        p->best[column] = seconds;
    TRS_ASSERT(s->count < MOST_SAMPLES);
    s->plan[s->count] = plan;
    s->problem[s->count] = problem;
    s->column[s->count] = column;
    s->measured[s->count] = seconds;
    s->at_least[s->count] = seconds > longest;
    s->seconds[s->count++] = fmin(seconds, longest);
}

/* All columns of a problem for all solvers.  B and X of any problem are parts of those of the bed. */
static void add_problem(samples *s, const bed *room, const trs_solver_info *solver, int solvers,
                        fit_problem *p, int problem)
{
    const cost_group *g = s->group;
    for (int e = 0; e < solvers * GROUP_NAMES; e++) {
        const int column = e % GROUP_NAMES;
        const trs_solver_info *with = &solver[e / GROUP_NAMES];
        settings one = *s->settings;
        bed b = *room;
        if (!g->columns[column] || !suits(g, p, with) || now() > s->until) continue;
        one.nrhs = g->columns[column];
        one.op = TRS_N;
        one.on_host = false;
        b.settings = &one;
        b.T = &p->T;
        add_sample(s, &b, with, p, problem, column);
    }
}

/* B and X for the most columns of the largest problem, of numbers of 8 bytes each, or of 4; B is small numbers. */
static int make_room(bed *b, const settings *s, const cost_group *g, const fit_problems *p,
                     trs_dtype t)
{
    int64_t n = 1;
    settings most = *s;
    for (int k = 0; k < p->count; k++) {
        const trs_mat *T = &p->problem[k].T;
        const int64_t rows = T->n * parts_of(T->dtype);
        if (is_single(T->dtype) == is_single(t) && rows > n) n = rows;
    }
    for (int e = 0; e < GROUP_NAMES; e++)
        if (g->columns[e] > most.nrhs) most.nrhs = g->columns[e];
    const int rc = bed_make_room(b, &most, n, t);
    b->settings = s;
    return rc;
}

static void take_samples(samples *s, fit_problems *p)
{
    const cost_group *g = s->group;
    trs_solver_info solver[GROUP_NAMES];
    int solvers = 0;
    bed room[2];
    for (int k = 0; k < GROUP_NAMES && g->solver[k]; k++)
        solvers += find_solver(g->solver[k], &solver[solvers]) && solver[solvers].available;
    if (!solvers) return;
    int rc = make_room(&room[0], s->settings, g, p, TRS_F64);
    if (make_room(&room[1], s->settings, g, p, TRS_F32)) rc = TRS_EMEM;
    for (int k = 0; k < p->count && !rc && now() < s->until; k++) {
        progress(s->settings, g->name, p->problem[k].name);
        add_problem(s, &room[is_single(p->problem[k].T.dtype)], solver, solvers, &p->problem[k], k);
    }
    progress(s->settings, NULL, NULL);
    for (int k = 0; k < 2; k++) bed_free(&room[k]);
}

/* ---- the fit --------------------------------------------------------------------------------- */

static double predict(void *user, int sample, const double cost[FIT_COSTS])
{
    const samples *s = user;
    trs_machine m = s->machine;
    for (int j = 0; j < s->costs; j++) *cost_in(&m, s->cost[j]) = cost[j];
    return trs_plan_predict(s->plan[sample], &m);
}

static void take_costs(samples *s)
{
    for (int k = 0; k < COSTS && s->costs < FIT_COSTS; k++)
        if (!cost_is_fact(k) && is_in_group(s->group, cost_names[k].name)) s->cost[s->costs++] = k;
}

static bool fit_costs(samples *s, trs_machine *m, bool *fitted, fit_result *r)
{
    const fit_model model = {.costs = s->costs,
                             .samples = s->count,
                             .problem = s->problem,
                             .seconds = s->seconds,
                             .at_least = s->at_least,
                             .predict = predict,
                             .user = s,
                             .until =
                                 now() + fmin(FITTING, FITTING_TIMES * s->settings->cell_seconds)};
    double start[FIT_COSTS] = {0};
    for (int j = 0; j < s->costs; j++) start[j] = *cost_in(m, s->cost[j]);
    progress(s->settings, s->group->name, "fit");
    const bool found = fit(&model, start, r);
    progress(s->settings, NULL, NULL);
    for (int j = 0; j < s->costs && found; j++) {
        if (!r->determined[j]) continue;
        *cost_in(m, s->cost[j]) = r->cost[j];
        fitted[s->cost[j]] = true;
    }
    return found;
}

static void choose(fit_choice *c, double predicted, double seconds)
{
    if (predicted > 0 && !(c->seconds > 0 && c->predicted <= predicted))
        *c = (fit_choice){predicted, seconds};
}

/* Which of the problems would the solvers of this group be chosen for? */
static void note_choices(const samples *s, fit_problems *p, const trs_machine *before,
                         const trs_machine *fitted)
{
    if (is_of_cpu(s->group) != (s->settings->device == TRS_HOST)) return;
    for (int k = 0; k < s->count; k++) {
        fit_problem *one = &p->problem[s->problem[k]];
        const int column = s->column[k];
        choose(&one->before[column], trs_plan_predict(s->plan[k], before), s->measured[k]);
        choose(&one->fitted[column], trs_plan_predict(s->plan[k], fitted), s->measured[k]);
    }
}

bool group_fit(const settings *s, const cost_group *g, fit_problems *p, double seconds,
               const trs_machine *before, trs_machine *m, bool *fitted, fit_result *r)
{
    samples *all = calloc(1, sizeof *all);
    if (!all) return false;
    all->settings = s;
    all->group = g;
    all->machine = *m;
    all->until = now() + seconds;
    take_costs(all);
    if (all->costs > 0) take_samples(all, p);
    const bool found = all->count > 0 && fit_costs(all, m, fitted, r);
    note_choices(all, p, before, m);
    for (int k = 0; k < all->count; k++) trs_plan_destroy(all->plan[k]);
    free(all);
    return found;
}
