/* halo.c: the halo entries of a tile, and the slots that they have one after the other (strips.h).
 *
 * Entry k of the list has slot k mod HALO of the halo ring.  A tile is gone through task by task.  An x that this
 * task reads gets a new entry at the end of the list, unless it has one that lasts: its slot must not be given to
 * another entry before task t + 2 CONSUMERS, where t is this task.  Which entries will do is known from the number
 * of ELL columns that may need new ones in tasks t .. t + 2 CONSUMERS - 1, this one included:
 *
 *     entries from  count + WARP * ells - HALO  on  last until then.
 *
 * That is (3) of strips.h, and by (4) it holds for every new entry.  The entries that last are found by column in a
 * hash table with chains, which go through the slots from newer to older entries. */
#include "config.h"

#include "schedule.h"

#include <string.h>

static uint32_t bucket_of(int32_t column)
{
    const uint32_t h = (uint32_t)column * 2654435761u;
    return (h ^ h >> 15) % HALO_BUCKETS;
}

static halo_slot *slot_of(halo_ring *r, int32_t entry)
{
    return &r->slot[entry % TRS_STRIP_HALO];
}

/* Room for so many more entries. */
static bool reserve(const builder *b, halo_list *list, int32_t more)
{
    if (list->room - list->count >= more) return true;
    const int64_t room = 2 * ((int64_t)list->count + more);
    trs_halo_entry *entry =
        room > INT32_MAX / 2 ? NULL : trs_alloc(&b->ctx->mem, room, sizeof *entry);
    if (!entry) return false;
    if (list->entry) memcpy(entry, list->entry, (size_t)list->count * sizeof *entry);
    trs_free(&b->ctx->mem, list->entry);
    list->entry = entry;
    list->room = (int32_t)room;
    return true;
}

static int32_t new_entry(halo_ring *r, int32_t number, int32_t column, int32_t *newest)
{
    const builder *b = r->b;
    const int32_t entry = r->list->count++;
    halo_slot *slot = slot_of(r, entry);
    trs_halo_entry *to = &r->list->entry[entry];
    TRS_ASSERT(entry < r->list->room && entry >= r->lasting);
    to->from = b->position[column] + b->s->tile[column / b->tile_rows].task * TRS_STRIP_WARP;
    to->free_at = 0;
    if (entry >= TRS_STRIP_HALO) {
        TRS_ASSERT(number >= slot->reader + 2 * TRS_STRIP_CONSUMERS); /* (3) */
        to->free_at = slot->reader + TRS_STRIP_CONSUMERS + 1;
        b->s->code[slot->place] |= TRS_STRIP_LAST;
    }
    slot->column = column;
    slot->older = *newest;
    *newest = entry;
    return entry;
}

/* The entry of this column that lasts, or a new one.  Entries of a bucket descend. */
static int32_t entry_of(halo_ring *r, int32_t number, int32_t column)
{
    int32_t *newest = &r->newest[bucket_of(column)];
    for (int32_t k = *newest; k >= r->lasting && k >= 0; k = slot_of(r, k)->older)
        if (slot_of(r, k)->column == column) return k;
    return new_entry(r, number, column, newest);
}

void trs_halo_begin(halo_ring *r, const builder *b, halo_list *list)
{
    r->b = b;
    r->list = list;
    for (int k = 0; k < HALO_BUCKETS; k++) r->newest[k] = -1;
}

bool trs_halo_read(halo_ring *r, int32_t number, int64_t begin, int64_t end,
                   const int32_t *const *column, int32_t ells)
{
    const trs_strips *s = r->b->s;
    TRS_ASSERT(end - begin <= (int64_t)ells * TRS_STRIP_WARP);
    TRS_ASSERT(ells <= TRS_STRIP_EARLY * 2 * TRS_STRIP_CONSUMERS);
    if (!reserve(r->b, r->list, (int32_t)(end - begin))) return false;
    r->lasting = r->list->count + ells * TRS_STRIP_WARP - TRS_STRIP_HALO;
    for (int64_t place = begin; place < end; place++) {
        if (s->code[place] != HALO_WANTED) continue;
        const int32_t entry = entry_of(r, number, column[place % TRS_STRIP_WARP][s->entry[place]]);
        halo_slot *slot = slot_of(r, entry);
        slot->reader = number;
        slot->place = place;
        s->code[place] = (uint16_t)(TRS_STRIP_LOCAL + entry % TRS_STRIP_HALO);
    }
    return true;
}

/* What is in the ring at the end of the tile has been read for the last time. */
void trs_halo_end(halo_ring *r)
{
    for (int32_t k = 0; k < TRS_STRIP_HALO && k < r->list->count; k++)
        r->b->s->code[r->slot[k].place] |= TRS_STRIP_LAST;
}
