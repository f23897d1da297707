/* lu_hosted.h: solves with one vector on the host, wherever the factors solve.
 *
 * They are for corrections and estimates: x is not refined, where trs_lu_solve refines. */
#ifndef TRS_LU_HOSTED_H
#define TRS_LU_HOSTED_H

#include "lu.h"

/* x = op(A)^-1 x with x [n] on the host, of the type of A, wherever the factors solve.  stage, from trs_lu_hosted_new, is
 * device memory by which x goes to factors that solve there, else NULL. */
int trs_lu_hosted_new(const trs_lu *lu, void **stage);
void trs_lu_hosted_free(const trs_lu *lu, void *stage);
int trs_lu_solve_hosted(trs_lu *lu, trs_op op, void *x, void *stage, const trs_exec *exec);
/* The same without a stage, where the factors solve. */
int trs_lu_solve_roughly(trs_lu *lu, trs_op op, void *x, const trs_exec *exec);

#endif
