/* submatrix.h: some rows and columns of a triangle as a matrix of their own. */
#ifndef TRS_PICK_H
#define TRS_PICK_H

#include "matrix.h"

typedef struct trs_pick {        /* rows and columns that stand together in this order */
    const int32_t *row, *number; /* [n] the order and its inverse */
    int32_t begin, end;          /* rows */
    int32_t first, last;         /* columns, the last one not included */
} trs_pick;

typedef struct trs_picked { /* CSR */
    int64_t *ptr;
    int32_t *idx; /* from the first column on */
    int64_t *src; /* which entry of the triangle it is */
} trs_picked;

/* Entries stay in the order of the triangle.  TRS_OK, TRS_EMEM; free it in any case. */
int trs_pick_rows(trs_context *ctx, const trs_tri *t, const trs_pick *pick, trs_picked *to);
void trs_picked_free(trs_context *ctx, trs_picked *a);

#endif
