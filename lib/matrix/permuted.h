/* permuted.h: matrices that are triangles after permutations of their rows and columns. */
#ifndef TRS_PERMUTED_H
#define TRS_PERMUTED_H

#include "matrix.h"

/* Check m, which is on the host, and find t(k, l) = m(P [k], Q [l]), a lower triangle with the values of m.
 * P, Q ; out [n], the caller's also after an error.
 * Returns TRS_OK, TRS_EARG, TRS_EMEM, or TRS_EMATRIX if there are no such permutations. */
int trs_permuted_import(trs_context *ctx, const trs_mat *m, trs_tri *t, int32_t **P, int32_t **Q);

/* No row of A, which is by columns, has a single column left after k pivots (P, Q).  Say why: a row is on a cycle, or
 * some columns have too few rows.  Returns TRS_EMATRIX, TRS_EMEM (cycle.c). */
int trs_permuted_explain(trs_context *ctx, const trs_tri *A, const int32_t *P, const int32_t *Q,
                         int32_t k);

/* Check that new values of a full matrix are zero where they were zero when t was made, as these are no entries of t. */
int trs_permuted_zeros(trs_context *ctx, const trs_mat *m, const trs_tri *t);

#endif
