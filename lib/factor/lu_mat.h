/* lu_mat.h: matrices that a trs_lu copies, compares with later ones, and frees. */
#ifndef TRS_LU_MAT_H
#define TRS_LU_MAT_H

#include "lu.h"

/* Free the arrays of a matrix that the lu has made. */
void trs_lu_mat_free(trs_lu *lu, trs_mat *m);
/* *to = a copy of m, which is CSR or CSC on the host: its pattern, and its values if wanted.  The caller frees it, also
 * after an error.  Returns TRS_OK, TRS_EMEM. */
int trs_lu_mat_copy(trs_lu *lu, const trs_mat *m, bool values, trs_mat *to, const char *what);
/* A without its arrays, to compare later ones with.  trs_lu_check_shape refuses a matrix whose arrays differ in size or
 * type, and checks the values of the others.  Returns TRS_OK, TRS_EARG, or as trs_check_values. */
trs_mat trs_lu_shape(const trs_mat *A);
int trs_lu_check_shape(const trs_mat *shape, const trs_mat *A);
/* Are n, nnz, types and kind the same, and the patterns, which are on the host? */
bool trs_lu_same_pattern(const trs_mat *a, const trs_mat *b);
/* Is A well-formed, and on a device that exists, as far as the host can tell without reading arrays there?
 * TRS_OK, TRS_EARG, TRS_EMATRIX, TRS_EDEVICE. */
int trs_check_where(const trs_mat *A);

#endif
