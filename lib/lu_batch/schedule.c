/* schedule.c: the lists of a batch on a device.
 *
 * The items are found in an order in which each needs earlier ones only, with their lists and levels.  Then they are sorted by
 * level, and by the length of their lists within a level, and cut into tasks, which are dealt out to warps. */
#include "config.h"

#include "schedule.h"

#include <stdlib.h>
#include <string.h>

enum { QUAD = TRS_LU_BATCH_QUAD, WARP = TRS_LU_BATCH_WARP };

typedef struct found { /* items in the order in which they were found */
    int64_t items, pairs;
    int32_t *level, *by; /* [items] */
    int64_t *begin;      /* [items+1] */
    int32_t *pair;       /* [2*pairs] */
} found;

void trs_lu_batch_list_free(trs_context *ctx, trs_lu_batch_list *l)
{
    trs_free_all(&ctx->mem, l->stream, l->task, l->item, l->by, l->pair, l->pivot);
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

static void level_entries(const trs_lu_batch_rows *r, bool late, found *f)
{
    for (int32_t i = 0; i < r->n; i++)
        for (int64_t p = r->ptr[i]; p < r->ptr[i + 1]; p++) {
            int32_t level = 0;
            f->by[p] = p <= r->diag[i] ? (int32_t)r->diag[r->idx[p]] : -1;
            if (p < r->diag[i] && !late) level = above(level, f->level[f->by[p]]);
            for (int64_t q = f->begin[p]; q < f->begin[p + 1]; q++) {
                const int32_t l = f->pair[2 * q], u = f->pair[2 * q + 1];
                level = above(above(level, f->level[l]), f->level[u]);
                if (late) level = above(level, f->level[f->by[l]]);
            }
            f->level[p] = level;
        }
}

static int find_products(trs_context *ctx, const trs_lu_batch_rows *r, bool late, found *f)
{
    int32_t *where = trs_alloc_zero(&ctx->mem, r->n, sizeof *where);
    int rc = where ? found_new(ctx, r->nnz, f) : TRS_EMEM;
    if (!rc) {
        visit_products(r, where, false, f);
        rc = pairs_new(ctx, f);
    }
    if (!rc) {
        visit_products(r, where, true, f);
        level_entries(r, late, f);
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

/* The fewest lanes of an item with which each has that number of quads at most; all of a warp if more are needed. */
static int log_lanes(int32_t length, int quads)
{
    int log = 0;
    while (log < 5 && length > quads * QUAD << log) log++;
    return log;
}

/* Items first .. of those before end that have as many lanes as the first and fit a warp. */
static int32_t task_size(const key *k, int32_t first, int32_t end, int quads)
{
    const int log = log_lanes(k[first].length, quads);
    int32_t size = 1;
    while (first + size < end && size < WARP >> log &&
           log_lanes(k[first + size].length, quads) == log)
        size++;
    return size;
}

/* One at least, so that a warp has nothing to ask. */
static int64_t rounds_of(int32_t length, int log)
{
    return length > 0 ? (length + (QUAD << log) - 1) / (QUAD << log) : 1;
}

/* Cycles of a task, of each round of quads, and of each time that the lanes of an item add up their sums (H200). */
enum { TASK = 400, ROUND = 120, ADD = 35, MOST_QUADS = 16 };

/* Cycles that the warps take for the items first .. end - 1, which have one level. */
static int64_t cycles(const key *k, int32_t first, int32_t end, int quads, int warps)
{
    int64_t all = 0, longest = 0;
    for (int32_t m = first; m < end; m += task_size(k, m, end, quads)) {
        const int log = log_lanes(k[m].length, quads);
        const int64_t one = TASK + ROUND * rounds_of(k[m].length, log) + ADD * log;
        all += one;
        if (one > longest) longest = one;
    }
    return all / warps > longest ? all / warps : longest;
}

/* How many quads a lane should have, so that the items of a level take the least time: with more lanes an item is done sooner,
 * with fewer all together take less work. */
static int choose_quads(const key *k, int32_t first, int32_t end, int warps)
{
    int best = 1;
    int64_t least = cycles(k, first, end, 1, warps);
    for (int quads = 2; quads <= MOST_QUADS; quads *= 2) {
        const int64_t now = cycles(k, first, end, quads, warps);
        if (now < least) best = quads, least = now;
    }
    return best;
}

/* A task before the warps have theirs. */
typedef struct dealt {
    trs_lu_batch_task task; /* waits is not known yet */
    int32_t level, step, warp;
} dealt;

/* Cuts the items of a level into tasks. */
static void cut_level(const key *k, int32_t first, int32_t end, dealt *d, trs_lu_batch_list *l)
{
    const int quads = choose_quads(k, first, end, l->warps);
    for (int32_t m = first, size; m < end; m += size) {
        const int log = log_lanes(k[m].length, quads);
        const int64_t rounds = rounds_of(k[m].length, log);
        size = task_size(k, m, end, quads);
        const uint32_t packed = (uint32_t)(rounds << 9) | (uint32_t)(size << 3) | (uint32_t)log;
        d[l->tasks++] = (dealt){.task = {m, (int32_t)l->quads, 0, packed}, .level = l->levels};
        l->quads += rounds * (size << log);
    }
    l->levels++;
}

/* l->tasks, l->levels and l->quads. */
static int cut(const key *k, dealt *d, trs_lu_batch_list *l)
{
    for (int32_t first = 0, end; first < l->items; first = end) {
        end = first + 1;
        while (end < l->items && k[end].level == k[first].level) end++;
        cut_level(k, first, end, d, l);
        if (l->quads > INT32_MAX / (2 * QUAD))
            return trs_fail(TRS_ESUPPORT, "batch: too many products");
    }
    return TRS_OK;
}

/* Tasks from t on that have one level. */
static int32_t level_size(const trs_lu_batch_list *l, const dealt *d, int32_t t)
{
    int32_t size = 1;
    while (t + size < l->tasks && d[t + size].level == d[t].level) size++;
    return size;
}

/* The step and the warp of each task. */
static void assign(trs_lu_batch_list *l, dealt *d)
{
    bool alone = false; /* the last level had one task */
    for (int32_t t = 0, size; t < l->tasks; t += size) {
        size = level_size(l, d, t);
        if (!alone || size > 1) l->steps++;
        alone = size == 1;
        for (int32_t s = 0; s < size; s++) {
            d[t + s].step = l->steps - 1;
            d[t + s].warp = s % l->warps;
        }
    }
}

/* The tasks by their warps.  stream [w+2] counts those of warp w: let stream [w+1] be where they begin, which then moves on
 * with each of them. */
static void deal(const dealt *d, int32_t *step, trs_lu_batch_list *l)
{
    memset(l->stream, 0, ((size_t)l->warps + 2) * sizeof *l->stream);
    memset(step, 0, (size_t)l->warps * sizeof *step);
    for (int32_t t = 0; t < l->tasks; t++) l->stream[d[t].warp + 2]++;
    for (int32_t w = 0; w < l->warps; w++) l->stream[w + 2] += l->stream[w + 1];
    for (int32_t t = 0; t < l->tasks; t++) {
        trs_lu_batch_task *to = &l->task[l->stream[d[t].warp + 1]++];
        *to = d[t].task;
        to->waits = d[t].step - step[d[t].warp];
        step[d[t].warp] = d[t].step;
    }
}

/* The pairs of item m of a task: its lane k of a round has the quad k in them. */
static void copy_pairs(const found *f, const key *k, const trs_lu_batch_task *t, int32_t m,
                       trs_lu_batch_list *l)
{
    const int64_t lanes = trs_lu_batch_lanes(t), active = trs_lu_batch_items(t) * lanes;
    for (int64_t p = 0; p < k[t->first + m].length; p++) {
        const int64_t quad = p / QUAD, lane = m * lanes + quad % lanes;
        const int64_t to = (t->quad + quad / lanes * active + lane) * QUAD + p % QUAD;
        const int32_t *from = f->pair + 2 * (f->begin[k[t->first + m].item] + p);
        l->pair[2 * to] = from[0], l->pair[2 * to + 1] = from[1];
        if (l->pivot) l->pivot[to] = f->by[from[0]];
    }
}

static void copy_items(const found *f, const key *k, trs_lu_batch_list *l)
{
    memset(l->pair, 0xff, 2 * QUAD * (size_t)l->quads * sizeof *l->pair);
    if (l->pivot) memset(l->pivot, 0xff, QUAD * (size_t)l->quads * sizeof *l->pivot);
    for (int32_t m = 0; m < l->items; m++) {
        l->item[m] = k[m].item;
        l->by[m] = f->by[k[m].item];
    }
    for (int32_t t = 0; t < l->tasks; t++)
        for (int32_t m = 0; m < trs_lu_batch_items(&l->task[t]); m++)
            copy_pairs(f, k, &l->task[t], m, l);
}

static int arrays_new(trs_context *ctx, bool late, trs_lu_batch_list *l)
{
    l->stream = trs_new(ctx, l->warps + 2, sizeof *l->stream, "a schedule");
    l->task = trs_new(ctx, l->tasks, sizeof *l->task, "a schedule");
    l->item = trs_new(ctx, l->items, sizeof *l->item, "a schedule");
    l->by = trs_new(ctx, l->items, sizeof *l->by, "a schedule");
    l->pair = trs_new(ctx, 2 * QUAD * l->quads, sizeof *l->pair, "a schedule");
    if (late) l->pivot = trs_new(ctx, QUAD * l->quads, sizeof *l->pivot, "a schedule");
    const bool all = l->stream && l->task && l->item && l->by && l->pair;
    return all && (l->pivot || !late) ? TRS_OK : TRS_EMEM;
}

static int sort(trs_context *ctx, const found *f, bool late, trs_lu_batch_list *l)
{
    key *k = trs_new(ctx, f->items, sizeof *k, "the order of a schedule");
    dealt *d = trs_new(ctx, f->items, sizeof *d, "tasks"); /* no task is without an item */
    int32_t *step = trs_new(ctx, l->warps, sizeof *step, "steps");
    int rc = k && d && step ? TRS_OK : TRS_EMEM;
    l->items = (int32_t)f->items;
    for (int32_t m = 0; m < l->items && !rc; m++)
        k[m] = (key){f->level[m], (int32_t)(f->begin[m + 1] - f->begin[m]), m};
    if (!rc) {
        qsort(k, (size_t)f->items, sizeof *k, compare);
        rc = cut(k, d, l);
    }
    if (!rc) rc = arrays_new(ctx, late, l);
    if (!rc) {
        assign(l, d);
        deal(d, step, l);
        copy_items(f, k, l);
    }
    trs_free_all(&ctx->mem, k, d, step);
    return rc;
}

int trs_lu_batch_list_make(trs_context *ctx, const trs_lu_batch_rows *r, int which, int warps,
                           bool late, trs_lu_batch_list *l)
{
    static const triangle of[] = {[TRS_LU_BATCH_LOWER] = {true, false},
                                  [TRS_LU_BATCH_UPPER] = {false, false},
                                  [TRS_LU_BATCH_UPPER_T] = {false, true},
                                  [TRS_LU_BATCH_LOWER_T] = {true, true}};
    found f = {0};
    int rc;
    *l = (trs_lu_batch_list){.warps = warps};
    if (r->nnz > INT32_MAX - 1) return trs_fail(TRS_ESUPPORT, "batch: too many entries");
    const bool elimination = which == TRS_LU_BATCH_ELIMINATION;
    if (elimination) rc = find_products(ctx, r, late, &f);
    else rc = find_rows(ctx, r, of[which], &f);
    if (!rc) rc = sort(ctx, &f, elimination && late, l);
    found_free(ctx, &f);
    return rc;
}
