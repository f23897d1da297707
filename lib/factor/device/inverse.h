/* inverse.h: solves with one right-hand side by the full inverse on a device, in place of two triangles.
 *
 *     M = A^-1 by rows, from the factors: the n columns of I in batches          x = M b
 *
 * Two triangles take two passes over the vectors and two kernels with many dependent steps; a product with M is one launch that
 * is bound by n^2 numbers.  So it pays for small n and many solves between updates; README.md has figures. */
#ifndef TRS_LU_INVERSE_H
#define TRS_LU_INVERSE_H

#include "factor/lu.h"
#include "matrix/operator.h"

typedef struct trs_lu_inverse trs_lu_inverse;

/* Make lu->inverse for complete factors of A, whose plans are ready, if it is predicted to save time.  Without
 * memory, or where A is ill-conditioned, there is none, and that is no error.  Returns TRS_OK, TRS_EDEVICE. */
int trs_lu_inverse_make(trs_lu *lu, const trs_mat *A);
/* Bring it up to date after an update of the factors, in the order of the stream.  A is where it was for the update; on the
 * host it may have another pattern. */
int trs_lu_inverse_renew(trs_lu *lu, const trs_mat *A, void *stream);
void trs_lu_inverse_free(trs_lu *lu);
/* Wait, and set *growth to the condition number of A, by which errors grow, if it is larger; nothing where M does not solve. */
int trs_lu_inverse_growth(trs_lu *lu, double *growth);
/* Does M solve with this op and so many columns? */
bool trs_lu_inverse_solves(const trs_lu *lu, trs_op op, int nrhs);
/* The first column of X = op(A)^-1 that of B, for such an op; X and B do not overlap. */
int trs_lu_inverse_solve(const trs_lu *lu, trs_op op, trs_view b, trs_view x, void *stream);

#endif
