/* supernodes.c: blocks, stages, tasks.
 *
 *     groups of rows (groups.c) -> blocks -> what each needs, by source -> levels of blocks, panels ->
 *     sources by level -> stages, counted, then written -> pieces -> tasks by level
 *
 * Every pass is O(n + nnz), but for sorting the sources of each block.  Blocks are shared among threads: each
 * takes notes of its own, and writes where the counts say, so that the outcome is the same for any number of them. */
#include "config.h"

#include "amalgamation.h"
#include "supernodes.h"
#include "matrix/matrix.h"
#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* ---- is it worth looking ----------------------------------------------------------------------------- */

static bool row_continues(const trs_tri *t, int32_t i)
{
    const int64_t *p = t->ptr;
    return p[i + 1] - p[i] == p[i] - p[i - 1] + 1 && t->idx[p[i + 1] - 2] == i - 1;
}

/* Entries in columns, and in rows, that have the pattern of their neighbour as far as counting can tell. */
static void count_common(const trs_tri *t, const int64_t *length, int64_t *columns, int64_t *rows)
{
    int64_t in_columns = 0, in_rows = 0;
    for (int32_t i = 1; i < t->n; i++) {
        const int64_t p = t->ptr[i], end = t->ptr[i + 1] - 1;
        if (row_continues(t, i)) in_rows += end - p;
        if (p < end && t->idx[end - 1] == i - 1 && length[i - 1] == length[i] + 1)
            in_columns += length[i - 1];
    }
    *columns = in_columns;
    *rows = in_rows;
}

/* length [j+1] = entries of column j below the diagonal. */
static int64_t *column_lengths(trs_context *ctx, const trs_tri *t)
{
    int64_t *length = trs_alloc_zero(&ctx->mem, (int64_t)t->n + 2, sizeof *length);
    if (!length) {
        trs_fail(TRS_EMEM, "out of memory for the lengths of columns");
        return NULL;
    }
    for (int32_t i = 0; i < t->n; i++)
        for (int64_t p = t->ptr[i]; p < t->ptr[i + 1] - 1; p++) length[t->idx[p] + 1]++;
    return length;
}

enum { COMMON_PERCENT = 15 };

bool trs_supernodes_common(const trs_tri *t, int64_t columns, int64_t rows)
{
    const double enough = COMMON_PERCENT * ((double)(t->nnz - t->n) + 1);
    return 100 * (double)columns > enough || 100 * (double)rows > enough;
}

enum { SAMPLES = 256, ROWS = 64, ENTRIES = 64 * ROWS, BESIDE_PERCENT = 10 };

/* Columns of one pattern stand side by side in their rows, and rows of one pattern below one another: does
 * that happen at all, in some of the rows? */
static bool may_have_common(const trs_tri *t)
{
    int64_t beside = 0, below = 0, entries = 1;
    for (int k = 0; k < SAMPLES; k++) {
        const int32_t from = (int32_t)((int64_t)t->n * k / SAMPLES);
        const int64_t most = entries + ENTRIES;
        for (int32_t i = from > 0 ? from : 1; i < t->n && i < from + ROWS && entries < most; i++) {
            const int64_t p = t->ptr[i], end = t->ptr[i + 1] - 1;
            entries += end - p;
            if (row_continues(t, i)) below += end - p;
            for (int64_t q = p; q + 1 < end; q++) beside += t->idx[q] + 1 == t->idx[q + 1];
        }
    }
    return 100 * beside > BESIDE_PERCENT * entries || 100 * below > BESIDE_PERCENT * entries;
}

bool trs_supernodes_likely(trs_context *ctx, const trs_tri *t)
{
    int64_t columns, rows;
    if (!may_have_common(t)) return false;
    int64_t *length = column_lengths(ctx, t);
    if (!length) return false;
    count_common(t, length + 1, &columns, &rows);
    trs_free(&ctx->mem, length);
    return trs_supernodes_common(t, columns, rows);
}

/* ---- blocks: in the order of the rows to begin with ------------------------------------------------- */

typedef struct source { /* an earlier block that a block needs */
    int32_t block, level;
    uint64_t rows, columns; /* of the block that need it; of it that they need */
} source;

