/* level.h: the level sets of an operator, found by rows, by columns, or on the device, and statistics of them. */
#ifndef TRS_LEVEL_H
#define TRS_LEVEL_H

#include "matrix/operator.h"

/* Level sets of a lower triangle by rows, and, with the same result, of one by columns (trs_tri_transpose of it). */
int trs_level_rows(trs_context *ctx, const trs_tri *csr, trs_levels *lv);
int trs_level_sets(trs_context *ctx, const trs_tri *csc, trs_levels *lv);
void trs_levels_free(trs_context *ctx, trs_levels *lv);

/* op->lv and op->statistics, in one of three ways with one result: a sweep over the rows; the topological sort of the
 * seed documents, by in-degree on the pattern by columns (CSC); on the device, where op->lv.topo stays until it is
 * asked for.  TRS_ESUPPORT, of the last: the triangle is so deep that the host is faster. */
int trs_find_levels(trs_operator *op);
int trs_sort_by_in_degree(trs_operator *op);
int trs_find_levels_on_device(trs_operator *op);

void trs_count_levels(trs_operator *op); /* op->statistics, from op->lv and the pattern */

#endif
