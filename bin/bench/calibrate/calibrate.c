/* calibrate.c: --calibrate: what steps cost on this machine, for the library's cost model, as the file that
 * TRISOLVE_MACHINE names.
 *
 * Single steps are measured first (steps.c).  They are the units of most other costs, and the start of those of the
 * CPU.  Then each group of costs is fitted to the times of its solvers on a set of problems (groups.c, fit.c).  A cost
 * that nothing here depends on, because its solver does not run or no problem of the set shows it, is left out, and the
 * library keeps its own. */
#include "config.h"

#include "calibrate.h"

#include "base/noun.h"
#include "bin/bench/measure/cell.h"
#include "bin/bench/measure/summary.h"
#include "bin/bench/measure/triangle.h"
#include "bin/common/message.h"
#include "bin/common/output/output.h"
#include "bin/common/timing.h"
#include "bin/costs/costs.h"
#include "select/predict.h"
#include "groups.h"
#include "steps.h"

#include <stdlib.h>
#include <string.h>

/* s, of --cell-seconds: problems are made, solvers of a group are timed, and all of it ends, within so many times it. */
enum { MAKING = 4, GROUP = 3, ALL = 44 };

enum { MOST_GROUPS = 32 };

typedef struct calibration {
    const settings *settings;
    const host *host;
    double start;
    trs_machine before, machine; /* what was taken for granted; what was found */
    bool known[COSTS];
    fit_problems problems;
    bool is_fitted[MOST_GROUPS];
    fit_result result[MOST_GROUPS];
} calibration;

/* ---- where it begins ---------------------------------------------------------------------------- */

static void know_facts(calibration *c, bool gpu)
{
    for (int k = 0; k < COSTS; k++)
        if (cost_is_fact(k)) c->known[k] = gpu || !strncmp(cost_names[k].name, "cpu_", 4);
}

static int find_machine(calibration *c)
{
    const settings *s = c->settings;
    if (strcmp(trs_version(), TRS_VERSION))
        return complain("--calibrate: this program needs version %s of the library, found %s",
                        TRS_VERSION, trs_version()),
               EXIT_USAGE;
    int rc = costs_before(s, "cpu-serial", TRS_HOST, &c->machine);
    if (!rc && s->device != TRS_HOST) rc = costs_before(s, "cuda-dataflow", s->device, &c->machine);
    if (rc) return complain("--calibrate: %s", trs_message()), EXIT_USAGE;
    know_facts(c, s->device != TRS_HOST);
    c->before = c->machine;
    return EXIT_GOOD;
}

/* 0: there is no such cost, because its module was removed. */
static double cost_named(calibration *c, const char *name)
{
    for (int k = 0; k < COSTS; k++)
        if (!strcmp(cost_names[k].name, name)) return *cost_in(&c->machine, k);
    return 0;
}

/* ---- steps, then groups -------------------------------------------------------------------------- */

static void take_steps(calibration *c)
{
    trs_machine found = {0};
    steps_cpu(c->settings, c->host->threads, &found);
    if (c->settings->device != TRS_HOST)
        steps_gpu(c->settings, cost_named(c, "dataflow_launches"), &found);
    cost_take(&found, &c->machine, c->known);
}

static void fit_groups(calibration *c)
{
    const settings *s = c->settings;
    const double until = c->start + ALL * s->cell_seconds;
    const cost_group *g;
    for (int k = 0; (g = cost_group_at(k)) != NULL && k < MOST_GROUPS; k++) {
        const double left = until - now(), most = GROUP * s->cell_seconds;
        if ((!is_of_cpu(g) && s->device == TRS_HOST) || left <= 0) continue;
        c->is_fitted[k] = group_fit(s, g, &c->problems, left < most ? left : most, &c->before,
                                    &c->machine, c->known, &c->result[k]);
    }
}

/* ---- the file -------------------------------------------------------------------------------------- */