typedef struct needs { /* of a block */
    source *source;    /* by level, once these are known */
    int32_t sources;
    int32_t early;  /* stages that pieces may take */
    int32_t stages; /* with those of pieces; then the first of them */
    int64_t column; /* as many; then the first of them */
    int64_t place;  /* as many numbers; then the first of them */
} needs;

typedef struct finder { /* one of the threads */
    trs_arena sources;
    int32_t *slot; /* [blocks] where it stands among the sources of this block, if it is there */
} finder;

typedef struct build {
    trs_context *ctx;
    const trs_outline *o;
    int threads;
    int32_t blocks;
    trs_block *block; /* [blocks] */
    needs *needs;     /* [blocks] */
    int32_t *level;   /* [blocks] */
    int32_t *of_row;  /* [n] block */
    int32_t *place;   /* [blocks] in the order of the tasks */
    int32_t *key;     /* [blocks] that this order goes by */
    int finders;
    finder *finder;
    atomic_int leveled; /* blocks that have levels, from the first one on */
    atomic_bool failed;
    int32_t pieces;
    trs_task *piece; /* [pieces] */
    trs_stage *stage;
    int32_t *column;
    trs_block *ordered; /* [blocks] */
} build;

static void free_build(build *b)
{
    const trs_memory *mem = &b->ctx->mem;
    for (int k = 0; b->finder && k < b->finders; k++) {
        trs_arena_free(&b->finder[k].sources);
        trs_free(mem, b->finder[k].slot);
    }
    void *all[] = {b->block, b->needs, b->level, b->of_row, b->place,
                   b->key,   b->piece, b->stage, b->column, b->finder};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) trs_free(mem, all[k]);
}

/* Groups of more than TRS_BLOCK rows are cut evenly. */
static int32_t cut(const trs_groups *g, trs_block *block)
{
    int32_t count = 0;
    for (int32_t k = 0; k < g->count; k++) {
        const int64_t from = g->first[k], all = g->first[k + 1] - from;
        const int64_t parts = (all + TRS_BLOCK - 1) / TRS_BLOCK;
        int64_t begin = 0;
        for (int64_t p = 1, end; p <= parts; p++, begin = end, count++) {
            end = p == parts ? all : all * p / parts;
            if (!block) continue;
            block[count] =
                (trs_block){.first = (int32_t)(from + begin), .rows = (int32_t)(end - begin)};
        }
    }
    return count;
}

/* Blocks that a thread claims at a time: few, since the last ones of a factor have most of the entries, but handing
 * levels on from one to the next (find_some) takes its time, too. */
static int64_t blocks_at_a_time(const build *b)
{
    return 1 + b->blocks / (16 * (int64_t)b->threads);
}

static void own_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int32_t t = (int32_t)begin; t < end; t++)
        for (int32_t k = 0; k < b->block[t].rows; k++) b->of_row[b->block[t].first + k] = t;
}

static int new_build(build *b, const trs_groups *g)
{
    trs_context *ctx = b->ctx;
    b->blocks = cut(g, NULL);
    b->block = trs_new_touched(ctx, b->blocks, sizeof *b->block, "blocks");
    b->needs = trs_new_touched(ctx, b->blocks, sizeof *b->needs, "sources of blocks");
    b->level = trs_new(ctx, b->blocks, sizeof *b->level, "levels of blocks");
    b->place = trs_new(ctx, b->blocks, sizeof *b->place, "the order of blocks");
    b->key = trs_new(ctx, b->blocks, sizeof *b->key, "the order of blocks");
    b->of_row = trs_new_touched(ctx, b->o->n, sizeof *b->of_row, "blocks of rows");
    if (!b->block || !b->needs || !b->level || !b->place || !b->key || !b->of_row)
        return trs_fail(TRS_EMEM, "out of memory for the blocks");
    cut(g, b->block);
    trs_share(b->threads, b->blocks, blocks_at_a_time(b), own_some, b);
    return TRS_OK;
}

/* ---- sources ------------------------------------------------------------------------------------------ */

static uint64_t low_bits(int32_t count)
{
    return count == 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1;
}

/* Block s among so many sources of a block, there or new; NULL: out of memory. */
static source *source_of(finder *f, int32_t *sources, int32_t s)
{
    const int32_t k = f->slot[s];
    source *all = trs_arena_more(&f->sources, *sources);
    if (!all) return NULL;
    if (k < *sources && all[k].block == s) return &all[k];
    all[*sources] = (source){.block = s};
    f->slot[s] = *sources;
    return &all[(*sources)++];
}

