/* refresh_device.c: new values for a plan, in the order of a stream and without the host. */
#include "config.h"

#include "choice/choice.h"
#include "base/device.h"
#include "refresh.h"

/* What a solver holds on the device besides the values, which the refresh brings. */
static unsigned held_besides_values(const trs_operator *op)
{
    return (op->held | op->kept) & ~(unsigned)TRS_OP_VALUES;
}

int trs_refresh_prepare(trs_plan *p)
{
    int rc = TRS_OK;
    if (!trs_is_on_gpu(&p->side[0].instance)) return TRS_OK;
    for (int k = 0; k < p->sides && !rc; k++) {
        trs_operator *op = &p->side[k].op;
        if (!p->side[k].instance.refreshes) continue;
        rc = trs_operator_prepare(op);
        if (!rc) rc = trs_operator_device(op, held_besides_values(op));
    }
    if (!rc && !p->branch && p->sides == 2) rc = trs_gpu_branch_new(&p->ctx, &p->branch);
    return rc;
}

/* Has all been allocated that a refresh needs?  Parts of cuda-segments have what they need after their first values. */
static bool is_prepared(const trs_plan *p)
{
    if (p->state != TRS_READY) return false;
    for (int k = 0; k < p->sides; k++) {
        const trs_operator *op = &p->side[k].op;
        if (!op->device.val || (op->tri.src && !op->device.src)) return false;
        if (held_besides_values(op) & ~op->on_device) return false;
    }
    return true;
}

static int check(const trs_plan *p, const trs_mat *mat, void *stream)
{
    if (!p || !mat) return trs_fail(TRS_EARG, "refresh: plan or mat is NULL");
    int rc = trs_plan_check_analysed(p, "refresh");
    if (!rc) rc = trs_check_values(mat);
    if (rc) return rc;
    if (!trs_same_arrays(&p->given, mat))
        return trs_fail(TRS_EARG, "refresh: n, nnz, ld, block, dtype or format differ from create");
    if (!trs_plan_refreshes(p))
        return trs_fail(TRS_ESUPPORT, "refresh: %s takes new values by the host",
                        p->side[0].instance.solver->name);
    if (mat->device != TRS_CUDA(p->ctx.device))
        return trs_fail(TRS_EARG, "refresh: the values are not on the device of the plan");
    if (!is_prepared(p) && trs_gpu_is_capturing(stream))
        return trs_fail(TRS_ESTATE, "refresh: the first one cannot be captured in a graph");
    return TRS_OK;
}

static int refresh_side(trs_side *side, const void *val, void *stream)
{
    int rc = trs_operator_take_values(&side->op, val, true, stream);
    if (!rc) rc = trs_instance_refresh(&side->instance, stream);
    for (trs_retired *r = side->retired; r && !rc; r = r->next)
        rc = trs_instance_refresh(&r->instance, stream);
    return rc;
}

/* T on the stream, and T' at the same time on the branch. */
static int refresh_sides(trs_plan *p, const void *val, void *stream)
{
    void *beside;
    if (p->sides == 1) return refresh_side(&p->side[0], val, stream);
    TRS_ASSERT(p->branch);
    int rc = trs_gpu_fork(p->branch, stream, &beside);
    if (rc) return rc;
    rc = refresh_side(&p->side[1], val, beside);
    if (!rc) rc = refresh_side(&p->side[0], val, stream);
    const int joined = trs_gpu_join(p->branch, stream);
    return rc ? rc : joined;
}

int trs_plan_refresh(trs_plan *p, const trs_mat *mat, const trs_exec *exec)
{
    void *stream = exec ? exec->stream : NULL;
    int rc = check(p, mat, stream);
    if (rc) return rc;
    p->state = TRS_ANALYSED;
    p->pivots_known = false;
    rc = trs_gpu_use(&p->ctx);
    if (trs_gpu_is_capturing(stream))
        trs_plan_stay(p, 0, p->sides); /* a replay brings values to what is there now */
    if (!rc) rc = trs_refresh_prepare(p);
    if (!rc) rc = refresh_sides(p, mat->val, stream);
    if (rc == TRS_EDEVICE) return trs_fail(rc, "refresh on the device");
    if (rc) return rc;
    p->bad_pivots = 0;
    p->first_bad = -1;
    p->pivots_known = true;
    p->state = TRS_READY;
    return TRS_OK;
}
