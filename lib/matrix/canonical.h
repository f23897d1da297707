/* canonical.h: take over a matrix that already is in the form that the solvers want. */
#ifndef TRS_CANONICAL_H
#define TRS_CANONICAL_H

#include "matrix.h"

/* Check and copy in one pass.  m has passed trs_check_values.
 * TRS_OK, TRS_EMEM; TRS_EMATRIX, with no sentence: it is not in that form, or not well-formed. */
int trs_canonical_import(trs_context *ctx, const trs_mat *m, trs_tri *t);

/* Is t, whose arrays may hold anything, a pattern in that form? */
bool trs_is_canonical(const trs_context *ctx, trs_tri *t);

#endif
