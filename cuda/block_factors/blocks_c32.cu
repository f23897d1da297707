/* blocks_c32.cu: the kernels of factors by blocks for one type. */
#include "config.h"

#include "table.cuh"

template const void *factor_kernel_of<cuFloatComplex>(int);
template const void *solve_kernel_of<cuFloatComplex>(int, bool);
