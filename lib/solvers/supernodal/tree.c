/* tree.c: relaxed supernodes, leaves among them, and who solves what.
 *
 * The parent of a supernode of A (analysis/trapezoids.h) owns the first row below it.  Where rows of a factor depend on one
 * another, all rows below a supernode are owned by its ancestors; in any other triangle they may be anywhere, which is
 * allowed for below.
 *
 * Leaves.  Subtrees of few columns have narrow supernodes with short lists, of which dense tiles would be mostly zeros and
 * overhead.  A whole subtree is one leaf, and so are subtrees side by side.
 *
 * Workers.  Subtrees are cut from the roots on until they can be dealt out evenly; what is above them is the top.  A
 * supernode that another worker's subtree leads to joins the top: so whatever a worker's node reads or writes is its own,
 * or of the top. */
#include "config.h"

#include "supernodal.h"

#include "base/debug.h"

#include <stdlib.h>
#include <string.h>

/* zeros that may be stored: they cost bytes, and save loops and indices */
static const trs_fill_limit LIMIT = {.percent = {80, 35, 15, 6}};

enum { LEAF_SCATTER = 128, LEAF_GATHER = 512, NARROW = 4 };

typedef struct tree { /* of supernodes of A, all arrays [count] */
    trs_context *ctx;
    const trs_supernode_set *s;
    int workers;
    int32_t *parent;  /* -1: none */
    int32_t *child;   /* the last one; -1: none */
    int32_t *sibling; /* the one before; -1: none */
    int32_t *low;     /* first column of the subtree */
    int32_t *size;    /* columns of the subtree */
    int32_t *owner;   /* worker; workers: the top */
    bool *same;       /* all of the subtree has this owner */
    uint8_t *leaf;    /* NO_LEAF, LEAF_ROOT, LEAF_MEMBER */
    double *work;     /* of the subtree */
} tree;

enum { NO_LEAF, LEAF_ROOT, LEAF_MEMBER };

/* ---- the tree ------------------------------------------------------------------------------------- */

static int allocate(tree *t)
{
    const int64_t count = t->s->count;
    int32_t **array[] = {&t->parent, &t->child, &t->sibling, &t->low, &t->size, &t->owner};
    for (size_t k = 0; k < sizeof array / sizeof array[0]; k++)
        if (!(*array[k] = trs_new(t->ctx, count, sizeof(int32_t), "the tree of supernodes")))
            return TRS_EMEM;
    t->same = trs_new(t->ctx, count, sizeof *t->same, "leaves");
    t->leaf = trs_new(t->ctx, count, sizeof *t->leaf, "leaves");
    t->work = trs_new(t->ctx, count, sizeof *t->work, "the work of subtrees");
    return t->same && t->leaf && t->work ? TRS_OK : TRS_EMEM;
}

static void tree_free(tree *t)
{
    void *all[] = {t->parent, t->child, t->sibling, t->low, t->size,
                   t->owner,  t->same,  t->leaf,    t->work};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) trs_free(&t->ctx->mem, all[k]);
}

static void grow(tree *t)
{
    const trs_supernode_set *s = t->s;
    for (int32_t k = 0; k < s->count; k++) {
        const trs_columns *g = &s->supernode[k];
        t->parent[k] = g->runs ? s->of_column[s->run[g->from].begin] : -1;
        t->child[k] = t->sibling[k] = -1;
        t->low[k] = g->first;
        t->size[k] = g->end - g->first;
        /* entries; rows of the list are as long as three, a supernode as twenty */
        t->work[k] = (double)trs_trapezoid(t->size[k], g->below) + 3.0 * g->below + 20;
    }
    for (int32_t k = 0; k < s->count; k++) {
        const int32_t p = t->parent[k];
        if (p < 0) continue;
        TRS_ASSERT(p > k);
        t->sibling[k] = t->child[p];
        t->child[p] = k;
        t->size[p] += t->size[k];
        t->work[p] += t->work[k];
        if (t->low[k] < t->low[p]) t->low[p] = t->low[k];
    }
}

