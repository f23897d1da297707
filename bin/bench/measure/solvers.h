/* solvers.h: which solvers of the library's table are measured. */
#ifndef TRS_BIN_BENCH_SOLVERS_H
#define TRS_BIN_BENCH_SOLVERS_H

#include "result.h"
#include "settings.h"

/* One cell for each solver that is to run, in the order of the table: [*count].  NULL: no
 * memory. */
cell *make_cells(const settings *s, int *count);

/* The first name of settings.solvers that no solver has, copied into name [size]; false: all are
 * known. */
bool find_unknown_solver(const char *solvers, char *name, size_t size);

/* Leave with this sentence, that name, and the nearest one of a solver. */
_Noreturn void refuse_solver(const char *what, const char *name);

/* The solver of that name in *solver; false: there is none. */
bool find_solver(const char *name, trs_solver_info *solver);

#endif
