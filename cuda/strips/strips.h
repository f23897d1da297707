/* strips.h: a triangle cut into strips of consecutive rows, each for one block of threads that goes through it
 * level by level with the x it needs in a small fast store.
 *
 * The rows of a strip stand level by level; a task is up to TRS_STRIP_WARP of one level, a lane each.  The
 * entries of a task are lines: line l holds one entry of each of its rows, filled up with zeros.  Lane i of
 * task t is position 32 t + i; there x is published.  Long rows leave the first of their entries to pieces,
 * tasks before theirs: the x of a piece is minus its sum, and one more entry, -1, takes it up.
 *
 * TRS_STRIP_TEAM tasks of a strip are under way at a time: task t begins when all up to t - TEAM are done.
 * The lines that need nothing from the tasks in between come first, early, and the late ones behind them.
 *
 * An entry does not say which x it multiplies but in which slot of the store that x is found:
 *
 *     own x         of the last TRS_STRIP_REACH tasks of the strip, in the slot of its position
 *     foreign x     of earlier strips, or long past: items, fetched in the order in which they are needed,
 *                   item k of a strip into slot OWN + k % TRS_STRIP_FOREIGN; of which there is
 *                   one at a time: the last reader of an item empties its slot
 *     zero          what fills the lines up
 *
 * Task t empties the slots of task t - TEAM - REACH, which nobody reads any more; there is room for twice as many
 * tasks, so that none is emptied late.  And whoever had task t - TEAM empties now the slots of the items that it was
 * the last to read: others before it may have been slower.  Item k is fetched when gate tasks of the strip are
 * done, by which the item before it in the same slot has been emptied; and it has been before a task that reads
 * item k begins. */
#ifndef TRS_STRIPS_H
#define TRS_STRIPS_H

#include "matrix/operator.h"

#include <stdbool.h>

enum {
    TRS_STRIP_WARP = 32,
    TRS_STRIP_SAMPLES = 5, /* that are looked at to find how many rows a strip should have */
    TRS_STRIP_TEAM = 6,    /* tasks under way */
    TRS_STRIP_REACH = 16,
    TRS_STRIP_OWN = 32 * TRS_STRIP_WARP, /* at least REACH + 2 TEAM tasks */
    TRS_STRIP_FOREIGN = 2048,
    TRS_STRIP_ZERO = TRS_STRIP_OWN + TRS_STRIP_FOREIGN, /* the slot */
    TRS_STRIP_SLOTS = TRS_STRIP_ZERO + 1,
    TRS_STRIP_LAST = 0x8000, /* in a code: this reader empties the slot */
    TRS_STRIP_LINES = 16,    /* of a task, and of a chunk: what is brought from memory at a time */
    TRS_STRIP_EARLY = 5,     /* early lines of a task: FOREIGN / (WARP * 2 TEAM) */
    TRS_STRIP_TASKS = 6,     /* of a chunk */
    TRS_STRIP_NOTHING = -1,  /* an entry that fills up */
    TRS_STRIP_PIECE = -2,    /* an entry that takes up a piece */
};

typedef struct trs_chunk { /* 32 bytes */
    int64_t line;          /* the first one */
    int32_t task;
    uint8_t lines, tasks;
    uint8_t from[TRS_STRIP_TASKS], early[TRS_STRIP_TASKS],
        late[TRS_STRIP_TASKS]; /* of each task: its
                       first line in the chunk, and how many */
} trs_chunk;

typedef struct trs_item {
    int32_t from; /* position */
    int32_t gate; /* tasks of the strip */
} trs_item;

typedef struct trs_strip { /* begins here and ends where the next one begins */
    int64_t item;
    int32_t chunk;
    int32_t task;
} trs_strip;

typedef struct trs_strips {
    int32_t count, tasks, chunks;
    int64_t lines, items;
    trs_strip *strip; /* [count+1] in topological order */
    trs_chunk *chunk; /* [chunks] */
    trs_item *item;   /* [items] */
    int32_t *row;     /* [32 tasks] -1: none, -2 - row: a piece of it */
    int16_t *power;   /* [32 tasks] of two, that rows of the last values were multiplied by */
    uint16_t *code;   /* [32 lines] slot and LAST */
    int32_t *entry;   /* [32 lines] which one of the row, NOTHING or PIECE */
} trs_strips;

/* Of an operator: its row tiles, where they are any good, or where they are needed (tile_size.cu). */
typedef struct trs_strips_size {
    int32_t rows;  /* of a tile */
    int64_t count; /* tiles */
} trs_strips_size;

extern const trs_analysis trs_strips_analysis;

/* How many rows a strip should have: as few as give its levels a warp of rows each, as some samples say.
 * 0: too many x would be foreign for strips to be any good, or there is no memory to find out. */
int32_t trs_strips_rows(trs_context *ctx, const trs_tri *t, const trs_levels *lv);
/* The same in two steps, wherever the triangle is: look (rows) finds the levels that rows of the samples
 * belong to and the entries in columns before them, false: it cannot; sample k is the rows from
 * (n - rows) (k + 1) / TRS_STRIP_SAMPLES on. */
bool trs_strips_possible(const trs_tri *t, const trs_levels *lv);
int32_t trs_strips_sampled(int32_t n,
                           bool (*look)(void *user, int32_t rows, int64_t *levels,
                                        int64_t *foreign),
                           void *user);

/* rows: of a strip.  TRS_OK, TRS_EMEM, TRS_ESUPPORT (too large). */
int trs_strips_make(trs_context *ctx, const trs_tri *t, const trs_levels *lv, int32_t rows,
                    trs_strips *s);
void trs_strips_free(trs_context *ctx, trs_strips *s); /* the numbers stay */

/* On the GPU all of a chunk stands together, as it is brought, chunk after chunk:
 *     the trs_chunk, values of its lines, 1 / diagonal of its tasks (of a piece 1, of no row 0), rows, codes
 * A row whose diagonal is not near 1 (near.h) is multiplied by a power of two; to pack says whether any is. */
size_t trs_strips_bytes(const trs_strips *s, trs_dtype dtype);
bool trs_strips_pack(const trs_context *ctx, const trs_strips *s, const trs_tri *t, void *packed);

#endif
