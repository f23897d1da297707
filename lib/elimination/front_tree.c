/* front_tree.c: the elimination tree, its supernodes, and the rows of their fronts.
 *
 * Time and memory are O(|A| + |L|); in |L| no number is stored but a count.
 *   tree       and the entries of its columns (elimination_tree.c)
 *   merging    bottom up, a supernode is merged into its parent: first where the patterns are the same, then where
 *              the zeros are few
 *   rows       those of A and of the children, and a transposition sorts them all
 * Source: Ashcraft and Grimes, ACM TOMS 15 (1989) 291-309. */
#include "config.h"

#include "front_tree.h"
#include "elimination_tree.h"
#include "base/debug.h"

#include <string.h>

/* The pattern and the tree before the columns are numbered anew. */
typedef struct making {
    trs_context *ctx;
    int32_t n;
    int32_t *parts;  /* the allocation of parent, count, scratch and what scratch is afterwards */
    int64_t *ptr;    /* [n+1] pivot k has the neighbours adj [ptr [k] ..] */
    int32_t *adj;    /* [2 entries] */
    int32_t *parent; /* [n] in the elimination tree; -1: root */
    int32_t *count;  /* [n] entries of L below the diagonal */
    /* of a supernode, under the number of its last pivot */
    int64_t *zeros; /* [n] that are stored, in L alone */
    int32_t *cols;  /* [n] */
    /* [n] the pivot that this one was merged into; itself: it is the last one of a supernode */
    int32_t *into;
    int32_t *front; /* [n] number of the front of a last pivot */
    int32_t *mark;  /* [n] scratch */
} making;

static int making_new(making *m, int64_t entries)
{
    enum { PARTS = 8 };
    const int64_t n = m->n;
    m->adj = trs_new(m->ctx, 2 * entries, sizeof *m->adj, "a pattern");
    m->ptr = trs_new(m->ctx, n + 2, sizeof *m->ptr, "the pointers of a pattern");
    m->parts = trs_new(m->ctx, PARTS * n, sizeof *m->parts, "the elimination tree");
    if (!m->adj || !m->ptr || !m->parts) return TRS_EMEM;
    m->parent = m->parts;
    m->count = m->parts + n;
    m->zeros = (int64_t *)(void *)(m->parts + 2 * n);
    m->cols = m->parts + 4 * n;
    m->into = m->parts + 5 * n;
    m->front = m->parts + 6 * n;
    m->mark = m->parts + 7 * n;
    return TRS_OK;
}

static void making_free(making *m)
{
    const trs_memory *mem = &m->ctx->mem;
    trs_free(mem, m->adj);
    trs_free(mem, m->ptr);
    trs_free(mem, m->parts);
}

/* adj gets the neighbours of each pivot. */
static void find_neighbours(making *m, int64_t entries, const int32_t *i, const int32_t *j)
{
    int64_t *ptr = m->ptr + 1;
    memset(m->ptr, 0, ((size_t)m->n + 2) * sizeof *m->ptr);
    for (int64_t e = 0; e < entries; e++)
        if (i[e] != j[e]) ptr[i[e] + 1]++, ptr[j[e] + 1]++;
    for (int32_t k = 0; k < m->n; k++) ptr[k + 1] += ptr[k];
    for (int64_t e = 0; e < entries; e++)
        if (i[e] != j[e]) {
            m->adj[ptr[i[e]]++] = j[e];
            m->adj[ptr[j[e]]++] = i[e];
        }
}

static void find_tree(making *m)
{
    int32_t *scratch = m->parts + 2 * (int64_t)m->n;
    trs_elimination_tree(m->n, m->ptr, m->adj, m->parent, scratch);
    trs_column_counts(m->n, m->ptr, m->adj, m->parent, m->count, scratch);
}

/* ---- supernodes -------------------------------------------------------------------------------- */

/* Entries of cols columns of L over so many rows. */
static int64_t area(int64_t cols, int64_t rows)
{
    return cols * (cols + 1) / 2 + cols * rows;
}

static int32_t last_of(const making *m, int32_t k)
{
    return trs_last_of(m->into, k);
}

/* May so many zeros be stored in a supernode?  A narrow one costs a device a launch whatever it holds, so it may have
 * more of them. */
static bool are_few(int64_t zeros, int64_t all, int64_t cols)
{
    if (cols <= 8) return true;
    if (cols <= 16) return zeros < 0.6 * (double)all;
    if (cols <= 32) return zeros < 0.3 * (double)all;
    if (cols <= 64) return zeros < 0.15 * (double)all;
    return zeros < 0.08 * (double)all;
}

