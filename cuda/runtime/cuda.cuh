/* cuda.cuh: included by nearly every kernel of the library: numbers of four types and their quotients, B and
 * X, launches, arrays on the device, and the definition of a solver. */
#ifndef TRS_CUDA_CUH
#define TRS_CUDA_CUH

#include "divide.cuh"
#include "launch.cuh"
#include "memory.cuh"
#include "number.cuh"
#include "view.cuh"

extern "C" {
#include "solvers/solver.h"
}

#endif
