/* fronts.c: the fronts of L L^H and of L U for new values: where numbers are, and who computes which front. */
#include "config.h"

#include "front_sweep.h"
#include "base/debug.h"

#include <string.h>

static int64_t order_of(const trs_front *s)
{
    return (int64_t)s->cols + s->rows;
}

/* lanes is a power of two. */
static int64_t panel_offset(const trs_again_fronts *f, const trs_front *s, int64_t i, int64_t j)
{
    const int64_t lane = i & (f->lanes - 1);
    return (i - lane) * s->cols + j * f->lanes + lane;
}

/* ---- where numbers are ----------------------------------------------------------------------------- */

/* Numbers of the update matrix, or of both. */
static int64_t update_size(const trs_again_fronts *f, int32_t k)
{
    return trs_again_update_size(f, k) * (f->lu ? 2 : 1);
}

/* Offsets of the panels. */
static void place_panels(trs_again_fronts *f)
{
    f->numbers = 0;
    for (int32_t k = 0; k < f->tree.count; k++) {
        f->panel[k] = f->numbers;
        f->numbers += trs_again_panel_size(f, k) * (f->lu ? 2 : 1);
    }
}

/* Offsets of S on the stacks of one worker, which are at base and base + size; *size is what one of them needs at most.
 * depth: of each front, from its root.  Subtrees of other workers are children with a stack of their own. */
static void stack_updates(trs_again_fronts *f, const int32_t *order, int32_t count,
                          const int32_t *depth, const int32_t *owner, int64_t *top, int64_t *most)
{
    top[0] = top[1] = 0;
    for (int32_t k = 0; k < count; k++) {
        const int32_t at = order[k];
        const trs_front *s = &f->tree.front[at];
        const int mine = depth[at] & 1;
        for (int32_t c = 0; c < s->children; c++) {
            const int32_t child = f->tree.child[s->child + c];
            if (owner[child] == owner[at]) top[!mine] -= update_size(f, child);
        }
        f->update[at] = top[mine];
        top[mine] += update_size(f, at);
        most[mine] = trs_max(most[mine], top[mine]);
    }
}

static void place_updates(trs_again_fronts *f, const int32_t *depth, const int32_t *owner)
{
    f->pooled = 0;
    for (int w = 0; w <= f->workers; w++) {
        int64_t top[2], most[2] = {0, 0};
        const int32_t *order = f->order + f->begin[w], count = f->begin[w + 1] - f->begin[w];
        stack_updates(f, order, count, depth, owner, top, most);
        for (int32_t k = 0; k < count; k++)
            f->update[order[k]] += f->pooled + (depth[order[k]] & 1 ? most[0] : 0);
        f->pooled += most[0] + most[1];
    }
}

/* ---- who computes which front ------------------------------------------------------------------------ */

static double flops_of(const trs_front *s)
{
    const double m = (double)order_of(s), c = s->cols;
    return c * m * m + 100 * m; /* and some for the assembly */
}

/* Subtrees with less than a share of all flops are given to workers in turn, the next one to that with the least; the other
 * fronts are the top. */
static void share(trs_again_fronts *f, double *flops, int32_t *owner)
{
    const trs_front_tree *t = &f->tree;
    double all = 0, load[TRS_AGAIN_WORKERS] = {0};
    for (int32_t k = 0; k < t->count; k++) flops[k] = 0;
    for (int32_t k = 0; k < t->count; k++) {
        flops[k] += flops_of(&t->front[k]);
        if (t->front[k].parent >= 0) flops[t->front[k].parent] += flops[k];
        else all += flops[k];
    }
    for (int32_t k = t->count - 1; k >= 0; k--) {
        const int32_t up = t->front[k].parent;
        owner[k] = f->workers;
        if (up >= 0 && owner[up] < f->workers) owner[k] = owner[up];
        else if (flops[k] * 4 * f->workers <= all || f->workers == 1) {
            int least = 0;
            for (int w = 1; w < f->workers; w++)
                if (load[w] < load[least]) least = w;
            load[least] += flops[k];
            owner[k] = least;
        }
    }
    f->begin[0] = 0;
    for (int w = 0, next = 0; w <= f->workers; w++) {
        for (int32_t k = 0; k < t->count; k++)
            if (owner[k] == w) f->order[next++] = k;
        f->begin[w + 1] = next;
    }
}

