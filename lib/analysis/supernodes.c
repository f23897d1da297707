/* supernodes.c: whether supernodes are worth looking for, and the steps that make them.
 *
 *     fundamental supernodes, an analysis of their own         supernodal/run_length.c, fundamental.c
 *     a partition of the rows into relaxed supernodes          supernodal/amalgamation.c, relaxation.c
 *     supernodes of at most TRS_SUPERNODE rows                 here
 *     what each needs of its predecessors, levels, chains      supernodal/dag.c
 *     packed panels, counted and then written                  supernodal/panels.c
 *     the order of supernodes and tasks                        supernodal/tasks.c
 *
 * Every step is O(n + nnz), but for sorting the predecessors of each supernode.  All are shared among threads, and
 * what they make does not depend on the number of threads: each writes where counts made before say. */
#include "config.h"

#include "supernodes.h"
#include "supernodal/steps.h"

#include "matrix/matrix.h"
#include "base/debug.h"
#include "base/parallel.h"

#include <string.h>

/* ---- is it worth looking ----------------------------------------------------------------------------- */

/* As far as counting can tell, row i has the pattern of the row before plus its own diagonal. */
static bool row_continues(const trs_tri *t, int32_t i)
{
    const int64_t *p = t->ptr;
    return p[i + 1] - p[i] == p[i] - p[i - 1] + 1 && t->idx[p[i + 1] - 2] == i - 1;
}

/* Entries in rows of which this is so, and in columns of which the same is so; length [j]: entries of column j
 * below the diagonal. */
static void count_common(const trs_tri *t, const int64_t *length, int64_t *columns, int64_t *rows)
{
    int64_t in_columns = 0, in_rows = 0;
    for (int32_t i = 1; i < t->n; i++) {
        const int64_t p = t->ptr[i], end = t->ptr[i + 1] - 1;
        if (row_continues(t, i)) in_rows += end - p;
        if (p < end && t->idx[end - 1] == i - 1 && length[i - 1] == length[i] + 1)
            in_columns += length[i - 1];
    }
    *columns = in_columns;
    *rows = in_rows;
}

/* length [j+1] = entries of column j below the diagonal. */
static int64_t *column_lengths(trs_context *ctx, const trs_tri *t)
{
    int64_t *length = trs_alloc_zero(&ctx->mem, (int64_t)t->n + 2, sizeof *length);
    if (!length) {
        trs_fail(TRS_EMEM, "out of memory for the lengths of columns");
        return NULL;
    }
    for (int32_t i = 0; i < t->n; i++)
        for (int64_t p = t->ptr[i]; p < t->ptr[i + 1] - 1; p++) length[t->idx[p] + 1]++;
    return length;
}

enum { COMMON_PERCENT = 15 };

bool trs_supernodes_common(const trs_tri *t, int64_t columns, int64_t rows)
{
    const double enough = COMMON_PERCENT * ((double)(t->nnz - t->n) + 1);
    return 100 * (double)columns > enough || 100 * (double)rows > enough;
}

enum { SAMPLES = 256, SAMPLE_ROWS = 64, SAMPLE_ENTRIES = 64 * SAMPLE_ROWS, BESIDE_PERCENT = 10 };

/* Columns of one pattern stand side by side in their rows, and rows of one pattern below one another.  Does that
 * happen at all, in samples of the rows?  All entries are counted only if it does. */
static bool may_have_common(const trs_tri *t)
{
    int64_t beside = 0, below = 0, entries = 1;
    for (int k = 0; k < SAMPLES; k++) {
        const int32_t from = (int32_t)((int64_t)t->n * k / SAMPLES);
        const int64_t most = entries + SAMPLE_ENTRIES;
        for (int32_t i = from > 0 ? from : 1; i < t->n && i < from + SAMPLE_ROWS && entries < most;
             i++) {
            const int64_t p = t->ptr[i], end = t->ptr[i + 1] - 1;
            entries += end - p;
            if (row_continues(t, i)) below += end - p;
            for (int64_t q = p; q + 1 < end; q++) beside += t->idx[q] + 1 == t->idx[q + 1];
        }
    }
    return 100 * beside > BESIDE_PERCENT * entries || 100 * below > BESIDE_PERCENT * entries;
}

