/* work.h: what changes during a solve.  One work space serves one solve at a time. */
#ifndef TRS_WORK_H
#define TRS_WORK_H

#include "internal.h"

struct trs_work {
    const trs_plan *plan;
    trs_context ctx; /* its memory and its sentence */
    int nrhs;        /* right-hand sides done at a time; INT_MAX when none of the below is needed */
    void *stage;     /* [n*nrhs] on the device: B, then X, when they live on the host */
    void *ordered;   /* [n*nrhs] where the solver runs: X in plan order, when that is not natural */
    void **part[2];  /* of every part of every side: what its solver wants */
};

int trs_work_make(trs_work **work, const trs_plan *p, int nrhs, trs_context *ctx);
int64_t trs_work_bytes(const trs_work *w);

#endif
