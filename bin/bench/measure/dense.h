/* dense.h: --dense: every solver of full matrices over a range of sizes. */
#ifndef TRS_BIN_BENCH_DENSE_H
#define TRS_BIN_BENCH_DENSE_H

#include "result.h"
#include "settings.h"

/* Measures triangles, then general matrices, of the sizes that settings.names gives, or of a
 * default range.  Returns an exit code. */
int run_dense(const settings *s, taker to);

bool is_size(const char *text);

#endif
