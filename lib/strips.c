/* strips.c: strips, their tasks, chunks, codes and items.
 *
 *     levels -> rows of each strip by level -> tasks and chunks of each, counted, then written ->
 *     codes and items of each, by going through its entries as the team will
 *
 * Every pass is O(n + nnz) and goes over strips side by side. */
#ifndef T

#include "config.h"

#include "strips.h"

#include "internal.h"
#include "stages.h"

#include <string.h>

enum { WARP = TRS_STRIP_WARP, TEAM = TRS_STRIP_TEAM };

/* ---- how many rows --------------------------------------------------------------------------------- */

/* Deep enough for hops inside an SM to matter, not too narrow for a warp, and rows of few entries. */
enum {
    LEVELS_FROM = 400,
    WIDTH_FROM = 16,
    LENGTH_TO = 16,
    SAMPLES = TRS_STRIP_SAMPLES,
    FULL_PERCENT = 85
};
static const double MOST_FOREIGN = 0.3; /* entries of a row */

typedef struct sample {
    const trs_tri *t;
    const trs_levels *lv;
    int32_t *level; /* [n] */
    int32_t *stamp; /* [levels] the sample that has met this level last */
    int32_t number;
} sample;

static void find_levels(void *user, int64_t begin, int64_t end)
{
    sample *s = user;
    for (int64_t l = begin; l < end; l++)
        for (int32_t k = s->lv->ptr[l]; k < s->lv->ptr[l + 1]; k++)
            s->level[s->lv->topo[k]] = (int32_t)l;
}

/* Levels that rows from .. from + rows - 1 belong to, and entries in columns before them. */
static void look_from(sample *s, int32_t from, int32_t rows, int64_t *levels, int64_t *foreign)
{
    s->number++;
    for (int32_t i = from; i < from + rows; i++) {
        if (s->stamp[s->level[i]] != s->number) ++*levels;
        s->stamp[s->level[i]] = s->number;
        for (int64_t p = s->t->ptr[i]; p < s->t->ptr[i + 1] - 1 && s->t->idx[p] < from; p++)
            ++*foreign;
    }
}

static bool look_here(void *user, int32_t rows, int64_t *levels, int64_t *foreign)
{
    sample *s = user;
    *levels = *foreign = 0;
    for (int k = 1; k <= SAMPLES; k++)
        look_from(s, (int32_t)((int64_t)(s->t->n - rows) * k / SAMPLES), rows, levels, foreign);
    return true;
}

int32_t trs_strips_sampled(int32_t n, bool (*look)(void *, int32_t, int64_t *, int64_t *),
                           void *user)
{
    for (double size = 1024; size < n / 4.; size *= 1.15) {
        const int32_t rows = (int32_t)size;
        int64_t levels, foreign;
        if (!look(user, rows, &levels, &foreign)) return 0;
        const double all = (double)rows * SAMPLES;
        if (100 * all < (double)levels * WARP * FULL_PERCENT) continue;
        return (double)foreign > all * MOST_FOREIGN ? 0 : rows;
    }
    return 0;
}

bool trs_strips_possible(const trs_tri *t, const trs_levels *lv)
{
    return lv->count >= LEVELS_FROM && t->n / lv->count >= WIDTH_FROM &&
           t->nnz <= (int64_t)LENGTH_TO * t->n;
}

int32_t trs_strips_rows(trs_context *ctx, const trs_tri *t, const trs_levels *lv)
{
    sample s = {.t = t, .lv = lv};
    int32_t rows = 0;
    if (!trs_strips_possible(t, lv)) return 0;
    s.level = trs_alloc(&ctx->mem, t->n, sizeof *s.level);
    s.stamp = trs_alloc_zero(&ctx->mem, lv->count, sizeof *s.stamp);
    if (s.level && s.stamp) {
        trs_share(trs_team(ctx, t->n), lv->count, 16, find_levels, &s);
        rows = trs_strips_sampled(t->n, look_here, &s);
    }
    trs_free(&ctx->mem, s.level);
    trs_free(&ctx->mem, s.stamp);
    return rows;
}

/* ---- rows of strips -------------------------------------------------------------------------------- */

typedef struct outline { /* of a group, below, as the first pass found it */
    int32_t count, early, late;
} outline;

