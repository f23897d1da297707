/* trial.h: times CPU solvers that are built for the same operators against one another. */
#ifndef TRS_TRIAL_H
#define TRS_TRIAL_H

#include "solvers/solver.h"

enum { TRS_CONTENDERS = 4 };

typedef struct trs_contender {
    trs_instance instance[2]; /* for each side of a plan */
    double seconds;           /* the sum over the sides of the seconds of a solve */
} trs_contender;

/* Add the seconds of count contenders for the sides begin .. end - 1 of a plan.  Returns false if there is no memory. */
bool trs_trial(trs_contender *c, int count, int begin, int end);

#endif
