/* refresh.c: new values for a plan, in the order of a stream and without the host. */
#include "config.h"

#include "base/device.h"
#include "refresh.h"

void trs_plan_require_refresh(trs_plan *p)
{
    p->ctx.refreshes = true;
}

bool trs_plan_refreshes(const trs_plan *p)
{
    if (!trs_plan_is_analysed(p) || !p->info.on_gpu || p->general || p->P || p->skip) return false;
    for (int k = 0; k < 2; k++)
        if (p->op[k].used && !p->solver[k].refreshes) return false;
    return true;
}

/* Of an operator that holds the values, these are brought by the refresh itself. */
static int prepare(trs_operator *op)
{
    const int rc = trs_operator_prepare(op);
    return rc ? rc : trs_operator_device(op, op->held & ~(unsigned)TRS_OP_VALUES);
}

int trs_refresh_prepare(trs_plan *p)
{
    int rc = TRS_OK;
    for (int k = 0; k < 2 && !rc && p->info.on_gpu; k++)
        if (p->op[k].used && p->solver[k].refreshes) rc = prepare(&p->op[k]);
    if (!rc && !p->branch && p->info.on_gpu && p->op[0].used && p->op[1].used)
        rc = trs_gpu_branch_new(&p->ctx, &p->branch);
    return rc;
}

/* Has all been allocated that a refresh needs?  Parts of cuda-segments have what they need after their first values. */
static bool is_prepared(const trs_plan *p)
{
    bool prepared = p->state == TRS_READY;
    for (int k = 0; k < 2; k++) {
        const trs_operator *op = &p->op[k];
        const unsigned held = op->held & ~(unsigned)TRS_OP_VALUES;
        if (!op->used) continue;
        prepared = prepared && op->device.val && (!op->tri.src || op->device.src) &&
                   !(held & ~op->on_device);
    }
    return prepared;
}

static int check(const trs_plan *p, const trs_mat *mat, void *stream)
{
    if (!p || !mat) return trs_fail(TRS_EARG, "refresh: plan or mat is NULL");
    int rc = trs_plan_check_analysed(p, "refresh");
    if (!rc) rc = trs_check_values(mat);
    if (rc) return rc;
    if (!trs_same_arrays(&p->shape, mat))
        return trs_fail(TRS_EARG, "refresh: n, nnz, ld, block, dtype or format differ from create");
    if (!trs_plan_refreshes(p))
        return trs_fail(TRS_ESUPPORT, "refresh: %s takes new values by the host", p->wanted->name);
    if (mat->device != TRS_CUDA(p->ctx.device))
        return trs_fail(TRS_EARG, "refresh: the values are not on the device of the plan");
    if (!is_prepared(p) && trs_gpu_is_capturing(stream))
        return trs_fail(TRS_ESTATE, "refresh: the first one cannot be captured in a graph");
    return TRS_OK;
}

static int take(trs_plan *p, int k, const void *val, void *stream)
{
    if (!p->op[k].used) return TRS_OK;
    const int rc = trs_operator_take_values(&p->op[k], val, true, stream);
    return rc ? rc : trs_instance_refresh(&p->solver[k], stream);
}

/* T and T' side by side. */
static int take_both(trs_plan *p, const void *val, void *stream)
{
    void *side;
    int rc = trs_gpu_fork(p->branch, stream, &side);
    if (rc) return rc;
    rc = take(p, 1, val, side);
    if (!rc) rc = take(p, 0, val, stream);
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
    if (!rc) rc = trs_refresh_prepare(p);
    if (!rc) rc = take_both(p, mat->val, stream);
    if (rc == TRS_EDEVICE) return trs_fail(rc, "refresh on the device");
    if (rc) return rc;
    p->bad_pivots = 0;
    p->first_bad = -1;
    p->pivots_known = true;
    p->state = TRS_READY;
    return TRS_OK;
}

int trs_plan_growth(trs_plan *p, void *stream, double *growth)
{
    int rc = p->info.on_gpu ? trs_gpu_use(&p->ctx) : TRS_OK;
    *growth = 0;
    for (int k = 0; k < 2 && !rc; k++) {
        trs_instance *i = &p->solver[k];
        if (!p->op[k].used) continue;
        rc = trs_instance_find_growth(i, stream);
        if (!(i->growth <= *growth)) *growth = i->growth; /* a NaN is not less */
    }
    return rc;
}
