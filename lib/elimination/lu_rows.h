/* lu_rows.h: the rows of L + U on a device, made there from the pattern of a matrix in any form, and the two
 * triangles separately.
 *
 *     row i of L + U     | l(i, k), k < i | u(i, i) | u(i, j), j > i |      what elimination.h works on
 *                        ^ ptr [i]        ^ diag [i]                  ^ ptr [i+1]
 *     L                  | l(i, k), k < i | 1 |                             what the plans read: canonical rows
 *     U                  | u(i, i) | u(i, j), j > i |
 *
 * For A = L L^H the lower triangle of A is read, the rows are those of L + L^H, and L is the only separate triangle.
 * cuda/factor implements it. */
#ifndef TRS_LU_ROWS_H
#define TRS_LU_ROWS_H

#include "elimination.h"

typedef struct trs_lu_rows { /* all arrays are on the device */
    int32_t n;
    bool cholesky;
    /* of L + U - I, of L and of U, diagonals included; cholesky: nnz_u = 0 */
    int64_t nnz, nnz_l, nnz_u;
    int64_t *ptr, *diag;      /* [n+1], [n] */
    int32_t *idx;             /* [nnz] ascending in every row */
    int64_t *src, *to;        /* [nnz] as in trs_elimination_pattern */
    unsigned char *conjugate; /* [nnz] likewise; NULL unless cholesky */
    int64_t *Lp, *Up;         /* [n+1]; cholesky: Up = NULL */
    int32_t *Li, *Ui;         /* [nnz_l], [nnz_u]; with Up, NULL after trs_gpu_lu_rows_join */
    int64_t first_u;          /* U's values begin at number first_u of the values of both */
    void *block, *apart;      /* the allocations; apart has Up, Li and Ui */
} trs_lu_rows;

/* Make the rows of the pattern of m, which is CSR, CSC or BSR, on the host or on the device of the context, in any order of
 * entries; its kind and its values are not looked at.  A diagonal entry that m does not have is added.
 *     const int64_t *src ; where m is: number src [p] of A is entry p of m; TRS_SRC_MISSING: it is zero before.
 *         NULL: p.
 * It waits.  Returns TRS_OK, TRS_EMEM, TRS_EDEVICE, or TRS_EMATRIX without a sentence if m is not well-formed or has an
 * entry twice. */
int trs_gpu_lu_rows(trs_context *ctx, const trs_mat *m, const int64_t *src, bool cholesky,
                    trs_lu_rows *rows);
void trs_gpu_lu_rows_join(trs_context *ctx, trs_lu_rows *rows); /* frees Li, Up and Ui */
void trs_gpu_lu_rows_free(trs_context *ctx, trs_lu_rows *rows);

/* val = 1 on the diagonal of L, which elimination does not write.  No effect if cholesky. */
int trs_gpu_unit_diagonal(const trs_lu_rows *rows, trs_dtype t, void *val);
/* to = from in another precision: both are real, or both complex.  It only enqueues. */
int trs_gpu_convert(int64_t count, trs_dtype from_type, const void *from, trs_dtype to_type,
                    void *to, void *stream);
/* g (e) = the sum of by (q) a (from (q)) over the terms q = 4 e .. 4 e + 3, up to the first with from (q) < 0; all are of
 * type t, on the device.  It only enqueues. */
int trs_gpu_mix(trs_dtype t, int64_t count, const int64_t *from, const void *by, const void *a,
                void *g, void *stream);
/* Wait for all that the device of the context does, whichever stream it is on. */
int trs_gpu_wait_for_all(trs_context *ctx);

#endif