/* What these rows of a block, which have one pattern, need: all columns of row i before first. */
static bool add_row(const build *b, finder *f, int32_t *sources, uint64_t rows, int32_t i,
                    int32_t first)
{
    const trs_outline_row *row = &b->o->row[i];
    for (int32_t r = 0; r < row->runs && row->run[r].begin < first; r++) {
        const int32_t run_end = trs_run_end(b->o, i, r), end = run_end < first ? run_end : first;
        int32_t from = row->run[r].begin;
        for (int32_t s = b->of_row[from]; from < end; s++) {
            const int32_t base = b->block[s].first, next = base + b->block[s].rows;
            const int32_t to = next < end ? next : end;
            source *k = source_of(f, sources, s);
            if (!k) return false;
            k->rows |= rows;
            k->columns |= low_bits(to - base) & ~low_bits(from - base);
            from = to;
        }
    }
    return true;
}

/* Rows of one pattern are gone through once. */
static bool find_sources(build *b, finder *f, int32_t t)
{
    const trs_block *k = &b->block[t];
    int32_t sources = 0;
    for (int32_t i = 0, e; i < k->rows; i = e) {
        for (e = i + 1; e < k->rows && b->o->row[k->first + e].same; e++) continue;
        if (!add_row(b, f, &sources, low_bits(e) & ~low_bits(i), k->first + i, k->first))
            return false;
    }
    b->needs[t] = (needs){trs_arena_keep(&f->sources, sources), sources, 0, 0, 0, 0};
    return true;
}

/* ---- levels and panels --------------------------------------------------------------------------------- */

static bool is_wide(const trs_block *k)
{
    return k->rows > TRS_NARROW;
}

static int32_t width_of(const source *s)
{
    return __builtin_popcountll(s->columns);
}

static int64_t area_of(const source *s)
{
    return (int64_t)__builtin_popcountll(s->rows) * width_of(s);
}

static int32_t panel_of(const build *b, int32_t t)
{
    return t - b->block[t].member;
}

enum { LATEST_LEVELS = 2 }; /* before a panel: S has them */

/* Does block t go on with the panel of the one before?  At least half of its part of D and S has to be there, and all
 * others that it needs are earlier than the panel. */
static bool continues_panel(const build *b, int32_t t)
{
    if (t == 0 || !is_wide(&b->block[t]) || !is_wide(&b->block[t - 1])) return false;
    const int32_t first = panel_of(b, t - 1), level = b->level[first], rows = b->block[t].rows;
    const needs *all = &b->needs[t];
    int64_t latest = 0, latest_area = 0;
    int32_t members = 0;
    if (t - first == TRS_PANEL) return false;
    for (const source *s = all->source; s < all->source + all->sources; s++) {
        if (s->block < first && b->level[s->block] >= level) return false;
        if (s->block >= first) {
            if (2 * area_of(s) < (int64_t)rows * b->block[s->block].rows) return false;
            members++;
        } else if (b->level[s->block] >= level - LATEST_LEVELS) {
            latest += (int64_t)rows * width_of(s);
            latest_area += area_of(s);
        }
    }
    return members == t - first && 2 * latest_area >= latest;
}

/* Blocks before begin have their levels: give some to begin..end-1. */
static void find_levels(build *b, int32_t begin, int32_t end)
{
    for (int32_t t = begin; t < end; t++) {
        const needs *all = &b->needs[t];
        int32_t level = 0;
        if (continues_panel(b, t)) {
            b->block[t].member = b->block[t - 1].member + 1;
            b->level[t] = b->level[t - 1];
            continue;
        }
        for (int32_t s = 0; s < all->sources; s++) {
            const int32_t after = b->level[all->source[s].block] + 1;
            if (after > level) level = after;
        }
        b->level[t] = level;
    }
}

static void count_members(build *b, trs_supernodes *s)
{
    for (int32_t t = b->blocks - 1; t >= 0; t--) {
        trs_block *k = &b->block[t];
        const bool last = t + 1 == b->blocks || k[1].member == 0;
        k->members = last ? k->member + 1 : k[1].members;
        s->panels += k->members > 1 && k->member == 0;
    }
}

