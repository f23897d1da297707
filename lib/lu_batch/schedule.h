/* schedule.h: the sums of a factorisation and of substitutions, as the warps of a device share them.
 *
 *     elimination     entry (i, j):  lu(i, j) -= sum_k l(i, k) u(k, j),  l(i, k) = lu(i, k) (1 / u(k, k))
 *     substitution    row i:         y(i) -= sum_j lu(i, j) y(j),  and with U y(i) is multiplied by 1 / u(i, i)
 *
 * Each sum is an item with a list of pairs.  The items of a level need items of lower levels only.  Of an elimination there are
 * two kinds.  If l(i, k) is stored as soon as u(k, k) is known, a pivot and the next one are two levels apart.  If l is `late`,
 * lu(i, k) is multiplied by 1 / u(k, k) for each product, and stored as l(i, k) at the end: half the levels, but three numbers
 * for a product instead of two.
 *
 * A warp takes a task: items of one level with lists of similar length, each with 1 to 32 lanes.
 *
 *     level       0  0  0 | 1  1 | 2 | 3 | 4 | 5  5        The levels that have one task each, one after the other, are
 *     warp 0      t       | t    | t   t   t | t           one step of one warp.  Between two steps there is a barrier for
 *     warp 1         t    |    t |           |    t        all warps; a warp without a task only waits.
 *     warp 2            t |      |           |
 *     step        0       | 1    | 2         | 3
 *
 * Lanes read four pairs at a time, a quad.  A task has the same number of quads for each of its lanes, one at least: those of
 * all lanes side by side, round after round. */
#ifndef TRS_LU_BATCH_SCHEDULE_H
#define TRS_LU_BATCH_SCHEDULE_H

#include "lu_batch.h"

enum { TRS_LU_BATCH_QUAD = 4, TRS_LU_BATCH_WARP = 32 };

typedef struct trs_lu_batch_task {
    int32_t first; /* of its items */
    int32_t quad;  /* the first one */
    int32_t waits; /* barriers between the last task of this warp, or the beginning, and this one */
    uint32_t size; /* rounds << 9 | items << 3 | log2 of the lanes of each item */
} trs_lu_batch_task;

static inline int32_t trs_lu_batch_items(const trs_lu_batch_task *t)
{
    return (int32_t)(t->size >> 3 & 63);
}

static inline int32_t trs_lu_batch_lanes(const trs_lu_batch_task *t)
{
    return 1 << (t->size & 7);
}

static inline int32_t trs_lu_batch_rounds(const trs_lu_batch_task *t)
{
    return (int32_t)(t->size >> 9);
}

typedef struct trs_lu_batch_list {
    /* barriers: one behind each step */
    int32_t steps;
    int32_t levels, warps, tasks, items;
    int64_t quads;
    /* [warps+1] where the tasks of each warp begin; it executes them one after the other */
    int32_t *stream;
    trs_lu_batch_task *task;
    /* [items] the place of the entry in L + U - I, or the row */
    int32_t *item;
    /* [items] place of the 1 / u that the result is multiplied by, at the end if l is late; -1: none.  Of u(i, i) in an
     * elimination: its own */
    int32_t *by;
    /* [2*TRS_LU_BATCH_QUAD*quads] places of l(i, k) and u(k, j), or the place of lu(i, j), and j; -1, -1: no pair */
    int32_t *pair;
    /* [TRS_LU_BATCH_QUAD*quads] if l is late: the place of 1 / u(k, k); -1: no pair.  Else NULL */
    int32_t *pivot;
} trs_lu_batch_list;

/* The lists of a batch: op = N needs LOWER and then UPPER, op = T and H need UPPER_T and then LOWER_T. */
enum {
    TRS_LU_BATCH_ELIMINATION,
    TRS_LU_BATCH_LOWER,
    TRS_LU_BATCH_UPPER,
    TRS_LU_BATCH_UPPER_T,
    TRS_LU_BATCH_LOWER_T,
    TRS_LU_BATCH_LISTS
};

/* Make list number `which` for that number of warps; late is for an elimination.  Free *l, also after an error.
 * Returns TRS_OK, TRS_EMEM, TRS_ESUPPORT (too many products). */
int trs_lu_batch_list_make(trs_context *ctx, const trs_lu_batch_rows *r, int which, int warps,
                           bool late, trs_lu_batch_list *l);
void trs_lu_batch_list_free(trs_context *ctx, trs_lu_batch_list *l);

#endif
