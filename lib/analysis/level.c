/* level.c: finds the level sets of a triangle, in one of three ways.
 *
 *     level (i) = 1 + max { level (j) : row i has an entry in column j < i },    0 if there is none
 *
 * By rows this is one sweep, because the rows of a lower triangle are in topological order as they stand.
 * By columns it is Kahn's topological sort by in-degree: rows without entries left of the diagonal form level 0; a row
 * that is finished lowers the in-degree of the rows that its column names, and those that reach zero form the next
 * level.  It needs the transpose of the pattern and a queue, and takes four to seven times as long; it is there because
 * the slides that cuda/baseline implements have it ("How to leveling?"; Kahn, Topological sorting of large networks, 1962).
 * On the device it is a search by all rows at once (cuda/matrix).
 * Within a level rows ascend, so the result does not depend on the way.  Both on the host take O(n + nnz), whatever the
 * depth is. */
#include "config.h"

#include "base/device.h"
#include "base/parallel.h"
#include "level.h"
#include "matrix/on_device.h"

#include <stdatomic.h>
#include <string.h>

/* ---- by columns ------------------------------------------------------------------------------- */

/* Find level [i] of every row, and return the number of levels. */
static int32_t number_levels(const trs_tri *csc, int32_t *indeg, int32_t *queue, int32_t *level)
{
    const int64_t *Lp = csc->ptr;
    const int32_t *Li = csc->idx, n = csc->n;
    int32_t head = 0, tail = 0, count = 0;
    memset(indeg, 0, (size_t)n * sizeof *indeg);
    for (int32_t j = 0; j < n; j++)
        for (int64_t p = Lp[j] + 1; p < Lp[j + 1]; p++) indeg[Li[p]]++;
    for (int32_t j = 0; j < n; j++)
        if (indeg[j] == 0) queue[tail++] = j;
    for (; head < tail; count++)
        for (int32_t end = tail; head < end; head++) {
            const int32_t j = queue[head];
            level[j] = count;
            for (int64_t p = Lp[j] + 1; p < Lp[j + 1]; p++)
                if (--indeg[Li[p]] == 0) queue[tail++] = Li[p];
        }
    return count;
}

/* ---- by rows ---------------------------------------------------------------------------------- */

static inline int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

enum { LONG = 16 }; /* entries from which on four maxima that do not wait for one another pay */

/* The highest level of the columns of entries p..end-1, or -1 if there are none. */
static inline int32_t highest(const int32_t *Li, int64_t p, int64_t end, const int32_t *level)
{
    int32_t a = -1, b = -1, c = -1, d = -1;
    if (end - p >= LONG)
        for (; p < end - 3; p += 4) {
            a = larger(a, level[Li[p]]);
            b = larger(b, level[Li[p + 1]]);
            c = larger(c, level[Li[p + 2]]);
            d = larger(d, level[Li[p + 3]]);
        }
    for (; p < end; p++) a = larger(a, level[Li[p]]);
    return larger(larger(a, b), larger(c, d));
}

/* Find level [i] of every row, and return the number of levels.  A row whose last column is a row of the deepest level
 * yet is one level deeper, whatever its other columns are, so chains and full triangles are not gone through entry by
 * entry. */
static int32_t sweep_levels(const trs_tri *csr, int32_t *level)
{
    const int64_t *Lp = csr->ptr;
    const int32_t *Li = csr->idx;
    int32_t count = 0, deepest = -1; /* deepest is a row of level count-1 */
    for (int32_t i = 0; i < csr->n; i++) {
        const int64_t p = Lp[i], diagonal = Lp[i + 1] - 1;
        const bool follows = p < diagonal && Li[diagonal - 1] == deepest;
        level[i] = follows ? count : highest(Li, p, diagonal, level) + 1;
        if (level[i] < count) continue;
        count = level[i] + 1;
        deepest = i;
    }
    return count;
}

