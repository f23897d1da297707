/* permuted.c: imports a matrix that is a triangle after permutations of its rows and columns.
 *
 * Wanted are P and Q with A(P(k), Q(m)) = 0 for k < m.  A row with a single column left must have its pivot there, and
 * all other rows then lose that column.  This is the topological sort by in-degree that finds levels (level.c), where
 * the in-degree of a row is the number of columns that it has left.  The exclusive or of the numbers of these columns
 * is kept for each row.  When one column is left it is the number of that column, so nothing is searched for, and the
 * work is O(n + nnz).
 * Of the rows that are ready the one that became so last goes first.  It follows the row that it waited for, which keeps
 * bands and supernodes together; an order level by level would tear them apart.
 * Source: Gilbert, Moler, Schreiber, Sparse matrices in MATLAB, SIAM J. Matrix Anal. Appl. 13 (1992), whose backslash
 * looks for such triangles. */
#include "config.h"

#include "permuted.h"

#include <inttypes.h>
#include <string.h>

/* ---- the columns of A ------------------------------------------------------------------------- */

/* Only numbers of a full matrix that are not zero are entries, for else it could be no triangle. */
static bool is_entry(const trs_mat *m, int64_t p)
{
    return m->format != TRS_DENSE || !trs_is_zero(m, p);
}

static void count_columns(const trs_mat *m, int64_t *count)
{
    const bool rows = trs_by_rows(m);
    for (int64_t l = 0; l < m->n; l++)
        for (int64_t p = trs_major_begin(m, l), end = trs_major_end(m, l); p < end; p++)
            if (is_entry(m, p)) count[rows ? trs_minor_index(m, l, p) : l]++;
}

/* Write row and place of every entry; those of column j stand from next [j] on. */
static void fill_columns(const trs_mat *m, int64_t *next, trs_tri *A)
{
    const bool rows = trs_by_rows(m);
    for (int64_t l = 0; l < m->n; l++)
        for (int64_t p = trs_major_begin(m, l), end = trs_major_end(m, l); p < end; p++) {
            if (!is_entry(m, p)) continue;
            const int64_t c = trs_minor_index(m, l, p), q = next[rows ? c : l]++;
            A->idx[q] = (int32_t)(rows ? l : c);
            A->src[q] = p;
        }
}

/* Make A of m, by columns: rows are in idx, in any order, and places in src.  The caller frees what is there, also
 * after an error. */
static int take_columns(trs_context *ctx, const trs_mat *m, trs_tri *A)
{
    *A = (trs_tri){.n = (int32_t)m->n, .dtype = m->dtype};
    int64_t *ptr = A->ptr = trs_new(ctx, m->n + 1, sizeof *A->ptr, "column pointers");
    if (!ptr) return TRS_EMEM;
    memset(ptr, 0, ((size_t)m->n + 1) * sizeof *ptr);
    count_columns(m, ptr + 1);
    for (int64_t j = 0; j < m->n; j++) ptr[j + 1] += ptr[j];
    A->nnz = ptr[m->n];
    int rc = trs_tri_entries(ctx, A, false, true);
    if (rc) return rc;
    fill_columns(m, ptr, A);
    memmove(ptr + 1, ptr, (size_t)m->n * sizeof *ptr); /* ptr [j] had come to the end of column j */
    ptr[0] = 0;
    return TRS_OK;
}

/* ---- the order -------------------------------------------------------------------------------------- */

typedef struct row {
    int32_t entries;
    int32_t left; /* how many columns it has that are not yet of a pivot */
    int32_t sum;  /* the exclusive or of their numbers */
    union {
        int32_t seen;  /* while entries are counted, the last column that it was seen in */
        int32_t place; /* k, where P(k) is this row */
    };
} row;

/* Count the entries of each row.  None may be stored twice, and no row or column may be empty. */
static int count_rows(trs_context *ctx, const trs_tri *A, row *rows)
{
    const int base = ctx->base;
    for (int32_t i = 0; i < A->n; i++) rows[i] = (row){.seen = -1};
    for (int32_t j = 0; j < A->n; j++) {
        if (A->ptr[j] == A->ptr[j + 1])
            return trs_fail(TRS_EMATRIX, "structurally singular: column %d has no entry", j + base);
        for (int64_t q = A->ptr[j]; q < A->ptr[j + 1]; q++) {
            row *r = &rows[A->idx[q]];
            if (r->seen == j)
                return trs_fail(TRS_EMATRIX, "row %d, column %d is stored twice", A->idx[q] + base,
                                j + base);
            r->seen = j;
            r->entries++;
            r->sum ^= j;
        }
    }
    for (int32_t i = 0; i < A->n; i++) {
        rows[i].left = rows[i].entries;
        if (!rows[i].left)
            return trs_fail(TRS_EMATRIX, "structurally singular: row %d has no entry", i + base);
    }
    return TRS_OK;
}

