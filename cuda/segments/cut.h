/* cut.h: a triangle cut in two by levels, each stretch for a solver of its own. */
#ifndef TRS_CUT_H
#define TRS_CUT_H

#include "solvers/solver.h"

/* Looked for on the host, from the pattern alone; s->cut.row stays NULL where no cut is predicted to be worth
 * it; anyhow: where there is none at all.  TRS_OK, TRS_EMEM. */
int trs_cut_find(trs_context *ctx, trs_side *s, bool anyhow);
void trs_cut_cost(const trs_cut *s, const trs_machine *m, trs_cost *c);
void trs_cut_free(trs_context *ctx, trs_cut *s); /* the numbers stay */

#endif
