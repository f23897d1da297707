/* trial.h: times CPU solvers that are built for the same operators against one another. */
#ifndef TRS_TRIAL_H
#define TRS_TRIAL_H

#include "solvers/solver.h"

enum { TRS_CONTENDERS = 4 };

typedef struct trs_contender {
    trs_instance own[2]; /* for op = N and T; solver NULL: that one is not used */
    double seconds;      /* of a solve with each of them */
} trs_contender;

/* Find the seconds of all.  Returns false if there is no memory for it. */
bool trs_trial(trs_contender *c, int count);

#endif