/* ready [n] is work space. */
static int find_order(trs_context *ctx, const trs_tri *A, row *rows, int32_t *ready, int32_t *P,
                      int32_t *Q)
{
    const int32_t n = A->n, base = ctx->base;
    int32_t count = 0, k = 0;
    int rc = count_rows(ctx, A, rows);
    if (rc) return rc;
    for (int32_t i = n - 1; i >= 0; i--)
        if (rows[i].left == 1) ready[count++] = i;
    for (; count > 0; k++) {
        const int32_t i = ready[--count], j = rows[i].sum;
        P[k] = i;
        Q[k] = j;
        rows[i].place = k;
        for (int64_t q = A->ptr[j + 1] - 1; q >= A->ptr[j]; q--) {
            const int32_t other = A->idx[q];
            row *r = &rows[other];
            if (other == i) continue;
            r->sum ^= j;
            if (--r->left == 1) ready[count++] = other;
            if (r->left == 0)
                return trs_fail(TRS_EMATRIX,
                                "structurally singular: rows %d and %d have only column %d left",
                                i + base, other + base, j + base);
        }
    }
    return k == n ? TRS_OK : trs_permuted_explain(ctx, A, P, Q, k);
}

/* Make t of the columns of A in the order of Q, which fills its rows from left to right. */
static int take_rows(trs_context *ctx, const trs_tri *A, const row *rows, const int32_t *P,
                     const int32_t *Q, trs_tri *t)
{
    *t = (trs_tri){.n = A->n, .nnz = A->nnz, .dtype = A->dtype};
    int64_t *next = t->ptr = trs_new(ctx, (int64_t)t->n + 1, sizeof *t->ptr, "row pointers");
    if (!t->ptr) return TRS_EMEM;
    int rc = trs_tri_entries(ctx, t, true, true);
    if (rc) return rc;
    next[0] = 0;
    for (int32_t k = 0; k < t->n; k++) next[k + 1] = next[k] + rows[P[k]].entries;
    for (int32_t k = 0; k < t->n; k++)
        for (int64_t q = A->ptr[Q[k]]; q < A->ptr[Q[k] + 1]; q++) {
            const int64_t to = next[rows[A->idx[q]].place]++;
            t->idx[to] = k;
            t->src[to] = A->src[q];
        }
    /* next [k] has come to the end of row k */
    memmove(next + 1, next, (size_t)t->n * sizeof *next);
    next[0] = 0;
    return TRS_OK;
}

int trs_permuted_import(trs_context *ctx, const trs_mat *m, trs_tri *t, int32_t **P, int32_t **Q)
{
    int rc = trs_check_mat(m);
    if (rc) return rc;
    trs_tri A = {0};
    *t = (trs_tri){0};
    row *rows = trs_new(ctx, m->n, sizeof *rows, "the search for a triangle");
    int32_t *ready = trs_new(ctx, m->n, sizeof *ready, "the search for a triangle");
    *P = trs_new(ctx, m->n, sizeof **P, "a permutation of rows");
    *Q = trs_new(ctx, m->n, sizeof **Q, "a permutation of columns");
    rc = rows && ready && *P && *Q ? take_columns(ctx, m, &A) : TRS_EMEM;
    if (!rc) rc = find_order(ctx, &A, rows, ready, *P, *Q);
    if (!rc) rc = take_rows(ctx, &A, rows, *P, *Q, t);
    if (!rc) trs_tri_read_values(ctx, t, m->val);
    trs_free(&ctx->mem, rows);
    trs_free(&ctx->mem, ready);
    trs_tri_free(ctx, &A);
    if (rc) trs_tri_free(ctx, t);
    return rc;
}

/* ---- new values ---------------------------------------------------------------------------------- */

int trs_permuted_zeros(trs_context *ctx, const trs_mat *m, const trs_tri *t)
{
    if (m->format != TRS_DENSE) return TRS_OK;
    unsigned char *entry = trs_alloc_zero(&ctx->mem, m->ld * m->n, 1);
    if (!entry) return trs_fail(TRS_EMEM, "out of memory for the zeros of a full matrix");
    int rc = TRS_OK;
    for (int64_t p = 0; p < t->nnz; p++) entry[t->src ? t->src[p] : p] = 1;
    for (int64_t j = 0; j < m->n && !rc; j++)
        for (int64_t i = 0; i < m->n && !rc; i++)
            if (!entry[i + j * m->ld] && !trs_is_zero(m, i + j * m->ld))
                rc = trs_fail(TRS_EMATRIX,
                              "update: row %" PRId64 ", column %" PRId64 " was zero at create",
                              i + ctx->base, j + ctx->base);
    trs_free(&ctx->mem, entry);
    return rc;
}
