/* amalgamation.h: supernodes of any lower triangle, as groups of consecutive rows. */
#ifndef TRS_GROUPS_H
#define TRS_GROUPS_H

#include "run_length.h"

typedef struct trs_groups {
    int32_t count;
    int32_t *first; /* [count+1] row of each, and n */
} trs_groups;

/* Groups of rows whose columns, or which themselves, have nearly one pattern; the same ones whatever the number of
 * threads.  The caller frees first. */
int trs_groups_find(struct trs_context *ctx, const trs_outline *o, trs_groups *found);

#endif