/* ---- level sets ------------------------------------------------------------------------------- */

/* Make topo and ptr of the level of every row, by a counting sort, which keeps rows ascending. */
static void sort_levels(int32_t rows, const int32_t *level, trs_levels *lv)
{
    if (lv->count == rows) { /* each level has one row, so the rows are in level order */
        for (int32_t k = 0; k < rows; k++) lv->topo[k] = k;
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
    for (int32_t k = 0; k < rows; k++) lv->topo[lv->ptr[level[k]]++] = k;
    memmove(lv->ptr + 1, lv->ptr, (size_t)lv->count * sizeof *lv->ptr);
    lv->ptr[0] = 0;
}

/* by_columns says how the triangle is stored. */
static int level_sets(trs_context *ctx, const trs_tri *t, bool by_columns, trs_levels *lv)
{
    const int64_t rows = t->n;
    memset(lv, 0, sizeof *lv);
    int32_t *level =
        trs_new(ctx, by_columns ? 3 * rows : rows, sizeof *level, "the level analysis");
    lv->topo = level ? trs_new(ctx, rows, sizeof *lv->topo, "topo") : NULL;
    if (lv->topo) {
        lv->count = by_columns ? number_levels(t, level + rows, level + 2 * rows, level)
                               : sweep_levels(t, level);
        lv->ptr = trs_new(ctx, (int64_t)lv->count + 1, sizeof *lv->ptr, "lv_ptr");
    }
    const bool found = lv->ptr != NULL;
    if (found) sort_levels(t->n, level, lv);
    trs_free(&ctx->mem, level);
    if (!found) trs_levels_free(ctx, lv);
    return found ? TRS_OK : TRS_EMEM;
}

int trs_level_rows(trs_context *ctx, const trs_tri *csr, trs_levels *lv)
{
    return level_sets(ctx, csr, false, lv);
}

int trs_level_sets(trs_context *ctx, const trs_tri *csc, trs_levels *lv)
{
    return level_sets(ctx, csc, true, lv);
}

void trs_levels_free(trs_context *ctx, trs_levels *lv)
{
    trs_free(&ctx->mem, lv->topo);
    trs_free(&ctx->mem, lv->ptr);
    memset(lv, 0, sizeof *lv);
}

/* ---- statistics ------------------------------------------------------------------------------- */

typedef struct counting { /* sums of integers, which are the same for any number of threads */
    const trs_operator *op;
    _Atomic int64_t longest, sum_longest, thin, wide;
} counting;

/* The statistics of levels begin..end-1. */
static trs_level_statistics count_rows(const trs_operator *op, int64_t begin, int64_t end)
{
    const trs_levels *lv = &op->lv;
    const int64_t *Lp = op->tri.ptr;
    trs_level_statistics s = {0};
    for (int64_t l = begin; l < end; l++) {
        int64_t entries = 0, most = 0;
        for (int32_t k = lv->ptr[l]; k < lv->ptr[l + 1]; k++) {
            const int64_t length = Lp[lv->topo[k] + 1] - Lp[lv->topo[k]];
            entries += length;
            if (length > most) most = length;
        }
        s.sum_longest += most;
        if (most > s.longest) s.longest = most;
        if (entries < TRS_THIN) s.thin += entries;
        else s.wide++;
    }
    return s;
}

/* The same where each level is the row of that number.  Returns false if it is not so, or if a row is long. */
static bool count_chain(const trs_operator *op, int64_t begin, int64_t end, trs_level_statistics *s)
{
    const int64_t *Lp = op->tri.ptr, entries = Lp[end] - Lp[begin];
    int64_t longest = 0;
    if (op->lv.count < op->tri.n) return false;
    for (int64_t i = begin; i < end; i++)
        longest = Lp[i + 1] - Lp[i] > longest ? Lp[i + 1] - Lp[i] : longest;
    *s = (trs_level_statistics){longest, entries, entries, 0};
    return longest < TRS_THIN;
}

static void count_some(void *user, int64_t begin, int64_t end)
{
    counting *all = user;
    trs_level_statistics s;
    if (!count_chain(all->op, begin, end, &s)) s = count_rows(all->op, begin, end);
    all->sum_longest += s.sum_longest;
    all->thin += s.thin;
    all->wide += s.wide;
    int64_t found = all->longest;
    while (s.longest > found && !atomic_compare_exchange_weak(&all->longest, &found, s.longest))
        continue;
}

void trs_count_levels(trs_operator *op)
{
    counting all = {.op = op};
    const int64_t count = op->lv.count;
    trs_share(trs_team(op->ctx, op->tri.nnz), count, 1 + count / 256, count_some, &all);
    op->statistics = (trs_level_statistics){all.longest, all.sum_longest, all.thin, all.wide};
}

/* ---- of an operator --------------------------------------------------------------------------- */

/* The levels were found on the host, unless rc is an error. */
static int found(trs_operator *op, int rc)
{
    if (rc) return rc;
    op->on_host |= TRS_OP_LEVELS;
    trs_count_levels(op);
    return TRS_OK;
}

int trs_find_levels(trs_operator *op)
{
    int rc = trs_operator_host(op, TRS_OP_PATTERN);
    return rc ? rc : found(op, trs_level_rows(op->ctx, &op->tri, &op->lv));
}

int trs_sort_by_in_degree(trs_operator *op)
{
    trs_tri csc;
    int rc = trs_operator_host(op, TRS_OP_PATTERN);
    if (!rc) rc = trs_tri_transpose(op->ctx, &op->tri, false, &csc);
    if (rc) return rc;
    rc = trs_level_sets(op->ctx, &csc, &op->lv);
    trs_tri_free(op->ctx, &csc);
    return found(op, rc);
}

/* The bytes that the search for levels, their sort and the steps of cuda-dataflow by them take at most.  They are
 * allocated at once, since to grow costs as much as a step.  If there is not that much memory, the steps ask for less. */
static int64_t scratch_for(const trs_tri *t)
{
    return 50 * (int64_t)t->n + t->nnz / 4 + (1 << 20);
}

static int forget_search(trs_operator *op, int rc)
{
    trs_context *ctx = op->ctx;
    trs_device_view *d = &op->device;
    trs_levels_free(ctx, &op->lv);
    trs_gpu_free(ctx, d->level);
    trs_gpu_free(ctx, d->topo);
    d->level = NULL, d->topo = NULL;
    op->on_device &= ~(unsigned)TRS_OP_LEVELS;
    trs_gpu_drop_scratch(ctx);
    return rc;
}

int trs_search_levels_on_device(trs_operator *op)
{
    trs_device_view *d = &op->device;
    int rc = trs_operator_device(op, TRS_OP_PATTERN);
    if (!rc && !d->found) d->found = trs_gpu_new(op->ctx, 2, sizeof *d->found, "counts");
    if (!rc && !d->found) rc = TRS_EMEM;
    if (!rc) rc = trs_gpu_search_levels(op);
    if (rc) return forget_search(op, rc);
    op->on_device |= TRS_OP_LEVELS;
    return TRS_OK;
}

int trs_find_levels_on_device(trs_operator *op)
{
    const bool resident = !(op->on_host & TRS_OP_PATTERN);
    int rc = TRS_OK;
    if (resident && !trs_gpu_scratch(op->ctx, scratch_for(&op->tri), "the analysis")) trs_forget();
    if (!(op->on_device & TRS_OP_LEVELS)) rc = trs_search_levels_on_device(op);
    if (rc) return rc;
    rc = trs_gpu_order_levels(op);
    if (!rc && !resident) rc = trs_operator_host(op, TRS_OP_LEVELS);
    return rc ? forget_search(op, rc) : TRS_OK;
}
