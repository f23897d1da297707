/* schedule.c: the lists of a batch on a device.
 *
 * The items are found in an order in which each needs earlier ones only, with their lists and levels.  Then they are sorted by
 * level, and by the length of their lists within a level, and dealt out to warps. */
#include "config.h"

#include "schedule.h"
#include "base/debug.h"

#include <stdlib.h>
#include <string.h>

/* Pairs that a lane sums one after the other, if there are enough lanes. */
enum { PAIRS_A_LANE = 4, WARP = 32 };

typedef struct found { /* items in the order in which they were found */
    int64_t items, pairs;
    int32_t *level, *by; /* [items] */
    int64_t *begin;      /* [items+1] */
    int32_t *pair;       /* [2*pairs] */
} found;

void trs_lu_batch_list_free(trs_context *ctx, trs_lu_batch_list *l)
{
    trs_free_all(&ctx->mem, l->level, l->task, l->item, l->by, l->begin, l->pair);
    memset(l, 0, sizeof *l);
}

static void found_free(trs_context *ctx, found *f)
{
    trs_free_all(&ctx->mem, f->level, f->by, f->begin, f->pair);
}

static int found_new(trs_context *ctx, int64_t items, found *f)
{
    f->items = items;
    f->level = trs_new(ctx, items, sizeof *f->level, "levels");
    f->by = trs_new(ctx, items, sizeof *f->by, "places of pivots");
    f->begin = trs_new(ctx, items + 2, sizeof *f->begin, "lists");
    if (!f->level || !f->by || !f->begin) return TRS_EMEM;
    memset(f->begin, 0, ((size_t)items + 2) * sizeof *f->begin);
    return TRS_OK;
}

/* begin [k+2] counts the pairs of item k: let begin [k+1] be where they begin, which then moves on with each of them. */
static int pairs_new(trs_context *ctx, found *f)
{
    for (int64_t k = 0; k < f->items; k++) f->begin[k + 2] += f->begin[k + 1];
    f->pairs = f->begin[f->items + 1];
    if (f->pairs > INT32_MAX / 2) return trs_fail(TRS_ESUPPORT, "batch: too many products");
    f->pair = trs_new(ctx, 2 * f->pairs, sizeof *f->pair, "lists");
    return f->pair ? TRS_OK : TRS_EMEM;
}

static void add_pair(found *f, int64_t item, bool place, int64_t a, int64_t b)
{
    if (!place) {
        f->begin[item + 2]++;
        return;
    }
    const int64_t q = f->begin[item + 1]++;
    f->pair[2 * q] = (int32_t)a, f->pair[2 * q + 1] = (int32_t)b;
}

/* ---- elimination ------------------------------------------------------------------------------ */

/* where [j] is 1 + the place of column j in the row, else 0. */
static void visit_products(const trs_lu_batch_rows *r, int32_t *where, bool place, found *f)
{
    for (int32_t i = 0; i < r->n; i++) {
        for (int64_t p = r->ptr[i]; p < r->ptr[i + 1]; p++) where[r->idx[p]] = (int32_t)p + 1;
        for (int64_t p = r->ptr[i]; p < r->diag[i]; p++) {
            const int32_t k = r->idx[p];
            for (int64_t q = r->diag[k] + 1; q < r->ptr[k + 1]; q++)
                if (where[r->idx[q]]) add_pair(f, where[r->idx[q]] - 1, place, p, q);
        }
        for (int64_t p = r->ptr[i]; p < r->ptr[i + 1]; p++) where[r->idx[p]] = 0;
    }
}

static int32_t above(int32_t level, int32_t other)
{
    return level > other ? level : other + 1;
}

static void level_entries(const trs_lu_batch_rows *r, found *f)
{
    for (int32_t i = 0; i < r->n; i++)
        for (int64_t p = r->ptr[i]; p < r->ptr[i + 1]; p++) {
            int32_t level = 0;
            f->by[p] = p <= r->diag[i] ? (int32_t)r->diag[r->idx[p]] : -1;
            if (p < r->diag[i]) level = above(level, f->level[f->by[p]]);
            for (int64_t q = 2 * f->begin[p]; q < 2 * f->begin[p + 1]; q++)
                level = above(level, f->level[f->pair[q]]);
            f->level[p] = level;
        }
}

static int find_products(trs_context *ctx, const trs_lu_batch_rows *r, found *f)
{
    int32_t *where = trs_alloc_zero(&ctx->mem, r->n, sizeof *where);
    int rc = where ? found_new(ctx, r->nnz, f) : TRS_EMEM;
    if (!rc) {
        visit_products(r, where, false, f);
        rc = pairs_new(ctx, f);
    }
    if (!rc) {
        visit_products(r, where, true, f);
        level_entries(r, f);
    }
    trs_free(&ctx->mem, where);
    if (!where) return trs_fail(TRS_EMEM, "out of memory for the places of a row");
    return rc;
}

/* ---- substitution ------------------------------------------------------------------------------ */

typedef struct triangle {
    bool lower, transposed;
} triangle;

static void visit_entries(const trs_lu_batch_rows *r, triangle t, bool place, found *f)
{
    for (int32_t i = 0; i < r->n; i++) {
        const int64_t begin = t.lower ? r->ptr[i] : r->diag[i] + 1;
        const int64_t end = t.lower ? r->diag[i] : r->ptr[i + 1];
        for (int64_t p = begin; p < end; p++) {
            const int32_t j = r->idx[p];
            add_pair(f, t.transposed ? j : i, place, p, t.transposed ? i : j);
        }
    }
}

