/* device.h: all that the plain C files ask of CUDA.  cuda/runtime answers, or lib/base/no_device.c where the library is
 * built without it. */
#ifndef TRS_DEVICE_H
#define TRS_DEVICE_H

#include "context.h"

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

#endif
