/* blas.h: vector operations on a device, by cuBLAS; it is opened when it is needed.  vectors.c calls them. */
#ifndef TRS_BIN_KRYLOV_BLAS_H
#define TRS_BIN_KRYLOV_BLAS_H

#include "vectors.h"

/* Each returns a trs_status.  Scalars are on the host. */
int blas_open(void **blas);
void blas_close(void *blas); /* NULL allowed */
int blas_add(const vectors *v, double complex alpha, const void *x, void *y);
int blas_scale(const vectors *v, double complex alpha, void *x);
int blas_dot(const vectors *v, const void *x, const void *y, double complex *dot);
int blas_norm(const vectors *v, const void *x, double *norm);

#endif