/* Levels by those who have just found the sources, one after the other: blocks are claimed in order, so somebody
 * is at those that one waits for.  begin < end: with nothing to do one would set leveled back. */
static void find_some(void *user, int thread, int32_t begin, int32_t end)
{
    build *b = user;
    for (int32_t t = begin; t < end && !b->failed; t++)
        if (!find_sources(b, &b->finder[thread], t)) b->failed = true;
    trs_wait_for(&b->leveled, begin);
    if (!b->failed) find_levels(b, begin, end);
    atomic_store_explicit(&b->leveled, end, memory_order_release);
}

/* As many threads as leave their slots within the size of the triangle. */
static int find_all_sources(build *b)
{
    const int64_t most = 1 + b->o->entries / ((int64_t)b->blocks + 1);
    const int64_t each = blocks_at_a_time(b);
    const int32_t chunks = (int32_t)((b->blocks + each - 1) / each); /* none of them is empty */
    const trs_level_stage all = {0, b->blocks, chunks};
    trs_stage_progress progress[2];
    b->finders = most < b->threads ? (int)most : b->threads;
    b->finder = trs_alloc_zero(&b->ctx->mem, b->finders, sizeof *b->finder);
    for (int k = 0; k < b->finders && b->finder; k++) {
        finder *f = &b->finder[k];
        f->sources =
            (trs_arena){.mem = &b->ctx->mem, .size = sizeof(source), .most = b->o->entries};
        f->slot = trs_alloc_zero(&b->ctx->mem, b->blocks, sizeof *f->slot);
        if (!f->slot) b->failed = true;
    }
    if (b->finder && !b->failed) trs_stages_run(&all, 1, progress, b->finders, find_some, b);
    return b->finder && !b->failed ? TRS_OK
                                   : trs_fail(TRS_EMEM, "out of memory for the sources of blocks");
}

