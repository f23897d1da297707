/* on_device.h: the passes of a Krylov method on a device.  cuda/krylov implements them. */
#ifndef TRS_KRYLOV_ON_DEVICE_H
#define TRS_KRYLOV_ON_DEVICE_H

#include "pass.h"

/* The number of ranges of a vector: trs_space.sums has as many times the inner products of a pass. */
int64_t trs_gpu_ranges(int64_t n);
/* Enqueue a pass; see trs_pass_here.  Returns TRS_OK, TRS_EDEVICE. */
int trs_gpu_pass(const trs_space *v, const trs_pass *p, bool always);

#endif
