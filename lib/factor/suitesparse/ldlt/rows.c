/* rows.c: the rows of L by runs of columns, and the columns of A(P, P): what all factorisations of one pattern share. */
#include "config.h"

#include "numbers.h"
#include "base/debug.h"

#ifdef HAVE_CHOLMOD

#include <string.h>

/* Do column j and the one before it have the same rows below j? */
static bool continues(const trs_symbolic *d, int64_t j)
{
    const int64_t *ptr = d->ptr, p = ptr[j - 1] + 1;
    return p < ptr[j] && d->idx[p] == j && ptr[j] - ptr[j - 1] == ptr[j + 1] - ptr[j] + 1;
}

/* Add column j to row k, whose last run is at `at`, or else begins at `next`.  Returns whether that is a new run. */
static bool add(const trs_ldlt_rows *r, int64_t *next, int32_t *last, int32_t k, int32_t j,
                bool joins)
{
    const bool grows = joins && last[k] == j - 1;
    last[k] = j;
    if (!r->run) next[k] += !grows;
    else if (grows) r->length[next[k] - 1]++;
    else r->run[next[k]] = j, r->length[next[k]++] = 1;
    return !grows;
}

/* The runs of all rows: counted in next [n] if r->run is NULL, else stored from next on.  The first column of a pair is no
 * column of its second row, whose entry there is a number of D.  last [n] is scratch. */
static int64_t list_runs(const trs_ldlt_rows *r, int64_t *next, int32_t *last)
{
    const trs_symbolic *d = r->d;
    const int32_t n = (int32_t)d->L->n;
    int64_t count = 0;
    for (int32_t k = 0; k < n; k++) last[k] = -2;
    for (int32_t j = 0; j < n; j++) {
        const bool joins = j > 0 && continues(d, j);
        for (int64_t p = d->ptr[j] + 1; p < d->ptr[j + 1]; p++) {
            const int32_t k = d->idx[p];
            if (r->second && k == j + 1 && r->second[k]) continue;
            count += add(r, next, last, k, j, joins);
        }
    }
    return count;
}

static int make_runs(trs_lu *lu, trs_ldlt_rows *r)
{
    const int64_t n = (int64_t)r->d->L->n;
    const char *const what = "the rows of a factor";
    int64_t *next = trs_lu_alloc(lu, n, sizeof *next, what);
    int32_t *last = trs_lu_alloc(lu, n, sizeof *last, what);
    r->run_ptr = trs_lu_alloc(lu, n + 1, sizeof *r->run_ptr, what);
    int rc = next && last && r->run_ptr ? TRS_OK : TRS_EMEM;
    if (!rc) {
        memset(next, 0, (size_t)n * sizeof *next);
        const int64_t count = list_runs(r, next, last);
        r->run_ptr[0] = 0;
        for (int64_t k = 0; k < n; k++) r->run_ptr[k + 1] = r->run_ptr[k] + next[k];
        TRS_ASSERT(r->run_ptr[n] == count);
        memcpy(next, r->run_ptr, (size_t)n * sizeof *next);
        r->run = trs_lu_alloc(lu, count, sizeof *r->run, what);
        r->length = trs_lu_alloc(lu, count, sizeof *r->length, what);
        if (!r->run || !r->length) rc = TRS_EMEM;
    }
    if (!rc) list_runs(r, next, last);
    trs_lu_free(lu, next, last);
    return rc;
}

/* The entries of column P(k) of A whose rows are P(0 .. k). */
static void list_a(const trs_csc *A, const int32_t *place, trs_ldlt_rows *r)
{
    const int64_t *P = r->d->L->Perm;
    int64_t count = 0;
    for (int64_t k = 0; k < A->n; k++) {
        r->a_ptr[k] = count;
        for (int64_t p = A->p[P[k]]; p < A->p[P[k] + 1]; p++) {
            if (place[A->i[p]] > k) continue;
            r->a_row[count] = place[A->i[p]];
            r->a_src[count++] = p;
        }
    }
    r->a_ptr[A->n] = count;
}

static void find_dense(const trs_ldlt_rows *r)
{
    const trs_symbolic *d = r->d;
    for (int64_t j = 0; j < (int64_t)d->L->n; j++) {
        int64_t p = d->ptr[j + 1] - 1;
        while (p > d->ptr[j] + 1 && d->idx[p - 1] == d->idx[p] - 1) p--;
        r->dense[j] = p;
    }
}

/* place [n]: P(place(i)) = i */
static void find_places(const trs_ldlt_rows *r, int64_t n, int32_t *place)
{
    const int64_t *P = r->d->L->Perm;
    for (int64_t k = 0; k < n; k++) place[P[k]] = (int32_t)k;
    for (int64_t k = 0; k < n && r->second; k++) {
        r->second[k] = k > 0 && r->mate[P[k]] == P[k - 1];
        TRS_ASSERT(!r->second[k] || continues(r->d, k));
    }
}

/* ---- shares ------------------------------------------------------------------------------------------ */

/* No share has more than this part of all flops, so that threads find enough of them. */
enum { PART = 64 };

