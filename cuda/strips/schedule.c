/* schedule.c: strips, their tasks, chunks, codes and items.
 *
 *     levels -> rows of each strip by level -> tasks and chunks of each, counted, then written ->
 *     codes and items of each, by going through its entries as the team will
 *
 * Every pass is O(n + nnz) and goes over strips side by side. */
#ifndef T

#include "config.h"

#include "strips.h"

#include "analysis/level.h"
#include "base/parallel.h"

#include <stdatomic.h>
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

typedef struct ranked { /* a row and its level */
    int32_t row, level;
} ranked;

typedef struct outline { /* of a group, below, as the first pass found it */
    int32_t early;       /* most entries of a row */
    uint8_t late;        /* the same; so few rows are in the tasks just before */
    uint8_t count;       /* rows */
} outline;

typedef struct gathered { /* items of a strip, until those of all are known */
    trs_item *item;
    int32_t count, room;
} gathered;

typedef struct build {
    trs_context *ctx;
    const trs_tri *t;
    const trs_levels *lv;
    trs_strips *s;
    int32_t rows;      /* of a strip */
    int32_t parts;     /* in which topo is dealt out */
    int32_t *to;       /* [parts][count] where the next row of a part goes, in each strip */
    ranked *order;     /* [n] strip by strip, by level */
    int32_t *position; /* [n] of each row, from the beginning of its strip */
    outline *group;    /* [n] of each strip from its first row on */
    gathered *items;   /* [count] */
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

static int32_t begin_of_part(const build *b, int64_t part)
{
    return (int32_t)(b->t->n * part / b->parts);
}

static void count_rows(void *user, int64_t begin, int64_t end)
{
    const build *b = user;
    for (int64_t part = begin; part < end; part++) {
        int32_t *count = b->to + part * b->s->count;
        for (int32_t k = begin_of_part(b, part); k < begin_of_part(b, part + 1); k++)
            count[b->lv->topo[k] / b->rows]++;
    }
}

/* From counts to places. */
static void place_parts(build *b)
{
    for (int32_t s = 0; s < b->s->count; s++) {
        int32_t place = first_row(b, s);
        for (int64_t part = 0; part < b->parts; part++) {
            int32_t *to = &b->to[part * b->s->count + s];
            const int32_t count = *to;
            *to = place;
            place += count;
        }
    }
}

/* The level of topo [k]. */
static int32_t level_at(const trs_levels *lv, int32_t k)
{
    int32_t low = 0, high = lv->count; /* ptr [low] <= k < ptr [high] */
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (lv->ptr[middle] <= k) low = middle;
        else high = middle;
    }
    return low;
}

static void deal_rows(void *user, int64_t begin, int64_t end)
{
    const build *b = user;
    const trs_levels *lv = b->lv;
    for (int64_t part = begin; part < end; part++) {
        int32_t *to = b->to + part * b->s->count;
        int32_t k = begin_of_part(b, part), level = level_at(lv, k);
        for (; k < begin_of_part(b, part + 1); k++) {
            while (lv->ptr[level + 1] <= k) level++;
            b->order[to[lv->topo[k] / b->rows]++] = (ranked){lv->topo[k], level};
        }
    }
}

/* Each part of topo is dealt out to the strips, behind what the parts before it have there. */
static int order_rows(build *b, int threads)
{
    const int32_t strips = b->s->count, most = strips ? b->t->n / strips : 1;
    b->parts = threads == 1 ? 1 : 4 * threads < most ? 4 * threads : most;
    b->to = trs_alloc_zero(&b->ctx->mem, (int64_t)b->parts * strips, sizeof *b->to);
    if (!b->to) return trs_fail(TRS_EMEM, "out of memory for rows of strips");
    trs_share(threads, b->parts - 1, 1, count_rows, b); /* nothing is behind the last one */
    place_parts(b);
    trs_share(threads, b->parts, 1, deal_rows, b);
    return TRS_OK;
}

/* ---- tasks ----------------------------------------------------------------------------------------- */

