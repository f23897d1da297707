/* cpu_serial.h: rows one by one, for solvers that treat only some of the rows differently.
 *
 * They have an instance of cpu-serial for their operator, which they build and update together with their own data.
 * It reads the operator's arrays and has none of its own. */
#ifndef TRS_CPU_SERIAL_H
#define TRS_CPU_SERIAL_H

#include "solver.h"

/* What rows fetch into the core's own cache for later ones (cpu_row.h).  Where x is read
 * irregularly (trs_reads_x_irregularly) a core waits for it, since it looks ahead for too few of them by itself. */
typedef enum trs_fetch {
    TRS_FETCH_NOTHING, /* the triangle is in the cache */
    TRS_FETCH_ENTRIES, /* values and columns */
    TRS_FETCH_X        /* and x, which is read irregularly */
} trs_fetch;

/* entries from the one that is read to that whose x is fetched */
enum { TRS_X_AHEAD = 128 };

/* Are rows with an entry in the column just before solved as links of a chain (cpu_row.h)?  It follows from the pattern of
 * L, so that all solvers that go by rows give the same bits. */
bool trs_rows_chained(const trs_tri *L);
/* Is no x(i) a quotient when rows of L are solved like that? */
bool trs_rows_scale(const trs_tri *L, bool chained);

/* What rows of the triangle should fetch.  Its pattern is on the host. */
trs_fetch trs_rows_fetch(const trs_operator *op, const trs_machine *m);

/* Solve rows begin..end-1 of all right-hand sides, after the rows that they need.  No other x is looked at. */
void trs_serial_rows(const trs_instance *serial, int32_t begin, int32_t end, const trs_job *job);

#endif
