/* comparison.h: solve times over those of a reference: which solvers are drawn, and how far the
 * axis reaches. */
#ifndef TRS_BIN_BENCH_COMPARISON_H
#define TRS_BIN_BENCH_COMPARISON_H

#include "bin/bench/measure/result.h"

#include <stdio.h>

/* The reference is cusparse, or cpu-serial where that has nowhere run.  A solver is drawn when it
 * has a ratio and is not the reference.  Solvers that keep the matrix full are left out when there
 * are others: on sparse triangles they may take thousands of times as long.  The axis takes in all
 * that is drawn, but at most 1/100 to 100, lest the longest flatten the rest. */
typedef struct comparison {
    const char *reference;
    int solvers;        /* of each result */
    int triangles;      /* results that were solved */
    int *points;        /* [solvers] the ratios that a solver has; 0: it is not drawn */
    int drawn;          /* how many are */
    double low, high;   /* the ends of the axis */
    char left_out[400]; /* " Not drawn: A, B, which ...", or "", for the caption */
} comparison;

int comparison_make(comparison *v, const result_list *results); /* an exit code */
void comparison_free(comparison *v);

/* The ratio of a solver there; NaN: there is none. */
double ratio_of(const comparison *v, const result *r, int solver);

/* Defines in a script low, high and cut (r), the ratio r or the end of the axis that it lies
 * beyond. */
void put_cut(FILE *f, const comparison *v);

#endif
