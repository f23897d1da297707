/* sources.h: where matrices come from that no Matrix Market file holds. */
#ifndef TRS_BIN_BENCH_SOURCES_H
#define TRS_BIN_BENCH_SOURCES_H

#include "input.h"

/* Is it KIND:SIZE, or a binary file of trisolve-gen? */
bool is_made(const char *name);

/* Makes or reads such a matrix; returns a trs_status, with a sentence in said (). */
int make_matrix(const char *name, trs_mm *mm);

/* L and U of A become in->T.  Returns a trs_status, with in->message; TRS_ESUPPORT: built without
 * SuiteSparse. */
int factor_matrix(const trs_mat *A, input *in);
void factor_free(input *in);

#endif
