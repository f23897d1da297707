/* schur.h: panels of a Schur complement S = A(s, s) - A(s, r) A(r, r)^-1 A(r, s) on a device, a few columns at a time.
 *
 *     x = A(r, s)(:, panel)     scatter          s = A(s, s)(:, panel)     scatter
 *     x = A(r, r)^-1 x          the factors      s = s - A(s, r) x         subtract
 *
 * All functions only enqueue, and the same input gives the same bits.  cuda/factor implements them. */
#ifndef TRS_SCHUR_H
#define TRS_SCHUR_H

#include "matrix/operator.h"

/* Rows or columns of a sparse matrix, on the device: line l has the numbers val [p] at idx [p], ptr [l] <= p < ptr [l+1]. */
typedef struct trs_sparse_lines {
    const int64_t *ptr;
    const int32_t *idx;
    const void *val;
} trs_sparse_lines;

/* Column c of x, ld apart, = line first + c, for c < width; its other numbers, of n, are zero. */
int trs_gpu_schur_scatter(trs_dtype t, const trs_sparse_lines *lines, int64_t first, int width,
                          int64_t n, void *x, int64_t ld, void *stream);
/* s(i, c) = s(i, c) - line i times column c of x, for i < count and c < width; columns are lds and ldx apart. */
int trs_gpu_schur_subtract(trs_dtype t, const trs_sparse_lines *lines, int64_t count, int width,
                           const void *x, int64_t ldx, void *s, int64_t lds, void *stream);
/* s(j, i) = conj (s(i, j)) for j < i < count, and the diagonal is real. */
int trs_gpu_schur_mirror(trs_dtype t, int64_t count, void *s, int64_t ld, void *stream);

#endif
