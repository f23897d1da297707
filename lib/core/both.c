/* both.c: both triangles of factors by one launch.
 *
 * The plans remain two, each with an instance and a work space for its triangle, so that any other solve with them goes on
 * as before.  What is shared is the launch: y stays where the first triangle publishes it, and permutations and scaling
 * are done where b is read and x is written.  For small factors on a GPU that saves 3 to 6 us of 40 to 110. */
#include "config.h"

#include "base/device.h"
#include "both.h"
#include "matrix/on_device.h"
#include "work.h"

static trs_side *side_of(const trs_two_plans *two, int k)
{
    return trs_plan_side(two->of[k].plan, two->of[k].op != TRS_N);
}

/* May this half be part of such a launch?  This asks for nothing that other threads may be changing. */
static bool may_join(const trs_two_plans *two, int k)
{
    const trs_plan *p = two->of[k].plan;
    const trs_side *side = side_of(two, k);
    return p->state == TRS_READY && side && p->on_device && !p->P && !side->op.perm && !p->skip;
}

/* With its own work space a plan that grows counts its solves, and may change its solver at any. */
static bool grows(const trs_two_plans *two, int k)
{
    const trs_plan *p = two->of[k].plan;
    return !two->of[k].work && (p->side[0].grows_at || p->side[1].grows_at);
}

/* Solves with the same plan and its own work space take that once. */
static bool same_space(const trs_two_plans *two)
{
    if (two->of[0].work || two->of[1].work) return two->of[0].work == two->of[1].work;
    return two->of[0].plan == two->of[1].plan;
}

static atomic_bool *solving(const trs_two_plans *two, int k)
{
    trs_work *w = two->of[k].work;
    return w ? &w->solving : &((trs_plan *)two->of[k].plan)->solving;
}

static int take(const trs_two_plans *two, int k)
{
    return trs_work_take(solving(two, k), two->of[k].work ? NULL : "plan", "trs_work_create");
}

/* With work spaces that no other solve takes. */
static int solve(const trs_two_plans *two, bool *done)
{
    trs_job job[2];
    trs_both both = {.order_b = two->order_b,
                     .order_x = two->order_x,
                     .scale_b = two->scale_b,
                     .scale_x = two->scale_x};
    int rc = TRS_OK;
    if (grows(two, 0) || grows(two, 1)) return TRS_OK;
    for (int k = 0; k < 2 && !rc; k++) {
        const trs_plan *p = two->of[k].plan;
        trs_work *w = two->of[k].work ? two->of[k].work : p->work;
        job[k] = (trs_job){.nrhs = 1, .stream = two->stream};
        job[k].conj = two->of[k].op == TRS_H && trs_is_complex(p->given.dtype);
        rc = trs_work_find(p, w, side_of(two, k), &both.of[k].instance, &job[k]);
        both.of[k].job = &job[k];
    }
    if (rc) return rc;
    const trs_solver *s = both.of[0].instance->solver;
    if (!s->solve_both || s != both.of[1].instance->solver) return TRS_OK;
    job[0].b = two->b;
    job[1].x = two->x;
    rc = s->solve_both(&both);
    *done = rc != TRS_ESUPPORT;
    return *done ? rc : TRS_OK;
}

int trs_solve_both(const trs_two_plans *two, bool *done)
{
    *done = false;
    if (!may_join(two, 0) || !may_join(two, 1)) return TRS_OK;
    int rc = take(two, 0);
    if (rc) return rc;
    const bool one = same_space(two);
    if (!one) rc = take(two, 1);
    if (!rc) {
        rc = solve(two, done);
        if (!one) trs_work_release(solving(two, 1));
    }
    trs_work_release(solving(two, 0));
    return rc;
}
