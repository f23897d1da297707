/* rewrite.c: level rewriting on the host, one row after the other.
 *
 * It makes the same T' and N as the device, entry for entry and bit for bit, from the rules of merge.h alone: which
 * levels are merged, in which order the terms of a row are taken, and how their sums are rounded.  Short rows take the
 * terms of a substituted row where its entry stands, and round each product before it is added.  Long rows take their
 * own entries first, and add a product with one rounding (fma).  Of a large triangle the device looks at a sample of
 * rows first, which is not done here. */
#include "rewrite.h"

#include <math.h>

typedef struct row_maker {
    const sparse *t;
    int64_t *place; /* [n] of each column in the row of T' that is made; -1 before and after */
    sparse to, n;   /* what has been made; n is -N */
    bool is_long;
} row_maker;

static void add_term(row_maker *w, int32_t column, double factor, double v)
{
    volatile const double product =
        factor * v; /* rounded, whatever the compiler would like to fuse */
    if (w->place[column] < 0) {
        w->place[column] = w->to.nnz;
        sparse_push(&w->to, column, product);
    } else {
        double *sum = &w->to.val[w->place[column]];
        *sum = w->is_long ? fma(factor, v, *sum) : *sum + product;
    }
}

static void substitute(row_maker *w, int32_t j, double entry)
{
    const int64_t last = w->t->ptr[j + 1] - 1;
    const double factor = 0 - entry / w->t->val[last];
    sparse_push(&w->n, j, factor);
    for (int64_t q = w->t->ptr[j]; q < last; q++) add_term(w, w->t->idx[q], factor, w->t->val[q]);
}

/* To the end of w->to and w->n: row i, the rows of one level substituted into it; level -1: none. */
static void make_row(row_maker *w, int32_t i, int32_t level)
{
    const sparse *t = w->t;
    const int64_t begin = w->to.nnz, last = t->ptr[i + 1] - 1;
    for (int round = 0; round <= w->is_long; round++)
        for (int64_t p = t->ptr[i]; p < last; p++) {
            const bool is_substituted = t->level[t->idx[p]] == level;
            if (is_substituted && round == w->is_long) substitute(w, t->idx[p], t->val[p]);
            if (!is_substituted && round == 0) add_term(w, t->idx[p], 1, t->val[p]);
        }
    for (int64_t q = begin; q < w->to.nnz; q++) w->place[w->to.idx[q]] = -1;
    sparse_push(&w->to, i, t->val[last]);
}

/* w->is_long, and the terms of row i; MERGE_NONE: it cannot be rewritten. */
static int64_t measure(row_maker *w, int32_t i)
{
    const sparse *t = w->t;
    const int64_t length = t->ptr[i + 1] - 1 - t->ptr[i];
    int64_t rows = 0, terms = length; /* the entries that are eliminated, too, as for a long row */
    for (int64_t p = t->ptr[i]; p < t->ptr[i + 1] - 1; p++) {
        const int32_t j = t->idx[p];
        if (t->level[j] != t->level[i] - 1) continue;
        rows++;
        terms += t->ptr[j + 1] - 1 - t->ptr[j];
    }
    w->is_long =
        length > MERGE_SHORT_TERMS || rows > MERGE_SHORT_ROWS || terms - rows > MERGE_SHORT_TERMS;
    if (length >= MERGE_LONG_TERMS || rows > MERGE_LONG_ROWS) return MERGE_NONE;
    return terms > MERGE_LONG_TERMS ? MERGE_NONE : terms;
}

/* What each level of T would add, were it merged. */
static void survey(row_maker *w, merge_level *level)
{
    for (int32_t i = 0; i < w->t->n; i++) {
        const int32_t l = w->t->level[i];
        const int64_t terms = measure(w, i), length = w->t->ptr[i + 1] - w->t->ptr[i];
        level[l].fixed |= terms == MERGE_NONE;
        if (terms == MERGE_NONE || l == 0) continue;
        w->to.nnz = w->n.nnz = 0;
        make_row(w, i, l - 1);
        level[l].fill += (w->to.nnz + w->n.nnz - length) * (w->is_long ? MERGE_LONG_WEIGHT : 1);
        level[l].long_terms += w->is_long ? terms : 0;
    }
}

