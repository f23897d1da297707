/* lu_first.h: solves with factors that are still in the library that made them. */
#ifndef TRS_LU_FIRST_H
#define TRS_LU_FIRST_H

#include "matrix/operator.h"
#include "lu.h"

/* May the factors of the next A wait in the library that makes them?  Only if the options leave the plans to the library,
 * and are right, because the plans would report what is wrong with them. */
bool trs_lu_may_wait(const trs_lu *lu);
/* Let go of factors that wait: others replace them. */
void trs_lu_stop_waiting(trs_lu *lu);
/* Solves begin by lu->solve_first, or by fronts, if the factors are symbolic; these are computed now.  *f has names, rcond,
 * cholesky and numbers of entries of the factors of the given matrix, which is A, and P and Q of symbolic ones; it is empty afterwards.  A stays where it
 * is until lu->settle has run.  TRS_OK, TRS_EMEM, TRS_EGROWTH: pivots of symbolic factors do not suit A. */
int trs_lu_wait(trs_lu *lu, const trs_mat *given, trs_factors *f, const trs_csc *A);

/* Copy L and U from the library and make the plans, if that was not done yet; other threads may do the same.
 * Returns TRS_OK, TRS_EMEM, TRS_ELIBRARY, or an error of trs_plan_analyse; then the factors wait on. */
int trs_lu_settle(const trs_lu *lu);
/* n of the factors; -1: there are none that are ready.  It waits while another thread settles them. */
int64_t trs_lu_ready_rows(const trs_lu *lu);
/* Take the lock of factors that wait, so that no other thread settles them; false: they do not wait, and there is no lock. */
bool trs_lu_hold(trs_lu *lu);
void trs_lu_release(trs_lu *lu);
/* With the lock: solve A X = B by the library that has the factors, and refine each column, unless x may be rough.  *done = false:
 * the factors have plans, now or already, which are to solve. */
int trs_lu_solve_first(trs_lu *lu, trs_op op, int nrhs, trs_view b, trs_view x,
                       const trs_exec *exec, bool rough, bool *done);

#endif
