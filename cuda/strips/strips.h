/* strips.h: the schedule of cuda-strips: a lower triangle cut into row tiles, each solved by one block of threads
 * level by level, with the x that it needs in shared memory.
 *
 * A row tile is a set of consecutive rows.  On a grid that is numbered row by row it is a strip of the grid, hence
 * the name of the solver and the prefix of what stands here.  README.md draws all of what follows.
 *
 *     T, cut into row tiles         a tile, level by level             a task: 32 rows in sliced ELLPACK
 *
 *     |\                            task 0   level 0   rrrrrrrr..rr    lane        0    1    2   ..   31
 *     |_\                           task 1   level 0   rrr             ELL 0       a    a    a         a    early
 *     |hh|\     h: halo x           task 2   level 1   rrrrrrrr..rr    ELL 1       a    0    a         a    early
 *     |__|l\    l: local x          task 3   level 2   rrrrr           ELL 2       a    a    0         a    late
 *     |      |\                      ...                               ELL 3      -1   -1   -1        -1    carry
 *
 * task        Up to TRS_STRIP_WARP rows of one level of a tile, one for each lane of a warp: the unit of work of a
 *             consumer warp.  Tasks of a tile are numbered from 0 in the order of the levels.
 * position    Lane i of task t has position 32 t + i, counted in its tile or, from the first task of the first tile,
 *             in all of them.  There x is published.
 * ELL column  One entry of each row of a task, padded with zeros, as in the sliced ELLPACK format.  `ell` is the
 *             number of one.
 * partial sum A row that has too many entries for one task takes several.  All but the last compute partial sums:
 *             such a task publishes x = -(a_1 x_1 + a_2 x_2 + ...) at its positions, and the task that follows
 *             takes it up as one more ELL column, the carry, whose entries are -1.
 * early, late TRS_STRIP_CONSUMERS tasks of a tile are under way at a time.  A late ELL column needs x of the tasks
 *             just before its own, which may be under way with it; an early one does not and stands before them.
 * packet      Consecutive tasks of a tile that are copied to shared memory together.
 *
 * An entry does not name the column that it multiplies but the slot of shared memory where that x is found:
 *
 *     local x     of the last WINDOW tasks of the same tile; written by the consumer that solves the row
 *     halo x      of earlier tiles, or of the same tile and longer ago; each stands in a list of halo entries, in the
 *                 order in which tasks first need them, and is copied to its slot by a fetcher warp
 *     zero        the x of the padding
 *
 * Slots are rings, and are used again.  Let t be the number of a task in its tile, C = CONSUMERS, W = WINDOW,
 * R = LOCAL / WARP the tasks that the local ring has room for, H = HALO the slots of the halo ring.  A slot is empty
 * (all bits are set, flag.cuh) until x is there, and a reader polls it.  So two things must not happen: a reader
 * finds the x that the slot held before, or an x is wiped out before its last reader has it.  All of it rests on
 *
 *     (1)  task t begins when tasks 0 .. t - C are done.
 *
 * Local ring.  Task s writes the slots of s mod R.  Readers are tasks t with s < t <= s + W.  Task s + W + C empties
 * the slots when it begins: all readers are done by (1).  The next to write there is task s + R.  It, and hence all
 * that read what it writes, begins after s + W + C is done if
 *
 *     (2)  R >= W + 2 C.
 *
 * Halo ring.  Halo entry k of a tile has slot k mod H.  Let u be the last task that reads it.  Other readers, of
 * earlier tasks, may be slower than u; therefore not u but task u + C, of the same consumer, empties the slot when
 * it begins: all readers are done by (1).  Entry k + H is fetched when tasks 0 .. u + C are done, which is its
 * `free_at` = u + C + 1.  Let v be the first task that reads entry k + H.  By (1) the slot is empty when v begins,
 * and the fetcher does not wait for v or a later task, if
 *
 *     (3)  v >= u + 2 C.
 *
 * The schedule has (3) for every entry.  Tasks t .. t + 2 C - 1 need at most EARLY * WARP new halo entries each; thus
 *
 *     (4)  EARLY * WARP * 2 C <= H
 *
 * leaves an entry that task t is the first to read in place until t + 2 C.  A column that task t reads again while
 * its entry might be replaced before that gets a new entry (halo.c). */
#ifndef TRS_STRIPS_H
#define TRS_STRIPS_H

#include "matrix/operator.h"

#include <assert.h>
#include <stdbool.h>

enum {
    TRS_STRIP_WARP = 32,
    TRS_STRIP_SAMPLES = 5,   /* runs of rows that say how large a tile should be */
    TRS_STRIP_CONSUMERS = 6, /* tasks of a tile that are under way at a time */
    TRS_STRIP_WINDOW = 16,   /* tasks before a task whose x are still in the local ring */
    TRS_STRIP_LOCAL = 32 * TRS_STRIP_WARP,             /* slots of the local ring, from slot 0 on */
    TRS_STRIP_HALO = 2048,                             /* slots of the halo ring, behind it */
    TRS_STRIP_ZERO = TRS_STRIP_LOCAL + TRS_STRIP_HALO, /* the slot of the number 0 */
    TRS_STRIP_SLOTS = TRS_STRIP_ZERO + 1,
    TRS_STRIP_LAST = 0x8000, /* bit of a slot code: the last reader of a halo entry */
    TRS_STRIP_ELLS = 16,     /* most ELL columns of a task, and of a packet */
    TRS_STRIP_EARLY = 5,     /* most early ELL columns of a task */
    TRS_STRIP_TASKS = 6,     /* most tasks of a packet */
    TRS_STRIP_PADDING = -1,  /* trs_strips.entry: no entry, the number 0 */
    TRS_STRIP_CARRY = -2,    /* trs_strips.entry: none of the matrix, the number -1 */
    TRS_STRIP_NO_ROW = -1,   /* trs_strips.row: this lane has none */
    TRS_STRIP_PARTIAL = -2,  /* trs_strips.row: PARTIAL - i stands for a partial sum of row i */
};

