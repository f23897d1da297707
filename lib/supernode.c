/* supernode.c: blocks, stages, tasks.
 *
 *     lines -> fundamental supernodes, merged with their neighbours while little is added -> blocks
 *     blocks -> what each needs, by source, sources by level -> stages -> pieces -> tasks by level
 *
 * Columns of one pattern are what a factor L has, rows of one pattern what its transpose has: the merging
 * goes over whichever there is more of, as lines.  Every pass is O(n + nnz), but for sorting the sources
 * of each block.  The idea of stages, and of merging with bounded fill, is that of relaxed supernodes
 * (Ashcraft, Grimes 1989), for any pattern: nothing is taken from an elimination tree. */
#include "config.h"

#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- lines: the columns of a triangle, or its rows counted backwards ------------------------------- */

typedef struct lines {
    int32_t n;
    int64_t *ptr; /* [n+1] */
    int32_t *idx; /* later lines that line j touches, ascending */
    bool rows;    /* line j is row n-1-j */
} lines;

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

enum { COMMON_PERCENT = 30 };

bool trs_supernodes_common(const trs_tri *t, int64_t columns, int64_t rows)
{
    const double enough = COMMON_PERCENT * ((double)(t->nnz - t->n) + 1);
    return 100 * (double)columns > enough || 100 * (double)rows > enough;
}

enum { SAMPLES = 256, ROWS = 64, BESIDE_PERCENT = 10 };

/* Columns of one pattern stand side by side in their rows, and rows of one pattern below one another: does
 * that happen at all, in some of the rows? */
