/* lu_batch.h: L U = R A(P, Q) for many matrices A of one pattern, with the pivots of one of them, and solves with the factors.
 *
 *     a trs_lu, A --pattern.c--> rows of L + U, places of A(P, Q), once
 *     values of each A --factor.c--> L, U, and what is wrong with them --solve.c--> X of each system
 *
 * A group is trs_lanes (t) systems side by side.  A vector has the same entry of all systems of its group. */
#ifndef TRS_LU_BATCH_H
#define TRS_LU_BATCH_H

#include "base/device.h"
#include "matrix/operator.h"

enum {
    /* entries of L that are eliminated together, at most */
    TRS_LU_BATCH_RUN = 4,
    /* right-hand sides of a system that are solved at a time, at most */
    TRS_LU_BATCH_RHS = 4
};

typedef struct trs_lu_batch_rows {
    int32_t n;
    trs_dtype dtype;
    int64_t nnz;
    /* [n+1], [nnz] rows of L + U - I in the order of the pivots, in which columns ascend */
    int64_t *ptr;
    int32_t *idx;
    /* [n] the place of the diagonal entry of each row */
    int64_t *diag;
    /* [nnz] of an entry of L: it and so many - 1 behind it are eliminated together (factor.c) */
    unsigned char *run;
    /* entries of R A(P, Q), in the order in which A stores them */
    int64_t nnz_a;
    /* [nnz_a] their rows and columns */
    int32_t *a_row, *a_col;
    /* [nnz_a] place in the values of A << TRS_WHOLE_BITS | how (matrix/whole.h) */
    int64_t *a_from;
    /* [nnz_a] place in L + U - I; -1: none, of incomplete factors */
    int64_t *a_to;
    /* [n] each */
    int64_t *P, *Q;
    /* [n] R: scale(P(k)) */
    double *scale;
    /* the diagonal of A counts 1 + shift times in the factors */
    double shift;
    /* numbers in val of each A */
    int64_t numbers;
} trs_lu_batch_rows;

/* Make the rows for the pivots of lu.  A has the pattern, on the host.  Free *r, also after an error.
 * Returns TRS_OK, TRS_EMEM, TRS_EMATRIX. */
int trs_lu_batch_rows_make(trs_context *ctx, const trs_lu *lu, const trs_mat *A,
                           trs_lu_batch_rows *r);
void trs_lu_batch_rows_free(trs_context *ctx, trs_lu_batch_rows *r);

/* What is known of the factors of a system. */
typedef struct trs_lu_batch_outcome {
    /* row of A with the first bad pivot, from 0; -1: none */
    int64_t row;
    double growth;
    /* TRS_OK, TRS_EPIVOT, TRS_EGROWTH; TRS_ESTATE: there are no factors */
    int64_t code;
} trs_lu_batch_outcome;

/* A call: it factors, or solves, or both. */
typedef struct trs_lu_batch_job {
    const trs_lu_batch_rows *rows;
    const trs_systems *s;
    trs_lu_batch_outcome *outcome;
    /* [count] the codes of the factors that are kept, which others may follow; NULL: none are kept */
    int64_t *kept_code;
    double growth_limit;
    trs_op op;
    int nrhs;
    /* of the first system */
    trs_view b, x;
    /* the factors are written to those that are kept, or read from them */
    bool keeps;
    bool factors, solves;
} trs_lu_batch_job;

/* What a group needs besides the job: arrays of vectors. */
typedef struct trs_lu_batch_space {
    char *lu; /* [nnz] */
    /* [2n] the row that is computed, and the largest |u(k, j)| of each row k */
    char *row;
    char *y; /* [n*TRS_LU_BATCH_RHS] x in the order of the pivots */
    char *r; /* [2n] residuals, and the sizes of their terms */
} trs_lu_batch_space;

/* Is system k part of the job? */
static inline bool trs_lu_batch_has(const trs_systems *s, int64_t k)
{
    return k < s->count && (!s->mask || ((const unsigned char *)s->mask)[k]);
}

/* Do the factors that the job solves system k with suit it? */
static inline bool trs_lu_batch_suits(const trs_lu_batch_job *j, int64_t k)
{
    const int64_t code = j->keeps ? j->kept_code[k] : j->outcome[k].code;
    return code == TRS_OK || code == TRS_EGROWTH;
}

/* Factor the systems first .. first + lanes - 1 that are part of the job to lu [nnz]; the other lanes of lu are undefined.
 * By trs_wide (t) and type. */
typedef void (*trs_lu_batch_factor_fn)(const trs_lu_batch_job *j, int64_t first, char *lu,
                                       const trs_lu_batch_space *w);
extern const trs_lu_batch_factor_fn trs_lu_batch_factor[2][4];
/* Solve with the factors lu [nnz]. */
typedef void (*trs_lu_batch_solve_fn)(const trs_lu_batch_job *j, int64_t first, const char *lu,
                                      const trs_lu_batch_space *w);
extern const trs_lu_batch_solve_fn trs_lu_batch_solve_group[2][4];

#endif
