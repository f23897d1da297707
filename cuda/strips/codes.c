/* codes.c: the entries of each tile as ELL columns, with the slots where their x will be.
 *
 * A tile is gone through a second time, task by task.  Each lane takes the entries of its row in the order in which
 * they stand, as many early and as many late ones as the task has ELL columns for, and goes on there in the next
 * task of the group.  An x that is still in the local ring has the slot of its position; for all others halo.c
 * finds a slot, once all lanes have their entries.  A second position in the sequence of tasks, 2 CONSUMERS - 1
 * ahead, says how many ELL columns are about to need halo entries. */
#include "config.h"

#include "schedule.h"

#include <string.h>

enum { WARP = TRS_STRIP_WARP };

typedef struct cursor { /* at a task of a tile */
    const row_group *group;
    int32_t end; /* of the rows of the tile */
    task task;
} cursor;

static cursor begin_tile(const builder *b, int64_t tile)
{
    const int32_t first = first_row(b, tile);
    const row_group *g = b->group + first;
    return (cursor){g, first_row(b, tile + 1), trs_strips_first_task(g, first, 0)};
}

/* To the next task; false: the tile has none. */
static bool advance(cursor *c)
{
    const int32_t place = c->task.place + c->task.rows;
    if (trs_strips_next_task(&c->task)) return true;
    if (place == c->end) return false;
    c->task = trs_strips_first_task(++c->group, place, c->task.number + 1);
    return true;
}

typedef struct tile_writer {
    builder *b;
    int32_t first, end;          /* rows of the tile */
    int32_t first_task;          /* over all tiles */
    int64_t ell;                 /* the next one */
    int32_t halo_ells;           /* of this task and the 2 CONSUMERS - 1 that follow */
    const int32_t *column[WARP]; /* of the entries of each lane's row */
    int32_t length[WARP];        /* off-diagonal entries of it */
    int32_t next[2][WARP];       /* from where on entries are left: early ones, late ones */
    halo_ring ring;
} tile_writer;

static void begin_group(tile_writer *w, const task *k)
{
    const trs_tri *t = w->b->t;
    for (int i = 0; i < k->rows; i++) {
        const int32_t row = w->b->order[k->place + i].row;
        prefetch_row(w->b, k->place + i, w->end);
        w->column[i] = t->idx + t->ptr[row];
        w->length[i] = off_diagonal(t, row);
        w->next[0][i] = w->next[1][i] = 0;
    }
}

/* Where lane i begins to look: at the first entry of a kind that this task has ELL columns for. */
static int32_t first_left(const tile_writer *w, const task *k, int i)
{
    const int32_t early = w->next[0][i], late = w->next[1][i];
    if (k->late == 0) return early;
    return k->early ? smaller(early, late) : late;
}

static uint16_t slot_code(const task *k, int32_t position)
{
    const bool local = position >= (k->number - TRS_STRIP_WINDOW) * WARP;
    TRS_ASSERT(position < k->group_task * WARP); /* of a lower level */
    return (uint16_t)(local ? position % TRS_STRIP_LOCAL : HALO_WANTED);
}

/* The next entries of lane i. */
static void take_entries(tile_writer *w, const task *k, int i)
{
    const builder *b = w->b;
    const int32_t *column = w->column[i], length = w->length[i];
    const int64_t middle = w->ell + k->early, end[2] = {middle, middle + k->late};
    int64_t ell[2] = {w->ell, middle};
    int32_t *next[2] = {&w->next[0][i], &w->next[1][i]};
    for (int32_t e = first_left(w, k, i); e < length; e++) {
        const int32_t position = position_of(b, w->first, column[e]);
        const bool late = is_late(k->group_task, position);
        if (e < *next[late] || ell[late] == end[late]) continue;
        const int64_t place = ell[late]++ * WARP + i;
        b->s->entry[place] = e;
        b->s->code[place] = slot_code(k, position);
        *next[late] = e + 1;
        if (ell[0] == end[0] && ell[1] == end[1]) return;
    }
    for (int kind = 0; kind < 2; kind++)
        if (ell[kind] < end[kind]) *next[kind] = length;
}

static void write_padding(const trs_strips *s, int64_t ell)
{
    int32_t *entry = s->entry + ell * WARP;
    uint16_t *code = s->code + ell * WARP;
    for (int i = 0; i < WARP; i++) entry[i] = TRS_STRIP_PADDING;
    for (int i = 0; i < WARP; i++) code[i] = TRS_STRIP_ZERO;
}

