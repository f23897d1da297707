/* again.h: complete factors of new values on the host, with the pattern, the pivots and the scaling of the last ones.
 *
 *     (L U)(k, m) = scale(P(k)) A(P(k), Q(m))       no exchanges of rows; L + U - I is one matrix by rows:
 *
 *     row i    | l(i, k), k < i | u(i, i) | u(i, j), j > i |
 *              ^ ptr [i]        ^ diag [i]                  ^ ptr [i+1]
 *
 * The rows have all of the fill that any values can produce (complete_fill.h), and the plans read the numbers where they
 * are computed. */
#ifndef TRS_AGAIN_H
#define TRS_AGAIN_H

#include "factor/device/complete_fill.h"
#include "factor/incomplete/ilu.h"
#include "factor/lu.h"

/* What a run says.  |z| of a complex number is |Re z| + |Im z|. */
typedef struct trs_again_outcome {
    double largest_a;   /* max |scale a| */
    double largest;     /* max |l(i, k) u(k, j)| and |u(i, j)|: growth = largest / largest_a */
    double least, most; /* pivots: min and max |u(i, i)| */
    bool bad;           /* a number is not finite, or a pivot or its reciprocal is not normal */
} trs_again_outcome;

/* x(to) = x(to) - x(l) s(u) (products.c) */
typedef struct trs_again_product {
    uint32_t u;     /* entry of `divided` */
    uint16_t l, to; /* entries of the row */
} trs_again_product;

typedef struct trs_again_rows {
    trs_ilu_rows rows; /* pattern, numbers, diagonal and stages; its `where` is NULL */
    trs_dtype type;    /* of A; the factors are in double precision */
    int64_t *a_ptr;    /* [n+1] row k of A(P, Q) has entries a_ptr [k] .. of a_idx and a_src */
    int32_t *a_idx;    /* [nnz of A] columns */
    int64_t *a_src;    /* [nnz of A] places of the values in those of A */
    double *scale;     /* [n] in the order of the pivots; NULL: there is no scaling */
    /* [n] how many rows after row k have its pattern in U, but for their own first entries */
    int32_t *same;
    int64_t *dense;  /* [n] from this entry of row k on, its columns in U are consecutive */
    double *largest; /* [n] max |u(k, j)| of row k */
    void *inverse;   /* [n] 1 / u(k, k) */
    void *work;      /* [threads*n] zero between rows */

    /* only where rows are short (products.c), else NULL */
    trs_again_product *product; /* those of row i are product_ptr [i] .. product_ptr [i+1] - 1 */
    int64_t *product_ptr;       /* [n+1] */
    int32_t *a_row;             /* [nnz of A] rows of the entries of A(P, Q) */
    uint32_t *a_to;             /* [nnz of A] their places in the numbers */
    int64_t *l_ptr;             /* [n+1] row i of L is l_ptr [i] .. of l */
    uint32_t *l;                /* places of the entries of L in the numbers */
    void *divided;              /* [nnz] u(k, j) / u(k, k) */
} trs_again_rows;

/* Make the rows for factors P, Q, scale of A, which is CSR or CSC on the host.  rows.t gets new arrays ptr, idx and val, which
 * are the caller's; val has one number more, 1, for the diagonal of L.  Returns TRS_OK, TRS_EMEM, TRS_ESUPPORT without a
 * sentence: more than `limit` entries.  The caller frees the rows in each case. */
int trs_again_rows_make(trs_context *ctx, const trs_mat *A, const trs_factors *f, int64_t limit,
                        trs_again_rows *r);
void trs_again_rows_free(trs_context *ctx, trs_again_rows *r);

/* Compute the factors of values a [nnz of A].  A row is computed by one thread in one order, so the bits do not depend on the
 * number of threads.  It allocates nothing. */
trs_again_outcome trs_again_rows_run(const trs_again_rows *r, const void *a);

/* Make the lists of products.c if the rows are short.  Returns TRS_OK, TRS_EMEM. */
int trs_again_products_make(trs_context *ctx, trs_again_rows *r);
/* Compute rows begin .. end-1 of the level order, or, with one thread, of the natural one. */
void trs_again_products_rows(const trs_again_rows *r, int32_t begin, int32_t end, const void *a,
                             trs_again_outcome *o);

#endif
