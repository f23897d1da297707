/* on_device.h: what is done with vectors, patterns and values where they are, on the device. */
#ifndef TRS_ON_DEVICE_H
#define TRS_ON_DEVICE_H

#include "operator.h"

/* y (k) = x (perm [k]) for every column, or x (perm [k]) = y (k); perm, x and y on the device. */
int trs_gpu_gather(trs_dtype t, int32_t n, int nrhs, const int32_t *perm, trs_view x, trs_view y,
                   void *stream);
int trs_gpu_scatter(trs_dtype t, int32_t n, int nrhs, const int32_t *perm, trs_view y, trs_view x,
                    void *stream);
/* x (i) = skip (i) ? 0 : b (i) for every column; skip, b and x on the device. */
int trs_gpu_leave_out(trs_dtype t, int32_t n, int nrhs, const unsigned char *skip, trs_view b,
                      trs_view x, void *stream);

/* ---- patterns on the device; these wait -------------------------------------------------------- */

int trs_gpu_put_levels(
    const trs_operator *op); /* op->device.level, whose memory is there, from op->lv */
/* op->device.level and topo, op->lv but for topo, and op->statistics, from op->device.ptr and idx; TRS_ESUPPORT, with no
 * sentence: the triangle is so deep that the host is faster.  After a failure the caller frees what is there. */
int trs_gpu_find_levels(trs_operator *op);
/* ptr, idx and val of op->device, and src if op->reversed, from m on the device; their memory is there.
 * TRS_EMATRIX, with no sentence: m is not in the form that canonical.h wants, or not well-formed. */
int trs_gpu_canonical(const trs_mat *m, trs_operator *op);
/* Entries in columns, and in rows, with the pattern of their neighbours (analysis/supernodes.c). */
int trs_gpu_common(const trs_operator *op, int64_t common[2]);
/* The hash of a pattern that is on the device only (pattern_hash.h). */
int trs_gpu_hash(const trs_operator *op, uint64_t *hash);

/* ---- values on the device; op->device.val, ptr and found are there ------------------------------------------------- */

/* to (p) = from (src (p)), or what TRS_SRC_... says; src [nnz] int64_t, NULL: the identity. */
int trs_gpu_take_values(trs_dtype t, int64_t nnz, const void *src, const void *from, void *to,
                        void *stream);
/* to (i + j*n) = from (i + j*ld), or from (j + i*ld) when transposed. */
int trs_gpu_take_full(trs_dtype t, int64_t n, int64_t ld, bool transposed, const void *from,
                      void *to, void *stream);
/* op->device.found from the values. */
int trs_gpu_find_pivots(const trs_operator *op, void *stream);
/* The bad ones by value. */
int trs_gpu_replace_pivots(const trs_operator *op, double value, void *stream);

#endif
