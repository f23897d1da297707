/* amalgamation.c: the partition of a triangle's rows into the supernodes that a GPU is given: the fundamental ones, relaxed
 * ones, or, of few rows, ones with whole subtrees of an elimination tree, whichever cost least. */
#include "config.h"

#include "amalgamation.h"
#include "analysis/supernodes.h"

#include "base/debug.h"
#include "base/parallel.h"

#include <string.h>

/* Narrow supernodes may be mostly zeros: a small supernode costs the latency of its level, not its bytes, and each
 * merge of p with q takes one level from all paths through both.  The four limits were chosen by experiment on
 * factors L of two grids and of five matrices of public collections: solves with the best limits of each were at most
 * 13 % faster than with these, one of them (memplus, where hardly two columns are alike) 20 %. */
static const trs_fill_limit LIMIT = {.percent = {500, 200, 40, 10}};

/* Where a triangle has few rows, its levels take longer than its entries, and a subtree of the elimination tree is better one
 * dense block than the ten levels that it has.  On an H200 L and L^T of grids in nested dissection took, with these limits
 * over without: 70^2 0.78, 141^2 0.85, 17^3 0.93 of the time, 27^3 0.84 (where the cost below prefers the others), 250^2
 * the same. */
static const trs_fill_limit WIDE = {.percent = {1000, 600, 200, 40}, .subtree = 128};
enum { WIDE_ROWS = 100000 };

/* ---- what a solve would take --------------------------------------------------------------------------- */

/* Supernodes that a solve has for so many columns: none of them is larger than TRS_SUPERNODE. */
static int32_t parts(int64_t width)
{
    return (int32_t)((width + TRS_SUPERNODE - 1) / TRS_SUPERNODE);
}

/* Levels of them; a chain takes one. */
static int32_t levels_of(int64_t width)
{
    return (parts(width) + TRS_CHAIN - 1) / TRS_CHAIN;
}

/* The depth of the supernodal DAG, whose edges go from a supernode to those that own the rows below it.  The levels
 * are pushed along the edges, since the rows below are what is listed. */
static int32_t depth_of(const trs_supernode_set *s, int32_t *level)
{
    int32_t depth = 0;
    memset(level, 0, (size_t)s->count * sizeof *level);
    for (int32_t k = 0; k < s->count; k++) {
        const trs_columns *g = &s->supernode[k];
        const int32_t end = level[k] + levels_of(g->end - g->first);
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

/* cost = LEVEL depth + ENTRY stored entries + SMALL and LARGE supernodes, in seconds.  Only the comparison of
 * partitions depends on the constants.  They come from nine factors of grids on an H200, each with two partitions: the cheaper
 * one was the faster one, or as fast, in seven; for 27^3 and 40^3 the other one took 0.84 and 0.91 of the time. */
static const double LEVEL = 0.8e-6;
static const double ENTRY = 2.5e-12;
static const double SMALL = 1.5e-9; /* a warp of eight */
static const double LARGE = 12e-9;  /* a thread block */

static double cost_of(const trs_supernode_set *s, int32_t *level)
{
    double entries = 0, small = 0, large = 0;
    for (int32_t k = 0; k < s->count; k++) {
        const int64_t width = s->supernode[k].end - s->supernode[k].first;
        entries += (double)trs_trapezoid(width, s->supernode[k].below);
        if (width <= TRS_SMALL) small++;
        else large += (double)parts(width);
    }
    return LEVEL * depth_of(s, level) + ENTRY * entries + SMALL * small + LARGE * large;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

enum { SETS = 3 };

typedef struct comparison { /* of sets, each by one thread */
    const trs_supernode_set *set[SETS];
    int32_t *level[SETS]; /* [count] */
    double cost[SETS];
} comparison;

static void find_costs(void *user, int64_t begin, int64_t end)
{
    comparison *c = user;
    for (int64_t k = begin; k < end; k++) c->cost[k] = cost_of(c->set[k], c->level[k]);
}

/* From columns of A to rows of L. */
static int take(trs_context *ctx, const trs_fundamental *f, const trs_supernode_set *s,
                trs_partition *found)
{
    const int32_t n = f->n, count = s->count;
    int32_t *first = trs_new(ctx, (int64_t)count + 1, sizeof *first, "supernodes");
    if (!first) return TRS_EMEM;
    for (int32_t k = 0; k < count; k++) {
        const trs_columns *g = &s->supernode[k];
        if (f->by_rows) first[count - 1 - k] = n - g->end;
        else first[k] = g->first;
    }
    first[count] = n;
    *found = (trs_partition){count, first};
    return TRS_OK;
}

/* The set that costs least; of two that cost the same the later one. */
static int take_best(trs_context *ctx, const trs_fundamental *f, const trs_supernode_set *relaxed,
                     int sets, trs_partition *found)
{
    const int64_t count = f->set.count;
    int best = 0;
    int32_t *level = trs_new(ctx, sets * count, sizeof *level, "levels of supernodes");
    if (!level) return TRS_EMEM;
    comparison c;
    for (int k = 0; k < sets; k++) {
        c.set[k] = k ? &relaxed[k - 1] : &f->set;
        c.level[k] = level + k * count;
    }
    trs_share(f->pattern.threads, sets, 1, find_costs, &c);
    trs_free(&ctx->mem, level);
    for (int k = 1; k < sets; k++)
        if (c.cost[k] <= c.cost[best]) best = k;
    return take(ctx, f, c.set[best], found);
}

int trs_amalgamate(trs_context *ctx, const trs_fundamental *f, trs_partition *found)
{
    const trs_fill_limit *const limit[] = {&LIMIT, &WIDE};
    const int sets = f->n <= WIDE_ROWS ? SETS : SETS - 1;
    trs_supernode_set relaxed[SETS - 1] = {0};
    int rc = TRS_OK;
    for (int k = 0; k < sets - 1 && !rc; k++) rc = trs_relax(ctx, f, limit[k], &relaxed[k]);
    if (!rc) rc = take_best(ctx, f, relaxed, sets, found);
    for (int k = 0; k < SETS - 1; k++) trs_supernode_set_free(ctx, &relaxed[k]);
    return rc;
}
