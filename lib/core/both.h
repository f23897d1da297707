/* both.h: both triangles of factors by one launch, where their solvers can. */
#ifndef TRS_BOTH_H
#define TRS_BOTH_H

#include "trisolve-sparse.h"
#include "solvers/solver.h"

typedef struct trs_two_plans {
    struct {
        const trs_plan *plan; /* the second one may be the first */
        trs_op op;
        trs_work *work; /* NULL: the plan's own */
    } of[2];
    trs_view b, x; /* one column each, on the device; they do not overlap */
    void *stream;
    /* as in trs_both */
    const int32_t *order_b, *order_x;
    const double *scale_b, *scale_x;
} trs_two_plans;

/* y by the first triangle from b, x by the second from y.  *done = false: nothing has been done, as these take a launch
 * each: they have different solvers, or one that cannot, or a plan may still grow, or has rows in an order of its own, or
 * leaves out rows. */
int trs_solve_both(const trs_two_plans *, bool *done);

#endif