static int plan_work(trs_context *ctx, trs_again_fronts *f)
{
    const trs_front_tree *t = &f->tree;
    double *flops = trs_new(ctx, t->count, sizeof *flops, "shares of the fronts");
    int32_t *owner = trs_new(ctx, 2 * (int64_t)t->count, sizeof *owner, "shares of the fronts");
    f->order = trs_new(ctx, t->count, sizeof *f->order, "the order of fronts");
    f->begin = trs_new(ctx, TRS_AGAIN_WORKERS + 2, sizeof *f->begin, "the order of fronts");
    const int rc = flops && owner && f->order && f->begin ? TRS_OK : TRS_EMEM;
    if (!rc) {
        int32_t *depth = owner + t->count;
        share(f, flops, owner);
        for (int32_t k = t->count - 1; k >= 0; k--)
            depth[k] = t->front[k].parent < 0 ? 0 : depth[t->front[k].parent] + 1;
        place_updates(f, depth, owner);
    }
    trs_free_all(&ctx->mem, flops, owner);
    return rc;
}

/* ---- A ------------------------------------------------------------------------------------------------ */

/* list = the numbers 0 .. count-1, or those of `from`, sorted by key, in the order that they had.  next [n+1] is scratch. */
static void sort_by(const int32_t *key, const int64_t *from, int64_t count, int64_t n,
                    int64_t *next, int64_t *list)
{
    memset(next, 0, ((size_t)n + 1) * sizeof *next);
    for (int64_t e = 0; e < count; e++) next[key[e] + 1]++;
    for (int64_t k = 0; k < n; k++) next[k + 1] += next[k];
    for (int64_t e = 0; e < count; e++) {
        const int64_t item = from ? from[e] : e;
        list[next[key[item]]++] = item;
    }
}

typedef struct entries { /* of A, in the order of the pivots */
    int32_t *i, *j;
    int64_t *mirror; /* of L L^H: mirror images */
    bool *upper;     /* of L U: the entry is one of U, and i and j are those of U' */
    int64_t *list, *next;
    int32_t *at; /* the place of each row of the front that was noted last */
} entries;

/* Entries in the order of (j, i), and in that of (i, j), are mirror images. */
static int find_mirrors(trs_context *ctx, int64_t count, int64_t n, entries *a)
{
    int64_t *by_column = trs_new(ctx, 2 * count, sizeof *by_column, "mirror images");
    if (!by_column) return TRS_EMEM;
    int64_t *by_row = by_column + count;
    sort_by(a->i, NULL, count, n, a->next, by_row);
    sort_by(a->j, by_row, count, n, a->next, by_column);
    sort_by(a->j, NULL, count, n, a->next, a->list);
    sort_by(a->i, a->list, count, n, a->next, by_row);
    int rc = TRS_OK;
    for (int64_t e = 0; e < count; e++) {
        const int64_t p = by_column[e], q = by_row[e];
        if (a->i[p] != a->j[q] || a->j[p] != a->i[q]) rc = TRS_ESUPPORT;
        a->mirror[p] = q;
    }
    trs_free(&ctx->mem, by_column);
    return rc;
}

/* Let the entries of U be those of U'. */
static void turn_upper(int64_t count, const entries *a)
{
    for (int64_t e = 0; e < count; e++) {
        const int32_t i = a->i[e], j = a->j[e];
        a->upper[e] = i <= j;
        a->i[e] = i <= j ? j : i;
        a->j[e] = i <= j ? i : j;
    }
}