typedef struct group { /* up to a warp of rows of one level, and its tasks, one after the other */
    int32_t place, count;          /* order [place] .. */
    int32_t most_early, most_late; /* entries of a row */
    int32_t start, task;           /* the first one, and this one, of the strip */
    int early, late; /* lines of this task, the one that takes up a piece not counted */
    int32_t early_from, late_from;
    bool takes_up; /* a piece */
    bool piece;    /* it is one */
} group;

enum { MOST_TASKS = INT32_MAX / WARP }; /* of a strip */
enum { ELSEWHERE = INT32_MIN / 2 };     /* a position before all of the strip */

static int32_t position_of(const build *b, int32_t first, int32_t column)
{
    return column >= first ? b->position[column] : ELSEWHERE;
}

/* Does an entry wait for one of the tasks just before? */
static bool is_late(int32_t task, int32_t position)
{
    return position >= (task - TEAM + 1) * WARP;
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

enum { AHEAD = 2 * WARP };

/* The rows of a level are far apart, and no hardware foresees where: ask for what the loop over order [k] will
 * want soon.  Inline, or the compiler takes it for a function that does nothing. */
static inline __attribute__((always_inline)) void ask_ahead(const build *b, int32_t k, int32_t end)
{
    if (k >= end - AHEAD) return;
    const int32_t row = b->order[k + AHEAD].row;
    __builtin_prefetch(&b->t->ptr[row]);
    __builtin_prefetch(&b->position[row]);
    __builtin_prefetch(&b->t->idx[b->t->ptr[b->order[k + AHEAD / 2].row]]);
}

/* Of the rows from order [place] on; first: row of the strip. */
static outline find_group(const build *b, int32_t first, int32_t place, int32_t end, int32_t task)
{
    const trs_tri *t = b->t;
    const ranked *r = b->order + place;
    outline g = {0};
    for (; g.count < WARP && place + g.count < end && r[g.count].level == r->level; g.count++) {
        const int32_t row = r[g.count].row;
        int32_t late = 0;
        ask_ahead(b, place + g.count, end);
        for (int64_t p = t->ptr[row]; p < t->ptr[row + 1] - 1; p++)
            late += is_late(task, position_of(b, first, t->idx[p]));
        const int32_t early = length_of(t, row) - late;
        if (early > g.early) g.early = early;
        if (late > g.late) g.late = (uint8_t)late;
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

static void add_task(pen *p, const group *g)
{
    const int early = lines_with_items(g), lines = g->early + g->late + g->takes_up;
    if (p->now.tasks == TRS_STRIP_TASKS || p->now.lines + lines > TRS_STRIP_LINES) end_chunk(p);
    p->now.from[p->now.tasks] = p->now.lines;
    p->now.early[p->now.tasks] = (uint8_t)early;
    p->now.late[p->now.tasks++] = (uint8_t)(lines - early);
    p->now.lines = (uint8_t)(p->now.lines + lines);
    p->task++;
    p->line += lines;
}

/* Groups, and all that follows from them; no more than one task too many for 32 bits. */
static void count_strip(build *b, int64_t strip)
{
    const int32_t first = first_row(b, strip), end = first_row(b, strip + 1);
    outline *o = b->group + first;
    pen p = {0};
    group g;
    for (int32_t k = first; k < end && p.task <= MOST_TASKS; k += g.count, o++) {
        *o = find_group(b, first, k, end, p.task);
        g = first_task(o, k, p.task);
        do add_task(&p, &g);
        while (p.task <= MOST_TASKS && next_task(&g));
        for (int i = 0; i < g.count; i++) b->position[b->order[k + i].row] = g.task * WARP + i;
    }
    end_chunk(&p);
    b->s->strip[strip + 1] = (trs_strip){p.line, p.chunk, p.task};
}

static void count_some(void *user, int64_t begin, int64_t end)
{
    for (int64_t s = begin; s < end; s++) count_strip(user, s);
}

/* From counts to beginnings; for the time being item holds lines. */
static int sum_up(build *b)
{
    trs_strips *s = b->s;
    int64_t tasks = 0, chunks = 0;
    for (int32_t k = 1; k <= s->count; k++) {
        tasks += s->strip[k].task;
        chunks += s->strip[k].chunk;
        if (tasks > MOST_TASKS)
            return trs_fail(TRS_ESUPPORT, "too many tasks of strips for 32 bits");
        s->strip[k].task = (int32_t)tasks;
        s->strip[k].chunk = (int32_t)chunks;
        s->strip[k].item += s->strip[k - 1].item;
    }
    s->tasks = (int32_t)tasks;
    s->chunks = (int32_t)chunks;
    s->lines = s->strip[s->count].item;
    s->chunk = trs_new(b->ctx, chunks, sizeof *s->chunk, "chunks of strips");
    s->row = trs_new_touched(b->ctx, tasks * WARP, sizeof *s->row, "rows of strips");
    s->power = trs_new_touched(b->ctx, tasks * WARP, sizeof *s->power, "rows of strips");
    s->code = trs_new_touched(b->ctx, s->lines * WARP, sizeof *s->code, "slots of entries");
    s->entry = trs_new_touched(b->ctx, s->lines * WARP, sizeof *s->entry, "entries of strips");
    return s->chunk && s->row && s->power && s->code && s->entry ? TRS_OK : TRS_EMEM;
}

/* ---- items ----------------------------------------------------------------------------------------- */

enum {
    BUCKETS = 2 * TRS_STRIP_FOREIGN,
    WANTED = TRS_STRIP_LAST /* a code: this entry has no item yet */
};

typedef struct recent { /* the item that has a slot, or had it last */
    int32_t column;
    int32_t task;  /* of the strip, that reads it last */
    int32_t older; /* item of the same bucket; -1: none */
    int64_t code;  /* the place of the entry that reads it last */
} recent;

typedef struct walk { /* through one strip */
    build *b;
    int32_t first, end; /* rows of the strip */
    int32_t first_task; /* its own */
    int64_t line;       /* the next one */
    gathered *items;
    int32_t spare; /* items from here on can still be read in this task */
    int32_t more;  /* early lines of this task and of those that may begin before it is done with */
    const int32_t *column[WARP]; /* of the entries of each row */
    int32_t length[WARP];
    int32_t next[2][WARP];   /* entry from which on early and late ones are left */
    int32_t newest[BUCKETS]; /* item; -1: none */
    recent slot[TRS_STRIP_FOREIGN];
} walk;

static uint32_t bucket_of(int32_t column)
{
    const uint32_t h = (uint32_t)column * 2654435761u;
    return (h ^ h >> 15) % BUCKETS;
}

/* Room for so many more. */
static bool reserve(const build *b, gathered *items, int32_t more)
{
    if (items->room - items->count >= more) return true;
    const int64_t room = 2 * ((int64_t)items->count + more);
    trs_item *item = room > INT32_MAX / 2 ? NULL : trs_alloc(&b->ctx->mem, room, sizeof *item);
    if (!item) return false;
    if (items->item) memcpy(item, items->item, (size_t)items->count * sizeof *item);
    trs_free(&b->ctx->mem, items->item);
    items->item = item;
    items->room = (int32_t)room;
    return true;
}

/* The next item, in the slot of one that nobody reads any more. */
static int32_t new_item(walk *w, int32_t column, int32_t *newest)
{
    const build *b = w->b;
    const int32_t item = w->items->count++;
    recent *slot = &w->slot[item % TRS_STRIP_FOREIGN];
    trs_item *to = &w->items->item[item];
    to->from = b->position[column] + b->s->strip[column / b->rows].task * WARP;
    to->gate = 0;
    if (item >= TRS_STRIP_FOREIGN) {
        to->gate = slot->task + TEAM + 1;
        b->s->code[slot->code] |= TRS_STRIP_LAST;
    }
    slot->column = column;
    slot->older = *newest;
    *newest = item;
    return item;
}

/* The item of this column, an old one or the next.  Those of a bucket descend. */
static int32_t item_of(walk *w, int32_t column)
{
    int32_t *newest = &w->newest[bucket_of(column)];
    for (int32_t k = *newest; k >= w->spare && k >= 0; k = w->slot[k % TRS_STRIP_FOREIGN].older)
        if (w->slot[k % TRS_STRIP_FOREIGN].column == column) return k;
    return new_item(w, column, newest);
}

/* Items for the entries that want one, in the order in which the team will read them. */
static void number_items(walk *w, const group *g)
{
    const build *b = w->b;
    uint16_t *code = b->s->code;
    const int64_t end = (w->line + lines_with_items(g)) * WARP;
    w->spare = w->items->count + w->more * WARP - TRS_STRIP_FOREIGN;
    for (int64_t place = w->line * WARP; place < end; place++) {
        if (code[place] != WANTED) continue;
        const int32_t item = item_of(w, w->column[place % WARP][b->s->entry[place]]);
        recent *slot = &w->slot[item % TRS_STRIP_FOREIGN];
        slot->task = g->task;
        slot->code = place;
        code[place] = (uint16_t)(TRS_STRIP_OWN + item % TRS_STRIP_FOREIGN);
    }
}

/* ---- codes ----------------------------------------------------------------------------------------- */

static void begin_group(walk *w, const group *g)
{
    const trs_tri *t = w->b->t;
    for (int i = 0; i < g->count; i++) {
        const int32_t row = w->b->order[g->place + i].row;
        ask_ahead(w->b, g->place + i, w->end);
        w->column[i] = t->idx + t->ptr[row];
        w->length[i] = length_of(t, row);
        w->next[0][i] = w->next[1][i] = 0;
    }
}

/* The next entries of lane i, as many of either kind as the task has lines for. */
static void take_entries(walk *w, const group *g, int i)
{
    const build *b = w->b;
    const int32_t *column = w->column[i], length = w->length[i];
    const int64_t middle = w->line + g->early, end[2] = {middle, middle + g->late};
    int64_t line[2] = {w->line, middle};
    int32_t *next[2] = {&w->next[0][i], &w->next[1][i]};
    int32_t e = !g->late || (g->early && *next[0] < *next[1]) ? *next[0] : *next[1];
    for (; e < length && (line[0] < end[0] || line[1] < end[1]); e++) {
        const int32_t position = position_of(b, w->first, column[e]);
        const bool late = is_late(g->start, position);
        if (e < *next[late] || line[late] == end[late]) continue;
        const bool own = position >= (g->task - TRS_STRIP_REACH) * WARP;
        const int64_t place = line[late]++ * WARP + i;
        b->s->entry[place] = e;
        b->s->code[place] = (uint16_t)(own ? position % TRS_STRIP_OWN : WANTED);
        *next[late] = e + 1;
    }
    for (int k = 0; k < 2; k++)
        if (line[k] < end[k]) *next[k] = length;
}

/* The line that takes up the piece before. */
static void write_link(walk *w, const group *g, int64_t line)
{
    for (int i = 0; i < g->count; i++) {
        w->b->s->entry[line * WARP + i] = TRS_STRIP_PIECE;
        w->b->s->code[line * WARP + i] = (uint16_t)(((g->task - 1) * WARP + i) % TRS_STRIP_OWN);
    }
}

static void clear_line(const trs_strips *s, int64_t line)
{
    int32_t *entry = s->entry + line * WARP;
    uint16_t *code = s->code + line * WARP;
    for (int i = 0; i < WARP; i++) entry[i] = TRS_STRIP_NOTHING;
    for (int i = 0; i < WARP; i++) code[i] = TRS_STRIP_ZERO;
}

static void write_rows(const walk *w, const group *g)
{
    int32_t *row = w->b->s->row + (int64_t)(w->first_task + g->task) * WARP;
    for (int i = 0; i < WARP; i++) {
        row[i] = i < g->count ? w->b->order[g->place + i].row : -1;
        if (g->piece && i < g->count) row[i] = TRS_STRIP_PIECE - row[i];
    }
}

/* No item that begins in this task, or in one that may begin before the slots of this one have been emptied, takes
 * the place of an item that this task reads. */
static bool walk_task(walk *w, const group *g)
{
    const trs_strips *s = w->b->s;
    const int64_t end = w->line + g->early + g->late;
    if (g->task == g->start) begin_group(w, g);
    write_rows(w, g);
    for (int64_t line = w->line; line < end + g->takes_up; line++) clear_line(s, line);
    for (int i = 0; i < g->count; i++) take_entries(w, g, i);
    if (g->takes_up) write_link(w, g, end);
    if (!reserve(w->b, w->items, lines_with_items(g) * WARP)) return false;
    number_items(w, g);
    w->line = end + g->takes_up;
    return true;
}

/* ---- a strip ---------------------------------------------------------------------------------------- */

typedef struct cursor { /* at a task */
    const outline *o;
    int32_t end; /* of the rows */
    group g;
} cursor;

static cursor begin_strip(const build *b, int64_t strip)
{
    const int32_t first = first_row(b, strip);
    const outline *o = b->group + first;
    return (cursor){o, first_row(b, strip + 1), first_task(o, first, 0)};
}

/* To the next task, if the strip has one. */
static bool go_on(cursor *c)
{
    if (next_task(&c->g)) return true;
    const int32_t next = c->g.place + c->g.count;
    if (next == c->end) return false;
    c->g = first_task(++c->o, next, c->g.task + 1);
    return true;
}

static bool walk_strip(build *b, int64_t strip)
{
    const trs_strip *from = &b->s->strip[strip];
    cursor now = begin_strip(b, strip), ahead = now;
    bool good, left = true;
    pen p = {b->s, from->task, from->chunk, from->item, {.line = from->item, .task = from->task}};
    walk w = {.b = b,
              .first = now.g.place,
              .end = now.end,
              .first_task = from->task,
              .line = from->item,
              .items = &b->items[strip]};
    for (int k = 0; k < BUCKETS; k++) w.newest[k] = -1;
    for (int k = 0; k < 2 * TEAM && left; k++, left = go_on(&ahead))
        w.more += lines_with_items(&ahead.g);
    do {
        add_task(&p, &now.g);
        good = walk_task(&w, &now.g);
        w.more -= lines_with_items(&now.g);
        if (left) w.more += lines_with_items(&ahead.g);
        left = left && go_on(&ahead);
    } while (good && go_on(&now));
    end_chunk(&p);
    for (int32_t k = 0; k < TRS_STRIP_FOREIGN && k < w.items->count; k++)
        b->s->code[w.slot[k].code] |= TRS_STRIP_LAST;
    return good;
}

static void walk_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int64_t s = begin; s < end; s++)
        if (!walk_strip(b, s)) b->failed = 1;
}

static void copy_items(void *user, int64_t begin, int64_t end)
{
    const build *b = user;
    for (int64_t k = begin; k < end; k++)
        if (b->items[k].count)
            memcpy(b->s->item + b->s->strip[k].item, b->items[k].item,
                   (size_t)b->items[k].count * sizeof *b->s->item);
}

static int collect_items(build *b, int threads)
{
    trs_strips *s = b->s;
    if (b->failed) return trs_fail(TRS_EMEM, "out of memory for the items of strips");
    for (int32_t k = 0; k < s->count; k++)
        s->strip[k + 1].item = s->strip[k].item + b->items[k].count;
    s->items = s->strip[s->count].item;
    s->item = trs_new(b->ctx, s->items, sizeof *s->item, "items of strips");
    if (!s->item) return TRS_EMEM;
    trs_share(threads, s->count, 1, copy_items, b);
    return TRS_OK;
}

/* ---- all of it ------------------------------------------------------------------------------------- */

static int build_new(build *b)
{
    trs_context *ctx = b->ctx;
    const int64_t n = b->t->n, count = b->s->count;
    b->order = trs_new_touched(ctx, n, sizeof *b->order, "rows of strips");
    b->position = trs_new_touched(ctx, n, sizeof *b->position, "positions of rows");
    b->group = trs_new_touched(ctx, n, sizeof *b->group, "groups of strips");
    b->items = trs_alloc_zero(&ctx->mem, count, sizeof *b->items);
    b->s->strip = trs_alloc_zero(&ctx->mem, count + 1, sizeof *b->s->strip);
    return b->order && b->position && b->group && b->items && b->s->strip
               ? TRS_OK
               : trs_fail(TRS_EMEM, "out of memory for strips");
}

static void build_free(build *b)
{
    const trs_memory *mem = &b->ctx->mem;
    for (int32_t k = 0; b->items && k < b->s->count; k++) trs_free(mem, b->items[k].item);
    trs_free(mem, b->to);
    trs_free(mem, b->order);
    trs_free(mem, b->position);
    trs_free(mem, b->group);
    trs_free(mem, b->items);
}

int trs_strips_make(trs_context *ctx, const trs_tri *t, const trs_levels *lv, int32_t rows,
                    trs_strips *s)
{
    build b = {.ctx = ctx, .t = t, .lv = lv, .s = s, .rows = rows};
    const int threads = trs_team_with_memory(ctx, t->nnz);
    *s = (trs_strips){.count = t->n / rows + (t->n % rows > 0)};
    int rc = build_new(&b);
    if (!rc) rc = order_rows(&b, threads);
    if (!rc) {
        trs_share(threads, s->count, 1, count_some, &b);
        rc = sum_up(&b);
    }
    if (!rc) {
        trs_share(threads, s->count, 1, walk_some, &b);
        rc = collect_items(&b, threads);
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
    trs_free(&ctx->mem, s->power);
    trs_free(&ctx->mem, s->code);
    trs_free(&ctx->mem, s->entry);
    s->strip = NULL;
    s->chunk = NULL;
    s->item = NULL;
    s->row = NULL;
    s->power = NULL;
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
    atomic_bool scaled; /* some rows */
} packing;

#define TRS_BODY "cuda/strips/schedule.c"
#include "base/each_type.h"

bool trs_strips_pack(const trs_context *ctx, const trs_strips *s, const trs_tri *t, void *packed)
{
    static const trs_range_fn table[] = TRS_PER_TYPE(pack_some);
    packing all = {s, t, packed, false};
    trs_share(trs_team(ctx, t->nnz), s->chunks, 64, table[t->dtype], &all);
    return all.scaled;
}

#else

#include "base/divide.h"

/* The entries of lane i, whose row is stored as in trs_strips.row. */
static void FN(pack_row)(packing *all, int32_t stored, int i, int64_t line, int lines, T *val,
                         T *inv, int16_t *power)
{
    const trs_tri *t = all->t;
    const int32_t row = stored < TRS_STRIP_NOTHING ? TRS_STRIP_PIECE - stored : stored;
    const T *from = (const T *)t->val + (row < 0 ? 0 : t->ptr[row]);
    for (int l = 0; l < lines; l++) {
        const int32_t e = all->s->entry[(line + l) * WARP + i];
        val[l * WARP] = e >= 0 ? from[e] : e == TRS_STRIP_PIECE ? -1 : 0;
    }
    const T d = row < 0 ? 1 : from[length_of(t, row)];
    *power = (int16_t)FN(power_for)(d);
    *inv = stored >= 0 ? 1 / d : stored < TRS_STRIP_NOTHING;
    if (*power == 0) return;
    all->scaled = true;
    if (stored >= 0) *inv = 1 / FN(times_power)(d, *power);
    for (int l = 0; l < lines; l++)
        if (all->s->entry[(line + l) * WARP + i] >= 0)
            val[l * WARP] = FN(times_power)(val[l * WARP], *power);
}

static void FN(pack_chunk)(packing *all, int64_t number)
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
     val + c->from[k] * WARP + i, inv + k * WARP + i, s->power + ((int64_t)c->task + k) * WARP + i);
}

static void FN(pack_some)(void *user, int64_t begin, int64_t end)
{
    for (int64_t c = begin; c < end; c++) FN(pack_chunk)(user, c);
}

#endif
