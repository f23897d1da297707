/* batch_of.h: what a trs_lu_batch has. */
#ifndef TRS_LU_BATCH_OF_H
#define TRS_LU_BATCH_OF_H

#include "lu_batch.h"
#include "on_device.h"

#include <stdatomic.h>

struct trs_lu_batch {
    trs_context ctx;
    trs_lu_batch_rows rows;
    int64_t count;    /* the most systems of a call */
    int64_t products; /* multiplications of a factorization */
    int lanes;        /* systems of a group */
    int threads;
    bool keep;
    double growth_limit;
    trs_lu_batch_outcome *outcome; /* [count] on the host */
    trs_lu_batch_there *there;     /* NULL: it solves on the host, with what follows */
    char *kept;                    /* [nnz] vectors for each group; NULL unless keep */
    int64_t *kept_code;            /* [count] trs_lu_batch_job.kept_code */
    trs_lu_batch_space *space;     /* [threads] */
    void *kept_memory, *space_memory;
    atomic_bool busy; /* a call is running */
};

static inline bool trs_lu_batch_is_bad(const trs_lu_batch_outcome *o)
{
    return o->code == TRS_EPIVOT || o->code == TRS_EGROWTH;
}

/* values: those of A are read.  TRS_OK, TRS_EARG. */
int trs_lu_batch_check(const trs_lu_batch *b, const trs_systems *s, bool values);
/* The same of a solve's other arguments, if there is anything to solve.  TRS_OK, TRS_EARG. */
int trs_lu_batch_check_solve(const trs_lu_batch *b, trs_op op, int nrhs, const trs_systems *s,
                             const void *B, int64_t ldb, const void *X, int64_t ldx,
                             const trs_exec *exec);

#endif
