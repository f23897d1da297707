/* kernel_c32.cu: batches of cuFloatComplex. */
#include "config.h"

#include "kernel.cuh"

INSTANTIATE(cuFloatComplex)
