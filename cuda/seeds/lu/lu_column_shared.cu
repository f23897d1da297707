/* lu_column_shared.cu: a thread a column of a square (lu.cuh), elements of column i in shared memory.
 * Source: Bandara, Ranasinghe, "Effective GPU Strategies for LU Decomposition", section IV, "Update through Column with
 * Shared Memory Access", their best.  Accesses to global memory are coalesced. */
#include "config.h"

#include "lu.cuh"

static int update(trs_instance *inst, void *stream)
{
    return lu_update_squares<false, true>(inst, stream);
}

constinit const trs_solver trs_solver_lu_column_shared =
    lu_solver("lu-column-shared",
              "LU without pivoting, a thread a column, column i in shared memory (seed)", update);
