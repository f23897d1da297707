/* lu_column_global.cu: a thread a column of a square (lu.cuh), all elements from global memory.
 * Source: Bandara, Ranasinghe, "Effective GPU Strategies for LU Decomposition", section IV, "Update through Column with
 * Global Memory Access".  Neighbouring threads read neighbouring elements: accesses are coalesced. */
#include "config.h"

#include "lu.cuh"

constinit const trs_solver trs_solver_lu_column_global = general_solver(
    "lu-column-global", "LU without pivoting, a thread a column, global memory (baseline)",
    lu_update_squares<false, false>);
