/* general.h: plans of general dense matrices.  Each operator keeps op(A) as a full matrix (trs_operator.full);
 * a solver of the family TRS_GENERAL_DENSE factors it in update, or eliminates in solve. */
#ifndef TRS_GENERAL_H
#define TRS_GENERAL_H

#include "plan.h"

/* A dense matrix of neither triangle? */
bool trs_is_general(const trs_mat *m);

/* The values of m, which is on the host or, there, on the device, into every operator in use. */
int trs_general_take(trs_plan *p, const trs_mat *m, bool there, void *stream);

/* p->wanted, reason and info: named by the caller, or one that pivots. */
int trs_general_choose(trs_plan *p);

#endif
