/* on_device.h: the passes of a Krylov method on a device.  cuda/krylov implements them. */
#ifndef TRS_KRYLOV_ON_DEVICE_H
#define TRS_KRYLOV_ON_DEVICE_H

#include "pass.h"

/* Set the number of blocks that have ended to 0, once.  Returns TRS_OK, TRS_EDEVICE. */
int trs_gpu_clear_pass(const trs_space *v);
/* Enqueue a pass; see trs_pass_here.  Returns TRS_OK, TRS_EDEVICE. */
int trs_gpu_pass(const trs_space *v, const trs_pass *p, bool always);

#endif
