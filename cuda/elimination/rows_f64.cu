/* rows_f64.cu: the row kernels of one type of numbers. */
#include "config.h"

#include "rows_kernel.cuh"

const void *row_kernel_f64(row_shape s)
{
    return row_kernel_of<double>(s);
}
