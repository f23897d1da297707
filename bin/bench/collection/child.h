/* child.h: each matrix in a process of its own. */
#ifndef TRS_BIN_BENCH_CHILD_H
#define TRS_BIN_BENCH_CHILD_H

#include "journal.h"

/* Writes the results of a matrix into the journal, from *at on, and always how they end: when not
 * as they should, a row says why.  Returns an exit code. */
int run_child(const processes *p, const char *name, journal *j, size_t *at);

#endif
