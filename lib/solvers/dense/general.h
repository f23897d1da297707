/* general.h: shared by the solvers of general dense matrices.  Such a solver factors in update, or eliminates in
 * solve; op(A) is a full matrix by columns (trs_operator.full). */
#ifndef TRS_SOLVERS_GENERAL_H
#define TRS_SOLVERS_GENERAL_H

#include "solvers/solver.h"

/* An update has found the growth, the largest number of U over the largest of A, and the first pivot that is no larger
 * than eps times the largest number of A, or not finite; -1: there is none. */
int trs_general_judge(trs_instance *inst, double growth, int64_t first);

/* u [n] = the diagonal of lu [n*n], which is by rows or by columns, and on the host; or on the device, which is waited
 * for. */
void trs_general_diagonal(const trs_instance *inst, const void *lu, void *u);
int trs_general_diagonal_there(const trs_instance *inst, const void *lu, void *u);

#endif
