/* rows.cuh: the schedule of the row kernel: the entries and the products of each lane.
 *
 * A node is up to `rows` consecutive rows that have the same columns, as in a BSR matrix or a mesh with several
 * unknowns a vertex; mostly it is one row.  A task is the work of a warp at a time: 32 / lanes nodes of one level.
 * Each node has `lanes` lanes, and each lane `each` places, so that column q of the node, counted from its first one,
 * is at place q / lanes of lane q % lanes, in every row of it.  With lanes = 4, each = 2, of a node of one row:
 *
 *        entry   0 1 2 3 4 5 6         l l l d u u u       place 0   lane 0..3   l l l d
 *                                                          place 1   lane 0..3   u u u .
 *
 * U is copied to an array of numbers that are their own flags, in the order of the tasks.  Each row begins with the
 * stored form of its pivot, 1/u(k,k) u(k,j) u(k,j') ..., and the rows of a node are stored as a rectangle whose lower
 * triangle is unused:
 *
 *        1/u u   u   u   u         rows k, k + 1, k + 2 of a node,
 *         .  1/u u   u   u         whose numbers are `stride` apart
 *         .   .  1/u u   u
 *
 * The list has a byte for each place and each column k of the node left of its first row, four of these to a word: 0:
 * nothing; 1: the place has column k itself; 1 + m: it has column j, and number m of row k is u(k, j). */
#ifndef TRS_ELIMINATION_ROWS_CUH
#define TRS_ELIMINATION_ROWS_CUH

#include "kernels.cuh"
#include "pivots.cuh"

enum { ROW_WARP = 32, ROW_THREADS = 128 /* of a block */, ROW_BATCH = 4 /* entries of a word */ };

struct row_shape {
    int lanes; /* of a node: a power of 2 */
    int each;  /* places of a lane */
    int rows;  /* of a node, at most */
};

enum { ROW_MOST_ROWS = 4 /* of a node */ };

struct row_node {
    int32_t row, rows;    /* the first one, and how many; rows 0: none */
    int32_t diag, stride; /* columns left of the first row; all others */
};

struct row_task {
    int32_t list;  /* where its words are, in groups of 32 */
    int32_t lower; /* the largest diag of its nodes */
};

/* What is at a place.
 *     a        in each row: which number of A, MARKED: conjugated; NOTHING: zero
 *     to       in each row: which number of val; NOTHING: nowhere
 *     number   of column k left of the node where the pivot of row k is; of another one row_own () of where that of the
 *              first row is; NOTHING: there is no column */
enum : int32_t { ROW_NOTHING = -1, ROW_MARKED = 1 << 30, ROW_MOST = ROW_MARKED - 1 };

/* Negative, and not NOTHING; and back. */
__host__ __device__ inline int32_t row_own(int32_t number)
{
    return ROW_NOTHING - 1 - number;
}

/* The arrays are on the device. */
struct row_schedule {
    row_shape shape;
    int32_t tasks;
    int64_t numbers, list_groups;
    int32_t *a, *to; /* [tasks*rows*each*32] of each row and place */
    int32_t *number; /* [tasks*each*32] of each place */
    row_node *node;  /* [tasks*32/lanes] */
    row_task *task;  /* [tasks] */
    /* [list_groups*32]: word w of place e of a task is group task.list + w each + e */
    uint32_t *list;
    void *memory, *list_memory; /* where they are */
};

/* TRS_OK, TRS_EMEM, TRS_EDEVICE; TRS_ESUPPORT without a sentence: it would be too large. */
int row_schedule_make(trs_context *ctx, const trs_elimination_pattern *p, row_shape shape,
                      row_schedule *s);
void row_schedule_free(trs_context *ctx, row_schedule *s);

/* The argument of a kernel. */
template <class T> struct row_args {
    row_schedule s;
    pivot_rules rules;
    const double *scale; /* [n] NULL: 1 */
    const T *a;
    T *val;
    T *number; /* [s.numbers] all bits set before */
};

struct row_data {
    row_schedule schedule;
    void *numbers; /* [schedule.numbers] */
    int64_t number_bytes;
    int blocks;
};

/* row_elimination.create with a shape of the caller's. */
int row_create(trs_context *ctx, const trs_elimination_pattern *p, row_shape shape, void **data);

#endif
