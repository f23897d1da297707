/* work.h: the work space, which holds everything that a solve changes.  One work space serves one
 * solve at a time. */
#ifndef TRS_WORK_H
#define TRS_WORK_H

#include "plan.h"

typedef struct trs_buffer { /* on the host or on the device */
    void *p;
    int64_t bytes;
} trs_buffer;

typedef struct trs_fitted { /* a plan that a work space is fitted to */
    const trs_plan *plan;
    /* how often the plan was analysed by then; after another analysis it has to be fitted again */
    int64_t analyses;
    int nrhs;       /* right-hand sides done at a time; INT_MAX if nothing depends on it */
    int version[2]; /* which instances of plan->side solve (grow.c) */
    trs_instance_work of_side[2]; /* what solvers with work_create made, for plan->side */
    struct trs_fitted *next;
} trs_fitted;

struct trs_work {
    trs_context ctx;  /* whose memory it has */
    bool on_device;   /* B and X of its plans live there */
    trs_buffer stage; /* [n*nrhs] on the device: B, then X, if these live on the host */
    /* by the place of the solver, trs_place */
    trs_buffer ordered[2];  /* [n*nrhs] B, then X, in plan order, if that is not the natural one */
    trs_buffer permuted[2]; /* [n*nrhs] B, then X, in the order of T, if the plan has P and Q */
    trs_buffer scratch[2];  /* for solvers without a work space of their own */
    trs_fitted *fitted;     /* a list */
    atomic_bool solving;    /* a caller's: a solve uses it */
    bool captured;          /* a plan's own: a captured graph may use it */
    struct trs_work *older; /* a plan's own that is captured */
};

/* Only one solve at a time may use a work space: TRS_OK until it is released, or TRS_ESTATE.  Threads that share the own
 * work space of a plan, or of factors, learn it here, and not from x.  owner: whose it is, for the message, which names the
 * function that creates others; NULL: a caller's. */
int trs_work_take(atomic_bool *solving, const char *owner, const char *create);
void trs_work_release(atomic_bool *solving);

/* The instance of a side that this work space was made for; job->work becomes what it works in.  The device becomes the
 * current one. */
int trs_work_find(const trs_plan *p, trs_work *w, const trs_side *side, const trs_instance **found,
                  trs_job *job);
int trs_work_make(trs_work **work, const trs_plan *p, int nrhs, trs_context *ctx);
/* The bytes of the buffers for this plan alone, without those of vendors' libraries, which are not known. */
int64_t trs_work_bytes(const trs_plan *p, int nrhs);

#endif
