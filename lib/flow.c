/* flow.c: nodes, their levels, their order, the tasks of warps.
 *
 * One pass over the rows gives every node its level: one more than the latest it waits for.  A row with
 * many entries keeps the last ones and leaves the others to pieces, so that its critical path is not
 * longer than before.  Then a counting sort by (level, lanes) and one pass to renumber: O(n + nnz). */
#ifndef T

#include "config.h"

#include "flow.h"
#include "stages.h"

#include <string.h>

typedef struct build { /* before sorting: nodes in row order, the pieces of a row before it */
    int32_t nodes, levels;
    int32_t *level; /* [nodes] */
    int32_t *row;   /* [nodes] -1: piece */
    int64_t *begin; /* [nodes] entries in t */
    int32_t *count; /* [nodes] entries in the flow, one for each piece of the row among them */
    int32_t *place; /* [nodes] after sorting */
    int32_t *mine;  /* [n] of each row: the level after its own, then its place */
} build;

enum { NODES = 4096 }; /* that a thread takes at a time */

static int64_t pieces_of(int64_t length)
{
    return length > 2 * TRS_FLOW_PIECE ? length / TRS_FLOW_PIECE - 1 : 0;
}

enum { CLASSES = 6 };

/* log2 of the lanes: the least with which length entries are one batch, at most a warp. */
static int class_of(int32_t length)
{
    if (length <= TRS_FLOW_BATCH) return 0;
    const int c = 32 - __builtin_clz((unsigned)(length - 1) / TRS_FLOW_BATCH);
    return c < CLASSES ? c : CLASSES - 1;
}

static int build_new(trs_context *ctx, const trs_tri *t, build *b)
{
    int64_t nodes = t->n;
    for (int32_t i = 0; i < t->n; i++) nodes += pieces_of(t->ptr[i + 1] - t->ptr[i] - 1);
    if (nodes > INT32_MAX - 64) return trs_fail(ctx, TRS_ESUPPORT, "too many nodes for 32 bits");
    *b = (build){.nodes = (int32_t)nodes};
    b->level = trs_new(ctx, nodes, sizeof *b->level, "levels of nodes");
    b->row = trs_new(ctx, nodes, sizeof *b->row, "rows of nodes");
    b->begin = trs_new(ctx, nodes, sizeof *b->begin, "entries of nodes");
    b->count = trs_new(ctx, nodes, sizeof *b->count, "sizes of nodes");
    b->place = trs_new(ctx, nodes, sizeof *b->place, "order of nodes");
    b->mine = trs_new(ctx, t->n, sizeof *b->mine, "levels of rows");
    return b->level && b->row && b->begin && b->count && b->place && b->mine ? TRS_OK : TRS_EMEM;
}

static void build_free(trs_context *ctx, build *b)
{
    trs_free(&ctx->mem, b->level);
    trs_free(&ctx->mem, b->row);
    trs_free(&ctx->mem, b->begin);
    trs_free(&ctx->mem, b->count);
    trs_free(&ctx->mem, b->place);
    trs_free(&ctx->mem, b->mine);
}

/* One more than the latest of entries p..end-1. */
static int32_t level_after(const trs_tri *t, const build *b, int64_t p, int64_t end)
{
    int32_t level = 0;
    for (; p < end; p++) {
        const int32_t after = b->mine[t->idx[p]];
        level = after > level ? after : level;
    }
    return level;
}

/* The next node. */
static void add_node(build *b, int32_t *node, int32_t row, int64_t begin, int64_t count,
                     int32_t level)
{
    b->row[*node] = row;
    b->begin[*node] = begin;
    b->count[*node] = (int32_t)count;
    b->level[(*node)++] = level;
}

