/* ilu.h: the rows of an incomplete factorisation, and the sweep over them that computes it.
 *
 *     row i of ILU(k)    | l(i, k), k < i | u(i, i) | u(i, j), j > i |
 *                        ^ ptr [i]        ^ diag [i]                  ^ ptr [i+1]
 *     row i of IC(k)     | l(i, k), k < i | l(i, i) | */
#ifndef TRS_ILU_H
#define TRS_ILU_H

#include "core/plan.h"
#include "elimination/elimination.h"
#include "base/parallel.h"

enum { TRS_ILU_THREADS = 16 }; /* at most, for each has an array of n integers */

/* Columns ascend in every row, and every row has its diagonal entry. */
typedef struct trs_ilu_rows {
    bool cholesky;
    double shift, boost; /* as in trs_ilu_options */
    trs_tri t;           /* the trs_lu frees ptr, idx and val with its factors; the rows own src */
    int64_t *diag;       /* [n] where the diagonal entry of each row is */
    int threads;         /* 1 .. TRS_ILU_THREADS */
    int32_t *where;      /* [n*threads] all zero between rows: see ilu_rows.c */
    const int32_t *topo; /* [n] level order of L, from its plan */
    int32_t stages;
    trs_level_stage *stage;       /* [stages] */
    trs_stage_progress *progress; /* [stages+1] */
} trs_ilu_rows;

/* Cut the levels into stages; f->threads is 1 if there is little to do.  TRS_OK, TRS_EMEM. */
int trs_ilu_stages(trs_context *ctx, trs_ilu_rows *f, const int32_t *topo, const int32_t *lv_ptr,
                   int32_t levels);

/* The code and the sentence for a bad pivot in row k of the factors; missing: A has no diagonal entry there. */
int trs_ilu_say_fault(const trs_lu *lu, int64_t k, trs_ilu_fault fault, bool missing);

typedef struct trs_ilu_outcome {
    int64_t first;       /* row of the first bad pivot, n: there is none */
    trs_ilu_fault fault; /* what is wrong with it */
    int64_t bad;         /* rows with a bad pivot */
    int64_t boosted;     /* how many pivots were replaced */
} trs_ilu_outcome;

/* Rows that are factored level by level. */
typedef struct trs_ilu_sweep {
    int32_t n;
    const int32_t *topo; /* [n] level order */
    int32_t stages;
    const trs_level_stage *stage; /* [stages] */
    trs_stage_progress *progress; /* [stages+1] */
    int threads;
    const void *of; /* what row and work are called with */
    /* factors row i */
    trs_ilu_fault (*row)(const void *of, int thread, int32_t i, int64_t *boosted);
    /* about how many multiplications that takes */
    int64_t (*work)(const void *of, int32_t i);
} trs_ilu_sweep;

/* Factor all rows, each by one thread.  A canceled call returns early (trs_canceled). */
trs_ilu_outcome trs_ilu_sweep_run(const trs_ilu_sweep *s);

/* Compute the factors.  t.val holds A before, and the factors afterwards.  Each row is computed by one thread in one order,
 * so that its bits do not depend on the number of threads. */
trs_ilu_outcome trs_ilu_compute(const trs_ilu_rows *f);

#endif
