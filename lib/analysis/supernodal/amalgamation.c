/* amalgamation.c: the partition of a triangle's rows into supernodes, in four steps.
 *
 *     choose A = L or A = J L^T J, by whichever has more common patterns    here
 *     find the fundamental supernodes, and the rows below each              fundamental.c
 *     merge neighbours with bounded fill                                    relaxation.c
 *     take the relaxed supernodes unless the fundamental ones cost less     here
 *
 * Every step is O(n + nnz), and shared among threads. */
#include "config.h"

#include "amalgamation_steps.h"
#include "analysis/supernodes.h"

#include "base/debug.h"
#include "base/parallel.h"

#include <string.h>

/* ---- rows or columns ----------------------------------------------------------------------------------- */

enum { SAMPLES = 256, SAMPLE_ROWS = 16 };

typedef struct sampled { /* off-diagonal entries of the samples, of which the pattern is */
    const trs_run_pattern *pattern;
    _Atomic int64_t in_rows, in_columns; /* that of the row before, or of the next column */
} sampled;

static void sample_some(void *user, int64_t begin, int64_t end)
{
    sampled *c = user;
    const trs_run_pattern *p = c->pattern;
    int64_t in_rows = 0, in_columns = 0;
    for (int64_t s = begin; s < end; s++) {
        const int32_t from = (int32_t)(p->n * s / SAMPLES);
        const int32_t next = (int32_t)(p->n * (s + 1) / SAMPLES);
        for (int32_t i = from; i < next && i < from + SAMPLE_ROWS; i++)
            for (int32_t k = 0; k < p->row[i].runs; k++)
                for (int32_t j = p->row[i].run[k].begin; j < trs_run_end(p, i, k); j++) {
                    in_rows += j < i && p->row[i].same;
                    in_columns += j < i && !p->differ[j];
                }
    }
    c->in_rows += in_rows;
    c->in_columns += in_columns;
}

/* Rows are preferred where they have about as much in common as columns, since then nothing is transposed. */
static bool prefer_rows(const trs_amalgamation *a)
{
    sampled c = {.pattern = a->pattern};
    trs_share(a->pattern->threads, SAMPLES, 4, sample_some, &c);
    return 10 * c.in_rows >= 9 * c.in_columns;
}

/* ---- what a solve would take --------------------------------------------------------------------------- */

/* Supernodes that a solve has for so many columns: none of them is larger than TRS_SUPERNODE. */
static int32_t parts(int64_t width)
{
    return (int32_t)((width + TRS_SUPERNODE - 1) / TRS_SUPERNODE);
}

/* The depth of the supernodal DAG, whose edges go from a supernode to those that own the rows below it.  The levels
 * are pushed along the edges, since the rows below are what is listed. */
static int32_t depth_of(const trs_supernode_set *s, int32_t *level)
{
    int32_t depth = 0;
    memset(level, 0, (size_t)s->count * sizeof *level);
    for (int32_t k = 0; k < s->count; k++) {
        const trs_columns *g = &s->supernode[k];
        const int32_t end = level[k] + parts(g->end - g->first);
        if (end > depth) depth = end;
        for (int32_t r = 0; r < g->runs; r++) {
            const trs_run *run = &s->run[g->from + r];
            for (int32_t to = s->of_column[run->begin]; to < s->count; to++) {
                TRS_ASSERT(to > k);
                if (level[to] < end) level[to] = end;
                if (s->supernode[to].end >= run->end) break;
            }
        }
    }
    return depth;
}

/* cost = LEVEL depth + ENTRY stored entries + SUPERNODE supernodes, in seconds.  The constants are those of an
 * H200, where factors of grids and of real matrices took 1.1 to 1.4 us a level; only the comparison of two
 * partitions depends on them. */
static const double LEVEL = 1.2e-6;
/* 8 bytes at 0.8 TB/s, the rate of a whole solve with a 3D factor */
static const double ENTRY = 1e-11;
/* 1.5 us of a warp, 2112 warps (16 on each of 132 SMs) at a time */
static const double SUPERNODE = 0.7e-9;

void trs_cost_supernodes(const trs_amalgamation *a, trs_supernode_set *s)
{
    double entries = 0, count = 0;
    for (int32_t k = 0; k < s->count; k++) {
        const int64_t width = s->supernode[k].end - s->supernode[k].first;
        entries += (double)trs_trapezoid(width, s->supernode[k].below);
        count += (double)parts(width);
    }
    s->cost = LEVEL * depth_of(s, a->level) + ENTRY * entries + SUPERNODE * count;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

/* The supernodes that cost less, from columns of A to rows of L. */
static void take_better(trs_amalgamation *a, trs_partition *found)
{
    const trs_supernode_set *s =
        a->relaxed.cost <= a->fundamental.cost ? &a->relaxed : &a->fundamental;
    const int32_t n = a->pattern->n, count = s->count;
    for (int32_t k = 0; k < count; k++) {
        const trs_columns *g = &s->supernode[k];
        if (a->by_rows) a->first[count - 1 - k] = n - g->end;
        else a->first[k] = g->first;
    }
    a->first[count] = n;
    *found = (trs_partition){count, a->first};
    a->first = NULL;
}

static void free_all(trs_amalgamation *a)
{
    void *all[] = {a->fundamental.supernode,
                   a->fundamental.run,
                   a->fundamental.of_column,
                   a->relaxed.supernode,
                   a->relaxed.run,
                   a->relaxed.of_column,
                   a->first,
                   a->level,
                   a->range_first,
                   a->range_kept,
                   a->scan};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) trs_free(&a->ctx->mem, all[k]);
}

int trs_amalgamate(trs_context *ctx, const trs_run_pattern *pattern, trs_partition *found)
{
    trs_amalgamation a = {.ctx = ctx, .pattern = pattern};
    a.by_rows = prefer_rows(&a);
    int rc = trs_find_fundamental(&a);
    if (!rc) rc = trs_relax(&a);
    if (!rc) take_better(&a, found);
    free_all(&a);
    return rc;
}
