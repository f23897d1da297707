/* supernodal_cost.cu: what a solve of cuda-supernodal takes, from the shape of the triangle and of its blocks
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

/* A block that follows another one of its panel, in steps; measured. */
static const double CHAINED = 0.25, CHAINED_OF_MANY = 0.75;

/* How many times as long as 8 real columns these take: more of them by the kernel for 32, in turns; complex ones. */
static double turns(const trs_shape *s)
{
    return (s->nrhs <= 8 ? 1 : 3 * ((s->nrhs + 31) / 32)) * (s->is_complex ? 2 : 1);
}

/* A step of the height waits for its slowest block: a narrow one reads the columns that it needs four at a time, and
 * its inverse column by column; a wide one waits for two stages more. */
static void cost_of_many(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    const double chained = CHAINED_OF_MANY * (double)s->chained;
    const double steps =
        0.9 * ((double)s->height + chained) + 2.2 * ((double)s->wide_steps + chained);
    const double narrow = 0.5 * s->narrow_rows + 0.05 * s->narrow_columns;
    c->bytes = 6.7 * (double)s->store * s->elem * m->gpu_byte * turns(s);
    c->sync = 6.3 * m->gpu_launch;
    c->hops = (steps + narrow) * m->gpu_hop * turns(s);
}

/* A step of the height takes twice a hop and more: it waits for x, then for what is made of it.  Where levels are
 * wide, numbers are read at less than a quarter of the rate of a copy, unless the steps take longer. */
static void cost_of_one(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    const bool known = s->blocks > 0; /* otherwise, no two rows have anything in common */
    const double numbers = (double)(known ? s->store : 4 * s->nnz) * s->elem * m->gpu_byte;
    const double more = known && !s->wide_blocks ? reading(s) : 0;
    const double height = (double)s->height + CHAINED * (double)s->chained;
    const double steps = ((known ? height : (double)s->levels) * 2.2 + more) * m->gpu_hop;
    const double thin = s->nnz > 0 ? s->thin_entries / (double)s->nnz : 1;
    const double wide = steps * (double)s->wide_levels / max((double)s->levels, 1.);
    c->bytes = numbers * thin;
    c->sync = m->gpu_launch;
    c->hops = steps - wide + max(wide, 4.5 * numbers * (1 - thin));
}

void supernodal_cost(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    if (s->nrhs > 1 && s->blocks > 0) {
        cost_of_many(s, m, c);
        return;
    }
    cost_of_one(s, m, c);
    c->bytes *= s->nrhs; /* several columns: supernodes were not looked for */
    c->hops *= s->nrhs;
}

/* Blocks that are not inverted take a step a row; they are thought to be of all sizes, and as many in each level of
 * blocks.  With several columns a step is longer, and most of those that are bad are wide. */
void supernodal_cost_now(const trs_part *part, const trs_shape *s, const trs_machine *m,
                         trs_cost *c)
{
    const supernodal *d = (const supernodal *)part->data;
    supernodal_cost(s, m, c);
    if (d->s.blocks == 0) return;
    const double blocks = (double)d->s.blocks, rows = (double)s->n / (blocks * (double)BLOCK);
    const double bad = (double)count_flags(part->ctx, d->substituted, d->s.blocks) / blocks;
    const double longer = s->nrhs == 1 ? min(rows, 1.) : turns(s);
    c->hops += bad * (d->s.height + d->s.chained) * longer * SUBSTITUTED;
}