typedef struct build {
    trs_context *ctx;
    const trs_tri *t;
    trs_strips *s;
    int32_t rows;      /* of a strip */
    int32_t *order;    /* [n] rows, strip by strip, by level */
    int32_t *level;    /* [n] of order [k] */
    int32_t *position; /* [n] of each row; while counting from the beginning of its strip */
    outline *group;    /* [n] of each strip from its first row on */
    uint8_t *early;    /* [tasks + 2 TEAM] lines of each */
    trs_item **item;   /* [count] of each strip, until all are known */
    _Atomic int failed;
} build;

static int32_t first_row(const build *b, int64_t strip)
{
    const int64_t row = strip * b->rows;
    return row < b->t->n ? (int32_t)row : b->t->n;
}

static int32_t length_of(const trs_tri *t, int32_t i) /* without the diagonal */
{
    return (int32_t)(t->ptr[i + 1] - t->ptr[i] - 1);
}

/* One pass over topo deals the rows out to their strips. */
static int order_rows(build *b, const trs_levels *lv)
{
    int32_t *end = trs_new(b->ctx, b->s->count, sizeof *end, "rows of strips");
    if (!end) return TRS_EMEM;
    for (int32_t s = 0; s < b->s->count; s++) end[s] = first_row(b, s);
    for (int32_t l = 0; l < lv->count; l++)
        for (int32_t k = lv->ptr[l]; k < lv->ptr[l + 1]; k++) {
            const int32_t i = lv->topo[k], place = end[i / b->rows]++;
            b->order[place] = i;
            b->level[place] = l;
        }
    trs_free(&b->ctx->mem, end);
    return TRS_OK;
}

/* ---- tasks ----------------------------------------------------------------------------------------- */

typedef struct group { /* up to a warp of rows of one level, and its tasks, one after the other */
    int32_t place, count;          /* order [place] .. */
    int32_t most_early, most_late; /* entries of a row */
    int32_t start, task;           /* the first one, and this one */
    int early, late; /* lines of this task, the one that takes up a piece not counted */
    int32_t early_from, late_from;
    bool takes_up; /* a piece */
    bool piece;    /* it is one */
} group;

/* Does an entry of a row of this strip wait for one of the tasks just before? */
static bool is_late(const build *b, int32_t first, int32_t task, int32_t column)
{
    return column >= first && task - b->position[column] / WARP < TEAM;
}

/* After many pieces, what was just before may be out of reach. */
static bool is_far(const group *g)
{
    return g->task - g->start >= TRS_STRIP_REACH - TEAM;
}

/* Lines of this task that may have items. */
static int lines_with_items(const group *g)
{
    return is_far(g) ? g->early + g->late : g->early;
}

/* As much as one task can take of what is left. */
static void fill_task(group *g)
{
    const int32_t early = g->most_early - g->early_from, late = g->most_late - g->late_from;
    g->early = early < TRS_STRIP_EARLY ? early : TRS_STRIP_EARLY;
    const int most = is_far(g) ? TRS_STRIP_EARLY : TRS_STRIP_LINES - g->takes_up;
    g->late = early > g->early ? 0 : late < most - g->early ? late : most - g->early;
    g->piece = g->early < early || g->late < late;
}

/* Of the rows from order [place] on; first: row of the strip. */
static outline find_group(const build *b, int32_t first, int32_t place, int32_t end, int32_t task)
{
    const trs_tri *t = b->t;
    outline g = {0};
    for (; g.count < WARP && place + g.count < end && b->level[place + g.count] == b->level[place];
         g.count++) {
        const int32_t row = b->order[place + g.count];
        int32_t late = 0;
        for (int64_t p = t->ptr[row]; p < t->ptr[row + 1] - 1; p++)
            late += is_late(b, first, task, t->idx[p]);
        const int32_t early = length_of(t, row) - late;
        if (early > g.early) g.early = early;
        if (late > g.late) g.late = late;
    }
    return g;
}

/* The first task of a group. */
static group first_task(const outline *o, int32_t place, int32_t task)
{
    group g = {.place = place,
               .count = o->count,
               .most_early = o->early,
               .most_late = o->late,
               .start = task,
               .task = task};
    fill_task(&g);
    return g;
}

/* The next one; false: the last one was no piece. */
static bool next_task(group *g)
{
    if (!g->piece) return false;
    g->early_from += g->early;
    g->late_from += g->late;
    g->takes_up = true;
    g->task++;
    fill_task(g);
    return true;
}

/* ---- chunks ---------------------------------------------------------------------------------------- */

typedef struct pen { /* where a strip writes; it counts alone when to is NULL */
    trs_strips *to;
    int32_t task, chunk;
    int64_t line;
    trs_chunk now;
} pen;

