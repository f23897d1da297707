/* residual.h: b - op(A) x of one column, for those who go on from there. */
#ifndef TRS_RESIDUAL_H
#define TRS_RESIDUAL_H

#include "core/plan.h"

typedef struct trs_sums { /* of one right-hand side, [n] each, in one block that begins at re */
    long double *re, *im; /* op(A) x, or b - op(A) x */
    long double *size;    /* |op(A)| |x|, and the safe minimum of its terms */
    long double *row;     /* row sums of |op(A)| */
} trs_sums;

typedef struct trs_column { /* number i is number i*step of p */
    void *p;
    int64_t step;
} trs_column;

trs_column trs_column_of(const void *X, int r, int64_t ld, trs_layout layout, trs_dtype t);

/* TRS_OK, TRS_EMEM; free s->re. */
int trs_sums_new(const trs_memory *mem, int64_t n, trs_sums *s);

/* s->re, im = b - op(A) x, and how large it is; A is checked. */
void trs_residual(const trs_mat *A, trs_op op, trs_column b, trs_column x, const trs_sums *s,
                  trs_error *e);

/* The worst of all columns: column r is added. */
void trs_error_fold(trs_error *all, const trs_error *one, int r);

#endif
