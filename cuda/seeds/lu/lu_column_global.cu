/* lu_column_global.cu: the paper's "Update through Column with Global Memory Access": a thread a column
 * of a square, everything from global memory.  Neighbours read neighbours: coalesced. */
#include "config.h"

#include "lu.cuh"

static int update(trs_instance *inst)
{
    return lu_update_squares<false, false>(inst);
}

constinit const trs_solver trs_solver_lu_column_global = lu_solver(
    "lu-column-global", "LU without pivoting, a thread a column, global memory (seed)", update);
