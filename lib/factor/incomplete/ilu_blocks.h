/* ilu_blocks.h: incomplete factors of a matrix of square blocks, with solves by blocks.
 *
 *     row i of blocks    | l(i, k), k < i |  d(i)  | u(i, j), j > i |     each b x b
 *
 *     ILU(0)    M = (I + L) (D + U)             L U = A at the blocks of A
 *     IC(0)     the same, for A = A^H: U = D L^H, so only D and U are computed
 *     DILU      M = (D + L) D^-1 (D + U)        L and U are those of A; only D is computed, with diag (M) = diag (A)
 *     Jacobi    M = D                           ILU(0) of the diagonal blocks of A
 *
 * The inverses of d(i) are stored.  Blocks of L are stored row by row, then those of D, then those of U, each by columns.
 * IC(0) reads the lower triangle of A alone: its numbers come to their transposed places in D and U, as those of conj (A). */
#ifndef TRS_ILU_BLOCKS_H
#define TRS_ILU_BLOCKS_H

#include "ilu.h"

enum { TRS_BLOCK_MOST = 8 };

/* The order in which threads share the rows of L, or of U. */
typedef struct trs_ilu_block_levels {
    int32_t *topo; /* [n] rows of blocks in level order */
    int32_t stages;
    trs_level_stage *stage; /* [stages] */
} trs_ilu_block_levels;

/* M, or its transpose, which has the same form: a lower and an upper triangle of blocks, and D between. */
typedef struct trs_ilu_block_side {
    /* [n+1] each: row i has the blocks begin [0][i] .. begin [0][i+1] - 1 of L, begin [0][n] + i of D, and begin [1][i] ..
     * begin [1][i+1] - 1 of U */
    int64_t *begin[2];
    /* [blocks] columns, ascending in every row of L and of U; those of D of M' are not set */
    int32_t *idx;
    /* [blocks*b*b], and as many zeros as a vector that begins in the last number reads behind */
    void *val;
    trs_ilu_block_levels levels[2];
} trs_ilu_block_side;

typedef struct trs_ilu_blocks {
    int b;     /* 1 .. TRS_BLOCK_MOST */
    int32_t n; /* rows of blocks */
    int64_t count;
    trs_dtype dtype;
    bool diagonal_only; /* DILU */
    bool cholesky;      /* IC(0) */
    double shift, boost;
    /* [(count-f)*b*b] as trs_tri.src: places in the caller's val, from block f = trs_ilu_blocks_read on */
    int64_t *src;
    /* [blocks of L] cholesky: which block of U is (k, i), for block (i, k) of L; else NULL */
    int64_t *twin;
    trs_ilu_block_side side[2]; /* M, and M', which is empty unless the options announce it */
    int64_t *from;              /* [count] which block of M is transposed to each of M' */
    int threads;
    int64_t *where; /* [n*threads] all zero between rows */
    trs_stage_progress *progress;
} trs_ilu_blocks;

/* The first block that has numbers of A: IC(0) has none in L. */
static inline int64_t trs_ilu_blocks_read(const trs_ilu_blocks *m)
{
    return m->cholesky ? m->side[0].begin[0][m->n] : 0;
}

/* The block size of the rows t of A, or of its lower triangle: the largest b <= TRS_BLOCK_MOST, with t->n a multiple, for which
 * blocks of b x b numbers that have an entry have nine tenths of their b^2 entries in the mean; 1: there is none; 0: there is
 * no memory, and a sentence. */
int trs_ilu_block_size(trs_context *ctx, const trs_tri *t, bool lower);
/* Make m of the pattern t, whose rows have ascending columns and their diagonal entry; cholesky: it is a lower triangle.  b, dtype,
 * diagonal_only, cholesky, shift, boost and threads are set, all else is zero.  diagonal: of the pattern only the diagonal
 * blocks stay.  transposed: with M', which is conj (M) of IC(0), and not made for it.
 * Returns TRS_OK, TRS_EMEM.  The caller frees m. */
int trs_ilu_blocks_make(trs_context *ctx, const trs_tri *t, bool diagonal, bool transposed,
                        trs_ilu_blocks *m);
/* Free the arrays; the numbers of rows and blocks stay. */
void trs_ilu_blocks_free(const trs_memory *mem, trs_ilu_blocks *m);
/* level [n] of each row of L (h = 0), or of U (h = 1), from 0; returns how many there are. */
int32_t trs_ilu_block_levels_of(const trs_ilu_blocks *m, const trs_ilu_block_side *s, int h,
                                int32_t *level);
/* The code and the sentence for a bad diagonal block in row k of blocks. */
int trs_ilu_say_block_fault(const trs_lu *lu, const trs_ilu_blocks *m, int64_t k,
                            trs_ilu_fault fault);
/* Take the caller's values.  TRS_OK, or TRS_EMATRIX: one is not finite. */
int trs_ilu_blocks_values(const trs_context *ctx, trs_ilu_blocks *m, const void *val);
/* Compute the factors of these values. */
trs_ilu_outcome trs_ilu_blocks_factor(const trs_context *ctx, const trs_ilu_blocks *m);

/* Numbers of progress that a solve needs. */
int64_t trs_ilu_blocks_progress(const trs_ilu_blocks *m);
/* X = op(M)^-1 B.  progress: scratch; two solves at a time need two of them. */
void trs_ilu_blocks_solve(const trs_ilu_blocks *m, trs_op op, int nrhs, trs_view b, trs_view x,
                          int threads, trs_stage_progress *progress);

/* ---- the loops for each type and size (block_rows.c) ------------------------------------------- */

/* How a row ends, with s = sum of l(i, k) x(k), or of u(i, k) x(k). */
typedef enum trs_ilu_block_end {
    TRS_BLOCK_PLAIN, /* x(i) = b(i) - s */
    TRS_BLOCK_SCALE, /* x(i) = d(i)^-1 (b(i) - s) */
    TRS_BLOCK_ADD    /* x(i) = b(i) - d(i)^-1 s */
} trs_ilu_block_end;

typedef struct trs_ilu_block_sweep { /* through one triangle */
    const trs_ilu_blocks *m;
    const trs_ilu_block_side *side;
    int upper;            /* 0: of L; 1: of U, from the last row on */
    const int32_t *order; /* of the rows; NULL: as they stand */
    trs_ilu_block_end end;
    bool conj;
    int nrhs;
    trs_view b, x;
} trs_ilu_block_sweep;

void trs_ilu_block_rows(const trs_ilu_block_sweep *s, int32_t begin, int32_t end);
/* Factor row i. */
trs_ilu_fault trs_ilu_block_factor_row(const trs_ilu_blocks *m, int thread, int32_t i,
                                       int64_t *boosted);
/* Transpose the blocks from [p] of M to the blocks begin <= p < end of M'. */
void trs_ilu_block_transpose(const trs_ilu_blocks *m, int64_t begin, int64_t end);
/* The first block with a number that is not finite; count: there is none. */
int64_t trs_ilu_block_infinite(const trs_ilu_blocks *m);

#endif
