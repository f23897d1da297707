/* lu_column_shared.cu: the paper's best, "Update through Column with Shared Memory Access": a thread a
 * column of a square, the piece of column i in shared memory.  Coalesced. */
#include "config.h"

#include "lu.cuh"

static int update(trs_instance *inst)
{
    return lu_update_squares<false, true>(inst);
}

constinit const trs_solver trs_solver_lu_column_shared =
    lu_solver("lu-column-shared",
              "LU without pivoting, a thread a column, column i in shared memory (seed)", update);
