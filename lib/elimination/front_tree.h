/* front_tree.h: the supernodes of complete factors as a tree of fronts.
 *
 * A front is a supernode of columns with one pattern, and the dense matrix where they are eliminated:
 *
 *              cols   rows
 *            +------+------+
 *      cols  | pivot|  U   |      A front receives the entries of A in its columns and in its rows of U, and
 *            +------+------+      the update matrix of each of its children.  Its pivots are eliminated, and the
 *      rows  |  L   |  S   |      remaining lower right block is its own update matrix S, which goes to its parent.
 *            +------+------+
 *
 * The pattern is that of the Cholesky factor of A + A' in the order of the pivots, which contains those of L and of
 * U'.  Supernodes are merged as long as this stores few zeros (front_tree.c has the limits).  The columns are
 * renumbered so that those of a front are consecutive, children before parents.  The elimination tree allows this,
 * and it changes L and U only by rounding.
 * Source: Liu, The multifrontal method for sparse matrix solution, SIAM Review 34 (1992) 82-109. */
#ifndef TRS_FRONT_TREE_H
#define TRS_FRONT_TREE_H

#include "matrix/matrix.h"

typedef struct trs_front {
    int32_t first, cols;     /* its columns are first .. first+cols-1 in the new order */
    int32_t rows;            /* the order of S */
    int32_t parent;          /* -1: it is a root */
    int32_t level;           /* one more than the deepest of its children; 0: it has none */
    int32_t child, children; /* its children are child [child ..] of the tree, ascending */
    int64_t row;             /* its rows below the pivots are row [row ..] of the tree */
} trs_front;

typedef struct trs_front_tree {
    int32_t n, count, levels;
    int64_t entries;  /* of row and to: the rows of all fronts */
    trs_front *front; /* [count] children before parents */
    int32_t *child;   /* [count] */
    int32_t *of;      /* [n] the front of a column, in the new order */
    int32_t *place;   /* [n] the new number of a pivot */
    int32_t *pivot;   /* [n] the pivot of a new number */
    int32_t *row;     /* [entries] ascending in a front, in the new order */
    int32_t *to;      /* [entries] where a row stands in the parent: 0 .. cols+rows-1 */
} trs_front_tree;

/* Of a matrix of n pivots with entries (i [e], j [e]), e < entries, of which those on either side of the diagonal count
 * for both; an entry may occur twice.
 * Returns TRS_OK, TRS_EMEM; the caller frees the tree in either case. */
int trs_front_tree_make(trs_context *ctx, int32_t n, int64_t entries, const int32_t *i,
                        const int32_t *j, trs_front_tree *t);
void trs_front_tree_free(trs_context *ctx, trs_front_tree *t);

/* Where pivot k stands in a front that has it: 0 .. cols+rows-1; -1: it has not.  *near: among the rows of this front, 0 .. rows,
 * where the search begins, and then where it ended; pivots that are asked for in ascending order are found at once. */
static inline int32_t trs_front_find(const trs_front_tree *t, const trs_front *f, int32_t k,
                                     int32_t *near)
{
    enum { STEPS = 8 };
    if (k < f->first + f->cols) return k < f->first ? -1 : k - f->first;
    const int32_t *row = t->row + f->row;
    int32_t at = *near > 0 && row[*near - 1] >= k ? 0 : *near;
    const int64_t soon = trs_min((int64_t)at + STEPS, f->rows);
    while (at < soon && row[at] < k) at++;
    if (at == soon) at = (int32_t)trs_first_from(row, at, f->rows, k);
    *near = at;
    return at < f->rows && row[at] == k ? f->cols + at : -1;
}

#endif
