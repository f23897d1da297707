/* cuda.cuh: what nearly every kernel of the library needs: numbers of four types and their quotients, B and X,
 * launches, and arrays on the device. */
#ifndef TRS_CUDA_CUH
#define TRS_CUDA_CUH

#include "divide.cuh"
#include "launch.cuh"
#include "memory.cuh"
#include "number.cuh"
#include "view.cuh"

#endif
