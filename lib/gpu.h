/* gpu.h: all that the plain C files ask of CUDA.  cuda/gpu.cu answers, or lib/nogpu.c where the
 * library is built without. */
#ifndef TRS_GPU_H
#define TRS_GPU_H

#include "internal.h"

/* Can kernels of this library run on the device?  0, or not: the reason in why. */
int trs_gpu_probe(int device, char *why, size_t size);
/* Compute capability and width of the memory bus, which tell chips apart and are quick to ask for. */
int trs_gpu_chip(int device, int *major, int *minor, int *bus_bits);
/* Make ctx->device current until the public call ends: trs_leave restores the one before it. */
int trs_gpu_use(trs_context *ctx);
void trs_gpu_restore(int device); /* for trs_leave */

void *trs_gpu_new(trs_context *ctx, int64_t count, size_t size, const char *what);
void trs_gpu_free(trs_context *ctx, void *p); /* p may be NULL */
/* For the steps of an analysis, one at a time; what is in it is lost when the next asks.  NULL with a sentence. */
void *trs_gpu_scratch(trs_context *ctx, int64_t bytes, const char *what);
void trs_gpu_drop_scratch(trs_context *ctx);
/* Host memory that the device copies from and to by itself; not the caller's allocator's.  NULL, with no sentence. */
void *trs_gpu_pinned_new(const trs_context *ctx, size_t bytes);
void trs_gpu_pinned_free(void *p); /* p may be NULL */
int trs_gpu_put(trs_context *ctx, void *to, const void *from,
                size_t bytes);            /* host to device, waits */
void trs_gpu_drop_ring(trs_context *ctx); /* that trs_gpu_put has made */
int trs_gpu_get(trs_context *ctx, void *to, const void *from,
                size_t bytes); /* device to host, waits */

/* width bytes of each of height lines, between host and device, on a stream. */
int trs_gpu_copy_lines(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                       size_t height, bool to_device, void *stream);
int trs_gpu_wait(void *stream);
bool trs_gpu_is_capturing(void *stream); /* into a CUDA graph */

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
