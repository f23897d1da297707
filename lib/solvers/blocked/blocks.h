/* blocks.h: the entries below the diagonal of a triangle in tiles, for cpu-blocked.
 *
 * A *block* is a fixed number of consecutive columns, and the rows of the same numbers; a *row tile* is a smaller
 * number of consecutive rows within one block.  *Tile* (j, q) has the entries of row tile q in the columns of block
 * j.
 *
 *            block 0   block 1   block 2
 *     q = 0 | \       |         |         |      tile (j, q) is at q of column j of this figure; in memory the
 *         1 | * \     |         |         |      tiles follow its columns, one after the other.
 *         2 | * *     | \       |         |
 *         3 | * *     | * \     |         |      * * : the tile of a row tile in its own block ends in its *corner*, a
 *         4 | * *     | * *     | \       |            small triangle, which has the entries whose columns are its rows
 *         5 | * *     | * *     | * \     |
 *
 * The entries of a tile are ordered by columns, and those of a column by rows.  If tiles are processed from
 * block to block, the entries of a row therefore occur in ascending order of columns, whatever the sizes of
 * blocks and tiles. */
#ifndef TRS_BLOCKS_H
#define TRS_BLOCKS_H

#include "matrix/operator.h"

typedef struct trs_blocks {
    int32_t n;
    /* binary logarithms of the columns of a block and of the rows of a row tile */
    int columns, rows;
    /* number of blocks, and of row tiles */
    int32_t blocks, tiles;
    /* [blocks*tiles+1] tile (j, q) begins at tile [j*tiles+q] and ends where the next one begins */
    int64_t *tile;
    /* [tiles] where the corner of each row tile begins */
    int64_t *corner;
    /* [nnz-n] of each entry: row in its row tile << 16 | column in its block */
    uint32_t *at;
    /* [nnz-n] where its value is, counted from the first entry of the row tile in CSR */
    uint32_t *place;
} trs_blocks;

/* The binary logarithms of the sizes for a triangle, given the bytes of a core's own cache: a block of x is to stay
 * there, a row tile of x in the cache next to the core. */
void trs_blocks_sizes(int64_t n, int64_t nnz, double elem, double cache, int threads, int *columns,
                      int *rows);
/* Can places within a row tile be counted in 32 bits? */
bool trs_blocks_fit(int64_t longest, int rows);

/* Make the blocks of L, of which the sizes are set.  Returns TRS_OK, TRS_EMEM; they have to be freed in either case. */
int trs_blocks_make(trs_context *ctx, const trs_tri *L, trs_blocks *b);
void trs_blocks_free(trs_context *ctx, trs_blocks *b);

/* The block of row tile q; the first row tile of block j, where j may be the number of blocks. */
static inline int32_t trs_block_of(const trs_blocks *b, int32_t q)
{
    return q >> (b->columns - b->rows);
}

static inline int32_t trs_first_tile(const trs_blocks *b, int32_t j)
{
    const int64_t q = (int64_t)j << (b->columns - b->rows);
    return q < b->tiles ? (int32_t)q : b->tiles;
}

/* The first row of row tile q, where q may be the number of row tiles. */
static inline int32_t trs_first_row(const trs_blocks *b, int32_t q)
{
    const int64_t i = (int64_t)q << b->rows;
    return i < b->n ? (int32_t)i : b->n;
}

#endif