static int by_level(const void *a, const void *b)
{
    const source *x = a, *y = b;
    if (x->level != y->level) return x->level < y->level ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

enum { FEW = 48 }; /* sources, which are nearly in order as they were found */

static void insert_each(source *s, int32_t count)
{
    for (int32_t k = 1, at; k < count; k++) {
        const source here = s[k];
        for (at = k; at > 0 && by_level(&here, &s[at - 1]) < 0; at--) s[at] = s[at - 1];
        s[at] = here;
    }
}

static void sort_sources(const build *b, const needs *all)
{
    source *s = all->source;
    for (int32_t k = 0; k < all->sources; k++) s[k].level = b->level[s[k].block];
    if (all->sources <= FEW) insert_each(s, all->sources);
    else qsort(s, (size_t)all->sources, sizeof *s, by_level);
}

/* ---- stages ----------------------------------------------------------------------------------------- */

typedef struct pen { /* where the stages of a block go; it counts alone when stage is NULL */
    const build *b;
    int32_t block;
    trs_stage *stage; /* all of them */
    int32_t stages;
    int64_t column, place;
    int32_t early; /* stages that pieces may take */
} pen;

static int64_t numbers_of(uint64_t rows, int32_t columns)
{
    return (int64_t)__builtin_popcountll(rows) * ((columns + 3) / 4 * 4);
}

/* A stage with the columns of some blocks. */
static void add_stage(pen *p, uint64_t rows, const source *s, const source *end, int32_t level)
{
    const build *b = p->b;
    const int64_t first = p->column;
    for (; s < end; s++) {
        if (!p->stage) {
            p->column += width_of(s);
            continue;
        }
        const int32_t from = b->block[s->block].first;
        for (uint64_t rest = s->columns; rest; rest &= rest - 1)
            b->column[p->column++] = from + __builtin_ctzll(rest);
    }
    const int32_t columns = (int32_t)(p->column - first);
    if (p->stage)
        p->stage[p->stages] = (trs_stage){.place = p->place,
                                          .rows = rows,
                                          .first = (int32_t)first,
                                          .columns = columns,
                                          .block = b->place[p->block],
                                          .level = level};
    p->stages++;
    p->place += numbers_of(rows, columns);
}

static uint64_t all_rows(const pen *p)
{
    return low_bits(p->b->block[p->block].rows);
}

/* Its rows of the diagonal block of a panel, or of its own, from block first on. */
static void add_diagonal(pen *p, int32_t first)
{
    trs_block *k = &p->b->block[p->block];
    for (int32_t u = first; u <= p->block; u++) {
        const source own = {.block = u, .columns = low_bits(p->b->block[u].rows)};
        if (p->stage && u == p->block) k->diagonal = p->stages;
        add_stage(p, all_rows(p), &own, &own + 1, -1);
    }
}

/* Zeros that a stage may take up so that there is one stage less: reading them costs as much. */
enum { PADDING = 512 };

/* The sources before end go to as few stages as bounded padding allows. */
static void add_early(pen *p, const source *s, const source *end)
{
    for (const source *e; s < end; s = e) {
        uint64_t rows = s->rows;
        int32_t columns = width_of(s);
        int64_t area = area_of(s);
        for (e = s + 1; e < end; e++) {
            const uint64_t both = rows | e->rows;
            const int32_t wider = columns + width_of(e);
            const int64_t with = area + area_of(e);
            if (wider > TRS_BLOCK || __builtin_popcountll(both) * wider - with > PADDING) break;
            rows = both, columns = wider, area = with;
        }
        add_stage(p, rows, s, e, e[-1].level);
    }
}

/* The first of the sources that make up the latest stage: those of the deepest level, as many as fit. */
static const source *latest_from(const source *first, const source *end)
{
    const source *s = end;
    int32_t columns = 0;
    while (s > first && s[-1].level == end[-1].level && columns + width_of(s - 1) <= TRS_BLOCK)
        columns += width_of(--s);
    return s;
}

/* s in a list of the latest blocks by level, TRS_LATEST at most. */
static int32_t add_latest(source *list, int32_t count, const source *s)
{
    int32_t k = count;
    while (k > 0 && by_level(&list[k - 1], s) > 0) k--;
    if (k > 0 && list[k - 1].block == s->block) {
        list[k - 1].columns |= s->columns;
        return count;
    }
    if (count == TRS_LATEST) {
        if (k == 0) return count;
        memmove(list, list + 1, (size_t)--k * sizeof *list);
        count--;
    } else memmove(list + k + 1, list + k, (size_t)(count - k) * sizeof *list);
    list[k] = *s;
    return count + 1;
}

/* The blocks of S, and all of their columns that some block of the panel needs. */
static int32_t latest_of_panel(const build *b, int32_t first, source *list)
{
    int32_t count = 0;
    for (int32_t u = first; u < first + b->block[first].members; u++) {
        const needs *all = &b->needs[u];
        for (int32_t k = all->sources - 1; k >= 0; k--) {
            const source *s = &all->source[k];
            if (s->level < b->level[first] - LATEST_LEVELS) break;
            if (s->block < first) count = add_latest(list, count, s);
        }
    }
    return count;
}

static void add_panel_block(pen *p)
{
    const needs *all = &p->b->needs[p->block];
    const int32_t panel = panel_of(p->b, p->block), begin = p->stages;
    const source *first = all->source, *end = first + all->sources;
    source latest[TRS_LATEST];
    const int32_t count = latest_of_panel(p->b, panel, latest);
    while (end > first && end[-1].block >= panel) end--;
    while (count && end > first && by_level(&end[-1], &latest[0]) >= 0) end--;
    add_early(p, first, end);
    p->early = p->stages - begin;
    add_diagonal(p, panel);
    for (int32_t k = 0; k < count; k++)
        add_stage(p, all_rows(p), &latest[k], &latest[k + 1], latest[k].level);
}

static void add_block(pen *p)
{
    const needs *all = &p->b->needs[p->block];
    const trs_block *k = &p->b->block[p->block];
    const source *first = all->source, *end = first + all->sources, *latest = end;
    const bool wide = is_wide(k);
    const int32_t begin = p->stages;
    if (k->members > 1) {
        add_panel_block(p);
        return;
    }
    if (!wide && all->sources) add_stage(p, all_rows(p), first, end, end[-1].level);
    if (wide) {
        latest = latest_from(first, end);
        add_early(p, first, latest);
    }
    add_diagonal(p, p->block);
    if (latest < end) add_stage(p, all_rows(p), latest, end, end[-1].level);
    p->early = wide ? p->stages - begin : 0;
}

/* Stages of the next piece of a block that has so many too many. */
static int32_t piece_of(int32_t over)
{
    return over < TRS_STAGES / 2 ? TRS_STAGES / 2 : over < TRS_STAGES ? over : TRS_STAGES;
}

/* The first stages of a block that has too many, as pieces. */
static void count_pieces(trs_block *k, int32_t early)
{
    for (int32_t over = early - TRS_STAGES; over > 0; over -= piece_of(over)) k->pieces++;
}

static void sort_some(void *user, int64_t begin, int64_t end)
{
    const build *b = user;
    for (int64_t t = begin; t < end; t++) sort_sources(b, &b->needs[t]);
}

static void count_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int32_t t = (int32_t)begin; t < end; t++) {
        pen p = {.b = b, .block = t};
        add_block(&p);
        b->needs[t].early = p.early;
        b->needs[t].stages = b->block[t].stages = p.stages;
        b->needs[t].column = p.column;
        b->needs[t].place = p.place;
        count_pieces(&b->block[t], p.early);
    }
}