static void end_chunk(pen *p)
{
    if (p->now.tasks == 0) return;
    if (p->to) p->to->chunk[p->chunk] = p->now;
    p->chunk++;
    p->now = (trs_chunk){.line = p->line, .task = p->task};
}

static void add_task(pen *p, int early, int late)
{
    if (p->now.tasks == TRS_STRIP_TASKS || p->now.lines + early + late > TRS_STRIP_LINES)
        end_chunk(p);
    p->now.from[p->now.tasks] = p->now.lines;
    p->now.early[p->now.tasks] = (uint8_t)early;
    p->now.late[p->now.tasks++] = (uint8_t)late;
    p->now.lines = (uint8_t)(p->now.lines + early + late);
    p->task++;
    p->line += early + late;
}

static void write_rows(const build *b, const group *g)
{
    int32_t *row = b->s->row + (int64_t)g->task * WARP;
    for (int i = 0; i < WARP; i++) {
        row[i] = i < g->count ? b->order[g->place + i] : -1;
        if (g->piece && i < g->count) row[i] = TRS_STRIP_PIECE - row[i];
    }
    b->early[g->task] = (uint8_t)lines_with_items(g);
}

/* All tasks of a strip. */
static void write_strip(build *b, int64_t strip, pen *p)
{
    const int32_t first = first_row(b, strip), end = first_row(b, strip + 1);
    outline *o = b->group + first;
    group g;
    p->now = (trs_chunk){.line = p->line, .task = p->task};
    for (int32_t k = first; k < end; k += g.count, o++) {
        if (!p->to) *o = find_group(b, first, k, end, p->task);
        g = first_task(o, k, p->task);
        do {
            if (p->to) write_rows(b, &g);
            const int early = lines_with_items(&g);
            add_task(p, early, g.early + g.late + g.takes_up - early);
        } while (next_task(&g));
        for (int i = 0; i < g.count; i++) b->position[b->order[k + i]] = g.task * WARP + i;
    }
    end_chunk(p);
}

static void count_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int64_t s = begin; s < end; s++) {
        pen p = {0};
        write_strip(b, s, &p);
        b->s->strip[s + 1] = (trs_strip){p.line, p.chunk, p.task};
    }
}

static void write_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int64_t s = begin; s < end; s++) {
        const trs_strip *from = &b->s->strip[s];
        pen p = {b->s, from->task, from->chunk, from->item, {0}};
        write_strip(b, s, &p);
    }
}

/* From counts to beginnings; for the time being item holds lines. */
static int sum_up(build *b)
{
    trs_strips *s = b->s;
    int64_t tasks = 0, chunks = 0;
    for (int32_t k = 1; k <= s->count; k++) {
        tasks += s->strip[k].task;
        chunks += s->strip[k].chunk;
        if (tasks > INT32_MAX / WARP)
            return trs_fail(b->ctx, TRS_ESUPPORT, "too many tasks of strips for 32 bits");
        s->strip[k].task = (int32_t)tasks;
        s->strip[k].chunk = (int32_t)chunks;
        s->strip[k].item += s->strip[k - 1].item;
    }
    s->tasks = (int32_t)tasks;
    s->chunks = (int32_t)chunks;
    s->lines = s->strip[s->count].item;
    s->chunk = trs_new(b->ctx, chunks, sizeof *s->chunk, "chunks of strips");
    s->row = trs_new(b->ctx, tasks * WARP, sizeof *s->row, "rows of strips");
    s->code = trs_new(b->ctx, s->lines * WARP, sizeof *s->code, "slots of entries");
    s->entry = trs_new(b->ctx, s->lines * WARP, sizeof *s->entry, "entries of strips");
    b->early = trs_alloc_zero(&b->ctx->mem, tasks + 2 * TEAM, sizeof *b->early);
    return s->chunk && s->row && s->code && s->entry && b->early
               ? TRS_OK
               : trs_fail(b->ctx, TRS_EMEM, "out of memory for strips");
}

/* ---- codes and items ------------------------------------------------------------------------------- */

typedef struct known { /* the item of a position */
    int32_t position;  /* -1: none */
    int32_t item;
} known;

typedef struct seen { /* of an item */
    int32_t task;     /* of the strip, that reads it last */
    int64_t code;     /* the place of the entry that does */
} seen;

