/* order.h: orders of rows and columns for incomplete factors. */
#ifndef TRS_ORDER_H
#define TRS_ORDER_H

#include "matrix/matrix.h"

/* g = the pattern of a + a', without values.  The columns of a ascend, and so do those of g. */
int trs_order_join(trs_context *ctx, const trs_tri *a, trs_tri *g);

/* perm [k] = the row that becomes row k of a(perm, perm), for a square a whose columns ascend.  Two rows are neighbours if
 * a has either entry.  Returns TRS_OK, TRS_EMEM. */
int trs_order_rows(trs_context *ctx, const trs_tri *a, trs_ilu_ordering how, int32_t *perm);

const char *trs_order_name(trs_ilu_ordering how);

#endif
