/* pattern.c: the rows of L + U that all systems of a batch share.
 *
 * Complete factors get all entries that any values may fill with the given pivots (factor/device/complete_fill.h); those of a
 * library lack the ones that cancelled by chance.  Incomplete factors have the entries that they have. */
#include "config.h"

#include "lu_batch.h"
#include "base/debug.h"
#include "factor/device/complete_fill.h"
#include "factor/lu.h"
#include "matrix/whole.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void trs_lu_batch_rows_free(trs_context *ctx, trs_lu_batch_rows *r)
{
    trs_free_all(&ctx->mem, r->ptr, r->idx, r->diag, r->run, r->a_row, r->a_col, r->a_from, r->a_to,
                 r->P, r->Q, r->scale);
    memset(r, 0, sizeof *r);
}

/* ---- the order ------------------------------------------------------------------------------ */

static int copy_order(trs_context *ctx, const trs_factors *f, trs_lu_batch_rows *r)
{
    const int64_t *Q = f->cholesky ? f->P : f->Q;
    r->P = trs_new(ctx, r->n, sizeof *r->P, "P");
    r->Q = trs_new(ctx, r->n, sizeof *r->Q, "Q");
    r->scale = trs_new(ctx, r->n, sizeof *r->scale, "the row scaling");
    if (!r->P || !r->Q || !r->scale) return TRS_EMEM;
    for (int64_t k = 0; k < r->n; k++) {
        r->P[k] = f->P ? f->P[k] : k;
        r->Q[k] = Q ? Q[k] : k;
        r->scale[k] = f->scale ? f->scale[r->P[k]] : 1;
    }
    return TRS_OK;
}

/* ---- entries of A(P, Q) ----------------------------------------------------------------------- */

typedef struct walk {
    const trs_mat *A;
    trs_lu_batch_rows *r;
    int64_t *to_row, *to_col; /* [n] the inverse permutations */
    bool place;               /* false: only count */
    bool mirror;              /* one triangle of A is read, for both */
} walk;

static void put(const walk *w, int64_t row, int64_t col, int64_t p, int64_t how)
{
    const int64_t q = w->r->nnz_a++;
    if (!w->place) return;
    w->r->a_row[q] = (int32_t)w->to_row[row];
    w->r->a_col[q] = (int32_t)w->to_col[col];
    w->r->a_from[q] = p << TRS_WHOLE_BITS | how;
}

static void visit(const walk *w, int64_t row, int64_t col, int64_t p)
{
    const unsigned kind = w->A->kind & TRS_UPPER ? TRS_UPPER : TRS_LOWER;
    if (!w->mirror) {
        put(w, row, col, p, TRS_STORED);
        return;
    }
    if (!trs_in_triangle(kind, row, col)) return;
    put(w, row, col, p, row == col ? TRS_REAL_PART : TRS_STORED);
    if (row != col) put(w, col, row, p, TRS_CONJUGATE);
}

static void visit_all(const walk *w)
{
    const bool rows = trs_by_rows(w->A);
    w->r->nnz_a = 0;
    for (int64_t l = 0; l < w->A->n; l++)
        for (int64_t p = trs_major_begin(w->A, l); p < trs_major_end(w->A, l); p++) {
            const int64_t k = trs_minor_index(w->A, l, p);
            visit(w, rows ? l : k, rows ? k : l, p);
        }
}

static int list_entries(trs_context *ctx, const trs_mat *A, bool mirror, trs_lu_batch_rows *r)
{
    walk w = {.A = A, .r = r, .mirror = mirror};
    visit_all(&w);
    w.to_row = trs_new(ctx, 2 * (int64_t)r->n, sizeof *w.to_row, "the inverse permutations");
    r->a_row = trs_new(ctx, r->nnz_a, sizeof *r->a_row, "rows");
    r->a_col = trs_new(ctx, r->nnz_a, sizeof *r->a_col, "columns");
    r->a_from = trs_new(ctx, r->nnz_a, sizeof *r->a_from, "places of the values");
    r->a_to = trs_new(ctx, r->nnz_a, sizeof *r->a_to, "places of the values");
    const bool good = w.to_row && r->a_row && r->a_col && r->a_from && r->a_to;
    if (good) {
        w.to_col = w.to_row + r->n;
        for (int64_t k = 0; k < r->n; k++) w.to_row[r->P[k]] = w.to_col[r->Q[k]] = k;
        w.place = true;
        visit_all(&w);
    }
    trs_free(&ctx->mem, w.to_row);
    return good ? TRS_OK : TRS_EMEM;
}

/* The place of entry (i, j) in L + U - I; -1: it has none. */
static int64_t find_entry(const trs_lu_batch_rows *r, int32_t i, int32_t j)
{
    const int64_t p = trs_first_from(r->idx, r->ptr[i], r->ptr[i + 1], j);
    return p < r->ptr[i + 1] && r->idx[p] == j ? p : -1;
}