/* ---- workers -------------------------------------------------------------------------------------- */

typedef struct deal { /* subtrees that are dealt out, the heaviest first */
    int32_t *root;
    int32_t count;
    double small; /* subtrees of less work are not among them */
    double load[MOST_WORKERS];
} deal;

static void offer(const tree *t, deal *d, int32_t root)
{
    if (t->work[root] < d->small) return;
    int32_t k = d->count++;
    for (; k > 0 && t->work[d->root[k - 1]] < t->work[root]; k--) d->root[k] = d->root[k - 1];
    d->root[k] = root;
}

static int least_loaded(const tree *t, const deal *d)
{
    int least = 0;
    for (int w = 1; w < t->workers; w++)
        if (d->load[w] < d->load[least]) least = w;
    return least;
}

/* The heaviest subtree to the worker with the least load, and so on.  Returns how much more the most loaded one has than
 * if all had as much. */
static double deal_out(tree *t, deal *d)
{
    double all = 0, most = 0;
    for (int w = 0; w < t->workers; w++) d->load[w] = 0;
    for (int32_t k = 0; k < d->count; k++) {
        const int to = least_loaded(t, d);
        d->load[to] += t->work[d->root[k]];
        t->owner[d->root[k]] = to;
        all += t->work[d->root[k]];
    }
    for (int w = 0; w < t->workers; w++)
        if (d->load[w] > most) most = d->load[w];
    return most - all / t->workers;
}

static const double EVEN = 0.02; /* of all work, more than the others */
enum { SUBTREES = 32 };          /* of a worker, about */

/* Cut the heaviest subtree as long as they cannot be dealt out evenly. */
static void cut(tree *t, deal *d, double all)
{
    int32_t next = t->workers; /* subtrees from which on dealing out is worth a try */
    while (d->count > 0) {
        if (d->count >= next) {
            if (deal_out(t, d) <= EVEN * all) return;
            next = d->count + 1 + d->count / 16;
        }
        const int32_t root = d->root[0];
        memmove(d->root, d->root + 1, (size_t)--d->count * sizeof *d->root);
        t->owner[root] = t->workers;
        for (int32_t c = t->child[root]; c >= 0; c = t->sibling[c]) offer(t, d, c);
    }
}

/* Small subtrees of the top, and small trees: neighbours to one worker, as long as it has less than its share. */
static void deal_small(tree *t, deal *d)
{
    const int32_t count = t->s->count;
    double all = 0;
    for (int pass = 0; pass < 2; pass++) {
        int to = least_loaded(t, d);
        for (int32_t k = 0; k < count; k++) {
            if (t->owner[k] >= 0 || (t->parent[k] >= 0 && t->owner[t->parent[k]] != t->workers))
                continue;
            if (pass == 0) {
                all += t->work[k];
                continue;
            }
            if (d->load[to] >= all / t->workers) to = least_loaded(t, d);
            d->load[to] += t->work[k];
            t->owner[k] = to;
        }
        for (int w = 0; w < t->workers; w++) all += pass == 0 ? d->load[w] : 0;
    }
}

/* Whatever two workers' supernodes lead to is of the top, and whatever the top leads to. */
static void close_top(tree *t)
{
    const trs_supernode_set *s = t->s;
    for (int32_t k = 0; k < s->count; k++) {
        const trs_columns *g = &s->supernode[k];
        for (int32_t r = 0; r < g->runs; r++) {
            const trs_run *run = &s->run[g->from + r];
            for (int32_t q = s->of_column[run->begin]; q < s->count; q++) {
                if (t->owner[q] != t->owner[k]) t->owner[q] = t->workers;
                if (s->supernode[q].end >= run->end) break;
            }
        }
    }
}

