/* amalgamation_steps.h: what the files of the amalgamation share.
 *
 * The amalgamation works on a lower triangle A, column by column.  A is L itself where columns of L have common
 * patterns, as those of a factor do.  Where it is rather rows that do, as in the transpose of a factor, A is the
 * transpose of L about its other diagonal, which is a lower triangle, too:
 *
 *     A = J L^T J,   J = the identity with its columns reversed:   column j of A is row n-1-j of L
 *
 * A supernode of A is a set of consecutive columns first .. end-1.  As a dense matrix it is a trapezoid: a triangle
 * of `width` rows, and below it the `below` rows in which some of its columns have entries:
 *
 *     first  x
 *            x x           width = end - first = 3
 *     end-1  x x x         below = 2, in `runs` = 2 runs of rows
 *            . . .
 *            x x x         trapezoid (width, below) = width (width + 1) / 2 + width below
 *            . . .
 *            x x x */
#ifndef TRS_AMALGAMATION_STEPS_H
#define TRS_AMALGAMATION_STEPS_H

#include "amalgamation.h"

typedef struct trs_columns { /* a supernode: columns first .. end-1 of A */
    int32_t first, end;
    int32_t runs,
        below; /* the rows below, and how many runs they are: run [from .. from+runs-1], ascending;
                            one may begin where the one before ends */
    int64_t from;
    /* of the fundamental supernodes that it is made of; the rest of its trapezoid is fill */
    int64_t entries;
} trs_columns;

typedef struct trs_supernode_set {
    int32_t count;
    trs_columns *supernode; /* [count] */
    trs_run *run;           /* rows below, of all of them */
    int32_t *of_column;     /* [n] supernode of each column */
    double cost;            /* rough seconds of a solve */
} trs_supernode_set;

typedef struct trs_row_scan trs_row_scan; /* fundamental.c */

typedef struct trs_amalgamation {
    struct trs_context *ctx;
    const trs_run_pattern *pattern;
    bool by_rows; /* A = J L^T J */
    trs_supernode_set fundamental, relaxed;
    int32_t *first; /* [count+1] first column of each fundamental supernode, and n */
    int32_t *level; /* [count] scratch of the cost */
    /* [ranges+1] fundamental supernode that each range of columns begins with */
    int32_t *range_first;
    int32_t *range_kept; /* [ranges] supernodes that merging has left in each */
    int32_t scans;
    trs_row_scan *scan; /* [scans][count] */
    atomic_bool failed;
} trs_amalgamation;

/* The columns are cut into ranges that do not depend on the number of threads. */
enum { TRS_RANGE_COLUMNS = 2048, TRS_SUPERNODES_A_CLAIM = 1024 };

static inline int32_t trs_ranges(const trs_amalgamation *a)
{
    return a->pattern->n / TRS_RANGE_COLUMNS + 1;
}

/* The first column of a range; n behind the last one. */
static inline int32_t trs_range_begin(const trs_amalgamation *a, int64_t range)
{
    const int64_t column = range * TRS_RANGE_COLUMNS;
    return column < a->pattern->n ? (int32_t)column : a->pattern->n;
}

static inline int64_t trs_trapezoid(int64_t width, int64_t below)
{
    return width * (width + 1) / 2 + width * below;
}

/* The steps, in this order.  TRS_OK or TRS_EMEM. */
int trs_find_fundamental(trs_amalgamation *a);
int trs_relax(trs_amalgamation *a);

/* Sets s->cost. */
void trs_cost_supernodes(const trs_amalgamation *a, trs_supernode_set *s);

#endif
