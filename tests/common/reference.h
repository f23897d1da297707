/* reference.h: what the sequential references of the device's algorithms share.  A reference computes x by the data
 * structure of an algorithm, one step after the other; x is compared with plain substitution and, where there is a GPU,
 * with what the solver itself computes. */
#ifndef TRS_REFERENCE_H
#define TRS_REFERENCE_H

#include "dags.h"

/* f for every pattern of model.h and every graph of dags.h, with that many rows, as a lower triangle and transposed. */
void for_all_triangles(int n, void (*f)(trs_context *ctx, const trs_tri *L));

double *random_vector(int n); /* free it */
void substitute(const trs_tri *L, const double *b, double *x);
/* x and y differ by no more than 1e-11 of the largest number in y. */
void assert_near(int n, const double *x, const double *y);
/* The triangle as a matrix of the library, which has its arrays. */
trs_mat mat_of(const trs_tri *L);
/* By the solver of that name, if it can be used here: that x is near to what it computes. */
void compare_with_solver(const char *solver, const trs_tri *L, const double *b, const double *x);

#endif