static int share(tree *t)
{
    const int32_t count = t->s->count;
    deal d = {.root = trs_new(t->ctx, count, sizeof *d.root, "subtrees")};
    double all = 0;
    if (!d.root) return TRS_EMEM;
    for (int32_t k = 0; k < count; k++) {
        t->owner[k] = -1;
        if (t->parent[k] < 0) all += t->work[k];
    }
    d.small = all / (SUBTREES * t->workers);
    for (int32_t k = 0; k < count; k++)
        if (t->parent[k] < 0) offer(t, &d, k);
    cut(t, &d, all);
    deal_small(t, &d);
    for (int32_t k = count - 1; k >= 0; k--)
        if (t->owner[k] < 0) t->owner[k] = t->owner[t->parent[k]];
    trs_free(&t->ctx->mem, d.root);
    close_top(t);
    return TRS_OK;
}

/* ---- leaves --------------------------------------------------------------------------------------- */

/* A subtree may be a leaf if its columns are consecutive, few, and of one owner. */
static void find_leaves(tree *t, int32_t most)
{
    const trs_supernode_set *s = t->s;
    for (int32_t k = 0; k < s->count; k++) {
        const int32_t width = s->supernode[k].end - s->supernode[k].first;
        const bool small = t->size[k] <= most && t->low[k] + t->size[k] == s->supernode[k].end;
        t->same[k] = true;
        for (int32_t c = t->child[k]; c >= 0; c = t->sibling[c])
            t->same[k] &= t->same[c] && t->owner[c] == t->owner[k];
        const bool good = small && t->same[k] && (t->child[k] >= 0 || width < NARROW);
        t->leaf[k] = good ? LEAF_ROOT : NO_LEAF;
    }
    for (int32_t k = s->count - 1; k >= 0; k--)
        if (t->parent[k] >= 0 && t->leaf[t->parent[k]] != NO_LEAF) t->leaf[k] = LEAF_MEMBER;
}

/* ---- nodes ---------------------------------------------------------------------------------------- */

typedef struct nodes { /* in the order of A, by columns of A */
    node *node;
    int32_t *owner;
    int32_t count;
} nodes;

static void add(nodes *o, bool leaf, int32_t first, int32_t end, int32_t owner)
{
    if (o->node) {
        o->node[o->count] = (node){.first = first, .width = end - first, .leaf = leaf, .shares = 1};
        o->owner[o->count] = owner;
    }
    o->count++;
}

/* A leaf is joined to the one before where both together are small enough. */
static void list_nodes(const tree *t, int32_t most, nodes *o)
{
    const trs_supernode_set *s = t->s;
    int32_t leaf_first = 0, leaf_end = -1,
            owner = -1; /* the leaf before, unless it has been added */
    o->count = 0;
    for (int32_t k = 0; k < s->count; k++) {
        const trs_columns *g = &s->supernode[k];
        if (t->leaf[k] == LEAF_MEMBER) continue;
        const bool leaf = t->leaf[k] == LEAF_ROOT;
        const int32_t first = leaf ? t->low[k] : g->first;
        if (leaf && leaf_end == first && owner == t->owner[k] && g->end - leaf_first <= most) {
            leaf_end = g->end;
            continue;
        }
        if (leaf_end > leaf_first) add(o, true, leaf_first, leaf_end, owner);
        leaf_end = -1;
        if (leaf) leaf_first = first, leaf_end = g->end, owner = t->owner[k];
        for (int32_t j = first, end; j < g->end && !leaf; j = end) {
            end = g->end - j > WIDTH ? j + WIDTH : g->end;
            add(o, false, j, end, t->owner[k]);
        }
    }
    if (leaf_end > leaf_first) add(o, true, leaf_first, leaf_end, owner);
}

/* From columns of A to rows of the operator. */
static void turn(const trs_fundamental *f, nodes *o)
{
    for (int32_t a = 0, e = o->count - 1; a < e && f->by_rows; a++, e--) {
        const node k = o->node[a];
        const int32_t owner = o->owner[a];
        o->node[a] = o->node[e], o->owner[a] = o->owner[e];
        o->node[e] = k, o->owner[e] = owner;
    }
    for (int32_t k = 0; k < o->count && f->by_rows; k++)
        o->node[k].first = f->n - o->node[k].first - o->node[k].width;
}

