/* level.h: the level sets of an operator, and statistics of them. */
#ifndef TRS_LEVEL_H
#define TRS_LEVEL_H

#include "matrix/operator.h"

/* Find the level sets of a lower triangle by rows; and, with the same result, by its columns (trs_tri_transpose of it). */
int trs_level_rows(trs_context *ctx, const trs_tri *csr, trs_levels *lv);
int trs_level_sets(trs_context *ctx, const trs_tri *csc, trs_levels *lv);
void trs_levels_free(trs_context *ctx, trs_levels *lv);

/* Find op->lv and op->statistics in one of three ways, with the same result: by a sweep over the rows; by the
 * topological sort of the seed slides, by in-degree on the pattern by columns (CSC); or on the device, where topo stays
 * until it is asked for.  The last returns TRS_ESUPPORT if the triangle is so deep that the host is faster. */
int trs_find_levels(trs_operator *op);
int trs_sort_by_in_degree(trs_operator *op);
int trs_find_levels_on_device(trs_operator *op);
/* The first half of the last one: op->device.level, op->lv.count and op->statistics.longest. */
int trs_search_levels_on_device(trs_operator *op);

void trs_count_levels(trs_operator *op); /* makes op->statistics of op->lv and the pattern */

#endif
