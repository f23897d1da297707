/* cell.h: one solver on one triangle. */
#ifndef TRS_BIN_BENCH_CELL_H
#define TRS_BIN_BENCH_CELL_H

#include "bed.h"
#include "result.h"

/* Measures the solver of the cell.  What fails is written down in the cell. */
void measure_cell(const bed *b, cell *c);

/* An analysed plan of a solver for many solves, for B and X on that device; solver NULL: it is chosen.  *plan is to be
 * destroyed also after an error.  Returns a trs_status. */
int make_plan(const bed *b, const char *solver, int device, trs_plan **plan);

/* The same for an unknown number of solves, so that it grows. */
int make_default_plan(const bed *b, int device, trs_plan **plan);

enum {
    PLANS = 5,          /* analyses, and updates, at most */
    MOST_SOLVES = 1001, /* with the one that warms up */
    SHARE = 5           /* analyses and updates may take cell_seconds / SHARE each */
};

/* Measures what a plan with default options takes (growing.c), and leaves g all 0 where it fails. */
void measure_growing(const bed *b, growing *g);

/* One solve, timed, with B and X on the device (gpu) or on the host.  Returns a trs_status. */
int time_solve(const bed *b, const trs_plan *plan, bool gpu, double *seconds);

/* Solves a few times, at most `most`, and once before if there may be two.  half: of the first solves, and of those after
 * them; the same if there was but one.  Returns a trs_status. */
int time_solves(const bed *b, const trs_plan *plan, bool gpu, int64_t most, spread half[2]);

/* Returns a trs_status when all that was enqueued has been done. */
int wait_for_gpu(const bed *b);

#endif
