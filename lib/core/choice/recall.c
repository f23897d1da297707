/* recall.c: the choice by wisdom: what measuring has found for such a plan, now or in an earlier run (select/wisdom.h). */
#include "config.h"

#include "choice.h"
#include "select/wisdom.h"

#include <math.h>
#include <stdio.h>

/* The key of a plan that has its operators, in the order in which create imported the rows. */
static int key_of(trs_plan *p, trs_wisdom *w)
{
    return trs_wisdom_key(&p->side[0].op, p->given.kind, p->on_device, p->order, w);
}

bool trs_recall(trs_plan *p, const trs_prospect *s, trs_candidate *c, char *ignored, size_t size)
{
    trs_wisdom w;
    ignored[0] = '\0';
    if (trs_wisdom_is_empty()) return false;
    if (key_of(p, &w)) return trs_forget(), false;
    if (!trs_wisdom_find(&w)) return false;
    const trs_solver *solver = trs_solver_named(w.solver);
    if (!solver) return false;
    if (!trs_candidate_of(s, solver, p->on_device, c)) {
        snprintf(ignored, size, "; wisdom ignored: %s cannot be chosen here", w.solver);
        return false;
    }
    const size_t used = trs_describe_shape(p->reason, sizeof p->reason, &s->shape);
    snprintf(p->reason + used, sizeof p->reason - used, ": wisdom: %s took %.3g ms here", w.solver,
             1e3 * w.seconds);
    return true;
}

/* Of the seconds that are kept: 0.1 ns, below what any clock tells, so that files have short numbers, and none is 0. */
static const double RESOLUTION = 1e10;

void trs_remember(trs_plan *p, const trs_solver *solver, double seconds)
{
    trs_wisdom w;
    int rc = key_of(p, &w);
    snprintf(w.solver, sizeof w.solver, "%s", solver->name);
    w.seconds = fmax(1, round(seconds * RESOLUTION)) / RESOLUTION;
    if (!rc) rc = trs_wisdom_add(&w);
    if (rc) trs_forget();
}
