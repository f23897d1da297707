/* ilu.h: the rows of an incomplete factorisation without fill, and the sweep that computes them. */
#ifndef TRS_ILU_H
#define TRS_ILU_H

#include "core/plan.h"
#include "base/parallel.h"

enum { TRS_ILU_THREADS = 16 }; /* at most: each has an array of n numbers */

/* Columns ascend in every row, and every row has its diagonal.  ILU(0): all rows of L + U - I;
 * IC(0): the rows of L, the diagonal last. */
typedef struct trs_ilu_rows {
    bool cholesky;
    double shift, boost; /* as in trs_ilu_options */
    trs_tri t;           /* [nnz]; val, ptr and idx are lent by the trs_lu, src is owned */
    int64_t *diag;       /* [n] place of the diagonal of each row */
    int threads;         /* 1 .. TRS_ILU_THREADS */
    int32_t *where;      /* [n*threads] all zero between rows */
    const int32_t *topo; /* [n] of L, the plan's */
    int32_t stages;
    trs_level_stage *stage; /* [stages] */
    trs_stage_progress *progress; /* [stages+1] */
} trs_ilu_rows;

/* Cut the levels into stages.  TRS_OK, TRS_EMEM. */
int trs_ilu_stages(trs_context *ctx, trs_ilu_rows *f, const int32_t *topo, const int32_t *lv_ptr,
                   int32_t levels);

typedef enum trs_ilu_fault {
    TRS_ILU_GOOD,
    TRS_ILU_ZERO,
    TRS_ILU_NEGATIVE,
    TRS_ILU_INFINITE
} trs_ilu_fault;

typedef struct trs_ilu_outcome {
    int64_t first; /* row of the first bad pivot, n: none */
    trs_ilu_fault fault;
    int64_t boosted; /* pivots replaced */
} trs_ilu_outcome;

/* Each row by one thread, in one order, whatever threads is.  t.val holds A, and holds the factors afterwards. */
trs_ilu_outcome trs_ilu_compute(const trs_ilu_rows *f);

#endif
