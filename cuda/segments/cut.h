/* cut.h: the best place to cut a triangle into a head and a tail, each for its own solver.
 *
 * A cut is an analysis of an operator, found on the host from the pattern alone.  No cut is made if none is predicted
 * to pay.  If the caller requires a cut, none is made only if the triangle has a single level. */
#ifndef TRS_CUT_H
#define TRS_CUT_H

#include "analysis/supernodes.h"
#include "solvers/solver.h"

enum { TRS_PART_FEATURE_BYTES = 64 };

typedef struct trs_cut_part { /* the head or the tail, as far as it is known before it is made */
    trs_shape shape;          /* predicted, but for n and nnz */
    trs_supernodes blocks;    /* numbers only; none: blocks.count = 0 */
    int scaled;               /* what other analyses of the whole say of a part */
    struct {
        const trs_analysis *of;
        double data[TRS_PART_FEATURE_BYTES / sizeof(double)];
    } feature[TRS_MOST_FEATURES - 1];
    const trs_solver *solver;
} trs_cut_part;

typedef struct trs_cut { /* of a triangle in two, a head and a tail */
    int32_t *row;        /* [n] rows of the head, ascending, then those of the tail; NULL: no cut */
    int32_t rank;        /* the head has the rows of all ranks below this one (ranks.h) */
    int64_t coupling;    /* entries of the coupling block: rows of the tail, columns of the head */
    trs_cut_part part[2]; /* the head, the tail */
} trs_cut;

extern const trs_analysis trs_cut_analysis; /* a trs_cut */

/* What the solvers of head and tail and the product with the coupling block are predicted to take, added to c. */
void trs_cut_cost(const trs_cut *s, const trs_machine *m, trs_cost *c);
/* A part as solvers look at it; p points into the part. */
void trs_cut_prospect(const trs_cut_part *part, int64_t limit, trs_prospect *p);

#endif