typedef struct walk { /* of one strip */
    build *b;
    int32_t first, first_task;
    int64_t line;  /* the next one */
    int32_t count; /* items */
    int32_t spare; /* items from here on can still be read in this task */
    trs_item *item;
    seen *seen;
    known *table;
    uint32_t mask;
    int32_t *sorted,
        *later; /* entries of each row of a group, the early ones first; the late ones of one */
    const int32_t *column[WARP];     /* of the entries of each row */
    int64_t from[WARP];              /* of each row, in sorted */
    int32_t early[WARP], late[WARP]; /* entries of each row */
} walk;

static known *find(const walk *w, int32_t position)
{
    uint32_t h = (uint32_t)position * 2654435761u;
    for (h = (h ^ h >> 15) & w->mask;; h = (h + 1) & w->mask) {
        known *k = &w->table[h];
        if (k->position < 0 || k->position == position) return k;
    }
}

/* The item of this position, an old one or the next. */
static int32_t item_of(walk *w, int32_t position)
{
    known *k = find(w, position);
    if (k->position >= 0 && k->item >= w->spare) return k->item;
    const int32_t item = w->count++, before = item - TRS_STRIP_FOREIGN;
    *k = (known){position, item};
    w->item[item] = (trs_item){position, before < 0 ? 0 : w->seen[before].task + TEAM + 1};
    return item;
}

static uint16_t code_of(walk *w, int32_t task, int32_t position, int64_t place)
{
    const int32_t from = position / WARP;
    if (from >= w->first_task && task - from <= TRS_STRIP_REACH)
        return (uint16_t)((position - w->first_task * WARP) % TRS_STRIP_OWN);
    const int32_t item = item_of(w, position);
    w->seen[item] = (seen){task - w->first_task, place};
    return (uint16_t)(TRS_STRIP_OWN + item % TRS_STRIP_FOREIGN);
}

/* The entries of each row of a group, the early ones first, else in their order. */
static void sort_entries(walk *w, const group *g)
{
    const trs_tri *t = w->b->t;
    int64_t to = 0;
    for (int i = 0; i < g->count; i++) {
        const int32_t row = w->b->order[g->place + i], length = length_of(t, row);
        const int32_t *column = w->column[i] = t->idx + t->ptr[row];
        int32_t late = 0;
        w->from[i] = to;
        for (int32_t e = 0; e < length; e++)
            if (is_late(w->b, w->first, g->task, column[e])) w->later[late++] = e;
            else w->sorted[to++] = e;
        w->early[i] = length - late;
        w->late[i] = late;
        for (int32_t e = 0; e < late; e++) w->sorted[to++] = w->later[e];
    }
}

/* Entry k of the early or the late ones of lane i of a group. */
static int32_t entry_at(const walk *w, const group *g, int i, int32_t k, bool late)
{
    if (i >= g->count || k >= (late ? w->late[i] : w->early[i])) return TRS_STRIP_NOTHING;
    return w->sorted[w->from[i] + k + (late ? w->early[i] : 0)];
}

static void write_line(walk *w, const group *g, int32_t k, bool late)
{
    const build *b = w->b;
    for (int i = 0; i < WARP; i++) {
        const int64_t place = w->line * WARP + i;
        const int32_t entry = entry_at(w, g, i, k, late);
        uint16_t code = TRS_STRIP_ZERO;
        if (entry >= 0) code = code_of(w, g->task, b->position[w->column[i][entry]], place);
        b->s->entry[place] = entry;
        b->s->code[place] = code;
    }
    w->line++;
}

/* The line that takes up the piece before. */
static void write_link(walk *w, const group *g)
{
    const int32_t before = (g->task - 1 - w->first_task) * WARP;
    for (int i = 0; i < WARP; i++) {
        const int64_t place = w->line * WARP + i;
        w->b->s->entry[place] = i < g->count ? TRS_STRIP_PIECE : TRS_STRIP_NOTHING;
        w->b->s->code[place] =
            (uint16_t)(i < g->count ? (before + i) % TRS_STRIP_OWN : TRS_STRIP_ZERO);
    }
    w->line++;
}

/* No item that begins in this task, or in one that may begin before the slots of this one have been emptied, takes
 * the place of an item that this task reads. */
static void walk_task(walk *w, const group *g)
{
    int32_t more = 0;
    for (int k = 0; k < 2 * TEAM; k++) more += w->b->early[g->task + k] * WARP;
    w->spare = w->count + more - TRS_STRIP_FOREIGN;
    for (int l = 0; l < g->early; l++) write_line(w, g, g->early_from + l, false);
    for (int l = 0; l < g->late; l++) write_line(w, g, g->late_from + l, true);
    if (g->takes_up) write_link(w, g);
}

