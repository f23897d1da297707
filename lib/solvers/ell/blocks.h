/* blocks.h: the rows of a triangle in blocks.  A block has the rows of one level with the same number of entries.  If
 * rows are chained (solvers/cpu_row.h), either all or none of them have an entry in the column just before the
 * diagonal.
 *
 *     level      |      0      |         1         |  2  | ...      rows of level 0 have no entries but their diagonal
 *     length     |      0      |  1  |   2   |  5  | 1 |4| ...
 *     block      |      0      |  1  |   2   |  3  | 4 |5| ...      at most as many as rows
 *     order      | 0 3 4 6 8 9 |1 2 7|5 10 12| 11  | . | |          rows of a block ascend
 *
 * The entries of a block are a full matrix by rows, of columns and of values: the ELLPACK format. */
#ifndef TRS_ELL_BLOCKS_H
#define TRS_ELL_BLOCKS_H

#include "solvers/solver.h"

/* Its rows are those up to the begin of the next one. */
typedef struct trs_ell_block {
    /* the place in the order of its first row */
    int32_t begin;
    /* entries of each row, without the diagonal */
    int32_t length;
    bool chained;
} trs_ell_block;

typedef struct trs_ell_blocks {
    int32_t blocks;
    /* [blocks+1]; the last one begins at n */
    trs_ell_block *block;
    /* [n] the rows in their order; numbers are places in memory (solvers/contiguous.h) */
    int32_t *row;
    /* [nnz-n] the columns, numbered in the same way */
    int32_t *column;
} trs_ell_blocks;

/* Upper bound of the number of blocks of a triangle of this shape. */
int64_t trs_ell_most(const trs_shape *s);
/* Make them of op, whose pattern and levels are on the host, in O(nnz).  After TRS_EMEM the caller frees what is there. */
int trs_ell_make(trs_context *ctx, const trs_operator *op, trs_ell_blocks *e);
void trs_ell_free(trs_context *ctx, trs_ell_blocks *e);

#endif
