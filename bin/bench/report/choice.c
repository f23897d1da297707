/* choice.c: --choice: how good the automatic choice is: its time over that of the fastest solver,
 * problem by problem, and the share of the problems within 1.1 and 1.3; and over that of
 * cpu-serial, which no choice may be slower than.
 *
 * The choice is the one for where B and X were: in device memory, or with --cpu and --host on the
 * host. */
#include "config.h"

#include "report.h"

#include "base/noun.h"
#include "bin/bench/measure/summary.h"
#include "bin/common/exits.h"

#include <math.h>
#include <stdio.h>

static int add(const report *p, const result *r)
{
    if (*r->trouble) return EXIT_GOOD;
    const choice c = find_choice(p->settings, r);
    if (isnan(c.ratio)) {
        printf("choice: %s: the solver that is chosen was not run\n", r->name);
        return EXIT_GOOD;
    }
    const double over_serial = over_solve(r, c.taken, "cpu-serial");
    printf("choice: %s: %s %.4g ms", r->name, c.taken->solver.name, 1e3 * c.taken->solve.median);
    if (!isnan(over_serial)) printf(" (%.3f of cpu-serial)", over_serial);
    printf(", best %s %.4g ms: %.3f\n", c.best->solver.name, 1e3 * c.best->solve.median, c.ratio);
    return EXIT_GOOD;
}

static int end(const report *p)
{
    const choice_sum sum = sum_choices(p->settings, p->all);
    if (sum.count) {
        printf("\nThe automatic choice%s over the best solver, %d %s:",
               p->settings->measure ? ", by measuring," : "", sum.count,
               trs_noun(sum.count, "problem", "problems"));
        for (int k = 0; k < BOUNDS; k++)
            printf(" %.1f %% within %.1f,", 100. * sum.within[k] / sum.count, choice_bounds[k]);
        printf(" geometric mean %.3f, worst %.3f", choice_mean(&sum), sum.worst);
        if (sum.worst_over_serial > 0)
            printf("; over cpu-serial, worst %.3f", sum.worst_over_serial);
        printf("\nCosts: %s\n", first_solved(p->all)->costs);
    }
    if (sum.missing) printf("%d without a figure\n", sum.missing);
    return EXIT_GOOD;
}

const reporter reporter_choice = {NULL, add, end};
