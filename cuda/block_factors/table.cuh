/* table.cuh: the kernels of one type, for each size of blocks. */
#ifndef TRS_BLOCK_FACTORS_TABLE_CUH
#define TRS_BLOCK_FACTORS_TABLE_CUH

#include "factor_kernel.cuh"
#include "solve_kernel.cuh"

template <class T> const void *factor_kernel_of(int b)
{
    static const void *const kernel[MOST] = {
        (const void *)block_factor_kernel<T, 1>, (const void *)block_factor_kernel<T, 2>,
        (const void *)block_factor_kernel<T, 3>, (const void *)block_factor_kernel<T, 4>,
        (const void *)block_factor_kernel<T, 5>, (const void *)block_factor_kernel<T, 6>,
        (const void *)block_factor_kernel<T, 7>, (const void *)block_factor_kernel<T, 8>};
    return kernel[b - 1];
}

template <class T, int TEAM> static const void *solve_kernel_with(int b)
{
    static const void *const kernel[MOST] = {
        (const void *)block_solve_kernel<T, 1, TEAM>, (const void *)block_solve_kernel<T, 2, TEAM>,
        (const void *)block_solve_kernel<T, 3, TEAM>, (const void *)block_solve_kernel<T, 4, TEAM>,
        (const void *)block_solve_kernel<T, 5, TEAM>, (const void *)block_solve_kernel<T, 6, TEAM>,
        (const void *)block_solve_kernel<T, 7, TEAM>, (const void *)block_solve_kernel<T, 8, TEAM>};
    return kernel[b - 1];
}

template <class T> const void *solve_kernel_of(int b, bool wide)
{
    return wide ? solve_kernel_with<T, WIDE>(b) : solve_kernel_with<T, NARROW>(b);
}

#endif
