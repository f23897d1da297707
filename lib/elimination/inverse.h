/* inverse.h: the full inverse M = A^-1 on a device, stored by rows of `pitch` numbers, and its product with a vector.
 *
 *     x = M b                                       one launch, no thread waits for another
 *     norm [0] = the largest line sum of |A|        a line is a row of A and of M; or a column, where A is stored by columns
 *     norm [1] = the largest line sum of |M|        their product is the condition number of A in that norm
 *
 * All functions only enqueue.  cuda/factor/inverse.cu implements them; lib/factor/device/inverse.h has the rest. */
#ifndef TRS_INVERSE_H
#define TRS_INVERSE_H

#include "matrix/operator.h"

/* Numbers in a row: a multiple of 32, so that a row begins at a multiple of 128 bytes. */
static inline int64_t trs_inverse_pitch(int64_t n)
{
    return (n + 31) / 32 * 32;
}

/* m [n*pitch] = I, with zeros between the rows; norm [1] = 0. */
int trs_gpu_inverse_identity(trs_dtype t, int32_t n, void *m, double *norm, void *stream);
/* X = M B, or conj (M) B, for the first columns of X and B, which do not overlap.  X is NaN if the product of the norms is not
 * at most `hopeless`. */
int trs_gpu_inverse_multiply(trs_dtype t, int32_t n, const void *m, bool conj, const double *norm,
                             double hopeless, trs_view b, trs_view x, void *stream);
/* norm [0], of A with its n+1 line pointers, from 0. */
int trs_gpu_inverse_norm_a(trs_dtype t, int32_t n, const int64_t *ptr, const void *val,
                           double *norm, void *stream);
/* norm [1], which identity has set to 0; a NaN counts as larger than any number. */
int trs_gpu_inverse_norm_m(trs_dtype t, int32_t n, bool by_rows, const void *m, double *norm,
                           void *stream);

#endif
