/* run.h: everything that is named is measured and reported. */
#ifndef TRS_BIN_BENCH_RUN_H
#define TRS_BIN_BENCH_RUN_H

#include "args.h"

int run(const arguments *a); /* an exit code */

#endif