static bool may_have_common(const trs_tri *t)
{
    int64_t beside = 0, below = 0, entries = 1;
    for (int k = 0; k < SAMPLES; k++) {
        const int32_t from = (int32_t)((int64_t)t->n * k / SAMPLES);
        for (int32_t i = from > 0 ? from : 1; i < t->n && i < from + ROWS; i++) {
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

static void fill_columns(const trs_tri *t, lines *l)
{
    for (int32_t j = 0; j < t->n; j++) l->ptr[j + 1] += l->ptr[j];
    for (int32_t i = 0; i < t->n; i++)
        for (int64_t p = t->ptr[i]; p < t->ptr[i + 1] - 1; p++) l->idx[l->ptr[t->idx[p]]++] = i;
    memmove(l->ptr + 1, l->ptr, (size_t)t->n * sizeof *l->ptr);
    l->ptr[0] = 0;
}

static void fill_rows(const trs_tri *t, lines *l)
{
    int64_t q = 0;
    for (int32_t j = 0; j < t->n; j++) {
        const int32_t i = t->n - 1 - j;
        l->ptr[j] = q;
        for (int64_t p = t->ptr[i + 1] - 2; p >= t->ptr[i]; p--) l->idx[q++] = t->n - 1 - t->idx[p];
    }
    l->ptr[t->n] = q;
}

static int make_lines(trs_context *ctx, const trs_tri *t, lines *l)
{
    int64_t columns, rows;
    *l = (lines){.n = t->n};
    l->ptr = column_lengths(ctx, t);
    if (l->ptr) l->idx = trs_new(ctx, t->nnz - t->n, sizeof *l->idx, "the pattern by columns");
    if (!l->idx) return TRS_EMEM;
    count_common(t, l->ptr + 1, &columns, &rows);
    l->rows = rows > columns;
    if (l->rows) fill_rows(t, l);
    else fill_columns(t, l);
    return TRS_OK;
}

/* ---- supernodes ------------------------------------------------------------------------------------ */

/* A stack of groups of lines; list holds, one after the other, the later lines that each touches. */
typedef struct groups {
    const lines *l;
    int32_t count;
    int32_t *start; /* [n+1] first line of each group, and the line after the last */
    int64_t *from;  /* [n+1] its part of list */
    int64_t *area;  /* [n] entries before merging */
    int32_t *list, *scratch;
} groups;

static int64_t trapezoid(int64_t width, int64_t others)
{
    return width * (width + 1) / 2 + width * others;
}

/* May so many lines together store that much, having area entries?  A narrow block costs its latency, not
 * its bytes: it may be mostly zeros. */
static bool worth(int64_t width, int64_t others, int64_t area)
{
    const int percent = width <= 8 ? 500 : width <= 16 ? 200 : width <= 32 ? 40 : 10;
    return trapezoid(width, others) * 100 <= area * (100 + percent);
}

/* Does line j + 1 have the pattern of line j? */
static bool continues(const lines *l, int32_t j)
{
    const int64_t p = l->ptr[j], q = l->ptr[j + 1], end = l->ptr[j + 2];
    return q - p == end - q + 1 && l->idx[p] == j + 1 &&
           !memcmp(l->idx + p + 1, l->idx + q, (size_t)(end - q) * sizeof *l->idx);
}

/* A fundamental supernode from line j on; the line after it. */
static int32_t push(groups *g, int32_t j)
{
    const lines *l = g->l;
    int32_t e = j + 1;
    while (e < l->n && continues(l, e - 1)) e++;
    const int64_t p = l->ptr[e - 1], others = l->ptr[e] - p, from = g->from[g->count];
    memcpy(g->list + from, l->idx + p, (size_t)others * sizeof *g->list);
    g->area[g->count++] = trapezoid(e - j, others);
    g->start[g->count] = e;
    g->from[g->count] = from + others;
    return e;
}

static int64_t unite(const int32_t *a, int64_t na, const int32_t *b, int64_t nb, int32_t *to)
{
    int64_t i = 0, k = 0, count = 0;
    while (i < na || k < nb) {
        const int32_t v = k == nb || (i < na && a[i] <= b[k]) ? a[i] : b[k];
        if (i < na && a[i] == v) i++;
        if (k < nb && b[k] == v) k++;
        to[count++] = v;
    }
    return count;
}

/* Merge the last two groups, if that is worth it. */
static bool merge(groups *g)
{
    const int32_t b = g->count - 1, a = b - 1;
    const int64_t all = g->start[b + 1] - g->start[a], area = g->area[a] + g->area[b];
    const int32_t *from = g->list + g->from[a], *mid = g->list + g->from[b];
    const int64_t nb = g->from[b + 1] - g->from[b];
    const int32_t *tail = from; /* of a: what lies beyond b */
    while (tail < mid && *tail < g->start[b + 1]) tail++;
    const int64_t na = mid - tail;
    if (tail == from && all > 8) return false;
    if (!worth(all, na > nb ? na : nb, area)) return false;
    const int64_t others = unite(tail, na, mid, nb, g->scratch);
    if (!worth(all, others, area)) return false;
    memcpy(g->list + g->from[a], g->scratch, (size_t)others * sizeof *g->list);
    g->area[a] = area;
    g->start[b] = g->start[b + 1];
    g->from[b] = g->from[a] + others;
    g->count--;
    return true;
}

static int new_groups(trs_context *ctx, const lines *l, groups *g)
{
    const int64_t n = l->n;
    *g = (groups){.l = l};
    g->start = trs_new(ctx, n + 1, sizeof *g->start, "supernodes");
    g->from = trs_new(ctx, n + 1, sizeof *g->from, "supernodes");
    g->area = trs_new(ctx, n, sizeof *g->area, "supernodes");
    g->list = trs_new(ctx, l->ptr[n], sizeof *g->list, "patterns of supernodes");
    g->scratch = trs_new(ctx, n, sizeof *g->scratch, "patterns of supernodes");
    return g->start && g->from && g->area && g->list && g->scratch ? TRS_OK : TRS_EMEM;
}

/* relaxed: merge neighbours */
static void find_groups(groups *g, bool relaxed)
{
    g->count = 0;
    g->start[0] = 0;
    g->from[0] = 0;
    for (int32_t j = 0; j < g->l->n;) {
        j = push(g, j);
        while (relaxed && g->count > 1 && merge(g)) continue;
    }
}

/* Levels of the groups, from the lines that each touches: a group comes after all that touch it. */
static int32_t group_height(const groups *g, int32_t *level, int32_t *of_line)
{
    int32_t height = 0;
    for (int32_t k = 0; k < g->count; k++) {
        level[k] = 0;
        for (int32_t j = g->start[k]; j < g->start[k + 1]; j++) of_line[j] = k;
    }
    for (int32_t k = 0; k < g->count; k++) {
        const int32_t end = level[k] + (g->start[k + 1] - g->start[k] + TRS_BLOCK - 1) / TRS_BLOCK;
        if (end > height) height = end;
        for (int64_t p = g->from[k]; p < g->from[k + 1]; p++) {
            const int32_t to = of_line[g->list[p]];
            if (level[to] < end) level[to] = end;
        }
    }
    return height;
}

/* Seconds of a solve, roughly: a step of the height, a number read, a block handled. */
static double guess(const groups *g, int32_t *scratch)
{
    double area = 0, blocks = 0;
    for (int32_t k = 0; k < g->count; k++) {
        const int64_t width = g->start[k + 1] - g->start[k];
        area += (double)trapezoid(width, g->from[k + 1] - g->from[k]);
        blocks += (double)((width + TRS_BLOCK - 1) / TRS_BLOCK);
    }
    return 1.2e-6 * group_height(g, scratch, scratch + g->l->n) + 1e-11 * area + 0.7e-9 * blocks;
}

/* Relaxed supernodes, unless they store much and shorten the way through little. */
static int make_groups(trs_context *ctx, const lines *l, groups *g)
{
    int rc = new_groups(ctx, l, g);
    int32_t *scratch = trs_new(ctx, 2 * (int64_t)l->n, sizeof *scratch, "levels of supernodes");
    if (!scratch) rc = TRS_EMEM;
    if (!rc) {
        find_groups(g, false);
        const double plain = guess(g, scratch);
        find_groups(g, true);
        if (guess(g, scratch) > plain) find_groups(g, false);
    }
    trs_free(&ctx->mem, scratch);
    return rc;
}

static void free_groups(trs_context *ctx, groups *g)
{
    trs_free(&ctx->mem, g->start);
    trs_free(&ctx->mem, g->from);
    trs_free(&ctx->mem, g->area);
    trs_free(&ctx->mem, g->list);
    trs_free(&ctx->mem, g->scratch);
}

/* ---- lists that grow ------------------------------------------------------------------------------- */

typedef struct list {
    char *p;
    int64_t count, room;
    size_t size;
} list;

/* Room for more elements behind the last; NULL: out of memory. */
static void *add(trs_context *ctx, list *l, int64_t more)
{
    if (l->count + more > l->room) {
        const int64_t room = 2 * (l->count + more) + 64;
        char *p = trs_new(ctx, room, l->size, "the stages of supernodes");
        if (!p) return NULL;
        if (l->count) memcpy(p, l->p, (size_t)l->count * l->size);
        trs_free(&ctx->mem, l->p);
        l->p = p;
        l->room = room;
    }
    l->count += more;
    return l->p + (size_t)(l->count - more) * l->size;
}

/* ---- blocks: in the order of the rows to begin with ------------------------------------------------- */

typedef struct source { /* an earlier block that a block needs */
    int32_t block, level;
    uint64_t rows;   /* of the block that need it */
    int32_t columns; /* of it that they need */
    int32_t first;   /* of them in build.sorted */
} source;

typedef struct build {
    trs_context *ctx;
    const trs_tri *t;
    int32_t blocks, wide;
    trs_block *block;     /* [blocks] */
    int32_t *level;       /* [blocks] */
    int32_t *of_row;      /* [n] block */
    int32_t *seen, *slot; /* [blocks] last block that needed it, and where it stands in source */
    int32_t *mark, *met, *sorted; /* [n] last block that needed a column; columns met; by source */
    source *source;               /* [blocks] */
    int32_t sources;
    int64_t store;
    list stage, column, piece; /* piece: of trs_task */
} build;

static void free_build(build *b)
{
    const trs_memory *mem = &b->ctx->mem;
    void *all[] = {b->block, b->level,  b->of_row, b->seen,    b->slot,     b->mark,
                   b->met,   b->sorted, b->source, b->stage.p, b->column.p, b->piece.p};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) trs_free(mem, all[k]);
}

/* Groups of more than TRS_BLOCK lines are cut evenly. */
static int32_t cut(const groups *g, trs_block *block)
{
    int32_t count = 0;
    for (int32_t k = 0; k < g->count; k++) {
        const int64_t from = g->start[k], all = g->start[k + 1] - from;
        const int64_t parts = (all + TRS_BLOCK - 1) / TRS_BLOCK;
        for (int64_t p = 0; p < parts; p++, count++) {
            if (!block) continue;
            const int64_t a = from + all * p / parts, e = from + all * (p + 1) / parts;
            block[count].first = (int32_t)(g->l->rows ? g->l->n - e : a);
            block[count].rows = (int32_t)(e - a);
        }
    }
    for (int32_t a = 0, e = count - 1; block && g->l->rows && a < e; a++, e--) {
        trs_block swap = block[a];
        block[a] = block[e], block[e] = swap;
    }
    return count;
}

static int new_build(build *b, const groups *g)
{
    trs_context *ctx = b->ctx;
    const int64_t n = b->t->n;
    b->blocks = cut(g, NULL);
    b->stage.size = sizeof(trs_stage);
    b->column.size = sizeof(int32_t);
    b->piece.size = sizeof(trs_task);
    b->block = trs_alloc_zero(&ctx->mem, b->blocks, sizeof *b->block);
    b->level = trs_new(ctx, b->blocks, sizeof *b->level, "levels of blocks");
    b->of_row = trs_new(ctx, n, sizeof *b->of_row, "blocks of rows");
    b->seen = trs_new(ctx, b->blocks, sizeof *b->seen, "sources of blocks");
    b->slot = trs_new(ctx, b->blocks, sizeof *b->slot, "sources of blocks");
    b->mark = trs_new(ctx, n, sizeof *b->mark, "columns of blocks");
    b->met = trs_new(ctx, n, sizeof *b->met, "columns of blocks");
    b->sorted = trs_new(ctx, n, sizeof *b->sorted, "columns of blocks");
    b->source = trs_new(ctx, b->blocks, sizeof *b->source, "sources of blocks");
    if (!b->block || !b->level || !b->of_row || !b->seen || !b->slot || !b->mark || !b->met ||
        !b->sorted || !b->source)
        return trs_fail(ctx, TRS_EMEM, "out of memory for the blocks");
    cut(g, b->block);
    for (int32_t t = 0; t < b->blocks; t++) {
        b->seen[t] = -1;
        for (int32_t k = 0; k < b->block[t].rows; k++) b->of_row[b->block[t].first + k] = t;
    }
    for (int64_t i = 0; i < n; i++) b->mark[i] = -1;
    return TRS_OK;
}

static int by_level(const void *a, const void *b)
{
    const source *x = a, *y = b;
    if (x->level != y->level) return x->level < y->level ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

/* The sources of block t by level, and their columns in sorted; the level of t. */
static void find_sources(build *b, int32_t t)
{
    const trs_block *k = &b->block[t];
    int32_t met = 0, at = 0;
    b->sources = 0;
    for (int32_t i = 0; i < k->rows; i++)
        for (int64_t p = b->t->ptr[k->first + i]; b->t->idx[p] < k->first; p++) {
            const int32_t j = b->t->idx[p], s = b->of_row[j];
            if (b->seen[s] != t) {
                b->seen[s] = t;
                b->slot[s] = b->sources;
                b->source[b->sources++] = (source){.block = s, .level = b->level[s]};
            }
            source *from = &b->source[b->slot[s]];
            from->rows |= (uint64_t)1 << i;
            if (b->mark[j] == t) continue;
            b->mark[j] = t;
            b->met[met++] = j;
            from->columns++;
        }
    qsort(b->source, (size_t)b->sources, sizeof *b->source, by_level);
    for (int32_t s = 0; s < b->sources; s++) {
        b->slot[b->source[s].block] = s;
        b->source[s].first = at;
        at += b->source[s].columns;
        b->source[s].columns = 0;
    }
    for (int32_t m = 0; m < met; m++) {
        source *from = &b->source[b->slot[b->of_row[b->met[m]]]];
        b->sorted[from->first + from->columns++] = b->met[m];
    }
    b->level[t] = b->sources ? b->source[b->sources - 1].level + 1 : 0;
}

/* ---- stages ----------------------------------------------------------------------------------------- */

/* columns NULL: the rows of the block themselves. */
static int add_stage(build *b, int32_t t, uint64_t rows, const int32_t *columns, int32_t count,
                     int32_t level)
{
    trs_stage *s = add(b->ctx, &b->stage, 1);
    int32_t *column = s ? add(b->ctx, &b->column, count) : NULL;
    if (!column) return TRS_EMEM;
    if (b->column.count > INT32_MAX || b->stage.count > INT32_MAX)
        return trs_fail(b->ctx, TRS_ESUPPORT, "too many columns in the stages for 32 bits");
    *s = (trs_stage){.place = b->store, .rows = rows, .columns = count, .block = t, .level = level};
    s->first = (int32_t)(b->column.count - count);
    for (int32_t k = 0; k < count; k++) column[k] = columns ? columns[k] : b->block[t].first + k;
    b->store += (int64_t)__builtin_popcountll(rows) * ((count + 3) / 4 * 4);
    return TRS_OK;
}

static uint64_t all_rows(const trs_block *k)
{
    return k->rows == 64 ? ~(uint64_t)0 : ((uint64_t)1 << k->rows) - 1;
}

static int add_diagonal(build *b, int32_t t)
{
    b->block[t].diagonal = (int32_t)b->stage.count;
    return add_stage(b, t, all_rows(&b->block[t]), NULL, b->block[t].rows, -1);
}

/* Zeros that a stage may take up so that there is one stage less: reading them costs as much. */
enum { PADDING = 512 };

/* The sources before end go to as few stages as bounded padding allows. */
static int add_early(build *b, int32_t t, int32_t end)
{
    int rc = TRS_OK;
    for (int32_t s = 0, e; s < end && !rc; s = e) {
        uint64_t rows = b->source[s].rows;
        int32_t columns = b->source[s].columns;
        int64_t area = (int64_t)__builtin_popcountll(rows) * columns;
        for (e = s + 1; e < end; e++) {
            const source *next = &b->source[e];
            const uint64_t both = rows | next->rows;
            const int32_t wider = columns + next->columns;
            const int64_t with = area + (int64_t)__builtin_popcountll(next->rows) * next->columns;
            if (wider > TRS_BLOCK || __builtin_popcountll(both) * wider - with > PADDING) break;
            rows = both, columns = wider, area = with;
        }
        rc = add_stage(b, t, rows, b->sorted + b->source[s].first, columns, b->source[e - 1].level);
    }
    return rc;
}

/* The first of the sources that make up the latest stage: those of the deepest level, as many as fit. */
static int32_t latest_from(const build *b)
{
    int32_t s = b->sources, columns = 0;
    while (s > 0 && b->source[s - 1].level == b->source[b->sources - 1].level &&
           columns + b->source[s - 1].columns <= TRS_BLOCK)
        columns += b->source[--s].columns;
    return s;
}

/* The first stages of a block that has too many, as pieces. */
static int cut_off(build *b, int32_t t)
{
    trs_block *k = &b->block[t];
    int32_t over = k->stages - TRS_STAGES;
    k->piece = (int32_t)b->piece.count;
    while (over > 0) {
        const int32_t some = over < TRS_STAGES / 2 ? TRS_STAGES / 2
                             : over < TRS_STAGES   ? over
                                                   : TRS_STAGES;
        trs_task *p = add(b->ctx, &b->piece, 1);
        if (!p) return TRS_EMEM;
        *p = (trs_task){TRS_TASK_PIECE, t, 1, k->stage, some, k->piece + k->pieces, 0, 0};
        k->pieces++;
        k->stage += some;
        k->stages -= some;
        over -= some;
    }
    return TRS_OK;
}

static int add_wide(build *b, int32_t t)
{
    const int32_t latest = latest_from(b);
    int rc = add_early(b, t, latest);
    if (!rc) rc = add_diagonal(b, t);
    if (rc || latest == b->sources) return rc;
    const int32_t from = b->source[latest].first;
    const source *last = &b->source[b->sources - 1];
    return add_stage(b, t, all_rows(&b->block[t]), b->sorted + from,
                     last->first + last->columns - from, last->level);
}

static int add_narrow(build *b, int32_t t)
{
    int rc = TRS_OK;
    if (b->sources) {
        const source *last = &b->source[b->sources - 1];
        rc = add_stage(b, t, all_rows(&b->block[t]), b->sorted, last->first + last->columns,
                       last->level);
    }
    return rc ? rc : add_diagonal(b, t);
}

static int add_block(build *b, int32_t t)
{
    trs_block *k = &b->block[t];
    const bool wide = k->rows > TRS_NARROW;
    find_sources(b, t);
    k->stage = (int32_t)b->stage.count;
    int rc = wide ? add_wide(b, t) : add_narrow(b, t);
    k->stages = (int32_t)(b->stage.count - k->stage);
    b->wide += wide;
    return rc || !wide ? rc : cut_off(b, t);
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

/* Blocks by level, wide ones first; place: where each went. */
static int order_blocks(build *b, trs_supernodes *s, int32_t *place)
{
    int32_t *key = b->slot; /* no longer needed */
    s->height = 0;
    for (int32_t t = 0; t < b->blocks; t++) {
        key[t] = 2 * b->level[t] + (b->block[t].rows <= TRS_NARROW);
        if (b->level[t] + 1 > s->height) s->height = b->level[t] + 1;
    }
    int rc = sort_keys(b->ctx, key, b->blocks, 2 * s->height, place);
    if (rc) return rc;
    for (int32_t t = 0; t < b->blocks; t++) {
        s->block[place[t]] = b->block[t];
        b->seen[place[t]] = b->level[t]; /* levels in the new order */
    }
    for (int64_t k = 0; k < b->stage.count; k++) {
        trs_stage *stage = (trs_stage *)b->stage.p + k;
        stage->block = place[stage->block];
    }
    return TRS_OK;
}

/* The level that a piece could have. */
static int32_t level_of(const trs_stage *stage, const trs_task *piece)
{
    return stage[piece->stage + piece->stages - 1].level + 1;
}

/* Pieces by that level, those first whose block is of the same one. */
static int order_pieces(build *b, const trs_supernodes *s, const int32_t *place, trs_task *piece)
{
    const int32_t count = (int32_t)b->piece.count;
    int32_t *key = trs_new(b->ctx, 2 * (int64_t)count, sizeof *key, "the order of pieces");
    if (!key) return TRS_EMEM;
    const trs_task *from = (const trs_task *)b->piece.p;
    for (int32_t k = 0; k < count; k++) {
        const int32_t level = level_of((const trs_stage *)b->stage.p, &from[k]);
        key[k] = 2 * level + (b->level[from[k].block] > level);
    }
    int rc = sort_keys(b->ctx, key, count, 2 * s->height, key + count);
    for (int32_t k = 0; k < count && !rc; k++) {
        piece[key[count + k]] = from[k];
        piece[key[count + k]].block = place[from[k].block];
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
    const int32_t *level = b->seen;
    int32_t t = 0, p = 0;
    for (int32_t l = 0; l < s->height; l++) {
        while (p < s->pieces && level[piece[p].block] == l) add_task(s, piece[p++]);
        for (; t < s->blocks && level[t] == l && s->block[t].rows > TRS_NARROW; t++)
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

static int order(build *b, trs_supernodes *s)
{
    trs_context *ctx = b->ctx;
    s->blocks = b->blocks;
    s->wide = b->wide;
    s->stages = (int32_t)b->stage.count;
    s->pieces = (int32_t)b->piece.count;
    s->columns = b->column.count;
    s->store = b->store;
    s->block = trs_new(ctx, s->blocks, sizeof *s->block, "blocks");
    s->task = trs_new(ctx, (int64_t)s->blocks + s->pieces, sizeof *s->task, "tasks");
    int32_t *place = trs_new(ctx, s->blocks, sizeof *place, "the order of blocks");
    trs_task *piece = trs_new(ctx, s->pieces, sizeof *piece, "pieces");
    int rc = s->block && s->task && place && piece ? TRS_OK : TRS_EMEM;
    if (!rc) rc = order_blocks(b, s, place);
    if (!rc) rc = order_pieces(b, s, place, piece);
    if (!rc) {
        s->stage = (trs_stage *)b->stage.p;
        s->column = (int32_t *)b->column.p;
        b->stage.p = b->column.p = NULL;
        order_tasks(b, s, piece);
    }
    trs_free(&ctx->mem, place);
    trs_free(&ctx->mem, piece);
    return rc;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

int trs_supernodes_make(trs_context *ctx, const trs_tri *t, trs_supernodes *s)
{
    lines l;
    groups g = {0};
    build b = {.ctx = ctx, .t = t};
    memset(s, 0, sizeof *s);
    int rc = make_lines(ctx, t, &l);
    if (!rc) rc = make_groups(ctx, &l, &g);
    if (!rc) rc = new_build(&b, &g);
    free_groups(ctx, &g);
    trs_free(&ctx->mem, l.ptr);
    trs_free(&ctx->mem, l.idx);
    for (int32_t k = 0; k < b.blocks && !rc; k++) rc = add_block(&b, k);
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