typedef struct trees { /* subtrees of the elimination tree */
    const trs_symbolic *d;
    double *flops;  /* [n] of the subtree of each column */
    int64_t *first; /* [n] its smallest column */
    int32_t *size;  /* [n] its columns; then as choose_roots says */
    double all;     /* flops */
} trees;

/* Is the subtree of column j small enough, and are its columns consecutive? */
static bool fits(const trees *t, int64_t j)
{
    return PART * t->flops[j] <= t->all && j - t->first[j] + 1 == t->size[j];
}

static int64_t parent_of(const trs_symbolic *d, int64_t j)
{
    return d->ptr[j] + 1 < d->ptr[j + 1] ? d->idx[d->ptr[j] + 1] : -1;
}

static void find_trees(trees *t, int64_t n)
{
    for (int64_t j = 0; j < n; j++) t->flops[j] = 0, t->first[j] = j, t->size[j] = 1;
    for (int64_t j = 0; j < n; j++) {
        const int64_t parent = parent_of(t->d, j);
        const double count = (double)(t->d->ptr[j + 1] - t->d->ptr[j]);
        t->flops[j] += count * count;
        t->all += count * count;
        if (parent < 0) continue;
        t->flops[parent] += t->flops[j];
        t->first[parent] = trs_min(t->first[parent], t->first[j]);
        t->size[parent] += t->size[j];
    }
}

/* Set size [j] = 1 where the subtree of column j fits, and no larger one that has column j does; 0 elsewhere.  Subtrees are nested
 * or have no column in common, in any order of the columns. */
static void choose_roots(const trees *t, int64_t n)
{
    int64_t low = n; /* the first column of the last subtree that was taken */
    for (int64_t j = n - 1; j >= 0; j--) {
        const bool taken = j < low && fits(t, j);
        if (taken) low = t->first[j];
        t->size[j] = taken;
    }
}

/* These subtrees, if there is enough to do; neighbours are joined as long as they fit together. */
static void find_shares(trs_ldlt_rows *r, const trees *t, int64_t n)
{
    double flops = 0;
    int64_t end = -1; /* of the last share */
    if (t->all < TRS_SHARED_FROM) return;
    choose_roots(t, n);
    for (int64_t j = 0; j < n; j++) {
        if (!t->size[j]) continue;
        TRS_ASSERT(t->first[j] >= end);
        if (end != t->first[j] || PART * (flops + t->flops[j]) > t->all) {
            r->share[2 * r->shares++] = (int32_t)t->first[j];
            flops = 0;
        }
        flops += t->flops[j];
        end = j + 1;
        r->share[2 * r->shares - 1] = (int32_t)end;
    }
}

static int make_shares(trs_lu *lu, trs_ldlt_rows *r)
{
    const int64_t n = (int64_t)r->d->L->n;
    trees t = {.d = r->d, .flops = r->work, .first = r->end};
    t.size = trs_lu_alloc(lu, n, sizeof *t.size, "the subtrees of a factor");
    r->share = trs_lu_alloc(lu, 2 * n, sizeof *r->share, "the subtrees of a factor");
    const int rc = t.size && r->share ? TRS_OK : TRS_EMEM;
    r->shares = 0;
    if (!rc) {
        find_trees(&t, n);
        find_shares(r, &t, n);
    }
    trs_lu_free(lu, t.size);
    return rc;
}

/* ---- all of it --------------------------------------------------------------------------------------- */

int trs_ldlt_rows_make(trs_lu *lu, const trs_csc *A, trs_ldlt_rows *r)
{
    const int64_t n = A->n, half = A->nnz / 2 + n; /* A is symmetric */
    const char *const what = "the rows of a factor";
    int32_t *place = trs_lu_alloc(lu, n, sizeof *place, what);
    if (r->mate) r->second = trs_lu_alloc(lu, n, sizeof *r->second, what);
    r->a_ptr = trs_lu_alloc(lu, n + 1, sizeof *r->a_ptr, what);
    r->a_row = trs_lu_alloc(lu, half, sizeof *r->a_row, what);
    r->a_src = trs_lu_alloc(lu, half, sizeof *r->a_src, what);
    r->dense = trs_lu_alloc(lu, n, sizeof *r->dense, what);
    r->work = trs_lu_alloc(lu, 5 * n, sizeof *r->work, what);
    r->end = trs_lu_alloc(lu, n, sizeof *r->end, what);
    const bool lists = r->a_ptr && r->a_row && r->a_src && r->dense && (!r->mate || r->second);
    int rc = place && lists && r->work && r->end ? TRS_OK : TRS_EMEM;
    if (!rc) {
        find_places(r, n, place);
        list_a(A, place, r);
        find_dense(r);
        rc = make_runs(lu, r);
        if (!rc) rc = make_shares(lu, r);
    }
    trs_lu_free(lu, place);
    return rc;
}

void trs_ldlt_rows_free(trs_lu *lu, trs_ldlt_rows *r)
{
    trs_lu_free(lu, r->run_ptr, r->run, r->length, r->a_ptr, r->a_row, r->a_src, r->dense,
                r->second, r->share, r->work, r->end);
    r->run_ptr = r->a_ptr = r->a_src = r->dense = NULL;
    r->run = r->length = r->a_row = r->share = NULL;
    r->second = NULL;
    r->work = NULL, r->end = NULL;
    r->shares = 0;
}

#endif
