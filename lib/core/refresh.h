/* refresh.h: new values for a plan, in stream order and without the host.
 *
 *     trs_plan_update   gathers the values, counts bad pivots and waits for the count; tells the solvers, some of them
 *                       measure the growth of errors with these values and switch their method; and waits for all
 *     trs_plan_refresh  gathers the values and tells the solvers, on a stream; the methods stay
 *
 * So the caller must know that the pivots are good, or not use x, and can check the growth later.  Solvers that
 * decide on the device what they substitute bound the growth with every refresh.  A solver that decides on the host
 * retains the method of the last update, and reports the growth; if the growth would cost half of the digits of x, x
 * is NaN. */
#ifndef TRS_REFRESH_H
#define TRS_REFRESH_H

#include "plan.h"

/* Call it before analyse, for a plan whose B and X live on a device.  Then no solver is chosen that needs the host for new
 * values.  A solver that the caller named stays. */
void trs_plan_require_refresh(trs_plan *p);
/* After analyse: can the plan be refreshed?  It cannot with a solver that needs the host, TRS_PERMUTED or TRS_PIVOT_SKIP. */
bool trs_plan_refreshes(const trs_plan *p);

/* Give the plan the values of mat, which are on its device and whose pivots the caller knows to be good.
 *     const trs_mat *mat ; in.  As for trs_plan_update, on the device of the plan: only val is read.
 *     const trs_exec *exec ; in, NULL: the default stream.  Only the stream is used.
 * It only enqueues work on the stream, and can be captured in a CUDA graph; a replay reads the array that mat had.  Where
 * refreshing was not required before analyse, the first refresh allocates, and is refused while the stream is captured, as
 * it is where no good values have been there before.  No other refresh, update or solve of the plan may be under way that
 * the order of the stream does not put before or after it.
 * Returns TRS_OK, TRS_EARG, TRS_ESTATE, TRS_ESUPPORT (not trs_plan_refreshes), TRS_EMEM, TRS_EDEVICE.  After an error
 * trs_solve answers TRS_ESTATE until an update or a refresh succeeds. */
int trs_plan_refresh(trs_plan *p, const trs_mat *mat, const trs_exec *exec);

/* *growth = how much larger errors may be than those of substitution, with the values that the last update or refresh has
 * brought; 0: the solver bounds it by itself, and does not say.  It waits for the stream, which is that of the refresh, or
 * that on which its graph was launched.  Returns TRS_OK, TRS_EDEVICE. */
int trs_plan_growth(trs_plan *p, void *stream, double *growth);

/* Allocate on the device what a refresh needs and what is not there yet. */
int trs_refresh_prepare(trs_plan *p);

/* Later values come as those of m, whose arrays may be NULL, where number p of val before is number to [p].
 * The plan has no TRS_PIVOT_SKIP, and m is CSR or CSC.  Returns TRS_OK, TRS_EMEM. */
int trs_plan_redirect(trs_plan *p, const trs_mat *m, const int64_t *to);

#endif
