/* tasks.c: the order of supernodes, and the list of tasks.
 *
 * Tasks go level by level.  Those of level l need nothing but x of earlier levels, or what tasks of level l before
 * them publish:
 *
 *     partial sums and partial right-hand sides that a supernode of level l waits for
 *     large supernodes of level l
 *     partial sums that could be computed on this level, for supernodes of later ones
 *     batches of small supernodes of level l
 *
 * What the critical path waits for comes first within a level. */
#include "config.h"

#include "steps.h"

#include "base/debug.h"
#include "base/parallel.h"

/* ---- the order of supernodes --------------------------------------------------------------------------- */

/* Stable counting sort: place [k] of each key [k] < keys. */
static int sort_keys(trs_context *ctx, const int32_t *key, int32_t count, int32_t keys,
                     int32_t *place)
{
    int32_t *start = trs_alloc_zero(&ctx->mem, (int64_t)keys + 1, sizeof *start);
    if (!start) return trs_fail(TRS_EMEM, "out of memory for the order of supernodes");
    for (int32_t k = 0; k < count; k++) start[key[k] + 1]++;
    for (int32_t k = 0; k < keys; k++) start[k + 1] += start[k];
    for (int32_t k = 0; k < count; k++) place[k] = start[key[k]]++;
    trs_free(&ctx->mem, start);
    return TRS_OK;
}

/* By level, large ones first. */
int trs_place_supernodes(trs_build *b, trs_supernodes *s)
{
    int32_t *key = trs_new(b->ctx, b->count, sizeof *key, "the order of supernodes");
    if (!key) return TRS_EMEM;
    for (int32_t t = 0; t < b->count; t++) {
        key[t] = 2 * b->level[t] + !trs_is_large(&b->supernode[t]);
        if (b->level[t] + 1 > s->depth) s->depth = b->level[t] + 1;
    }
    const int rc = sort_keys(b->ctx, key, b->count, 2 * s->depth, b->place);
    trs_free(&b->ctx->mem, key);
    return rc;
}

static void order_some(void *user, int64_t begin, int64_t end)
{
    const trs_build *b = user;
    for (int64_t t = begin; t < end; t++) {
        b->ordered[b->place[t]] = b->supernode[t];
        b->ordered_level[b->place[t]] = b->level[t];
    }
}

/* ---- the order of partial sums -------------------------------------------------------------------------- */

/* The first level on which a task of early panels alone could be computed. */
static int32_t level_of(const trs_panel *panel, const trs_task *task)
{
    return task->panels ? panel[task->panel + task->panels - 1].level + 1 : 0;
}

/* By that level, those first whose supernode is of the same level. */
static int order_partials(const trs_build *b, const trs_supernodes *s, trs_task *ordered)
{
    const int32_t count = s->partials;
    int32_t *key = trs_new(b->ctx, count, sizeof *key, "the order of partial sums");
    int32_t *place = trs_new(b->ctx, count, sizeof *place, "the order of partial sums");
    int rc = key && place ? TRS_OK : TRS_EMEM;
    for (int32_t k = 0; k < count && !rc; k++) {
        const int32_t level = level_of(b->panel, &b->partial[k]);
        const int32_t needed = b->level[b->partial[k].supernode];
        TRS_ASSERT(level <= needed);
        key[k] = 2 * level + (needed > level);
    }
    if (!rc) rc = sort_keys(b->ctx, key, count, 2 * s->depth, place);
    for (int32_t k = 0; k < count && !rc; k++) {
        ordered[place[k]] = b->partial[k];
        ordered[place[k]].supernode = b->place[b->partial[k].supernode];
    }
    trs_free(&b->ctx->mem, key);
    trs_free(&b->ctx->mem, place);
    return rc;
}

/* ---- tasks ------------------------------------------------------------------------------------------------ */

static void add_task(trs_supernodes *s, trs_task t)
{
    if (t.panels) {
        const trs_panel *first = &s->panel[t.panel], *last = &s->panel[t.panel + t.panels - 1];
        TRS_ASSERT(t.panels <= TRS_TASK_PANELS);
        t.column = first->column;
        t.columns = last->column + last->columns - first->column;
    }
    s->task[s->tasks++] = t;
}

/* A task for each slice of its supernode. */
static void add_slices(trs_supernodes *s, trs_task t)
{
    for (t.slice = 0; t.slice < s->supernode[t.supernode].slices; t.slice++) add_task(s, t);
}

static void add_large(trs_supernodes *s, int32_t t)
{
    const trs_supernode *k = &s->supernode[t];
    const trs_task_kind kind = trs_in_chain(k) ? TRS_TASK_CHAIN : TRS_TASK_LARGE;
    add_slices(s, (trs_task){kind, t, 1, k->panel, k->panels, {0}, 0, 0});
}

static void add_partial(trs_supernodes *s, const trs_task *task)
{
    if (task->kind == TRS_TASK_PARTIAL_RHS) add_slices(s, *task);
    else add_task(s, *task);
}

