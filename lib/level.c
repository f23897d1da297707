/* level.c: Kahn's topological sort by in-degree over the triangle by columns.
 *
 * Rows with no unsolved predecessor form level 0; finishing a row lowers the in-degree of the rows
 * that its column names; those that reach zero form the next level.  Within a level rows ascend, so
 * that the result does not depend on how it was found.  O(n + nnz), whatever the depth.
 * Source: seed slides, "How to leveling?"; Kahn, Topological sorting of large networks, 1962. */
#include "config.h"

#include "internal.h"

#include <string.h>

/* level [i - from] of every row; the number of levels. */
static int32_t number_levels(const trs_tri *csc, int32_t from, int32_t to, int32_t *indeg,
                             int32_t *queue, int32_t *level)
{
    int32_t rows = to - from, head = 0, tail = 0, count = 0;
    memset(indeg, 0, (size_t)rows * sizeof *indeg);
    for (int32_t j = from; j < to; j++)
        for (int64_t p = csc->ptr[j] + 1; p < csc->ptr[j + 1] && csc->idx[p] < to; p++)
            indeg[csc->idx[p] - from]++;
    for (int32_t k = 0; k < rows; k++)
        if (indeg[k] == 0) queue[tail++] = k;
    while (head < tail) {
        for (int32_t end = tail; head < end; head++) {
            int32_t j = queue[head] + from;
            level[j - from] = count;
            for (int64_t p = csc->ptr[j] + 1; p < csc->ptr[j + 1] && csc->idx[p] < to; p++)
                if (--indeg[csc->idx[p] - from] == 0) queue[tail++] = csc->idx[p] - from;
        }
        count++;
    }
    return count;
}

/* topo and ptr from the level of every row: a counting sort, which keeps rows ascending. */
static void sort_levels(int32_t rows, int32_t from, const int32_t *level, trs_levels *lv)
{
    memset(lv->ptr, 0, ((size_t)lv->count + 1) * sizeof *lv->ptr);
    for (int32_t k = 0; k < rows; k++) lv->ptr[level[k] + 1]++;
    for (int32_t l = 0; l < lv->count; l++) {
        if (lv->ptr[l + 1] > lv->widest) lv->widest = lv->ptr[l + 1];
        lv->ptr[l + 1] += lv->ptr[l];
    }
    for (int32_t k = 0; k < rows; k++) lv->topo[lv->ptr[level[k]]++] = k + from;
    memmove(lv->ptr + 1, lv->ptr, (size_t)lv->count * sizeof *lv->ptr);
    lv->ptr[0] = 0;
}

int trs_level_sets(trs_context *ctx, const trs_tri *csc, int32_t from, int32_t to, trs_levels *lv)
{
    int32_t rows = to - from;
    int rc = TRS_EMEM;
    memset(lv, 0, sizeof *lv);
    int32_t *w = trs_new(ctx, 3 * (int64_t)rows, sizeof *w, "the level analysis");
    lv->topo = w ? trs_new(ctx, rows, sizeof *lv->topo, "topo") : NULL;
    if (!lv->topo) goto done;
    int32_t *indeg = w, *queue = w + rows, *level = w + 2 * (int64_t)rows;
    lv->count = number_levels(csc, from, to, indeg, queue, level);
    lv->ptr = trs_new(ctx, (int64_t)lv->count + 1, sizeof *lv->ptr, "lv_ptr");
    if (!lv->ptr) goto done;
    sort_levels(rows, from, level, lv);
    rc = TRS_OK;
done:
    trs_free(&ctx->mem, w);
    if (rc) trs_levels_free(ctx, lv);
    return rc;
}

void trs_levels_free(trs_context *ctx, trs_levels *lv)
{
    trs_free(&ctx->mem, lv->topo);
    trs_free(&ctx->mem, lv->ptr);
    memset(lv, 0, sizeof *lv);
}
