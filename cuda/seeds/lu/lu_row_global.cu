/* lu_row_global.cu: the paper's "Update through Row with Global Memory Access": a thread a row of
 * a square, everything from global memory.  Neighbouring threads read elements n apart: not coalesced. */
#include "config.h"

#include "lu.cuh"

static int update(trs_instance *inst)
{
    return lu_update_squares<true, false>(inst);
}

constinit const trs_solver trs_solver_lu_row_global =
    lu_solver("lu-row-global", "LU without pivoting, a thread a row, global memory (seed)", update);
