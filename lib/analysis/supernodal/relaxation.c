/* relaxation.c: neighbouring supernodes are merged with bounded fill, as relaxed supernodes are (Ashcraft, Grimes:
 * "The influence of relaxed supernode partitions on the multifrontal method", ACM TOMS 15, 1989).  They merge along
 * an elimination tree; here any lower triangle is allowed, so that only neighbours are merged and their patterns
 * united.
 *
 * Supernodes p (columns p.first .. q.first-1) and q (the columns behind) become one supernode r:
 *
 *         p p                          r                width (r)   = width (p) + width (q)
 *         p p .                        r r              below (r)   = | (below (p) without the rows of q)
 *         . . q        r = p + q       r r r                            united with below (q) |
 *         p p q q                      r r r r          entries (r) = entries (p) + entries (q)
 *         p p . .                      r r r r          fill (r)    = trapezoid (width, below) - entries
 *         . . q q                      r r r r
 *
 * They are merged if
 *
 *     fill (r) <= limit (width (r)) entries (r),      limit (w) for w <= 8, 16, 32, and more
 *
 * and if q has a row in which p has entries, or r has at most 8 columns.  `entries` stay those of the fundamental
 * supernodes, so that fill does not add up unseen from merge to merge.  Before that, whole subtrees may be merged whatever
 * their fill, if the caller asks for it; they count as full. */
#include "config.h"

#include "analysis/trapezoids.h"
#include "ranges.h"

#include "base/debug.h"
#include "base/parallel.h"

#include <string.h>

typedef struct relaxing {
    trs_context *ctx;
    const trs_fundamental *f;
    const trs_fill_limit *limit;
    trs_supernode_set *relaxed;
    /* [ranges+1] fundamental supernode that each range of columns begins with */
    int32_t *range_first;
    int32_t *range_kept; /* [ranges] supernodes that merging has left in each */
    /* [count] the column with which the subtree of a fundamental supernode begins, if that is one to merge, else -1; NULL: no
     * subtrees are merged */
    int32_t *subtree;
    atomic_bool failed;
} relaxing;

/* ---- two supernodes ------------------------------------------------------------------------------------ */

/* columns up to which neighbours are merged that have no row in common */
enum { ANY_NEIGHBOURS = 8 };

static bool allows_fill(const trs_fill_limit *limit, int64_t width, int64_t below, int64_t entries)
{
    const int percent = limit->percent[(width > 8) + (width > 16) + (width > 32)];
    return trs_trapezoid(width, below) * 100 <= entries * (100 + percent);
}

typedef struct two_lists { /* what is left of two ascending lists of runs */
    const trs_run *p, *p_end, *q, *q_end;
} two_lists;

/* The next runs of both lists that overlap or touch, as one run. */
static trs_run next_run(two_lists *t)
{
    const bool first = t->q == t->q_end || (t->p < t->p_end && t->p->begin <= t->q->begin);
    trs_run run = first ? *t->p++ : *t->q++;
    for (;;) {
        const trs_run *more;
        if (t->p < t->p_end && t->p->begin <= run.end) more = t->p++;
        else if (t->q < t->q_end && t->q->begin <= run.end) more = t->q++;
        else return run;
        if (more->end > run.end) run.end = more->end;
    }
}

/* The union of both lists from row first on, and how many rows it has; returns the number of runs. */
static int32_t unite(two_lists t, int32_t first, trs_run *to, int32_t *rows)
{
    int32_t count = 0;
    *rows = 0;
    while (t.p < t.p_end || t.q < t.q_end) {
        trs_run run = next_run(&t);
        if (run.begin < first) run.begin = first;
        *rows += run.end - run.begin;
        to[count++] = run;
    }
    return count;
}

/* The rows below p, and q behind it, that are rows of neither.  *beyond: how many p has. */
static two_lists rows_below(const trs_run *list, const trs_columns *p, const trs_columns *q,
                            int32_t *beyond)
{
    const trs_run *from = list + p->from;
    two_lists t = {from, from + p->runs, list + q->from, list + q->from + q->runs};
    TRS_ASSERT(p->end == q->first);
    *beyond = p->below;
    for (; t.p < t.p_end && t.p->end <= q->end; t.p++) *beyond -= t.p->end - t.p->begin;
    if (t.p < t.p_end && t.p->begin < q->end) *beyond -= q->end - t.p->begin;
    return t;
}

/* p becomes p and q, with these rows below. */
static void replace(trs_run *list, trs_columns *p, const trs_columns *q, const trs_run *run,
                    int32_t runs, int32_t below)
{
    TRS_ASSERT(runs <= p->runs + q->runs);
    memcpy(list + p->from, run, (size_t)runs * sizeof *run);
    *p = (trs_columns){p->first, q->end, runs, below, p->from, p->entries + q->entries};
}

/* Merges q into p, the supernode before it, if that is allowed; scratch has room for the runs of both.  The union
 * has at least as many rows as each of its parts, which often is too many already. */
