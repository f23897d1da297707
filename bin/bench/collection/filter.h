/* filter.h: --filter 'GLOB,n<1e6,kind=GLOB': which matrices are run. */
#ifndef TRS_BIN_BENCH_FILTER_H
#define TRS_BIN_BENCH_FILTER_H

#include "trisolve-sparse.h"

#include <stdbool.h>

bool filter_is_valid(const char *filter);

/* filter NULL: yes.  By the name, and by what a file's header says; both must agree. */
bool filter_takes_name(const char *filter, const char *name);
bool filter_takes_matrix(const char *filter, const trs_mm *mm);

#endif
