/* elimination_tree.c: the elimination tree by compressed paths, and column counts by the leaves of row subtrees.
 *
 * Row i of the factor has an entry in each column of a subtree with the root i, whose leaves are columns where row i of A has an
 * entry.  In postorder, j is a leaf if the leaf before it is outside of the subtree of j.  So column j has an entry for each row
 * with a leaf in the subtree of j, as long as that row has not ended below.  Each leaf of a row adds one to its column, and takes
 * one from the least common ancestor of it and the leaf before, and each column takes one from its parent for the row that ends in
 * it.  The sums over subtrees are the counts, and no row is walked along. */
#include "config.h"

#include "elimination_tree.h"

void trs_elimination_tree(int32_t n, const int64_t *ptr, const int32_t *adj, int32_t *parent,
                          int32_t *scratch)
{
    int32_t *ancestor = scratch; /* along compressed paths */
    for (int32_t k = 0; k < n; k++) {
        parent[k] = ancestor[k] = -1;
        for (int64_t p = ptr[k]; p < ptr[k + 1]; p++) {
            int32_t a = adj[p];
            while (a >= 0 && a < k) {
                const int32_t up = ancestor[a];
                ancestor[a] = k;
                if (up < 0) parent[a] = k;
                a = up;
            }
        }
    }
}

/* post [k] = the node that is number k of a postorder.  head, next: [n] scratch. */
static void find_postorder(int32_t n, const int32_t *parent, int32_t *head, int32_t *next,
                           int32_t *post)
{
    int32_t count = 0;
    for (int32_t k = 0; k < n; k++) head[k] = -1;
    for (int32_t k = n - 1; k >= 0; k--)
        if (parent[k] >= 0) {
            next[k] = head[parent[k]];
            head[parent[k]] = k;
        }
    for (int32_t root = 0; root < n; root++) {
        int32_t at = parent[root] < 0 ? root : -1;
        while (at >= 0) {
            const int32_t child = head[at];
            if (child >= 0) {
                head[at] = next[child];
                at = child;
            } else {
                post[count++] = at;
                at = at == root ? -1 : parent[at];
            }
        }
    }
}

typedef struct leaves {
    int32_t *first;    /* [n] the smallest number in postorder of a node's subtree */
    int32_t *last;     /* [n] of a row: first of its last leaf; -1: it has none yet */
    int32_t *previous; /* [n] of a row: its last leaf */
    int32_t *ancestor; /* [n] of nodes that were passed: the highest such one; else themselves */
} leaves;

/* Row i has an entry in column j. */
static void add_entry(const leaves *w, int32_t i, int32_t j, int32_t *count)
{
    if (i <= j || w->first[j] <= w->last[i]) return;
    const int32_t previous = w->previous[i];
    count[j]++;
    if (previous >= 0)
        count[trs_last_of(w->ancestor, previous)]--; /* their least common ancestor */
    w->last[i] = w->first[j];
    w->previous[i] = j;
}

void trs_column_counts(int32_t n, const int64_t *ptr, const int32_t *adj, const int32_t *parent,
                       int32_t *count, int32_t *scratch)
{
    int32_t *post = scratch;
    const leaves w = {scratch + n, post + 2 * (int64_t)n, post + 3 * (int64_t)n,
                      post + 4 * (int64_t)n};
    find_postorder(n, parent, w.last, w.previous, post);
    for (int32_t k = 0; k < n; k++) w.first[k] = w.last[k] = w.previous[k] = -1, w.ancestor[k] = k;
    for (int32_t k = 0; k < n; k++) {
        int32_t j = post[k];
        count[j] = w.first[j] < 0; /* a leaf of the tree */
        for (; j >= 0 && w.first[j] < 0; j = parent[j]) w.first[j] = k;
    }
    for (int32_t k = 0; k < n; k++) {
        const int32_t j = post[k], up = parent[j];
        if (up >= 0) count[up]--;
        for (int64_t p = ptr[j]; p < ptr[j + 1]; p++) add_entry(&w, adj[p], j, count);
        if (up >= 0) w.ancestor[j] = up;
    }
    for (int32_t k = 0; k < n; k++)
        if (parent[k] >= 0) count[parent[k]] += count[k];
    for (int32_t k = 0; k < n; k++) count[k]--; /* the diagonal */
}
