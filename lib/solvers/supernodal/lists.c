/* lists.c: how many rows are below each node, or columns left of it, where its values will stand; and which rows they are.
 *
 * The rows below a supernode are known.  Those below a leaf are the union of those below its supernodes; a leaf by gather
 * needs none, since its rows are solved as the operator stores them. */
#include "config.h"

#include "analysis/trapezoids.h"
#include "supernodal.h"

#include "base/debug.h"

#include <stdlib.h>

typedef struct listing {
    trs_context *ctx;
    const trs_tri *L;
    supernodal *d;
    const trs_supernode_set *s;
    int32_t *mark;   /* [n] the number of the last leaf that has the row, plus 1 */
    int32_t *cursor; /* [n] scatter: entries of the row in columns before the node */
    int32_t *of_top; /* [n] the number in the top, or -1; NULL: one worker */
} listing;

/* ---- rows of A below a node, into to unless NULL; returns how many --------------------------------- */

/* Columns of A that a node has. */
static int32_t first_column(const supernodal *d, const node *k)
{
    return d->gather ? d->n - k->first - k->width : k->first;
}

static int32_t below_supernode(const listing *l, const node *k, int32_t *to)
{
    const int32_t first = first_column(l->d, k), end = first + k->width;
    const trs_columns *g = &l->s->supernode[l->s->of_column[first]];
    if (!to) return g->end - end + g->below;
    int32_t count = 0;
    for (int32_t i = end; i < g->end; i++) to[count++] = i;
    for (int32_t r = 0; r < g->runs; r++)
        for (int32_t i = l->s->run[g->from + r].begin; i < l->s->run[g->from + r].end; i++)
            to[count++] = i;
    return count;
}

