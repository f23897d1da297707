/* trapezoids.h: the fundamental supernodes of any lower triangle, and relaxed ones made from them.
 *
 * The search for supernodes goes column by column through a lower triangle A.  A is L itself if columns of L have
 * common patterns, as in a factor.  If instead rows have, as in the transpose of a factor, A is the transpose of L
 * about its other diagonal, which is also a lower triangle:
 *
 *     A = J L^T J,   J = the identity with its columns reversed:   column j of A is row n-1-j of L
 *
 * A supernode of A is a set of consecutive columns first .. end-1.  As a dense matrix it is a trapezoid: a triangle
 * of `width` rows, and below it the `below` rows where some of its columns have entries:
 *
 *     first  x
 *            x x           width = end - first = 3
 *     end-1  x x x         below = 2, in `runs` = 2 runs of rows
 *            . . .
 *            x x x         trapezoid (width, below) = width (width + 1) / 2 + width below
 *            . . .
 *            x x x
 *
 * Fundamental supernodes have columns of one pattern and store no zero.  They are an analysis of the operator,
 * and are found once.  Each solver relaxes them by its own limits: it merges neighbours if that stores few
 * enough zeros. */
#ifndef TRS_TRAPEZOIDS_H
#define TRS_TRAPEZOIDS_H

#include "supernodal/run_length.h"

typedef struct trs_columns { /* a supernode: columns first .. end-1 of A */
    int32_t first, end;
    /* the rows below, and how many runs they are: run [from .. from+runs-1], ascending; one may begin where the one
     * before ends */
    int32_t runs, below;
    int64_t from;
    /* of the fundamental supernodes that it is made of, or of merged subtrees, which count as full; the rest of its
     * trapezoid is fill */
    int64_t entries;
} trs_columns;

typedef struct trs_supernode_set {
    int32_t count;
    trs_columns *supernode; /* [count] */
    trs_run *run;           /* rows below, of all of them */
    int32_t *of_column;     /* [n] supernode of each column */
} trs_supernode_set;

typedef struct trs_fundamental {
    int32_t n;
    bool by_rows; /* A = J L^T J */
    /* in trapezoids of fundamental supernodes, and the rows below them; they stay when the arrays are freed */
    int64_t entries, below;
    trs_run_pattern pattern; /* of L */
    trs_supernode_set set;
    int32_t *first; /* [count+1] first column of each, and n */
} trs_fundamental;

/* Supernodes are merged as long as fill is at most so many percent of the entries. */
typedef struct trs_fill_limit {
    int32_t percent[4]; /* where the merged one has at most 8, 16, 32, or more columns */
    int32_t
        subtree; /* subtrees of at most this many columns are merged first, whatever the fill; 0: none */
} trs_fill_limit;

static inline int64_t trs_trapezoid(int64_t width, int64_t below)
{
    return width * (width + 1) / 2 + width * below;
}

/* Of an operator: a trs_fundamental, where it is worth while (fundamental_analysis.c). */
extern const trs_analysis trs_fundamental_analysis;

/* Neither depends on the number of threads.  After an error the caller frees what was made. */
int trs_fundamental_make(trs_context *ctx, const trs_tri *t, trs_fundamental *f);
/* The same of a pattern on the device, which stays there: its runs of columns are copied (supernodal/run_length.h). */
int trs_fundamental_fetch(const trs_operator *op, trs_fundamental *f);
void trs_fundamental_free(trs_context *ctx, trs_fundamental *f); /* the numbers stay */

int trs_relax(trs_context *ctx, const trs_fundamental *f, const trs_fill_limit *limit,
              trs_supernode_set *relaxed);
void trs_supernode_set_free(trs_context *ctx, trs_supernode_set *s);

#endif
