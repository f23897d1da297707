/* general.h: what the solvers of general dense matrices have in common.  Such a solver factors in update, or eliminates
 * in solve; op(A) is a full matrix by columns (trs_side.full). */
#ifndef TRS_SOLVERS_GENERAL_H
#define TRS_SOLVERS_GENERAL_H

#include "solver.h"

/* Keep in the part what an update has found: growth, the largest magnitude of U over that of A, and first, the first
 * pivot that is no larger than eps times the latter or not finite, -1: none.  TRS_OK, or TRS_EPIVOT with a sentence. */
int trs_general_judge(trs_part *part, double growth, int64_t first);

/* u [n] on the host = the diagonal of lu [n*n], which is the same by rows and by columns. */
void trs_general_diagonal(const trs_part *part, const void *lu, void *u);
/* The same of lu on the device; waits. */
int trs_general_diagonal_there(const trs_part *part, const void *lu, void *u);

#endif
