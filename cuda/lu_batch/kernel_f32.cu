/* kernel_f32.cu: batches of float. */
#include "config.h"

#include "kernel.cuh"

INSTANTIATE(float)
