/* pairs.h: which rows of a Hermitian matrix with zeros on the diagonal are eliminated together, by a pivot of 2 x 2 numbers. */
#ifndef TRS_SUITESPARSE_PAIRS_H
#define TRS_SUITESPARSE_PAIRS_H

#include "factor/suitesparse/factor.h"

/* |A's entry p| */
static inline double trs_csc_size(const trs_csc *A, int64_t p)
{
    return A->is_complex ? hypot(A->x[2 * p], A->x[2 * p + 1]) : fabs(A->x[p]);
}

/* row_of [j]: the row that column j is matched with, -1: none.  u, v [n] become the dual variables (matching.c).
 * TRS_OK, TRS_EMEM, TRS_ECANCELED. */
int trs_matching(trs_lu *lu, const trs_csc *A, int32_t *row_of, double *u, double *v);

/* Is a number on the diagonal of A zero, or not stored? */
bool trs_pairs_needed(const trs_csc *A);
/* mate [i]: the row that is eliminated with row i; i: row i alone.  scale [n]: positive, and such that
 * |scale(i) a(i, j) scale(j)| is 1 for pairs, and at most 1 elsewhere.  TRS_OK, TRS_EMEM, TRS_ECANCELED. */
int trs_pairs_find(trs_lu *lu, const trs_csc *A, int32_t *mate, double *scale);

#endif
