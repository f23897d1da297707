/* cell.h: one solver on one triangle. */
#ifndef TRS_BIN_BENCH_CELL_H
#define TRS_BIN_BENCH_CELL_H

#include "bed.h"
#include "result.h"

/* Measures the solver of the cell.  What fails is written down in the cell. */
void measure_cell(const bed *b, cell *c);

/* An analysed plan of a solver, for B and X on that device; solver NULL: it is chosen.  *plan is to
 * be destroyed also after an error.  Returns a trs_status. */
int make_plan(const bed *b, const char *solver, int device, trs_plan **plan);

/* One solve, timed, with B and X on the device (gpu) or on the host.  Returns a trs_status. */
int time_solve(const bed *b, const trs_plan *plan, bool gpu, double *seconds);

#endif
