/* klu_order.h: an order of rows and columns for KLU, with its predicted fill and depth. */
#ifndef TRS_SUITESPARSE_KLU_ORDER_H
#define TRS_SUITESPARSE_KLU_ORDER_H

#include "factor.h"

/* A(P, Q) has an entry in every place of its diagonal, if there is such an order at all. */
typedef struct trs_klu_order {
    const char *name; /* "AMD", ...: a constant */
    int64_t *P, *Q;   /* [n] each */
    /* the share of the entries of A off the diagonal that have a mirror image; 0 if most of the diagonal is missing */
    double symmetry;
    double diagonals; /* the share of the rows of A that have a diagonal entry */
    /* If all pivots stay on the diagonal of A(P, Q), and its pattern were symmetric: */
    double entries; /* of L + U - I */
    double flops;   /* of L U = A(P, Q) */
    int64_t levels; /* of L, and of U */
    /* the pattern of the matrix that was ordered, C + C' without its diagonal, by columns, rows ascending.  C = A unless its
     * diagonal has gaps */
    int64_t *ptr, *row;
} trs_klu_order;

/* Is METIS's order the better one? */
typedef bool trs_klu_order_test(const trs_lu *lu, const trs_klu_order *metis,
                                const trs_klu_order *other);

/* Is A so small that what UMFPACK prepares takes longer than any fill? */
static inline bool trs_klu_is_small(const trs_csc *A)
{
    enum { SMALL = 2000 };
    return A->nnz < SMALL;
}

/* Can an order be good for A?  With most of the diagonal there its pattern has to be mostly symmetric, since S would have too
 * many entries otherwise.  With most of it missing, rows are matched, and have to be short. */
static inline bool trs_klu_order_suits(const trs_klu_order *o, const trs_csc *A)
{
    enum { SHORT = 12 };
    if (trs_klu_is_small(A)) return true;
    return o->diagonals >= 0.5 ? o->symmetry >= 0.5 : A->nnz <= SHORT * A->n;
}

/* Order A.  ordering: "amd", "colamd", "metis", "natural", "best" or NULL, which is AMD.  named: whatever it is like; else
 * P = Q = NULL if no order can be good.  Free *o, also after an error.
 * Returns TRS_OK, TRS_EMEM, TRS_ESUPPORT, TRS_ELIBRARY, TRS_ECANCELED. */
int trs_klu_order_make(trs_lu *lu, const trs_csc *A, const char *ordering, bool named,
                       trs_klu_order *o);
/* Take METIS's order instead of the one that *o has, if it is better.  It is no error if there is no METIS.
 * Returns TRS_OK, TRS_EMEM, TRS_ELIBRARY, TRS_ECANCELED. */
int trs_klu_order_try_metis(trs_lu *lu, const trs_csc *A, trs_klu_order *o,
                            trs_klu_order_test *is_better);
/* The test for KLU: fewer levels on a device, fewer flops on the host. */
trs_klu_order_test trs_klu_order_better;
/* Free the pattern alone. */
void trs_klu_order_drop_pattern(trs_lu *lu, trs_klu_order *o);
void trs_klu_order_free(trs_lu *lu, trs_klu_order *o);

#endif
