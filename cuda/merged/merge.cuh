/* merge.cuh: levels made one with those before them: a pass (merge.cu). */
#ifndef TRS_MERGE_CUH
#define TRS_MERGE_CUH

#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "cuda/dataflow/flow.h"
}

enum {
    MERGE_PASSES = 6, /* at most */
    MERGE_TIMES = 8,  /* entries of all passes together, for one of T, at most, and */
    MERGE_FEW = 1 << 20
};
enum {
    MERGE_ROOM = 96, /* entries that a row may be made of */
    MERGE_MOST = 24, /* rows put in for it */
};

/* What a hop is worth on an H200, measured: so many entries more, of rows that a warp has room for, whose columns lie
 * together; an entry of a longer one costs as much as several; and a product, in hops.  They are not the machine's
 * costs, because the bits of x go by what is merged. */
static const double MERGE_ENTRIES = 7e4;
enum { MERGE_LONG_PRICE = 5 };
/* Items of the long rows of a level, beyond which it is not worth looking how many columns they have. */
enum { MERGE_LEVEL_ITEMS = 5000000 };
static inline double merge_product_hops(double n)
{
    return 5 + n / 1.2e5;
}

/* A row of T' too long for what a warp has room for (merge_long.cu). */
struct merge_row {
    int32_t row, rows; /* of T; put in for entries of it */
    int32_t items;   /* entries that it is made of, those that others are put in for counted, too */
    int32_t columns; /* of T', without the diagonal */
    int64_t slot;    /* its first in the slots; -1: its level is not merged */
};

/* M and T' = M T, of T; arrays on the device. */
struct merging {
    trs_pattern from, to;
    const int32_t *number; /* [from.levels] of each level in T'; while M is made */
    int64_t *to_ptr;
    int32_t *to_idx, *to_level;
    void *val;    /* [to.nnz] */
    int64_t *ptr; /* [n+1] of N = I - M */
    int32_t *idx;
    void *n_val; /* of -N */
    int64_t nnz;
    void *lines, *entries;  /* that the others are in */
    int32_t longs, largest; /* rows, in any order; the most items of one */
    merge_row *long_row;
    int32_t *slot; /* of each of their items: which entry of T' it is added to; -1: to none */
    int32_t wides; /* rows of which N has more than MERGE_MOST entries, in any order */
    int32_t *wide;
};

struct merge_tally { /* of a level */
    int64_t adds;    /* entries, of N too, at their price */
    int64_t items;   /* of its long rows */
    int32_t stay;    /* rows that cannot be merged */
};

/* Is level l made one with the one before? */
static __device__ inline bool merges(const merging &m, int32_t l)
{
    return l > 0 && m.number[l] == m.number[l - 1];
}

/* Of all rows: the largest sum of magnitudes of N that is more than 1. */
__device__ inline void merge_grows(uint64_t *growth, double sum)
{
    if (!(sum <= 1))
        atomicMax((unsigned long long *)growth, (unsigned long long)__double_as_longlong(sum));
}

struct merge_longs {
    int32_t count, largest; /* rows; items of one */
};

struct merge_counts { /* in one block that begins with longs */
    merge_longs *longs;
    merge_tally *of; /* [levels] */
};

/* What passes are decided on, one after the other. */
struct merge_desk {
    void *host, *device;
    merge_counts here, there;
    int32_t *to, *number; /* [levels] of each level in T', on the host and on the device */
};

/* For patterns of at most so many levels; d is zero before; whatever comes of it, free it. */
int merge_desk_new(trs_context *ctx, int64_t levels, merge_desk *d);
void merge_desk_free(trs_context *ctx, merge_desk *d);

/* Levels l with l % 2 == *odd with those before, where that is worth it; when it is for none, the others, and *odd
 * says so.  m->to.levels is 0 when it is for neither, or when T' and N would have more than most entries, at their
 * price.  m is zero before; whatever comes of it, free it. */
int merge_new(trs_context *ctx, const merge_desk *d, const trs_pattern *from, int *odd,
              int64_t most, trs_dtype t, merging *m);
void merge_free(trs_context *ctx, merging *m);
/* From values of T on the device to m->val and m->n_val; growth, on the device and 0 before: the bits of the
 * largest sum of a row of N that is more than 1, infinity where T' has a number that is not finite, or T a diagonal
 * that is far from 1. */
int merge_take(const merging *m, trs_dtype t, const void *val, uint64_t *growth, void *stream);
/* to = M from, which may be the same, of all columns of the job (merge_product.cu). */
int merge_product(const merging *m, trs_dtype t, const trs_job *job, trs_view from, trs_view to);

/* ---- what a solve takes (merge_cost.cu) ---- */

struct merge_outcome { /* T', and how many passes have made it */
    double levels, nnz, passes;
};

/* Before the analysis, of what the passes will probably do. */
void merge_cost(const trs_shape *s, const trs_machine *m, trs_cost *c);
void merge_cost_of(const trs_shape *s, const merge_outcome *o, const trs_machine *m, trs_cost *c);

/* ---- rows that a warp has no room for (merge_long.cu) ---- */

enum { MERGE_LONG_ROWS = 2048 /* put in for one */, MERGE_LONG_ITEMS = 1 << 20 };

/* columns of the long rows, which are in m->long_row, and what they add to their levels, at their price and times
 * every. */
int merge_long_count(trs_context *ctx, const merging *m, int every, merge_tally *of);
/* m->to_ptr and m->ptr of those in levels that are merged, before they are summed up; m->slot and m->wide. */
int merge_long_place(trs_context *ctx, merging *m);
/* Their columns in T' and N. */
int merge_long_fill(trs_context *ctx, const merging *m);
int merge_long_take(const merging *m, trs_dtype t, const void *val, uint64_t *growth,
                    cudaStream_t stream);

#endif
