/* merge.cuh: levels made one with those before them: a pass (merge.cu). */
#ifndef TRS_MERGE_CUH
#define TRS_MERGE_CUH

#include "cuda.cuh"

extern "C" {
#include "flow.h"
}

enum { MERGE_ROOM = 96 /* entries that a row may be made of */ };

/* What a hop is worth on an H200, measured: so many entries more; and a product, in hops.  They are not the
 * machine's costs, because the bits of x go by what is merged. */
static const double MERGE_ENTRIES = 1e5;
static inline double merge_product_hops(double n)
{
    return 5 + n / 1.2e5;
}

/* M and T' = M T, of T; arrays on the device. */
struct merging {
    trs_pattern from, to;
    unsigned char *merged; /* [from.levels] with the level before? */
    int64_t *to_ptr;
    int32_t *to_idx, *to_level;
    void *val;    /* [to.nnz] */
    int64_t *ptr; /* [n+1] of N = I - M */
    int32_t *idx;
    void *n_val; /* of -N */
    int64_t nnz;
};

/* Levels l with l % 2 == odd with those before, where that is worth it; m->to.levels is 0 when it is for none, or
 * when T' and N would have more than most entries.  m is zero before; whatever comes of it, free it. */
int merge_new(trs_context *ctx, const trs_pattern *from, int odd, int64_t most, trs_dtype t,
              merging *m);
void merge_free(trs_context *ctx, merging *m);
/* From values of T on the device to m->val and m->n_val; growth, on the device and 0 before: the bits of the
 * largest sum of a row of N that is more than 1. */
int merge_take(const merging *m, trs_dtype t, const void *val, uint64_t *growth, void *stream);
/* to = M from, which may be the same, of all columns of the job. */
int merge_product(const merging *m, trs_dtype t, const trs_job *job, trs_view from, trs_view to);

#endif
