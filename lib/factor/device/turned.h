/* turned.h: pivots of two rows as pivots of one row each, for factors L S L^H that a device computes.
 *
 * The host has found which rows are pivots in pairs, [a b; conj (b) c] with a small |a|.  A rotation of the two rows and columns,
 * after they are scaled, makes the first of these pivots diagonal; if b is complex, its phase is taken from the second row before.
 * With all rotations in W, which is I elsewhere,
 *
 *     G = W A(P, P) W^H = F S F^H,  S diagonal,      A(P, P)^-1 = W^H F^-H S F^-1 W
 *
 * so the device eliminates G with pivots of one row, and a solve turns the rows of pairs before and after the triangles.  Later
 * values keep W; how good it still is, the growth says.  Every turn has a determinant of modulus 1, and W A W^H has the inertia
 * of A. */
#ifndef TRS_TURNED_H
#define TRS_TURNED_H

#include "factor/lu.h"

/* An entry of G is a sum of at most four numbers of A. */
enum { TRS_TURNED_TERMS = 4 };

typedef struct trs_turned {
    /* how many pairs there are */
    int32_t count;
    /* [count] the pivots first [q] and first [q] + 1 are a pair */
    int32_t *first;
    /* [4*count] [w(0) w(1); w(2) w(3)], the block of W; in the type of the factors, F64 or C64, as the coefficients are */
    void *w;
    /* the pattern of G in the order of A: base 0, without values, CSC if A is, otherwise CSR */
    trs_mat G;
    /* [4*nnz of G] the places in A of the terms of an entry; -1: there are no more */
    int64_t *from;
    /* [4*nnz of G] their coefficients */
    void *by;
} trs_turned;

/* Of the pairs of lu->f and the pattern of A, which is on the host.  To be freed after an error, too.  TRS_OK, TRS_EMEM. */
int trs_turned_make(trs_lu *lu, const trs_mat *A, trs_turned *t);
void trs_turned_free(trs_lu *lu, trs_turned *t);
/* L of lu->f, by rows, and the signs are those of G; L and the blocks become those of A.  w is overwritten. */
void trs_turned_back(trs_lu *lu, int32_t count, const int32_t *first, void *w);

#endif
