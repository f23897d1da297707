/* kernels.cuh: what the kernels of factors by blocks get, and where each type has them. */
#ifndef TRS_BLOCK_FACTORS_KERNELS_CUH
#define TRS_BLOCK_FACTORS_KERNELS_CUH

#include "cuda/runtime/cuda.cuh"
extern "C" {
#include "elimination/block_factors.h"
}

enum {
    WARP = 32,
    MOST = 8, /* rows of a block */
    FACTOR_THREADS = 128,
    SOLVE_THREADS = 256,
    NARROW = 16, /* lanes of a team, which has a row of blocks in solves */
    WIDE = 32
};

/* How a row ends, with s = sum of the products: as in lib/factor/incomplete/ilu_blocks.h. */
typedef enum block_end {
    END_PLAIN, /* y(i) = b(i) - s */
    END_SCALE, /* y(i) = d(i)^-1 (b(i) - s) */
    END_ADD    /* y(i) = b(i) - d(i)^-1 s */
} block_end;

template <class T> struct factor_args {
    int32_t n, longest;           /* longest: blocks of the longest row */
    const int32_t *order;         /* [n] rows by level of L */
    const int64_t *lower, *upper; /* begin [0], begin [1] of trs_block_triangles */
    const int32_t *idx;
    const int64_t *src, *step;
    const trs_block_product *product;
    const T *a;
    T *val;
    T *scratch; /* [warps*longest*b*b] for rows that shared memory does not hold; NULL: it does */
    bool diagonal_only, cholesky;
    double shift, boost;
    trs_elimination_outcome *outcome;
};

template <class T> struct solve_args {
    int32_t n;
    int64_t lower_tasks, tasks; /* those of L come first */
    const int32_t *order;       /* rows of the tasks; -1: a team has none */
    const int64_t *begin[2];
    const int32_t *idx;
    const T *val;
    block_end end[2];
    T *y[2]; /* what the two sweeps publish */
    view<T> b, x;
    bool conj; /* the conjugates of b and x are meant */
};

/* The kernels for blocks of b; wide: of teams with WIDE lanes. */
template <class T> const void *factor_kernel_of(int b);
template <class T> const void *solve_kernel_of(int b, bool wide);

#endif
