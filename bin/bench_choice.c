/* bench_choice.c: --choice: how good is the automatic choice?  Its time over that of the fastest solver,
 * problem by problem, and the share of the problems within 1.1 and 1.3; and over that of cpu-serial, which no choice
 * may be slower than.
 *
 * The choice is the one for where B and X were: in device memory, or with --cpu and --host on the host. */
#include "config.h"

#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct choice {
    const settings *settings;
    int count, missing; /* problems; without a choice that ran */
    int within[2];      /* 1.1, 1.3 */
    double log_sum, worst, worst_over_serial;
    char costs[200];
} choice;

static const double bounds[] = {1.1, 1.3};

static int begin(const settings *s, const host *h, void **data)
{
    (void)h;
    if (!s->choice) return EXIT_GOOD;
    choice *c = *data = calloc(1, sizeof *c);
    if (!c) return out_of_memory();
    c->settings = s;
    return EXIT_GOOD;
}

static int add(void *data, const result *r)
{
    choice *c = data;
    const bool device = c->settings->device != TRS_HOST && !c->settings->on_host;
    const cell *best = NULL, *taken = NULL;
    for (int k = 0; k < r->count && !*r->trouble; k++) {
        const cell *one = &r->cells[k];
        const bool there = !device || strcmp(one->solver.needs, "cpu");
        if (one->status || !there) continue;
        if (device ? one->auto_device : one->auto_host) taken = one;
        if (one->accurate && (!best || one->solve.median < best->solve.median)) best = one;
    }
    if (*r->trouble) return EXIT_GOOD;
    if (!taken || !best) {
        printf("choice: %s: the solver that is chosen was not run\n", r->name);
        c->missing++;
        return EXIT_GOOD;
    }
    const double ratio = taken->solve.median / best->solve.median;
    const double over_serial = over_solve(r, taken, "cpu-serial");
    printf("choice: %s: %s %.4g ms", r->name, taken->solver.name, 1e3 * taken->solve.median);
    if (!isnan(over_serial)) printf(" (%.3f of cpu-serial)", over_serial);
    printf(", best %s %.4g ms: %.3f\n", best->solver.name, 1e3 * best->solve.median, ratio);
    snprintf(c->costs, sizeof c->costs, "%s", r->costs);
    c->count++;
    c->log_sum += log(ratio);
    c->worst = fmax(c->worst, ratio);
    c->worst_over_serial = fmax(c->worst_over_serial, over_serial); /* a NaN is left out */
    for (int k = 0; k < 2; k++) c->within[k] += ratio <= bounds[k];
    return fflush(stdout) ? EXIT_USAGE : EXIT_GOOD;
}

static int end(void *data, bool complete)
{
    choice *c = data;
    if (complete && c->count) {
        printf("\nThe automatic choice%s over the best solver, %d problem%s:",
               c->settings->measure ? ", by measuring," : "", c->count, c->count == 1 ? "" : "s");
        for (int k = 0; k < 2; k++)
            printf(" %.1f %% within %.1f,", 100. * c->within[k] / c->count, bounds[k]);
        printf(" geometric mean %.3f, worst %.3f", exp(c->log_sum / c->count), c->worst);
        if (c->worst_over_serial > 0) printf("; over cpu-serial, worst %.3f", c->worst_over_serial);
        printf("\nCosts: %s\n", c->costs);
    }
    if (complete && c->missing) printf("%d without a figure\n", c->missing);
    free(c);
    if (!fflush(stdout) && !ferror(stdout)) return EXIT_GOOD;
    return complain("cannot write to standard output"), EXIT_USAGE;
}

const report report_choice = {begin, add, end};
