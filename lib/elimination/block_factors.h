/* block_factors.h: incomplete factors by square blocks on a device: their numbers, and solves with them.
 *
 *     row i of blocks    | l(i, k), k < i |  d(i)^-1  | u(i, j), j > i |     each b x b
 *
 * lib/factor/incomplete/ilu_blocks.h defines M and its blocks, and makes the pattern on the host.  cuda/block_factors implements
 * this. */
#ifndef TRS_BLOCK_FACTORS_H
#define TRS_BLOCK_FACTORS_H

#include "elimination.h"
#include "matrix/operator.h"

typedef struct trs_block_factors trs_block_factors;

/* a(i, j) -= l(i, k) u(k, j) */
typedef struct trs_block_product {
    int32_t u;  /* which block u(k, j) is */
    int32_t to; /* which a(i, j) is among the blocks of row i: those of L, d(i), those of U */
} trs_block_product;

/* M, or M'.  All arrays are on the host. */
typedef struct trs_block_triangles {
    /* [n+1] each: row i has the blocks begin [0][i] .. begin [0][i+1] - 1 of L, begin [0][n] + i of D, and begin [1][i] ..
     * begin [1][i+1] - 1 of U */
    const int64_t *begin[2];
    const int32_t *idx;      /* [count] columns */
    const int32_t *level[2]; /* [n] of each row of L, and of U, from 0 */
} trs_block_triangles;

typedef struct trs_block_pattern { /* the arrays are on the host; new reads them */
    int b;                         /* 1 .. 8 */
    int32_t n;                     /* rows of blocks, at least 1 */
    int64_t count;                 /* blocks, less than 2^31 */
    trs_dtype dtype;
    bool diagonal_only; /* DILU: products are added to d(i) alone, and L stays as it is in A */
    /* IC(0): a(i, k) is u(k, i)^H, the u of its first product, and only D and U have numbers of A, which are those of conj (A);
     * below the diagonal of d(i) there are none */
    bool cholesky;
    /* [count*b*b], cholesky: without L: places in the values of A; TRS_SRC_MISSING: it is zero */
    const int64_t *src;
    /* [blocks of L + 1] block p of L has the products step [p] .. step [p+1] - 1 */
    const int64_t *step;
    const trs_block_product *product;
    trs_block_triangles side[2]; /* M, and M', whose begin [0] is NULL if no solve asks for it */
    const int64_t *from;         /* [count] which block of M is transposed to each of M' */
} trs_block_pattern;

typedef struct trs_block_job {
    const void *a;       /* the values of A, on the device */
    void *val;           /* [count*b*b] the factors, on the device */
    double shift, boost; /* as in trs_ilu_options */
    /* on the device: rows are those of blocks, largest_a is 0 or Inf, largest 0 */
    trs_elimination_outcome *outcome;
    void *stream;
} trs_block_job;

typedef struct trs_block_solve {
    bool conj; /* the conjugates of B and X are meant */
    int nrhs;
    bool transposed; /* with M' */
    const void *val; /* as in trs_block_job */
    void *work;      /* [2*n*b] numbers on the device: scratch of one solve at a time */
    trs_view b, x;   /* x may be b */
    void *stream;
} trs_block_solve;

/* Copy a pattern to the device and make its schedules.  It waits.
 * Returns TRS_OK, or with *f = NULL TRS_EMEM, TRS_EDEVICE. */
int trs_gpu_blocks_new(trs_context *ctx, const trs_block_pattern *p, trs_block_factors **f);
void trs_gpu_blocks_free(trs_block_factors *f); /* f may be NULL */
/* Compute the factors, and those of M'.  It only enqueues work, so it can be captured; one run at a time.  The same input
 * gives the same bits.  Returns TRS_OK, TRS_EDEVICE. */
int trs_gpu_blocks_factor(trs_block_factors *f, const trs_block_job *job);
/* X = M^-1 B, or M'^-1 B.  It only enqueues work.  The same input gives the same bits.  Returns TRS_OK, TRS_EDEVICE. */
int trs_gpu_blocks_solve(const trs_block_factors *f, const trs_block_solve *s);

#endif
