/* permuted.h: matrices that are triangles after permutations of their rows and columns. */
#ifndef TRS_PERMUTED_H
#define TRS_PERMUTED_H

#include "matrix.h"

/* Check m, which is on the host, and find t(k, l) = m(P [k], Q [l]), a lower triangle with the values of m.
 * P, Q ; out [n], the caller's also after an error.  TRS_OK, TRS_EARG, TRS_EMEM, TRS_EMATRIX: there is none. */
int trs_permuted_import(trs_context *ctx, const trs_mat *m, trs_tri *t, int32_t **P, int32_t **Q);

/* The sentence, and TRS_EMATRIX, when no row of A, by columns, has a single column left after k pivots (P, Q): a row
 * on a cycle, or columns that have too few rows.  TRS_EMEM (cycle.c). */
int trs_permuted_explain(trs_context *ctx, const trs_tri *A, const int32_t *P, const int32_t *Q,
                         int32_t k);

/* New values of a full matrix: t was made when its zeros were no entries, and they must still be zero. */
int trs_permuted_zeros(trs_context *ctx, const trs_mat *m, const trs_tri *t);

#endif
