/* amalgamation.c: the partition of a triangle's rows into the supernodes that a GPU is given: the relaxed ones unless
 * the fundamental ones cost less. */
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
static const trs_fill_limit LIMIT = {{500, 200, 40, 10}};

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

static double cost_of(const trs_supernode_set *s, int32_t *level)
{
    double entries = 0, count = 0;
    for (int32_t k = 0; k < s->count; k++) {
        const int64_t width = s->supernode[k].end - s->supernode[k].first;
        entries += (double)trs_trapezoid(width, s->supernode[k].below);
        count += (double)parts(width);
    }
    return LEVEL * depth_of(s, level) + ENTRY * entries + SUPERNODE * count;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

typedef struct comparison { /* of two sets, each by one thread */
    const trs_supernode_set *set[2];
    int32_t *level[2]; /* [count] */
    double cost[2];
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

/* The set that costs less. */
static int take_better(trs_context *ctx, const trs_fundamental *f, const trs_supernode_set *relaxed,
                       trs_partition *found)
{
    const int32_t count = f->set.count;
    int32_t *level = trs_new(ctx, 2 * (int64_t)count, sizeof *level, "levels of supernodes");
    if (!level) return TRS_EMEM;
    comparison c = {.set = {&f->set, relaxed}, .level = {level, level + count}};
    trs_share(f->pattern.threads, 2, 1, find_costs, &c);
    trs_free(&ctx->mem, level);
    return take(ctx, f, c.cost[1] <= c.cost[0] ? relaxed : &f->set, found);
}

int trs_amalgamate(trs_context *ctx, const trs_fundamental *f, trs_partition *found)
{
    trs_supernode_set relaxed = {0};
    int rc = trs_relax(ctx, f, &LIMIT, &relaxed);
    if (!rc) rc = take_better(ctx, f, &relaxed, found);
    trs_supernode_set_free(ctx, &relaxed);
    return rc;
}
