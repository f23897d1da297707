/* steps.h: what single steps cost on this machine. */
#ifndef TRS_BIN_BENCH_STEPS_H
#define TRS_BIN_BENCH_STEPS_H

#include "base/context.h"
#include "bin/bench/measure/settings.h"

/* Costs that were measured are put into c; one that is not measured here becomes NaN, or stays 0. */
void steps_cpu(const settings *s, int threads, trs_machine *c);
/* launches: those that a solve of cuda-dataflow takes */
void steps_gpu(const settings *s, double launches, trs_machine *c);

#endif
