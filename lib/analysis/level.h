/* level.h: the level sets of a triangle, and statistics of them. */
#ifndef TRS_LEVEL_H
#define TRS_LEVEL_H

#include "matrix/matrix.h"

/* ---- levels ------------------------------------------------------------------------------- */

typedef struct trs_levels {
    int32_t count;
    int32_t widest; /* rows */
    int32_t *topo;  /* [rows] level by level, ascending within one */
    int32_t *ptr;   /* [count+1] */
} trs_levels;

/* Level sets of the rows from..to-1, the rows before them being solved already: of a lower triangle by
 * rows, and, with the same result, of one by columns, that is trs_tri_transpose of it. */
int trs_level_rows(trs_context *ctx, const trs_tri *csr, int32_t from, int32_t to, trs_levels *lv);
int trs_level_sets(trs_context *ctx, const trs_tri *csc, int32_t from, int32_t to, trs_levels *lv);
void trs_levels_free(trs_context *ctx, trs_levels *lv);

typedef struct trs_tally { /* of levels (cost.c) */
    int64_t longest;       /* entries in the longest row */
    int64_t sum_longest;   /* over the levels, of the longest row of each */
    int64_t thin;          /* entries in levels too small to share out */
    int64_t wide;          /* levels, the others */
} trs_tally;

#endif
