/* cycle.c: finds why a matrix is no triangle after permutations of its rows and columns, for the sentence that says so.
 *
 * permuted.c has given pivots to rows with a single column left; each row that is left has two columns or more.  From
 * the other end columns with a single row left are taken away in the same manner.  In the *core* that then remains
 * every row has at least two columns, and every column at least two rows.
 * If the columns of the core can be matched with rows, then row i, which is matched with column j, waits for the rows
 * that are matched with its other columns.  Every row of the core waits for another one, so some of them wait in a
 * cycle.  If there is no matching, then some k columns have entries in fewer than k rows, and the matrix is singular
 * whatever its values are.
 * The work is O(n + nnz), but for the matching, which is given up when it has looked at every entry some times.
 * Source: Duff, On algorithms for obtaining a maximum transversal, ACM TOMS 7 (1981). */
#include "config.h"

#include "permuted.h"

#include <string.h>

typedef struct search {
    trs_context *ctx;
    const trs_tri *A;      /* by columns */
    int32_t *row, *column; /* [n] what each column, and each row, is matched with; -1: nothing */
    int32_t *mark;         /* [n] on rows, or on columns */
    int32_t *path;         /* [n] columns */
    int32_t *core;         /* [size] columns */
    int32_t size;
    int64_t *at;    /* [n] the entry of each column at which the search goes on */
    int64_t looked; /* how many entries of the core were looked at */
} search;

static void match(search *s, int32_t i, int32_t j)
{
    s->row[j] = i;
    s->column[i] = j;
}

/* ---- the core --------------------------------------------------------------------------------- */

/* Take columns with a single row left away, as find_order of permuted.c does with rows.  left and sum [n] are of
 * columns, and R is A by rows. */
static int peel(search *s, const trs_tri *R, int32_t *left, int32_t *sum)
{
    const trs_tri *A = s->A;
    const int base = s->ctx->base;
    int32_t *ready = s->path, count = 0;
    for (int32_t j = 0; j < A->n; j++) {
        left[j] = (int32_t)(A->ptr[j + 1] - A->ptr[j]);
        sum[j] = 0;
        for (int64_t q = A->ptr[j]; q < A->ptr[j + 1]; q++) sum[j] ^= A->idx[q];
        if (left[j] == 1 && s->row[j] < 0) ready[count++] = j;
    }
    while (count > 0) {
        const int32_t j = ready[--count], i = sum[j];
        match(s, i, j);
        for (int64_t q = R->ptr[i]; q < R->ptr[i + 1]; q++) {
            const int32_t c = R->idx[q];
            if (s->row[c] >= 0) continue;
            sum[c] ^= i;
            if (--left[c] == 1) ready[count++] = c;
            if (left[c] == 0)
                return trs_fail(TRS_EMATRIX,
                                "structurally singular: columns %d and %d have only row %d left",
                                j + base, c + base, i + base);
        }
    }
    for (int32_t j = 0; j < A->n; j++)
        if (s->row[j] < 0) s->core[s->size++] = j;
    return TRS_OK;
}

/* ---- rows for its columns ------------------------------------------------------------------------ */

/* Match each column with its diagonal, which most matrices have, and the others with any row that is free. */
static void match_cheaply(search *s, bool diagonal)
{
    for (int32_t k = 0; k < s->size; k++) {
        const int32_t j = s->core[k];
        for (int64_t q = s->A->ptr[j]; s->row[j] < 0 && q < s->A->ptr[j + 1]; q++) {
            const int32_t i = s->A->idx[q];
            if (s->column[i] < 0 && (i == j || !diagonal)) match(s, i, j);
        }
    }
}

enum { CLOSED = -2 }; /* marks rows from which no free row is reached */

/* Find a row for column j along an augmenting path: the columns on it change their rows, and the last one takes a row
 * that was free.  Returns false if there is none: then the *seen rows that were reached are one fewer than j and the
 * columns that they are matched with. */
static bool find_row(search *s, int32_t j, int32_t *seen)
{
    const trs_tri *A = s->A;
    const int32_t mark = j;
    int32_t depth = 0;
    *seen = 0;
    s->path[0] = j;
    s->at[j] = A->ptr[j];
    while (depth >= 0) {
        j = s->path[depth];
        if (s->at[j] == A->ptr[j + 1]) {
            depth--;
            continue;
        }
        const int32_t i = A->idx[s->at[j]++];
        s->looked++;
        if (s->mark[i] == mark || s->mark[i] == CLOSED) continue;
        s->mark[i] = mark;
        ++*seen;
        if (s->column[i] < 0) {
            for (; depth >= 0; depth--) {
                const int32_t c = s->path[depth];
                match(s, A->idx[s->at[c] - 1], c);
            }
            return true;
        }
        s->path[++depth] = s->column[i];
        s->at[s->column[i]] = A->ptr[s->column[i]];
    }
    return false;
}

