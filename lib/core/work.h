/* work.h: what changes during a solve.  One work space serves one solve at a time. */
#ifndef TRS_WORK_H
#define TRS_WORK_H

#include "plan.h"

typedef struct trs_buffer { /* of bytes, on the host or on the device */
    void *p;
    int64_t bytes;
} trs_buffer;

typedef struct trs_served { /* a plan that a work space serves */
    const trs_plan *plan;
    int64_t analyses; /* of the plan, when it was fitted: nothing here is of use to a later one */
    int nrhs;         /* right-hand sides done at a time; INT_MAX when nothing here depends on it */
    trs_instance_work own[2]; /* what solvers have made for themselves, for op = N and T */
    struct trs_served *next;
} trs_served;

struct trs_work {
    trs_context ctx;     /* its memory and its sentence */
    bool on_gpu;         /* where ordered, permuted and scratch are */
    trs_buffer stage;    /* [n*nrhs] on the device: B, then X, when they live on the host */
    trs_buffer ordered;  /* [n*nrhs] X in plan order, when that is not natural */
    trs_buffer permuted; /* [n*nrhs] B, then X, in the order of T, of a plan with P and Q */
    trs_buffer scratch;  /* what a solver needs that makes nothing for itself */
    trs_served *served;
};

int trs_work_make(trs_work **work, const trs_plan *p, int nrhs, trs_context *ctx);
/* Bytes of the buffers for this plan alone; what vendors' libraries take is not known. */
int64_t trs_work_bytes(const trs_plan *p, int nrhs);

#endif
