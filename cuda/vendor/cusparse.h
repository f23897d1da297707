/* cusparse.h: shared by cusparse.c, the solver, and cusparse_calls.c, its calls of cuSPARSE. */
#ifndef TRS_CUSPARSE_H
#define TRS_CUSPARSE_H

#include "vendor.h"

typedef struct cusparse_data {
    trs_cusparse lib;
    int64_t n, nnz;
    trs_dtype dtype;
    bool upper;            /* the caller's triangle is */
    bool transposed;       /* the operator is op = T, H of it */
    bool long_indices;     /* ptr and idx have 64 bits */
    void *ptr, *idx, *val; /* the caller's triangle by rows, on the device */
    void *src;             /* [nnz] there: its entry p is entry src [p] of the operator; NULL: p */
    int64_t version;       /* of the values: how many updates there were */
} cusparse_data;

typedef struct analysis {   /* of SpSV or of SpSM */
    cusparseSpSVDescr_t sv; /* NULL: it is of SpSM */
    cusparseSpSMDescr_t sm;
    void *buffer;
    int64_t version; /* of the values that cuSPARSE has seen */
} analysis;

typedef struct cusparse_work {
    trs_cusparse lib;
    cusparseHandle_t handle;
    cusparseSpMatDescr_t mat;
    cusparseDnVecDescr_t b, x;
    int nrhs;
    analysis one[2], many[2]; /* [conj] for one right-hand side, for nrhs of them */
} cusparse_work;

/* The handle and the matrix of a work space. */
int trs_cusparse_matrix(const cusparse_data *d, cusparse_work *w);
/* An analysis for each op that was announced, for one right-hand side and for nrhs. */
int trs_cusparse_analyse(const cusparse_data *d, trs_context *ctx, cusparse_work *w);
/* Solve for one right-hand side, or for w->nrhs of them that are stored by columns.  After an update the analysis is
 * brought up to date first. */
int trs_cusparse_one(const cusparse_data *d, cusparse_work *w, bool conj, void *b, void *x);
int trs_cusparse_many(const cusparse_data *d, cusparse_work *w, bool conj, trs_view vb,
                      trs_view vx);

#endif
