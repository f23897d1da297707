/* elimination.h: L U = A, or L L^H = A, on a fixed pattern and without exchanges of rows, on a device.
 *
 * The pattern is that of L + U by rows.  If it holds all of the fill, the factors are complete; if it holds a part,
 * products outside the pattern are dropped.
 *
 *     row i    | l(i, k), k < i | u(i, i) | u(i, j), j > i |      for k < i in row i, ascending:
 *              ^ ptr [i]        ^ diag [i]                           l(i, k) = a(i, k) / u(k, k)
 *                                                                    a(i, j) -= l(i, k) u(k, j)   where row i has j > k
 *
 * The factor L of L L^H results from the same elimination of the pattern of L + L^H, as l(i, k) sqrt (u(k, k)).  If A need not
 * be definite, the factors are L S L^H with sqrt |u(k, k)|, and S has the signs of the pivots.
 * cuda/elimination implements it. */
#ifndef TRS_ELIMINATION_H
#define TRS_ELIMINATION_H

#include "matrix/matrix.h"

typedef struct trs_elimination trs_elimination;

/* All arrays are on the device of the context; create reads them, and src, scale, conjugate and to are kept: they belong to
 * the caller, who frees them after destroy. */
typedef struct trs_elimination_pattern {
    int32_t n, levels;
    int64_t nnz;
    trs_dtype dtype;
    bool cholesky;        /* of A = L L^H the pattern holds both triangles, and only L is written */
    const int64_t *ptr;   /* [n+1] */
    const int32_t *idx;   /* [nnz] columns, ascending in every row */
    const int64_t *diag;  /* [n] where the diagonal entry of each row is: every row has one */
    const int32_t *level; /* [n] of each row of L, from 0 */
    /* [nnz] where the value of each entry stands in the values of A; TRS_SRC_MISSING: it is zero before */
    const int64_t *src;
    /* [nnz] 1: the entry takes the conjugated value; NULL: none does.  Cholesky takes real parts on the diagonal. */
    const unsigned char *conjugate;
    const double *scale; /* [n] row i of A counts scale (i) times; NULL: once */
    const int64_t *to;   /* [nnz] where each entry of L or U is to be written in val; -1: nowhere */
} trs_elimination_pattern;

/* What may be wrong with the pivot of a row, or with its other numbers. */
typedef enum trs_ilu_fault {
    TRS_ILU_GOOD,
    TRS_ILU_ZERO,
    TRS_ILU_NEGATIVE, /* of L L^H */
    TRS_ILU_INFINITE  /* a number of the row is not finite */
} trs_ilu_fault;

/* What a run says of the pivots, on the device.  |z| of a complex number is |Re z| + |Im z| here; the two largest numbers
 * are rounded down by up to 2^-20, and Inf where one is not finite. */
typedef struct trs_elimination_outcome {
    /* rows whose pivot is zero, or of L L^H not positive, or with a number that is not finite */
    uint64_t bad;
    uint64_t first; /* 4 * the first row with one + its trs_ilu_fault; UINT64_MAX: there is none */
    uint64_t boosted;       /* pivots that were replaced */
    uint64_t first_boosted; /* of L S L^H, the first of their rows; UINT64_MAX: there is none */
    double largest_a;       /* the largest |a(i, j)|, scaled */
    double largest; /* the largest |l(i, k) u(k, j)| and |u(i, j)|: growth = largest / largest_a */
} trs_elimination_outcome;

typedef struct trs_elimination_job {
    const void *a;       /* the values of A, on the device */
    void *val;           /* L and U, on the device */
    double shift, boost; /* as in trs_ilu_options; of L S L^H, as in trs_factor_options */
    trs_elimination_outcome *outcome; /* on the device */
    void *stream;
    int8_t *sign;        /* [n] on the device: the diagonal of S; NULL: L U or L L^H */
    const int8_t *signs; /* [n] on the device: those that pivots should have, 0: any; NULL: any */
} trs_elimination_job;

/* Choose a kernel for the pattern and make its schedule, on the device.  It waits.
 * Returns TRS_OK, or with *e = NULL TRS_EMEM, TRS_EDEVICE, TRS_ESUPPORT (no kernel fits; without a sentence). */
int trs_elimination_create(trs_context *ctx, const trs_elimination_pattern *p, trs_elimination **e);
void trs_elimination_destroy(trs_elimination *e); /* e may be NULL */
/* Compute the factors.  It only enqueues work, so it can be captured; one run at a time.  The same input gives the same
 * bits.  Returns TRS_OK, TRS_EDEVICE. */
int trs_elimination_run(trs_elimination *e, const trs_elimination_job *job);
const char *trs_elimination_kernel(const trs_elimination *e); /* the name of what was chosen */

#endif