/* ---- L + U by rows ---------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    return (i > j) - (i < j);
}

static int complete_rows(trs_context *ctx, const trs_mat *A, trs_lu_batch_rows *r)
{
    trs_complete_fill fill;
    trs_mat whole;
    int rc = trs_expand(ctx, A, &whole);
    if (rc) return rc;
    rc = trs_complete_fill_find(ctx, &whole, r->P, r->Q, INT64_MAX, &fill);
    trs_expand_done(ctx, A, &whole);
    if (rc) return rc;
    r->ptr = fill.ptr, r->nnz = fill.nnz;
    r->idx = trs_new(ctx, r->nnz, sizeof *r->idx, "columns"); /* the fill has more than it needs */
    if (r->idx) memcpy(r->idx, fill.idx, (size_t)r->nnz * sizeof *r->idx);
    trs_free_all(&ctx->mem, fill.src, fill.idx);
    if (!r->idx) return TRS_EMEM;
    for (int64_t i = 0; i < r->n; i++)
        qsort(r->idx + r->ptr[i], (size_t)(r->ptr[i + 1] - r->ptr[i]), sizeof *r->idx, compare);
    return TRS_OK;
}

/* Of ILU the rows are those of L + U - I.  Of IC they are those of L, to which those of its transpose are added: each row of
 * the result is complete when all rows of L have been visited, since column j of L is row j of L'. */
static int incomplete_rows(trs_context *ctx, const trs_factors *f, trs_lu_batch_rows *r)
{
    const trs_mat *L = &f->L;
    const bool both = f->cholesky;
    r->nnz = both ? 2 * L->nnz - L->n : L->nnz;
    r->ptr = trs_new(ctx, r->n + 1, sizeof *r->ptr, "row pointers");
    r->idx = trs_new(ctx, r->nnz, sizeof *r->idx, "columns");
    if (!r->ptr || !r->idx) return TRS_EMEM;
    memset(r->ptr, 0, ((size_t)r->n + 1) * sizeof *r->ptr);
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t p = trs_major_begin(L, i); p < trs_major_end(L, i); p++) {
            const int64_t j = trs_minor_index(L, i, p);
            r->ptr[i + 1]++;
            if (both && j < i) r->ptr[j + 1]++;
        }
    for (int64_t i = 0; i < r->n; i++) r->ptr[i + 1] += r->ptr[i];
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t p = trs_major_begin(L, i); p < trs_major_end(L, i); p++) {
            const int64_t j = trs_minor_index(L, i, p);
            r->idx[r->ptr[i]++] = (int32_t)j;
            if (both && j < i) r->idx[r->ptr[j]++] = (int32_t)i;
        }
    memmove(r->ptr + 1, r->ptr, (size_t)r->n * sizeof *r->ptr);
    r->ptr[0] = 0;
    return TRS_OK;
}

static int find_diagonal(trs_context *ctx, trs_lu_batch_rows *r)
{
    r->diag = trs_new(ctx, r->n, sizeof *r->diag, "places of the diagonal");
    if (!r->diag) return TRS_EMEM;
    for (int32_t i = 0; i < r->n; i++) {
        int64_t p = r->ptr[i];
        while (r->idx[p] < i) p++;
        TRS_ASSERT(p < r->ptr[i + 1] && r->idx[p] == i);
        r->diag[i] = p;
    }
    return TRS_OK;
}

/* Does row k + 1 of U have the columns that row k has behind k + 1, which it has? */
static bool same_columns(const trs_lu_batch_rows *r, int32_t k)
{
    const int64_t p = r->diag[k] + 1, q = r->diag[k + 1], length = r->ptr[k + 2] - q;
    if (r->ptr[k + 1] - p != length) return false;
    return !memcmp(r->idx + p, r->idx + q, (size_t)length * sizeof *r->idx);
}

/* Of the entries of L in a row those are a run whose columns follow one another and have rows of U with the same columns. */
static int find_runs(trs_context *ctx, trs_lu_batch_rows *r)
{
    char *same = trs_new(ctx, r->n, 1, "rows alike"); /* as row k + 1 */
    r->run = trs_new(ctx, r->nnz, sizeof *r->run, "runs of entries");
    for (int32_t k = 0; k + 1 < r->n && same; k++) same[k] = same_columns(r, k);
    for (int32_t i = 0; i < r->n && same && r->run; i++) {
        int64_t end;
        for (int64_t p = r->ptr[i]; p < r->diag[i]; p = end) {
            for (end = p + 1; end < r->diag[i] && end - p < TRS_LU_BATCH_RUN; end++)
                if (r->idx[end] != r->idx[end - 1] + 1 || !same[r->idx[end - 1]]) break;
            r->run[p] = (unsigned char)(end - p);
        }
    }
    trs_free(&ctx->mem, same);
    return same && r->run ? TRS_OK : TRS_EMEM;
}

int trs_lu_batch_rows_make(trs_context *ctx, const trs_lu *lu, const trs_mat *A,
                           trs_lu_batch_rows *r)
{
    const trs_factors *f = &lu->f;
    *r = (trs_lu_batch_rows){.n = (int32_t)A->n, .dtype = A->dtype, .shift = lu->shift};
    r->numbers = A->nnz;
    int rc = copy_order(ctx, f, r);
    if (!rc) rc = list_entries(ctx, A, trs_is_half(A) || lu->lower_only, r);
    if (!rc && f->incomplete) rc = incomplete_rows(ctx, f, r);
    else if (!rc) rc = complete_rows(ctx, A, r);
    if (!rc) rc = find_diagonal(ctx, r);
    if (!rc) rc = find_runs(ctx, r);
    for (int64_t q = 0; q < r->nnz_a && !rc; q++)
        r->a_to[q] = find_entry(r, r->a_row[q], r->a_col[q]);
    return rc;
}
