/* matrix.h: the caller's matrix, checked, and as the one shape that solvers know: a lower triangle in CSR. */
#ifndef TRS_MATRIX_H
#define TRS_MATRIX_H

#include "base/context.h"

/* ---- triangles ---------------------------------------------------------------------------- */

/* A lower triangle in CSR: base 0, columns ascend, the diagonal is stored last in every row (a unit
 * one as 1, a missing one as 0). */
typedef struct trs_tri {
    int32_t n;
    int64_t nnz;
    trs_dtype dtype;
    int64_t *ptr; /* [n+1] */
    int32_t *idx; /* [nnz] */
    void *val;    /* [nnz] */
    int64_t *src; /* [nnz] place of each value in the caller's val, or TRS_SRC_...; NULL: p -> p */
} trs_tri;

enum { TRS_SRC_UNIT = -1, TRS_SRC_MISSING = -2 };

int trs_check_mat(const trs_mat *m);                      /* well-formed? (check.c) */
int trs_check_values(const trs_mat *m);                   /* enough to read val? */
bool trs_same_arrays(const trs_mat *a, const trs_mat *b); /* is each number at the same place? */
int64_t trs_value_count(const trs_mat *m);                /* numbers in val */
/* Bytes of B or X [n, nrhs], both > 0; -1: p is NULL, ld too small, or so large that no memory has it. */
int64_t trs_extent(const void *p, int64_t n, int nrhs, int64_t ld, trs_layout layout, trs_dtype t);
bool trs_overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes);
int64_t trs_major_count(const trs_mat *m); /* rows, columns, or rows of blocks: what ptr delimits */
bool trs_by_rows(const trs_mat *m);        /* the major index is the row */
bool trs_in_triangle(unsigned kind, int64_t row, int64_t col);
bool trs_is_zero(const trs_mat *m, int64_t k); /* number k of val */

/* Check m and take it over: op(T) by rows as the caller stored it, T for CSR and BSR, T' for CSC and
 * DENSE (convert.c). */
int trs_tri_import(trs_context *ctx, const trs_mat *m, trs_tri *t);
int trs_bsr_import(trs_context *ctx, const trs_mat *m, trs_tri *t); /* the same for BSR (bsr.c) */
/* out is m itself, or its CSR when m is BSR (bsr.c); call trs_unblock_done afterwards, unless that failed. */
int trs_unblock(trs_context *ctx, const trs_mat *m, trs_mat *out);
void trs_unblock_done(trs_context *ctx, const trs_mat *m, trs_mat *out);
/* idx for t->nnz entries, val and src if they are wanted, within the limit; after TRS_EMEM the caller frees
 * what is there. */
int trs_tri_entries(trs_context *ctx, trs_tri *t, bool values, bool places);
/* values = false: the pattern alone. */
int trs_tri_transpose(trs_context *ctx, const trs_tri *a, bool values, trs_tri *t);
int trs_tri_copy(trs_context *ctx, const trs_tri *a, trs_tri *t);
void trs_tri_drop_identity(trs_context *ctx, trs_tri *t); /* src = NULL where it is p -> p */
/* Rows and columns counted backwards, in place.  TRS_OK, TRS_EMEM. */
int trs_tri_reverse(trs_context *ctx, trs_tri *t);
int trs_tri_permute(trs_context *ctx, const trs_tri *a, const int32_t *perm, trs_tri *t);
/* t->val from the caller's val through src */
void trs_tri_read_values(const trs_context *ctx, trs_tri *t, const void *val);
void trs_tri_free(trs_context *ctx, trs_tri *t);

/* A checked host matrix by its major index, which is the row of CSR and the column of CSC and DENSE.  The entries
 * of major index l are begin <= p < end; the minor index of entry p is its column, or its row. */
int64_t trs_major_begin(const trs_mat *m, int64_t l);
int64_t trs_major_end(const trs_mat *m, int64_t l);
int64_t trs_minor_index(const trs_mat *m, int64_t l, int64_t p);

#endif
