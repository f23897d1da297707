/* recall.h: the choice by measuring, for a plan that has its operators, and by wisdom (select/wisdom.h), the results
 * of earlier measurements. */
#ifndef TRS_RECALL_H
#define TRS_RECALL_H

#include "plan.h"

/* Find the solver that wisdom has for such a plan, and set c and p->reason.  false: there is none, or it cannot be chosen
 * here, which ignored [size] reports. */
bool trs_recall(trs_plan *p, const trs_prospect *s, trs_candidate *c, char *ignored, size_t size);
/* Store in wisdom, for later plans, that this solver was the fastest, and its seconds. */
void trs_remember(trs_plan *p, const trs_solver *solver, double seconds);

/* Solve with count candidates, put the fastest first, and report it in p->reason (measure.c). */
int trs_measure(trs_plan *p, trs_operator *op, trs_candidate *c, int count);
/* cpu-serial is built: solve also with the candidates that are to be tried, replace it by the fastest, and report it in
 * p->reason (measure.c). */
void trs_try(trs_plan *p);

#endif