static bool merge(const trs_fill_limit *limit, trs_run *list, trs_columns *p, const trs_columns *q,
                  trs_run *scratch)
{
    const int64_t width = q->end - p->first, entries = p->entries + q->entries;
    int32_t beyond, below;
    if (width > ANY_NEIGHBOURS && (!p->runs || list[p->from].begin >= q->end)) return false;
    const two_lists t = rows_below(list, p, q, &beyond);
    if (!allows_fill(limit, width, beyond > q->below ? beyond : q->below, entries)) return false;
    const int32_t runs = unite(t, q->end, scratch, &below);
    TRS_ASSERT(below >= beyond && below >= q->below);
    if (!allows_fill(limit, width, below, entries)) return false;
    replace(list, p, q, scratch, runs, below);
    return true;
}

/* Merges the last of count supernodes with all before it that begin at column `first` or later, and stores no zero by what
 * is counted; returns how many are left. */
static int32_t merge_subtree(trs_run *list, trs_columns *stack, int32_t count, int32_t first,
                             trs_run *scratch)
{
    int32_t beyond, below;
    while (count > 1 && stack[count - 2].first >= first) {
        const two_lists t = rows_below(list, &stack[count - 2], &stack[count - 1], &beyond);
        const int32_t runs = unite(t, stack[count - 1].end, scratch, &below);
        replace(list, &stack[count - 2], &stack[count - 1], scratch, runs, below);
        count--;
    }
    trs_columns *s = &stack[count - 1];
    s->entries = trs_trapezoid(s->end - s->first, s->below);
    return count;
}

/* Merges the last of count supernodes with the one before as long as that is allowed; returns how many are left. */
static int32_t merge_last(const trs_fill_limit *limit, trs_run *list, trs_columns *stack,
                          int32_t count, trs_run *scratch)
{
    while (count > 1 && merge(limit, list, &stack[count - 2], &stack[count - 1], scratch)) count--;
    return count;
}

/* ---- all of them, range by range ---------------------------------------------------------------------- */

/* The first fundamental supernode that begins at this column or later. */
static int32_t supernode_from(const relaxing *a, int32_t column)
{
    if (column == a->f->n) return a->f->set.count;
    const int32_t k = a->f->set.of_column[column];
    return k + (a->f->first[k] < column);
}

/* Ranges are merged independently of each other, so each should begin where a merge is unlikely: behind the supernode
 * whose next row below is the farthest away, since that one would hardly be merged with what follows. */
static void begin_ranges(void *user, int64_t begin, int64_t end)
{
    relaxing *a = user;
    const trs_supernode_set *f = &a->f->set;
    for (int64_t r = begin; r < end; r++) {
        const int32_t from = supernode_from(a, trs_range_begin(a->f->n, r));
        const int32_t to = supernode_from(a, trs_range_begin(a->f->n, r + 1));
        int32_t farthest = -1;
        a->range_first[r] = from;
        for (int32_t k = from > 0 ? from : to; k < to; k++) {
            const trs_columns *before = &f->supernode[k - 1];
            const int32_t next = before->runs > 0 ? f->run[before->from].begin : a->f->n;
            if (next <= farthest) continue;
            farthest = next;
            a->range_first[r] = k;
        }
    }
}

/* Supernodes are pushed on a stack one by one, and each is merged with those below it as far as that is allowed. */
static bool merge_range(relaxing *a, int32_t range)
{
    const int32_t begin = a->range_first[range], end = a->range_first[range + 1];
    const trs_supernode_set *f = &a->f->set;
    trs_supernode_set *to = a->relaxed;
    int32_t kept = 0;
    TRS_ASSERT(begin <= end);
    if (begin == end) return true;
    const trs_columns *first = &f->supernode[begin], *last = &f->supernode[end - 1];
    const int64_t runs = last->from + last->runs - first->from;
    trs_run *scratch = trs_alloc(&a->ctx->mem, runs, sizeof *scratch);
    if (!scratch) return false;
    memcpy(to->run + first->from, f->run + first->from, (size_t)runs * sizeof *scratch);
    for (int32_t k = begin; k < end; k++) {
        const int32_t subtree = a->subtree ? a->subtree[k] : -1;
        to->supernode[begin + kept++] = f->supernode[k];
        if (subtree >= first->first)
            kept = merge_subtree(to->run, to->supernode + begin, kept, subtree, scratch);
        kept = merge_last(a->limit, to->run, to->supernode + begin, kept, scratch);
    }
    a->range_kept[range] = kept;
    trs_free(&a->ctx->mem, scratch);
    return true;
}

static void merge_some(void *user, int64_t begin, int64_t end)
{
    relaxing *a = user;
    for (int64_t r = begin; r < end; r++)
        if (!merge_range(a, (int32_t)r)) a->failed = true;
}

