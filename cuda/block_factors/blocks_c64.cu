/* blocks_c64.cu: the kernels of factors by blocks for one type. */
#include "config.h"

#include "table.cuh"

template const void *factor_kernel_of<cuDoubleComplex>(int);
template const void *solve_kernel_of<cuDoubleComplex>(int, bool);