static void cut_rows(const trs_tri *t, build *b)
{
    int32_t node = 0;
    for (int32_t i = 0; i < t->n; i++) {
        int64_t p = t->ptr[i], diagonal = t->ptr[i + 1] - 1, pieces = pieces_of(diagonal - p);
        int32_t waits = 0;
        for (int64_t k = 0; k < pieces; k++, p += TRS_FLOW_PIECE) {
            const int32_t level = level_after(t, b, p, p + TRS_FLOW_PIECE);
            add_node(b, &node, -1, p, TRS_FLOW_PIECE, level);
            if (level + 1 > waits) waits = level + 1;
        }
        const int32_t direct = level_after(t, b, p, diagonal);
        if (direct > waits) waits = direct;
        add_node(b, &node, i, p, diagonal - p + pieces, waits);
        b->mine[i] = waits + 1;
        if (waits + 1 > b->levels) b->levels = waits + 1;
    }
}

static int64_t key_of(const build *b, int32_t node)
{
    return (int64_t)b->level[node] * CLASSES + class_of(b->count[node]);
}

/* place: the counting sort by (level, lanes); tasks are cut where either changes. */
static int sort_nodes(trs_context *ctx, build *b, trs_flow *f)
{
    const int64_t keys = (int64_t)b->levels * CLASSES;
    int64_t *start = trs_new(ctx, keys + 1, sizeof *start, "sizes of levels");
    if (!start) return TRS_EMEM;
    memset(start, 0, ((size_t)keys + 1) * sizeof *start);
    for (int32_t k = 0; k < b->nodes; k++) start[key_of(b, k) + 1]++;
    int64_t tasks = 0;
    for (int64_t key = 0; key < keys; key++) {
        int each = TRS_FLOW_WARP >> (key % CLASSES);
        tasks += (start[key + 1] + each - 1) / each;
        start[key + 1] += start[key];
    }
    f->task = trs_new(ctx, tasks, sizeof *f->task, "tasks");
    for (int64_t key = 0; f->task && key < keys; key++) {
        int each = TRS_FLOW_WARP >> (key % CLASSES);
        for (int64_t k = start[key]; k < start[key + 1]; k += each)
            f->task[f->tasks++] = (trs_flow_task){
                (int32_t)k, (int16_t)(start[key + 1] - k < each ? start[key + 1] - k : each),
                (int16_t)(1 << (key % CLASSES))};
    }
    for (int32_t k = 0; k < b->nodes; k++) {
        b->place[k] = (int32_t)start[key_of(b, k)]++;
        if (b->row[k] >= 0) b->mine[b->row[k]] = b->place[k];
    }
    trs_free(&ctx->mem, start);
    return f->task ? TRS_OK : TRS_EMEM;
}

static int flow_new(trs_context *ctx, const trs_tri *t, const build *b, trs_flow *f)
{
    f->nodes = b->nodes;
    f->levels = b->levels;
    f->nnz = t->nnz - t->n + (b->nodes - t->n);
    f->ptr = trs_new(ctx, (int64_t)f->nodes + 1, sizeof *f->ptr, "entries of nodes");
    f->idx = trs_new(ctx, f->nnz, sizeof *f->idx, "nodes of entries");
    f->row = trs_new(ctx, f->nodes, sizeof *f->row, "rows of nodes");
    f->pieces = trs_new(ctx, f->nodes, sizeof *f->pieces, "pieces of rows");
    f->begin = trs_new(ctx, f->nodes, sizeof *f->begin, "places of entries");
    return f->ptr && f->idx && f->row && f->pieces && f->begin ? TRS_OK : TRS_EMEM;
}

static void fill_node(const trs_tri *t, const build *b, int32_t node, trs_flow *f)
{
    const int32_t k = b->place[node], i = b->row[node];
    const int64_t p = b->begin[node];
    int64_t q = f->ptr[k], own = b->count[node];
    f->row[k] = i;
    f->begin[k] = p;
    f->pieces[k] = i < 0 ? 0 : (int32_t)pieces_of(t->ptr[i + 1] - 1 - t->ptr[i]);
    own -= f->pieces[k];
    for (int32_t piece = f->pieces[k]; piece > 0; piece--) f->idx[q++] = b->place[node - piece];
    for (int64_t e = 0; e < own; e++) f->idx[q + e] = b->mine[t->idx[p + e]];
}

