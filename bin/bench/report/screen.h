/* screen.h: what the reports on the screen have in common. */
#ifndef TRS_BIN_BENCH_SCREEN_H
#define TRS_BIN_BENCH_SCREEN_H

#include "bin/bench/measure/host.h"

void print_host(const host *h); /* the head of a table */

#endif