/* Room for as many items as the strip has entries, and a table of twice that. */
static bool walk_new(walk *w, int64_t entries)
{
    const trs_memory *mem = &w->b->ctx->mem;
    int64_t size = 16;
    while (size < 2 * entries) size *= 2;
    if (size > INT32_MAX) return false;
    w->mask = (uint32_t)size - 1;
    w->item = trs_alloc(mem, entries, sizeof *w->item);
    w->seen = trs_alloc(mem, entries, sizeof *w->seen);
    w->table = trs_alloc(mem, size, sizeof *w->table);
    w->sorted = trs_alloc(mem, entries, sizeof *w->sorted);
    w->later = trs_alloc(mem, entries, sizeof *w->later);
    if (!w->item || !w->seen || !w->table || !w->sorted || !w->later) return false;
    for (int64_t k = 0; k < size; k++) w->table[k].position = -1;
    return true;
}

static bool walk_strip(build *b, int64_t strip)
{
    const int32_t first = first_row(b, strip), end = first_row(b, strip + 1);
    const trs_memory *mem = &b->ctx->mem;
    const trs_strip *from = &b->s->strip[strip];
    walk w = {
        .b = b, .first = first, .first_task = from->task, .line = b->s->chunk[from->chunk].line};
    const bool ok = walk_new(&w, b->t->ptr[end] - b->t->ptr[first] - (end - first));
    const outline *o = b->group + first;
    int32_t task = w.first_task;
    group g;
    for (int32_t k = first; ok && k < end; k += g.count, task = g.task + 1, o++) {
        g = first_task(o, k, task);
        sort_entries(&w, &g);
        do walk_task(&w, &g);
        while (next_task(&g));
    }
    for (int32_t k = 0; k < w.count; k++) b->s->code[w.seen[k].code] |= TRS_STRIP_LAST;
    trs_free(mem, w.seen);
    trs_free(mem, w.table);
    trs_free(mem, w.sorted);
    trs_free(mem, w.later);
    b->item[strip] = w.item;
    b->s->strip[strip + 1].item = w.count;
    return ok;
}

static void walk_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int64_t s = begin; s < end; s++)
        if (!walk_strip(b, s)) b->failed = 1;
}

static int collect_items(build *b)
{
    trs_strips *s = b->s;
    if (b->failed) return trs_fail(b->ctx, TRS_EMEM, "out of memory for the items of strips");
    for (int32_t k = 0; k < s->count; k++) s->strip[k + 1].item += s->strip[k].item;
    s->items = s->strip[s->count].item;
    s->item = trs_new(b->ctx, s->items, sizeof *s->item, "items of strips");
    if (!s->item) return TRS_EMEM;
    for (int32_t k = 0; k < s->count; k++)
        if (b->item[k])
            memcpy(s->item + s->strip[k].item, b->item[k],
                   (size_t)(s->strip[k + 1].item - s->strip[k].item) * sizeof *s->item);
    return TRS_OK;
}

/* ---- all of it ------------------------------------------------------------------------------------- */

static int build_new(build *b)
{
    trs_context *ctx = b->ctx;
    const int64_t n = b->t->n, count = b->s->count;
    b->order = trs_new(ctx, n, sizeof *b->order, "rows of strips");
    b->level = trs_new(ctx, n, sizeof *b->level, "levels of strips");
    b->position = trs_new(ctx, n, sizeof *b->position, "positions of rows");
    b->group = trs_new(ctx, n, sizeof *b->group, "groups of strips");
    b->item = trs_alloc_zero(&ctx->mem, count, sizeof *b->item);
    b->s->strip = trs_alloc_zero(&ctx->mem, count + 1, sizeof *b->s->strip);
    return b->order && b->level && b->position && b->group && b->item && b->s->strip
               ? TRS_OK
               : trs_fail(ctx, TRS_EMEM, "out of memory for strips");
}

static void build_free(build *b)
{
    const trs_memory *mem = &b->ctx->mem;
    for (int32_t k = 0; b->item && k < b->s->count; k++) trs_free(mem, b->item[k]);
    trs_free(mem, b->order);
    trs_free(mem, b->level);
    trs_free(mem, b->position);
    trs_free(mem, b->group);
    trs_free(mem, b->early);
    trs_free(mem, b->item);
}

