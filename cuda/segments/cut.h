/* cut.h: the best place to cut a triangle in two, the head and the tail for a solver each (trs_cut). */
#ifndef TRS_CUT_H
#define TRS_CUT_H

#include "solvers/solver.h"

/* side->cut, found on the host from the pattern alone; its row stays NULL where no cut is predicted to be worth it.
 * With anyhow it stays NULL only where no cut is possible, because there is one level.  TRS_OK, TRS_EMEM with a
 * sentence. */
int trs_cut_find(trs_context *ctx, trs_side *side, bool anyhow);
/* What the solvers of head and tail and the product with the coupling block are predicted to take, added to c. */
void trs_cut_cost(const trs_cut *s, const trs_machine *m, trs_cost *c);
void trs_cut_free(trs_context *ctx, trs_cut *s); /* its numbers stay */

#endif
