/* problem.h: a matrix on a fixed pattern, to be eliminated on a device and on the host, row by row in double precision; and
 * the comparison of the two. */
#ifndef TRS_TESTS_PROBLEM_H
#define TRS_TESTS_PROBLEM_H

#include "tests/common/model.h"

#include "elimination/elimination.h"

typedef struct problem {
    int n, places; /* rows; numbers of val */
    trs_dtype dtype;
    trs_elimination_pattern p; /* on the host */
    zz *a;                     /* [nnz] the values of A, in its order */
    double shift, boost;
    /* [n] of L S L^H, the signs that pivots should have; NULL: L U or L L^H */
    int8_t *signs;
    /* on the device: */
    trs_context ctx;
    trs_elimination_pattern on_device;
    trs_elimination *e;
    void *dev_a, *dev_val;
    int8_t *dev_sign, *dev_signs;
    trs_elimination_outcome *dev_outcome;
} problem;

/* A problem whose rows of L + U have an entry (i, j) where entry [i*n + j] is not 0; entry is freed.  The diagonal of A
 * dominates, all its numbers are single precision, some entries have none, and those of A, L and U are in random orders.
 *     bool scaled ; its rows count a power of 2 times */
problem *problem_new(char *entry, int n, trs_dtype dtype, bool cholesky, bool scaled, random_t *r);
void problem_free(problem *b);
/* L L^H becomes L S L^H: every third number on the diagonal is negative, and half of the signs are known. */
void make_indefinite(problem *b);
/* The pattern goes to the device, and the kernel is chosen: it is the named one, or any if NULL. */
void problem_send(problem *b, const char *kernel);

/* Row i of A has no entry before its diagonal entry v, which so becomes its pivot; of L L^H, where a small pivot makes many
 * negative ones, it has no other entry at all. */
void set_pivot(problem *b, int i, zz v);

typedef struct reference {
    zz *w; /* [nnz] L and U, of L L^H too */
    /* [nnz] how large the error of each may be, in units of epsilon; INFINITY: in a row that a bad pivot has spoilt, where
     * Inf / Inf and the like depend on how complex numbers are divided */
    double *bound;
    trs_elimination_outcome o;
    int8_t *sign;           /* [n] S */
    double largest_outside; /* |l(i, k) u(k, j)| where (i, j) is no entry */
} reference;

reference reference_new(const problem *b);
void reference_free(reference *ref);

/* A run on the device gives the factors of the reference, leaves the other places of val as they were, says of the pivots
 * what the reference says, and gives the same bits again.  Returns the largest error in units of the bound. */
double run_and_compare(problem *b);
trs_elimination_outcome outcome_of(problem *b); /* of the last run */

/* The same for a captured run that is launched with other values. */
void capture_and_compare(problem *b, random_t *r);

#endif
