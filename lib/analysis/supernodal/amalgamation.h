/* amalgamation.h: the rows of any lower triangle partitioned into supernodes, fundamental or relaxed. */
#ifndef TRS_AMALGAMATION_H
#define TRS_AMALGAMATION_H

#include "analysis/trapezoids.h"

typedef struct trs_partition {
    int32_t count;
    int32_t *first; /* [count+1] first row of each supernode; first [count] = n */
} trs_partition;

/* Sets of consecutive rows whose columns, or which themselves, have nearly one pattern: the relaxed supernodes that suit
 * a GPU, unless it would take longer with them than with the fundamental ones.  The caller frees first. */
int trs_amalgamate(trs_context *ctx, const trs_fundamental *f, trs_partition *found);

#endif
