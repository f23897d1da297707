/* ranks.c: ranks of rows by levels or by supernodes, and sums over them: O(n + nnz), shared among threads. */
#include "config.h"

#include "ranks.h"

#include "base/debug.h"
#include "base/parallel.h"

#include <string.h>

int trs_ranks_new(ranks *r, const trs_operator *op, const trs_supernodes *blocks)
{
    const int64_t count = most(op->lv.count, (blocks ? blocks->depth : 0));
    *r = (ranks){.ctx = op->ctx, .op = op, .blocks = blocks};
    r->of_row = trs_alloc(&op->ctx->mem, op->tri.n, sizeof *r->of_row);
    r->of_rank = trs_alloc(&op->ctx->mem, count, sizeof *r->of_rank);
    r->head = trs_alloc(&op->ctx->mem, count + 1, sizeof *r->head);
    return r->of_row && r->of_rank && r->head ? TRS_OK : TRS_EMEM;
}

void trs_ranks_free(ranks *r)
{
    trs_free(&r->ctx->mem, r->of_row);
    trs_free(&r->ctx->mem, r->of_rank);
    trs_free(&r->ctx->mem, r->head);
}

/* ---- sums ----------------------------------------------------------------------------------------- */

static const rank_sum NO_ROWS = {.first_level = INT32_MAX};

static void add(rank_sum *to, const rank_sum *a)
{
    to->rows += a->rows;
    to->row_entries += a->row_entries;
    to->column_entries += a->column_entries;
    to->blocks += a->blocks;
    to->chained += a->chained;
    to->wide += a->wide;
    to->store += a->store;
    to->longest = most(to->longest, a->longest);
    to->first_level = (int32_t)least(to->first_level, a->first_level);
    to->last_level = (int32_t)most(to->last_level, a->last_level);
}

static void add_row(rank_sum *to, int64_t entries, int32_t level)
{
    const rank_sum row = {.rows = 1,
                          .row_entries = entries,
                          .longest = entries,
                          .first_level = level,
                          .last_level = level};
    add(to, &row);
}

static void start_sums(ranks *r, int32_t count)
{
    r->count = count;
    for (int32_t k = 0; k < count; k++) r->of_rank[k] = NO_ROWS;
}

/* r->head from r->of_rank. */
static void sum_heads(ranks *r)
{
    head_sum head = {NO_ROWS, 0, 0};
    int32_t tail_level = INT32_MAX;
    for (int32_t k = 0; k <= r->count; k++) {
        r->head[k] = head;
        if (k == r->count) break;
        add(&head.sum, &r->of_rank[k]);
        head.widest = most(head.widest, r->of_rank[k].rows);
    }
    for (int32_t k = r->count; k >= 0; k--) {
        if (k < r->count) tail_level = (int32_t)least(tail_level, r->of_rank[k].first_level);
        r->head[k].tail_level = tail_level;
    }
    TRS_ASSERT(head.sum.rows == r->op->tri.n);
    TRS_ASSERT(head.sum.last_level < r->op->lv.count);
}

/* ---- levels of rows ----------------------------------------------------------------------------------- */

/* Entries are taken to be spread evenly over the rows, none to couple the tail with the head, and levels of one or two
 * rows at the end to have no more than two entries a row. */
void trs_ranks_predict(ranks *r)
{
    const trs_levels *lv = &r->op->lv;
    const double each = (double)r->op->tri.nnz / (double)r->op->tri.n;
    r->count = r->chains_above = lv->count;
    for (int32_t l = 0; l < lv->count; l++) {
        const int32_t rows = lv->ptr[l + 1] - lv->ptr[l];
        const int64_t entries = (int64_t)(rows * each);
        r->of_rank[l] = (rank_sum){.rows = rows,
                                   .row_entries = entries,
                                   .column_entries = entries,
                                   .longest = r->op->statistics.longest,
                                   .first_level = l,
                                   .last_level = l};
    }
    while (r->chains_above > 0 && r->of_rank[r->chains_above - 1].rows <= 2) r->chains_above--;
    sum_heads(r);
}