/* Merge supernodes into their parents, children first; exact: only those whose parent has their pattern. */
static void merge(making *m, bool exact)
{
    for (int32_t c = 0; c < m->n; c++) {
        if (m->into[c] != c || m->parent[c] < 0) continue;
        const int32_t p = last_of(m, m->parent[c]);
        const int64_t cols = (int64_t)m->cols[c] + m->cols[p], rows = m->count[p];
        const int64_t all = area(cols, rows);
        const int64_t zeros = all - (area(m->cols[c], m->count[c]) - m->zeros[c]) -
                              (area(m->cols[p], rows) - m->zeros[p]);
        if (exact ? zeros > 0 : !are_few(zeros, all, cols)) continue;
        m->into[c] = p;
        m->cols[p] = (int32_t)cols;
        m->zeros[p] = zeros;
    }
}

static void find_supernodes(making *m)
{
    for (int32_t k = 0; k < m->n; k++) m->cols[k] = 1, m->zeros[k] = 0, m->into[k] = k;
    merge(m, true);
    merge(m, false);
}

/* ---- the new order ------------------------------------------------------------------------------- */

/* The next supernode of a walk that is below `at`, down to its first leaf; head, next: lists of children. */
static int32_t first_leaf(int32_t *head, const int32_t *next, int32_t at)
{
    while (head[at] >= 0) {
        const int32_t child = head[at];
        head[at] = next[child];
        at = child;
    }
    return at;
}

/* Number the supernodes in postorder.  Children are in lists, count and mark being free again: head = mark, next = head of
 * siblings in `next`. */
static void number_fronts(making *m, trs_front_tree *t, int32_t *next)
{
    int32_t *head = m->mark;
    for (int32_t k = 0; k < m->n; k++) head[k] = -1;
    for (int32_t k = m->n - 1; k >= 0; k--) {
        if (m->into[k] != k || m->parent[k] < 0) continue;
        const int32_t p = last_of(m, m->parent[k]);
        next[k] = head[p];
        head[p] = k;
    }
    t->count = 0;
    for (int32_t root = 0; root < m->n; root++) {
        if (m->into[root] != root || m->parent[root] >= 0) continue;
        for (int32_t at = first_leaf(head, next, root);; at = first_leaf(head, next, at)) {
            m->front[at] = t->count++;
            if (at == root) break;
            at = last_of(m, m->parent[at]);
        }
    }
}

static int tree_new(making *m, trs_front_tree *t)
{
    trs_context *ctx = m->ctx;
    t->of = trs_new(ctx, m->n, sizeof *t->of, "the fronts of columns");
    t->place = trs_new(ctx, m->n, sizeof *t->place, "the order of fronts");
    t->pivot = trs_new(ctx, m->n, sizeof *t->pivot, "the order of fronts");
    return t->of && t->place && t->pivot ? TRS_OK : TRS_EMEM;
}

/* Fronts, and the columns in their order. */
static int make_fronts(making *m, trs_front_tree *t)
{
    number_fronts(m, t, t->of); /* of is free yet */
    t->front = trs_new(m->ctx, t->count, sizeof *t->front, "fronts");
    t->child = trs_new(m->ctx, t->count, sizeof *t->child, "fronts");
    if (!t->front || !t->child) return TRS_EMEM;
    for (int32_t k = 0; k < m->n; k++) {
        if (m->into[k] != k) continue;
        const int32_t up = m->parent[k];
        trs_front *f = &t->front[m->front[k]];
        *f = (trs_front){.cols = m->cols[k], .rows = m->count[k]};
        f->parent = up < 0 ? -1 : m->front[last_of(m, up)];
    }
    int32_t column = 0;
    for (int32_t s = 0; s < t->count; s++) {
        trs_front *f = &t->front[s];
        f->first = column;
        column += f->cols;
        f->row = t->entries;
        t->entries += f->rows;
    }
    for (int32_t s = 0; s < t->count; s++) t->front[s].child = t->front[s].first; /* the next one */
    for (int32_t k = 0; k < m->n; k++) {
        const int32_t s = m->front[last_of(m, k)], at = t->front[s].child++;
        t->place[k] = at;
        t->pivot[at] = k;
        t->of[at] = s;
    }
    return TRS_OK;
}

static void make_children(trs_front_tree *t)
{
    int32_t next = 0;
    t->levels = 0;
    for (int32_t s = 0; s < t->count; s++)
        if (t->front[s].parent >= 0) t->front[t->front[s].parent].children++;
    for (int32_t s = 0; s < t->count; s++) {
        t->front[s].child = next;
        next += t->front[s].children;
        t->front[s].children = 0;
    }
    for (int32_t s = 0; s < t->count; s++) {
        const trs_front *f = &t->front[s];
        if (f->level + 1 > t->levels) t->levels = f->level + 1;
        if (f->parent < 0) continue;
        trs_front *p = &t->front[f->parent];
        t->child[p->child + p->children++] = s;
        if (p->level <= f->level) p->level = f->level + 1;
    }
}

/* ---- the rows of fronts ---------------------------------------------------------------------------- */

