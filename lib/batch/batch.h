/* batch.h: many systems with triangles of one pattern, solved by substitution in the caller's arrays of values.
 *
 *     an operator --trs_batch_here, trs_batch_there--> rows, once
 *     values, B and X of every system --trs_solve_batch--> row by row on the host, or level by level on the device */
#ifndef TRS_BATCH_H
#define TRS_BATCH_H

#include "matrix/operator.h"

/* The rows of op(T), each with its diagonal last, in an order in which they can be solved; the entries of a row ascend by
 * column.  All arrays are on the host, or on the device. */
typedef struct trs_batch_rows {
    int32_t n, levels, widest;
    int64_t nnz;
    bool there;   /* the arrays are on the device */
    int64_t *ptr; /* [n+1] */
    /* [nnz] the caller's row of the x that each entry is multiplied with; of a diagonal, the row itself */
    int32_t *at;
    int64_t *src; /* [nnz] index of each value in the caller's val, or TRS_SRC_... */
    /* [levels+1] on the device: where the rows of each level begin; else NULL */
    int32_t *level;
    int64_t *found; /* on the device: a number for the host; else NULL */
} trs_batch_rows;

/* rows on the host, in the order of the operator (rows.c) */
extern const trs_analysis trs_batch_here;
/* rows on the device, level by level */
extern const trs_analysis trs_batch_there;

typedef struct trs_batch_job {
    const trs_batch_rows *rows;
    trs_dtype dtype;
    int64_t count;
    const void *val;
    trs_view b, x; /* of the first system */
    int64_t val_stride, b_stride, x_stride;
    int nrhs;
    bool conj;
    bool look; /* for bad pivots */
    void *stream;
} trs_batch_job;

/* On the device, with all arrays there.  Enqueues work; if it looks for pivots it waits, and *first is the first system
 * times n and the first row with a bad one; -1: none.  cuda/batch implements it. */
int trs_gpu_solve_batch(const trs_batch_job *job, int64_t *first);

#endif
