/* problems.h: the triangles, and a few general matrices, that costs are fitted to. */
#ifndef TRS_BIN_BENCH_CALIBRATE_PROBLEMS_H
#define TRS_BIN_BENCH_CALIBRATE_PROBLEMS_H

#include "trisolve-sparse.h"

enum { MOST_PROBLEMS = 64 };

/* The choice among the solvers that were timed: the one of which the shortest time was predicted, and its time. */
typedef struct fit_choice {
    double predicted, seconds; /* 0: none was timed */
} fit_choice;

typedef struct fit_problem {
    char name[40];
    trs_mat T;
    trs_mm mm;       /* whose arrays T has, */
    void *full;      /* or these numbers: then it is a general full matrix */
    void *converted; /* values of T, if they are not those of mm; else NULL */
    /* By number of columns, among the solvers so far, of the GPU if there is one: seconds of the fastest, 0: none; the
     * choice by the costs that were taken for granted, and by those that were fitted. */
    double best[3];
    fit_choice before[3], fitted[3];
} fit_problem;

typedef struct fit_problems {
    int count;
    fit_problem problem[MOST_PROBLEMS]; /* [count] */
} fit_problems;

/* What this build cannot make is left out, and what takes longer to make than that many seconds in all. */
void problems_make(fit_problems *p, double seconds);
void problems_free(fit_problems *p);

#endif
