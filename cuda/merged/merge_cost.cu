/* merge_cost.cu: predicts the time of a solve by cuda-merged from the shape of T and of the last T'.
 *
 *     seconds = cuda-dataflow on T'  +  levels (T') x (longer dependency latency)  +  passes x product with M
 *
 * Before the passes are made, T' is estimated pass by pass; after that it is known.  The constants are those of the
 * file `costs`; latencies are in units of m->gpu_latency. */
#include "config.h"

#include "cuda/dataflow/dataflow.cuh"

extern "C" {
#include "analysis/supernodes.h"
#include "merge.h"
}

/* Dependency latencies that the product with M of one pass takes, from its launch to the next.  This is more than
 * merge_product_latencies says, which is not fitted again, since the bits of x depend on it. */
static double product_latencies(const trs_shape *s, const trs_machine *m)
{
    return m->merged_product + (s->nrhs == 1 ? (double)s->n / m->merged_product_rows
                                             : m->merged_product_column * s->nrhs);
}

/* With several columns the product is bound by bytes, too: so many as a copy would move in that time. */
static double product_bytes(const trs_shape *s, const trs_machine *m)
{
    return s->nrhs == 1 ? 0 : m->merged_product_copies * (double)s->n * s->nrhs * s->elem;
}

/* By how much a dependency latency in T' is longer than one in T, in units of the latter.
 *
 * The latency of a level is the time from when the last x that a row needs is published until the row's own x is.  It
 * is measured on rows of T, which have a few entries: most of their x are there long before the last one is, and the
 * row waits for that one alone.  A row of T' has `length` entries, and because several levels became one, many of
 * their x are published at about the same time, each of them a little late by chance (a polling warp that is not
 * scheduled, a busy sector of the cache).  The row waits for the latest of these delays.  If m of them are independent
 * and exponentially distributed with mean d, the latest is expected after
 *
 *     d (1 + 1/2 + ... + 1/m), about d (ln m + 0.58),
 *
 * hence a logarithm of the length, merged_longer log2 (length) - merged_free.  It is 0 up to rows of a few entries, as
 * those of T.
 *
 * With at most 8 columns enough lanes share the entries of a row to wait for most of them at once, so the same holds.
 * With more columns the entries are read in rounds of 8, or of 4 where a number has 16 bytes, and each round takes one
 * or two latencies of its own: merged_round and merged_round_wide are those for an entry.
 *
 * `even` is 1 where all rows have one length.  Where lengths are very different, as in factors, long rows need little
 * of what comes last, and wait for fewer rounds. */
static double longer_latency(const trs_shape *s, double length, const trs_machine *m)
{
    const double mean = (double)s->nnz / (double)s->n, longest = s->sum_longest / (double)s->levels;
    const double even = min(mean / longest, 1.);
    if (s->nrhs == 1) return max(m->merged_longer * log2(length) - m->merged_free, 0.);
    if (s->nrhs <= 8) return m->merged_longer_few * even * log2(max(length, 1.));
    return (s->elem > 8 ? m->merged_round_wide : m->merged_round) * even * length;
}

/* The shape of T' for the cost of cuda-dataflow.  Long rows of two levels that were merged are waited for together:
 * taking that to be so half of the time, the sum over the levels of the longest row falls by the square root of what
 * is left of the levels.  cuda-dataflow takes (n - widest) / levels for the number of rows that are computed between a
 * row and one that needs it; merging makes them no more, so widest is set to leave that quotient as it is. */
static trs_shape merged_shape(const trs_shape *s, const merge_outcome *o)
{
    const double left = o->levels / max((double)s->levels, 1.);
    trs_shape then = *s;
    then.levels = (int64_t)o->levels;
    then.nnz = (int64_t)o->nnz;
    then.sum_longest = s->sum_longest * sqrt(left);
    then.widest = s->n - (int64_t)((double)(s->n - s->widest) * left);
    if (o->passes > 0)
        then.longest = 0; /* not known: cuda-dataflow takes the levels of T' for narrow ones */
    return then;
}

/* Seconds of an update, a pass.  Long rows have no recipe: where a row and a few that are substituted have more terms than a
 * short row, so are most. */
static double update_of_pass(const trs_shape *s, const merge_outcome *o, const trs_machine *m)
{
    const double length = (double)s->nnz / (double)s->n - 1;
    const double weight = 4 * length > double(MERGE_SHORT_TERMS) ? m->merged_update_long : 1;
    return m->merged_update_launches * m->gpu_launch +
           weight * m->merged_update_copies * o->nnz * s->elem * m->gpu_byte;
}

/* With one column the entries of other rows are read while a row waits for the longer latency: they take
 * merged_overlap of that time. */
void merge_cost_of(const trs_shape *s, const merge_outcome *o, const trs_machine *m, trs_cost *c)
{
    const int columns = many_at_once(s->nrhs), times = (s->nrhs + columns - 1) / columns;
    trs_shape then = merged_shape(s, o);
    dataflow_cost(&then, m, c);
    if (o->passes == 0) return;
    c->update += o->passes * update_of_pass(s, o, m);
    then = *s;
    then.nrhs = columns;
    const double longer =
        times * o->levels * longer_latency(&then, o->nnz / (double)s->n, m) * m->gpu_latency;
    c->latency += longer - (s->nrhs == 1 ? m->merged_overlap * min(longer, c->bytes) : 0);
    c->sync += times * o->passes * product_latencies(&then, m) * m->gpu_latency;
    c->bytes += times * o->passes * product_bytes(&then, m) * m->gpu_byte;
}

