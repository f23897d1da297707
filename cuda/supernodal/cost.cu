/* cost.cu: how long a solve of cuda-supernodal takes, predicted from the numbers of the supernodes; once values are
 * there, from how many of them could not be inverted as well.
 *
 *     seconds = launches + dependency latency (levels, rows of small supernodes, tasks) + bytes of stored entries
 *
 * Levels take their time one after the other, whatever stands on them, and stored entries are read meanwhile, so
 * the model adds up the longest supernode of each level, a share of every task, since tasks are drawn one by one
 * from a counter, and the time that a copy of the stored entries would take.  The coefficients are in units of the
 * machine's dependency latency (gpu_hop), launch and byte.  They were fitted to measured solves on an H200: with
 * one column to 28 factors, two grids and a full triangle (within 14 %), with 8 and 32 columns to 28 factors. */
#include "config.h"

#include "supernodal.cuh"

/* Latencies of warps that read small supernodes, 256 entries at a time.  Where supernodes are many on a level, all
 * but the first of these reads of a supernode count.  None counts where it is alone on its level, since it is read
 * while the one before is waited for: the share of the supernodes that are not is 1 - depth / supernodes.  The
 * longest row counts with all of its reads. */
static double reading(const trs_shape *s, const trs_supernodes *b)
{
    const double blocks = (double)b->count, height = (double)b->depth, numbers = 256;
    const double reads = (double)b->stored / blocks / numbers;
    const double longest = (double)s->longest * (double)s->n / blocks / numbers;
    return 0.24 * (height - height * height / blocks) * max(reads - 1, 0.) + 1.4 * longest;
}

/* How many times as long as 8 real columns, or 32, the columns take: more than 32 are counted as turns of 32. */
static double turns(const trs_shape *s)
{
    if (s->nrhs <= 8) return s->is_complex ? 2.1 : 1;
    return (s->nrhs + 31) / 32 * (s->is_complex ? 2.8 : 1);
}

/* The coefficients for several columns: launches; latencies for a level, more for one with a large supernode, for a
 * further supernode of the longest chain of a level, for a row of the largest small supernode of a level, for a
 * task; times a copy of the stored entries; and how many times as long all of it takes where all supernodes are
 * small. */
struct many_steps {
    double launches, height, wide, chained, rows, drawn, bytes, narrow;
};

static void cost_of_many(const trs_shape *s, const trs_supernodes *b, const trs_machine *m,
                         trs_cost *c)
{
    static const many_steps eight = {5.6, 1.2, 1.3, 1.55, 0.24, 0.008, 4.5, 2},
                            more = {9, 1, 4.5, 4.2, 0.34, 0.037, 7, 2.6};
    const many_steps *k = s->nrhs <= 8 ? &eight : &more;
    const double steps = k->height * (double)b->depth + k->wide * (double)b->large_levels +
                         k->chained * (double)b->chain_links + k->rows * (double)b->small_rows;
    const double times = turns(s) * (b->large > 0 ? 1 : k->narrow);
    c->bytes = k->bytes * (double)b->stored * s->elem * m->gpu_byte * times;
    c->sync = k->launches * m->gpu_launch;
    c->hops = (steps + k->drawn * (double)b->tasks) * m->gpu_hop * times;
}

/* One column, some supernodes large: latencies for a level, more for one with a large supernode, for the rows of
 * the largest small one, and for drawing a task.  Supernodes of a chain but the first cost nothing more. */
static void cost_of_mixed(const trs_shape *s, const trs_supernodes *b, const trs_machine *m,
                          trs_cost *c)
{
    const double steps =
        1.08 * (double)b->depth + 0.37 * (double)b->large_levels + 0.023 * (double)b->small_rows;
    const double drawn = 0.019 * (double)b->tasks;
    const double times = s->is_complex ? 1.4 : 1;
    c->bytes = (double)b->stored * s->elem * m->gpu_byte;
    c->sync = 3.6 * m->gpu_launch;
    c->hops = times * (steps + drawn) * m->gpu_hop;
}

/* One column, all supernodes small.  A level takes more than two latencies: its warps wait for x, then for what is
 * made of it.  Levels of many rows are bound by reading, at less than a quarter of the rate of a copy, where that
 * takes longer.
 * Without supernodes (b NULL) no two rows have anything in common. */
static void cost_of_small(const trs_shape *s, const trs_supernodes *b, const trs_machine *m,
                          trs_cost *c)
{
    const double numbers = (double)(b ? b->stored : 4 * s->nnz) * s->elem * m->gpu_byte;
    const double height = (double)(b ? b->depth : s->levels);
    const double steps = (2.2 * height + (b ? reading(s, b) : 0)) * m->gpu_hop;
    const double thin = s->nnz > 0 ? s->thin_entries / (double)s->nnz : 1;
    const double wide = steps * (double)s->wide_levels / max((double)s->levels, 1.);
    c->bytes = numbers * thin;
    c->sync = m->gpu_launch;
    c->hops = steps - wide + max(wide, 4.5 * numbers * (1 - thin));
}

static void cost_of_supernodes(const trs_shape *s, const trs_supernodes *b, const trs_machine *m,
                               trs_cost *c)
{
    if (b && s->nrhs > 1) cost_of_many(s, b, m, c);
    else if (b && b->large > 0) cost_of_mixed(s, b, m, c);
    else {
        cost_of_small(s, b, m, c);
        c->bytes *= s->nrhs;
        c->hops *= s->nrhs;
    }
}

/* Supernodes that are substituted take a barrier a row.  They are assumed to be of all sizes, and as many on each
 * level.  With several columns a row takes longer, and most supernodes that cannot be inverted are large. */
static double substituting(const trs_instance *built, const trs_shape *s)
{
    const supernodal *d = (const supernodal *)built->data;
    if (d->s.count == 0) return 0;
    const double blocks = (double)d->s.count, rows = (double)s->n / (blocks * (double)BLOCK);
    const double bad = (double)count_flags(built->ctx, d->substituted, d->s.count) / blocks;
    const double columns = (s->nrhs <= 8 ? 1 : 3) * turns(s);
    const double longer = s->nrhs == 1 ? min(rows, 1.) : columns;
    return bad * (d->s.depth + d->s.chain_links) * longer * SUBSTITUTED;
}

const char *supernodal_estimate(const trs_prospect *p, const trs_instance *built,
                                const trs_machine *m, trs_cost *c)
{
    const trs_supernodes *b =
        (const trs_supernodes *)trs_prospect_analysis(p, &trs_supernode_analysis, true);
    if ((!b || b->count == 0) && p->effort != TRS_NEED)
        return "hardly any rows or columns have a pattern in common";
    cost_of_supernodes(&p->shape, b && b->count ? b : NULL, m, c);
    if (built) c->hops += substituting(built, &p->shape);
    return NULL;
}
