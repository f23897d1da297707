/* fronts_reference.h: a run of fronts on the host, launch by launch, one number after the other. */
#ifndef TRS_TESTS_FRONTS_REFERENCE_H
#define TRS_TESTS_FRONTS_REFERENCE_H

#include "tests/common/model.h"

#include "cuda/fronts/schedule.h"

typedef struct fronts_reference {
    const trs_front_tree *t;
    const trs_front_schedule *s;
    bool cholesky;
    zz *panels, *pool; /* [panels], [pool] of the schedule; the panels hold A */
} fronts_reference;

/* Do all launches of the schedule. */
void fronts_reference_run(const fronts_reference *r);

#endif
