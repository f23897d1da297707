/* cost.cu: what a solve of cuda-supernodal takes, from the shape of the triangle and of its blocks
 * (doc/performance.md: the automatic choice); after the analysis, from what could be inverted as well. */
#include "config.h"

#include "supernodal.cuh"

/* Hops of warps that read narrow blocks, 256 numbers at a time.  Of a block the first read does not count, and none
 * where it is alone at its height, for it is read while the one before is waited for; of the longest row all count. */
static double reading(const trs_shape *s, const trs_supernodes *b)
{
    const double blocks = (double)b->blocks, height = (double)b->height, numbers = 256;
    const double reads = (double)b->store / blocks / numbers;
    const double longest = (double)s->longest * (double)s->n / blocks / numbers;
    return 0.24 * (height - height * height / blocks) * max(reads - 1, 0.) + 1.4 * longest;
}

/* How many times as long as 8 real columns, or 32, these take: more of them are counted as turns of 32. */
static double turns(const trs_shape *s)
{
    if (s->nrhs <= 8) return s->is_complex ? 2.1 : 1;
    return (s->nrhs + 31) / 32 * (s->is_complex ? 2.8 : 1);
}

/* Several columns, in hops, launches and the time that a copy takes: fitted to 28 factors with 8 and 32 columns; and how
 * many times as long it takes where all blocks are narrow, on fem:50. */
struct many_steps {
    double launches, height, wide, chained, rows, drawn, bytes, narrow;
};

static void cost_of_many(const trs_shape *s, const trs_supernodes *b, const trs_machine *m,
                         trs_cost *c)
{
    static const many_steps eight = {5.6, 1.2, 1.3, 1.55, 0.24, 0.008, 4.5, 2},
                            more = {9, 1, 4.5, 4.2, 0.34, 0.037, 7, 2.6};
    const many_steps *k = s->nrhs <= 8 ? &eight : &more;
    const double steps = k->height * (double)b->height + k->wide * (double)b->wide_levels +
                         k->chained * (double)b->chained + k->rows * (double)b->narrow_rows;
    const double times = turns(s) * (b->wide > 0 ? 1 : k->narrow);
    c->bytes = k->bytes * (double)b->store * s->elem * m->gpu_byte * times;
    c->sync = k->launches * m->gpu_launch;
    c->hops = (steps + k->drawn * (double)b->tasks) * m->gpu_hop * times;
}

/* One column, some blocks wide: a step of the height, longer with a wide block and by the rows of a narrow one, and what
 * drawing a task takes, fitted to 31 triangles. */
static void cost_of_mixed(const trs_shape *s, const trs_supernodes *b, const trs_machine *m,
                          trs_cost *c)
{
    const double steps =
        1.08 * (double)b->height + 0.37 * (double)b->wide_levels + 0.023 * (double)b->narrow_rows;
    const double drawn = 0.019 * (double)b->tasks;
    const double times = s->is_complex ? 1.4 : 1;
    c->bytes = (double)b->store * s->elem * m->gpu_byte;
    c->sync = 3.6 * m->gpu_launch;
    c->hops = times * (steps + drawn) * m->gpu_hop;
}

/* One column, all blocks narrow.  A step takes twice a hop and more: it waits for x, then for what is made of it.  Where
 * levels are wide, numbers are read at less than a quarter of the rate of a copy, unless the steps take longer. */
/* b NULL: no two rows have anything in common. */
static void cost_of_narrow(const trs_shape *s, const trs_supernodes *b, const trs_machine *m,
                           trs_cost *c)
{
    const double numbers = (double)(b ? b->store : 4 * s->nnz) * s->elem * m->gpu_byte;
    const double height = (double)(b ? b->height : s->levels);
    const double steps = (2.2 * height + (b ? reading(s, b) : 0)) * m->gpu_hop;
    const double thin = s->nnz > 0 ? s->thin_entries / (double)s->nnz : 1;
    const double wide = steps * (double)s->wide_levels / max((double)s->levels, 1.);
    c->bytes = numbers * thin;
    c->sync = m->gpu_launch;
    c->hops = steps - wide + max(wide, 4.5 * numbers * (1 - thin));
}

static void cost_of_blocks(const trs_shape *s, const trs_supernodes *b, const trs_machine *m,
                           trs_cost *c)
{
    if (b && s->nrhs > 1) cost_of_many(s, b, m, c);
    else if (b && b->wide > 0) cost_of_mixed(s, b, m, c);
    else {
        cost_of_narrow(s, b, m, c);
        c->bytes *= s->nrhs;
        c->hops *= s->nrhs;
    }
}

/* Blocks that are not inverted take a step a row; they are thought to be of all sizes, and as many in each level of
 * blocks.  With several columns a step is longer, and most of those that are bad are wide. */
static double substituting(const trs_instance *built, const trs_shape *s)
{
    const supernodal *d = (const supernodal *)built->data;
    if (d->s.blocks == 0) return 0;
    const double blocks = (double)d->s.blocks, rows = (double)s->n / (blocks * (double)BLOCK);
    const double bad = (double)count_flags(built->ctx, d->substituted, d->s.blocks) / blocks;
    const double longer = s->nrhs == 1 ? min(rows, 1.) : (s->nrhs <= 8 ? 1 : 3) * turns(s);
    return bad * (d->s.height + d->s.chained) * longer * SUBSTITUTED;
}

const char *supernodal_estimate(const trs_prospect *p, const trs_instance *built,
                                const trs_machine *m, trs_cost *c)
{
    const trs_supernodes *b =
        (const trs_supernodes *)trs_prospect_analysis(p, &trs_supernode_analysis, true);
    if ((!b || b->blocks == 0) && p->effort != TRS_NEED)
        return "hardly any rows or columns have a pattern in common";
    cost_of_blocks(&p->shape, b && b->blocks ? b : NULL, m, c);
    if (built) c->hops += substituting(built, &p->shape);
    return NULL;
}
