/* lu_row_global.cu: a thread a row of a square (lu.cuh), all elements from global memory.
 * Source: Bandara, Ranasinghe, "Effective GPU Strategies for LU Decomposition", section IV, "Update through Row with
 * Global Memory Access".  Neighbouring threads read elements n apart: accesses are not coalesced. */
#include "config.h"

#include "lu.cuh"

constinit const trs_solver trs_solver_lu_row_global =
    general_solver("lu-row-global", "LU without pivoting, a thread a row, global memory (baseline)",
                   lu_update_squares<true, false>);
