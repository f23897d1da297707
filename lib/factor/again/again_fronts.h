/* again_fronts.h: L L^H = A(P, P), or L U = R A(P, Q), for new values on the host, front by front (elimination/front_tree.h
 * defines a front).
 *
 * The columns of a front are a panel of cols columns of L and, to the right of it, the update matrix S.  Both are stored by
 * strips of LINE rows, a cache line of each column after the other, so that every loop reads consecutive vectors:
 *
 *               cols     rows
 *             +-------+------+
 *     strip 0 | L .   |      |      entry (i, j) of the panel      ((i / LINE) cols + j) LINE + i % LINE
 *           1 | L L . | .    |      entry (i, j) of S, j >= cols   ((i / LINE - cols / LINE) rows + j - cols) LINE + i % LINE
 *           2 | L L L | S .  |
 *             +-------+------+      rows are counted from the first pivot
 *
 * A front of L U has two such halves: L with the lower triangle of S, and U' with that of S'.
 *
 * Panels stay, and the plan reads L there.  S is on one of two stacks, by the parity of its depth in the tree: children are
 * on the other stack than their parent, and in postorder they are on top of it. */
#ifndef TRS_AGAIN_FRONTS_H
#define TRS_AGAIN_FRONTS_H

#include "elimination/front_tree.h"
#include "factor/lu.h"

enum { TRS_AGAIN_WORKERS = 16 }; /* at most */

typedef struct trs_again_fronts {
    trs_context ctx;
    trs_front_tree tree;
    trs_dtype type;
    bool lu;
    int lanes;               /* rows of a strip */
    int64_t *panel;          /* [fronts] offset of its panel in val, behind which that of U' is */
    int64_t *update;         /* [fronts] offset of S in pool, behind which S' is */
    int64_t numbers, pooled; /* lengths of val and pool */
    void *val, *pool;        /* aligned to cache lines within their allocations */
    void *blocks[2];
    /* entry e of A goes to val [to [e]]; those of front f are a [a_ptr [f]] .. */
    int64_t *a_ptr, *to;
    int64_t *src;     /* [entries] places in the values of A; */
    int64_t *mirror;  /* of L L^H, [entries] those of the mirror images; */
    double *scale;    /* of L U, [entries] by what they are multiplied, or NULL */
    double *diagonal; /* [n] of A, by column; of L L^H alone */
    /* worker w, which has whole subtrees, does fronts order [begin [w]] .. order [begin [w+1] - 1]; what is left when all
     * are done is the top, order [begin [workers]] .. */
    int workers;
    int32_t *order, *begin;
} trs_again_fronts;

typedef struct trs_again_pivots {
    double least, most; /* l(k, k), or |u(k, k)| */
    /* A is not Hermitian, or not positive definite; a number is not finite, or a pivot of L U or its inverse is not normal */
    bool bad;
    /* of L U, as in trs_again_outcome */
    double largest_a, largest;
} trs_again_pivots;

/* Make the fronts for factors of A, which is CSR or CSC on the host; of L L^H it is Hermitian.  Returns TRS_OK, TRS_EMEM,
 * TRS_ESUPPORT without a sentence: L U of so many products is faster by rows.  The caller frees them in each case. */
int trs_again_fronts_make(trs_context *ctx, const trs_mat *A, const trs_factors *factors,
                          double products, trs_again_fronts *f);
void trs_again_fronts_free(trs_again_fronts *f);
/* to [p]: where entry p of a factor, or of L + U, is in val.  m is CSR or CSC in the order of the pivots, with sorted lines.  false:
 * it has entries that no front has.  at and next [n] are scratch. */
bool trs_again_fronts_places(const trs_again_fronts *f, const trs_mat *m, int32_t *at,
                             int64_t *next, int64_t *to);

/* Compute the factors of the values of A.  A front is computed by one thread, but for columns of S at the top, in one order, so the
 * bits do not depend on the number of threads.  It allocates nothing. */
trs_again_pivots trs_again_fronts_run(const trs_again_fronts *f, trs_dtype a_type, const void *a);

/* x = op(L U)^-1 x, where x [n] has the order of the fronts: x (i) is that of pivot tree.pivot [i].  w is scratch, of
 * trs_again_fronts_solve_size numbers. */
int64_t trs_again_fronts_solve_size(const trs_again_fronts *f);
void trs_again_fronts_solve(const trs_again_fronts *f, trs_op op, void *x, void *w);

#endif
