/* krylov.h: op(A) x = b by Krylov methods, with a preconditioner M.
 *
 *     cg        conjugate gradients: A and M Hermitian positive definite
 *     gmres     restarted, with M^-1 applied from the right, so that the residual it minimises is the true one
 *     bicgstab  likewise with M^-1 from the right
 *
 * A method converges if the true residual does, |b - A x| <= rtol |b| in the 2-norm.  The residual that it carries along
 * tells when to look; if the true one has not followed, it goes on from there.
 * Source: Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithms 9.1, 9.5, 7.7. */
#ifndef TRS_BIN_KRYLOV_H
#define TRS_BIN_KRYLOV_H

#include "vectors.h"

#include <stdbool.h>

typedef struct krylov_system { /* each function returns a trs_status; x and y do not overlap */
    void *user;
    int (*multiply)(void *user, const void *x, void *y);     /* y = op(A) x */
    int (*precondition)(void *user, const void *x, void *y); /* y = op(M)^-1 x */
} krylov_system;

typedef struct krylov_options {
    const char *method; /* "cg", "gmres" or "bicgstab" */
    double rtol;
    int maxit;   /* products with A at most are about as many; of bicgstab twice */
    int restart; /* of gmres: vectors that are kept */
} krylov_options;

typedef struct krylov_result {
    int iterations;
    bool converged;
    double residual;            /* |b - A x| / |b| at the end */
    int products, applications; /* of A, of M^-1 */
    /* [iterations+1] relative residuals as the method carries them; the caller frees it */
    double *history;
    char breakdown[160]; /* why the method cannot go on; "": it can */
    double seconds;
    double product_seconds, application_seconds; /* of the calls, which on a device only enqueue */
} krylov_result;

/* Solve from x = 0.  b, x ; vectors of v.  Returns a trs_status; not to converge is none. */
int krylov_solve(const krylov_options *o, const krylov_system *s, vectors *v, const void *b,
                 void *x, krylov_result *r);

#endif