static void put_head(FILE *f, const host *h)
{
    cost_put_head(f);
    fprintf(f, "# trisolve-bench %s --calibrate, %s\n", trs_version(), h->date);
    fprintf(f, "# CPU: %s, %d %s\n# GPU: %s\n", h->cpu, h->threads,
            trs_noun(h->threads, "thread", "threads"), h->gpu);
}

static int count_costs(const cost_group *g, const bool *known)
{
    int count = 0;
    for (int k = 0; k < COSTS; k++)
        count += known[k] && !cost_is_fact(k) && is_in_group(g, cost_names[k].name);
    return count;
}

/* "# fit merged: 24 problems, 5 costs, leave-one-out error median 6 %, worst 31 %" */
static void put_fit(FILE *f, const cost_group *g, const fit_result *r, int costs)
{
    fprintf(f, "# fit %s: %d %s, %d %s", g->name, r->problems,
            trs_noun(r->problems, "problem", "problems"), costs, trs_noun(costs, "cost", "costs"));
    if (r->median >= 0)
        fprintf(f, ", leave-one-out error median %.2g %%, worst %.2g %%", 100 * r->median,
                100 * r->worst);
    fprintf(f, "\n");
}

/* Of the problems that costs were fitted to: how good is the choice among the solvers that were timed? */
static choice_sum sum_of_choices(const fit_problems *p, bool fitted)
{
    choice_sum sum = {0};
    for (int k = 0; k < p->count; k++)
        for (int e = 0; e < GROUP_NAMES; e++) {
            const fit_problem *one = &p->problem[k];
            const fit_choice *c = fitted ? &one->fitted[e] : &one->before[e];
            const choice of_one = {.ratio = c->seconds / one->best[e]};
            if (one->best[e] > 0) choice_add(&sum, &of_one);
        }
    return sum;
}

/* "# choice, fitted costs: 130 solves, 97.7 % within 1.1 of the fastest, geometric mean 1.01, worst 1.2" */
static void put_choices(FILE *f, const fit_problems *p, bool fitted)
{
    const choice_sum sum = sum_of_choices(p, fitted);
    if (!sum.count) return;
    fprintf(f, "# choice, %s costs: %d %s, %.1f %% within %.1f of the fastest, ",
            fitted ? "fitted" : "earlier", sum.count, trs_noun(sum.count, "solve", "solves"),
            100. * sum.within[0] / sum.count, choice_bounds[0]);
    fprintf(f, "geometric mean %.3f, worst %.3g\n", choice_mean(&sum), sum.worst);
}

static void put_file(FILE *f, calibration *c)
{
    const cost_group *g;
    put_head(f, c->host);
    for (int k = 0; (g = cost_group_at(k)) != NULL; k++)
        if (c->is_fitted[k]) put_fit(f, g, &c->result[k], count_costs(g, c->known));
    put_choices(f, &c->problems, false);
    put_choices(f, &c->problems, true);
    for (int k = 0; k < COSTS; k++) {
        if (c->known[k]) cost_put(f, k, &c->machine);
        else fprintf(f, "# %-26s not measured\n", cost_names[k].name);
    }
}

static int write_file(calibration *c, output *o)
{
    put_file(c->settings->count ? o->f : stdout, c);
    return c->settings->count ? file_close(o, true) : flush_output(EXIT_GOOD);
}

int calibrate(const settings *s, const host *h)
{
    calibration c = {.settings = s, .host = h, .start = now()};
    output o;
    int code = s->count ? file_open(&o, s->names[0]) : EXIT_GOOD;
    if (code) return code;
    setenv("TRISOLVE_MACHINE", "", 1); /* a file that is to be replaced may be wrong */
    warm_up(s);
    code = find_machine(&c);
    if (code) return s->count ? file_close(&o, false), code : code;
    take_steps(&c);
    progress(s, "calibrate", "problems");
    problems_make(&c.problems, MAKING * s->cell_seconds);
    fit_groups(&c);
    problems_free(&c.problems);
    return write_file(&c, &o);
}
