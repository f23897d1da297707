/* on_device.h: operations on vectors, patterns and values on the device.  cuda/matrix implements
 * them. */
#ifndef TRS_ON_DEVICE_H
#define TRS_ON_DEVICE_H

#include "operator.h"

/* Gather y (k) = x (perm [k]), or scatter x (perm [k]) = y (k), for every column.  perm, x and y are on the device. */
int trs_gpu_gather(trs_dtype t, int32_t n, int nrhs, const int32_t *perm, trs_view x, trs_view y,
                   void *stream);
int trs_gpu_scatter(trs_dtype t, int32_t n, int nrhs, const int32_t *perm, trs_view y, trs_view x,
                    void *stream);
/* y = S^-1 y for every column, for S of L S L^H (trs_factors.sign, block).  block may be NULL. */
int trs_gpu_divide_by_pivots(trs_dtype t, int32_t n, int nrhs, const int8_t *sign,
                             const double *block, trs_view y, void *stream);
/* Rows first [q] and first [q] + 1 of every column: y = [w(0) w(1); w(2) w(3)] y with w from w [4*q] on, or its adjoint; q < count.
 * w is F64, or C64 if y is complex. */
int trs_gpu_turn_rows(trs_dtype t, int32_t count, int nrhs, const int32_t *first, const void *w,
                      bool adjoint, trs_view y, void *stream);
/* x (i) = skip (i) ? 0 : b (i) for every column.  skip, b and x are on the device. */
int trs_gpu_leave_out(trs_dtype t, int32_t n, int nrhs, const unsigned char *skip, trs_view b,
                      trs_view x, void *stream);

/* How right-hand sides go between the caller and the triangles of a factorisation: y(k) = s(p(k)) b(p(k)), and back. */
typedef struct trs_move {
    int32_t n;
    int nrhs;
    trs_dtype outer, inner; /* of the caller's vectors and of y; both real, or both complex */
    const int32_t *perm;    /* [n] p; NULL: the identity */
    const double *scale;    /* [n] s, by the caller's row; NULL: there is no scaling */
    bool conj;              /* the caller's vectors are conjugated */
    bool add;               /* what is put back is added to x */
    /* [nrhs] the largest |re| or |im| of each column of s b; y is divided by the power of two next to it, so that its
     * numbers stay in range.  NULL: y is as it is. */
    double *size;
} trs_move;

/* y (k) = s (perm [k]) x (perm [k]), which sets size as well; or x (perm [k]) = s (perm [k]) y (k) with the size of before.
 * All arrays are on the device. */
int trs_gpu_bring(const trs_move *m, trs_view x, trs_view y, void *stream);
int trs_gpu_put_back(const trs_move *m, trs_view y, trs_view x, void *stream);

/* ---- patterns on the device; these wait -------------------------------------------------------- */

/* Fill op->device.level, whose memory is there, from op->lv. */
int trs_gpu_put_levels(const trs_operator *op);
/* Find op->device.level, op->lv.count and op->statistics.longest from op->device.ptr and idx.  Returns TRS_ESUPPORT
 * without a sentence if the triangle is so deep that the host is faster.  After a failure the caller frees what is there. */
int trs_gpu_search_levels(trs_operator *op);
/* Then find op->device.topo, op->lv but for its topo, and op->statistics. */
int trs_gpu_order_levels(trs_operator *op);
/* Fill ptr, idx and val of op->device, and src if op->reversed, from m, which is on the device; their memory is there.
 * Returns TRS_EMATRIX without a sentence if m is not canonical (canonical.h), or not well-formed. */
int trs_gpu_canonical(const trs_mat *m, trs_operator *op);
/* The same of any m with pointers.  The memory is allocated here, and op->tri.nnz becomes the number of entries.
 * transposed: op is the transpose of what m has by its major index.
 * Returns TRS_OK, TRS_EMEM, TRS_EDEVICE, or TRS_EMATRIX without a sentence if m is not well-formed. */
int trs_gpu_import(const trs_mat *m, bool transposed, trs_operator *op);
/* Count the entries in columns, and in rows, that have the pattern of their neighbours (analysis/supernodes.c). */
int trs_gpu_common(const trs_operator *op, int64_t common[2]);

typedef struct trs_run { /* columns begin .. end-1 */
    int32_t begin, end;
} trs_run;

/* The runs of consecutive columns that the rows of a pattern consist of, on the host; each array freed by trs_free */
typedef struct trs_device_runs {
    int64_t *ptr; /* [n+1] of the operator */
    int32_t *own; /* [n] runs of each row; 0: it has those of the row before, up to its diagonal */
    trs_run *run; /* of row after row, ascending, the diagonal in the last one */
    uint8_t *differ; /* [n] 1: a row below j has an entry in one of the columns j, j+1 alone */
} trs_device_runs;

/* Find them for a pattern that is on the device.  TRS_OK, TRS_EMEM, TRS_EDEVICE; in any case the caller frees. */
int trs_gpu_runs(const trs_operator *op, trs_device_runs *r);
/* The hash of a pattern that is on the device only (pattern_hash.h). */
int trs_gpu_hash(const trs_operator *op, uint64_t *hash);

/* ---- values on the device; op->device.val, ptr and found are there ------------------------------------------------- */

/* to (p) = from (src (p)), or what TRS_SRC_... says.  src is int64_t [nnz], or NULL for the identity. */
int trs_gpu_take_values(trs_dtype t, int64_t nnz, const void *src, const void *from, void *to,
                        void *stream);
/* to (p) = what from_place [p] says of val: a number, its conjugate, or its real part (whole.h). */
int trs_gpu_whole_values(trs_dtype t, int64_t count, const int64_t *from_place, const void *val,
                         void *to, void *stream);
/* to (q) = the sum of from (order (p)), start (q) <= p < start (q+1), in their order. */
int trs_gpu_sum_terms(trs_dtype t, int64_t count, const int64_t *start, const int64_t *order,
                      const void *from, void *to, void *stream);
/* to (i + j*n) = from (i + j*ld), or from (j + i*ld) if transposed. */
int trs_gpu_take_full(trs_dtype t, int64_t n, int64_t ld, bool transposed, const void *from,
                      void *to, void *stream);
/* Find op->device.found from the values: one less than there are bad pivots, and the first of them (-1: none). */
int trs_gpu_find_pivots(const trs_operator *op, void *stream);
/* Replace the bad pivots by value. */
int trs_gpu_replace_pivots(const trs_operator *op, double value, void *stream);

#endif
