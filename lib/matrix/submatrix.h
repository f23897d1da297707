/* submatrix.h: some rows and columns of a triangle as a separate matrix. */
#ifndef TRS_SUBMATRIX_H
#define TRS_SUBMATRIX_H

#include "matrix.h"

typedef struct trs_pick {        /* rows and columns that are consecutive in an order of all rows */
    const int32_t *row, *number; /* [n] the order and its inverse */
    int32_t begin, end;          /* rows begin..end-1 of the order */
    int32_t first, last;         /* columns first..last-1 of the order */
} trs_pick;

typedef struct trs_picked { /* CSR */
    int64_t *ptr;
    int32_t *idx; /* columns, counted from the first one */
    int64_t *src; /* which entry of the triangle each is */
} trs_picked;

/* Entries stay in the order of the triangle.  Returns TRS_OK, TRS_EMEM; call trs_picked_free in any case. */
int trs_pick_rows(trs_context *ctx, const trs_tri *t, const trs_pick *pick, trs_picked *to);
void trs_picked_free(trs_context *ctx, trs_picked *a);

#endif
