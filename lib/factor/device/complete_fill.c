/* complete_fill.c: symbolic elimination of A(P, Q) without exchanges of rows.
 *
 * A library that factors may omit entries that cancelled, which they do not with other values.  So the pattern is found
 * anew: row i of L + U has the columns that can be reached from those of row i of A(P, Q) by going from a column k < i to
 * the columns of row k of U.
 * Rows of U are pruned, which leaves every set that is reached as it is: if l(m, k) and u(k, m) are both entries, row m has
 * all entries of row k of U right of m.  So a search that reaches k also reaches m, and needs from row k only m and the
 * columns left of m.  For a symmetric pattern this leaves the elimination tree, and the search takes O(nnz (L + U)).
 * Sources: Gilbert, Peierls, SIAM J. Sci. Stat. Comput. 9 (1988) 862-874; Eisenstat, Liu, Exploiting structural symmetry in
 * unsymmetric sparse symbolic factorization, SIAM J. Matrix Anal. Appl. 13 (1992) 202-211. */
#include "config.h"

#include "complete_fill.h"
#include "base/debug.h"

#include <string.h>

typedef struct search {
    trs_context *ctx;
    int64_t n, limit;
    int64_t *ptr;   /* [n+1] rows of A(P, Q) */
    int32_t *idx;   /* their columns */
    int64_t *src;   /* and the places of their values */
    int64_t *end;   /* [n] of row k of U, as far as it is followed */
    int64_t *u;     /* [n] where row k of U, without its diagonal, begins in the rows of the fill */
    int32_t *seen;  /* [n] 1 + the last row that has this column */
    int32_t *stack; /* [n] columns from which the search goes on */
} search;

void trs_complete_fill_free(trs_context *ctx, trs_complete_fill *f)
{
    trs_free_all(&ctx->mem, f->ptr, f->idx, f->src);
    memset(f, 0, sizeof *f);
}

/* ---- A(P, Q) by rows ----------------------------------------------------------------------------- */

/* at [p] of row r moves on with every entry that is placed; first only the entries are counted. */
static void walk(const trs_mat *A, const int64_t *to_row, const int64_t *to_col, search *s,
                 bool place)
{
    const bool by_rows = trs_by_rows(A);
    for (int64_t l = 0; l < A->n; l++)
        for (int64_t p = trs_major_begin(A, l); p < trs_major_end(A, l); p++) {
            const int64_t k = trs_minor_index(A, l, p);
            const int64_t row = to_row[by_rows ? l : k];
            if (A->format == TRS_DENSE && trs_is_zero(A, p)) continue;
            if (!place) {
                s->ptr[row + 1]++;
                continue;
            }
            const int64_t q = s->ptr[row]++;
            TRS_ASSERT(row >= 0 && row < s->n);
            s->idx[q] = (int32_t)to_col[by_rows ? k : l];
            s->src[q] = p;
        }
}

static void invert(const int64_t *p, int64_t n, int64_t *inverse)
{
    for (int64_t k = 0; k < n; k++) inverse[p[k]] = k;
}

static int permute(search *s, const trs_mat *A, const int64_t *P, const int64_t *Q)
{
    const int64_t n = s->n;
    int64_t *to = trs_new(s->ctx, 2 * n, sizeof *to, "the inverse permutations");
    s->ptr = to ? trs_new(s->ctx, n + 1, sizeof *s->ptr, "row pointers") : NULL;
    int rc = s->ptr ? TRS_OK : TRS_EMEM;
    if (!rc) {
        invert(P, n, to);
        invert(Q, n, to + n);
        memset(s->ptr, 0, ((size_t)n + 1) * sizeof *s->ptr);
        walk(A, to, to + n, s, false);
        for (int64_t i = 0; i < n; i++) s->ptr[i + 1] += s->ptr[i];
        s->idx = trs_new(s->ctx, s->ptr[n], sizeof *s->idx, "columns");
        s->src = trs_new(s->ctx, s->ptr[n], sizeof *s->src, "places of the values");
        rc = s->idx && s->src ? TRS_OK : TRS_EMEM;
    }
    if (!rc) {
        walk(A, to, to + n, s, true); /* which leaves every pointer at the end of its row */
        memmove(s->ptr + 1, s->ptr, (size_t)n * sizeof *s->ptr);
        s->ptr[0] = 0;
    }
    trs_free(&s->ctx->mem, to);
    return rc;
}

/* ---- the search ------------------------------------------------------------------------------------ */