static bool has_rest(const trs_block *k)
{
    return k->members > 1;
}

static void cut_off(const build *b, int32_t t)
{
    trs_block *k = &b->block[t];
    trs_task *piece = b->piece + k->piece;
    int32_t early = b->needs[t].early;
    for (int32_t p = 0; p < k->pieces + has_rest(k); p++) {
        const bool rest = p == k->pieces;
        const int32_t some = rest ? early : piece_of(early - TRS_STAGES);
        const trs_task_kind kind = rest ? TRS_TASK_REST : TRS_TASK_PIECE;
        piece[p] = (trs_task){kind, t, 1, k->stage, some, k->piece + p, 0, 0};
        early -= some;
        k->stage += some;
        k->stages -= some;
    }
}

static void write_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int32_t t = (int32_t)begin; t < end; t++) {
        const needs *from = &b->needs[t];
        pen p = {b, t, b->stage, from->stages, from->column, from->place, 0};
        add_block(&p);
        b->block[t].stage = from->stages;
        cut_off(b, t);
    }
}

/* From counts to beginnings. */
static int sum_up(build *b, trs_supernodes *s)
{
    int64_t stages = 0, pieces = 0;
    for (int32_t t = 0; t < b->blocks; t++) {
        needs *k = &b->needs[t];
        const needs here = *k;
        k->stages = (int32_t)stages;
        k->column = s->columns;
        k->place = s->store;
        b->block[t].piece = (int32_t)pieces;
        stages += here.stages;
        pieces += b->block[t].pieces + has_rest(&b->block[t]);
        s->columns += here.column;
        s->store += here.place;
        s->wide += is_wide(&b->block[t]);
        if (s->columns > INT32_MAX || stages > INT32_MAX ||
            b->o->n + pieces * TRS_BLOCK > INT32_MAX)
            return trs_fail(TRS_ESUPPORT, "too many columns in the stages for 32 bits");
    }
    s->blocks = b->blocks;
    s->stages = (int32_t)stages;
    s->pieces = b->pieces = (int32_t)pieces;
    return TRS_OK;
}

static int make_stages(build *b, trs_supernodes *s)
{
    trs_share(b->threads, b->blocks, blocks_at_a_time(b), sort_some, b);
    trs_share(b->threads, b->blocks, blocks_at_a_time(b), count_some, b);
    int rc = sum_up(b, s);
    if (rc) return rc;
    b->stage = trs_new_touched(b->ctx, s->stages, sizeof *b->stage, "stages of supernodes");
    b->column = trs_new_touched(b->ctx, s->columns, sizeof *b->column, "columns of supernodes");
    b->piece = trs_new(b->ctx, s->pieces, sizeof *b->piece, "pieces");
    if (!b->stage || !b->column || !b->piece) return TRS_EMEM;
    trs_share(b->threads, b->blocks, blocks_at_a_time(b), write_some, b);
    return TRS_OK;
}

/* ---- order ------------------------------------------------------------------------------------------ */

/* Stable counting sort: place [k] of each key [k] < keys. */
static int sort_keys(trs_context *ctx, const int32_t *key, int32_t count, int32_t keys,
                     int32_t *place)
{
    int32_t *start = trs_alloc_zero(&ctx->mem, (int64_t)keys + 1, sizeof *start);
    if (!start) return trs_fail(TRS_EMEM, "out of memory for the order of blocks");
    for (int32_t k = 0; k < count; k++) start[key[k] + 1]++;
    for (int32_t k = 0; k < keys; k++) start[k + 1] += start[k];
    for (int32_t k = 0; k < count; k++) place[k] = start[key[k]]++;
    trs_free(&ctx->mem, start);
    return TRS_OK;
}

