/* panels.c: the packed panels of each supernode.  They are counted for all supernodes, then written where the
 * counts of those before say, so that supernodes can be shared among threads. */
#include "config.h"

#include "steps.h"

#include "base/debug.h"
#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* ---- edges by level ------------------------------------------------------------------------------------- */

/* Orders edges by level and source. */
static int compare_edges(const void *a, const void *b)
{
    const trs_edge *x = a, *y = b;
    if (x->level != y->level) return x->level < y->level ? -1 : 1;
    return (x->source > y->source) - (x->source < y->source);
}

enum { FEW_EDGES = 48 }; /* which are nearly in order as they were found */

static void insert_each(trs_edge *e, int32_t count)
{
    for (int32_t k = 1, at; k < count; k++) {
        const trs_edge here = e[k];
        for (at = k; at > 0 && compare_edges(&here, &e[at - 1]) < 0; at--) e[at] = e[at - 1];
        e[at] = here;
    }
}

static void sort_some(void *user, int64_t begin, int64_t end)
{
    const trs_build *b = user;
    for (int64_t t = begin; t < end; t++) {
        const trs_node *node = &b->node[t];
        trs_edge *e = node->edge;
        for (int32_t k = 0; k < node->edges; k++) e[k].level = b->level[e[k].source];
        if (node->edges <= FEW_EDGES) insert_each(e, node->edges);
        else qsort(e, (size_t)node->edges, sizeof *e, compare_edges);
    }
}

/* ---- panels of a supernode ------------------------------------------------------------------------------ */

typedef struct pen { /* writes the panels of a supernode, or counts them if panel is NULL */
    const trs_build *b;
    int32_t supernode;
    trs_panel *panel;    /* all of them */
    trs_panel_extent at; /* where the next one goes */
    int32_t early;       /* early panels so far */
} pen;

static int64_t stored_entries(uint64_t row_mask, int32_t columns)
{
    return (int64_t)trs_bits(row_mask) * ((columns + 3) / 4 * 4);
}

static uint64_t all_rows(const pen *p)
{
    return trs_low_bits(p->b->supernode[p->supernode].rows);
}

/* A panel of the columns of some edges. */
static void add_panel(pen *p, uint64_t row_mask, const trs_edge *e, const trs_edge *end,
                      int32_t level)
{
    const trs_build *b = p->b;
    const int64_t first = p->at.columns;
    for (; e < end; e++) {
        if (!p->panel) {
            p->at.columns += trs_bits(e->column_mask);
            continue;
        }
        const int32_t from = b->supernode[e->source].first;
        for (uint64_t left = e->column_mask; left; left &= left - 1)
            b->column[p->at.columns++] = from + __builtin_ctzll(left);
    }
    const int32_t columns = (int32_t)(p->at.columns - first);
    if (p->panel)
        p->panel[p->at.panels] = (trs_panel){.offset = p->at.stored,
                                             .row_mask = row_mask,
                                             .column = (int32_t)first,
                                             .columns = columns,
                                             .supernode = b->place[p->supernode],
                                             .level = level};
    p->at.panels++;
    p->at.stored += stored_entries(row_mask, columns);
}

/* Its rows of the diagonal block of a chain that begins with supernode first, or of its own. */
static void add_diagonal(pen *p, int32_t first)
{
    trs_supernode *k = &p->b->supernode[p->supernode];
    for (int32_t u = first; u <= p->supernode; u++) {
        const trs_edge all = {.source = u, .column_mask = trs_low_bits(p->b->supernode[u].rows)};
        if (p->panel && u == p->supernode) k->diagonal = p->at.panels;
        add_panel(p, all_rows(p), &all, &all + 1, -1);
    }
}

/* Zeros that a panel may store for there being one panel less: to read them costs about as much as a panel does. */
enum { PADDING = 512 };

/* The edges before end go to as few panels as bounded padding allows. */
static void add_early(pen *p, const trs_edge *e, const trs_edge *end)
{
    for (const trs_edge *next; e < end; e = next) {
        uint64_t row_mask = e->row_mask;
        int32_t columns = trs_bits(e->column_mask);
        int64_t area = (int64_t)trs_bits(e->row_mask) * columns;
        for (next = e + 1; next < end; next++) {
            const uint64_t both = row_mask | next->row_mask;
            const int32_t more = trs_bits(next->column_mask), wider = columns + more;
            const int64_t with = area + (int64_t)trs_bits(next->row_mask) * more;
            if (wider > TRS_SUPERNODE || trs_bits(both) * wider - with > PADDING) break;
            row_mask = both, columns = wider, area = with;
        }
        add_panel(p, row_mask, e, next, next[-1].level);
        p->early++;
    }
}

