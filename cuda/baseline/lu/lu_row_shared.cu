/* lu_row_shared.cu: a thread a row of a square (lu.cuh), elements of row i in shared memory.
 * Source: Bandara, Ranasinghe, "Effective GPU Strategies for LU Decomposition", section IV, "Update through Row with
 * Shared Memory Access", their worst: accesses to the rows that are updated are not coalesced. */
#include "config.h"

#include "lu.cuh"

constinit const trs_solver trs_solver_lu_row_shared = general_solver(
    "lu-row-shared", "LU without pivoting, a thread a row, row i in shared memory (baseline)",
    lu_update_squares<true, true>);
