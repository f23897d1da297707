/* cpu_serial.h: rows one by one, for solvers that have another way for some of the rows only.
 *
 * They have an instance of cpu-serial for their operator, which they build and update with their own.  It reads the
 * operator's arrays and has none of its own. */
#ifndef TRS_CPU_SERIAL_H
#define TRS_CPU_SERIAL_H

#include "solver.h"

/* Are rows with an entry in the column just before solved as links of a chain (cpu_row.h)?  It follows from the pattern of
 * L, so that all solvers that go by rows give the same bits. */
bool trs_rows_chained(const trs_tri *L);
/* Is no x(i) a quotient when rows of L are solved like that? */
bool trs_rows_scale(const trs_tri *L, bool chained);

/* Solve rows begin..end-1 of all right-hand sides, after the rows that they need.  No other x is looked at. */
void trs_serial_rows(const trs_instance *serial, int32_t begin, int32_t end, const trs_job *job);

#endif
