/* calibrate.h: --calibrate: what steps cost on this machine, single ones and those of every solver. */
#ifndef TRS_BIN_BENCH_CALIBRATE_H
#define TRS_BIN_BENCH_CALIBRATE_H

#include "bin/bench/measure/host.h"
#include "bin/bench/measure/settings.h"

/* Writes the costs to the file that is named in the settings, or to standard output; returns an
 * exit code. */
int calibrate(const settings *s, const host *h);

#endif
