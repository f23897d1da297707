/* cut.c: cuts the elimination tree of a complete factor: whole subtrees to each part, what they hang on to the top.
 *
 * In the factor L of a symmetric pattern, the parent of column j is the row of its first entry below the diagonal, and all
 * entries of column j are in rows of its ancestors (Liu, The role of elimination trees in sparse factorization, SIAM J. Matrix
 * Anal. Appl. 11 (1990) 134-172).  So subtrees that have no node in common do not depend on one another.  L counted backwards
 * and transposed, as op = T has it, has its parents in rows: the last entry left of the diagonal.
 *
 * The search begins with the roots, and opens the heaviest subtree again and again: its root goes to the top, its children become
 * subtrees.  After each step the subtrees can be dealt to the parts, the heaviest first, each to the part that has least.  The
 * cut is made after the step where the largest part and the top together have the fewest entries, since one is solved after
 * the other.  Any other triangle may have entries that are in no ancestor's row: then rows go to the top until no two parts
 * are coupled, and the cut may not be worth it any more.
 *
 * Time: O(nnz), and a sort of at most 2048 subtrees for each one that is opened. */
#include "config.h"

#include "cut.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_SUBTREES = 2048, /* the search ends where there are more */
    MOST_TOP = 2,         /* or where the top has more than 1 / MOST_TOP of the entries */
    LEAST_ROWS = 2        /* of a part */
};
/* the largest part and the top have less than so much of the entries */
static const double WORTH = 0.9;

typedef struct subtree {
    int32_t root;
    int64_t weight; /* entries */
} subtree;

typedef struct search {
    const trs_tri *L;
    int parts;
    int32_t *parent, *child, *next; /* [n] -1: none */
    int64_t *weight;                /* [n] of the subtree */
    int8_t *part;                   /* [n] `parts`: the top; -1: that of its parent */
    subtree *tree;
    int trees, room;
    int64_t all, top; /* entries of all, of the top */
} search;

/* ---- the tree ----------------------------------------------------------------------------------------------- */

/* Parents by columns: the first row that has an entry in each. */
static void parents_above(search *s)
{
    const trs_tri *L = s->L;
    for (int32_t i = 0; i < L->n; i++)
        for (int64_t p = L->ptr[i]; p < L->ptr[i + 1]; p++) {
            const int32_t j = L->idx[p];
            s->weight[j]++;
            if (j < i && s->parent[j] < 0) s->parent[j] = i;
        }
}

/* Parents by rows: the last entry before the diagonal, which is the last one of all. */
static void parents_below(search *s)
{
    const trs_tri *L = s->L;
    for (int32_t i = 0; i < L->n; i++) {
        s->weight[i] = L->ptr[i + 1] - L->ptr[i];
        if (s->weight[i] > 1) s->parent[i] = L->idx[L->ptr[i + 1] - 2];
    }
}

/* k-th node of those that come after their children. */
static int32_t climbing(const search *s, bool top_first, int32_t k)
{
    return top_first ? s->L->n - 1 - k : k;
}

static void make_tree(search *s, bool top_first)
{
    const int32_t n = s->L->n;
    memset(s->weight, 0, (size_t)n * sizeof *s->weight);
    for (int32_t i = 0; i < n; i++) s->parent[i] = s->child[i] = s->next[i] = -1;
    memset(s->part, -1, (size_t)n);
    if (top_first) parents_below(s);
    else parents_above(s);
    s->all = s->L->ptr[n];
    s->top = s->trees = 0;
    for (int32_t k = 0; k < n; k++) {
        const int32_t j = climbing(s, top_first, k), up = s->parent[j];
        if (up < 0) continue;
        s->weight[up] += s->weight[j];
        s->next[j] = s->child[up];
        s->child[up] = j;
    }
}

/* ---- the cut ------------------------------------------------------------------------------------------------ */

static bool add_tree(search *s, int32_t root)
{
    if (s->trees == s->room) return false;
    s->tree[s->trees++] = (subtree){root, s->weight[root]};
    return true;
}