typedef struct filling {
    const trs_tri *t;
    const build *b;
    trs_flow *f;
} filling;

static void fill_some(void *user, int64_t begin, int64_t end)
{
    const filling *all = user;
    for (int64_t k = begin; k < end; k++) fill_node(all->t, all->b, (int32_t)k, all->f);
}

int trs_flow_make(trs_context *ctx, const trs_tri *t, trs_flow *f)
{
    build b = {0};
    memset(f, 0, sizeof *f);
    int rc = build_new(ctx, t, &b);
    if (!rc) {
        cut_rows(t, &b);
        rc = sort_nodes(ctx, &b, f);
    }
    if (!rc) rc = flow_new(ctx, t, &b, f);
    if (!rc) {
        filling all = {t, &b, f};
        for (int32_t k = 0; k < b.nodes; k++) f->ptr[b.place[k] + 1] = b.count[k];
        f->ptr[0] = 0;
        for (int32_t k = 0; k < b.nodes; k++) f->ptr[k + 1] += f->ptr[k];
        trs_share(trs_team(ctx, f->nnz), b.nodes, NODES, fill_some, &all);
    }
    build_free(ctx, &b);
    if (rc) trs_flow_free(ctx, f);
    return rc;
}

void trs_flow_free(trs_context *ctx, trs_flow *f)
{
    trs_free(&ctx->mem, f->ptr);
    trs_free(&ctx->mem, f->idx);
    trs_free(&ctx->mem, f->row);
    trs_free(&ctx->mem, f->pieces);
    trs_free(&ctx->mem, f->begin);
    trs_free(&ctx->mem, f->task);
    memset(f, 0, sizeof *f);
}

void trs_flow_places(const trs_flow *f, int64_t *src, int64_t *diagonal)
{
    for (int32_t k = 0; k < f->nodes; k++) {
        const int64_t first = f->ptr[k] + f->pieces[k], own = f->ptr[k + 1] - first;
        for (int64_t q = f->ptr[k]; q < first; q++) src[q] = -1;
        for (int64_t e = 0; e < own; e++) src[first + e] = f->begin[k] + e;
        diagonal[k] = f->row[k] < 0 ? -1 : f->begin[k] + own;
    }
}

typedef struct packing {
    const trs_flow *f;
    const trs_tri *t;
    void *val, *inv;
} packing;

#define TRS_BODY "flow.c"
#include "each_type.h"

void trs_flow_pack(const trs_context *ctx, const trs_flow *f, const trs_tri *t, void *val,
                   void *inv)
{
    static const trs_range_fn table[] = TRS_PER_TYPE(pack_some);
    packing all = {f, t, val, inv};
    trs_share(trs_team(ctx, f->nnz), f->nodes, NODES, table[t->dtype], &all);
}

#else

static void FN(pack)(const trs_flow *f, const trs_tri *t, int32_t k, void *val, void *inv)
{
    const T *from = (const T *)t->val + f->begin[k];
    const int64_t own = f->ptr[k + 1] - f->ptr[k] - f->pieces[k];
    T *to = (T *)val + f->ptr[k];
    for (int32_t piece = 0; piece < f->pieces[k]; piece++) *to++ = 1;
    for (int64_t e = 0; e < own; e++) to[e] = from[e];
    ((T *)inv)[k] = f->row[k] < 0 ? -1 : 1 / from[own];
}

static void FN(pack_some)(void *user, int64_t begin, int64_t end)
{
    const packing *all = user;
    for (int64_t k = begin; k < end; k++) FN(pack)(all->f, all->t, (int32_t)k, all->val, all->inv);
}

#endif
