/* lu_column_shared.cu: a thread a column of a square (lu.cuh), elements of column i in shared memory.
 * Source: Bandara, Ranasinghe, "Effective GPU Strategies for LU Decomposition", section IV, "Update through Column with
 * Shared Memory Access", their best.  Accesses to global memory are coalesced. */
#include "config.h"

#include "lu.cuh"

constinit const trs_solver trs_solver_lu_column_shared =
    general_solver("lu-column-shared",
                   "LU without pivoting, a thread a column, column i in shared memory (baseline)",
                   lu_update_squares<false, true>);
