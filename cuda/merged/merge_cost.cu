/* merge_cost.cu: what a solve of cuda-merged takes, from the shape of T and of T' (doc/performance.md: the automatic
 * choice).  T' is guessed pass by pass; after the analysis it is known. */
#include "config.h"

#include "cuda/dataflow/dataflow.cuh"
#include "merge.cuh"

/* Of a pass, in hops, measured from launch to launch: more than merge_new counts, which the bits go by. */
static double product_hops(const trs_shape *s)
{
    return s->nrhs == 1 ? 6 + (double)s->n / 1.2e5 : 6 + 0.1 * s->nrhs;
}

/* And of several columns in bytes, as many as a copy would move in that time. */
static double product_bytes(const trs_shape *s)
{
    return s->nrhs == 1 ? 0 : 4.5 * (double)s->n * s->nrhs * s->elem;
}

/* By so many hops one takes longer in T' than in T: few entries of a row are there long before the last.  Several
 * columns wait in rounds for them, more than 8 in rounds of 8 entries, or of 4 of 16 bytes, each a hop or two; and not
 * where rows are of very different lengths, as in factors: long ones need little of what comes last. */
static double longer_hop(const trs_shape *s, double length)
{
    const double mean = (double)s->nnz / (double)s->n, longest = s->sum_longest / (double)s->levels;
    const double even = min(mean / longest, 1.);
    if (s->nrhs == 1) return max(0.225 * log2(length) - 0.4, 0.);
    if (s->nrhs <= 8) return 0.32 * even * log2(max(length, 1.));
    return (s->elem > 8 ? 0.5 : 0.25) * even * length;
}

/* T' for cuda-dataflow.  Long rows of levels that are merged are waited for together, half of the time; and no more
 * rows come between a row and what it needs. */
static trs_shape merged_shape(const trs_shape *s, const merge_outcome *o)
{
    const double left = o->levels / max((double)s->levels, 1.);
    trs_shape then = *s;
    then.levels = (int64_t)o->levels;
    then.nnz = (int64_t)o->nnz;
    then.sum_longest = s->sum_longest * sqrt(left);
    then.widest = s->n - (int64_t)((double)(s->n - s->widest) * left);
    return then;
}

/* One column is read while longer hops are waited for, half of the time. */
void merge_cost_of(const trs_shape *s, const merge_outcome *o, const trs_machine *m, trs_cost *c)
{
    const int columns = many_at_once(s->nrhs), times = (s->nrhs + columns - 1) / columns;
    trs_shape then = merged_shape(s, o);
    trs_solver_dataflow.cost(&then, m, c);
    if (o->passes == 0) return;
    then = *s;
    then.nrhs = columns;
    const double longer = times * o->levels * longer_hop(&then, o->nnz / (double)s->n) * m->gpu_hop;
    c->hops += longer - (s->nrhs == 1 ? 0.5 * min(longer, c->bytes) : 0);
    c->sync += times * o->passes * product_hops(&then) * m->gpu_hop;
    c->bytes += times * o->passes * product_bytes(&then) * m->gpu_byte;
}

/* Rows, one after the other, that have one pattern and so bring no entries when their levels are merged; on the
 * average. */
static double alike(const trs_shape *s)
{
    const double n = (double)s->n;
    if ((double)s->nnz == n * (n + 1) / 2) return n;
    const double height = (double)(s->height + s->chained);
    return s->height > 0 ? max((double)s->levels / height, 1.) : 1;
}

/* T' on the way, as far as a shape tells. */
struct progress {
    merge_outcome o;
    double widest, longest; /* level, and row of a level on the average */
    double alike, room;
};

/* One more pass, if merge_new would probably make it (what it wants at least of many levels is left out).  Levels
 * have widest * u^(ratio - 1) rows for u from 0 to 1; rows of levels that are merged become twice as long where
 * they are not alike, and have as many entries in N. */
static bool guess_pass(double n, progress *g)
{
    const double length = g->o.nnz / n - 1, longer = (1 - min(log2(g->alike), 1.)) * length;
    const double room = double(MERGE_ROOM), much = double(MERGE_LONG_PRICE);
    const double price = 4 * longer > room ? much : 1;
    const double adds = price * (2 * longer + 1); /* of a row */
    const double adds_longest = g->longest > room ? much * g->longest * longer / 2 : 0;
    const double few = (MERGE_ENTRIES - adds_longest) / (g->widest * adds);
    if (few <= 0) return false;
    const double ratio = max(g->widest * g->o.levels / n, 1.1);
    const double share = few >= 1 ? 1 : pow(few, 1 / (ratio - 1)), pairs = g->o.levels / 2 * share;
    const double rows = n / 2 * pow(share, ratio); /* merged */
    const double gain = pairs - (rows * adds + pairs * adds_longest) / MERGE_ENTRIES;
    g->room -= g->o.nnz - n + rows * adds;
    if (gain < merge_product_hops(n) || g->room < 0) return false;
    g->o = {g->o.levels - pairs, g->o.nnz + rows * longer, g->o.passes + 1};
    if (few >= 1) g->widest *= 2;
    g->longest *= 1 + longer / length / 2;
    g->alike = max(g->alike / 2, 1.);
    return true;
}

static merge_outcome guess(const trs_shape *s)
{
    progress g = {{(double)s->levels, (double)s->nnz, 0},
                  (double)s->widest,
                  s->sum_longest / (double)s->levels,
                  alike(s),
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
    c->hops *= factor;
}

/* Of T and T' in equal parts: the mean of one column, of several the geometric mean, since it is the ratio to
 * others that is won or lost. */
static void mix(const trs_shape *s, const trs_cost *plain, trs_cost *c)
{
    const double t = plain->bytes + plain->sync + plain->hops, now = c->bytes + c->sync + c->hops;
    const double mean = s->nrhs == 1 ? (t + now) / 2 : sqrt(t * now);
    if (now > 0) scale(c, mean / now);
}

/* Nothing is said for what was not measured: more than 20 GB of passes.  Where more than a few rows are alike, as in
 * factors, values have grown too much more often than not. */
void merge_cost(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    enum { LARGE = 200000000 };
    const double few_alike = 4;
    const merge_outcome plain = {(double)s->levels, (double)s->nnz, 0};
    const merge_outcome o = s->nnz < LARGE && s->n > 0 ? guess(s) : plain;
    merge_cost_of(s, &o, m, c);
    if (alike(s) > few_alike) {
        trs_cost other = {};
        merge_cost_of(s, &plain, m, &other);
        mix(s, &other, c);
    }
    c->sync += m->gpu_launch;
}
