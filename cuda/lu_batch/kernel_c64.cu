/* kernel_c64.cu: batches of cuDoubleComplex. */
#include "config.h"

#include "kernel.cuh"

INSTANTIATE(cuDoubleComplex)
