/* residual.h: r = b - op(A) x for one right-hand side, and the backward errors of x.
 *
 *     componentwise    omega = max_i |r(i)| / (|op(A)| |x| + |b|)(i)
 *     normwise         |r| / (|op(A)| |x| + |b|) in the infinity norm */
#ifndef TRS_RESIDUAL_H
#define TRS_RESIDUAL_H

#include "core/plan.h"
#include "matrix/whole.h"
#include "on_device.h"

typedef struct trs_sums { /* of one right-hand side, [n] each, in one block that begins at re */
    long double *re, *im; /* op(A) x, which trs_residual replaces by b - op(A) x */
    long double *size;    /* |op(A)| |x|, and the safe minimum for each of its terms */
    long double *row;     /* row sums of |op(A)| */
} trs_sums;

typedef struct trs_column { /* its element i is number i*step of p */
    void *p;
    int64_t step;
} trs_column;

trs_column trs_column_of(const void *X, int r, int64_t ld, trs_layout layout, trs_dtype t);

/* Check op and two arrays of nrhs columns each; apart: they must not overlap.  A has been checked.  TRS_OK, TRS_EARG. */
int trs_check_columns(const trs_mat *A, trs_op op, int nrhs, const void *X, int64_t ldx,
                      const void *Y, int64_t ldy, trs_layout layout, bool apart);

/* In 4 n numbers from p on. */
static inline trs_sums trs_sums_at(long double *p, int64_t n)
{
    return (trs_sums){p, p + n, p + 2 * n, p + 3 * n};
}

/* Returns TRS_OK, TRS_EMEM.  The caller frees s->re. */
int trs_sums_new(const trs_memory *mem, int64_t n, trs_sums *s);

/* Set s, and the errors e of x, which do not depend on the number of threads.  A has been checked. */
void trs_residual(const trs_mat *A, trs_op op, trs_column b, trs_column x, const trs_sums *s,
                  int threads, trs_error *e);

/* Let `all`, the worst errors of some columns, include those of column r. */
void trs_error_fold(trs_error *all, const trs_error *one, int r);

/* ---- with all arrays on the device of A; the arguments are checked, and n and nrhs are not 0 ------------------------ */

/* The lines of op(A).  Of a Hermitian A of which one triangle is stored, the whole is made on the host and copied there. */
typedef struct trs_device_rows {
    trs_lines lines;
    trs_mat whole; /* arrays are NULL where all of A is stored */
} trs_device_rows;

/* Set *r, after looking at ptr and idx if that is wanted; trs_rows_close frees it, also after an error.  Returns as
 * trs_lines_check and trs_lines_make. */
int trs_rows_open(trs_context *ctx, const trs_mat *A, trs_op op, bool look, void *stream,
                  trs_device_rows *r);
void trs_rows_close(trs_context *ctx, trs_device_rows *r);
/* Does that take neither memory nor time? */
bool trs_rows_are_there(const trs_mat *A, trs_op op);

/* A context for memory on the device of A. */
trs_context trs_device_context(const trs_mat *A);
/* *error holds the errors of no column. */
int trs_backward_error_there(const trs_mat *A, trs_op op, int nrhs, trs_view b, trs_view x,
                             trs_error *error);
/* The errors of a column of which this was found. */
trs_error trs_error_of(const trs_findings *f, trs_dtype t);

#endif
