/* rows.cuh: the schedule of the row kernel: which lane has which entry, and which products it makes.
 *
 * A task is what a warp computes at a time: 32 / lanes rows of one level.  Each row has `lanes` lanes, and each lane has
 * `each` places, so that entry q of the row, counted from its first one, is at place q / lanes of lane q % lanes.  With
 * lanes = 4, each = 2, of the first row of a task:
 *
 *        entry   0 1 2 3 4 5 6         l l l d u u u       place 0   lane 0..3   l l l d
 *                                                          place 1   lane 0..3   u u u .
 *
 * The rows of U are copied to an array of numbers that are their own flags, in the order of the tasks; each begins with what
 * is kept of its pivot: 1/u(k,k) u(k,j) u(k,j') ...
 * The list has a byte for each place and each lower entry (i, k) of the row, four of these to a word: 0: nothing; 1: the
 * place has (i, k) itself; 1 + m: it has an entry (i, j), and number m of row k is u(k, j). */
#ifndef TRS_ELIMINATION_ROWS_CUH
#define TRS_ELIMINATION_ROWS_CUH

#include "kernels.cuh"

enum {
    ROW_WARP = 32,
    ROW_THREADS = 128 /* of a block */,
    ROW_BATCH = 4 /* lower entries of a word */
};

struct row_shape {
    int lanes; /* of a row: a power of 2 */
    int each;  /* places of a lane */
};

struct row_task {
    int32_t list;  /* where its words are, in groups of 32 */
    int32_t lower; /* lower entries of the row that has most */
};

/* What is at a place.
 *     a        which number of A, MARKED: conjugated; NOTHING: zero
 *     to       which number of val; NOTHING: nowhere
 *     number   of a lower entry (i, k) where the pivot of row k is; of (i, j) ~ its own, MARKED: the diagonal; NOTHING: no
 *              entry (number 0 is a pivot, so that this is no ~) */
enum : int32_t { ROW_NOTHING = -1, ROW_MARKED = 1 << 30, ROW_MOST = ROW_MARKED - 1 };

/* The arrays are on the device. */
struct row_schedule {
    row_shape shape;
    int32_t tasks;
    int64_t numbers, list_groups;
    int32_t *row;             /* [tasks*rows of a task] -1: none */
    row_task *task;           /* [tasks] */
    int32_t *a, *to, *number; /* [tasks*each*32] of each place */
    uint32_t *
        list; /* [list_groups*32]: word w of place e of a task begins at group task.list + w each + e */
    void *memory, *list_memory; /* where they are */
};

/* TRS_OK, TRS_EMEM, TRS_EDEVICE; TRS_ESUPPORT without a sentence: it would be too large. */
int row_schedule_make(trs_context *ctx, const trs_elimination_pattern *p, row_shape shape,
                      row_schedule *s);
void row_schedule_free(trs_context *ctx, row_schedule *s);
int64_t row_schedule_bytes(const row_schedule *s);

struct row_data {
    row_schedule schedule;
    void *numbers; /* [schedule.numbers] */
    int blocks;
};

row_shape row_shape_for(const trs_elimination_pattern *p, const elimination_shape *s);
/* row_elimination.create with a shape of the caller's. */
int row_create(trs_context *ctx, const trs_elimination_pattern *p, row_shape shape, void **data);

#endif