typedef struct reading { /* all rows, in ranges that threads share */
    ranks *r;
    const int32_t *level;
    rank_sum *sum; /* [ranges][count] */
    int64_t ranges;
    _Atomic int32_t chains_above;
} reading;

/* The sums of a row and its entries.  Two of its entries beside the diagonal are in the tail, as long as the cut is at
 * the second highest rank of their columns or lower: *second is the largest of these ranks. */
static void read_row(const ranks *r, rank_sum *sum, int32_t i, int32_t level, int32_t *second)
{
    const trs_tri *t = &r->op->tri;
    const int32_t rank = r->of_row[i];
    int32_t highest = -1, next = -1;
    TRS_ASSERT(rank >= 0 && rank < r->count);
    for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++) {
        const int32_t k = r->of_row[t->idx[p]];
        TRS_ASSERT(k <= rank);
        sum[k].column_entries++;
        if (t->idx[p] == i) continue;
        if (k > highest) next = highest, highest = k;
        else if (k > next) next = k;
    }
    add_row(&sum[rank], t->ptr[i + 1] - t->ptr[i], level);
    *second = (int32_t)most(*second, next);
}

static void read_ranges(void *user, int64_t begin, int64_t end)
{
    reading *all = user;
    const ranks *r = all->r;
    const int64_t n = r->op->tri.n;
    for (int64_t range = begin; range < end; range++) {
        rank_sum *sum = all->sum + range * r->count;
        int32_t second = 0, was = all->chains_above;
        for (int32_t k = 0; k < r->count; k++) sum[k] = NO_ROWS;
        for (int64_t i = n * range / all->ranges; i < n * (range + 1) / all->ranges; i++)
            read_row(r, sum, (int32_t)i, all->level[i], &second);
        while (second > was && !atomic_compare_exchange_weak(&all->chains_above, &was, second))
            continue;
    }
}

/* Add all rows to the sums of their ranks.  The number of ranges is limited so that the sums of all of them take less
 * memory than the triangle.  Sums of integers and maxima are the same for any number of ranges. */
static int read_rows(ranks *r, const int32_t *level)
{
    const trs_context *ctx = r->ctx;
    const int64_t nnz = r->op->tri.nnz, team = trs_team(ctx, nnz);
    const int64_t ranges = most(1, least(team, nnz / (8 * (int64_t)r->count)));
    reading all = {r, level, NULL, ranges, 0};
    all.sum = trs_alloc(&ctx->mem, ranges * r->count, sizeof *all.sum);
    if (!all.sum) return TRS_EMEM;
    trs_share((int)ranges, ranges, 1, read_ranges, &all);
    for (int64_t range = 0; range < ranges; range++)
        for (int32_t k = 0; k < r->count; k++) add(&r->of_rank[k], &all.sum[range * r->count + k]);
    trs_free(&ctx->mem, all.sum);
    r->chains_above = all.chains_above;
    sum_heads(r);
    return TRS_OK;
}

int trs_ranks_by_levels(ranks *r, const int32_t *level)
{
    start_sums(r, r->op->lv.count);
    memcpy(r->of_row, level, (size_t)r->op->tri.n * sizeof *level);
    return read_rows(r, level);
}

/* ---- levels of blocks --------------------------------------------------------------------------------- */

/* of [blocks]: a block is one level above the highest one that it needs columns of. */
static void rank_from_first(const trs_supernodes *s, int32_t *of)
{
    for (int32_t k = 0; k < s->panels; k++) {
        int32_t *rank = &of[s->panel[k].supernode];
        *rank = (int32_t)most(*rank, (int64_t)s->panel[k].level + 1);
    }
}

/* of [blocks]: a block is one level below the lowest one that needs columns of it, but blocks of a chain, which have
 * one level, may have one rank.  What a block needs stands before it, so that a block's rank is final when what it
 * needs is looked at. */
