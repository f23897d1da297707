/* lu_again.h: what lib/factor calls for new values on the host. */
#ifndef TRS_LU_AGAIN_H
#define TRS_LU_AGAIN_H

#include "factor/lu.h"

/* Factor A, which is on the host, with the pivots of the last A (again/again.c).  *done = false and TRS_OK: the library has
 * to do it.  Otherwise the result is that of the update. */
int trs_lu_again(trs_lu *lu, const trs_mat *A, bool *done);
void trs_lu_again_free(trs_lu *lu);
/* Compute the numbers of lu->f, which is symbolic, for its first A, and make the plans.  TRS_OK, TRS_EMEM, TRS_EGROWTH: its
 * pivots do not suit A, or as an analysis. */
int trs_lu_again_first(trs_lu *lu, const trs_mat *A);
/* Bring the values of lu->f up to date, which plans do not read.  TRS_OK, TRS_EMEM. */
int trs_lu_again_fetch(trs_lu *lu);

/* Were the last values factored front by front?  For tests. */
bool trs_lu_again_by_fronts(const trs_lu *lu);

#endif
