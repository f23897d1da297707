/* rows.c: the rows of L + U for new values: pattern, order of computation, and where the values of A go. */
#include "config.h"

#include "again.h"
#include "base/debug.h"

#include <string.h>

/* ---- pattern ------------------------------------------------------------------------------------- */

/* at [k] moves on with every entry of row k that is placed.  Columns are taken in ascending order, from the transpose of the
 * fill, so they ascend in every row. */
static void place(const trs_complete_fill *fill, const int64_t *col, const int32_t *row,
                  trs_again_rows *r, int64_t *at)
{
    memcpy(at, fill->ptr, (size_t)fill->n * sizeof *at);
    for (int64_t j = 0; j < fill->n; j++)
        for (int64_t p = col[j]; p < col[j + 1]; p++) {
            const int32_t i = row[p];
            if (i == j) r->rows.diag[i] = at[i];
            r->rows.t.idx[at[i]++] = (int32_t)j;
        }
}

/* The columns of the fill: col [n+1] and row [nnz], which has the rows of each column. */
static void transpose(const trs_complete_fill *fill, int64_t *col, int32_t *row)
{
    memset(col, 0, ((size_t)fill->n + 2) * sizeof *col);
    for (int64_t p = 0; p < fill->nnz; p++) col[fill->idx[p] + 2]++;
    for (int64_t j = 0; j < fill->n; j++) col[j + 2] += col[j + 1];
    for (int64_t i = 0; i < fill->n; i++)
        for (int64_t p = fill->ptr[i]; p < fill->ptr[i + 1]; p++)
            row[col[fill->idx[p] + 1]++] = (int32_t)i;
}

static int sort_rows(trs_context *ctx, const trs_complete_fill *fill, trs_again_rows *r)
{
    int64_t *col = trs_new(ctx, 2 * fill->n + 2, sizeof *col, "columns of the factors");
    int32_t *row = trs_new(ctx, fill->nnz, sizeof *row, "columns of the factors");
    const int rc = col && row ? TRS_OK : TRS_EMEM;
    if (!rc) {
        transpose(fill, col, row);
        place(fill, col, row, r, col + fill->n + 2);
    }
    trs_free_all(&ctx->mem, col, row);
    return rc;
}

/* The entries of A are those of the fill that have a place in it. */
static void list_a(const trs_complete_fill *fill, trs_again_rows *r)
{
    int64_t count = 0;
    for (int64_t i = 0; i < fill->n; i++) {
        r->a_ptr[i] = count;
        for (int64_t p = fill->ptr[i]; p < fill->ptr[i + 1]; p++) {
            if (fill->src[p] == TRS_SRC_MISSING) continue;
            r->a_idx[count] = fill->idx[p];
            r->a_src[count++] = fill->src[p];
        }
    }
    r->a_ptr[fill->n] = count;
}

static void find_runs(trs_again_rows *r)
{
    const trs_tri *t = &r->rows.t;
    const int64_t *diag = r->rows.diag;
    for (int32_t k = t->n - 1; k >= 0; k--) {
        const int64_t next = diag[k] + 1, count = t->ptr[k + 1] - next;
        const int32_t *idx = t->idx + next;
        r->same[k] = 0;
        if (count && count == t->ptr[k + 2] - diag[k + 1] &&
            !memcmp(idx, t->idx + diag[k + 1], (size_t)count * sizeof *idx))
            r->same[k] = r->same[k + 1] + 1;
        int64_t p = trs_max(count - 1, 0);
        while (p > 0 && idx[p - 1] == idx[p] - 1) p--;
        r->dense[k] = next + p;
    }
}

/* ---- levels -------------------------------------------------------------------------------------- */

/* topo [n]: the rows by level.  ptr [n+1]: where each level begins.  Returns how many they are. */
static int32_t find_levels(const trs_again_rows *r, int32_t *level, int32_t *topo, int32_t *ptr)
{
    const trs_tri *t = &r->rows.t;
    int32_t levels = 0;
    for (int32_t i = 0; i < t->n; i++) {
        level[i] = 0;
        for (int64_t p = t->ptr[i]; p < r->rows.diag[i]; p++)
            if (level[t->idx[p]] >= level[i]) level[i] = level[t->idx[p]] + 1;
        if (level[i] >= levels) levels = level[i] + 1;
    }
    memset(ptr, 0, ((size_t)levels + 1) * sizeof *ptr);
    for (int32_t i = 0; i < t->n; i++) ptr[level[i] + 1]++;
    for (int32_t l = 0; l < levels; l++) ptr[l + 1] += ptr[l];
    for (int32_t i = 0; i < t->n; i++) topo[ptr[level[i]]++] = i;
    for (int32_t l = levels; l > 0; l--) ptr[l] = ptr[l - 1];
    ptr[0] = 0;
    return levels;
}

