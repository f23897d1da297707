/* iterate.h: X by a Krylov method with factors as its preconditioner, and time steps. */
#ifndef TRS_BIN_SPARSE_ITERATE_H
#define TRS_BIN_SPARSE_ITERATE_H

#include "place.h"
#include "bin/sparse/report.h"

/* The vectors of the method that was asked for.  Returns a trs_status. */
int iterate_open(const arguments *a, const place *at, trs_krylov **krylov);

/* X = op(A)^-1 B with the method; keeps the column that took most in the report. */
int iterate(const arguments *a, const place *at, int nrhs, trs_lu *lu, trs_krylov *krylov,
            report *r);

/* How the time of an iteration of the column that was kept splits. */
int split_iteration(const arguments *a, const place *at, trs_lu *lu, report *r);

/* What a time loop does: new values, update, solve, as often as was asked for.  The problem keeps the last values. */
typedef int (*solve_fn)(void *user); /* X at the place; returns a trs_status */
/* Does a step scale rows and columns, as an incomplete Cholesky factorisation needs it? */
bool scales_steps(const arguments *a);
int run_steps(const arguments *a, problem *p, place *at, trs_lu *lu, solve_fn solve, void *user,
              report *r);

#endif