static void add_small(pen *p, const trs_node *node)
{
    const trs_edge *end = node->edge + node->edges;
    if (node->edges) add_panel(p, all_rows(p), node->edge, end, end[-1].level);
    add_diagonal(p, p->supernode);
}

/* The first of the late edges: those of the deepest level, as many as fit into one panel. */
static const trs_edge *first_late(const trs_edge *first, const trs_edge *end)
{
    const trs_edge *e = end;
    for (int32_t columns = 0; e > first && e[-1].level == end[-1].level; e--) {
        columns += trs_bits(e[-1].column_mask);
        if (columns > TRS_SUPERNODE) break;
    }
    return e;
}

static void add_large(pen *p, const trs_node *node)
{
    const trs_edge *end = node->edge + node->edges, *late = first_late(node->edge, end);
    add_early(p, node->edge, late);
    add_diagonal(p, p->supernode);
    if (late < end) add_panel(p, all_rows(p), late, end, end[-1].level);
}

/* ---- panels of a supernode of a chain ------------------------------------------------------------------ */

/* Adds an edge to a list by level and source, of which the last TRS_CHAIN_LATE are kept; columns of one source are
 * united.  Returns how many there are. */
static int32_t add_late(trs_edge *list, int32_t count, const trs_edge *e)
{
    int32_t k = count;
    while (k > 0 && compare_edges(&list[k - 1], e) > 0) k--;
    if (k > 0 && list[k - 1].source == e->source) {
        list[k - 1].column_mask |= e->column_mask;
        return count;
    }
    if (count == TRS_CHAIN_LATE) {
        if (k == 0) return count;
        memmove(list, list + 1, (size_t)--k * sizeof *list);
        count--;
    } else memmove(list + k + 1, list + k, (size_t)(count - k) * sizeof *list);
    list[k] = *e;
    return count + 1;
}

/* The late edges of all supernodes of a chain together: S has the same columns in all of its rows. */
static int32_t late_of_chain(const trs_build *b, int32_t first, trs_edge *list)
{
    int32_t count = 0;
    for (int32_t u = first; u < first + b->supernode[first].chain_length; u++) {
        const trs_node *node = &b->node[u];
        for (int32_t k = node->edges - 1; k >= 0; k--) {
            const trs_edge *e = &node->edge[k];
            if (e->level < b->level[first] - TRS_LATE_LEVELS) break;
            if (e->source < first) count = add_late(list, count, e);
        }
    }
    TRS_ASSERT(count <= TRS_CHAIN_LATE);
    return count;
}

static void add_in_chain(pen *p, const trs_node *node)
{
    const int32_t chain = p->supernode - p->b->supernode[p->supernode].chain_place;
    const trs_edge *first = node->edge, *end = first + node->edges;
    trs_edge late[TRS_CHAIN_LATE];
    const int32_t count = late_of_chain(p->b, chain, late);
    while (end > first && end[-1].source >= chain) end--;
    while (count && end > first && compare_edges(&end[-1], &late[0]) >= 0) end--;
    add_early(p, first, end);
    add_diagonal(p, chain);
    for (int32_t k = 0; k < count; k++)
        add_panel(p, all_rows(p), &late[k], &late[k + 1], late[k].level);
}

static void add_panels(pen *p)
{
    const trs_supernode *k = &p->b->supernode[p->supernode];
    const trs_node *node = &p->b->node[p->supernode];
    if (trs_in_chain(k)) add_in_chain(p, node);
    else if (trs_is_large(k)) add_large(p, node);
    else add_small(p, node);
}

/* ---- partial sums ---------------------------------------------------------------------------------------- */

/* Panels of the task that takes the early panels: the partial right-hand side, or all of a large supernode. */
static int32_t panels_of_task(const trs_supernode *k, const trs_node *node)
{
    if (trs_in_chain(k)) return node->early;
    return trs_is_large(k) ? node->size.panels : 0;
}

/* Panels of the next partial sum, of a task that has so many too many: at least half a task. */
static int32_t panels_of_partial(int32_t excess)
{
    if (excess < TRS_TASK_PANELS / 2) return TRS_TASK_PANELS / 2;
    return excess < TRS_TASK_PANELS ? excess : TRS_TASK_PANELS;
}

