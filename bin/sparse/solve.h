/* solve.h: X of a problem, by a plan or by factors. */
#ifndef TRS_BIN_SPARSE_SOLVE_H
#define TRS_BIN_SPARSE_SOLVE_H

#include "report.h"

/* Solve, refine and estimate as asked for; return exit codes. */
int solve_triangle(const arguments *a, problem *p, report *r);
int solve_factored(const arguments *a, problem *p, report *r);

/* ---- what both have in common ---------------------------------------------------------------- */

trs_options plan_options(const arguments *a, const problem *p);

/* The facts of a plan.  When info is r->l its strings are copied, since they end with the plan. */
void keep_info(const trs_plan *plan, trs_info *info, report *r);

/* Refines X with the plan, or with lu unless that is NULL, by so many steps at most.  Returns a
 * trs_status. */
int refine(const trs_plan *plan, trs_lu *lu, int steps, report *r);

/* Runs so often, and when that is more than once, once before to warm up.  *status: a
 * trs_status, with a sentence on the screen. */
spread measure(int repeat, int (*run)(void *), void *user, int *status);

#endif
