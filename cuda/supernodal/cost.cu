/* cost.cu: what a solve of cuda-supernodal takes, from the shape of the triangle and of its blocks
 * (doc/performance.md: the automatic choice); after the analysis, from what could be inverted as well. */
#include "config.h"

#include "supernodal.cuh"

/* Hops of warps that read narrow blocks, 256 numbers at a time.  Of a block the first read does not count, and none
 * where it is alone at its height, for it is read while the one before is waited for; of the longest row all count. */
static double reading(const trs_shape *s)
{
    const double blocks = (double)s->blocks, height = (double)s->height, numbers = 256;
    const double reads = (double)s->store / blocks / numbers;
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

static void cost_of_many(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    static const many_steps eight = {5.6, 1.2, 1.3, 1.55, 0.24, 0.008, 4.5, 2},
                            more = {9, 1, 4.5, 4.2, 0.34, 0.037, 7, 2.6};
    const many_steps *k = s->nrhs <= 8 ? &eight : &more;
    const double steps = k->height * (double)s->height + k->wide * (double)s->wide_steps +
                         k->chained * (double)s->chained + k->rows * s->narrow_rows;
    const double times = turns(s) * (s->wide_blocks > 0 ? 1 : k->narrow);
    c->bytes = k->bytes * (double)s->store * s->elem * m->gpu_byte * times;
    c->sync = k->launches * m->gpu_launch;
    c->hops = (steps + k->drawn * (double)s->tasks) * m->gpu_hop * times;
}

/* One column, some blocks wide: a step of the height, longer with a wide block and by the rows of a narrow one, and what
 * drawing a task takes, fitted to 31 triangles. */
static void cost_of_mixed(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    const double steps =
        1.08 * (double)s->height + 0.37 * (double)s->wide_steps + 0.023 * s->narrow_rows;
    const double drawn = 0.019 * (double)s->tasks;
    const double times = s->is_complex ? 1.4 : 1;
    c->bytes = (double)s->store * s->elem * m->gpu_byte;
    c->sync = 3.6 * m->gpu_launch;
    c->hops = times * (steps + drawn) * m->gpu_hop;
}

/* One column, all blocks narrow.  A step takes twice a hop and more: it waits for x, then for what is made of it.  Where
 * levels are wide, numbers are read at less than a quarter of the rate of a copy, unless the steps take longer. */
static void cost_of_narrow(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    const bool known = s->blocks > 0; /* otherwise, no two rows have anything in common */
    const double numbers = (double)(known ? s->store : 4 * s->nnz) * s->elem * m->gpu_byte;
    const double height = (double)(known ? s->height : s->levels);
    const double steps = (2.2 * height + (known ? reading(s) : 0)) * m->gpu_hop;
    const double thin = s->nnz > 0 ? s->thin_entries / (double)s->nnz : 1;
    const double wide = steps * (double)s->wide_levels / max((double)s->levels, 1.);
    c->bytes = numbers * thin;
    c->sync = m->gpu_launch;
    c->hops = steps - wide + max(wide, 4.5 * numbers * (1 - thin));
}

void supernodal_cost(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    if (s->nrhs > 1 && s->blocks > 0) cost_of_many(s, m, c);
    else if (s->wide_blocks > 0) cost_of_mixed(s, m, c);
    else {
        cost_of_narrow(s, m, c);
        c->bytes *= s->nrhs; /* several columns: supernodes were not looked for */
        c->hops *= s->nrhs;
    }
}

/* Blocks that are not inverted take a step a row; they are thought to be of all sizes, and as many in each level of
 * blocks.  With several columns a step is longer, and most of those that are bad are wide. */
void supernodal_cost_now(const trs_part *part, const trs_shape *s, const trs_machine *m,
                         trs_cost *c)
{
    const supernodal *d = (const supernodal *)part->data;
    supernodal_cost(s, m, c);
    if (d->s.count == 0) return;
    const double blocks = (double)d->s.count, rows = (double)s->n / (blocks * (double)BLOCK);
    const double bad = (double)count_flags(part->ctx, d->substituted, d->s.count) / blocks;
    const double longer = s->nrhs == 1 ? min(rows, 1.) : (s->nrhs <= 8 ? 1 : 3) * turns(s);
    c->hops += bad * (d->s.depth + d->s.chain_links) * longer * SUBSTITUTED;
}
