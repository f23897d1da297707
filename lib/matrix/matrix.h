/* matrix.h: the caller's matrix, and its imported form, a canonical lower triangle. */
#ifndef TRS_MATRIX_H
#define TRS_MATRIX_H

#include "base/context.h"

/* ---- triangles ---------------------------------------------------------------------------- */

/* A canonical lower triangle: CSR with base 0, where columns ascend and the diagonal is stored last in every row, a
 * unit one as 1 and a missing one as 0. */
typedef struct trs_tri {
    int32_t n;
    int64_t nnz;
    trs_dtype dtype;
    int64_t *ptr; /* [n+1] */
    int32_t *idx; /* [nnz] */
    void *val;    /* [nnz] */
    /* [nnz] place of each value in the caller's val, or TRS_SRC_...; NULL: entry p has place p */
    int64_t *src;
} trs_tri;

enum { TRS_SRC_UNIT = -1, TRS_SRC_MISSING = -2 };

int trs_check_mat(const trs_mat *m);    /* Is m well-formed?  (check.c) */
int trs_check_arrays(const trs_mat *m); /* Is it, apart from what is in its arrays? */
int trs_check_values(const trs_mat *m); /* Is as much of it well-formed as has to be to read val? */
bool trs_same_arrays(const trs_mat *a, const trs_mat *b); /* Has each number the same place? */
int64_t trs_value_count(const trs_mat *m);                /* the length of val */
/* The bytes of B or X with n > 0 rows and nrhs > 0 columns; -1 if p is NULL, ld is too small, or no memory has so many. */
int64_t trs_extent(const void *p, int64_t n, int nrhs, int64_t ld, trs_layout layout, trs_dtype t);
bool trs_overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes);
int64_t trs_major_count(const trs_mat *m); /* of major indices; those of BSR are rows of blocks */
bool trs_by_rows(const trs_mat *m);        /* Is the major index the row? */
bool trs_is_zero(const trs_mat *m, int64_t k); /* Is number k of val zero? */

/* Check m and make t = op(T) by rows as the caller stored it: T for CSR and BSR, T' for CSC and DENSE (import.c). */
int trs_tri_import(trs_context *ctx, const trs_mat *m, trs_tri *t);
int trs_bsr_import(trs_context *ctx, const trs_mat *m, trs_tri *t); /* the same for BSR (bsr.c) */
/* *out is m itself, or its CSR when m is BSR (bsr.c).  Call trs_unblock_done when it is no longer needed, unless this
 * failed.  *place, which the caller frees, is where each value of a BSR stands in its val, and NULL for others; place NULL: it is
 * not wanted. */
int trs_unblock(trs_context *ctx, const trs_mat *m, trs_mat *out, int64_t **place);
void trs_unblock_done(trs_context *ctx, const trs_mat *m, trs_mat *out);
/* Allocate idx for t->nnz entries, and val and src if they are wanted, within the limit.  After TRS_EMEM the caller
 * frees what is there. */
int trs_tri_entries(trs_context *ctx, trs_tri *t, bool values, bool places);
/* t = a', without values if they are not wanted. */
int trs_tri_transpose(trs_context *ctx, const trs_tri *a, bool values, trs_tri *t);
int trs_tri_copy(trs_context *ctx, const trs_tri *a, trs_tri *t);
void trs_tri_drop_identity(trs_context *ctx,
                           trs_tri *t); /* src becomes NULL if it is the identity */
/* Count rows and columns backwards, in place.  Returns TRS_OK, TRS_EMEM. */
int trs_tri_reverse(trs_context *ctx, trs_tri *t);
int trs_tri_permute(trs_context *ctx, const trs_tri *a, const int32_t *perm, trs_tri *t);
/* t->val [p] = val [src [p]], val being the caller's. */
void trs_tri_read_values(const trs_context *ctx, trs_tri *t, const void *val);
void trs_tri_free(trs_context *ctx, trs_tri *t);

static inline bool trs_in_triangle(unsigned kind, int64_t row, int64_t col)
{
    if (kind & TRS_LOWER) return row >= col;
    if (kind & TRS_UPPER) return row <= col;
    return true;
}

/* A checked matrix on the host by its *major index*, which is the row of CSR and the column of CSC and DENSE.  The
 * entries of major index l are begin <= p < end; the *minor index* of entry p is its column, or its row. */
static inline int64_t trs_major_begin(const trs_mat *m, int64_t l)
{
    if (m->format == TRS_DENSE) return l * m->ld;
    return trs_index(m->ptr, m->ptr_bits ? m->ptr_bits : 64, l) - m->base;
}

static inline int64_t trs_major_end(const trs_mat *m, int64_t l)
{
    return m->format == TRS_DENSE ? l * m->ld + m->n : trs_major_begin(m, l + 1);
}

static inline int64_t trs_minor_index(const trs_mat *m, int64_t l, int64_t p)
{
    if (m->format == TRS_DENSE) return p - l * m->ld;
    return trs_index(m->idx, m->idx_bits ? m->idx_bits : 32, p) - m->base;
}

/* The first of the places p .. end-1 of ascending indices where the index is at least i; end: there is none. */
static inline int64_t trs_first_from(const int32_t *idx, int64_t p, int64_t end, int64_t i)
{
    while (p < end) {
        const int64_t middle = p + (end - p) / 2;
        if (idx[middle] < i) p = middle + 1;
        else end = middle;
    }
    return p;
}

#endif