/* Add row r to front s unless it has it, or it is one of its columns. */
static void add_row(making *m, trs_front_tree *t, int32_t s, int64_t *end, int32_t r)
{
    if (r < t->front[s].first + t->front[s].cols || m->mark[r] == s) return;
    m->mark[r] = s;
    TRS_ASSERT(*end < t->front[s].row + t->front[s].rows);
    t->row[(*end)++] = r;
}

/* The rows of each front, unsorted. */
static void collect_rows(making *m, trs_front_tree *t)
{
    for (int32_t k = 0; k < m->n; k++) m->mark[k] = -1;
    for (int32_t s = 0; s < t->count; s++) {
        const trs_front *f = &t->front[s];
        int64_t end = f->row;
        for (int32_t c = f->first; c < f->first + f->cols; c++) {
            const int32_t k = t->pivot[c];
            for (int64_t p = m->ptr[k]; p < m->ptr[k + 1]; p++)
                add_row(m, t, s, &end, t->place[m->adj[p]]);
        }
        for (int32_t c = 0; c < f->children; c++) {
            const trs_front *g = &t->front[t->child[f->child + c]];
            for (int32_t r = 0; r < g->rows; r++) add_row(m, t, s, &end, t->row[g->row + r]);
        }
        TRS_ASSERT(end == f->row + f->rows);
    }
}

/* Sort the rows of all fronts by a transposition: owner [ptr [r] ..] are the fronts that have row r. */
static int sort_rows(making *m, trs_front_tree *t)
{
    int32_t *owner = trs_new(m->ctx, t->entries, sizeof *owner, "the rows of fronts");
    if (!owner) return TRS_EMEM;
    int64_t *ptr = m->ptr + 1;
    memset(m->ptr, 0, ((size_t)m->n + 2) * sizeof *m->ptr);
    for (int64_t p = 0; p < t->entries; p++) ptr[t->row[p] + 1]++;
    for (int32_t k = 0; k < m->n; k++) ptr[k + 1] += ptr[k];
    for (int32_t s = 0; s < t->count; s++)
        for (int32_t r = 0; r < t->front[s].rows; r++)
            owner[ptr[t->row[t->front[s].row + r]]++] = s;
    for (int32_t s = 0; s < t->count; s++) m->front[s] = 0; /* rows that it has so far */
    for (int32_t k = 0; k < m->n; k++)
        for (int64_t p = m->ptr[k]; p < m->ptr[k + 1]; p++) {
            const int32_t s = owner[p];
            t->row[t->front[s].row + m->front[s]++] = k;
        }
    trs_free(&m->ctx->mem, owner);
    return TRS_OK;
}

/* Where the rows of each front stand in its parent; mark: where a row stands in the front at hand. */
static void make_places(making *m, trs_front_tree *t)
{
    for (int32_t s = 0; s < t->count; s++) {
        const trs_front *f = &t->front[s];
        for (int32_t k = 0; k < f->cols; k++) m->mark[f->first + k] = k;
        for (int32_t r = 0; r < f->rows; r++) m->mark[t->row[f->row + r]] = f->cols + r;
        for (int32_t c = 0; c < f->children; c++) {
            const trs_front *g = &t->front[t->child[f->child + c]];
            for (int32_t r = 0; r < g->rows; r++) t->to[g->row + r] = m->mark[t->row[g->row + r]];
        }
    }
}

static int make_rows(making *m, trs_front_tree *t)
{
    t->row = trs_new(m->ctx, t->entries, sizeof *t->row, "the rows of fronts");
    t->to = trs_new(m->ctx, t->entries, sizeof *t->to, "the rows of fronts");
    if (!t->row || !t->to) return TRS_EMEM;
    collect_rows(m, t);
    const int rc = sort_rows(m, t);
    if (!rc) make_places(m, t);
    return rc;
}

int trs_front_tree_make(trs_context *ctx, int32_t n, int64_t entries, const int32_t *i,
                        const int32_t *j, trs_front_tree *t)
{
    making m = {.ctx = ctx, .n = n};
    *t = (trs_front_tree){.n = n};
    int rc = making_new(&m, entries);
    if (!rc) rc = tree_new(&m, t);
    if (!rc) {
        find_neighbours(&m, entries, i, j);
        find_tree(&m);
        find_supernodes(&m);
        rc = make_fronts(&m, t);
    }
    if (!rc) {
        make_children(t);
        rc = make_rows(&m, t);
    }
    making_free(&m);
    return rc;
}

void trs_front_tree_free(trs_context *ctx, trs_front_tree *t)
{
    trs_free(&ctx->mem, t->front);
    trs_free(&ctx->mem, t->child);
    trs_free(&ctx->mem, t->of);
    trs_free(&ctx->mem, t->place);
    trs_free(&ctx->mem, t->pivot);
    trs_free(&ctx->mem, t->row);
    trs_free(&ctx->mem, t->to);
    *t = (trs_front_tree){.n = 0};
}
