/* lu_column_global.cu: a thread a column of a square (lu.cuh), all elements from global memory.
 * Source: Bandara, Ranasinghe, "Effective GPU Strategies for LU Decomposition", section IV, "Update through Column with
 * Global Memory Access".  Neighbouring threads read neighbouring elements: accesses are coalesced. */
#include "config.h"

#include "lu.cuh"

static int update(trs_instance *inst, void *stream)
{
    return lu_update_squares<false, false>(inst, stream);
}

constinit const trs_solver trs_solver_lu_column_global = lu_solver(
    "lu-column-global", "LU without pivoting, a thread a column, global memory (seed)", update);
