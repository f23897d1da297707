/* vectors.h: the vectors of a Krylov method, on the host or on a device, and what is done with them.
 *
 * The functions have no result: the first error is kept in status, and after it nothing more is done.  Products on a
 * device are those of cuBLAS. */
#ifndef TRS_BIN_KRYLOV_VECTORS_H
#define TRS_BIN_KRYLOV_VECTORS_H

#include "trisolve-sparse.h"

#include <complex.h>

typedef struct vectors {
    trs_dtype dtype;
    int64_t n;
    int device; /* TRS_HOST or TRS_CUDA(k) */
    int status; /* a trs_status: of the first call that failed */
    void *blas; /* on a device: cuBLAS and its handle */
} vectors;

/* Returns a trs_status; complains of an error itself. */
int vectors_open(vectors *v, trs_dtype dtype, int64_t n, int device);
void vectors_close(vectors *v);

void *vector_new(vectors *v); /* of zeros; NULL after an error */
void vector_free(vectors *v, void *x);
void vector_put(vectors *v, const void *host, void *x);
void vector_get(vectors *v, const void *x, void *host);

void vector_copy(vectors *v, const void *x, void *y);                      /* y = x */
void vector_add(vectors *v, double complex alpha, const void *x, void *y); /* y += alpha x */
void vector_scale(vectors *v, double complex alpha, void *x);              /* x = alpha x */
double complex vector_dot(vectors *v, const void *x, const void *y);       /* conj(x)' y */
double vector_norm(vectors *v, const void *x);                             /* in the 2-norm */

#endif