static int find_rows(trs_context *ctx, const trs_lu_batch_rows *r, triangle t, found *f)
{
    const bool forward = t.lower != t.transposed;
    int rc = found_new(ctx, r->n, f);
    if (rc) return rc;
    visit_entries(r, t, false, f);
    rc = pairs_new(ctx, f);
    if (rc) return rc;
    visit_entries(r, t, true, f);
    for (int32_t k = 0; k < r->n; k++) {
        const int32_t i = forward ? k : r->n - 1 - k;
        f->by[i] = t.lower ? -1 : (int32_t)r->diag[i];
        f->level[i] = 0;
        for (int64_t q = f->begin[i]; q < f->begin[i + 1]; q++)
            f->level[i] = above(f->level[i], f->level[f->pair[2 * q + 1]]);
    }
    return TRS_OK;
}

/* ---- sorting, and tasks -------------------------------------------------------------------------- */

typedef struct key {
    int32_t level, length, item;
} key;

/* Longer lists come first. */
static int compare(const void *a, const void *b)
{
    const key *s = a, *t = b;
    if (s->level != t->level) return s->level < t->level ? -1 : 1;
    if (s->length != t->length) return s->length > t->length ? -1 : 1;
    return s->item < t->item ? -1 : 1;
}

static int log_lanes(int32_t length)
{
    int log = 0;
    while (log < 5 && length > PAIRS_A_LANE << log) log++;
    return log;
}

/* Items first .. of one level that have as many lanes as the first and fit a warp. */
static int32_t task_size(const key *k, int32_t items, int32_t first)
{
    const int log = log_lanes(k[first].length);
    int32_t size = 1;
    while (first + size < items && size < WARP >> log && k[first + size].level == k[first].level &&
           log_lanes(k[first + size].length) == log)
        size++;
    return size;
}

/* Allocates nothing: there is a task for each item at most. */
static void deal(const key *k, trs_lu_batch_list *l)
{
    l->levels = l->tasks = 0;
    for (int32_t first = 0, size; first < l->items; first += size) {
        size = task_size(k, l->items, first);
        if (first == 0 || k[first].level != k[first - 1].level) l->level[l->levels++] = l->tasks;
        l->task[2 * l->tasks] = first;
        l->task[2 * l->tasks + 1] = size << 8 | log_lanes(k[first].length);
        l->tasks++;
    }
    l->level[l->levels] = l->tasks;
}

static void copy_lists(const found *f, const key *k, trs_lu_batch_list *l)
{
    int32_t q = 0;
    for (int32_t m = 0; m < l->items; m++) {
        const int32_t item = k[m].item;
        l->item[m] = item;
        l->by[m] = f->by[item];
        l->begin[m] = q;
        memcpy(l->pair + 2 * (int64_t)q, f->pair + 2 * f->begin[item],
               2 * (size_t)k[m].length * sizeof *l->pair);
        q += k[m].length;
    }
    l->begin[l->items] = q;
    TRS_ASSERT(q == f->pairs);
}

static int sort(trs_context *ctx, const found *f, trs_lu_batch_list *l)
{
    key *k = trs_new(ctx, f->items, sizeof *k, "the order of a schedule");
    l->items = (int32_t)f->items, l->pairs = f->pairs;
    l->level = trs_new(ctx, f->items + 1, sizeof *l->level, "a schedule");
    l->task = trs_new(ctx, 2 * f->items, sizeof *l->task, "a schedule");
    l->item = trs_new(ctx, f->items, sizeof *l->item, "a schedule");
    l->by = trs_new(ctx, f->items, sizeof *l->by, "a schedule");
    l->begin = trs_new(ctx, f->items + 1, sizeof *l->begin, "a schedule");
    l->pair = trs_new(ctx, 2 * f->pairs, sizeof *l->pair, "a schedule");
    const bool good = k && l->level && l->task && l->item && l->by && l->begin && l->pair;
    for (int32_t m = 0; m < l->items && good; m++)
        k[m] = (key){f->level[m], (int32_t)(f->begin[m + 1] - f->begin[m]), m};
    if (good) {
        qsort(k, (size_t)f->items, sizeof *k, compare);
        copy_lists(f, k, l);
        deal(k, l);
    }
    trs_free(&ctx->mem, k);
    return good ? TRS_OK : TRS_EMEM;
}

int trs_lu_batch_list_make(trs_context *ctx, const trs_lu_batch_rows *r, int which,
                           trs_lu_batch_list *l)
{
    static const triangle of[] = {[TRS_LU_BATCH_LOWER] = {true, false},
                                  [TRS_LU_BATCH_UPPER] = {false, false},
                                  [TRS_LU_BATCH_UPPER_T] = {false, true},
                                  [TRS_LU_BATCH_LOWER_T] = {true, true}};
    found f = {0};
    int rc;
    memset(l, 0, sizeof *l);
    if (r->nnz > INT32_MAX - 1) return trs_fail(TRS_ESUPPORT, "batch: too many entries");
    if (which == TRS_LU_BATCH_ELIMINATION) rc = find_products(ctx, r, &f);
    else rc = find_rows(ctx, r, of[which], &f);
    if (!rc) rc = sort(ctx, &f, l);
    found_free(ctx, &f);
    return rc;
}
