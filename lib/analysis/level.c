/* level.c: the level sets of a triangle, in two ways with one result.
 *
 * By columns, Kahn's topological sort by in-degree: rows with no unsolved predecessor form level 0;
 * finishing a row lowers the in-degree of the rows that its column names; those that reach zero form the
 * next level.  Source: seed slides, "How to leveling?"; Kahn, Topological sorting of large networks, 1962.
 * By rows, one sweep: the rows of a lower triangle are in topological order as they stand, so that the
 * level of a row is one more than the highest of its columns.  No transposition, no queue.
 * Within a level rows ascend, so that the result does not depend on how it was found.
 * O(n + nnz), whatever the depth. */
#include "config.h"

#include "level.h"

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

static inline int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

enum { LONG = 16 }; /* entries; four maxima that do not wait for one another pay from here on */

/* Highest level of the columns at p..end-1, at least -1. */
static inline int32_t highest(const int32_t *Li, int64_t p, int64_t end, int32_t from,
                              const int32_t *level)
{
    int32_t a = -1, b = -1, c = -1, d = -1;
    if (end - p >= LONG)
        for (; p < end - 3; p += 4) {
            a = larger(a, level[Li[p] - from]);
            b = larger(b, level[Li[p + 1] - from]);
            c = larger(c, level[Li[p + 2] - from]);
            d = larger(d, level[Li[p + 3] - from]);
        }
    for (; p < end; p++) a = larger(a, level[Li[p] - from]);
    return larger(larger(a, b), larger(c, d));
}

/* The same from the rows.  One that waits for a row known to be of the deepest level so far is one deeper, whatever
 * else it waits for: chains and full triangles are not gone through entry by entry. */
static int32_t sweep_levels(const trs_tri *csr, int32_t from, int32_t to, int32_t *level)
{
    const int64_t *Lp = csr->ptr;
    const int32_t *Li = csr->idx;
    int32_t count = 0, deepest = -1; /* a row of level count-1 */
    for (int32_t i = from; i < to; i++) {
        int64_t p = Lp[i], diagonal = Lp[i + 1] - 1;
        int32_t mine = count;
        if (p == diagonal || Li[diagonal - 1] != deepest) {
            if (from > 0)
                while (p < diagonal && Li[p] < from) p++;
            mine = highest(Li, p, diagonal, from, level) + 1;
        }
        level[i - from] = mine;
        if (mine < count) continue;
        count = mine + 1;
        deepest = i;
    }
    return count;
}

/* topo and ptr from the level of every row: a counting sort, which keeps rows ascending. */
static void sort_levels(int32_t rows, int32_t from, const int32_t *level, trs_levels *lv)
{
    if (lv->count == rows) { /* a row a level: in order as they stand */
        for (int32_t k = 0; k < rows; k++) lv->topo[k] = k + from;
        for (int32_t l = 0; l <= lv->count; l++) lv->ptr[l] = l;
        lv->widest = rows > 0;
        return;
    }
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

/* by_columns: how the triangle is stored. */
static int find_levels(trs_context *ctx, const trs_tri *t, bool by_columns, int32_t from,
                       int32_t to, trs_levels *lv)
{
    const int64_t rows = to - from;
    int rc = TRS_EMEM;
    memset(lv, 0, sizeof *lv);
    int32_t *level =
        trs_new(ctx, by_columns ? 3 * rows : rows, sizeof *level, "the level analysis");
    lv->topo = level ? trs_new(ctx, rows, sizeof *lv->topo, "topo") : NULL;
    if (!lv->topo) goto done;
    lv->count = by_columns ? number_levels(t, from, to, level + rows, level + 2 * rows, level)
                           : sweep_levels(t, from, to, level);
    lv->ptr = trs_new(ctx, (int64_t)lv->count + 1, sizeof *lv->ptr, "lv_ptr");
    if (!lv->ptr) goto done;
    sort_levels((int32_t)rows, from, level, lv);
    rc = TRS_OK;
done:
    trs_free(&ctx->mem, level);
    if (rc) trs_levels_free(ctx, lv);
    return rc;
}

int trs_level_rows(trs_context *ctx, const trs_tri *csr, int32_t from, int32_t to, trs_levels *lv)
{
    return find_levels(ctx, csr, false, from, to, lv);
}

int trs_level_sets(trs_context *ctx, const trs_tri *csc, int32_t from, int32_t to, trs_levels *lv)
{
    return find_levels(ctx, csc, true, from, to, lv);
}

void trs_levels_free(trs_context *ctx, trs_levels *lv)
{
    trs_free(&ctx->mem, lv->topo);
    trs_free(&ctx->mem, lv->ptr);
    memset(lv, 0, sizeof *lv);
}
