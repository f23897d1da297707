/* elimination_tree.h: the elimination tree of a symmetric pattern, and the entries in each column of its Cholesky factor, both without
 * the factor.
 *
 * The pattern is a list of neighbours: those of row k are adj [ptr [k] .. ptr [k+1]-1], on both sides of the diagonal and in any
 * order.  One may occur twice, and k itself may be among them.
 * Sources: Liu, A compact row storage scheme for Cholesky factors using elimination trees, ACM TOMS 12 (1986) 127-148; Gilbert, Ng,
 * Peyton, An efficient algorithm to compute row and column counts for sparse Cholesky factorization, SIAM J. Matrix Anal. Appl. 15
 * (1994) 1075-1091. */
#ifndef TRS_ELIMINATION_TREE_H
#define TRS_ELIMINATION_TREE_H

#include <stdint.h>

/* parent [n], out: the row of the first entry below the diagonal in column k of the factor; -1: there is none.  scratch [n].
 * Time O(entries log n). */
void trs_elimination_tree(int32_t n, const int64_t *ptr, const int32_t *adj, int32_t *parent,
                          int32_t *scratch);
/* count [n], out: the entries below the diagonal of each column of the factor.  scratch [5 n].  Time O(entries log n). */
void trs_column_counts(int32_t n, const int64_t *ptr, const int32_t *adj, const int32_t *parent,
                       int32_t *count, int32_t *scratch);

/* The last of k, up [k], up [up [k]], ..., whose own entry is itself; the path to it becomes shorter. */
static inline int32_t trs_last_of(int32_t *up, int32_t k)
{
    int32_t top = k;
    while (up[top] != top) top = up[top];
    while (up[k] != top) {
        const int32_t next = up[k];
        up[k] = top;
        k = next;
    }
    return top;
}

#endif
