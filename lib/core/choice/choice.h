/* choice.h: which solver a plan has, and when it gets another one.
 *
 *     build.c    chooses by the others, and builds it
 *     recall.c   by wisdom (select/wisdom.h), the results of earlier measurements
 *     measure.c  by solving with the candidates
 *     predict.c  what is predicted of a plan that is built
 *     grow.c     plans that begin with a solver that is prepared fast
 */
#ifndef TRS_CHOICE_H
#define TRS_CHOICE_H

#include "core/plan.h"

/* ---- choosing and building (build.c) ------------------------------------------------------------- */

/* Choose among all solvers by the first of the sides p->begin .. p->end - 1.  shape and reason of the plan become those. */
int trs_plan_choose(trs_plan *p);
/* Build the chosen solver, or another one, for these sides.  Returns TRS_EPIVOT if it is built, but has no values that it
 * can solve with. */
int trs_plan_build(trs_plan *p);
/* Treat the pivots of new values, and give the values to all that was built for the sides that are being built.  Work on the
 * device is waited for. */
int trs_plan_give_values(trs_plan *p, void *stream);

/* ---- growth (grow.c) ------------------------------------------------------------------------------ */

/* Choose what is prepared fastest, and set when the sides grow; or, where it does not pay to begin with that, do nothing:
 * then the sides are not quick. */
int trs_plan_choose_quickly(trs_plan *p);
/* Before a solve of so many right-hand sides with the plan's own work space: grow, if it is time. */
void trs_plan_count(trs_plan *p, trs_side *side, int nrhs, void *stream);
void trs_plan_stay(trs_plan *p, int begin, int end); /* these sides do not grow any more */
void trs_retired_free(trs_side *side);

/* ---- prediction (predict.c) ----------------------------------------------------------------------- */

/* Seconds of a solve by what is built, with T or its transpose, and of its share of an update (predict.c). */
double trs_plan_cost(trs_plan *p, const trs_machine *m, trs_effort effort, int solves_per_update);

/* ---- wisdom (recall.c) ---------------------------------------------------------------------------- */

/* Find the solver that wisdom has for such a plan, and set c and p->reason.  false: there is none, or it cannot be chosen
 * here, which ignored [size] reports. */
bool trs_recall(trs_plan *p, const trs_prospect *s, trs_candidate *c, char *ignored, size_t size);
/* Store in wisdom, for later plans, that this solver was the fastest, and its seconds. */
void trs_remember(trs_plan *p, const trs_solver *solver, double seconds);

/* ---- measuring (measure.c) ------------------------------------------------------------------------ */

/* Solve with count candidates, put the fastest first, and report it in p->reason (measure.c). */
int trs_measure(trs_plan *p, trs_operator *op, trs_candidate *c, int count);
/* cpu-serial is built: solve also with the candidates that are to be tried, replace it by the fastest, and report it in
 * p->reason (measure.c). */
void trs_try(trs_plan *p);

#endif
