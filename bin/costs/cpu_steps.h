/* cpu_steps.h: what single steps cost on this CPU. */
#ifndef TRS_BIN_COSTS_CPU_STEPS_H
#define TRS_BIN_COSTS_CPU_STEPS_H

#include "base/context.h"

/* Costs that were measured, in about so many seconds, are put into c, and the fact cpu_cache where the system may be
 * wrong about it; one that is lost in the noise, or hidden behind
 * another, becomes 0 or NaN.  solver, of the step that is being measured, is
 * told to watch, unless that is NULL. */
void cpu_steps(int threads, double seconds, trs_machine *c,
               void (*watch)(void *user, const char *solver), void *user);

/* The seconds of the fastest solve, of as many as there is time for, at least three.  NaN: it cannot be
 * solved.  *plan is to be destroyed by the caller in any case. */
double cpu_solve_seconds(const char *solver, int threads, const trs_mat *T, double seconds,
                         trs_plan **plan);

#endif
