/* run_length.h: the pattern of a lower triangle, run-length encoded row by row.
 *
 * A run is a set of consecutive columns that all have an entry of the row.  With supernodes, runs are far fewer than
 * entries:
 *
 *     row 7:   x x x . . x x . x        columns 0 1 2 5 6 and the diagonal 8 are the runs [0,3), [5,7), [8,9)
 *
 * A row whose pattern is that of the row before plus its own diagonal shares the runs of that row.  The last run
 * always reaches the diagonal; trs_run_end therefore computes its end instead of reading it. */
#ifndef TRS_RUN_LENGTH_H
#define TRS_RUN_LENGTH_H

#include "base/arena.h"
#include "matrix/on_device.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct trs_run_row {
    const trs_run *run; /* [runs] ascending, the last one holds the diagonal */
    int32_t runs;
    bool same; /* the pattern is that of the row before plus the diagonal */
} trs_run_row;

typedef struct trs_run_pattern {
    int32_t n;
    int64_t entries;         /* of the triangle, the diagonal included */
    const int64_t *ptr;      /* [n+1] of the triangle */
    trs_run_row *row;        /* [n] */
    _Atomic uint8_t *differ; /* [n] 1: columns j and j+1 have different patterns below row j */
    int threads;             /* for work on all of it */
    trs_arena *arena;        /* [threads] holds the runs */
    trs_device_runs fetched; /* or this does, if the pattern was on the device only */
} trs_run_pattern;

/* Returns TRS_OK or TRS_EMEM; in both cases the caller frees what was made. */
int trs_run_pattern_make(trs_context *ctx, const trs_tri *t, trs_run_pattern *p);
/* The same of a pattern on the device, of which only the runs are copied; also TRS_EDEVICE. */
int trs_run_pattern_fetch(const trs_operator *op, trs_run_pattern *p);
void trs_run_pattern_free(trs_context *ctx, trs_run_pattern *p);

/* The end of run k of row i. */
static inline int32_t trs_run_end(const trs_run_pattern *p, int32_t i, int32_t k)
{
    return k + 1 < p->row[i].runs ? p->row[i].run[k].end : i + 1;
}

#endif
