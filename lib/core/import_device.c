/* import_device.c: makes the operators of a plan from a sparse matrix whose arrays are on the device, there. */
#include "config.h"

#include "base/device.h"
#include "matrix/on_device.h"
#include "plan.h"

static bool is_resident_sparse(const trs_plan *p, const trs_mat *m)
{
    return m->device == TRS_CUDA(p->ctx.device) && m->format != TRS_DENSE &&
           !(m->kind & TRS_PERMUTED) && m->n > 0 && m->ptr && (m->idx || !m->nnz);
}

/* Can the plan do without the matrix on the host? */
static bool may_stay(const trs_plan *p)
{
    const bool named_elsewhere = p->solver && p->solver->place != TRS_ON_CUDA;
    return !named_elsewhere && !p->general && !p->measure && !p->ctx.limit &&
           p->pivot != TRS_PIVOT_SKIP && p->order != TRS_ORDER_LEVEL;
}

/* May it be canonical as it stands? */
static bool looks_canonical(const trs_mat *m)
{
    return m->format != TRS_BSR && !(m->kind & TRS_UNIT) && m->nnz >= m->n;
}

static int import_canonical(const trs_mat *m, trs_operator *op)
{
    op->tri.nnz = m->nnz;
    int rc = trs_operator_new_resident(op, m->nnz, op->reversed);
    if (!rc) rc = trs_gpu_canonical(m, op);
    if (rc) trs_operator_forget(op);
    return rc;
}

static int import_side(trs_plan *p, const trs_mat *m, trs_side *side)
{
    trs_operator *op = &side->op;
    const bool turned = side->transposed != p->imported_is_t;
    op->ctx = &p->ctx;
    op->transposed = side->transposed;
    op->tri = (trs_tri){.n = (int32_t)m->n, .dtype = m->dtype};
    op->reversed = trs_counts_backwards(p, side->transposed);
    int rc = TRS_EMATRIX;
    if (!turned && looks_canonical(m)) rc = import_canonical(m, op);
    if (rc == TRS_EMATRIX) rc = trs_gpu_import(m, turned, op);
    op->on_device = TRS_OP_PATTERN | TRS_OP_VALUES;
    return rc;
}

/* If there is no memory for the import there, the host does it: the device has to hold less then. */
int trs_plan_import_there(trs_plan *p, const trs_mat *m, bool *done)
{
    *done = false;
    if (!is_resident_sparse(p, m) || !may_stay(p)) return TRS_OK;
    int rc = trs_gpu_use(&p->ctx);
    for (int k = 0; k < p->sides && !rc; k++) rc = import_side(p, m, &p->side[k]);
    *done = !rc;
    for (int k = 0; k < p->sides && rc; k++) trs_operator_free(&p->side[k].op);
    if (rc == TRS_EMATRIX) return TRS_OK;
    if (rc != TRS_EMEM) return rc;
    trs_gpu_drop_scratch(&p->ctx);
    trs_forget();
    return TRS_OK;
}