static void count_some(void *user, int64_t begin, int64_t end)
{
    trs_build *b = user;
    for (int32_t t = (int32_t)begin; t < end; t++) {
        trs_supernode *k = &b->supernode[t];
        trs_node *node = &b->node[t];
        pen p = {.b = b, .supernode = t};
        add_panels(&p);
        node->early = p.early;
        node->size = p.at;
        int32_t excess = panels_of_task(k, node) - TRS_TASK_PANELS;
        for (; excess > 0; excess -= panels_of_partial(excess)) k->partials++;
    }
}

/* The first panels of a supernode as tasks for partial sums, and for its partial right-hand side; the others are
 * left to the supernode's own task. */
static void list_partials(const trs_build *b, int32_t t)
{
    trs_supernode *k = &b->supernode[t];
    const trs_node *node = &b->node[t];
    trs_task *task = b->partial + k->partial;
    const int32_t all = panels_of_task(k, node), first = node->begin.panels;
    int32_t taken = 0;
    for (int32_t p = 0; p < k->partials; p++) {
        const int32_t some = panels_of_partial(all - taken - TRS_TASK_PANELS);
        *task++ =
            (trs_task){TRS_TASK_PARTIAL_SUM, t, 1, first + taken, some, {k->partial + p}, 0, 0};
        taken += some;
        TRS_ASSERT(some <= TRS_TASK_PANELS && taken <= node->early);
    }
    if (trs_in_chain(k)) {
        *task = (trs_task){TRS_TASK_PARTIAL_RHS, t, 1, first + taken, all - taken, {0}, 0, 0};
        taken = all;
    }
    TRS_ASSERT(all - taken <= TRS_TASK_PANELS);
    k->panel = first + taken;
    k->panels = node->size.panels - taken;
}

static void write_some(void *user, int64_t begin, int64_t end)
{
    trs_build *b = user;
    for (int32_t t = (int32_t)begin; t < end; t++) {
        const trs_node *node = &b->node[t];
        pen p = {b, t, b->panel, node->begin, 0};
        add_panels(&p);
        TRS_ASSERT(p.at.panels == node->begin.panels + node->size.panels);
        TRS_ASSERT(p.at.columns == node->begin.columns + node->size.columns);
        TRS_ASSERT(p.at.stored == node->begin.stored + node->size.stored);
        list_partials(b, t);
    }
}

/* ---- all of them ---------------------------------------------------------------------------------------- */

/* Where the panels of each supernode, and its partial sums, begin. */
static int sum_up(trs_build *b, trs_supernodes *s)
{
    int64_t panels = 0, partials = 0;
    for (int32_t t = 0; t < b->count; t++) {
        trs_node *node = &b->node[t];
        trs_supernode *k = &b->supernode[t];
        node->begin = (trs_panel_extent){(int32_t)panels, s->columns, s->stored};
        k->partial = (int32_t)partials;
        panels += node->size.panels;
        partials += k->partials + trs_in_chain(k);
        s->columns += node->size.columns;
        s->stored += node->size.stored;
        s->large += trs_is_large(k);
        s->chains += trs_in_chain(k) && k->chain_place == 0;
        if (s->columns > INT32_MAX || panels > INT32_MAX ||
            b->n + partials * TRS_SUPERNODE > INT32_MAX)
            return trs_fail(TRS_ESUPPORT, "too many columns in the panels for 32 bits");
    }
    s->count = b->count;
    s->panels = (int32_t)panels;
    s->partials = (int32_t)partials;
    return TRS_OK;
}

int trs_make_panels(trs_build *b, trs_supernodes *s)
{
    trs_share(b->threads, b->count, trs_claim(b), sort_some, b);
    trs_share(b->threads, b->count, trs_claim(b), count_some, b);
    int rc = sum_up(b, s);
    if (rc) return rc;
    b->panel = trs_new_touched(b->ctx, s->panels, sizeof *b->panel, "panels of supernodes");
    b->column = trs_new_touched(b->ctx, s->columns, sizeof *b->column, "columns of supernodes");
    b->partial = trs_new(b->ctx, s->partials, sizeof *b->partial, "partial sums");
    if (!b->panel || !b->column || !b->partial) return TRS_EMEM;
    trs_share(b->threads, b->count, trs_claim(b), write_some, b);
    return TRS_OK;
}
