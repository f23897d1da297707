/* predict.h: what programs need of the library in addition to its public interface, to measure the costs of this
 * machine.
 *
 * The library exports these functions for its own programs only: trs_machine changes with every added cost.  A
 * program first checks that trs_version () is the TRS_VERSION that it was compiled with. */
#ifndef TRS_PREDICT_H
#define TRS_PREDICT_H

#include "base/context.h"

/* The costs that an analysed plan goes by: TRS_OK, TRS_EARG, TRS_ESTATE. */
TRS_API int trs_plan_machine(const trs_plan *plan, trs_machine *machine);
/* Seconds that a solve by an analysed plan is predicted to take on that machine; of T and its transpose the mean, if
 * both were announced.  NaN: the plan is not analysed, or its solver would not be chosen for it at any cost. */
TRS_API double trs_plan_predict(const trs_plan *plan, const trs_machine *machine);

/* Is there no file that says what steps cost on this CPU, neither by TRISOLVE_MACHINE nor in the user's cache?  Then a
 * program may write one to path [size], where plans look for it; *about: what the CPU says of itself, for a comment. */
TRS_API bool trs_cpu_costs_wanted(char *path, size_t size, const char **about);

#endif
