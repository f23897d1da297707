/* report.h: what was done and found. */
#ifndef TRS_BIN_SPARSE_REPORT_H
#define TRS_BIN_SPARSE_REPORT_H

#include "problem.h"

#include "bin/common/timing.h"

#include <stdio.h>

typedef struct krylov_split { /* seconds of an iteration, and of its parts */
    double iteration, product, preconditioner, vectors;
} krylov_split;

typedef struct step_times { /* with other values each; the arrays are [count] */
    int count;
    double *update_seconds, *solve_seconds;
    int *iterations;
    int failed; /* the trs_status of the step behind them, which ended the loop */
} step_times;

typedef struct report {
    const arguments *args;
    const problem *problem;
    bool factored;
    trs_info l, u; /* of the triangle, or of both factors; without the plan's strings: */
    char solver[64], reason[500], costs[200];
    bool planless; /* who has factored solves too */
    bool has_u;
    char library[32], ordering[32];
    bool incomplete;     /* the factors are */
    int refined;         /* steps of refinement; -1: was not tried */
    trs_stop stopped;    /* why there were no more */
    double omega_before; /* backward error before the first step */
    double condition;    /* 1 / condition in the 1-norm, if it was estimated */
    bool estimated;      /* always for complete factors, else on demand */
    trs_det det;         /* of the matrix, on demand */
    int64_t pivots;      /* that could not be divided by */
    int64_t first_pivot; /* the row of the first */
    double seconds_read, seconds_analyse, seconds_factor;
    spread solve;
    /* of the right-hand side that took most */
    trs_krylov_info krylov;
    /* [iterations+1] the norms of its residuals; NULL: no Krylov method was asked for */
    double *history;
    krylov_split split;
    step_times steps;
    trs_error error;
    bool judged;    /* the refinement has found error */
    double forward; /* max |x - exact| / max |exact|; NaN: it is not known */
    double tolerance;
    char failure[500]; /* why x is no solution; "": it is one */
} report;

bool is_singular(const report *r);  /* to working precision, as far as the condition is known */
void explain_failure(report *r);    /* sets r->failure */
void explain_divergence(report *r); /* the same if a Krylov method did not converge */

void print_text(const report *r);
void print_interrupted(const report *r); /* what is known after Ctrl-C */
/* The same as JSON.  status: the exit status so far.  Returns an exit code. */
int print_json(const report *r, int status);
int list_solvers(void); /* an exit code */
void report_free(report *r);

/* ---- what text and JSON have in common ------------------------------------------------------- */

/* Standard output, or standard error when x goes to standard output. */
FILE *report_stream(const report *r);
void print_krylov(FILE *out, const report *r);
void print_steps(FILE *out, const report *r);
int64_t entries_of_file(const report *r);
const char *shape_name(unsigned kind);
const char *precision_name(const report *r);
const char *stop_name(trs_stop stop);
/* A norm of a residual over that of b. */
double relative_residual(const trs_krylov_info *k, double norm);

#endif