static int cut_levels(trs_context *ctx, trs_again_rows *r)
{
    const int64_t n = r->rows.t.n;
    int32_t *topo = trs_new(ctx, n, sizeof *topo, "levels");
    int32_t *scratch = trs_new(ctx, 2 * n + 1, sizeof *scratch, "levels");
    r->rows.topo = topo;
    int rc = topo && scratch ? TRS_OK : TRS_EMEM;
    if (!rc) {
        const int32_t levels = find_levels(r, scratch, topo, scratch + n);
        rc = trs_ilu_stages(ctx, &r->rows, topo, scratch + n, levels);
    }
    trs_free(&ctx->mem, scratch);
    return rc;
}

/* ---- beginning and end --------------------------------------------------------------------------- */

static int new_pattern(trs_context *ctx, const trs_complete_fill *fill, int64_t entries,
                       trs_again_rows *r)
{
    const int64_t n = fill->n;
    trs_tri *t = &r->rows.t;
    t->n = (int32_t)n;
    t->nnz = fill->nnz;
    t->ptr = trs_new(ctx, n + 1, sizeof *t->ptr, "row pointers of the factors");
    t->idx = trs_new(ctx, t->nnz, sizeof *t->idx, "the pattern of the factors");
    r->rows.diag = trs_new(ctx, n, sizeof *r->rows.diag, "places of the diagonal");
    r->a_ptr = trs_new(ctx, n + 1, sizeof *r->a_ptr, "rows of A");
    r->a_idx = trs_new(ctx, entries, sizeof *r->a_idx, "rows of A");
    r->a_src = trs_new(ctx, entries, sizeof *r->a_src, "rows of A");
    return t->ptr && t->idx && r->rows.diag && r->a_ptr && r->a_idx && r->a_src ? TRS_OK : TRS_EMEM;
}

static int make_pattern(trs_context *ctx, const trs_complete_fill *fill, int64_t entries,
                        trs_again_rows *r)
{
    int rc = new_pattern(ctx, fill, entries, r);
    if (!rc) rc = sort_rows(ctx, fill, r);
    if (rc) return rc;
    memcpy(r->rows.t.ptr, fill->ptr, ((size_t)fill->n + 1) * sizeof *fill->ptr);
    list_a(fill, r);
    return trs_again_products_make(ctx, r);
}

static int new_numbers(trs_context *ctx, bool scaled, trs_again_rows *r)
{
    trs_tri *t = &r->rows.t;
    const int64_t n = t->n;
    const size_t size = trs_size(t->dtype);
    t->val = trs_new(ctx, t->nnz + 1, size, "the values of the factors");
    r->same = trs_new(ctx, n, sizeof *r->same, "rows of one pattern");
    r->dense = trs_new(ctx, n, sizeof *r->dense, "rows of one pattern");
    r->largest = trs_new(ctx, n, sizeof *r->largest, "the growth of the factors");
    r->inverse = trs_new(ctx, n, size, "pivots");
    r->work = trs_alloc_zero(&ctx->mem, n * r->rows.threads, size);
    if (scaled) r->scale = trs_new(ctx, n, sizeof *r->scale, "the row scaling");
    if (!r->work) return trs_fail(TRS_EMEM, "out of memory for a row");
    return t->val && r->same && r->dense && r->largest && r->inverse && (!scaled || r->scale)
               ? TRS_OK
               : TRS_EMEM;
}

static int make(trs_context *ctx, const trs_complete_fill *fill, int64_t entries,
                const trs_factors *f, trs_again_rows *r)
{
    const double one[2] = {1, 0};
    int rc = make_pattern(ctx, fill, entries, r);
    if (!rc) rc = new_numbers(ctx, f->scale, r);
    if (rc) return rc;
    trs_number_put(r->rows.t.val, r->rows.t.dtype, r->rows.t.nnz, one);
    for (int64_t k = 0; k < fill->n && f->scale; k++) r->scale[k] = f->scale[f->P[k]];
    find_runs(r);
    return cut_levels(ctx, r);
}

int trs_again_rows_make(trs_context *ctx, const trs_mat *A, const trs_factors *f, int64_t limit,
                        trs_again_rows *r)
{
    trs_complete_fill fill;
    *r = (trs_again_rows){.type = A->dtype};
    r->rows.t.dtype = f->L.dtype;
    r->rows.threads = (int)trs_min(ctx->threads, TRS_ILU_THREADS);
    int rc = trs_complete_fill_find(ctx, A, f->P, f->Q, limit, &fill);
    if (rc) return rc;
    rc = make(ctx, &fill, A->nnz, f, r);
    trs_complete_fill_free(ctx, &fill);
    return rc;
}

void trs_again_rows_free(trs_context *ctx, trs_again_rows *r)
{
    trs_free_all(&ctx->mem, r->rows.diag, (void *)r->rows.topo, r->rows.stage, r->rows.progress,
                 r->a_ptr, r->a_idx, r->a_src, r->scale, r->same, r->dense, r->largest, r->inverse,
                 r->work, r->product, r->product_ptr, r->a_row, r->a_to, r->l_ptr, r->l,
                 r->divided);
}
