/* columns.c: the pattern of a triangle by columns: a counting sort of its entries, in O(n + nnz). */
#include "config.h"

#include "base/debug.h"
#include "columns.h"

static int allocate(trs_context *ctx, const trs_tri *L, trs_columns *c)
{
    c->ptr = trs_new(ctx, (int64_t)L->n + 1, sizeof *c->ptr, "columns");
    c->row = trs_new(ctx, L->nnz, sizeof *c->row, "rows of columns");
    c->place = trs_new(ctx, L->nnz, sizeof *c->place, "places of values");
    return c->ptr && c->row && c->place ? TRS_OK : TRS_EMEM;
}

/* Rows are taken in ascending order, so they ascend in each column.  next [n]: where the next entry of a column goes. */
static void sort_entries(const trs_tri *L, int64_t *next, trs_columns *c)
{
    for (int32_t j = 0; j < L->n; j++) next[j] = 0;
    for (int64_t p = 0; p < L->nnz; p++) next[L->idx[p]]++;
    c->ptr[0] = 0;
    for (int32_t j = 0; j < L->n; j++) {
        c->ptr[j + 1] = c->ptr[j] + next[j];
        next[j] = c->ptr[j];
    }
    for (int32_t i = 0; i < L->n; i++)
        for (int64_t p = L->ptr[i]; p < L->ptr[i + 1]; p++) {
            const int64_t q = next[L->idx[p]]++;
            TRS_ASSERT(q < c->ptr[L->idx[p] + 1]);
            c->row[q] = i;
            c->place[q] = p;
        }
}

enum { CACHE_LINE_ROWS = 8 }; /* rows whose x share a cache line, about */

static double fraction_apart(const trs_tri *L, const trs_columns *c)
{
    int64_t apart = 0;
    for (int32_t j = 0; j < L->n; j++)
        for (int64_t q = c->ptr[j] + 1; q < c->ptr[j + 1]; q++)
            apart += c->row[q] - c->row[q - 1] > CACHE_LINE_ROWS;
    return L->nnz ? (double)apart / (double)L->nnz : 0;
}

/* For a solver that can do without, a pattern is not brought from the device. */
static int make(trs_operator *op, bool needed, void *result, bool *found)
{
    trs_columns *c = result;
    if (!needed && !(op->on_host & TRS_OP_PATTERN)) return TRS_OK;
    int rc = trs_operator_show(op, TRS_OP_PATTERN);
    if (!rc) rc = allocate(op->ctx, &op->tri, c);
    if (rc) return rc;
    int64_t *next = trs_new(op->ctx, op->tri.n, sizeof *next, "columns");
    if (!next) return TRS_EMEM;
    sort_entries(&op->tri, next, c);
    trs_free(&op->ctx->mem, next);
    c->apart = fraction_apart(&op->tri, c);
    *found = true;
    return TRS_OK;
}

void trs_columns_free(trs_context *ctx, void *columns)
{
    trs_columns *c = columns;
    trs_free(&ctx->mem, c->ptr);
    trs_free(&ctx->mem, c->row);
    trs_free(&ctx->mem, c->place);
    c->ptr = NULL, c->row = NULL, c->place = NULL;
}

int trs_columns_copy(trs_context *ctx, const trs_tri *L, const trs_columns *from, trs_columns *to)
{
    const size_t n = (size_t)L->n, nnz = (size_t)L->nnz;
    if (allocate(ctx, L, to)) return TRS_EMEM;
    trs_copy(ctx, to->ptr, from->ptr, (n + 1) * sizeof *to->ptr);
    trs_copy(ctx, to->row, from->row, nnz * sizeof *to->row);
    trs_copy(ctx, to->place, from->place, nnz * sizeof *to->place);
    to->apart = from->apart;
    return TRS_OK;
}

const trs_analysis trs_column_analysis = {
    .name = "columns", .size = sizeof(trs_columns), .make = make, .trim = trs_columns_free};
