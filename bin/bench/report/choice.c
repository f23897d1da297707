/* choice.c: --choice: how good the automatic choice is: its time over that of the fastest solver,
 * problem by problem, and the share of the problems within 1.1 and 1.3; and over that of
 * cpu-serial, which no choice may be slower than.
 *
 * The choice is the one for where B and X were: in device memory, or with --cpu and --host on the
 * host. */
#include "config.h"

#include "report.h"
#include "screen.h"

#include "base/noun.h"
#include "bin/bench/measure/summary.h"
#include "bin/common/message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct choices {
    choice_sum sum;
    double worst_over_serial;
    char costs[200]; /* of the last result */
} choices;

static bool wanted(const session *s)
{
    return s->outputs.choice;
}

static int begin(const session *s, void **data)
{
    (void)s;
    *data = calloc(1, sizeof(choices));
    return *data ? EXIT_GOOD : out_of_memory();
}

static int add(const session *s, void *data, const result *r)
{
    choices *c = data;
    if (*r->trouble) return EXIT_GOOD;
    const choice p = find_choice(&s->settings, r);
    choice_add(&c->sum, &p);
    if (isnan(p.ratio)) {
        printf("choice: %s: the solver that is chosen was not run\n", r->name);
        return EXIT_GOOD;
    }
    const double over_serial = over_solve(r, p.taken, "cpu-serial");
    printf("choice: %s: %s %.4g ms", r->name, p.taken->solver.name, 1e3 * p.taken->solve.median);
    if (!isnan(over_serial)) printf(" (%.3f of cpu-serial)", over_serial);
    printf(", best %s %.4g ms: %.3f\n", p.best->solver.name, 1e3 * p.best->solve.median, p.ratio);
    snprintf(c->costs, sizeof c->costs, "%s", r->costs);
    c->worst_over_serial = fmax(c->worst_over_serial, over_serial); /* which leaves a NaN out */
    return fflush(stdout) ? EXIT_USAGE : EXIT_GOOD;
}

static int end(const session *s, void *data, bool complete)
{
    choices *c = data;
    const choice_sum *sum = &c->sum;
    if (complete && sum->count) {
        printf("\nThe automatic choice%s over the best solver, %d %s:",
               s->settings.measure ? ", by measuring," : "", sum->count,
               trs_noun(sum->count, "problem", "problems"));
        for (int k = 0; k < BOUNDS; k++)
            printf(" %.1f %% within %.1f,", 100. * sum->within[k] / sum->count, choice_bounds[k]);
        printf(" geometric mean %.3f, worst %.3f", choice_mean(sum), sum->worst);
        if (c->worst_over_serial > 0) printf("; over cpu-serial, worst %.3f", c->worst_over_serial);
        printf("\nCosts: %s\n", c->costs);
    }
    if (complete && sum->missing) printf("%d without a figure\n", sum->missing);
    free(c);
    return flush_screen();
}

const reporter reporter_choice = {wanted, begin, add, end};
