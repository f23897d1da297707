/* lu_again.h: what lib/factor calls for new values on the host. */
#ifndef TRS_LU_AGAIN_H
#define TRS_LU_AGAIN_H

#include "factor/lu.h"

/* Factor A, which is on the host, with the pivots of the last A (again/again.c).  *done = false and TRS_OK: the library has
 * to do it.  Otherwise the result is that of the update. */
int trs_lu_again(trs_lu *lu, const trs_mat *A, bool *done);
void trs_lu_again_free(trs_lu *lu);
/* The growth with which pivots on the diagonal are as good as those of a library; and that which a step of refinement may
 * repair. */
#define TRS_HARMLESS_GROWTH 1e2
#define TRS_MOST_GROWTH     1e6
/* Compute L U of symbolic factors, of which P and Q are known, for their first A, by fronts.  growth: out.
 * TRS_OK, TRS_EMEM, TRS_EGROWTH: it is more than `most`, or a pivot is bad. */
int trs_lu_again_begin(trs_lu *lu, const trs_mat *A, double most, double *growth);
/* x = op(A)^-1 b by these fronts; x and b [n] are numbers in double precision, in the order of A. */
void trs_lu_again_solve(const trs_lu *lu, trs_op op, double *x, const double *b);
/* Give the numbers to L and U of lu->f, whose patterns are known by now, and make the plans, which read them in the fronts.
 * TRS_OK, TRS_EMEM, or as an analysis. */
int trs_lu_again_settle(trs_lu *lu);
/* Bring the values of lu->f up to date, which plans do not read.  TRS_OK, TRS_EMEM. */
int trs_lu_again_fetch(trs_lu *lu);

/* Were the last values factored front by front?  For tests. */
bool trs_lu_again_by_fronts(const trs_lu *lu);

#endif
