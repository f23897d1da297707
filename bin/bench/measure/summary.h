/* summary.h: what many results say together: how good the automatic choice is.
 *
 * Only solvers whose B and X are where the choice was asked for compete: on a GPU those that find
 * them in device memory; with --cpu, --host or --dense all of them. */
#ifndef TRS_BIN_BENCH_SUMMARY_H
#define TRS_BIN_BENCH_SUMMARY_H

#include "result.h"
#include "settings.h"

/* ---- the choice on one triangle -------------------------------------------------------------- */

typedef struct choice {
    /* the automatic choice; NULL: it was not run, or failed */
    const cell *taken;
    /* the fastest that competes and is accurate, judged by cell.first; NULL: there is none */
    const cell *best;
    /* of their solve times (cell.solve); NaN: one of the two is missing */
    double ratio;
} choice;

choice find_choice(const settings *s, const result *r);

/* ---- the choice on all triangles ------------------------------------------------------------- */

enum { BOUNDS = 2 };
extern const double choice_bounds[BOUNDS]; /* 1.1, 1.3: times the fastest */

typedef struct choice_sum {
    int count, missing;       /* triangles with a ratio, and without */
    int within[BOUNDS];       /* ... on which it is within that bound */
    double log_sum, worst;    /* of the ratios */
    double worst_over_serial; /* of the choice over cpu-serial; 0: that was not run */
} choice_sum;

void choice_add(choice_sum *sum, const choice *one); /* all but worst_over_serial */
choice_sum sum_choices(const settings *s, const result_list *l);
double choice_mean(const choice_sum *sum); /* the geometric mean of the ratios */

#endif
