/* ranks.h: where a triangle can be cut in two, and sums over the part before each such place.
 *
 * Every row gets a rank, and no row depends on a row of a higher rank.  So any rank k cuts the triangle in two: rows of
 * ranks below k are the head, the others the tail, and with the rows in this order
 *
 *                  head  tail
 *         head   [  A     0  ]      nnz (A) = entries in rows of the head
 *     T =                           nnz (C) = entries in columns of the tail
 *         tail   [  B     C  ]      nnz (B) = nnz (T) - nnz (A) - nnz (C),   the coupling block
 *
 * Both counts are sums over ranks, so that one pass over the entries serves all cuts.  Ranks are of three kinds: the
 * level of a row; the level of its supernode, counted from the supernodes that depend on nothing; and that level
 * counted back from the supernodes that nothing depends on.  The second kind leaves a dense end of the triangle to
 * the tail, the third a dense beginning to the head, as in the transpose of a triangle with a dense end.
 *
 * Here a block is a supernode. */
#ifndef TRS_RANKS_H
#define TRS_RANKS_H

#include "analysis/supernodes.h"
#include "solvers/solver.h"

static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

typedef struct rank_sum { /* over the rows of one rank, or of several */
    int64_t rows;
    int64_t row_entries;    /* entries in these rows */
    int64_t column_entries; /* entries in the columns of the same numbers */
    int64_t blocks;         /* 0 where ranks are levels of rows */
    int64_t chained;        /* sum over the ranks: blocks of the longest chain, less one */
    int64_t wide;           /* large supernodes: more than TRS_SMALL rows */
    int64_t store;          /* stored entries of the packed panels of the blocks */
    int64_t longest;        /* entries of the longest row */
    int32_t first_level;    /* the lowest level of a row, INT32_MAX: there is no row */
    int32_t last_level;     /* the highest */
} rank_sum;

typedef struct head_sum { /* of the cut at a rank */
    rank_sum sum;         /* over the head */
    int64_t widest;       /* rows of the largest rank of the head */
    int32_t tail_level;   /* the lowest level of a row of the tail */
} head_sum;

typedef struct ranks {
    const trs_context *ctx;
    const trs_operator *op;
    const trs_supernodes *blocks; /* of it; NULL: it has none */
    int32_t count;
    /* In the tail of a cut at a rank above this one no row has two entries beside its diagonal: C is what cuda-chain
     * is for. */
    int32_t chains_above;
    int32_t *of_row;   /* [n] */
    rank_sum *of_rank; /* [count] */
    head_sum *head; /* [count+1] of the cut at each rank, and of the whole triangle as the head */
} ranks;

/* Memory for any kind of ranks.  TRS_OK, TRS_EMEM; trs_ranks_free in any case. */
int trs_ranks_new(ranks *r, const trs_operator *op, const trs_supernodes *blocks);
void trs_ranks_free(ranks *r);

/* Ranks by levels of rows, as far as the sizes of the levels alone tell; of_row is not set. */
void trs_ranks_predict(ranks *r);
/* Ranks by levels of rows; level [n] of each row. */
int trs_ranks_by_levels(ranks *r, const int32_t *level);
/* Ranks by levels of blocks, counted back from the last ones or not; estimate: column_entries are estimated from what
 * blocks store, in O(n + columns of blocks), and chains_above is not looked for. */
int trs_ranks_by_blocks(ranks *r, bool from_last, bool estimate, const int32_t *level);

#endif
