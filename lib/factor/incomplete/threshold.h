/* threshold.h: the pattern of incomplete factors that drop small entries. */
#ifndef TRS_THRESHOLD_H
#define TRS_THRESHOLD_H

#include "matrix/matrix.h"

typedef struct trs_threshold {
    bool cholesky;
    /* as in trs_ilu_options */
    double drop_tol, shift, boost;
    int64_t most; /* entries of L + U - I, or of L */
} trs_threshold;

/* Make t the pattern of ILUT, or of ICT.  An entry that A does not have gets src = TRS_SRC_MISSING; entries of A that are
 * dropped are gone.
 *     t: the rows of A with every diagonal entry, columns ascending, with values; cholesky: its lower triangle.  val is
 *     allocated anew.
 * Returns TRS_OK, TRS_EMEM, TRS_ECANCELED; t is as it was after an error. */
int trs_threshold_fill(trs_context *ctx, trs_tri *t, const trs_threshold *h);

#endif