/* Is it too much for a warp?  Then the warps of a thread block share its columns. */
static bool fills_batch(const trs_supernodes *s, const trs_supernode *k)
{
    const int32_t columns = k->panels > 1 ? s->panel[k->panel].columns : 0;
    return (int64_t)k->rows * columns > TRS_BATCH_ENTRIES;
}

/* How many small supernodes from t on, of one level, are a batch. */
static int32_t batch_of(const trs_supernodes *s, const int32_t *level, int32_t t)
{
    int32_t e = t + 1;
    if (fills_batch(s, &s->supernode[t])) return 1;
    while (e < s->count && level[e] == level[t] && e - t < TRS_BATCH &&
           !fills_batch(s, &s->supernode[e]))
        e++;
    return e - t;
}

/* Small supernodes of a level, from t on; returns the first one of the next level. */
static int32_t add_batches(trs_supernodes *s, const int32_t *level, int32_t t)
{
    const int32_t here = t < s->count ? level[t] : 0;
    while (t < s->count && level[t] == here) {
        const int32_t some = batch_of(s, level, t);
        add_task(s, (trs_task){TRS_TASK_SMALL, t, some, 0, 0, {0}, 0, 0});
        t += some;
    }
    return t;
}

static void order_tasks(const trs_build *b, trs_supernodes *s, const trs_task *partial)
{
    const int32_t *level = b->ordered_level;
    int32_t t = 0, p = 0;
    for (int32_t l = 0; l < s->depth; l++) {
        while (p < s->partials && level[partial[p].supernode] == l) add_partial(s, &partial[p++]);
        for (; t < s->count && level[t] == l && trs_is_large(&s->supernode[t]); t++)
            add_large(s, t);
        while (p < s->partials && level_of(s->panel, &partial[p]) == l)
            add_partial(s, &partial[p++]);
        if (t < s->count && level[t] == l) t = add_batches(s, level, t);
    }
    TRS_ASSERT(t == s->count && p == s->partials);
}

/* ---- slices ------------------------------------------------------------------------------------------------ */

/* Large supernodes of a level of which those in chains are sliced: with four slices each, they take half of the SMs
 * of a large GPU.  On a level with more of them there is enough to do without. */
enum { FEW_LARGE = 16 };

/* Sets the slices of all supernodes; returns how many tasks there are at most. */
static int64_t cut_slices(const trs_build *b, trs_supernodes *s)
{
    const int32_t *level = b->ordered_level;
    int64_t tasks = 0;
    for (int32_t t = 0, end; t < s->count; t = end) {
        for (end = t; end < s->count && level[end] == level[t] && trs_is_large(&s->supernode[end]);)
            end++;
        const bool few = end - t <= FEW_LARGE;
        if (end == t) end++; /* a small one */
        for (int32_t k = t; k < end; k++) {
            trs_supernode *n = &s->supernode[k];
            n->slices = few && trs_in_chain(n) ? (n->rows + TRS_SLICE - 1) / TRS_SLICE : 1;
            tasks += (1 + trs_in_chain(n)) * n->slices + n->partials;
        }
    }
    return tasks;
}

/* ---- all of it -------------------------------------------------------------------------------------------- */

/* What costs are computed from: sums over the levels of what takes longest on each. */
static void add_up_levels(const trs_build *b, trs_supernodes *s)
{
    const int32_t *level = b->ordered_level;
    for (int32_t t = 0; t < s->count;) {
        const int32_t l = level[t];
        int32_t rows = 0, longest = 1;
        s->large_levels += trs_is_large(&s->supernode[t]); /* these come first */
        for (; t < s->count && level[t] == l; t++) {
            const trs_supernode *k = &s->supernode[t];
            if (k->chain_length > longest) longest = k->chain_length;
            if (!trs_is_large(k) && k->rows > rows) rows = k->rows;
        }
        s->small_rows += rows;
        s->chain_links += longest - 1;
    }
}

int trs_list_tasks(trs_build *b, trs_supernodes *s)
{
    trs_context *ctx = b->ctx;
    b->ordered = s->supernode = trs_new_touched(ctx, s->count, sizeof *s->supernode, "supernodes");
    b->ordered_level = trs_new(ctx, s->count, sizeof *b->ordered_level, "levels of supernodes");
    trs_task *partial = trs_new(ctx, s->partials, sizeof *partial, "partial sums");
    int rc = b->ordered && b->ordered_level && partial ? order_partials(b, s, partial) : TRS_EMEM;
    if (!rc) {
        trs_share(b->threads, b->count, trs_claim(b), order_some, b);
        s->task = trs_new(ctx, cut_slices(b, s), sizeof *s->task, "tasks");
        rc = s->task ? TRS_OK : TRS_EMEM;
    }
    if (!rc) {
        s->panel = b->panel;
        s->column = b->column;
        b->panel = NULL, b->column = NULL;
        order_tasks(b, s, partial);
        add_up_levels(b, s);
    }
    trs_free(&ctx->mem, partial);
    return rc;
}
