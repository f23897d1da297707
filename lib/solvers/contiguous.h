/* contiguous.h: B and X for solvers that process them by vectors.
 *
 * Such a solver wants the numbers of a column side by side, x [0] .. x [n-1], as they are in memory.  For a reversed
 * operator (matrix/operator.h) that is its order of rows backwards: row i is x [n-1-i].  When it is built, the solver
 * learns this from op->reversed and arranges its data accordingly, so that no number has to be moved.  If B or X is
 * not contiguous, stored by rows for example, it is copied to scratch and back. */
#ifndef TRS_CONTIGUOUS_H
#define TRS_CONTIGUOUS_H

#include "solver.h"

/* Where row i of the operator stands in a column. */
static inline int32_t trs_memory_row(const trs_operator *op, int32_t i)
{
    return op->reversed ? op->tri.n - 1 - i : i;
}

/* Solve the job with B and X contiguous: b.p and x.p are the first numbers in memory, b.rs = x.rs = 1, and column r is cs
 * numbers behind column r-1. */
typedef int (*trs_contiguous_fn)(const trs_instance *, const trs_job *);

/* Have body solve, in scratch if need be: the first bytes of job->work.  The body gets the rest of it as its work. */
int trs_solve_contiguous(const trs_instance *inst, const trs_job *job, trs_contiguous_fn body);
/* The bytes of that scratch, a multiple of 64. */
int64_t trs_contiguous_bytes(const trs_instance *inst, int nrhs);

#endif
