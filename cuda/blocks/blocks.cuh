/* blocks.cuh: what the solvers share that cut a triangle into blocks of 64 rows and solve it by one kernel, in which
 * thread blocks wait for each other's x: dense-blocked and cuda-supernodal (README.md). */
#ifndef TRS_BLOCKS_CUH
#define TRS_BLOCKS_CUH

#include "inverse.cuh"
#include "published.cuh"

/* f (integral_constant R, k) for the smallest of R = 1, 8, 32, 64 that is not less than nrhs, k = 0, 1, 2, 3 its
 * number.  Numbers of 16 bytes have no kernel for 64: more than 32 right-hand sides go by turns. */
template <class T, class F> static auto for_width(int nrhs, F f)
{
    using std::integral_constant;
    if (nrhs <= 1) return f(integral_constant<int, 1>(), 0);
    if (nrhs <= 8) return f(integral_constant<int, 8>(), 1);
    if constexpr (sizeof(T) < 16)
        if (nrhs > 32) return f(integral_constant<int, 64>(), 3);
    return f(integral_constant<int, 32>(), 2);
}

/* Lets a kernel have that much dynamic shared memory. */
template <class K> inline cudaError_t allow(K kernel, size_t bytes)
{
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

#endif
