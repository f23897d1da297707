/* recall.h: the choice by measuring, for a plan that has its operators, and by wisdom (select/wisdom.h), the results
 * of earlier measurements. */
#ifndef TRS_RECALL_H
#define TRS_RECALL_H

#include "plan.h"

/* c: the solver that wisdom has for such a plan, which p->reason then says; false: there is none, or, as ignored [size]
 * says, one that cannot be chosen. */
bool trs_recall(trs_plan *p, const trs_prospect *s, trs_candidate *c, char *ignored, size_t size);
/* For later plans: this solver was the fastest, and took so long. */
void trs_remember(trs_plan *p, const trs_solver *solver, double seconds);

/* Solve with count candidates, put the fastest first, and say so in p->reason (measure.c). */
int trs_measure(trs_plan *p, trs_operator *op, trs_candidate *c, int count);
/* cpu-serial is built: solve with the candidates that are to be tried, too, and put the fastest in its place, which
 * p->reason then says (measure.c). */
void trs_try(trs_plan *p);

#endif
