/* order.c: orders of rows and columns for incomplete factors, of the graph of A + A'.
 *
 * Reverse Cuthill-McKee numbers the nodes in the order of a breadth-first search, neighbours by ascending degree, from a
 * node that is far from others, and turns the order around: entries come near the diagonal, where less fill is dropped.
 * Colours are given in the order of the rows, each the first that no neighbour has.  Rows of one colour are independent, so
 * that factors without fill have at most as many levels as there are colours; but the more rows are independent, the worse
 * they precondition.
 * All is O(n + nnz), but for the search for a far node, which repeats a breadth-first search at most FAR times.
 * Sources: Cuthill, McKee, Reducing the bandwidth of sparse symmetric matrices, ACM 1969, 157-172; George, Liu, An
 * implementation of a pseudoperipheral node finder, ACM TOMS 5 (1979) 284-295; Saad, Iterative Methods for Sparse Linear
 * Systems, 2nd ed., section 3.3. */
#include "config.h"

#include "order.h"
#include "base/debug.h"

#include <string.h>

enum { FAR = 8 };

/* ---- the graph ------------------------------------------------------------------------------ */

/* Write the union of two rows with ascending columns to out, or only count it.  Returns its length. */
static int64_t merge(const trs_tri *a, const trs_tri *b, int32_t i, int32_t *out)
{
    int64_t p = a->ptr[i], q = b->ptr[i], count = 0;
    while (p < a->ptr[i + 1] || q < b->ptr[i + 1]) {
        const int32_t j = p < a->ptr[i + 1] ? a->idx[p] : INT32_MAX;
        const int32_t k = q < b->ptr[i + 1] ? b->idx[q] : INT32_MAX;
        const int32_t least = (int32_t)trs_min(j, k);
        p += j == least;
        q += k == least;
        if (out) out[count] = least;
        count++;
    }
    return count;
}

int trs_order_join(trs_context *ctx, const trs_tri *a, trs_tri *g)
{
    trs_tri b;
    int rc = trs_tri_transpose(ctx, a, false, &b);
    if (rc) return rc;
    *g = (trs_tri){.n = a->n, .dtype = a->dtype};
    g->ptr = trs_new(ctx, (int64_t)a->n + 1, sizeof *g->ptr, "row pointers");
    if (!g->ptr) rc = TRS_EMEM;
    for (int32_t i = 0; i < a->n && !rc; i++) {
        g->ptr[i] = g->nnz;
        g->nnz += merge(a, &b, i, NULL);
    }
    if (!rc) g->ptr[a->n] = g->nnz;
    if (!rc) rc = trs_tri_entries(ctx, g, false, false);
    for (int32_t i = 0; i < a->n && !rc; i++) merge(a, &b, i, g->idx + g->ptr[i]);
    trs_tri_free(ctx, &b);
    if (rc) trs_tri_free(ctx, g);
    return rc;
}

static int64_t degree(const trs_tri *g, int32_t i)
{
    return g->ptr[i + 1] - g->ptr[i];
}

/* order = the nodes by ascending key, which is below count; equal ones ascend.  first [count+1] is scratch. */
static void sort_by(const int32_t *key, int32_t n, int32_t count, int64_t *first, int32_t *order)
{
    memset(first, 0, ((size_t)count + 1) * sizeof *first);
    for (int32_t i = 0; i < n; i++) first[key[i] + 1]++;
    for (int32_t k = 0; k < count; k++) first[k + 1] += first[k];
    for (int32_t i = 0; i < n; i++) order[first[key[i]]++] = i;
}

/* ---- reverse Cuthill-McKee ------------------------------------------------------------------ */

/* The neighbours of each node by ascending degree: nodes are taken in that order, and each is appended to the lists of its
 * neighbours.  w [n+1] and key [n] are scratch. */
static int sort_neighbours(trs_context *ctx, trs_tri *g, int64_t *w, int32_t *key, int32_t *order)
{
    int32_t *sorted = trs_new(ctx, g->nnz, sizeof *sorted, "neighbours");
    if (!sorted) return TRS_EMEM;
    for (int32_t i = 0; i < g->n; i++)
        key[i] = (int32_t)degree(g, i) - 1; /* i is its own neighbour */
    sort_by(key, g->n, g->n, w, order);
    memcpy(w, g->ptr, (size_t)g->n * sizeof *w);
    for (int32_t k = 0; k < g->n; k++)
        for (int64_t p = g->ptr[order[k]]; p < g->ptr[order[k] + 1]; p++)
            sorted[w[g->idx[p]]++] = order[k];
    trs_free(&ctx->mem, g->idx);
    g->idx = sorted;
    return TRS_OK;
}