/* Moves what the ranges have kept together, and merges where two ranges meet. */
static int join_ranges(relaxing *a)
{
    trs_run *scratch = trs_new(a->ctx, a->f->n, sizeof *scratch, "patterns of supernodes");
    trs_supernode_set *s = a->relaxed;
    if (!scratch) return TRS_EMEM;
    for (int32_t r = 0; r < trs_ranges(a->f->n); r++)
        for (int32_t k = 0, begin = a->range_first[r]; k < a->range_kept[r]; k++) {
            s->supernode[s->count++] = s->supernode[begin + k];
            if (k == 0) s->count = merge_last(a->limit, s->run, s->supernode, s->count, scratch);
        }
    trs_free(&a->ctx->mem, scratch);
    return TRS_OK;
}

static void number_columns(void *user, int64_t begin, int64_t end)
{
    relaxing *a = user;
    for (int32_t k = (int32_t)begin; k < end; k++) {
        const trs_columns *g = &a->relaxed->supernode[k];
        for (int32_t j = g->first; j < g->end; j++) a->relaxed->of_column[j] = k;
    }
}

/* The relaxed set gets as much room as the fundamental one: merging makes no run that was not there. */
static int allocate(relaxing *a)
{
    const trs_supernode_set *f = &a->f->set;
    const trs_columns *last = f->count ? &f->supernode[f->count - 1] : NULL;
    const int64_t runs = last ? last->from + last->runs : 0;
    const int32_t ranges = trs_ranges(a->f->n);
    trs_supernode_set *s = a->relaxed;
    a->range_first = trs_alloc(&a->ctx->mem, (int64_t)ranges + 1, sizeof *a->range_first);
    a->range_kept = trs_alloc_zero(&a->ctx->mem, ranges, sizeof *a->range_kept);
    s->supernode = trs_new_touched(a->ctx, f->count, sizeof *s->supernode, "supernodes");
    s->run = trs_new_touched(a->ctx, runs, sizeof *s->run, "patterns of supernodes");
    s->of_column = trs_new_touched(a->ctx, a->f->n, sizeof(int32_t), "supernodes of columns");
    if (a->range_first && a->range_kept && s->supernode && s->run && s->of_column) return TRS_OK;
    return trs_fail(TRS_EMEM, "out of memory for merging supernodes");
}

/* The supernode that owns the first row below k: its parent in an elimination tree, if A is a factor.  -1: there is none. */
static int32_t parent_of(const trs_supernode_set *f, int32_t k)
{
    const trs_columns *s = &f->supernode[k];
    return s->runs > 0 ? f->of_column[f->run[s->from].begin] : -1;
}

/* The largest subtrees of at most `most` columns, if they are consecutive, as those of a factor in postorder are. */
static int find_subtrees(relaxing *a, int32_t most)
{
    const trs_supernode_set *f = &a->f->set;
    a->subtree = trs_new(a->ctx, f->count, sizeof *a->subtree, "subtrees");
    int32_t *columns = trs_alloc_zero(&a->ctx->mem, f->count, sizeof *columns);
    if (!columns || !a->subtree) {
        trs_free(&a->ctx->mem, columns);
        return trs_fail(TRS_EMEM, "out of memory for subtrees");
    }
    for (int32_t k = 0; k < f->count; k++) a->subtree[k] = f->supernode[k].first;
    for (int32_t k = 0; k < f->count; k++) {
        const int32_t up = parent_of(f, k);
        columns[k] += f->supernode[k].end - f->supernode[k].first;
        if (up < 0) continue;
        columns[up] += columns[k];
        a->subtree[up] = (int32_t)trs_min(a->subtree[up], a->subtree[k]);
    }
    for (int32_t k = 0; k < f->count; k++) {
        const int32_t up = parent_of(f, k);
        const bool whole = f->supernode[k].end - a->subtree[k] == columns[k];
        if (!whole || columns[k] > most || (up >= 0 && columns[up] <= most)) a->subtree[k] = -1;
    }
    trs_free(&a->ctx->mem, columns);
    return TRS_OK;
}

static int relax(relaxing *a)
{
    const int threads = a->f->pattern.threads;
    const int32_t ranges = trs_ranges(a->f->n);
    int rc = allocate(a);
    if (!rc && a->limit->subtree > 0) rc = find_subtrees(a, a->limit->subtree);
    if (rc) return rc;
    trs_share(threads, ranges, 1, begin_ranges, a);
    a->range_first[ranges] = a->f->set.count;
    trs_share(threads, ranges, 1, merge_some, a);
    if (a->failed) return trs_fail(TRS_EMEM, "out of memory for merging supernodes");
    rc = join_ranges(a);
    if (!rc) trs_share(threads, a->relaxed->count, TRS_SUPERNODES_A_CLAIM, number_columns, a);
    return rc;
}

int trs_relax(trs_context *ctx, const trs_fundamental *f, const trs_fill_limit *limit,
              trs_supernode_set *relaxed)
{
    relaxing a = {.ctx = ctx, .f = f, .limit = limit, .relaxed = relaxed};
    *relaxed = (trs_supernode_set){0};
    const int rc = relax(&a);
    trs_free(&ctx->mem, a.range_first);
    trs_free(&ctx->mem, a.range_kept);
    trs_free(&ctx->mem, a.subtree);
    return rc;
}
