/* cost.cu: predicts the time of a solve by cuda-supernodal from the numbers of supernodes, and once values are known
 * also from the number of supernodes that could not be inverted.
 *
 *     seconds = launches + dependency latency (levels, rows of small supernodes, tasks) + bytes of stored entries
 *
 * Levels run one after the other, and stored entries are read meanwhile.  So the model adds up the longest supernode
 * of each level, a share of every task, since tasks are drawn one by one from a counter, and the time of a copy of
 * the stored entries.  The coefficients are the costs of this module, in units of the machine's dependency latency
 * (gpu_latency), launch and byte. */
#include "config.h"

#include "supernodal.cuh"

/* Latencies of warps that read small supernodes, 256 entries at a time.  Where supernodes are many on a level, all
 * but the first of these reads of a supernode count.  None counts where it is alone on its level, since it is read
 * while the one before is waited for: the share of the supernodes that are not is 1 - depth / supernodes.  The
 * longest row counts with all of its reads. */
static double reading(const trs_shape *s, const trs_supernodes *b, const trs_machine *m)
{
    const double blocks = (double)b->count, height = (double)b->depth, numbers = 256;
    const double reads = (double)b->stored / blocks / numbers;
    const double longest = (double)s->longest * (double)s->n / blocks / numbers;
    return m->supernodal_read * (height - height * height / blocks) * max(reads - 1, 0.) +
           m->supernodal_longest * longest;
}

/* How many times as long as 8 real columns, or 32, the columns take: more than 32 are counted as turns of 32. */
static double turns(const trs_shape *s, const trs_machine *m)
{
    if (s->nrhs <= 8) return s->is_complex ? m->supernodal_8_complex : 1;
    return (s->nrhs + 31) / 32 * (s->is_complex ? m->supernodal_32_complex : 1);
}

/* The coefficients for several columns: launches; latencies for a level, more for one with a large supernode, for a
 * further supernode of the longest chain of a level, for a row of the largest small supernode of a level, for a
 * task; times a copy of the stored entries; and how many times as long all of it takes where all supernodes are
 * small. */
struct many_steps {
    double launches, level, large, link, row, task, copies, small;
};

static many_steps steps_of_many(int nrhs, const trs_machine *m)
{
    if (nrhs > 8)
        return {m->supernodal_32_launches, m->supernodal_32_level, m->supernodal_32_large,
                m->supernodal_32_link,     m->supernodal_32_row,   m->supernodal_32_task,
                m->supernodal_32_copies,   m->supernodal_32_small};
    return {m->supernodal_8_launches, m->supernodal_8_level, m->supernodal_8_large,
            m->supernodal_8_link,     m->supernodal_8_row,   m->supernodal_8_task,
            m->supernodal_8_copies,   m->supernodal_8_small};
}

static void cost_of_many(const trs_shape *s, const trs_supernodes *b, const trs_machine *m,
                         trs_cost *c)
{
    const many_steps k = steps_of_many(s->nrhs, m);
    const double steps = k.level * (double)b->depth + k.large * (double)b->large_levels +
                         k.link * (double)b->chain_links + k.row * (double)b->small_rows;
    const double times = turns(s, m) * (b->large > 0 ? 1 : k.small);
    c->bytes = k.copies * (double)b->stored * s->elem * m->gpu_byte * times;
    c->sync = k.launches * m->gpu_launch;
    c->latency = (steps + k.task * (double)b->tasks) * m->gpu_latency * times;
}

/* One column, some supernodes large: latencies for a level, more for one with a large supernode, for the rows of
 * the largest small one, and for drawing a task.  Supernodes of a chain but the first cost nothing more. */
static void cost_of_mixed(const trs_shape *s, const trs_supernodes *b, const trs_machine *m,
                          trs_cost *c)
{
    const double steps = m->supernodal_1_level * (double)b->depth +
                         m->supernodal_1_large * (double)b->large_levels +
                         m->supernodal_1_row * (double)b->small_rows;
    const double drawn = m->supernodal_1_task * (double)b->tasks;
    const double times = s->is_complex ? m->supernodal_1_complex : 1;
    c->bytes = (double)b->stored * s->elem * m->gpu_byte;
    c->sync = m->supernodal_1_launches * m->gpu_launch;
    c->latency = times * (steps + drawn) * m->gpu_latency;
}