typedef struct search { /* of one component */
    const trs_tri *g;
    int32_t *seen; /* [n] the round that saw the node last */
    int32_t round;
    int32_t *order; /* the nodes of the component as they were found */
    int32_t count;
    int32_t depth; /* how far the last of them is from the first */
    int32_t last;  /* the first of those that are as far */
} search;

static void search_from(search *s, int32_t start)
{
    int32_t end = 1; /* of the nodes at this depth */
    s->round++;
    s->order[0] = s->last = start;
    s->count = 1;
    s->depth = 0;
    s->seen[start] = s->round;
    for (int32_t k = 0; k < s->count; k++) {
        if (k == end) {
            s->depth++;
            s->last = s->order[k];
            end = s->count;
        }
        const int32_t i = s->order[k];
        for (int64_t p = s->g->ptr[i]; p < s->g->ptr[i + 1]; p++) {
            const int32_t j = s->g->idx[p];
            if (s->seen[j] == s->round) continue;
            s->seen[j] = s->round;
            TRS_ASSERT(s->count < s->g->n);
            s->order[s->count++] = j;
        }
    }
}

/* Search from a node that is far from others. */
static void search_from_afar(search *s, int32_t start)
{
    int32_t depth = -1;
    search_from(s, start);
    for (int t = 0; t < FAR && s->depth > depth; t++) {
        depth = s->depth;
        search_from(s, s->last);
    }
}

static int reverse_cuthill_mckee(trs_context *ctx, trs_tri *g, int32_t *perm)
{
    const int32_t n = g->n;
    int64_t *w = trs_new(ctx, (int64_t)n + 1, sizeof *w, "an order");
    int32_t *seen = trs_alloc_zero(&ctx->mem, n, sizeof *seen);
    int rc = TRS_EMEM;
    if (w && seen) rc = sort_neighbours(ctx, g, w, seen, perm);
    if (!seen) rc = trs_fail(TRS_EMEM, "out of memory for an order");
    if (!rc) memset(seen, 0, (size_t)n * sizeof *seen);
    search s = {.g = g, .seen = seen};
    int32_t found = 0;
    for (int32_t i = 0; i < n && !rc; i++) {
        if (seen[i]) continue;
        s.order = perm + found;
        s.round = 0; /* components have no node in common */
        search_from_afar(&s, i);
        found += s.count;
    }
    TRS_ASSERT(rc || found == n);
    for (int32_t a = 0, b = n - 1; a < b && !rc; a++, b--) {
        const int32_t t = perm[a];
        perm[a] = perm[b];
        perm[b] = t;
    }
    trs_free_all(&ctx->mem, w, seen);
    return rc;
}

/* ---- colours -------------------------------------------------------------------------------- */

/* Colour the nodes, and return the number of colours.  taken [c] = 1 + the last node with a neighbour of colour c. */
static int32_t give_colours(const trs_tri *g, int32_t *taken, int32_t *colour)
{
    int32_t colours = 0;
    for (int32_t i = 0; i < g->n; i++) {
        for (int64_t p = g->ptr[i]; p < g->ptr[i + 1]; p++)
            if (g->idx[p] < i) taken[colour[g->idx[p]]] = i + 1;
        int32_t c = 0;
        while (taken[c] == i + 1) c++;
        TRS_ASSERT(c < g->n);
        colour[i] = c;
        if (c + 1 > colours) colours = c + 1;
    }
    return colours;
}

static int by_colour(trs_context *ctx, const trs_tri *g, int32_t *perm)
{
    const int32_t n = g->n;
    int64_t *first = trs_new(ctx, (int64_t)n + 1, sizeof *first, "colours");
    int32_t *taken = trs_new(ctx, n, sizeof *taken, "colours");
    int32_t *colour = trs_new(ctx, n, sizeof *colour, "colours");
    const bool good = first && taken && colour;
    if (good) {
        memset(taken, 0, (size_t)n * sizeof *taken);
        const int32_t colours = give_colours(g, taken, colour);
        sort_by(colour, n, colours, first, perm);
    }
    trs_free_all(&ctx->mem, first, taken, colour);
    return good ? TRS_OK : TRS_EMEM;
}

/* ---- choice ---------------------------------------------------------------------------- */

int trs_order_rows(trs_context *ctx, const trs_tri *a, trs_ilu_ordering how, int32_t *perm)
{
    trs_tri g;
    for (int32_t k = 0; k < a->n; k++) perm[k] = k;
    if (how == TRS_ILU_NATURAL) return TRS_OK;
    int rc = trs_order_join(ctx, a, &g);
    if (rc) return rc;
    if (how == TRS_ILU_RCM) rc = reverse_cuthill_mckee(ctx, &g, perm);
    else rc = by_colour(ctx, &g, perm);
    trs_tri_free(ctx, &g);
    return rc;
}

const char *trs_order_name(trs_ilu_ordering how)
{
    static const char *const names[] = {"natural", "RCM", "multicolour"};
    return names[how];
}
