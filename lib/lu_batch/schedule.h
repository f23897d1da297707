/* schedule.h: the sums of a factorisation and of substitutions, level by level, as the threads of a device share them.
 *
 *     elimination     entry (i, j):  lu(i, j) -= sum_k l(i, k) u(k, j),  and l(i, j) is multiplied by 1 / u(j, j)
 *     substitution    row i:         y(i) -= sum_j lu(i, j) y(j),        and with U y(i) is multiplied by 1 / u(i, i)
 *
 * Each sum is an item with a list of pairs.  The items of a level need items of lower levels only.  A warp takes a task: items
 * with lists of similar length, each of which has 1 to 32 lanes. */
#ifndef TRS_LU_BATCH_SCHEDULE_H
#define TRS_LU_BATCH_SCHEDULE_H

#include "lu_batch.h"

typedef struct trs_lu_batch_list {
    int32_t levels, tasks, items;
    int64_t pairs;
    /* [levels+1] the tasks of each level */
    int32_t *level;
    /* [2*tasks] its first item; its number of items << 8 | log2 of the lanes of each */
    int32_t *task;
    /* [items] the place of the entry in L + U - I, or the row */
    int32_t *item;
    /* [items] place of the 1 / u that the result is multiplied by; -1: none.  Of u(i, i) in an elimination: its own */
    int32_t *by;
    /* [items+1] */
    int32_t *begin;
    /* [2*pairs] places of l(i, k) and u(k, j); or the place of lu(i, j), and j */
    int32_t *pair;
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

/* Make list number `which`.  Free *l, also after an error.  Returns TRS_OK, TRS_EMEM, TRS_ESUPPORT (too many products). */
int trs_lu_batch_list_make(trs_context *ctx, const trs_lu_batch_rows *r, int which,
                           trs_lu_batch_list *l);
void trs_lu_batch_list_free(trs_context *ctx, trs_lu_batch_list *l);

#endif
