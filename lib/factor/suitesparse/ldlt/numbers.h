/* numbers.h: L and D of A(P, P) = L D L^H, row by row; D has numbers, and blocks of 2 x 2 numbers. */
#ifndef TRS_LDLT_NUMBERS_H
#define TRS_LDLT_NUMBERS_H

#include "factor/suitesparse/symbolic.h"

#ifdef HAVE_CHOLMOD

/* What factorisations of one pattern share.  A run of row k of L is a list of consecutive columns that have the same rows below
 * them, so that each row that has the first column has the others. */
typedef struct trs_ldlt_rows {
    const trs_symbolic *d; /* order and columns of L */
    int64_t *
        run_ptr; /* [n+1] row k of L has the runs run_ptr [k] .. run_ptr [k+1] - 1, columns ascending */
    int32_t *run;    /* first columns */
    int32_t *length; /* how many columns they are */
    int64_t *a_ptr;  /* [n+1] column k of A(P, P), to its diagonal, has the entries a_ptr [k] .. */
    int32_t *a_row;  /* their rows */
    int64_t *a_src;  /* their places in A */
    int64_t *dense;  /* [n] place in column j of L from which its rows are consecutive */
    bool *second;    /* [n] rows k - 1 and k may be one pivot; NULL: no rows are */
    int32_t *mate;   /* [n] by row of A, as in pairs.h; NULL: no row has one */
    double *scale;   /* [n] by row of A, as in pairs.h */
    /* [2*shares] rows share [2s] .. share [2s+1] - 1 are whole subtrees of the elimination tree, ascending: they need no other
     * row, so threads can do one each; the rows between them come afterwards */
    int32_t *share;
    int64_t shares;
    double *work; /* [5*n] scratch of a factorisation */
    int64_t *end; /* [n] the same */
} trs_ldlt_rows;

/* Find the lists.  The members d, mate and scale are given.  TRS_OK, TRS_EMEM. */
int trs_ldlt_rows_make(trs_lu *lu, const trs_csc *A, trs_ldlt_rows *r);
void trs_ldlt_rows_free(trs_lu *lu, trs_ldlt_rows *r);

/* Factor A.  f has L, without values, and arrays for sign and, with r->second, block (trs_factors); L gets its values.
 * It allocates nothing.  TRS_OK, TRS_EPIVOT, TRS_ECANCELED. */
int trs_ldlt_run(trs_lu *lu, const trs_csc *A, const trs_ldlt_rows *r, trs_factors *f);

#endif
#endif