static int order_nodes(trs_context *ctx, supernodal *d, const nodes *o)
{
    d->order = trs_new(ctx, o->count, sizeof *d->order, "the order of nodes");
    if (!d->order) return TRS_EMEM;
    for (int w = 0; w <= d->workers; w++) d->begin[w] = 0;
    for (int32_t k = 0; k < o->count; k++) d->begin[o->owner[k] + 1]++;
    for (int w = 0; w <= d->workers; w++) d->begin[w + 1] += d->begin[w];
    int32_t next[MOST_WORKERS + 1];
    memcpy(next, d->begin, ((size_t)d->workers + 1) * sizeof *next);
    for (int32_t k = 0; k < o->count; k++) d->order[next[o->owner[k]]++] = k;
    for (int32_t q = d->begin[d->workers]; q < d->begin[d->workers + 1]; q++)
        d->tops += o->node[d->order[q]].width;
    return TRS_OK;
}

static int make_nodes(tree *t, const trs_fundamental *f, supernodal *d)
{
    const int32_t most = d->gather ? LEAF_GATHER : LEAF_SCATTER;
    nodes o = {0};
    find_leaves(t, most);
    list_nodes(t, most, &o);
    d->nodes = o.count;
    d->node = o.node = trs_new(t->ctx, o.count, sizeof *o.node, "nodes");
    o.owner = trs_new(t->ctx, o.count, sizeof *o.owner, "owners of nodes");
    int rc = o.node && o.owner ? TRS_OK : TRS_EMEM;
    if (!rc) {
        list_nodes(t, most, &o);
        turn(f, &o);
        rc = order_nodes(t->ctx, d, &o);
    }
    trs_free(&t->ctx->mem, o.owner);
    return rc;
}

/* ---- all of it ------------------------------------------------------------------------------------ */

static int plant(tree *t, const trs_fundamental *f, supernodal *d)
{
    int rc = allocate(t);
    if (rc) return rc;
    grow(t);
    if (t->workers > 1) rc = share(t);
    else memset(t->owner, 0, (size_t)t->s->count * sizeof *t->owner);
    return rc ? rc : make_nodes(t, f, d);
}

static int grow_on(trs_operator *op, const trs_fundamental *f, supernodal_pattern *p)
{
    trs_context *ctx = op->ctx;
    supernodal *d = &p->d;
    const int team = trs_team(ctx, op->tri.nnz);
    d->n = f->n;
    d->gather = f->by_rows;
    d->reversed = op->reversed;
    d->workers = team < MOST_WORKERS ? team : MOST_WORKERS;
    int rc = trs_relax(ctx, f, &LIMIT, &p->set);
    tree t = {.ctx = ctx, .s = &p->set, .workers = d->workers};
    if (!rc) rc = plant(&t, f, d);
    tree_free(&t);
    return rc ? rc : supernodal_count(ctx, d, &p->set, op->tri.dtype);
}

static int make(trs_operator *op, bool needed, void *result, bool *found)
{
    const void *fundamental;
    int rc = trs_operator_analysis(op, &trs_fundamental_analysis, needed, &fundamental);
    if (rc || !fundamental) return rc;
    rc = grow_on(op, fundamental, result);
    *found = !rc;
    return rc;
}

static void trim(trs_context *ctx, void *result)
{
    supernodal_pattern *p = result;
    trs_supernode_set_free(ctx, &p->set);
    trs_free(&ctx->mem, p->d.node);
    trs_free(&ctx->mem, p->d.order);
    p->d.node = NULL, p->d.order = NULL;
}

const trs_analysis supernodal_analysis = {.name = "nodes of cpu-supernodal",
                                          .size = sizeof(supernodal_pattern),
                                          .make = make,
                                          .trim = trim};
