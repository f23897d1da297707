/* flow.h: the schedule of cuda-dataflow: a lower triangle as nodes, in the order of their computation by warps.
 *
 * A node computes one number y (k).  It is a row of the triangle, or a partial sum of a row that is long:
 *
 *        row        y (k) = (b (i) - sum of val (q) y (idx (q))) / diagonal     q = ptr (k) ... ptr (k+1) - 1
 *        partial    y (k) =          sum of val (q) y (idx (q))
 *
 * idx (q) is the node that entry q multiplies, its operand.  The first operands of a row that was cut are its
 * partial sums, with the value 1.  Nodes are ordered by level, then by how many lanes of a warp compute them,
 * then by row; the level of a partial sum is between those of its operands and that of its row.  So every
 * operand comes before the node that needs it, and nodes of one level with the same number of lanes are
 * adjacent.  A task is the group of these that one warp computes at a time:
 *
 *        node     0 .. 31 | 32 .. 40 | 41 .. 60 | 61 .. 76 | 77 .. 79 | 80 | 81 ..
 *        level    0       | 0        | 1        | 1        | 1        | 1  | 2
 *        lanes    1       | 1        | 1        | 2        | 2        | 32 | 1
 *        task     0       | 1        | 2        | 3        | 4        | 5  | 6
 *
 * The schedule is made on the device from the pattern alone (flow.cu, flow_sort.cu), so that x has the same
 * bits in every solve, and values are rearranged into its order there. */
#ifndef TRS_FLOW_H
#define TRS_FLOW_H

#include "solvers/solver.h"

#include <stdlib.h>

enum {
    TRS_FLOW_BATCH = 4,     /* entries that a lane has in flight at a time */
    TRS_FLOW_PARTIAL = 256, /* entries of a partial sum; rows of more than twice as many are cut */
    TRS_FLOW_WARP = 32,
    /* a triangle is wide if its levels have at least as many rows on average, and no row has more entries
     * left of the diagonal: a lane then has a row to itself (wide.cu) */
    TRS_FLOW_WIDE_ROWS = 400,
    TRS_FLOW_WIDE_LONGEST = 32,
};

/* What a warp computes at a time: the nodes first ... first + count - 1. */
typedef struct trs_flow_task {
    int32_t first;
    int16_t count; /* count * lanes is at most a warp */
    int16_t lanes; /* that compute a node together: 1, 2, 4, ... 32 */
} trs_flow_task;

/* Whether a lane has a row to itself; longest: entries of the longest row, the diagonal included, 0 if that is not
 * known.  Tests lower the first limit by the environment variable TRISOLVE_WIDE_ROWS. */
static inline bool trs_flow_is_wide(int64_t n, int64_t levels, int64_t longest)
{
    const char *other = getenv("TRISOLVE_WIDE_ROWS");
    const int64_t rows = other ? atoi(other) : TRS_FLOW_WIDE_ROWS;
    return n >= levels * rows && longest > 0 && longest <= TRS_FLOW_WIDE_LONGEST + 1;
}

/* The arrays are on the device.  source says where the entries of the triangle are that a node multiplies,
 * those of a row with the diagonal behind them: s >= 0: entries s, s + 1, ... of the triangle;  s < 0: those
 * that sorted[~s], sorted[~s + 1], ... name, since the row is long.  In a wide triangle each row's operands are
 * sorted, so that those that come last are the last: operand q is entry s + order[q]. */
typedef struct trs_flow {
    int32_t nodes, tasks, levels;
    bool wide;         /* every task has one lane a node, no row is cut, operands are sorted */
    bool scattered;    /* as the pattern says */
    int32_t most;      /* wide: operands of the task that has most of them */
    int64_t nnz;       /* operands of all nodes */
    int64_t *ptr;      /* [nodes+1] operands of node k: ptr[k] .. ptr[k+1]-1 */
    int32_t *idx;      /* [nnz] node whose number the operand is */
    uint8_t *order;    /* [nnz] wide: which entry of its row the operand multiplies */
    uint16_t *within;  /* [nodes] wide: operands of the nodes of its task before node k */
    int32_t *row;      /* [nodes] row of the triangle; -1: a partial sum */
    int32_t *partials; /* [nodes] how many of its operands, the first ones, are partial sums */
    int64_t *source;   /* [nodes] */
    int64_t *sorted; /* [sorted_count] entries of the triangle in long rows, each row's by level */
    int64_t sorted_count;
    int *divides;        /* [1] 1: of the last values a diagonal was kept as it is (divide.cuh) */
    trs_flow_task *task; /* [tasks] in the order in which they are given out */
    void *memory;        /* where the arrays are, but for sorted and task */
} trs_flow;

/* Of a lower triangle on the device, by rows, the diagonal last in each. */
typedef struct trs_pattern {
    int32_t n, levels;
    int64_t nnz;
    const int64_t *ptr;   /* [n+1] */
    const int32_t *idx;   /* [nnz] */
    const int32_t *level; /* [n] of each row */
    int64_t longest; /* entries of the longest row; 0: not known, as after a rewriting of levels */
    bool parted;     /* a part of a triangle (cuda/peers), whose flow is always wide */
    bool
        scattered; /* most entries are in columns near which the row before has none, as far as that is known */
} trs_pattern;

/* Of an operator whose pattern and levels are on the device (trs_operator_device). */
trs_pattern trs_pattern_of(const trs_operator *op);

/* level [n] of each row, on the device, which is what p has: becomes the middle between the earliest level that
 * the row may have, which p has, and the latest one, if enough rows have a choice; else it stays
 * (flow_slack.cu).
 * TRS_OK, TRS_EMEM, TRS_EDEVICE. */
int trs_flow_slack(trs_context *ctx, const trs_pattern *p, int32_t *level);

/* Entries of rows that are longer than what a warp has in flight, by level (flow_sort.cu).  sorted [count]:
 * entries of the triangle, row by row, the diagonal last in each; those of row i begin at begin[i], which is -1
 * for other rows.  Both stay NULL where no row is so long; else they are the caller's to free, whatever is
 * returned. */
int trs_flow_sort(trs_context *ctx, const trs_pattern *p, int64_t **begin, int64_t **sorted,
                  int64_t *count);

/* It waits, but not for the end of all work that it enqueues on the default stream. */
int trs_flow_make(trs_context *ctx, const trs_pattern *p, trs_flow *f);
/* Values of the triangle, on the device, in the order of the schedule: val [nnz]; inv [nodes] what is kept of
 * the diagonal.  A partial sum is made as a row is, with b = 0; since (0 - sum) (-1) = sum, its inv is -1. */
int trs_flow_take(const trs_flow *f, trs_dtype t, const void *from, void *val, void *inv,
                  void *stream);
/* What a flow that was made has on the device. */
int64_t trs_flow_bytes(const trs_flow *f);
void trs_flow_free(trs_context *ctx, trs_flow *f);

#endif
