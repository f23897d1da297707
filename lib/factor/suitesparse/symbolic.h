/* symbolic.h: A(P, P) = L U or L D L^H with pivots on the diagonal: the order, and the pattern of L. */
#ifndef TRS_SUITESPARSE_SYMBOLIC_H
#define TRS_SUITESPARSE_SYMBOLIC_H

#include "cholmod.h"

#ifdef HAVE_CHOLMOD

typedef struct trs_symbolic {
    cholmod_common common; /* lnz, fl: the entries of L, and the flops of L L^H */
    cholmod_sparse *S;     /* A + A', without numbers */
    cholmod_factor
        *L; /* the order and the supernodes; of a given order from trs_symbolic_find, NULL before */
    int64_t n, *P;    /* a given order, or NULL */
    const char *name; /* of the order: "AMD", ...: a constant */
    /* of a given order: A + A' without its diagonal, by columns, rows ascending; NULL: not at hand */
    int64_t *both, *row;
    /* L by columns, rows ascending: the diagonal comes first.  From trs_symbolic_find; NULL before */
    int64_t *ptr; /* [n+1] */
    int32_t *idx;
} trs_symbolic;

/* Order A + A'.  mate [n]: rows i and mate [i] become neighbours, and their columns of L have one pattern; mate [i] = i: no
 * other row; NULL: no row has one.  zeros: the fraction of the entries of a supernode that may be zero.  *symbolic is to be
 * freed, also after an error.  TRS_OK, TRS_EMEM, TRS_ESUPPORT, TRS_ELIBRARY. */
int trs_symbolic_new(trs_lu *lu, const trs_csc *A, const char *ordering, const int32_t *mate,
                     double zeros, trs_symbolic **symbolic);
/* The same for a postorder P [n], which it copies, without zeros; name: its name; lnz: the entries of L.  trs_symbolic_find will
 * look at A, unless the caller sets both and row, which then belong to *symbolic. */
int trs_symbolic_given(trs_lu *lu, int64_t n, const int64_t *P, const char *name, double lnz,
                       trs_symbolic **symbolic);
void trs_symbolic_free(trs_lu *lu, void *symbolic);
/* Find the pattern, unless it is known.  O(entries of L).  TRS_OK, TRS_EMEM, TRS_ELIBRARY. */
int trs_symbolic_find(trs_lu *lu, const trs_csc *A, trs_symbolic *d);

/* What the factors get of it, in arrays of their own: a triangle with the pattern, without values, and P. */
int trs_symbolic_triangle(trs_lu *lu, const trs_symbolic *d, bool is_complex, trs_mat *m);
/* The same triangle, which takes the arrays of the analysis with it. */
void trs_symbolic_give(trs_symbolic *d, bool is_complex, trs_mat *m);
int trs_symbolic_order(trs_lu *lu, const trs_symbolic *d, int64_t **P);

#endif
#endif