/* Levels left when those of a parity are merged that are worth it, and number [levels], of each in T'; 0: the pass is
 * not worth it. */
static int32_t decide(const sparse *t, const merge_level *level, int odd, int64_t most,
                      int32_t *number)
{
    double gain = 0;
    int64_t entries = t->nnz;
    int32_t left = 0;
    for (int32_t l = 0; l < t->levels; l++) {
        const double saved = 1 - (double)level[l].fill / MERGE_LATENCY_ENTRIES;
        const bool fixed = level[l].fixed || level[l].long_terms > MERGE_LEVEL_LONG_TERMS;
        const bool merged = l > 0 && l % 2 == odd && !fixed && saved >= 0;
        gain += merged ? saved : 0;
        entries += merged ? level[l].fill + level[l].long_terms / 3 : 0;
        left += !merged;
        number[l] = left - 1;
    }
    return gain >= merge_product_latencies(t->n) + 0.05 * t->levels && entries <= most ? left : 0;
}

/* w->to and w->n; returns the largest sum of magnitudes of a row of N. */
static double make_rows(row_maker *w, const int32_t *number)
{
    double largest = 0;
    w->to.nnz = w->n.nnz = 0;
    for (int32_t i = 0; i < w->t->n; i++) {
        const int32_t l = w->t->level[i];
        double sum = 0;
        measure(w, i);
        make_row(w, i, l > 0 && number[l] == number[l - 1] ? l - 1 : -1);
        for (int64_t q = w->n.ptr[i]; q < w->n.nnz; q++) sum += fabs(w->n.val[q]);
        largest = larger(largest, sum);
        w->to.ptr[i + 1] = w->to.nnz;
        w->n.ptr[i + 1] = w->n.nnz;
        w->to.level[i] = number[l];
    }
    return largest;
}

/* One pass, if it is worth it. */
static bool rewrite_once(rewriting *all, int *odd, int64_t *most)
{
    const sparse *t = &all->t[all->passes];
    row_maker w = {t, malloc(((size_t)t->n + 1) * 8), sparse_new(t->n), sparse_new(t->n), false};
    merge_level *level = calloc((size_t)t->levels + 1, sizeof *level);
    int32_t *number = calloc((size_t)t->levels + 1, sizeof *number);
    assert_true(w.place && level && number);
    for (int32_t j = 0; j < t->n; j++) w.place[j] = -1;
    survey(&w, level);
    for (int k = 0; k < 2 && !w.to.levels; k++) {
        *odd = k ? !*odd : *odd;
        w.to.levels = decide(t, level, *odd, *most, number);
    }
    if (w.to.levels) all->largest[all->passes] = make_rows(&w, number);
    all->t[all->passes + 1] = w.to;
    all->n[all->passes] = w.n;
    *most -= w.to.nnz + w.n.nnz;
    free(w.place), free(level), free(number);
    return w.to.levels > 0;
}

rewriting rewrite(sparse t)
{
    rewriting w = {.t = {t}};
    int64_t most = MERGE_TIMES * t.nnz + MERGE_FEW;
    for (int odd = 1; w.passes < MERGE_PASSES && rewrite_once(&w, &odd, &most); odd = !odd)
        w.passes++;
    return w;
}

void rewrite_solve(const rewriting *w, double *x)
{
    for (int k = 0; k < w->passes;
         k++) /* in place: rows of N need rows that have no entries of N */
        for (int32_t i = 0; i < w->n[k].n; i++)
            for (int64_t p = w->n[k].ptr[i]; p < w->n[k].ptr[i + 1]; p++)
                x[i] += w->n[k].val[p] * x[w->n[k].idx[p]];
    const sparse *t = &w->t[w->passes];
    for (int32_t i = 0; i < t->n; i++) {
        int64_t p = t->ptr[i];
        for (; p < t->ptr[i + 1] - 1; p++) x[i] -= t->val[p] * x[t->idx[p]];
        x[i] /= t->val[p];
    }
}
