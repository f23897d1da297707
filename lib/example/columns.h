/* columns.h: the pattern of a triangle by columns, as an analysis of an operator.
 *
 *     L = | 1       |    rows:     ptr 0 1 2 5      columns:  ptr   0  2  4  5
 *         |    2    |              idx 0 1 0 1 2              row   0 2 1 2 2
 *         | 3  4  5 |              val 1 2 3 4 5              place 0 2 1 3 4 */
#ifndef TRS_COLUMNS_H
#define TRS_COLUMNS_H

#include "matrix/operator.h"

typedef struct trs_columns {
    int64_t *ptr; /* [n+1] column j has the entries ptr [j] <= q < ptr [j+1], its diagonal first */
    int32_t *row; /* [nnz] of each entry, ascending within a column */
    int64_t *place; /* [nnz] of its value among those of the operator */
    double apart;   /* fraction of the entries whose row is far below that of the entry before */
} trs_columns;

extern const trs_analysis trs_column_analysis; /* a trs_columns */

/* For a solver, because the arrays of an analysis are freed when the plan has been built.  TRS_OK, TRS_EMEM. */
int trs_columns_copy(trs_context *ctx, const trs_tri *L, const trs_columns *from, trs_columns *to);
void trs_columns_free(trs_context *ctx, void *columns); /* the arrays; numbers stay */

#endif
