/* lu_row_shared.cu: the paper's "Update through Row with Shared Memory Access": a thread a row of a
 * square, the piece of row i in shared memory.  The rows themselves are not coalesced: the paper's worst. */
#include "config.h"

#include "lu.cuh"

static int update(trs_instance *inst)
{
    return lu_update_squares<true, true>(inst);
}

constinit const trs_solver trs_solver_lu_row_shared = lu_solver(
    "lu-row-shared", "LU without pivoting, a thread a row, row i in shared memory (seed)", update);
