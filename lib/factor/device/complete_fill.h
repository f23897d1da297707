/* complete_fill.h: the pattern of complete factors for known pivots: L U = A(P, Q), with every entry that may be
 * nonzero for some values of A. */
#ifndef TRS_COMPLETE_FILL_H
#define TRS_COMPLETE_FILL_H

#include "matrix/matrix.h"

typedef struct trs_complete_fill { /* rows of L + U - I, of which the columns are in no order */
    int64_t n, nnz, room;          /* room: of idx and src */
    int64_t *ptr;                  /* [n+1] */
    int32_t *idx;                  /* [nnz] */
    int64_t *src; /* [nnz] place of the value in those of A; TRS_SRC_MISSING: fill */
} trs_complete_fill;

/* Find the fill of A(P, Q).
 *     const trs_mat *A ; in: any format but BSR, on the host, well-formed, no entry twice.
 *     const int64_t *P, *Q ; in [n].     int64_t limit ; more entries than this are not worth it.
 * Returns TRS_OK, TRS_EMEM, TRS_ESUPPORT without a sentence: there are more.  After an error nothing is to be freed. */
int trs_complete_fill_find(trs_context *ctx, const trs_mat *A, const int64_t *P, const int64_t *Q,
                           int64_t limit, trs_complete_fill *f);
void trs_complete_fill_free(trs_context *ctx, trs_complete_fill *f);

#endif