bool trs_supernodes_likely(trs_context *ctx, const trs_tri *t)
{
    int64_t columns, rows;
    if (!may_have_common(t)) return false;
    int64_t *length = column_lengths(ctx, t);
    if (!length) return false;
    count_common(t, length + 1, &columns, &rows);
    trs_free(&ctx->mem, length);
    return trs_supernodes_common(t, columns, rows);
}

/* ---- supernodes in the order of the rows ---------------------------------------------------------------- */

/* Sets of more than TRS_SUPERNODE rows are cut evenly.  Returns how many supernodes there are; they are written
 * unless NULL. */
static int32_t cut(const trs_partition *g, trs_supernode *supernode)
{
    int32_t count = 0;
    for (int32_t k = 0; k < g->count; k++) {
        const int64_t from = g->first[k], all = g->first[k + 1] - from;
        const int64_t parts = (all + TRS_SUPERNODE - 1) / TRS_SUPERNODE;
        int64_t begin = 0;
        for (int64_t p = 1, end; p <= parts; p++, begin = end, count++) {
            end = p == parts ? all : all * p / parts;
            TRS_ASSERT(end > begin && end - begin <= TRS_SUPERNODE);
            if (!supernode) continue;
            supernode[count] =
                (trs_supernode){.first = (int32_t)(from + begin), .rows = (int32_t)(end - begin)};
        }
    }
    return count;
}

static void own_rows(void *user, int64_t begin, int64_t end)
{
    trs_build *b = user;
    for (int32_t t = (int32_t)begin; t < end; t++)
        for (int32_t k = 0; k < b->supernode[t].rows; k++) b->of_row[b->supernode[t].first + k] = t;
}

static int cut_supernodes(trs_build *b, const trs_partition *g)
{
    trs_context *ctx = b->ctx;
    b->n = b->pattern->n;
    b->count = cut(g, NULL);
    b->supernode = trs_new_touched(ctx, b->count, sizeof *b->supernode, "supernodes");
    b->node = trs_new_touched(ctx, b->count, sizeof *b->node, "edges of supernodes");
    b->level = trs_new(ctx, b->count, sizeof *b->level, "levels of supernodes");
    b->place = trs_new(ctx, b->count, sizeof *b->place, "the order of supernodes");
    b->of_row = trs_new_touched(ctx, b->n, sizeof *b->of_row, "supernodes of rows");
    if (!b->supernode || !b->node || !b->level || !b->place || !b->of_row) return TRS_EMEM;
    cut(g, b->supernode);
    trs_share(b->threads, b->count, trs_claim(b), own_rows, b);
    return TRS_OK;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

static void free_build(trs_build *b)
{
    void *all[] = {b->supernode, b->node,   b->level,   b->of_row,       b->place,
                   b->panel,     b->column, b->partial, b->ordered_level};
    trs_finders_free(b);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) trs_free(&b->ctx->mem, all[k]);
}

int trs_supernodes_of(trs_context *ctx, const trs_fundamental *f, trs_supernodes *s)
{
    trs_build b = {.ctx = ctx, .pattern = &f->pattern, .threads = f->pattern.threads};
    trs_partition partition = {0};
    memset(s, 0, sizeof *s);
    int rc = trs_amalgamate(ctx, f, &partition);
    if (!rc) rc = cut_supernodes(&b, &partition);
    trs_free(&ctx->mem, partition.first);
    if (!rc) rc = trs_find_edges(&b);
    if (!rc) rc = trs_place_supernodes(&b, s);
    if (!rc) rc = trs_make_panels(&b, s);
    if (!rc) rc = trs_list_tasks(&b, s);
    free_build(&b);
    if (rc) trs_supernodes_free(ctx, s);
    return rc;
}

void trs_supernodes_free(trs_context *ctx, trs_supernodes *s)
{
    trs_free(&ctx->mem, s->supernode);
    trs_free(&ctx->mem, s->panel);
    trs_free(&ctx->mem, s->column);
    trs_free(&ctx->mem, s->task);
    s->supernode = NULL, s->panel = NULL, s->column = NULL, s->task = NULL;
}
