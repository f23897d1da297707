/* merge.cuh: shared by the files of a pass: the steps that make it, and device functions.
 *
 * merge_count.cu    counts the fill of each level, and decides which levels are merged
 * merge_pattern.cu  makes the patterns of T' and N merge_values.cu   their values merge_recipe.cu
 * the values of passes that change often merge_long.cu, merge_long_values.cu   the same for long
 * rows */
#ifndef TRS_MERGE_CUH
#define TRS_MERGE_CUH

#include "base/debug.h"
#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "merge.h"
}

/* Is level l merged with the one before? */
static __device__ inline bool is_merged(const int32_t *new_level, int32_t l)
{
    return l > 0 && new_level[l] == new_level[l - 1];
}

/* Of all rows: the largest sum of magnitudes of N that is more than 1; a NaN comes out as the largest. */
__device__ inline void raise_growth(uint64_t *growth, double sum)
{
    if (!(sum <= 1)) atomic_larger((double *)growth, sum);
}

/* ---- steps of a pass ---- */

/* m->to.levels, 0 when no pass is worth it, s->new_level, and what of the rows was counted on the way; *odd as for
 * merge_pass_new. */
int merge_decide(trs_context *ctx, merge_survey *s, int *odd, int64_t most, merge_pass *m);

/* The values of all rows but long ones, of a pass that has a recipe. */
int merge_recipe_values(const merge_pass *m, trs_dtype t, const void *val, uint64_t *growth,
                        cudaStream_t stream);

/* ---- long rows ---- */

/* m->long_row, in memory that is made for it, and the device's totals and long_terms, of the rows that the survey has
 * listed; every: only every so many-th row of T was looked at.  A level with a row that is too long is fixed. */
int merge_long_list(trs_context *ctx, const int32_t *list, int every, const merge_survey *s,
                    merge_pass *m);
/* Their columns, and on the device what they add to the levels that are not fixed. */
int merge_long_count(trs_context *ctx, int every, const merge_survey *s, const merge_pass *m);
/* s->to_count and s->n_count of those in merged levels, m->target and m->block_row. */
int merge_long_place(trs_context *ctx, const merge_survey *s, merge_pass *m);
/* Their columns in T' and N, and what m->target holds. */
int merge_long_fill(trs_context *ctx, const merge_pass *m);
int merge_long_values(const merge_pass *m, trs_dtype t, const void *val, uint64_t *growth,
                      cudaStream_t stream);

#endif
