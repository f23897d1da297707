/* recall.h: the choice by wisdom (select/wisdom.h) for a plan that has its operators. */
#ifndef TRS_RECALL_H
#define TRS_RECALL_H

#include "plan.h"

/* c: the solver that wisdom has for such a plan, which p->reason then says; false: there is none, or, as ignored [size]
 * says, one that cannot be chosen. */
bool trs_recall(trs_plan *p, const trs_prospect *s, trs_candidate *c, char *ignored, size_t size);
/* For later plans: this solver was the fastest, and took so long. */
void trs_remember(trs_plan *p, const trs_solver *solver, double seconds);

#endif
