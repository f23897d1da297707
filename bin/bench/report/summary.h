/* summary.h: what many results say together: how good the automatic choice is, and how every solver
 * stands.
 *
 * Only solvers whose B and X are where the choice was asked for compete: on a GPU those that find
 * them in device memory; with --cpu, --host or --dense all. */
#ifndef TRS_BIN_BENCH_SUMMARY_H
#define TRS_BIN_BENCH_SUMMARY_H

#include "bin/bench/bench.h"

/* The first result that has cells; all results of triangles have the same solvers, in the same
 * order.  NULL: there is none. */
const result *first_solved(const kept *k);

bool competes(const settings *s, const cell *c);

/* Ran, accurately, and competes. */
bool counts(const settings *s, const cell *c);

/* ---- the choice on one triangle ----------------------------------------------------------------- */

typedef struct pick {
    const cell *taken; /* the automatic choice; NULL: it was not run, or could not */
    const cell *best;  /* the fastest that counts; NULL: there is none */
    double ratio;      /* of their solve times; NaN: one of the two is missing */
} pick;

pick find_pick(const settings *s, const result *r);

/* ---- on all triangles --------------------------------------------------------------------------- */

enum { BOUNDS = 2 };
extern const double choice_bounds[BOUNDS]; /* 1.1, 1.3: times the fastest */

typedef struct choice_sum {
    int count, missing; /* triangles with a ratio; without */
    int fastest, within[BOUNDS];
    double log_sum, worst; /* of the ratios */
} choice_sum;

void choice_add(choice_sum *c, const pick *p);
double choice_mean(const choice_sum *c); /* geometric */

/* ---- a solver on all triangles ------------------------------------------------------------------- */

typedef struct standing {
    int good, inaccurate, refused; /* triangles */
    int chosen, fastest;           /* ... on which it was; fastest -1: it does not compete */
    double over_fastest; /* geometric mean, where it is good, of its solve time over the fastest;
                                      NaN: it has none */
    double over_cusparse, over_serial; /* ... over that of cusparse, of cpu-serial */
} standing;

/* Of the solver with that number in every result's cells. */
standing find_standing(const settings *s, const kept *k, int solver);

#endif
