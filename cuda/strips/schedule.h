/* schedule.h: the steps that make the schedule of cuda-strips (strips.h), private to this room.
 *
 *     tile_rows.c    rows of each tile in the order of their levels
 *     tasks.c        row groups and their tasks, counted for each tile
 *     packets.c      which tasks are a packet
 *     codes.c        entries to ELL columns, and their slot codes; all but halo entries is written here
 *     halo.c         halo entries and their slots
 *
 * Every step takes O(n + nnz) and goes over the tiles side by side.  A tile is made by one thread, without regard to
 * the others, so that the schedule does not depend on the number of threads. */
#ifndef TRS_STRIPS_SCHEDULE_H
#define TRS_STRIPS_SCHEDULE_H

#include "strips.h"

#include "analysis/level.h"
#include "base/context.h"
#include "base/debug.h"
#include "base/parallel.h"

#include <stdatomic.h>

typedef struct level_row {
    int32_t row, level;
} level_row;

/* Up to a warp of rows of one level of a tile, which have their tasks in common. */
typedef struct row_group {
    int32_t early; /* most early entries of a row */
    uint8_t late;  /* most late entries of a row: at most WARP (CONSUMERS - 1) */
    uint8_t rows;
} row_group;

typedef struct tile_size {
    int64_t ells;
    int32_t tasks, packets;
} tile_size;

typedef struct halo_list {
    trs_halo_entry *entry; /* [room] */
    int32_t count, room;
} halo_list;

typedef struct builder {
    trs_context *ctx;
    const trs_tri *t;
    const trs_levels *lv;
    trs_strips *s;
    int32_t tile_rows;
    level_row *order;   /* [n] tile by tile, in each level by level, in a level ascending */
    int32_t *position;  /* [n] of each row, in its tile */
    row_group *group;   /* [n] those of a tile stand from the index of its first row on */
    tile_size *size;    /* [tiles] */
    int64_t *first_ell; /* [tiles] ELL column, over all tiles */
    halo_list *halo;    /* [tiles] until the number of all of them is known */
    atomic_bool failed; /* out of memory */
} builder;

/* A task of a row group, as it passes by. */
typedef struct task {
    int32_t place, rows;             /* the rows: order [place] .. order [place + rows - 1] */
    int32_t most_early, most_late;   /* entries of a row, of all tasks of the group */
    int32_t taken_early, taken_late; /* of them, by the tasks of the group before this one */
    int32_t group_task, number;      /* the first task of the group, and this one, in the tile */
    int early, late;                 /* ELL columns of this task, the carry not counted */
    bool carry;                      /* it takes up the partial sum of the task before */
    bool partial;                    /* what it computes is a partial sum */
} task;

static inline int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int32_t first_row(const builder *b, int64_t tile)
{
    return (int32_t)(tile * b->tile_rows < b->t->n ? tile * b->tile_rows : b->t->n);
}

static inline int32_t off_diagonal(const trs_tri *t, int32_t row) /* entries */
{
    return (int32_t)(t->ptr[row + 1] - t->ptr[row] - 1);
}

/* The position of x (column) in the tile whose first row is given, or one before all of them. */
static inline int32_t position_of(const builder *b, int32_t first, int32_t column)
{
    return column >= first ? b->position[column] : INT32_MIN / 2;
}

/* Is this x of one of the CONSUMERS - 1 tasks just before, which may be under way with this task? */
static inline bool is_late(int32_t number, int32_t position)
{
    return position >= (number - TRS_STRIP_CONSUMERS + 1) * TRS_STRIP_WARP;
}

enum { PREFETCH = 2 * TRS_STRIP_WARP };

/* The rows of a level are far apart in memory, and no hardware foresees where: fetch what a loop over order [k] will
 * need soon.  Inline, for gcc takes a function of nothing but prefetches for one without effect, and drops the
 * call. */
static inline __attribute__((always_inline)) void prefetch_row(const builder *b, int32_t k,
                                                               int32_t end)
{
    if (k >= end - PREFETCH) return;
    const int32_t row = b->order[k + PREFETCH].row;
    __builtin_prefetch(&b->t->ptr[row]);
    __builtin_prefetch(&b->position[row]);
    __builtin_prefetch(&b->t->idx[b->t->ptr[b->order[k + PREFETCH / 2].row]]);
}

/* tile_rows.c: b->order.  TRS_OK, TRS_EMEM. */
int trs_strips_order_rows(builder *b, int threads);

/* tasks.c: b->group, b->position, b->size */
void trs_strips_count_tasks(builder *b, int threads);
task trs_strips_first_task(const row_group *g, int32_t place, int32_t number);
bool trs_strips_next_task(task *k); /* of its group; false: it was the last one */
/* How many ELL columns of it may have halo entries: they are its first ones. */
int trs_strips_halo_ells(const task *k);

/* packets.c: tasks of a tile, one after the other, are put into packets. */
typedef struct packet_writer {
    trs_strips *to; /* NULL: they are counted only */
    int64_t ell;
    int32_t task, packet; /* the next ones */
    trs_packet open;      /* the packet that the next task may still be put into */
} packet_writer;

void trs_strips_add_task(packet_writer *w, const task *k);
void trs_strips_end_packet(packet_writer *w);

/* codes.c: packets, rows, entries and codes of s, and b->halo.  TRS_OK, TRS_EMEM. */
int trs_strips_write_tiles(builder *b, int threads);

/* halo.c */
enum {
    HALO_BUCKETS = 2 * TRS_STRIP_HALO,
    HALO_WANTED = TRS_STRIP_LAST /* a code for the time being: this entry reads a halo x */
};

typedef struct halo_slot { /* the last entry of the list that has this slot */
    int32_t column;
    int32_t reader; /* the last task that reads it */
    int64_t place;  /* the last index of code that reads it */
    int32_t older;  /* entry of the same bucket; -1: none */
} halo_slot;

typedef struct halo_ring {
    const builder *b;
    halo_list *list;
    int32_t lasting;              /* entries from here on may be read by this task */
    int32_t newest[HALO_BUCKETS]; /* entry of the columns of each bucket; -1: none */
    halo_slot slot[TRS_STRIP_HALO];
} halo_ring;

void trs_halo_begin(halo_ring *r, const builder *b, halo_list *list);
/* Codes for what is HALO_WANTED in code [begin] .. code [end - 1], entries of the columns column [lane] [entry],
 * read by this task; ells: of it and the 2 CONSUMERS - 1 that follow, with halo entries.  false: out of memory. */
bool trs_halo_read(halo_ring *r, int32_t number, int64_t begin, int64_t end,
                   const int32_t *const *column, int32_t ells);
void trs_halo_end(halo_ring *r);

#endif
