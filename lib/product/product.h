/* product.h: Y = op(A) X on the host, summed in working precision.
 *
 * A is stored by lines: rows of CSR and BSR, columns of CSC and full matrices.  An entry a of line l with index c takes part
 * in op(A) as
 *
 *     along     y(l) += a x(c)       op(A) has the line as a row
 *     across    y(c) += a x(l)       op(A) has the line as a column
 *
 * and in both ways if A is Hermitian and one triangle of it is stored.
 *
 * Pointers and indices are compared with their limits as they are read, so nothing outside the arrays is touched. */
#ifndef TRS_PRODUCT_H
#define TRS_PRODUCT_H

#include "matrix/operator.h"

enum { TRS_PRODUCT_COLUMNS = 4 }; /* of X and Y in one pass over A, at most */

typedef struct trs_product {
    const trs_mat *A;
    /* y(l) += a x(c) */
    bool along;
    /* y(c) += a x(l) */
    bool across;
    /* a is conjugated in the first sum */
    bool conj_along;
    /* a is conjugated in the second sum */
    bool conj_across;
    /* entries with c > l do not count */
    bool head;
    /* entries with c < l do not count */
    bool tail;
} trs_product;

/* So many of nrhs columns are done in one pass over A: TRS_PRODUCT_COLUMNS, or 1; x and y below have as many. */
int trs_product_columns(const trs_mat *A, int nrhs);

/* Sum the entries of the lines begin..end-1.  If all sums are along, y(l) is set for these lines; else they are added to y.
 * Returns false if a pointer or an index is out of range. */
bool trs_product_lines(const trs_product *s, int64_t begin, int64_t end, int columns, trs_view x,
                       trs_view y);
/* y(i) = x(i) if the diagonal is 1, else 0. */
void trs_product_start(const trs_product *s, int64_t begin, int64_t end, int columns, trs_view x,
                       trs_view y);
/* y(i) += part(i) */
void trs_product_add(trs_dtype t, int64_t begin, int64_t end, int columns, trs_view part,
                     trs_view y);

/* Y = op(A) X on the host; the arguments are checked, and n and nrhs are not 0.  own [trs_multiply_bytes] is memory for threads;
 * NULL: it is allocated. */
int64_t trs_multiply_bytes(const trs_mat *A, trs_op op, int nrhs, int threads);
int trs_multiply_here(const trs_mat *A, trs_op op, int nrhs, trs_view x, trs_view y, int threads,
                      void *own);
/* The same with all arrays on the device of A. */
int trs_multiply_there(const trs_mat *A, trs_op op, int nrhs, trs_view x, trs_view y, void *stream);

#endif