/* The partial sums of the task before are at the positions of the same lanes. */
static void write_carry(const trs_strips *s, const task *k, int64_t ell)
{
    for (int i = 0; i < k->rows; i++) {
        s->entry[ell * WARP + i] = TRS_STRIP_CARRY;
        s->code[ell * WARP + i] = (uint16_t)(((k->number - 1) * WARP + i) % TRS_STRIP_LOCAL);
    }
}

static void write_rows(const tile_writer *w, const task *k)
{
    int32_t *row = w->b->s->row + (int64_t)(w->first_task + k->number) * WARP;
    for (int i = 0; i < WARP; i++) {
        row[i] = i < k->rows ? w->b->order[k->place + i].row : TRS_STRIP_NO_ROW;
        if (k->partial && i < k->rows) row[i] = TRS_STRIP_PARTIAL - row[i];
    }
}

static bool write_task(tile_writer *w, const task *k)
{
    const trs_strips *s = w->b->s;
    const int64_t carry = w->ell + k->early + k->late, end = carry + k->carry;
    const int64_t halo_end = w->ell + trs_strips_halo_ells(k);
    if (k->number == k->group_task) begin_group(w, k);
    write_rows(w, k);
    for (int64_t ell = w->ell; ell < end; ell++) write_padding(s, ell);
    for (int i = 0; i < k->rows; i++) take_entries(w, k, i);
    if (k->carry) write_carry(s, k, carry);
    const bool good =
        trs_halo_read(&w->ring, k->number, w->ell * WARP, halo_end * WARP, w->column, w->halo_ells);
    w->ell = end;
    return good;
}

static bool write_tile(builder *b, int64_t tile)
{
    const trs_row_tile *from = &b->s->tile[tile];
    const int64_t ell = b->first_ell[tile];
    cursor now = begin_tile(b, tile), ahead = now;
    bool good, left = true;
    packet_writer p = {b->s, ell, from->task, from->packet, {.ell = ell, .task = from->task}};
    tile_writer w = {
        .b = b, .first = now.task.place, .end = now.end, .first_task = from->task, .ell = ell};
    trs_halo_begin(&w.ring, b, &b->halo[tile]);
    for (int k = 0; k < 2 * TRS_STRIP_CONSUMERS && left; k++, left = advance(&ahead))
        w.halo_ells += trs_strips_halo_ells(&ahead.task);
    do {
        trs_strips_add_task(&p, &now.task);
        good = write_task(&w, &now.task);
        w.halo_ells -= trs_strips_halo_ells(&now.task);
        if (left) w.halo_ells += trs_strips_halo_ells(&ahead.task);
        left = left && advance(&ahead);
    } while (good && advance(&now));
    trs_strips_end_packet(&p);
    trs_halo_end(&w.ring);
    TRS_ASSERT(!good || (p.task == from[1].task && p.packet == from[1].packet && p.ell == w.ell));
    return good;
}

static void write_some(void *user, int64_t begin, int64_t end)
{
    builder *b = user;
    for (int64_t tile = begin; tile < end; tile++)
        if (!write_tile(b, tile)) b->failed = true;
}

static void copy_halo(void *user, int64_t begin, int64_t end)
{
    const builder *b = user;
    for (int64_t k = begin; k < end; k++)
        if (b->halo[k].count)
            memcpy(b->s->halo + b->s->tile[k].halo, b->halo[k].entry,
                   (size_t)b->halo[k].count * sizeof *b->s->halo);
}

int trs_strips_write_tiles(builder *b, int threads)
{
    trs_strips *s = b->s;
    trs_share(threads, s->tiles, 1, write_some, b);
    if (b->failed) return trs_fail(TRS_EMEM, "out of memory for the halo entries of row tiles");
    for (int32_t k = 0; k < s->tiles; k++) s->tile[k + 1].halo = s->tile[k].halo + b->halo[k].count;
    s->halo_entries = s->tile[s->tiles].halo;
    s->halo = trs_new(b->ctx, s->halo_entries, sizeof *s->halo, "halo entries of row tiles");
    if (!s->halo) return TRS_EMEM;
    trs_share(threads, s->tiles, 1, copy_halo, b);
    return TRS_OK;
}