static void note_rows(const trs_front_tree *t, int32_t k, int32_t *at)
{
    const trs_front *s = &t->front[k];
    for (int32_t c = 0; c < s->cols; c++) at[s->first + c] = c;
    for (int32_t r = 0; r < s->rows; r++) at[t->row[s->row + r]] = s->cols + r;
}

/* Entry k of the fronts is entry e of A in front `at`, whose rows are noted. */
static void list_entry(trs_again_fronts *f, const trs_factors *factors, const entries *a, int64_t k,
                       int64_t e, int32_t at)
{
    const trs_front_tree *t = &f->tree;
    const trs_front *s = &t->front[at];
    const bool upper = f->lu && a->upper[e];
    f->src[k] = e;
    f->to[k] = f->panel[at] + panel_offset(f, s, a->at[a->i[e]], a->j[e] - s->first);
    if (upper) f->to[k] += trs_again_panel_size(f, at);
    if (f->mirror) f->mirror[k] = a->mirror[e];
    if (f->scale) f->scale[k] = factors->scale[factors->P[t->pivot[upper ? a->j[e] : a->i[e]]]];
}

/* The entries of A by front: of L L^H, those on and below the diagonal of the new order.  f->src is a->list. */
static void list_entries(trs_again_fronts *f, const trs_factors *factors, int64_t count,
                         const entries *a)
{
    const trs_front_tree *t = &f->tree;
    int64_t kept = 0;
    int32_t at = 0;
    for (int64_t e = 0; e < count; e++) a->i[e] = t->place[a->i[e]], a->j[e] = t->place[a->j[e]];
    if (f->lu) turn_upper(count, a);
    sort_by(a->j, NULL, count, t->n, a->next, a->list);
    f->a_ptr[0] = 0;
    if (t->count > 0) note_rows(t, 0, a->at);
    for (int64_t k = 0; k < count; k++) {
        const int64_t e = a->list[k];
        if (a->i[e] < a->j[e]) continue;
        const int32_t before = at;
        while (at < t->of[a->j[e]]) f->a_ptr[++at] = kept;
        if (at > before) note_rows(t, at, a->at);
        list_entry(f, factors, a, kept++, e, at);
    }
    while (at < t->count) f->a_ptr[++at] = kept;
}

static int new_arrays(trs_context *ctx, trs_again_fronts *f, bool scaled, int64_t count)
{
    const trs_front_tree *t = &f->tree;
    bool there = true;
    f->panel = trs_new(ctx, t->count, sizeof *f->panel, "places of fronts");
    f->update = trs_new(ctx, t->count, sizeof *f->update, "places of fronts");
    f->a_ptr = trs_new(ctx, (int64_t)t->count + 1, sizeof *f->a_ptr, "places of A");
    f->to = trs_new(ctx, count, sizeof *f->to, "places of A");
    if (f->lu) {
        if (scaled) f->scale = trs_new(ctx, count, sizeof *f->scale, "the scaling of A");
        there = !scaled || f->scale;
    } else {
        f->mirror = trs_new(ctx, count, sizeof *f->mirror, "places of A");
        f->diagonal = trs_new(ctx, t->n, sizeof *f->diagonal, "the diagonal of A");
        there = f->mirror && f->diagonal;
    }
    return there && f->panel && f->update && f->a_ptr && f->to ? TRS_OK : TRS_EMEM;
}

/* *p: so many numbers that begin on a cache line. */
static int new_numbers(trs_context *ctx, trs_again_fronts *f, int64_t count, int k, void **p)
{
    f->blocks[k] =
        trs_new(ctx, count * (int64_t)trs_size(f->type) + TRS_LINE, 1, "numbers of fronts");
    if (!f->blocks[k]) return TRS_EMEM;
    *p = (char *)f->blocks[k] + -(uintptr_t)f->blocks[k] % TRS_LINE;
    return TRS_OK;
}

/* ---- is L U faster by fronts? ---------------------------------------------------------------------- */

