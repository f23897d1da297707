/* flow.c: nodes, their levels, their order, the tasks of warps.
 *
 * One pass over the rows gives every node its level: one more than the latest it waits for.  A row with
 * many entries keeps the last ones and leaves the others to pieces, so that its critical path is not
 * longer than before.  Then a counting sort by (level, lanes) and one pass to renumber: O(n + nnz). */
#include "config.h"

#include "flow.h"

#include <string.h>

typedef struct build { /* before sorting: nodes in row order, the pieces of a row before it */
    int32_t nodes, levels;
    int32_t *level;  /* [nodes] */
    int32_t *row;    /* [nodes] -1: piece */
    int64_t *begin;  /* [nodes+1] entries in t, pieces and rows following each other */
    int32_t *of_row; /* [n] node of each row */
    int32_t *place;  /* [nodes] after sorting */
} build;

static int64_t pieces_of(int64_t length)
{
    return length > 2 * TRS_FLOW_PIECE ? length / TRS_FLOW_PIECE - 1 : 0;
}

static int lanes_of(int64_t length)
{
    int lanes = 1;
    while (lanes < TRS_FLOW_WARP && lanes * TRS_FLOW_BATCH < length) lanes *= 2;
    return lanes;
}

static int class_of(int64_t length)
{
    return __builtin_ctz((unsigned)lanes_of(length));
}

enum { CLASSES = 6 };

static int build_new(trs_context *ctx, const trs_tri *t, build *b)
{
    int64_t nodes = t->n;
    for (int32_t i = 0; i < t->n; i++) nodes += pieces_of(t->ptr[i + 1] - t->ptr[i] - 1);
    if (nodes > INT32_MAX - 64) return trs_fail(ctx, TRS_ESUPPORT, "too many nodes for 32 bits");
    *b = (build){.nodes = (int32_t)nodes};
    b->level = trs_new(ctx, nodes, sizeof *b->level, "levels of nodes");
    b->row = trs_new(ctx, nodes, sizeof *b->row, "rows of nodes");
    b->begin = trs_new(ctx, nodes + 1, sizeof *b->begin, "entries of nodes");
    b->of_row = trs_new(ctx, t->n, sizeof *b->of_row, "nodes of rows");
    b->place = trs_new(ctx, nodes, sizeof *b->place, "order of nodes");
    return b->level && b->row && b->begin && b->of_row && b->place ? TRS_OK : TRS_EMEM;
}

static void build_free(trs_context *ctx, build *b)
{
    trs_free(&ctx->mem, b->level);
    trs_free(&ctx->mem, b->row);
    trs_free(&ctx->mem, b->begin);
    trs_free(&ctx->mem, b->of_row);
    trs_free(&ctx->mem, b->place);
}

/* One more than the latest of entries p..end-1. */
static int32_t level_after(const trs_tri *t, const build *b, int64_t p, int64_t end)
{
    int32_t level = 0;
    for (; p < end; p++) {
        int32_t l = b->level[b->of_row[t->idx[p]]] + 1;
        if (l > level) level = l;
    }
    return level;
}

static void cut_rows(const trs_tri *t, build *b)
{
    int32_t node = 0;
    for (int32_t i = 0; i < t->n; i++) {
        int64_t p = t->ptr[i], diagonal = t->ptr[i + 1] - 1, pieces = pieces_of(diagonal - p);
        int32_t waits = 0;
        for (int64_t k = 0; k < pieces; k++, node++, p += TRS_FLOW_PIECE) {
            b->row[node] = -1;
            b->begin[node] = p;
            b->level[node] = level_after(t, b, p, p + TRS_FLOW_PIECE);
            if (b->level[node] + 1 > waits) waits = b->level[node] + 1;
        }
        int32_t direct = level_after(t, b, p, diagonal);
        b->row[node] = i;
        b->begin[node] = p;
        b->level[node] = direct > waits ? direct : waits;
        if (b->level[node] + 1 > b->levels) b->levels = b->level[node] + 1;
        b->of_row[i] = node++;
    }
    b->begin[node] = t->ptr[t->n];
}