static void rank_from_last(const trs_supernodes *s, const int32_t *block_of_row, int32_t *of)
{
    for (int32_t k = 0; k < s->count; k++) of[k] = s->depth - 1;
    for (int32_t e = s->panels - 1; e >= 0; e--) {
        const trs_panel *panel = &s->panel[e];
        const int32_t below = of[panel->supernode] - (panel->level >= 0);
        for (int32_t c = panel->column; c < panel->column + panel->columns; c++) {
            const int32_t needed = block_of_row[s->column[c]];
            TRS_ASSERT(needed <= panel->supernode);
            if (needed != panel->supernode) of[needed] = (int32_t)least(of[needed], below);
        }
    }
}

/* Add what blocks keep to the sums of their ranks. */
static void add_blocks(ranks *r, const int32_t *of)
{
    const trs_supernodes *s = r->blocks;
    for (int32_t k = 0; k < s->count; k++) {
        rank_sum *sum = &r->of_rank[of[k]];
        sum->blocks++;
        sum->chained = most(sum->chained, s->supernode[k].chain_place);
        sum->wide += s->supernode[k].rows > TRS_SMALL;
    }
    for (int32_t e = 0; e < s->panels; e++) {
        const trs_panel *panel = &s->panel[e];
        const int64_t rows = __builtin_popcountll(panel->row_mask);
        r->of_rank[of[panel->supernode]].store += rows * ((panel->columns + 3) / 4 * 4);
    }
}

/* Instead of read_rows: the columns of a packed panel have as many entries each as it has rows, less the share of zeros
 * that all panels store. */
static void estimate_rows(ranks *r, const int32_t *level)
{
    const trs_supernodes *s = r->blocks;
    const int64_t *Lp = r->op->tri.ptr;
    const double filled = (double)r->op->tri.nnz / (double)s->stored;
    for (int32_t i = 0; i < r->op->tri.n; i++)
        add_row(&r->of_rank[r->of_row[i]], Lp[i + 1] - Lp[i], level[i]);
    for (int32_t e = 0; e < s->panels; e++) {
        const trs_panel *panel = &s->panel[e];
        const int32_t *column = s->column + panel->column;
        const double each = filled * __builtin_popcountll(panel->row_mask);
        for (int32_t c = 0, last; c < panel->columns; c = last) {
            const int32_t rank = r->of_row[column[c]];
            for (last = c + 1; last < panel->columns && column[last] == column[last - 1] + 1 &&
                               r->of_row[column[last]] == rank;)
                last++;
            r->of_rank[rank].column_entries += (int64_t)(each * (last - c));
        }
    }
    r->chains_above = r->count;
    sum_heads(r);
}

/* r->of_row by blocks, and r->of_rank as far as blocks tell; block_of_row [n] and of [blocks], all 0, are scratch. */
static void rank_rows(ranks *r, bool from_last, int32_t *block_of_row, int32_t *of)
{
    const trs_supernodes *s = r->blocks;
    for (int32_t k = 0; k < s->count; k++)
        for (int32_t i = 0; i < s->supernode[k].rows; i++)
            block_of_row[s->supernode[k].first + i] = k;
    if (from_last) rank_from_last(s, block_of_row, of);
    else rank_from_first(s, of);
    for (int32_t i = 0; i < r->op->tri.n; i++) r->of_row[i] = of[block_of_row[i]];
    start_sums(r, s->depth);
    add_blocks(r, of);
}

int trs_ranks_by_blocks(ranks *r, bool from_last, bool estimate, const int32_t *level)
{
    const trs_memory *mem = &r->ctx->mem;
    const trs_supernodes *s = r->blocks;
    int32_t *block_of_row = trs_alloc(mem, r->op->tri.n, sizeof *block_of_row);
    int32_t *of = trs_alloc_zero(mem, s->count, sizeof *of);
    const int rc = block_of_row && of ? TRS_OK : TRS_EMEM;
    if (!rc) rank_rows(r, from_last, block_of_row, of);
    trs_free(mem, block_of_row);
    trs_free(mem, of);
    if (rc) return rc;
    if (!estimate) return read_rows(r, level);
    estimate_rows(r, level);
    return TRS_OK;
}
