/* general.h: plans of general dense matrices.  Each operator stores op(A) as a full matrix
 * (trs_operator.full); a solver of the family TRS_GENERAL_DENSE factors it in update, or eliminates in
 * solve. */
#ifndef TRS_GENERAL_H
#define TRS_GENERAL_H

#include "plan.h"

/* Is m a dense matrix of neither triangle? */
bool trs_is_general(const trs_mat *m);

/* Copy the values of m into every operator in use.  there: m is on the device, else on the host. */
int trs_general_take(trs_plan *p, const trs_mat *m, bool there, void *stream);

/* Set p->wanted, to the solver that the caller named or to one that exchanges rows, and reason and info. */
int trs_general_choose(trs_plan *p);

#endif
