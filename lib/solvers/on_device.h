/* on_device.h: what is done with vectors, patterns and values where they are, on the device. */
#ifndef TRS_ON_DEVICE_H
#define TRS_ON_DEVICE_H

#include "solver.h"

/* y (k) = x (perm [k]) for every column, or x (perm [k]) = y (k); perm, x and y on the device. */
int trs_gpu_gather(trs_dtype t, int32_t n, int nrhs, const int32_t *perm, trs_view x, trs_view y,
                   void *stream);
int trs_gpu_scatter(trs_dtype t, int32_t n, int nrhs, const int32_t *perm, trs_view y, trs_view x,
                    void *stream);
/* x (i) = skip (i) ? 0 : b (i) for every column; skip, b and x on the device. */
int trs_gpu_leave_out(trs_dtype t, int32_t n, int nrhs, const unsigned char *skip, trs_view b,
                      trs_view x, void *stream);

/* ---- patterns on the device; these wait -------------------------------------------------------- */

int trs_gpu_put_levels(trs_context *ctx, const trs_side *s); /* s->direct.level from s->lv */
/* s->direct.level and topo, s->lv but for topo, and s->tally, from s->direct.ptr and idx; TRS_ESUPPORT, with no
 * sentence: the triangle is so deep that the host is faster.  After a failure the caller frees what is there. */
int trs_gpu_find_levels(trs_context *ctx, trs_side *s);
/* ptr, idx and val of s->direct, and src if s->reversed, from m on the device; their memory is there.
 * TRS_EMATRIX, with no sentence: m is not in the form that straight.h wants, or not well-formed. */
int trs_gpu_straight(trs_context *ctx, const trs_mat *m, trs_side *s);
/* Entries in columns, and in rows, with the pattern of their neighbours (supernode.c). */
int trs_gpu_common(trs_context *ctx, const trs_side *s, int64_t common[2]);
enum { TRS_LOOKS = 16 }; /* at a time */
/* Levels and foreign entries of the samples of strips.c, for strips of rows [0], ... rows [count-1] rows, count
 * at most TRS_LOOKS. */
int trs_gpu_look(trs_context *ctx, const trs_side *s, const int32_t *rows, int count,
                 int64_t (*found)[2]);

/* ---- values on the device; s->direct is there ------------------------------------------------- */

/* to (p) = from (src (p)), or what TRS_SRC_... says; src [nnz] int64_t, NULL: the identity. */
int trs_gpu_take_values(trs_dtype t, int64_t nnz, const void *src, const void *from, void *to,
                        void *stream);
/* to (i + j*n) = from (i + j*ld), or from (j + i*ld) when transposed. */
int trs_gpu_take_full(trs_dtype t, int64_t n, int64_t ld, bool transposed, const void *from,
                      void *to, void *stream);
/* s->direct.found from s->direct.val. */
int trs_gpu_find_pivots(const trs_side *s, void *stream);
/* Of s->direct.val, the bad ones by value. */
int trs_gpu_replace_pivots(const trs_side *s, double value, void *stream);

#endif