/* Allocate space for one more row. */
static int grow(search *s, trs_complete_fill *f)
{
    if (f->room - f->nnz >= s->n) return TRS_OK;
    if (f->nnz > s->limit) return TRS_ESUPPORT;
    const int64_t room = 2 * f->room + s->n;
    int32_t *idx = trs_new(s->ctx, room, sizeof *idx, "the fill");
    int64_t *src = trs_new(s->ctx, room, sizeof *src, "the fill");
    if (!idx || !src) {
        trs_free_all(&s->ctx->mem, idx, src);
        return TRS_EMEM;
    }
    if (f->nnz) {
        memcpy(idx, f->idx, (size_t)f->nnz * sizeof *idx);
        memcpy(src, f->src, (size_t)f->nnz * sizeof *src);
    }
    trs_free_all(&s->ctx->mem, f->idx, f->src);
    f->idx = idx, f->src = src, f->room = room;
    return TRS_OK;
}

/* Add column j to row i, unless it has it.  Does the search go on from there? */
static bool add(search *s, trs_complete_fill *f, int32_t i, int32_t j, int64_t src)
{
    if (s->seen[j] == i + 1) return false;
    s->seen[j] = i + 1;
    TRS_ASSERT(f->nnz < f->room);
    f->idx[f->nnz] = j;
    f->src[f->nnz++] = src;
    return j < i;
}

/* Append row i: first the entries of A, then what is reached from them, and the diagonal. */
static void find_row(search *s, trs_complete_fill *f, int32_t i)
{
    int32_t top = 0;
    for (int64_t p = s->ptr[i]; p < s->ptr[i + 1]; p++)
        if (add(s, f, i, s->idx[p], s->src[p])) s->stack[top++] = s->idx[p];
    while (top > 0) {
        const int32_t k = s->stack[--top];
        for (int64_t p = s->u[k]; p < s->end[k]; p++)
            if (add(s, f, i, f->idx[p], TRS_SRC_MISSING)) s->stack[top++] = f->idx[p];
    }
    add(s, f, i, i, TRS_SRC_MISSING);
    f->ptr[i + 1] = f->nnz;
}

static void swap_entries(trs_complete_fill *f, int64_t p, int64_t q)
{
    const int32_t j = f->idx[p];
    const int64_t src = f->src[p];
    f->idx[p] = f->idx[q], f->src[p] = f->src[q];
    f->idx[q] = j, f->src[q] = src;
}

/* Move the entries of row i that are above `from` behind the others.  Returns where they begin. */
static int64_t part(trs_complete_fill *f, int64_t begin, int64_t end, int32_t from)
{
    int64_t left = begin;
    for (int64_t p = begin; p < end; p++)
        if (f->idx[p] <= from) swap_entries(f, p, left++);
    return left;
}

/* Row m is there.  A row k of U that has m, and that row m needs, is from now on followed up to m. */
static void prune(search *s, trs_complete_fill *f, int32_t m)
{
    for (int64_t p = f->ptr[m]; p < f->ptr[m + 1]; p++) {
        const int32_t k = f->idx[p];
        if (k >= m || s->end[k] < f->ptr[k + 1])
            continue; /* it was pruned before, at a smaller m */
        int64_t q = s->u[k];
        while (q < s->end[k] && f->idx[q] != m) q++;
        if (q < s->end[k]) s->end[k] = part(f, s->u[k], s->end[k], m);
    }
}

static int find_rows(search *s, trs_complete_fill *f)
{
    memset(s->seen, 0, (size_t)s->n * sizeof *s->seen);
    f->ptr[0] = 0;
    for (int32_t i = 0; i < s->n; i++) {
        const int rc = grow(s, f);
        if (rc) return rc;
        find_row(s, f, i);
        s->u[i] = part(f, f->ptr[i], f->ptr[i + 1], i);
        s->end[i] = f->ptr[i + 1];
        TRS_ASSERT(s->u[i] <= s->end[i]);
        prune(s, f, i);
    }
    return TRS_OK;
}

int trs_complete_fill_find(trs_context *ctx, const trs_mat *A, const int64_t *P, const int64_t *Q,
                           int64_t limit, trs_complete_fill *f)
{
    const int64_t n = A->n;
    search s = {.ctx = ctx, .n = n, .limit = limit};
    *f = (trs_complete_fill){.n = n};
    int rc = permute(&s, A, P, Q);
    if (!rc) {
        f->ptr = trs_new(ctx, n + 1, sizeof *f->ptr, "row pointers of the fill");
        s.end = trs_new(ctx, 2 * n, sizeof *s.end, "the search for fill");
        s.seen = trs_new(ctx, 2 * n, sizeof *s.seen, "the search for fill");
        rc = TRS_EMEM;
    }
    if (f->ptr && s.end && s.seen) {
        s.u = s.end + n;
        s.stack = s.seen + n;
        rc = find_rows(&s, f);
    }
    trs_free_all(&ctx->mem, s.ptr, s.idx, s.src, s.end, s.seen);
    if (rc) trs_complete_fill_free(ctx, f);
    return rc;
}
