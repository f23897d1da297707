/* trust.h: how exact solves with L S L^H are, whose pivots were chosen before the factorization. */
#ifndef TRS_SUITESPARSE_TRUST_H
#define TRS_SUITESPARSE_TRUST_H

#include "factor/suitesparse/factor.h"

/* A x = b is solved with f, whose L is by columns with the diagonal first.  omega [0]: the backward error of x, as trs_lu_watch
 * measures it; omega [1]: after one step of refinement.  TRS_OK, TRS_EMEM. */
int trs_ldlt_measure(trs_lu *lu, const trs_csc *A, const trs_factors *f, double omega[2]);

#endif