/* A total order, so that a second search takes the same steps. */
static int heavier(const void *a, const void *b)
{
    const subtree *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    return (x->root > y->root) - (x->root < y->root);
}

/* The root of the heaviest subtree goes to the top, its children are subtrees from now on. */
static bool open_heaviest(search *s)
{
    int most = 0;
    for (int k = 1; k < s->trees; k++)
        if (heavier(&s->tree[k], &s->tree[most]) < 0) most = k;
    int32_t root = s->tree[most].root;
    s->tree[most] = s->tree[--s->trees];
    for (;;) { /* down a chain at once */
        const int32_t child = s->child[root];
        s->part[root] = (int8_t)s->parts;
        s->top += s->weight[root];
        for (int32_t c = child; c >= 0; c = s->next[c]) s->top -= s->weight[c];
        if (child < 0 || s->next[child] >= 0) break;
        root = child;
    }
    for (int32_t c = s->child[root]; c >= 0; c = s->next[c])
        if (!add_tree(s, c)) return false;
    return s->top <= s->all / MOST_TOP;
}

/* Deals the subtrees to the parts.  Returns the entries of the largest part; -1: there are fewer subtrees than parts. */
static int64_t deal(search *s)
{
    int64_t has[TRS_MOST_DEVICES] = {0}, most = 0;
    if (s->trees < s->parts) return -1;
    qsort(s->tree, (size_t)s->trees, sizeof *s->tree, heavier);
    for (int k = 0; k < s->trees; k++) {
        int least = 0;
        for (int p = 1; p < s->parts; p++)
            if (has[p] < has[least]) least = p;
        s->part[s->tree[k].root] = (int8_t)least;
        has[least] += s->tree[k].weight;
        if (has[least] > most) most = has[least];
    }
    return most;
}

/* The parts of all rows by the tree. */
static void spread(search *s, bool top_first)
{
    for (int32_t k = s->L->n - 1; k >= 0; k--) {
        const int32_t j = climbing(s, top_first, k);
        if (s->part[j] < 0) s->part[j] = s->part[s->parent[j]];
    }
}

/* Moves rows to the top so that no two parts are coupled, and the top needs no part, or no part that needs it comes before it.
 * Heads first, row i goes there if it needs another part, or the top; and so do all that need row i, which come later.  Top
 * first, row j goes there if another part needs it, or the top; and so do all that row j needs, which come before. */
static void part_ways(search *s, bool top_first)
{
    const trs_tri *L = s->L;
    const int8_t top = (int8_t)s->parts;
    for (int32_t k = 0; k < L->n; k++) {
        const int32_t i = climbing(s, top_first, k);
        for (int64_t p = L->ptr[i]; p < L->ptr[i + 1]; p++) {
            const int32_t j = L->idx[p];
            if (s->part[i] != s->part[j]) s->part[top_first ? j : i] = top;
        }
    }
}

/* The shares of the largest part and of the top; an entry that couples a part to the top counts for the part. */
static bool weigh(const search *s, trs_subtrees *cut)
{
    const trs_tri *L = s->L;
    int64_t has[TRS_MOST_DEVICES + 1] = {0}, most = 0;
    for (int32_t i = 0; i < L->n; i++)
        for (int64_t p = L->ptr[i]; p < L->ptr[i + 1]; p++)
            has[s->part[cut->top_first ? i : L->idx[p]]]++;
    for (int p = 0; p < s->parts; p++)
        if (has[p] > most) most = has[p];
    cut->largest = (double)most / (double)s->all;
    cut->top = (double)has[s->parts] / (double)s->all;
    return cut->largest + cut->top < WORTH;
}

/* Begins with the roots.  false: there are too many. */
static bool begin(search *s, bool top_first)
{
    make_tree(s, top_first);
    for (int32_t k = 0; k < s->L->n; k++)
        if (s->parent[k] < 0 && !add_tree(s, k)) return false;
    return s->trees > 0;
}

