/* groups.h: groups of costs, each of which is fitted to the times of the solvers that it predicts. */
#ifndef TRS_BIN_BENCH_GROUPS_H
#define TRS_BIN_BENCH_GROUPS_H

#include "fit.h"
#include "problems.h"

#include "base/context.h"
#include "bin/bench/measure/settings.h"

enum { GROUP_NAMES = 3 };

typedef struct cost_group {
    const char *name;
    const char *prefix[GROUP_NAMES]; /* of its costs, of one or more rooms */
    const char *solver[GROUP_NAMES]; /* whose times it explains */
    int columns[GROUP_NAMES];        /* right-hand sides; 0: no more */
    int64_t rows;   /* of a problem at most: these solvers are slow, or keep a full matrix */
    bool only_full; /* only triangles that are nearly full */
    /* where a solver takes more times as long as the fastest of earlier groups, that is only a bound of its time (fit.h);
     * 0: never */
    double slower;
} cost_group;

/* Group number k = 0, 1, ..., those of the CPU first: the costs of a group depend on those of groups before it.  NULL
 * past the last. */
const cost_group *cost_group_at(int k);
bool is_of_cpu(const cost_group *g);
/* Is the cost of that name one of the group? */
bool is_in_group(const cost_group *g, const char *name);

/* The costs that a plan for this solver takes for granted here, and the facts of the machine: TRS_OK, or an error. */
int costs_before(const settings *s, const char *solver, int device, trs_machine *m);

/* Costs of the group in m become those that fit best to the times of its solvers here, for about so many seconds; before:
 * the costs that were taken for granted.  *fitted [k]: number k of the costs was determined (costs.h).  Returns false
 * where nothing could be measured. */
bool group_fit(const settings *s, const cost_group *g, fit_problems *p, double seconds,
               const trs_machine *before, trs_machine *m, bool *fitted, fit_result *r);

#endif
