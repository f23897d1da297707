/* fronts.h: complete factors of new values on a device, front by front (front_tree.h defines a front).
 *
 * The pattern of A and of its factors, their order and their scaling are those of the last factorisation on the host:
 *
 *     (L U)(k, m) = scale (P (k)) A (P (k), Q (m))      or      L L^H = A (P, P)      or      L S L^H = A (P, P)
 *
 * and rows are not exchanged.  cuda/fronts implements it. */
#ifndef TRS_FRONTS_H
#define TRS_FRONTS_H

#include "elimination.h"

typedef struct trs_fronts trs_fronts;

/* All arrays are on the host, are read by trs_fronts_create, and belong to the caller.  No values are read. */
typedef struct trs_fronts_pattern {
    trs_dtype dtype; /* of L, U and A */
    /* L L^H: of A the entries on and below the diagonal are read, and U is left out */
    bool cholesky;
    bool indefinite;  /* with cholesky: L S L^H, where S has the signs of the pivots */
    const trs_mat *A; /* CSR or CSC */
    /* CSR or CSC, base 0, in the order of the pivots; of L U, L has a unit diagonal, stored or not */
    const trs_mat *L, *U;
    const int64_t *P, *Q; /* [n] each; cholesky: Q is not read */
    const double *scale;  /* [n] by row of A; NULL: there is no scaling */
} trs_fronts_pattern;

typedef struct trs_fronts_job {
    const void *a; /* the values of A, in its order, on the device */
    void *l, *u;   /* the values of L and U, in their order, on the device; cholesky: u = NULL */
    /* on the device.  Rows are pivots k = 0 .. n-1.  largest is not of L L^H.  Of L U it is infinite if L or
     * U has no entry for a number of theirs that is not negligible: the factors that gave the patterns had a zero there. */
    trs_elimination_outcome *outcome;
    void *stream;
    /* of L S L^H alone, as in trs_elimination_job; [n] by pivot */
    double boost;
    int8_t *sign;
    const int8_t *signs;
} trs_fronts_job;

/* Find the fronts, and bring what a run needs to the device.  It waits.  The context is kept.
 * Returns TRS_OK, TRS_EMEM, TRS_EDEVICE, TRS_ESUPPORT (a level of fronts has 2^31 tiles), TRS_EMATRIX (L or U has an entry
 * that cannot come of A in this order; in L of L S L^H it is zero), each but the first with *f = NULL. */
int trs_fronts_create(trs_context *ctx, const trs_fronts_pattern *p, trs_fronts **f);
void trs_fronts_destroy(trs_fronts *f); /* f may be NULL */
/* Compute the factors.  It only enqueues work, so it can be captured; one run at a time.  The same values give the same
 * bits.  Returns TRS_OK, TRS_EDEVICE. */
int trs_fronts_run(trs_fronts *f, const trs_fronts_job *job);

#endif
