/* lu_refine.h: a step of refinement in solves with complete factors on the host. */
#ifndef TRS_LU_REFINE_H
#define TRS_LU_REFINE_H

#include "lu.h"

/* Are these factors of the kind whose solves may refine x? */
bool trs_lu_may_refine(const trs_lu *lu);
/* r = r - op(A) x, with r [n] contiguous, and step numbers from one x(i) to the next. */
void trs_lu_subtract(const trs_csc *A, trs_op op, const double *x, int64_t step, double *r);
/* The backward error omega of x, max |b - op(A) x|(i) / (|op(A)| |x| + |b|)(i).  b becomes the residual, and size [n] is
 * scratch. */
double trs_lu_backward_error(const trs_csc *A, trs_op op, const double *x, double *b, double *size);
/* x = -y and b = op(A) y, where y has numbers between 1 and 2; both [n]. */
void trs_lu_known_sides(const trs_csc *A, trs_op op, double *x, double *b);
/* The largest |re| or |im| of n numbers of 1 or 2 parts, with step doubles from one number to the next; NaN if one is not
 * finite. */
double trs_lu_largest(const double *x, int64_t step, int64_t n, int parts);
/* The backward error of partial pivoting, at most, with n rows. */
double trs_lu_accurate(int64_t n);
/* x = op(A)^-1 b by the plans, with contiguous b and x [n]. */
int trs_lu_solve_planned(trs_lu *lu, trs_op op, const void *b, void *x);

#endif
