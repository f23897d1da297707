/* on_device.h: a batch on a device.  cuda/lu_batch implements it. */
#ifndef TRS_LU_BATCH_ON_DEVICE_H
#define TRS_LU_BATCH_ON_DEVICE_H

#include "lu_batch.h"

typedef struct trs_lu_batch_there trs_lu_batch_there;

/* Bring the rows and their schedule to the device of the context, and allocate all that calls need: for count systems, of
 * which outcome [count] is known at first and whose factors are kept if keep.  The context is kept.  limit: bytes on the device; 0: none.  It waits.
 * Returns TRS_OK, or with *b = NULL TRS_EMEM, TRS_EDEVICE, TRS_ESUPPORT. */
int trs_gpu_lu_batch_create(trs_context *ctx, const trs_lu_batch_rows *rows, int64_t count,
                            const trs_lu_batch_outcome *outcome, bool keep, int64_t limit,
                            trs_lu_batch_there **b);
void trs_gpu_lu_batch_destroy(trs_lu_batch_there *b); /* b may be NULL */
/* Factor, solve, or both.  All arrays of the job are on the device; kept and outcome are those of the batch.  It only
 * enqueues work.  Returns TRS_OK, TRS_EDEVICE. */
int trs_gpu_lu_batch_run(trs_lu_batch_there *b, const trs_lu_batch_job *job, void *stream);
/* Wait for the device, and copy the outcome [count] of all systems to the host, or back.  The codes
 * of kept factors stay. */
int trs_gpu_lu_batch_outcome(trs_lu_batch_there *b, trs_lu_batch_outcome *outcome);
int trs_gpu_lu_batch_set_outcome(trs_lu_batch_there *b, const trs_lu_batch_outcome *outcome);
/* Bytes on the device; systems that are computed at the same time; the name of the kernel. */
int64_t trs_gpu_lu_batch_bytes(const trs_lu_batch_there *b);
int64_t trs_gpu_lu_batch_workers(const trs_lu_batch_there *b);
const char *trs_gpu_lu_batch_kernel(const trs_lu_batch_there *b);

#endif