/* Entries of a node in the flow: a row's own, without the diagonal, and one for each of its pieces. */
static int64_t length_of(const trs_tri *t, const build *b, int32_t node)
{
    int32_t i = b->row[node];
    if (i < 0) return TRS_FLOW_PIECE;
    int64_t diagonal = t->ptr[i + 1] - 1;
    return diagonal - b->begin[node] + pieces_of(diagonal - t->ptr[i]);
}

/* place: the counting sort by (level, lanes); tasks are cut where either changes. */
static int sort_nodes(trs_context *ctx, const trs_tri *t, build *b, trs_flow *f)
{
    const int64_t keys = (int64_t)b->levels * CLASSES;
    int64_t *start = trs_new(ctx, keys + 1, sizeof *start, "sizes of levels");
    if (!start) return TRS_EMEM;
    memset(start, 0, ((size_t)keys + 1) * sizeof *start);
    for (int32_t k = 0; k < b->nodes; k++)
        start[(int64_t)b->level[k] * CLASSES + class_of(length_of(t, b, k)) + 1]++;
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
    for (int32_t k = 0; k < b->nodes; k++)
        b->place[k] =
            (int32_t)start[(int64_t)b->level[k] * CLASSES + class_of(length_of(t, b, k))]++;
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
    f->src = trs_new(ctx, f->nnz, sizeof *f->src, "places of entries");
    f->row = trs_new(ctx, f->nodes, sizeof *f->row, "rows of nodes");
    f->diagonal = trs_new(ctx, f->nodes, sizeof *f->diagonal, "places of diagonals");
    return f->ptr && f->idx && f->src && f->row && f->diagonal ? TRS_OK : TRS_EMEM;
}

static void fill_node(const trs_tri *t, const build *b, int32_t node, trs_flow *f)
{
    int32_t k = b->place[node], i = b->row[node];
    int64_t q = f->ptr[k], p = b->begin[node];
    int64_t end = i < 0 ? p + TRS_FLOW_PIECE : t->ptr[i + 1] - 1;
    f->row[k] = i;
    f->diagonal[k] = i < 0 ? -1 : end;
    if (i >= 0)
        for (int64_t piece = pieces_of(end - t->ptr[i]); piece > 0; piece--, q++) {
            f->idx[q] = b->place[node - piece];
            f->src[q] = -1;
        }
    for (; p < end; p++, q++) {
        f->idx[q] = b->place[b->of_row[t->idx[p]]];
        f->src[q] = p;
    }
}

int trs_flow_make(trs_context *ctx, const trs_tri *t, trs_flow *f)
{
    build b = {0};
    memset(f, 0, sizeof *f);
    int rc = build_new(ctx, t, &b);
    if (!rc) {
        cut_rows(t, &b);
        rc = sort_nodes(ctx, t, &b, f);
    }
    if (!rc) rc = flow_new(ctx, t, &b, f);
    if (!rc) {
        for (int32_t k = 0; k < b.nodes; k++) f->ptr[b.place[k] + 1] = length_of(t, &b, k);
        f->ptr[0] = 0;
        for (int32_t k = 0; k < b.nodes; k++) f->ptr[k + 1] += f->ptr[k];
        for (int32_t k = 0; k < b.nodes; k++) fill_node(t, &b, k, f);
    }
    build_free(ctx, &b);
    if (rc) trs_flow_free(ctx, f);
    return rc;
}

void trs_flow_free(trs_context *ctx, trs_flow *f)
{
    trs_free(&ctx->mem, f->ptr);
    trs_free(&ctx->mem, f->idx);
    trs_free(&ctx->mem, f->src);
    trs_free(&ctx->mem, f->row);
    trs_free(&ctx->mem, f->diagonal);
    trs_free(&ctx->mem, f->task);
    memset(f, 0, sizeof *f);
}
