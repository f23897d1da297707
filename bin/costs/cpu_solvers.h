/* cpu_solvers.h: what the steps of single CPU solvers cost. */
#ifndef TRS_BIN_COSTS_CPU_SOLVERS_H
#define TRS_BIN_COSTS_CPU_SOLVERS_H

#include "costs.h"

/* Measures these costs, in about that many seconds, and puts them into m, which has the others:
 * known [k] is set for each that was found. */
void cpu_solver_steps(int threads, double seconds, trs_machine *m, bool known[COSTS]);

#endif