static int compare(const void *a, const void *b)
{
    const int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

/* The rows of supernode g from row end on that have not this mark, which they get. */
static int32_t unmarked(const listing *l, const trs_columns *g, int32_t end, int32_t mark,
                        int32_t *to)
{
    int32_t count = 0;
    for (int32_t r = 0; r < g->runs; r++) {
        const trs_run *run = &l->s->run[g->from + r];
        for (int32_t i = run->begin > end ? run->begin : end; i < run->end; i++) {
            if (l->mark[i] == mark) continue;
            l->mark[i] = mark;
            if (to) to[count] = i;
            count++;
        }
    }
    return count;
}

/* The last supernode of a leaf is first, since it often has all of its rows, in order. */
static int32_t below_leaf(const listing *l, const node *k, int32_t *to)
{
    if (l->d->gather) return 0;
    const int32_t first = k->first, end = k->first + k->width;
    const int32_t mark = (int32_t)(k - l->d->node) + 1;
    int32_t count = 0;
    for (int32_t q = l->s->of_column[end - 1]; q >= 0 && l->s->supernode[q].end > first; q--)
        count += unmarked(l, &l->s->supernode[q], end, mark, to ? to + count : NULL);
    bool sorted = true;
    for (int32_t e = 1; e < count && to && sorted; e++) sorted = to[e - 1] < to[e];
    if (!sorted) qsort(to, (size_t)count, sizeof *to, compare);
    return count;
}

static int32_t below(const listing *l, const node *k, int32_t *to)
{
    return k->leaf ? below_leaf(l, k, to) : below_supernode(l, k, to);
}

/* ---- lists ---------------------------------------------------------------------------------------- */

/* From rows of A to rows of the operator, ascending. */
static void turn(const supernodal *d, int32_t *list, int32_t count)
{
    for (int32_t a = 0, e = count - 1; a < e && d->gather; a++, e--) {
        const int32_t row = list[a];
        list[a] = list[e];
        list[e] = row;
    }
    for (int32_t e = 0; e < count && d->gather; e++) list[e] = d->n - 1 - list[e];
}

/* How many entries row i has in columns before end, from entry `from` on.  Rows of supernodes have entries in all columns,
 * mostly: then only the last one is looked at. */
static int32_t entries_before(const trs_tri *L, int32_t i, int32_t from, int32_t width, int32_t end)
{
    const int64_t p = L->ptr[i] + from, row_end = L->ptr[i + 1];
    if (p + width <= row_end && L->idx[p + width - 1] == end - 1) return width;
    int32_t count = 0;
    while (p + count < row_end && L->idx[p + count] < end) count++;
    return count;
}

/* Where the entries of the rows of the list begin, and, of a leaf, how many each row has.  Nodes come in the order of
 * their columns. */
static void find_entries(listing *l, node *k)
{
    supernodal *d = l->d;
    const trs_tri *L = l->L;
    const int32_t end = k->first + k->width;
    for (int32_t i = k->first; i < end && k->leaf; i++) {
        const int64_t count = L->ptr[i + 1] - L->ptr[i] - 1 - l->cursor[i];
        d->count[k->count + i - k->first] = (uint16_t)count;
    }
    for (int32_t e = 0; e < k->rows; e++) {
        const int32_t i = d->list[k->list + e];
        const int32_t count = entries_before(L, i, l->cursor[i], k->width, end);
        d->from[k->list + e] = l->cursor[i];
        l->cursor[i] += count;
        if (k->leaf) d->count[k->count + k->width + e] = (uint16_t)count;
    }
}

/* Rows of x first, then those of the top, in their order. */
static void part_list(const listing *l, node *k, bool of_top, int32_t *scratch)
{
    supernodal *d = l->d;
    int32_t *list = d->list + k->list, *from = d->from ? d->from + k->list : NULL;
    k->own = k->rows;
    if (d->gather || of_top || !l->of_top) {
        for (int32_t e = 0; e < k->rows; e++) list[e] = in_memory(d, list[e]);
        return;
    }
    uint16_t *count = k->leaf ? d->count + k->count + k->width : NULL;
    int32_t own = 0, others = 0;
    for (int32_t e = 0; e < k->rows; e++) {
        const int32_t i = list[e], number = l->of_top[i];
        int32_t *to = number < 0 ? scratch + 3 * own++ : scratch + 3 * (k->rows - ++others);
        to[0] = number < 0 ? in_memory(d, i) : number;
        to[1] = from[e];
        to[2] = count ? count[e] : 0;
    }
    for (int32_t e = 0; e < k->rows; e++) { /* those of the top were written backwards */
        const int32_t *at = scratch + 3 * (e < own ? e : k->rows - 1 - (e - own));
        list[e] = at[0], from[e] = at[1];
        if (count) count[e] = (uint16_t)at[2];
    }
    k->own = own;
}

/* ---- the top -------------------------------------------------------------------------------------- */

enum { SHARE = 8192 }; /* entries that a worker has of a node that is shared, at least */

static int list_top(listing *l)
{
    supernodal *d = l->d;
    trs_context *ctx = l->ctx;
    const int32_t *begin = d->order + d->begin[d->workers];
    const int32_t count = d->begin[d->workers + 1] - d->begin[d->workers];
    if (d->workers == 1) return TRS_OK;
    d->top = trs_new(ctx, d->tops, sizeof *d->top, "rows of the top");
    l->of_top = trs_new(ctx, d->n, sizeof *l->of_top, "rows of the top");
    if (!d->top || !l->of_top) return TRS_EMEM;
    for (int32_t i = 0; i < d->n; i++) l->of_top[i] = -1;
    int32_t number = 0;
    for (int32_t q = 0; q < count; q++) {
        node *k = &d->node[begin[q]];
        for (int32_t i = k->first; i < k->first + k->width; i++, number++) {
            d->top[number] = in_memory(d, i);
            l->of_top[i] = number;
        }
        const int64_t shares = (int64_t)k->rows * k->width / SHARE;
        if (!k->leaf && shares > 1)
            k->shares = (int32_t)(shares < d->workers ? shares : d->workers);
    }
    return TRS_OK;
}

/* ---- numbers, before there is memory for lists ------------------------------------------------------ */

/* Entries of a leaf but its diagonal: those of its supernodes. */
static int64_t entries_of_leaf(const listing *l, const node *k)
{
    const int32_t first = first_column(l->d, k);
    int64_t entries = -k->width;
    for (int32_t q = l->s->of_column[first + k->width - 1];
         q >= 0 && l->s->supernode[q].end > first; q--)
        entries += l->s->supernode[q].entries;
    return entries;
}

/* Values of a leaf begin where vectors do, too. */
static int64_t count_node(listing *l, node *k, int32_t lanes)
{
    supernodal *d = l->d;
    k->rows = below(l, k, NULL);
    k->list = d->listed;
    d->listed += k->rows;
    if (!k->leaf)
        return diagonal_numbers(k->width, lanes) +
               (int64_t)lanes * k->width * tiles_of(k->rows, lanes);
    const int64_t entries = entries_of_leaf(l, k);
    d->sparse += entries;
    if (d->gather) return 0;
    k->count = d->counted;
    k->entry = d->entries;
    d->counted += k->width + k->rows;
    d->entries += entries;
    return entries + k->width;
}

int supernodal_count(trs_context *ctx, supernodal *d, const trs_supernode_set *s, trs_dtype dtype)
{
    listing l = {.ctx = ctx, .d = d, .s = s};
    const int32_t lanes = trs_line(dtype);
    l.mark = trs_alloc_zero(&ctx->mem, d->n, sizeof *l.mark);
    if (!l.mark) return trs_fail(TRS_EMEM, "out of memory for rows below leaves");
    for (int32_t q = 0; q < d->nodes; q++) {
        node *k = &d->node[q];
        k->value = d->values;
        d->values += (count_node(&l, k, lanes) + lanes - 1) / lanes * lanes;
    }
    trs_free(&ctx->mem, l.mark);
    return TRS_OK;
}

/* ---- all of it ------------------------------------------------------------------------------------ */

static int allocate(listing *l)
{
    supernodal *d = l->d;
    trs_context *ctx = l->ctx;
    d->list = trs_new(ctx, d->listed, sizeof *d->list, "rows below nodes");
    if (!d->list) return TRS_EMEM;
    if (d->gather) return TRS_OK;
    d->from = trs_new(ctx, d->listed, sizeof *d->from, "entries of rows below nodes");
    d->count = trs_new(ctx, d->counted, sizeof *d->count, "entries of leaves");
    l->cursor = trs_alloc_zero(&ctx->mem, d->n, sizeof *l->cursor);
    l->mark = trs_alloc_zero(&ctx->mem, d->n, sizeof *l->mark);
    if (!l->cursor || !l->mark) return trs_fail(TRS_EMEM, "out of memory for entries of rows");
    return d->from && d->count ? TRS_OK : TRS_EMEM;
}

static int fill_lists(listing *l)
{
    supernodal *d = l->d;
    int32_t most = 1;
    for (int32_t q = 0; q < d->nodes; q++)
        if (d->node[q].rows > most) most = d->node[q].rows;
    int32_t *scratch = trs_new(l->ctx, 3 * (int64_t)most, sizeof *scratch, "a list");
    if (!scratch) return TRS_EMEM;
    for (int32_t q = 0; q < d->nodes; q++) {
        node *k = &d->node[q];
        int32_t *list = d->list + k->list;
        const int32_t count = below(l, k, list);
        TRS_ASSERT(count == k->rows);
        (void)count;
        turn(d, list, k->rows);
        if (!d->gather) find_entries(l, k);
        part_list(l, k, l->of_top && l->of_top[k->first] >= 0, scratch);
    }
    trs_free(&l->ctx->mem, scratch);
    return TRS_OK;
}

static int allocate_values(listing *l)
{
    supernodal *d = l->d;
    const size_t size = trs_size(l->L->dtype);
    if (d->entries) d->column = trs_new(l->ctx, d->entries, sizeof *d->column, "columns of leaves");
    if (d->entries && !d->column) return TRS_EMEM;
    d->block = trs_new_touched(l->ctx, d->values + trs_line(l->L->dtype), size, "supernodes");
    if (!d->block) return TRS_EMEM;
    d->value = (char *)d->block + -(uintptr_t)d->block % TRS_LINE;
    return TRS_OK;
}

int supernodal_lists(trs_instance *inst, supernodal *d, const trs_supernode_set *s)
{
    trs_context *ctx = inst->ctx;
    listing l = {.ctx = ctx, .L = &inst->op->tri, .d = d, .s = s};
    int rc = trs_operator_host(inst->op, TRS_OP_PATTERN);
    if (!rc) rc = allocate(&l);
    if (!rc) rc = list_top(&l);
    if (!rc) rc = fill_lists(&l);
    if (!rc) rc = allocate_values(&l);
    trs_free(&ctx->mem, l.mark);
    trs_free(&ctx->mem, l.cursor);
    trs_free(&ctx->mem, l.of_top);
    return rc;
}