/* Blocks by level, wide ones first. */
static int place_blocks(build *b, trs_supernodes *s)
{
    for (int32_t t = 0; t < b->blocks; t++) {
        b->key[t] = 2 * b->level[t] + !is_wide(&b->block[t]);
        if (b->level[t] + 1 > s->height) s->height = b->level[t] + 1;
    }
    return sort_keys(b->ctx, b->key, b->blocks, 2 * s->height, b->place);
}

/* key: the levels in the new order. */
static void order_some(void *user, int64_t begin, int64_t end)
{
    const build *b = user;
    for (int64_t t = begin; t < end; t++) {
        b->ordered[b->place[t]] = b->block[t];
        b->key[b->place[t]] = b->level[t];
    }
}

/* The level that a piece, or a rest, could have. */
static int32_t level_of(const trs_stage *stage, const trs_task *piece)
{
    return piece->stages ? stage[piece->stage + piece->stages - 1].level + 1 : 0;
}

/* Pieces by that level, those first whose block is of the same one. */
static int order_pieces(const build *b, const trs_supernodes *s, trs_task *piece)
{
    const int32_t count = s->pieces;
    int32_t *key = trs_new(b->ctx, 2 * (int64_t)count, sizeof *key, "the order of pieces");
    if (!key) return TRS_EMEM;
    const trs_task *from = b->piece;
    for (int32_t k = 0; k < count; k++) {
        const int32_t level = level_of(b->stage, &from[k]);
        key[k] = 2 * level + (b->level[from[k].block] > level);
    }
    int rc = sort_keys(b->ctx, key, count, 2 * s->height, key + count);
    for (int32_t k = 0; k < count && !rc; k++) {
        piece[key[count + k]] = from[k];
        piece[key[count + k]].block = b->place[from[k].block];
    }
    trs_free(&b->ctx->mem, key);
    return rc;
}

static void add_task(trs_supernodes *s, trs_task t)
{
    if (t.stages) {
        const trs_stage *a = &s->stage[t.stage], *e = &s->stage[t.stage + t.stages - 1];
        t.column = a->first;
        t.columns = e->first + e->columns - a->first;
    }
    s->task[s->tasks++] = t;
}

/* A wide block, or a rest: for each of its slices. */
static void add_slices(trs_supernodes *s, trs_task t)
{
    for (t.piece = 0; t.piece < s->block[t.block].slices; t.piece++) add_task(s, t);
}

static void add_wide(trs_supernodes *s, int32_t t)
{
    const trs_block *k = &s->block[t];
    const trs_task_kind kind = k->members > 1 ? TRS_TASK_PANEL : TRS_TASK_WIDE;
    add_slices(s, (trs_task){kind, t, 1, k->stage, k->stages, 0, 0, 0});
}

static void add_piece(trs_supernodes *s, const trs_task *piece)
{
    if (piece->kind == TRS_TASK_REST) add_slices(s, *piece);
    else add_task(s, *piece);
}

/* A narrow block for more than a warp. */
static bool is_alone(const trs_supernodes *s, const trs_block *k)
{
    const int32_t columns = k->stages > 1 ? s->stage[k->stage].columns : 0;
    return (int64_t)k->rows * columns > TRS_ALONE;
}

/* So many narrow blocks from t on, of one level. */
static int32_t bundle_of(const trs_supernodes *s, const int32_t *level, int32_t t)
{
    int32_t e = t + 1;
    if (is_alone(s, &s->block[t])) return 1;
    while (e < s->blocks && level[e] == level[t] && e - t < TRS_BUNDLE &&
           !is_alone(s, &s->block[e]))
        e++;
    return e - t;
}

/* Level by level: pieces that a block of the level waits for, wide blocks, other pieces, bundles */
static void order_tasks(const build *b, trs_supernodes *s, const trs_task *piece)
{
    const int32_t *level = b->key;
    int32_t t = 0, p = 0;
    for (int32_t l = 0; l < s->height; l++) {
        while (p < s->pieces && level[piece[p].block] == l) add_piece(s, &piece[p++]);
        for (; t < s->blocks && level[t] == l && is_wide(&s->block[t]); t++) add_wide(s, t);
        while (p < s->pieces && level_of(s->stage, &piece[p]) == l) add_piece(s, &piece[p++]);
        while (t < s->blocks && level[t] == l) {
            const int32_t some = bundle_of(s, level, t);
            add_task(s, (trs_task){TRS_TASK_BUNDLE, t, some, 0, 0, 0, 0, 0});
            t += some;
        }
    }
}