/* What a number that a front stores, and a product of rows, cost in products of fronts: with AVX2, 0.13 ns each.  A stored number
 * is cleared, takes part in the assembly, and is copied to a plan. */
static const double cost_of_number = 20, cost_of_product = 5;

static bool is_faster(const trs_again_fronts *f, double products)
{
    double work = 0;
    for (int32_t k = 0; k < f->tree.count; k++) {
        const trs_front *s = &f->tree.front[k];
        const double c = s->cols, m = s->rows;
        work += c * (c * c / 3 + c * m + m * m) + cost_of_number * (c * (c + 2 * m) + m * m);
    }
    return work < cost_of_product * products;
}

/* ---- beginning and end ----------------------------------------------------------------------------- */

static int make(trs_context *ctx, const trs_factors *factors, double products, int64_t count,
                entries *a, trs_again_fronts *f)
{
    const int64_t n = factors->L.n;
    int rc = f->lu ? TRS_OK : find_mirrors(ctx, count, n, a);
    if (!rc) rc = trs_front_tree_make(ctx, (int32_t)n, count, a->i, a->j, &f->tree);
    if (!rc && f->lu && !is_faster(f, products)) return TRS_ESUPPORT;
    if (!rc) rc = new_arrays(ctx, f, factors->scale, count);
    if (rc) return rc;
    place_panels(f);
    list_entries(f, factors, count, a);
    rc = plan_work(ctx, f);
    if (!rc) rc = new_numbers(ctx, f, f->numbers, 0, &f->val);
    if (!rc) rc = new_numbers(ctx, f, f->pooled, 1, &f->pool);
    return rc;
}

/* A(P, Q), which is A(P, P) of L L^H. */
static void order_entries(const trs_mat *A, const trs_factors *factors, int64_t *inverse,
                          const entries *a)
{
    const int64_t n = A->n, *const Q = factors->cholesky ? factors->P : factors->Q;
    for (int side = 0; side < 2; side++) {
        int32_t *to = side ? a->j : a->i;
        for (int64_t k = 0; k < n; k++) inverse[side ? Q[k] : factors->P[k]] = k;
        for (int64_t l = 0; l < n; l++)
            for (int64_t p = trs_major_begin(A, l); p < trs_major_end(A, l); p++)
                to[p] = (int32_t)inverse[trs_by_rows(A) != side ? l : trs_minor_index(A, l, p)];
    }
}

int trs_again_fronts_make(trs_context *ctx, const trs_mat *A, const trs_factors *factors,
                          double products, trs_again_fronts *f)
{
    const int64_t n = A->n, count = A->nnz;
    *f = (trs_again_fronts){.ctx = *ctx, .type = factors->L.dtype, .lu = !factors->cholesky};
    f->lanes = trs_line(f->type);
    f->workers = (int)trs_min(ctx->threads, TRS_AGAIN_WORKERS);
    entries a = {.i = trs_new(ctx, 2 * count + n, sizeof *a.i, "the pattern of A")};
    if (f->lu) a.upper = trs_new(ctx, count, sizeof *a.upper, "the pattern of A");
    else a.mirror = trs_new(ctx, count, sizeof *a.mirror, "the pattern of A");
    a.next = trs_new(ctx, 2 * n + 1, sizeof *a.next, "the pattern of A");
    f->src = a.list = trs_new(ctx, count, sizeof *f->src, "places of A");
    int rc = a.i && (a.upper || a.mirror) && a.next && a.list ? TRS_OK : TRS_EMEM;
    if (!rc) {
        a.j = a.i + count, a.at = a.j + count;
        order_entries(A, factors, a.next + n + 1, &a);
        rc = make(ctx, factors, products, count, &a, f);
    }
    trs_free_all(&ctx->mem, a.i, a.upper, a.mirror, a.next);
    return rc;
}

