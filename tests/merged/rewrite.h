/* rewrite.h: level rewriting on the host, one row after the other: the reference for cuda/merged. */
#ifndef TRS_TESTS_REWRITE_H
#define TRS_TESTS_REWRITE_H

#include "tests/common/model.h"

#include "cuda/merged/merge.h"

typedef struct sparse { /* a matrix by rows; of a triangle the diagonal is last in each */
    int32_t n, levels;
    int64_t nnz, room; /* entries, and how many there is memory for */
    int64_t *ptr;      /* [n+1] */
    int32_t *idx;      /* [nnz] */
    double *val;       /* [nnz] */
    int32_t *level;    /* [n] */
} sparse;

static inline sparse sparse_new(int32_t n)
{
    sparse a = {.n = n, .ptr = calloc((size_t)n + 1, 8), .level = calloc((size_t)n + 1, 4)};
    assert_true(a.ptr && a.level);
    return a;
}

/* At the end of the last row. */
static inline void sparse_push(sparse *a, int32_t column, double value)
{
    if (a->nnz == a->room) {
        a->room = 2 * a->room + 16;
        a->idx = realloc(a->idx, (size_t)a->room * sizeof *a->idx);
        a->val = realloc(a->val, (size_t)a->room * sizeof *a->val);
        assert_true(a->idx && a->val);
    }
    a->idx[a->nnz] = column;
    a->val[a->nnz++] = value;
}

static inline void sparse_free(sparse *a)
{
    free(a->ptr);
    free(a->idx);
    free(a->val);
    free(a->level);
}

typedef struct rewriting {
    int passes;
    sparse t[MERGE_PASSES + 1];   /* T, and T' of each pass */
    sparse n[MERGE_PASSES];       /* -N of each pass */
    double largest[MERGE_PASSES]; /* sum of magnitudes of a row of N */
} rewriting;

static inline void rewriting_free(rewriting *w)
{
    for (int k = 0; k <= MERGE_PASSES; k++) sparse_free(&w->t[k]);
    for (int k = 0; k < MERGE_PASSES; k++) sparse_free(&w->n[k]);
}

/* Passes until none is worth it; T is handed over. */
rewriting rewrite(sparse t);
/* T x = b by M b, pass after pass, and substitution in the last T'; x [n] is b before. */
void rewrite_solve(const rewriting *w, double *x);

#endif