enum { FEW_BLOCKS = 16 }; /* of a level: with four slices each, half of the SMs of a large GPU */

/* Slices of the blocks, where there is little else to do than to wait for them; returns how many tasks there are at
 * most. */
static int64_t count_slices(const build *b, trs_supernodes *s)
{
    int64_t tasks = 0;
    for (int32_t t = 0, end; t < s->blocks; t = end) {
        for (end = t; end < s->blocks && b->key[end] == b->key[t] && is_wide(&s->block[end]);)
            end++;
        const bool few = end - t <= FEW_BLOCKS;
        if (end == t) end++;
        for (int32_t k = t; k < end; k++) {
            trs_block *block = &s->block[k];
            const bool sliced = few && block->members > 1;
            block->slices = sliced ? (block->rows + TRS_SLICE - 1) / TRS_SLICE : 1;
            tasks += (1 + has_rest(block)) * block->slices + block->pieces;
        }
    }
    return tasks;
}

/* What the cost model goes by: of each level that which takes longest. */
static void add_up_levels(const build *b, trs_supernodes *s)
{
    const int32_t *level = b->key;
    for (int32_t t = 0; t < s->blocks;) {
        const int32_t l = level[t];
        int32_t rows = 0, members = 1;
        s->wide_levels += is_wide(&s->block[t]); /* these come first */
        for (; t < s->blocks && level[t] == l; t++) {
            const trs_block *k = &s->block[t];
            if (k->members > members) members = k->members;
            if (!is_wide(k) && k->rows > rows) rows = k->rows;
        }
        s->narrow_rows += rows;
        s->chained += members - 1;
    }
}

static int order(build *b, trs_supernodes *s)
{
    trs_context *ctx = b->ctx;
    b->ordered = s->block = trs_new_touched(ctx, s->blocks, sizeof *s->block, "blocks");
    trs_task *piece = trs_new(ctx, s->pieces, sizeof *piece, "pieces");
    int rc = s->block && piece ? order_pieces(b, s, piece) : TRS_EMEM;
    if (!rc) {
        trs_share(b->threads, b->blocks, blocks_at_a_time(b), order_some, b);
        s->task = trs_new(ctx, count_slices(b, s), sizeof *s->task, "tasks");
        rc = s->task ? TRS_OK : TRS_EMEM;
    }
    if (!rc) {
        s->stage = b->stage;
        s->column = b->column;
        b->stage = NULL, b->column = NULL;
        order_tasks(b, s, piece);
        add_up_levels(b, s);
    }
    trs_free(&ctx->mem, piece);
    return rc;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

int trs_supernodes_make(trs_context *ctx, const trs_tri *t, trs_supernodes *s)
{
    trs_outline o;
    build b = {.ctx = ctx, .o = &o, .threads = trs_team_with_memory(ctx, t->nnz)};
    trs_groups g = {0};
    memset(s, 0, sizeof *s);
    int rc = trs_outline_make(ctx, t, &o);
    if (!rc) rc = trs_groups_find(ctx, &o, &g);
    if (!rc) rc = new_build(&b, &g);
    trs_free(&ctx->mem, g.first);
    if (!rc) rc = find_all_sources(&b);
    trs_outline_free(ctx, &o);
    if (!rc) count_members(&b, s);
    if (!rc) rc = place_blocks(&b, s);
    if (!rc) rc = make_stages(&b, s);
    if (!rc) rc = order(&b, s);
    free_build(&b);
    if (rc) trs_supernodes_free(ctx, s);
    return rc;
}

void trs_supernodes_free(trs_context *ctx, trs_supernodes *s)
{
    trs_free(&ctx->mem, s->block);
    trs_free(&ctx->mem, s->stage);
    trs_free(&ctx->mem, s->column);
    trs_free(&ctx->mem, s->task);
    s->block = NULL, s->stage = NULL, s->column = NULL, s->task = NULL;
}