void trs_again_fronts_free(trs_again_fronts *f)
{
    trs_front_tree_free(&f->ctx, &f->tree);
    trs_free_all(&f->ctx.mem, f->panel, f->update, f->blocks[0], f->blocks[1], f->a_ptr, f->to,
                 f->src, f->mirror, f->scale, f->diagonal, f->order, f->begin);
    *f = (trs_again_fronts){0};
}

/* ---- where the entries of a factor are ------------------------------------------------------------- */

typedef struct search {
    const trs_mat *m;
    bool by_rows, of_l; /* of_l: m has the diagonal of L */
    int64_t *next, *to; /* next: of each line of m, the first entry that was not found yet */
    int32_t *at;        /* the place of each row of the front that was noted last */
} search;

/* Where row `row` is in the front s, which was noted last: 0 .. cols+rows-1; -1: it is not there. */
static int32_t noted(const trs_front_tree *t, const trs_front *s, int32_t row, const int32_t *at)
{
    const int32_t i = at[row];
    if (i < s->cols) return s->first + i == row ? i : -1;
    return i < s->cols + s->rows && t->row[s->row + i - s->cols] == row ? i : -1;
}

TRS_INLINE int64_t place_of(const trs_again_fronts *f, int32_t k, int64_t i, int64_t j, bool upper)
{
    const int64_t half = f->lu && upper ? trs_again_panel_size(f, k) : 0;
    return f->panel[k] + half + panel_offset(f, &f->tree.front[k], i, j);
}

/* Do lines of m have entries before the diagonal? */
static bool has_earlier(const trs_mat *m)
{
    return !(m->kind & (trs_by_rows(m) ? TRS_UPPER : TRS_LOWER));
}

/* Entries l of the lines that front k has below line l, which is its column j. */
static void find_across(const trs_again_fronts *f, int32_t k, int64_t l, int32_t j, search *w)
{
    const trs_front *s = &f->tree.front[k];
    const int32_t *row = f->tree.row + s->row - s->cols, *pivot = f->tree.pivot;
    for (int32_t i = j + 1; i < s->cols + s->rows; i++) {
        const int64_t line = pivot[i < s->cols ? s->first + i : row[i]], p = w->next[line];
        if (p == trs_major_end(w->m, line) || trs_minor_index(w->m, line, p) != l) continue;
        w->to[p] = place_of(f, k, i, j, !w->by_rows);
        w->next[line]++;
    }
}

/* The entries of line l from its diagonal on.  false: there is another one, or the front lacks it. */
static bool find_along(const trs_again_fronts *f, int32_t k, int64_t l, int32_t j, search *w)
{
    const trs_front_tree *t = &f->tree;
    for (int64_t p = w->next[l]; p < trs_major_end(w->m, l); p++) {
        const int32_t i = noted(t, &t->front[k], t->place[trs_minor_index(w->m, l, p)], w->at);
        if (i < j) return false;
        w->to[p] = place_of(f, k, i, j, i == j ? !w->of_l : w->by_rows);
    }
    return true;
}

bool trs_again_fronts_places(const trs_again_fronts *f, const trs_mat *m, int32_t *at,
                             int64_t *next, int64_t *to)
{
    const trs_front_tree *t = &f->tree;
    search w = {.m = m, .by_rows = trs_by_rows(m), .of_l = m->kind == TRS_LOWER};
    w.at = at, w.next = next, w.to = to;
    const bool across = has_earlier(m);
    memset(at, 0, (size_t)t->n * sizeof *at);
    for (int64_t l = 0; l < m->n; l++) next[l] = trs_major_begin(m, l);
    int32_t here = -1;
    for (int64_t l = 0; l < m->n; l++) {
        const int32_t k = t->of[t->place[l]], j = t->place[l] - t->front[k].first;
        if (k != here) note_rows(t, k, at);
        here = k;
        if (across) find_across(f, k, l, j, &w);
        if (!find_along(f, k, l, j, &w)) return false;
    }
    return true;
}
