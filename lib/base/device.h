/* device.h: everything that C files need of CUDA.  cuda/runtime implements it.
 *
 * A library built without CUDA has functions that fail instead, for this header and all others in DEVICE_H.
 * build-aux/device_stubs.awk generates them. */
#ifndef TRS_DEVICE_H
#define TRS_DEVICE_H

#include "context.h"

/* Can kernels of this library run on the device?  TRS_OK, or TRS_EDEVICE with the reason in why [size]. */
int trs_gpu_probe(int device, char *why, size_t size);

typedef struct trs_chip { /* what a GPU says of itself; 0: it does not say */
    int major, minor;     /* compute capability */
    int sms;
    double bandwidth; /* bytes a second at most: 2 x memory clock x bus width */
    double clock;     /* highest of an SM, Hz */
} trs_chip;

/* TRS_OK, TRS_EDEVICE. */
int trs_gpu_chip(int device, trs_chip *chip);
/* Make ctx->device current until the public call ends: trs_leave restores the one before it. */
int trs_gpu_use(trs_context *ctx);
void trs_gpu_restore(int device); /* called by trs_leave */

void *trs_gpu_new(trs_context *ctx, int64_t count, size_t size, const char *what);
void trs_gpu_free(trs_context *ctx, void *p); /* p may be NULL */
/* *bytes: free memory of the device of the context.  TRS_OK, TRS_EDEVICE. */
int trs_gpu_room(trs_context *ctx, int64_t *bytes);
/* Scratch memory for one step of an analysis; its contents are lost when the next step asks.  NULL with a sentence. */
void *trs_gpu_scratch(trs_context *ctx, int64_t bytes, const char *what);
void trs_gpu_drop_scratch(trs_context *ctx);
/* Pinned host memory, which the device reads and writes by itself; it does not come from the caller's allocator.
 * NULL without a sentence. */
void *trs_gpu_pinned_new(const trs_context *ctx, size_t bytes);
void trs_gpu_pinned_free(void *p); /* p may be NULL */
/* Copy from host to device, or from device to host, and wait. */
int trs_gpu_put(trs_context *ctx, void *to, const void *from, size_t bytes);
int trs_gpu_get(trs_context *ctx, void *to, const void *from, size_t bytes);
void trs_gpu_drop_ring(trs_context *ctx); /* frees the pinned memory that trs_gpu_put has made */

/* Copy a matrix of height rows, width bytes each, between host and device, in the order of a stream. */
int trs_gpu_copy_lines(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                       size_t height, bool to_device, void *stream);
int trs_gpu_wait(void *stream);
bool trs_gpu_is_capturing(void *stream); /* Is the stream being captured into a CUDA graph? */

/* A second stream, on which work goes on beside that of a caller's stream, also where that is captured:
 *
 *     stream      ---+--- L ---+---        fork: what comes on the branch waits for what has come on the stream
 *     branch         +--- U ---+           join: what comes on the stream waits for what has come on the branch */
typedef struct trs_branch trs_branch;
/* If no stream can be created, *branch = NULL, and both sides use the caller's stream.  TRS_OK, TRS_EMEM. */
int trs_gpu_branch_new(trs_context *ctx, trs_branch **branch);
void trs_gpu_branch_free(trs_context *ctx, trs_branch *branch); /* NULL allowed */
/* *side: the stream of the branch */
int trs_gpu_fork(trs_branch *branch, void *stream, void **side);
int trs_gpu_join(trs_branch *branch, void *stream);

#endif
