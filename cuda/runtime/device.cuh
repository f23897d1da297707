/* device.cuh: errors of the CUDA run-time as status codes of the library, the current device, and a
 * copy that waits. */
#ifndef TRS_DEVICE_CUH
#define TRS_DEVICE_CUH

extern "C" {
#include "base/device.h"
}
#include "base/debug.h"

#include <cuda_runtime.h>

/* TRS_OK, or TRS_EDEVICE with a sentence that begins with what was done.  The run-time forgets the error, which
 * the next launch would report as its own otherwise. */
int cuda_status(cudaError_t e, const char *what);
/* The same without a sentence, for what there is a way around. */
bool cuda_failed(cudaError_t e);

/* Makes the device current.  trs_leave restores the one that was current when the public call began. */
cudaError_t set_device(int device);

/* cudaMemcpy that has ended when it returns, in either direction. */
cudaError_t copy_and_wait(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);

#endif
