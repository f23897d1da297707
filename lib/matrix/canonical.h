/* canonical.h: matrices that are already in canonical form (trs_tri of matrix.h), except for their base and
 * widths, or have it as a part of each line. */
#ifndef TRS_CANONICAL_H
#define TRS_CANONICAL_H

#include "matrix.h"

/* Check m, which has passed trs_check_values, and copy it, in one pass.
 * Returns TRS_OK, TRS_EMEM, or TRS_EMATRIX without a sentence if m is not canonical, or not well-formed. */
int trs_canonical_import(trs_context *ctx, const trs_mat *m, trs_tri *t);

/* t = the triangle of m that its kind names, by rows as the caller stored it, with all of the diagonal (ascending.c).  m has passed
 * trs_check_mat.  before: the triangle precedes the diagonal where indices ascend, else it follows.
 * Returns TRS_OK, TRS_EMEM, or TRS_EMATRIX without a sentence if indices do not ascend, or m is none of CSR and CSC. */
int trs_ascending_import(trs_context *ctx, const trs_mat *m, bool before, trs_tri *t);

/* Is the pattern of t canonical?  Its arrays may hold anything. */
bool trs_is_canonical(const trs_context *ctx, trs_tri *t);

#endif
