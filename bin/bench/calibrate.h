/* calibrate.h: --calibrate: what single steps cost on this machine. */
#ifndef TRS_BIN_BENCH_CALIBRATE_H
#define TRS_BIN_BENCH_CALIBRATE_H

#include "measure/host.h"
#include "measure/settings.h"

/* Writes the costs to the file that is named in the settings, or to standard output; returns an
 * exit code. */
int calibrate(const settings *s, const host *h);

#endif