static int too_few_rows(search *s, int32_t j)
{
    int32_t seen;
    for (int32_t i = 0; i < s->A->n; i++) s->mark[i] = -1; /* also rows behind the core */
    find_row(s, j, &seen);
    return trs_fail(TRS_EMATRIX,
                    "structurally singular: column %d and %d others have entries in %d rows only",
                    j + s->ctx->base, seen, seen);
}

enum { PATIENCE = 4 }; /* how many times as many entries as there are may be looked at */

/* Match the columns of the core with its rows; rows outside have no entries in these columns. */
static int match_core(search *s)
{
    const trs_tri *A = s->A;
    int32_t seen;
    for (int32_t i = 0; i < A->n; i++) s->mark[i] = s->column[i] < 0 ? -1 : CLOSED;
    match_cheaply(s, true);
    match_cheaply(s, false);
    for (int32_t k = 0; k < s->size; k++) {
        const int32_t j = s->core[k];
        if (s->row[j] >= 0) continue;
        if (s->looked > PATIENCE * (A->nnz + A->n))
            return trs_fail(TRS_EMATRIX,
                            "no triangle after permutations: %d rows have two columns or more "
                            "left, row %d among them",
                            s->size, A->idx[A->ptr[j]] + s->ctx->base);
        if (!find_row(s, j, &seen)) return too_few_rows(s, j);
    }
    return TRS_OK;
}

/* ---- the cycle --------------------------------------------------------------------------------- */

enum { NEW, ON_PATH, DONE }; /* marks on columns */

static int name_cycle(search *s)
{
    const trs_tri *A = s->A;
    const int base = s->ctx->base;
    int32_t depth = -1;
    for (int32_t j = 0; j < A->n; j++) s->mark[j] = DONE;
    for (int32_t k = 0; k < s->size; k++) s->mark[s->core[k]] = NEW;
    for (int32_t k = 0; depth >= 0 || k < s->size;) {
        const int32_t j = depth >= 0 ? s->path[depth] : s->core[k++];
        if (s->mark[j] == NEW) {
            s->mark[j] = ON_PATH;
            s->at[j] = A->ptr[j];
            if (depth < 0) s->path[depth = 0] = j;
        }
        if (s->mark[j] == DONE) continue;
        if (s->at[j] == A->ptr[j + 1]) {
            s->mark[j] = DONE;
            depth--;
            continue;
        }
        const int32_t i = A->idx[s->at[j]++], c = s->column[i]; /* row i waits for row [j] */
        if (c != j && s->mark[c] == ON_PATH)
            return trs_fail(TRS_EMATRIX,
                            "no triangle after permutations: row %d is on a cycle, it waits for "
                            "row %d, and that one for it",
                            i + base, s->row[j] + base);
        if (s->mark[c] == NEW) s->path[++depth] = c;
    }
    return trs_fail(TRS_EMATRIX, "no triangle after permutations"); /* not reached */
}

int trs_permuted_explain(trs_context *ctx, const trs_tri *A, const int32_t *P, const int32_t *Q,
                         int32_t k)
{
    const int64_t n = A->n;
    search s = {.ctx = ctx, .A = A};
    trs_tri R = {0};
    int32_t *w = trs_new(ctx, 7 * n, sizeof *w, "the search for a cycle");
    s.at = w ? trs_new(ctx, n, sizeof *s.at, "the search for a cycle") : NULL;
    int rc = s.at ? trs_tri_transpose(ctx, A, false, &R) : TRS_EMEM;
    if (!rc) {
        s.row = w, s.column = w + n, s.mark = w + 2 * n, s.path = w + 3 * n, s.core = w + 4 * n;
        memset(w, 0xff, 2 * (size_t)n * sizeof *w); /* -1 */
        for (int32_t m = 0; m < k; m++) match(&s, P[m], Q[m]);
        rc = peel(&s, &R, w + 5 * n, w + 6 * n);
        if (!rc) rc = match_core(&s);
        if (!rc) rc = name_cycle(&s);
    }
    trs_tri_free(ctx, &R);
    trs_free(&ctx->mem, s.at);
    trs_free(&ctx->mem, w);
    return rc;
}
