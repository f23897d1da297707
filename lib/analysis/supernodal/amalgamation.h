/* amalgamation.h: the rows of any lower triangle partitioned into supernodes, fundamental or relaxed. */
#ifndef TRS_AMALGAMATION_H
#define TRS_AMALGAMATION_H

#include "run_length.h"

typedef struct trs_partition {
    int32_t count;
    int32_t *first; /* [count+1] first row of each supernode; first [count] = n */
} trs_partition;

/* Sets of consecutive rows whose columns, or which themselves, have nearly one pattern.  They do not depend on the
 * number of threads.  The caller frees first. */
int trs_amalgamate(struct trs_context *ctx, const trs_run_pattern *pattern, trs_partition *found);

#endif
