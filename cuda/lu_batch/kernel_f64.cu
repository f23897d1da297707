/* kernel_f64.cu: batches of double. */
#include "config.h"

#include "kernel.cuh"

INSTANTIATE(double)
