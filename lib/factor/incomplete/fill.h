/* fill.h: the pattern of incomplete factors with fill up to a level. */
#ifndef TRS_FILL_H
#define TRS_FILL_H

#include "matrix/matrix.h"

/* Add to t the fill of ILU(level), or of IC(level), as entries with src = TRS_SRC_MISSING.  With more than `most` entries in
 * all it is TRS_EMEM, before memory is taken for them.
 *     t: the rows of A with every diagonal entry, columns ascending; cholesky: its lower triangle.  val is allocated anew.
 * Returns TRS_OK, TRS_EMEM; t is as it was after an error. */
int trs_fill(trs_context *ctx, trs_tri *t, int level, bool cholesky, int64_t most);

/* t = L + U - I, with the places of its values in A.  L and U have no diagonals; U is empty for L L'. */
int trs_fill_assemble(trs_context *ctx, const trs_tri *A, const trs_tri *L, const trs_tri *U,
                      trs_tri *t);

#endif
