/* cut.h: where to cut a complete factor into subtrees, one for each device, and the top that they share (README.md). */
#ifndef TRS_SUBTREES_CUT_H
#define TRS_SUBTREES_CUT_H

#include "matrix/operator.h"

typedef struct trs_subtrees {
    int parts;      /* that have subtrees, one for each device of the list */
    bool top_first; /* the rows of the top come before those that need them */
    int32_t *row; /* [n] rows of part 0, of part 1, ..., of the top, each ascending; NULL: no cut */
    int32_t
        begin[TRS_MOST_DEVICES +
              2]; /* part p has row [begin [p]] .. row [begin [p+1] - 1], the top is part `parts` */
    double
        largest; /* share of the entries that the largest part has, the rows that couple it to the top included */
    double top; /* share that the top has */
} trs_subtrees;

extern const trs_analysis trs_subtrees_analysis; /* a trs_subtrees */

#endif
