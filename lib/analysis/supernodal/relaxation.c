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
 *     fill (r) <= f (width (r)) entries (r),      f (w) = 5     w <= 8
 *                                                         2     w <= 16
 *                                                         0.4   w <= 32
 *                                                         0.1   w > 32
 *
 * and if q has a row in which p has entries, or r has at most 8 columns.  `entries` stay those of the fundamental
 * supernodes, so that fill does not add up unseen from merge to merge.
 *
 * Narrow supernodes may be mostly zeros: a small supernode costs the latency of its level, not its bytes, and each
 * merge of p with q takes one level from all paths through both.  The four values of f were chosen by experiment on
 * factors L of two grids and of five matrices of public collections: solves with the best f of each were at most 13 %
 * faster than with these, one of them (memplus, where hardly two columns are alike) 20 %. */
#include "config.h"

#include "amalgamation_steps.h"
#include "analysis/supernodes.h"

#include "base/debug.h"
#include "base/parallel.h"

#include <string.h>

/* ---- two supernodes ------------------------------------------------------------------------------------ */

/* columns up to which neighbours are merged that have no row in common */
enum { ANY_NEIGHBOURS = 8 };

static bool allows_fill(int64_t width, int64_t below, int64_t entries)
{
    int percent = 10;
    if (width <= 8) percent = 500;
    else if (width <= 16) percent = 200;
    else if (width <= 32) percent = 40;
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

/* Merges q into p, the supernode before it, if that is allowed; scratch has room for the runs of both.  The union
 * has at least as many rows as each of its parts, which often is too many already. */
static bool merge(trs_run *list, trs_columns *p, const trs_columns *q, trs_run *scratch)
{
    const int64_t width = q->end - p->first, entries = p->entries + q->entries;
    trs_run *from = list + p->from;
    two_lists t = {from, from + p->runs, list + q->from, list + q->from + q->runs};
    int32_t beyond = p->below, below; /* rows below p that are not rows of q */
    TRS_ASSERT(p->end == q->first);
    if (width > ANY_NEIGHBOURS && (!p->runs || from->begin >= q->end)) return false;
    for (; t.p < t.p_end && t.p->end <= q->end; t.p++) beyond -= t.p->end - t.p->begin;
    if (t.p < t.p_end && t.p->begin < q->end) beyond -= q->end - t.p->begin;
    if (!allows_fill(width, beyond > q->below ? beyond : q->below, entries)) return false;
    const int32_t runs = unite(t, q->end, scratch, &below);
    TRS_ASSERT(runs <= p->runs + q->runs && below >= beyond && below >= q->below);
    if (!allows_fill(width, below, entries)) return false;
    memcpy(from, scratch, (size_t)runs * sizeof *from);
    *p = (trs_columns){p->first, q->end, runs, below, p->from, entries};
    return true;
}

/* Merges the last of count supernodes with the one before as long as that is allowed; returns how many are left. */
static int32_t merge_last(trs_run *list, trs_columns *stack, int32_t count, trs_run *scratch)
{
    while (count > 1 && merge(list, &stack[count - 2], &stack[count - 1], scratch)) count--;
    return count;
}

/* ---- all of them, range by range ---------------------------------------------------------------------- */

/* The first fundamental supernode that begins at this column or later. */
static int32_t supernode_from(const trs_amalgamation *a, int32_t column)
{
    if (column == a->pattern->n) return a->fundamental.count;
    const int32_t k = a->fundamental.of_column[column];
    return k + (a->first[k] < column);
}

/* Ranges are merged independently of each other, so each should begin where a merge is unlikely: behind the supernode
 * whose next row below is the farthest away, since that one would hardly be merged with what follows. */
static void begin_ranges(void *user, int64_t begin, int64_t end)
{
    trs_amalgamation *a = user;
    const trs_supernode_set *f = &a->fundamental;
    for (int64_t r = begin; r < end; r++) {
        const int32_t from = supernode_from(a, trs_range_begin(a, r));
        const int32_t to = supernode_from(a, trs_range_begin(a, r + 1));
        int32_t farthest = -1;
        a->range_first[r] = from;
        for (int32_t k = from > 0 ? from : to; k < to; k++) {
            const trs_columns *before = &f->supernode[k - 1];
            const int32_t next = before->runs > 0 ? f->run[before->from].begin : a->pattern->n;
            if (next <= farthest) continue;
            farthest = next;
            a->range_first[r] = k;
        }
    }
}

/* Supernodes are pushed on a stack one by one, and each is merged with those below it as far as that is allowed. */
static bool merge_range(trs_amalgamation *a, int32_t range)
{
    const int32_t begin = a->range_first[range], end = a->range_first[range + 1];
    const trs_supernode_set *f = &a->fundamental;
    trs_supernode_set *to = &a->relaxed;
    int32_t kept = 0;
    TRS_ASSERT(begin <= end);
    if (begin == end) return true;
    const trs_columns *first = &f->supernode[begin], *last = &f->supernode[end - 1];
    const int64_t runs = last->from + last->runs - first->from;
    trs_run *scratch = trs_alloc(&a->ctx->mem, runs, sizeof *scratch);
    if (!scratch) return false;
    memcpy(to->run + first->from, f->run + first->from, (size_t)runs * sizeof *scratch);
    for (int32_t k = begin; k < end; k++) {
        to->supernode[begin + kept++] = f->supernode[k];
        kept = merge_last(to->run, to->supernode + begin, kept, scratch);
    }
    a->range_kept[range] = kept;
    trs_free(&a->ctx->mem, scratch);
    return true;
}

/* Range r-1; r = 0 is the cost of the fundamental supernodes, which takes as long as some ranges. */
static void merge_some(void *user, int64_t begin, int64_t end)
{
    trs_amalgamation *a = user;
    for (int64_t r = begin; r < end; r++)
        if (r == 0) trs_cost_supernodes(a, &a->fundamental);
        else if (!merge_range(a, (int32_t)r - 1)) a->failed = true;
}

/* Moves what the ranges have kept together, and merges where two ranges meet. */
static int join_ranges(trs_amalgamation *a)
{
    trs_run *scratch = trs_new(a->ctx, a->pattern->n, sizeof *scratch, "patterns of supernodes");
    trs_supernode_set *s = &a->relaxed;
    if (!scratch) return TRS_EMEM;
    for (int32_t r = 0; r < trs_ranges(a); r++)
        for (int32_t k = 0, begin = a->range_first[r]; k < a->range_kept[r]; k++) {
            s->supernode[s->count++] = s->supernode[begin + k];
            if (k == 0) s->count = merge_last(s->run, s->supernode, s->count, scratch);
        }
    trs_free(&a->ctx->mem, scratch);
    return TRS_OK;
}

static void number_columns(void *user, int64_t begin, int64_t end)
{
    trs_amalgamation *a = user;
    for (int32_t k = (int32_t)begin; k < end; k++) {
        const trs_columns *g = &a->relaxed.supernode[k];
        for (int32_t j = g->first; j < g->end; j++) a->relaxed.of_column[j] = k;
    }
}

int trs_relax(trs_amalgamation *a)
{
    const int threads = a->pattern->threads;
    const int32_t ranges = trs_ranges(a), count = a->fundamental.count;
    a->range_kept = trs_alloc_zero(&a->ctx->mem, ranges, sizeof *a->range_kept);
    a->relaxed.supernode = trs_new_touched(a->ctx, count, sizeof(trs_columns), "supernodes");
    a->relaxed.of_column =
        trs_new_touched(a->ctx, a->pattern->n, sizeof(int32_t), "supernodes of columns");
    if (!a->range_kept || !a->relaxed.supernode || !a->relaxed.of_column)
        return trs_fail(TRS_EMEM, "out of memory for merging supernodes");
    trs_share(threads, ranges, 1, begin_ranges, a);
    a->range_first[ranges] = count;
    trs_share(threads, (int64_t)ranges + 1, 1, merge_some, a);
    if (a->failed) return trs_fail(TRS_EMEM, "out of memory for merging supernodes");
    const int rc = join_ranges(a);
    if (rc) return rc;
    trs_share(threads, a->relaxed.count, TRS_SUPERNODES_A_CLAIM, number_columns, a);
    trs_cost_supernodes(a, &a->relaxed);
    return TRS_OK;
}