static_assert(TRS_STRIP_LOCAL >= (TRS_STRIP_WINDOW + 2 * TRS_STRIP_CONSUMERS) * TRS_STRIP_WARP,
              "(2): the local ring is too short");
static_assert(TRS_STRIP_HALO >= TRS_STRIP_EARLY * TRS_STRIP_WARP * 2 * TRS_STRIP_CONSUMERS,
              "(4): the halo ring is too short");
static_assert(TRS_STRIP_SLOTS <= TRS_STRIP_LAST, "a slot code has room for the number of a slot");

typedef struct trs_packet { /* 32 bytes */
    int64_t ell;            /* the first of its ELL columns, counted over all tiles */
    int32_t task;           /* the first of its tasks, likewise */
    uint8_t ells, tasks;    /* how many it has */
    /* of each task: its first ELL column in the packet, and how many of either kind, the early ones first */
    uint8_t start[TRS_STRIP_TASKS], early[TRS_STRIP_TASKS], late[TRS_STRIP_TASKS];
} trs_packet;

typedef struct trs_halo_entry {
    int32_t from;    /* position of x, over all tiles */
    int32_t free_at; /* the slot is free when so many tasks of the tile are done */
} trs_halo_entry;

typedef struct trs_row_tile { /* where it begins; it ends where the next one begins */
    int64_t halo;
    int32_t packet;
    int32_t task;
} trs_row_tile;

typedef struct trs_strips {
    int32_t tiles, tasks, packets;
    int64_t ells, halo_entries;
    trs_row_tile *tile;   /* [tiles+1] in topological order, which is that of the rows */
    trs_packet *packet;   /* [packets] */
    trs_halo_entry *halo; /* [halo_entries] of each tile in the order of first need */
    int32_t *row;         /* [32 tasks] row at each position, NO_ROW, or PARTIAL - row */
    uint16_t *code;       /* [32 ells] slot code of each entry: number of the slot, and LAST */
    int32_t *entry;       /* [32 ells] which entry of its row it is, from 0, PADDING or CARRY */
} trs_strips;

/* The row at a position, also where a partial sum of it stands; NO_ROW. */
#define TRS_STRIP_ROW(stored)                                                                      \
    ((stored) < TRS_STRIP_NO_ROW ? TRS_STRIP_PARTIAL - (stored) : (stored))

typedef struct trs_strips_size {
    int32_t rows;  /* of a tile */
    int64_t tiles; /* how many there are */
} trs_strips_size;

/* Of an operator: a trs_strips_size, where tiles are any good, or where they are needed (tile_size.cu). */
extern const trs_analysis trs_strips_analysis;

/* Rows of a tile: as few as give each of its levels a warp of rows, as some samples say.  0: so many x would be halo
 * x that cuda-strips cannot be fast, or there is no memory to find out. */
int32_t trs_strips_rows(trs_context *ctx, const trs_tri *t, const trs_levels *lv);
/* The same in two steps, for a triangle on the host or on the device.  Sizes of tiles are tried from small to large.
 * look (user, rows, count, found) looks at samples for the sizes rows [0] < ... < rows [count-1], of which it is given
 * at_once together, or fewer at the end: found [k] = the levels that the rows of all samples belong to, and their
 * entries in columns before the sample.  It returns false if it cannot.  Sample k has the rows from
 * (n - rows) (k + 1) / TRS_STRIP_SAMPLES on. */
bool trs_strips_possible(const trs_tri *t, const trs_levels *lv);
typedef bool trs_strips_look(void *user, const int32_t *rows, int count, int64_t (*found)[2]);
int32_t trs_strips_sampled(int32_t n, int at_once, trs_strips_look *look, void *user);

/* The schedule for tiles of so many rows.  TRS_OK, TRS_EMEM, TRS_ESUPPORT (too many tasks for 32 bits). */
int trs_strips_make(trs_context *ctx, const trs_tri *t, const trs_levels *lv, int32_t rows,
                    trs_strips *s);
void trs_strips_free(trs_context *ctx, trs_strips *s);

/* What the GPU has: packet after packet, all of one together, as it is copied to shared memory (update.cuh):
 *
 *     trs_packet | values [ells][32] | 1 / diagonal [tasks][32] | row [tasks][32] | slot code [ells][32]
 *
 * 1 / diagonal is 1 for a partial sum, and 0 for NO_ROW.  A row whose diagonal is not near 1 (near.h) is multiplied
 * by a power of two. */
size_t trs_strips_bytes(const trs_strips *s, trs_dtype dtype);

#endif
