/* on_device.h: op(A) x, residuals, and norms of op(A) with all arrays on a device.  cuda/accuracy implements them.
 *
 * The kernels go through op(A) row by row.  These are stored lines of A, or run across them; in the latter case a
 * sort finds them first. */
#ifndef TRS_ACCURACY_ON_DEVICE_H
#define TRS_ACCURACY_ON_DEVICE_H

#include "matrix/on_device.h"

/* op(A) by rows.  Where the rows are lines of A as it is stored, there are no arrays besides those of A. */
typedef struct trs_lines {
    trs_mat A; /* the caller's, on a device */
    trs_op op;
    /* the rows of op(A) are across the lines that A->ptr delimits: the arrays below are there */
    bool across;
    void *memory;
    int64_t *ptr;   /* [rows of blocks + 1] */
    int32_t *idx;   /* [nnz] the column of each entry, or block, of op(A) */
    int64_t *place; /* [nnz] where it stands in A, ascending within a row */
} trs_lines;

/* Are the rows of op(A) across the lines of A?  If not, trs_lines_make neither allocates nor waits. */
bool trs_lines_across(const trs_mat *A, trs_op op);
/* Set *l; ctx is for its memory and names the device, which becomes current.  A must be well-formed.  In the order of the
 * stream, and waits if it allocates.  Returns TRS_OK, TRS_EMEM, TRS_EDEVICE. */
int trs_lines_make(trs_context *ctx, const trs_mat *A, trs_op op, void *stream, trs_lines *l);
void trs_lines_free(trs_context *ctx, trs_lines *l);
/* Are ptr and idx of A, on the device, in range?  Waits.  Returns TRS_OK, TRS_EMATRIX, TRS_EMEM, TRS_EDEVICE. */
int trs_lines_check(trs_context *ctx, const trs_mat *A, void *stream);

/* Y = op(A) X.  Only enqueues work. */
int trs_gpu_multiply(const trs_lines *l, int nrhs, trs_view x, trs_view y, void *stream);

/* What one column of R = B - op(A) X shows.  |z| of a complex number is |re| + |im|. */
typedef struct trs_findings {
    double omega;          /* max |r(i)| / (|op(A)| |x| + |b| + safe)(i) */
    int64_t row;           /* of the first such i; -1: there is none */
    double residual, b, x; /* max |r(i)|, |b(i)|, |x(i)| */
    double a;              /* largest row sum of |op(A)| */
} trs_findings;

enum { TRS_RESIDUAL_COLUMNS = 64 };       /* at most, in one call */
int64_t trs_gpu_residual_bytes(int nrhs); /* of scratch */
/* found [nrhs] is on the host.  r [n*nrhs] by columns, of the type of A, is the residual; NULL: it is not wanted.  scratch
 * is on the device.  Waits. */
int trs_gpu_residual(const trs_lines *l, int nrhs, trs_view b, trs_view x, void *r, void *scratch,
                     trs_findings *found, void *stream);

/* *longest = the entries of the longest row of op(A), *norm = the largest row sum of |op(A)|, with the modulus of complex
 * numbers.  scratch as for a residual of one column.  Waits. */
int trs_gpu_survey(const trs_lines *l, void *scratch, int64_t *longest, double *norm, void *stream);

#endif