int trs_strips_make(trs_context *ctx, const trs_tri *t, const trs_levels *lv, int32_t rows,
                    trs_strips *s)
{
    build b = {.ctx = ctx, .t = t, .s = s, .rows = rows};
    const int threads = trs_team(ctx, t->nnz);
    *s = (trs_strips){.count = t->n / rows + (t->n % rows > 0)};
    int rc = build_new(&b);
    if (!rc) rc = order_rows(&b, lv);
    if (!rc) {
        trs_share(threads, s->count, 1, count_some, &b);
        rc = sum_up(&b);
    }
    if (!rc) {
        trs_share(threads, s->count, 1, write_some, &b);
        trs_share(threads, s->count, 1, walk_some, &b);
        rc = collect_items(&b);
    }
    build_free(&b);
    if (rc) trs_strips_free(ctx, s);
    return rc;
}

void trs_strips_free(trs_context *ctx, trs_strips *s)
{
    trs_free(&ctx->mem, s->strip);
    trs_free(&ctx->mem, s->chunk);
    trs_free(&ctx->mem, s->item);
    trs_free(&ctx->mem, s->row);
    trs_free(&ctx->mem, s->code);
    trs_free(&ctx->mem, s->entry);
    s->strip = NULL;
    s->chunk = NULL;
    s->item = NULL;
    s->row = NULL;
    s->code = NULL;
    s->entry = NULL;
}

/* ---- as the GPU has them ----------------------------------------------------------------------------- */

static size_t bytes_of_line(size_t elem)
{
    return WARP * (elem + sizeof(uint16_t));
}

static size_t bytes_of_task(size_t elem)
{
    return WARP * (elem + sizeof(int32_t));
}

size_t trs_strips_bytes(const trs_strips *s, trs_dtype dtype)
{
    const size_t elem = trs_size(dtype);
    return (size_t)s->chunks * sizeof(trs_chunk) + (size_t)s->lines * bytes_of_line(elem) +
           (size_t)s->tasks * bytes_of_task(elem);
}

typedef struct packing {
    const trs_strips *s;
    const trs_tri *t;
    char *to;
} packing;

#define TRS_BODY "strips.c"
#include "each_type.h"

void trs_strips_pack(const trs_context *ctx, const trs_strips *s, const trs_tri *t, void *packed)
{
    static const trs_range_fn table[] = TRS_PER_TYPE(pack_some);
    packing all = {s, t, packed};
    trs_share(trs_team(ctx, t->nnz), s->chunks, 64, table[t->dtype], &all);
}

#else

/* The entries of lane i, whose row is stored as in trs_strips.row. */
static void FN(pack_row)(const packing *all, int32_t stored, int i, int64_t line, int lines, T *val,
                         T *inv)
{
    const trs_tri *t = all->t;
    const int32_t row = stored < TRS_STRIP_NOTHING ? TRS_STRIP_PIECE - stored : stored;
    const T *from = (const T *)t->val + (row < 0 ? 0 : t->ptr[row]);
    for (int l = 0; l < lines; l++) {
        const int32_t e = all->s->entry[(line + l) * WARP + i];
        val[l * WARP] = e >= 0 ? from[e] : e == TRS_STRIP_PIECE ? -1 : 0;
    }
    *inv = stored >= 0 ? 1 / from[length_of(t, row)] : stored < TRS_STRIP_NOTHING;
}

static void FN(pack_chunk)(const packing *all, int64_t number)
{
    const trs_strips *s = all->s;
    const trs_chunk *c = &s->chunk[number];
    char *to = all->to + (size_t)number * sizeof *c + (size_t)c->line * bytes_of_line(sizeof(T)) +
               (size_t)c->task * bytes_of_task(sizeof(T));
    T *val = (T *)(to + sizeof *c), *inv = val + c->lines * WARP;
    int32_t *row = (int32_t *)(inv + c->tasks * WARP);
    memcpy(to, c, sizeof *c);
    memcpy(row, s->row + (int64_t)c->task * WARP, (size_t)c->tasks * WARP * sizeof *row);
    memcpy(row + c->tasks * WARP, s->code + c->line * WARP,
           (size_t)c->lines * WARP * sizeof *s->code);
    for (int k = 0; k < c->tasks; k++)
        for (int i = 0; i < WARP; i++) FN(pack_row)
    (all, row[k * WARP + i], i, c->line + c->from[k], c->early[k] + c->late[k],
     val + c->from[k] * WARP + i, inv + k * WARP + i);
}

static void FN(pack_some)(void *user, int64_t begin, int64_t end)
{
    for (int64_t c = begin; c < end; c++) FN(pack_chunk)(user, c);
}

#endif