/* How many levels on average have rows of one pattern, each row needing all those before it, as in the supernodes of a
 * factor: a full triangle has n, a factor as many as there are levels for one level of supernodes.  Merging such levels
 * brings no entries of T', because the substituted row has the columns that the row has anyway. */
static double alike(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    const trs_supernodes *blocks =
        (const trs_supernodes *)trs_prospect_analysis(p, &trs_supernode_analysis, false);
    const double n = (double)s->n;
    if ((double)s->nnz == n * (n + 1) / 2) return n;
    const double height = blocks ? (double)blocks->depth + blocks->chain_links : 0;
    return height > 0 ? max((double)s->levels / height, 1.) : 1;
}

/* T' after some passes, as far as a shape tells. */
struct progress {
    merge_outcome o;
    double widest;  /* rows of the widest level */
    double longest; /* entries of the longest row of a level, on average */
    double alike;   /* see above */
    double most;    /* entries that further passes may have together */
};

/* One more pass, if merge_pass_new would probably make it; false: it would not.
 *
 * Rows.  A row has `length` entries.  If it is rewritten, its row of T' has `longer` more, those that the substituted
 * rows bring: another `length` where no two rows are alike, and none where two neighbours are.  N has about as many
 * entries as T' has more, and one at least.  So the fill of a row is 2 longer + 1, times MERGE_LONG_WEIGHT where it has
 * too many terms for a short row; the longest row of each level is counted apart.
 *
 * Levels.  Their widths are taken to be widest u^(ratio - 1) for u between 0 and 1, where ratio is the widest over the
 * mean, for then the mean is right.  A level is worth merging when its fill takes less time than a dependency latency:
 * if it has fewer rows than narrow x widest, so that u < share = narrow^(1 / (ratio - 1)).
 *
 *              rows |            *
 *                   |           *       Of these levels one in two is merged.  They have
 *     narrow widest |- - - - -*         the fraction share^ratio of all rows, the integral
 *                   |      *  |         of the width up to share.
 *                   |  *      |
 *                   +---------+---- u
 *                           share
 *
 * What merge_pass_new wants a pass to save at least of many levels is left out. */
static bool guess_pass(double n, progress *g)
{
    const double length = g->o.nnz / n - 1, longer = (1 - min(log2(g->alike), 1.)) * length;
    const double short_terms = double(MERGE_SHORT_TERMS), long_weight = double(MERGE_LONG_WEIGHT);
    const double weight = 4 * longer > short_terms ? long_weight : 1;
    const double fill = weight * (2 * longer + 1); /* of a row */
    const double fill_longest =
        g->longest > short_terms ? long_weight * g->longest * longer / 2 : 0; /* of a level */
    const double narrow = (MERGE_LATENCY_ENTRIES - fill_longest) / (g->widest * fill);
    if (narrow <= 0) return false;
    const double ratio = max(g->widest * g->o.levels / n, 1.1);
    const double share = narrow >= 1 ? 1 : pow(narrow, 1 / (ratio - 1));
    const double merged = g->o.levels / 2 * share; /* levels */
    const double rows = n / 2 * pow(share, ratio); /* in them */
    const double gain = merged - (rows * fill + merged * fill_longest) / MERGE_LATENCY_ENTRIES;
    g->most -= g->o.nnz - n + rows * fill;
    if (gain < merge_product_latencies(n) || g->most < 0) return false;
    g->o = {g->o.levels - merged, g->o.nnz + rows * longer, g->o.passes + 1};
    if (narrow >= 1) g->widest *= 2;
    g->longest *= 1 + longer / length / 2;
    g->alike = max(g->alike / 2, 1.);
    return true;
}

static merge_outcome guess(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    progress g = {{(double)s->levels, (double)s->nnz, 0},
                  (double)s->widest,
                  s->sum_longest / (double)s->levels,
                  alike(p),
                  double(MERGE_TIMES) * (double)s->nnz + double(MERGE_FEW)};
    while (g.o.passes < double(MERGE_PASSES) && g.o.nnz > (double)s->n &&
           guess_pass((double)s->n, &g))
        continue;
    return g.o;
}

static void scale(trs_cost *c, double factor)
{
    c->bytes *= factor;
    c->sync *= factor;
    c->latency *= factor;
}

/* c, predicted for T', becomes the mean of it and of plain, predicted for T.  With several columns it is the geometric
 * mean: then cuda-merged is compared with solvers that take several times as long, and a ratio decides. */
static void mix(const trs_shape *s, const trs_cost *plain, trs_cost *c)
{
    const double t = plain->bytes + plain->sync + plain->latency,
                 now = c->bytes + c->sync + c->latency;
    const double mean = s->nrhs == 1 ? (t + now) / 2 : sqrt(t * now);
    if (now > 0) scale(c, mean / now);
}

/* A triangle so large that passes would take more than 20 GB was never measured, and is predicted as T itself.  Where
 * more than merged_alike rows are alike, as in factors, the growth of T' is too large more often than not, and T is
 * solved: whether it is depends on the values, so the prediction is the mean of both. */
void merge_cost(const trs_prospect *p, const trs_machine *m, trs_cost *c)
{
    const trs_shape *s = &p->shape;
    enum { LARGE = 200000000 };
    const merge_outcome plain = {(double)s->levels, (double)s->nnz, 0};
    const merge_outcome o = s->nnz < LARGE && s->n > 0 ? guess(p) : plain;
    merge_cost_of(s, &o, m, c);
    if (alike(p) > m->merged_alike) {
        trs_cost other = {};
        merge_cost_of(s, &plain, m, &other);
        mix(s, &other, c);
    }
    c->sync += m->gpu_launch;
}
