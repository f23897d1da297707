/* flow.h: a triangle cut into nodes for data-flow solvers, on the device (flow.cu).
 *
 * A node is a row, or a piece of a long one: the partial sum of some of its entries.  Nodes are
 * ordered by level, then by how many lanes of a warp they get, so that any schedule that takes them
 * in order can always go on. */
#ifndef TRS_FLOW_H
#define TRS_FLOW_H

#include "solvers/solver.h"

enum {
    TRS_FLOW_BATCH = 4,   /* entries a lane has in flight */
    TRS_FLOW_PIECE = 256, /* entries of a piece; rows with twice as many are cut */
    TRS_FLOW_WARP = 32,
};

typedef struct trs_flow_task { /* what a warp does at a time */
    int32_t first;             /* node */
    int16_t count;             /* nodes */
    int16_t lanes;             /* of a node: 1, 2, 4, ... 32 */
} trs_flow_task;

typedef struct trs_flow { /* arrays on the device */
    int32_t nodes, tasks, levels;
    int64_t nnz;
    int64_t *ptr;    /* [nodes+1] entries of each node, the diagonal left out */
    int32_t *idx;    /* [nnz] node that the entry multiplies */
    int32_t *row;    /* [nodes] row of the side; -1: a piece */
    int32_t *pieces; /* [nodes] its first entries are 1: the pieces of this row */
    int64_t *begin;  /* [nodes] the others are in the triangle from here on, the diagonal behind */
    int64_t *place; /* [places] of the entries of long rows, by level: where begin < 0, ~begin on */
    int64_t places;
    int *divides; /* 1: some diagonals are kept as they are (divide.cuh); of the last values */
    trs_flow_task *task; /* [tasks] in order */
    void *block;         /* that the others are in */
} trs_flow;

typedef struct trs_pattern { /* of a lower triangle on the device: the diagonal last */
    int32_t n, levels;
    int64_t nnz;
    const int64_t *ptr;   /* [n+1] */
    const int32_t *idx;   /* [nnz] */
    const int32_t *level; /* [n] of each row */
} trs_pattern;

/* Of a side, after trs_device_view_pattern. */
trs_pattern trs_pattern_of(const trs_operator *s);

/* level [n] of each row, on the device: half way between the earliest, which p has, and the latest that it may have,
 * where that makes a difference; else level stays as it is (flow_slack.cu).  TRS_OK, TRS_EMEM, TRS_EDEVICE. */
int trs_flow_slack(trs_context *ctx, const trs_pattern *p, int32_t *level);

/* For rows that a warp does not read at once: place, their entries by level and the diagonal behind them, those of row
 * i from at[i] on; -1 for other rows.  Both stay NULL where there are no such rows; else they are the caller's,
 * whatever is returned. */
int trs_flow_sort(trs_context *ctx, const trs_pattern *p, int64_t **at, int64_t **place,
                  int64_t *places);

int trs_flow_make(trs_context *ctx, const trs_pattern *p, trs_flow *f); /* waits */
/* Values of the triangle on the device in the order of the flow: val [nnz], inv [nodes] what is kept of the
 * diagonal; a piece is 0 - its sum, times -1. */
int trs_flow_take(const trs_flow *f, trs_dtype t, const void *from, void *val, void *inv,
                  void *stream);
void trs_flow_free(trs_context *ctx, trs_flow *f);

#endif