/* One column, all supernodes small.  A level takes more than two latencies: its warps wait for x, then for what is
 * made of it.  Levels of many rows are bound by reading, at less than a quarter of the rate of a copy, where that
 * takes longer.
 * Without supernodes (b NULL) no two rows have anything in common. */
static void cost_of_small(const trs_shape *s, const trs_supernodes *b, const trs_machine *m,
                          trs_cost *c)
{
    const double numbers =
        (b ? (double)b->stored : m->supernodal_alone * (double)s->nnz) * s->elem * m->gpu_byte;
    const double height = (double)(b ? b->depth : s->levels);
    const double steps =
        (m->supernodal_level * height + (b ? reading(s, b, m) : 0)) * m->gpu_latency;
    const double thin = s->nnz > 0 ? s->thin_entries / (double)s->nnz : 1;
    const double wide = steps * (double)s->wide_levels / max((double)s->levels, 1.);
    c->bytes = numbers * thin;
    c->sync = m->gpu_launch;
    c->latency = steps - wide + max(wide, m->supernodal_wide * numbers * (1 - thin));
}

static void cost_of_supernodes(const trs_shape *s, const trs_supernodes *b, const trs_machine *m,
                               trs_cost *c)
{
    if (b && s->nrhs > 1) cost_of_many(s, b, m, c);
    else if (b && b->large > 0) cost_of_mixed(s, b, m, c);
    else {
        cost_of_small(s, b, m, c);
        c->bytes *= s->nrhs;
        c->latency *= s->nrhs;
    }
}

/* Supernodes that are substituted take a barrier a row.  They are assumed to be of all sizes, and as many on each
 * level.  With several columns a row takes longer, and most supernodes that cannot be inverted are large. */
static double substituting(const trs_instance *built, const trs_shape *s, const trs_machine *m)
{
    const supernodal *d = (const supernodal *)built->data;
    if (d->s.count == 0) return 0;
    const double blocks = (double)d->s.count, rows = (double)s->n / (blocks * (double)BLOCK);
    const double bad = (double)count_flags(built->ctx, d->substituted, d->s.count) / blocks;
    const double columns = (s->nrhs <= 8 ? 1 : m->supernodal_32_substituted) * turns(s, m);
    const double longer = s->nrhs == 1 ? min(rows, 1.) : columns;
    return bad * (d->s.depth + d->s.chain_links) * longer * m->blocks_substituted;
}

/* Stored entries are written, and small supernodes inverted meanwhile; the diagonal blocks of large ones are inverted by as
 * many SMs as there are, those of a chain one after the other. */
static double cost_of_update(const trs_shape *s, const trs_supernodes *b, const trs_machine *m)
{
    const double blocks = (double)b->large / m->gpu_sms;
    const double stored = (double)b->stored * (2 * s->elem + 4) * m->gpu_byte;
    const double chains = b->chains ? (1 + (double)b->chains * int(TRS_CHAIN) / m->gpu_sms) *
                                          m->supernodal_update_chain
                                    : 0;
    return m->supernodal_update_launches * m->gpu_launch + m->supernodal_update_copies * stored +
           (blocks * m->supernodal_update_block + chains) *
               (s->is_complex ? m->supernodal_8_complex : 1);
}

const char *supernodal_estimate(const trs_prospect *p, const trs_instance *built,
                                const trs_machine *m, trs_cost *c)
{
    const trs_supernodes *b =
        (const trs_supernodes *)trs_prospect_analysis(p, &trs_supernode_analysis, true);
    if ((!b || b->count == 0) && p->effort != TRS_NEED)
        return "hardly any rows or columns have a pattern in common";
    cost_of_supernodes(&p->shape, b && b->count ? b : NULL, m, c);
    if (b && b->count) c->update = cost_of_update(&p->shape, b, m);
    if (built) c->latency += substituting(built, &p->shape, m);
    return NULL;
}
