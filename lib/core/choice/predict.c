/* predict.c: what a solve by a plan that is built takes on some machine. */
#include "config.h"

#include "choice.h"
#include "select/predict.h"

#include "base/device.h"

#include <math.h>

double trs_plan_cost(trs_plan *p, const trs_machine *m, trs_effort effort, int solves_per_update)
{
    double sum = 0;
    for (int k = p->begin; k < p->end; k++) {
        trs_side *side = &p->side[k];
        trs_prospect s;
        const char *why;
        trs_cost c;
        trs_prospect_of(&side->op, effort, &s);
        sum += trs_predict(&s, m, side->instance.solver, &side->instance, p->on_device, &c, &why);
        sum += trs_seconds_each(&c, solves_per_update) - trs_seconds(&c);
    }
    return sum / (p->end - p->begin);
}

int trs_plan_machine(const trs_plan *p, trs_machine *m)
{
    trs_enter();
    if (!m) return trs_leave(trs_fail(TRS_EARG, "machine: machine is NULL"));
    const int rc = trs_plan_check_analysed(p, "machine");
    if (!rc) *m = p->ctx.machine;
    return trs_leave(rc);
}

/* Estimates of what was built may look at flags on the device. */
double trs_plan_predict(const trs_plan *plan, const trs_machine *m)
{
    trs_plan *p = (trs_plan *)plan; /* analyses are kept in it */
    double seconds = NAN;
    trs_enter();
    const bool possible = p && m && trs_plan_is_analysed(p) && trs_plan_is_built(p);
    if (possible && (p->solver->place == TRS_ON_CPU || !trs_gpu_use(&p->ctx)))
        seconds = trs_plan_cost(p, m, TRS_LOOK, 0);
    trs_leave_silently();
    return seconds;
}
