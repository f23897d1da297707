/* blocks.c: sorts the rows of a triangle by levels, and those of a level by their numbers of entries; see blocks.h. */
#include "config.h"

#include "blocks.h"
#include "base/debug.h"
#include "solvers/contiguous.h"
#include "solvers/cpu_serial.h"

#include <string.h>

static int64_t length_of(const trs_operator *op, int32_t i)
{
    return op->tri.ptr[i + 1] - op->tri.ptr[i] - 1;
}

static bool follows(const trs_operator *op, int32_t i)
{
    const int64_t diagonal = op->tri.ptr[i + 1] - 1;
    return diagonal > op->tri.ptr[i] && op->tri.idx[diagonal - 1] == i - 1;
}

/* Rows of a level that have the same key are of one block.  chained: rows may be (trs_rows_chained). */
static int64_t key_of(const trs_operator *op, bool chained, int32_t i)
{
    return 2 * length_of(op, i) + (chained && follows(op, i));
}

/* to [n] = the rows of the operator by ascending keys, which are below `keys`.  first [keys + 1] is scratch. */
static void sort_by_key(const trs_operator *op, bool chained, int64_t keys, int32_t *first,
                        int32_t *to)
{
    memset(first, 0, (size_t)(keys + 1) * sizeof *first);
    for (int32_t i = 0; i < op->tri.n; i++) first[key_of(op, chained, i) + 1]++;
    for (int64_t m = 0; m < keys; m++) first[m + 1] += first[m];
    for (int32_t i = 0; i < op->tri.n; i++) to[first[key_of(op, chained, i)]++] = i;
}

/* to [n] = these rows by levels, and those of a level in the order that they had.  level [n] and next [levels] are scratch. */
static void sort_by_level(const trs_operator *op, const int32_t *rows, int32_t *level,
                          int32_t *next, int32_t *to)
{
    const trs_levels *lv = &op->lv;
    for (int32_t l = 0; l < lv->count; l++) {
        next[l] = lv->ptr[l];
        for (int32_t k = lv->ptr[l]; k < lv->ptr[l + 1]; k++) level[lv->topo[k]] = l;
    }
    for (int32_t k = 0; k < op->tri.n; k++) to[next[level[rows[k]]]++] = rows[k];
}

static int sort_rows(trs_context *ctx, const trs_operator *op, bool chained, int32_t *to)
{
    const int32_t n = op->tri.n;
    int64_t longest = 0;
    for (int32_t i = 0; i < n; i++)
        if (length_of(op, i) > longest) longest = length_of(op, i);
    const int64_t keys = 2 * longest + 2,
                  counts = keys + 1 > op->lv.count ? keys + 1 : op->lv.count;
    int32_t *scratch = trs_new(ctx, 2 * (int64_t)n + counts, sizeof *scratch, "rows by length");
    if (!scratch) return TRS_EMEM;
    int32_t *rows = scratch, *level = scratch + n, *count = scratch + 2 * (int64_t)n;
    sort_by_key(op, chained, keys, count, rows);
    sort_by_level(op, rows, level, count, to);
    trs_free(&ctx->mem, scratch);
    return TRS_OK;
}

/* Cut the order into blocks, or count them if e->block is NULL. */
static void cut(const trs_operator *op, bool chained, trs_ell_blocks *e)
{
    e->blocks = 0;
    for (int32_t l = 0; l < op->lv.count; l++) {
        int64_t before = -1; /* the key of the row before, of this level */
        for (int32_t k = op->lv.ptr[l]; k < op->lv.ptr[l + 1]; k++) {
            const int64_t key = key_of(op, chained, e->row[k]);
            TRS_ASSERT(key >= before);
            if (key == before) continue;
            if (e->block) e->block[e->blocks] = (trs_ell_block){k, (int32_t)(key / 2), key % 2};
            e->blocks++;
            before = key;
        }
    }
    if (e->block) e->block[e->blocks].begin = op->tri.n;
}

int64_t trs_ell_most(const trs_shape *s)
{
    const double by_level = 2 * (double)s->levels * (double)s->longest;
    return by_level < (double)s->n ? (int64_t)by_level : s->n;
}

/* Copy the columns, and number them and the rows as they stand in memory. */
static void number(const trs_operator *op, trs_ell_blocks *e)
{
    int32_t *to = e->column;
    for (int32_t k = 0; k < op->tri.n; k++) {
        const int32_t i = e->row[k];
        const int64_t diagonal = op->tri.ptr[i + 1] - 1;
        for (int64_t p = op->tri.ptr[i]; p < diagonal; p++)
            *to++ = trs_memory_row(op, op->tri.idx[p]);
        e->row[k] = trs_memory_row(op, i);
    }
}

int trs_ell_make(trs_context *ctx, const trs_operator *op, trs_ell_blocks *e)
{
    const int32_t n = op->tri.n;
    const bool chained = trs_rows_chained(&op->tri);
    *e = (trs_ell_blocks){0};
    e->row = trs_new(ctx, n, sizeof *e->row, "rows by level and length");
    e->column = trs_new(ctx, op->tri.nnz - n, sizeof *e->column, "their columns");
    int rc = e->row && e->column ? sort_rows(ctx, op, chained, e->row) : TRS_EMEM;
    if (rc) return rc;
    cut(op, chained, e);
    e->block = trs_new(ctx, (int64_t)e->blocks + 1, sizeof *e->block, "blocks of rows");
    if (!e->block) return TRS_EMEM;
    cut(op, chained, e);
    number(op, e);
    return TRS_OK;
}

void trs_ell_free(trs_context *ctx, trs_ell_blocks *e)
{
    trs_free(&ctx->mem, e->block);
    trs_free(&ctx->mem, e->row);
    trs_free(&ctx->mem, e->column);
}
