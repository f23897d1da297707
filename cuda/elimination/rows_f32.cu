/* rows_f32.cu: the row kernels of one type of numbers. */
#include "config.h"

#include "rows_kernel.cuh"

const void *row_kernel_f32(row_shape s)
{
    return row_kernel_of<float>(s);
}
