/* tasks.c: the tasks of each tile.
 *
 * The rows of a level of a tile are divided into groups of at most a warp.  A group has as many early ELL columns
 * as any of its rows has early entries, at most, and as many late ones as any has late entries.  They are dealt out to
 * tasks in this order:
 *
 *     early ELL columns, EARLY at most in a task, until they are used up; then late ones beside the last of these,
 *     up to ELLS in all, with the carry
 *
 * so a group with few entries, which is most of them, is one task, and a group with a long row is several, of which
 * all but the last compute partial sums.  What is late is counted from the first task of the group, since there the
 * group begins: late x are of the CONSUMERS - 1 tasks before the group.  Task k of the group, from 0, finds them in
 * the local ring if k < WINDOW - CONSUMERS.  Any later task of the group may need halo x for all its ELL columns but
 * the carry, and therefore has no more than EARLY of them. */
#include "config.h"

#include "schedule.h"

enum { MOST_TASKS = INT32_MAX / TRS_STRIP_WARP }; /* whose positions are below 2^31 */

/* Are late x out of the window?  Tasks from WINDOW - CONSUMERS on are counted as such. */
static bool beyond_window(const task *k)
{
    return k->number - k->group_task >= TRS_STRIP_WINDOW - TRS_STRIP_CONSUMERS;
}

int trs_strips_halo_ells(const task *k)
{
    return beyond_window(k) ? k->early + k->late : k->early;
}

/* As many ELL columns of what is left as one task can have. */
static void fill_task(task *k)
{
    const int32_t early = k->most_early - k->taken_early, late = k->most_late - k->taken_late;
    const int most = beyond_window(k) ? TRS_STRIP_EARLY : TRS_STRIP_ELLS - k->carry;
    TRS_ASSERT(early >= 0 && late >= 0);
    k->early = smaller(early, TRS_STRIP_EARLY);
    k->late = k->early < early ? 0 : smaller(late, most - k->early);
    k->partial = k->early < early || k->late < late;
}

task trs_strips_first_task(const row_group *g, int32_t place, int32_t number)
{
    task k = {.place = place,
              .rows = g->rows,
              .most_early = g->early,
              .most_late = g->late,
              .group_task = number,
              .number = number};
    fill_task(&k);
    return k;
}

bool trs_strips_next_task(task *k)
{
    if (!k->partial) return false;
    k->taken_early += k->early;
    k->taken_late += k->late;
    k->carry = true;
    k->number++;
    fill_task(k);
    return true;
}

/* The group of the rows from order [place] on, whose first task has this number; first: row of the tile. */
static row_group find_group(const builder *b, int32_t first, int32_t place, int32_t end,
                            int32_t number)
{
    const trs_tri *t = b->t;
    const level_row *r = b->order + place;
    row_group g = {0};
    for (; g.rows < TRS_STRIP_WARP && place + g.rows < end && r[g.rows].level == r->level;
         g.rows++) {
        const int32_t row = r[g.rows].row;
        int32_t late = 0;
        prefetch_row(b, place + g.rows, end);
        for (int64_t p = t->ptr[row]; p < t->ptr[row + 1] - 1; p++)
            late += is_late(number, position_of(b, first, t->idx[p]));
        const int32_t early = off_diagonal(t, row) - late;
        TRS_ASSERT(late <= TRS_STRIP_WARP * (TRS_STRIP_CONSUMERS - 1));
        if (early > g.early) g.early = early;
        if (late > g.late) g.late = (uint8_t)late;
    }
    return g;
}

/* It stops at the first task that is too many for 32 bits. */
static void count_tile(builder *b, int64_t tile)
{
    const int32_t first = first_row(b, tile), end = first_row(b, tile + 1);
    row_group *g = b->group + first;
    packet_writer w = {0};
    for (int32_t place = first; place < end && w.task <= MOST_TASKS; place += g++->rows) {
        *g = find_group(b, first, place, end, w.task);
        task k = trs_strips_first_task(g, place, w.task);
        do trs_strips_add_task(&w, &k);
        while (w.task <= MOST_TASKS && trs_strips_next_task(&k));
        for (int i = 0; i < k.rows; i++)
            b->position[b->order[place + i].row] = k.number * TRS_STRIP_WARP + i;
    }
    trs_strips_end_packet(&w);
    b->size[tile] = (tile_size){w.ell, w.task, w.packet};
}

static void count_tiles(void *user, int64_t begin, int64_t end)
{
    for (int64_t tile = begin; tile < end; tile++) count_tile(user, tile);
}

void trs_strips_count_tasks(builder *b, int threads)
{
    trs_share(threads, b->s->tiles, 1, count_tiles, b);
}