/* After how many steps the cut is best; -1: it never is worth it. */
static int best_step(search *s)
{
    int64_t least = (int64_t)(WORTH * (double)s->all);
    int best = -1;
    for (int step = 0;; step++) {
        const int64_t most = deal(s);
        if (most >= 0 && most + s->top < least) {
            least = most + s->top;
            best = step;
        }
        if (!s->trees || !open_heaviest(s)) return best;
    }
}

static bool search_tree(search *s, bool top_first, trs_subtrees *cut)
{
    if (!begin(s, top_first)) return false;
    const int steps = best_step(s);
    if (steps < 0 || !begin(s, top_first)) return false;
    for (int k = 0; k < steps; k++) (void)open_heaviest(s); /* true, as before */
    cut->parts = s->parts;
    cut->top_first = top_first;
    (void)deal(s);
    spread(s, top_first);
    part_ways(s, top_first);
    return weigh(s, cut);
}

/* Rows by parts, each ascending. */
static bool sort_rows(const search *s, int32_t *row, trs_subtrees *cut)
{
    const int32_t n = s->L->n;
    int32_t at[TRS_MOST_DEVICES + 1];
    memset(cut->begin, 0, sizeof cut->begin);
    for (int32_t i = 0; i < n; i++) cut->begin[s->part[i] + 1]++;
    for (int p = 0; p <= s->parts; p++) {
        if (p < s->parts && cut->begin[p + 1] < LEAST_ROWS) return false;
        cut->begin[p + 1] += cut->begin[p];
        at[p] = cut->begin[p];
    }
    for (int32_t i = 0; i < n; i++) row[at[s->part[i]]++] = i;
    cut->row = row;
    return true;
}

/* ---- the analysis ------------------------------------------------------------------------------------------- */

static bool search_new(search *s, const trs_operator *op)
{
    const trs_memory *mem = &op->ctx->mem;
    const int64_t n = op->tri.n;
    s->L = &op->tri;
    s->parts = op->ctx->device_count;
    s->room = MOST_SUBTREES;
    s->parent = trs_alloc(mem, n, sizeof *s->parent);
    s->child = trs_alloc(mem, n, sizeof *s->child);
    s->next = trs_alloc(mem, n, sizeof *s->next);
    s->weight = trs_alloc(mem, n, sizeof *s->weight);
    s->part = trs_alloc(mem, n, sizeof *s->part);
    s->tree = trs_alloc(mem, s->room, sizeof *s->tree);
    return s->parent && s->child && s->next && s->weight && s->part && s->tree;
}

static void search_free(search *s, const trs_memory *mem)
{
    trs_free(mem, s->parent);
    trs_free(mem, s->child);
    trs_free(mem, s->next);
    trs_free(mem, s->weight);
    trs_free(mem, s->part);
    trs_free(mem, s->tree);
}

static int make(trs_operator *op, bool needed, void *result, bool *found)
{
    trs_subtrees *cut = result;
    const trs_memory *mem = &op->ctx->mem;
    search s = {0};
    (void)needed;
    if (op->ctx->device_count < 2 || op->tri.n < 2) return TRS_OK;
    int rc = trs_operator_show(op, TRS_OP_PATTERN);
    if (rc) return rc;
    int32_t *row = trs_alloc(mem, op->tri.n, sizeof *row);
    if (!search_new(&s, op) || !row) rc = TRS_EMEM;
    const bool has = !rc && (search_tree(&s, false, cut) || search_tree(&s, true, cut)) &&
                     sort_rows(&s, row, cut);
    if (!has) trs_free(mem, row);
    search_free(&s, mem);
    *found = has;
    return rc ? trs_fail(rc, "out of memory for a cut into subtrees") : TRS_OK;
}

static void trim(trs_context *ctx, void *result)
{
    trs_subtrees *cut = result;
    trs_free(&ctx->mem, cut->row);
    cut->row = NULL;
}

const trs_analysis trs_subtrees_analysis = {
    .name = "a cut into subtrees", .size = sizeof(trs_subtrees), .make = make, .trim = trim};
