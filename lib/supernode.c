/* supernode.c: blocks, stages, tasks.
 *
 *     groups of rows (groups.c) -> blocks -> what each needs, by source -> levels of blocks ->
 *     sources by level -> stages, counted, then written -> pieces -> tasks by level
 *
 * Every pass is O(n + nnz), but for sorting the sources of each block.  Blocks are shared among threads: each
 * takes notes of its own, and writes where the counts say, so that the outcome is the same for any number of them. */
#include "config.h"

#include "groups.h"
#include "internal.h"
#include "stages.h"

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
        trs_fail(ctx, TRS_EMEM, "out of memory for the lengths of columns");
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
    int32_t stages; /* with those of pieces; then the first of them */
    int64_t column; /* as many; then the first of them */
    int64_t place;  /* as many numbers; then the first of them */
} needs;

typedef struct finder { /* one of the threads */
    trs_notes sources;
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
        trs_notes_free(&b->finder[k].sources);
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
        return trs_fail(ctx, TRS_EMEM, "out of memory for the blocks");
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
    source *all = trs_notes_more(&f->sources, *sources);
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
    b->needs[t] = (needs){trs_notes_keep(&f->sources, sources), sources, 0, 0, 0};
    return true;
}

/* Blocks before begin have their levels: give some to begin..end-1. */
static void find_levels(build *b, int32_t begin, int32_t end)
{
    for (int32_t t = begin; t < end; t++) {
        const needs *all = &b->needs[t];
        int32_t level = 0;
        for (int32_t s = 0; s < all->sources; s++) {
            const int32_t after = b->level[all->source[s].block] + 1;
            if (after > level) level = after;
        }
        b->level[t] = level;
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
    trs_progress progress[2];
    b->finders = most < b->threads ? (int)most : b->threads;
    b->finder = trs_alloc_zero(&b->ctx->mem, b->finders, sizeof *b->finder);
    for (int k = 0; k < b->finders && b->finder; k++) {
        finder *f = &b->finder[k];
        f->sources =
            (trs_notes){.mem = &b->ctx->mem, .size = sizeof(source), .most = b->o->entries};
        f->slot = trs_alloc_zero(&b->ctx->mem, b->blocks, sizeof *f->slot);
        if (!f->slot) b->failed = true;
    }
    if (b->finder && !b->failed) trs_stages_run(&all, 1, progress, b->finders, find_some, b);
    return b->finder && !b->failed
               ? TRS_OK
               : trs_fail(b->ctx, TRS_EMEM, "out of memory for the sources of blocks");
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
} pen;

static int32_t width_of(const source *s)
{
    return __builtin_popcountll(s->columns);
}

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

static void add_diagonal(pen *p)
{
    const source own = {.block = p->block, .columns = all_rows(p)};
    if (p->stage) p->b->block[p->block].diagonal = p->stages;
    add_stage(p, all_rows(p), &own, &own + 1, -1);
}

/* Zeros that a stage may take up so that there is one stage less: reading them costs as much. */
enum { PADDING = 512 };

/* The sources before end go to as few stages as bounded padding allows. */
static void add_early(pen *p, const source *s, const source *end)
{
    for (const source *e; s < end; s = e) {
        uint64_t rows = s->rows;
        int32_t columns = width_of(s);
        int64_t area = (int64_t)__builtin_popcountll(rows) * columns;
        for (e = s + 1; e < end; e++) {
            const uint64_t both = rows | e->rows;
            const int32_t wider = columns + width_of(e);
            const int64_t with = area + (int64_t)__builtin_popcountll(e->rows) * width_of(e);
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

static bool is_wide(const trs_block *k)
{
    return k->rows > TRS_NARROW;
}

static void add_block(pen *p)
{
    const needs *all = &p->b->needs[p->block];
    const source *first = all->source, *end = first + all->sources, *latest = end;
    const bool wide = is_wide(&p->b->block[p->block]);
    if (!wide && all->sources) add_stage(p, all_rows(p), first, end, end[-1].level);
    if (wide) {
        latest = latest_from(first, end);
        add_early(p, first, latest);
    }
    add_diagonal(p);
    if (latest < end) add_stage(p, all_rows(p), latest, end, end[-1].level);
}

/* Stages of the next piece of a block that has so many too many. */
static int32_t piece_of(int32_t over)
{
    return over < TRS_STAGES / 2 ? TRS_STAGES / 2 : over < TRS_STAGES ? over : TRS_STAGES;
}

/* The first stages of a block that has too many, as pieces. */
static void count_pieces(trs_block *k)
{
    for (int32_t over = k->stages - TRS_STAGES; is_wide(k) && over > 0; over -= piece_of(over))
        k->pieces++;
}

static void count_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int32_t t = (int32_t)begin; t < end; t++) {
        pen p = {.b = b, .block = t};
        sort_sources(b, &b->needs[t]);
        add_block(&p);
        b->needs[t].stages = b->block[t].stages = p.stages;
        b->needs[t].column = p.column;
        b->needs[t].place = p.place;
        count_pieces(&b->block[t]);
    }
}

static void cut_off(const build *b, int32_t t)
{
    trs_block *k = &b->block[t];
    trs_task *piece = b->piece + k->piece;
    for (int32_t p = 0; p < k->pieces; p++) {
        const int32_t some = piece_of(k->stages - TRS_STAGES);
        piece[p] = (trs_task){TRS_TASK_PIECE, t, 1, k->stage, some, k->piece + p, 0, 0};
        k->stage += some;
        k->stages -= some;
    }
}

static void write_some(void *user, int64_t begin, int64_t end)
{
    build *b = user;
    for (int32_t t = (int32_t)begin; t < end; t++) {
        const needs *from = &b->needs[t];
        pen p = {b, t, b->stage, from->stages, from->column, from->place};
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
        pieces += b->block[t].pieces;
        s->columns += here.column;
        s->store += here.place;
        s->wide += is_wide(&b->block[t]);
        if (s->columns > INT32_MAX || stages > INT32_MAX)
            return trs_fail(b->ctx, TRS_ESUPPORT, "too many columns in the stages for 32 bits");
    }
    s->blocks = b->blocks;
    s->stages = (int32_t)stages;
    s->pieces = b->pieces = (int32_t)pieces;
    return TRS_OK;
}

static int make_stages(build *b, trs_supernodes *s)
{
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
    if (!start) return trs_fail(ctx, TRS_EMEM, "out of memory for the order of blocks");
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

/* The level that a piece could have. */
static int32_t level_of(const trs_stage *stage, const trs_task *piece)
{
    return stage[piece->stage + piece->stages - 1].level + 1;
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

/* level by level: pieces that a block of the level waits for, wide blocks, other pieces, bundles */
static void order_tasks(const build *b, trs_supernodes *s, const trs_task *piece)
{
    const int32_t *level = b->key;
    int32_t t = 0, p = 0;
    for (int32_t l = 0; l < s->height; l++) {
        while (p < s->pieces && level[piece[p].block] == l) add_task(s, piece[p++]);
        for (; t < s->blocks && level[t] == l && is_wide(&s->block[t]); t++)
            add_task(
                s, (trs_task){TRS_TASK_WIDE, t, 1, s->block[t].stage, s->block[t].stages, 0, 0, 0});
        while (p < s->pieces && level_of(s->stage, &piece[p]) == l) add_task(s, piece[p++]);
        while (t < s->blocks && level[t] == l) {
            int32_t e = t;
            while (e < s->blocks && level[e] == l && e - t < TRS_BUNDLE) e++;
            add_task(s, (trs_task){TRS_TASK_BUNDLE, t, e - t, 0, 0, 0, 0, 0});
            t = e;
        }
    }
}

/* What the blocks of a level take that has the slowest ones: several right-hand sides wait for them. */
static void add_up_levels(const build *b, trs_supernodes *s)
{
    const int32_t *level = b->key;
    for (int32_t t = 0; t < s->blocks;) {
        const int32_t l = level[t];
        int32_t rows = 0, columns = 0;
        s->wide_levels += is_wide(&s->block[t]); /* these come first */
        for (; t < s->blocks && level[t] == l; t++) {
            const trs_block *k = &s->block[t];
            const int32_t wanted = k->stage < k->diagonal ? s->stage[k->stage].columns : 0;
            if (is_wide(k)) continue;
            if (k->rows > rows) rows = k->rows;
            if (wanted > columns) columns = wanted;
        }
        s->narrow_rows += rows;
        s->narrow_columns += columns;
    }
}

static int order(build *b, trs_supernodes *s)
{
    trs_context *ctx = b->ctx;
    b->ordered = s->block = trs_new_touched(ctx, s->blocks, sizeof *s->block, "blocks");
    s->task = trs_new(ctx, (int64_t)s->blocks + s->pieces, sizeof *s->task, "tasks");
    trs_task *piece = trs_new(ctx, s->pieces, sizeof *piece, "pieces");
    int rc = s->block && s->task && piece ? TRS_OK : TRS_EMEM;
    if (!rc) rc = order_pieces(b, s, piece);
    if (!rc) {
        trs_share(b->threads, b->blocks, blocks_at_a_time(b), order_some, b);
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
