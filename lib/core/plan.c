/* plan.c: analyse, update and destroy.
 *
 *     analyse  makes operators and levels (operators.c), chooses a solver, orders the rows as it wants them, builds
 *              instances of it and a work space, and gives them the first values
 *     update   brings new values to where the solvers read them, treats pivots, and tells the solvers.  If other rows
 *              have to be left out than before, it analyses again, with the same solver. */
#include "config.h"

#include "choice/choice.h"
#include "base/device.h"
#include "general.h"
#include "matrix/permuted.h"
#include "refresh.h"
#include "select/wisdom.h"
#include "work.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- values ------------------------------------------------------------------------------------ */

/* rc says whether the solvers have the values.  If the pivots are good, too, the plan can be solved with. */
static int values_known(trs_plan *p, int rc)
{
    if (!p->general && (!rc || rc == TRS_EPIVOT) && trs_pivots_report(p)) rc = TRS_EPIVOT;
    p->pivots_known = !rc || rc == TRS_EPIVOT;
    p->state = rc ? TRS_ANALYSED : TRS_READY;
    return rc;
}

/* ---- analyse: all of it ------------------------------------------------------------------------------ */

int trs_plan_finish(trs_plan *p, double start)
{
    TRS_ASSERT(p->solver && p->side[0].op.ctx && !p->work);
    p->state = TRS_FAILED; /* until all of it has worked */
    p->info.analyses++;
    int rc = trs_plan_keep_topo(p), values = TRS_OK;
    if (!rc) rc = values = trs_plan_build(p);
    if (values == TRS_EPIVOT) rc = TRS_OK;
    for (int k = 0; k < p->sides; k++)
        if (!p->side[k].grows_at) trs_operator_trim(&p->side[k].op);
    if (!rc && p->ctx.refreshes) rc = trs_refresh_prepare(p);
    if (!rc) rc = trs_work_make(&p->work, p, p->ctx.nrhs, &p->ctx);
    if (!rc) rc = trs_canceled(); /* in an attempt that the choice could do without */
    if (!rc) rc = values_known(p, values);
    p->info.seconds_analyse = trs_now() - start;
    p->info.seconds_vendor = p->ctx.seconds_vendor;
    return rc;
}

/* Order the rows and finish.  The operators are there, and the solver is known. */
static int order_and_finish(trs_plan *p, double start)
{
    const trs_order order = p->order ? p->order : p->solver->order;
    const bool by_level = order == TRS_ORDER_LEVEL && !p->general;
    int rc = TRS_OK;
    for (int k = 0; k < p->sides && by_level && !rc; k++)
        rc = trs_plan_order_by_level(&p->side[k].op);
    if (rc) return rc;
    return trs_plan_finish(p, start);
}

static int analyse(trs_plan *p)
{
    if (!p) return trs_fail(TRS_EARG, "analyse: plan is NULL");
    if (p->state != TRS_CREATED) return trs_fail(TRS_ESTATE, "analyse: not a fresh plan");
    const double start = trs_now();
    p->state = TRS_FAILED;
    int rc = trs_wisdom_from_environment();
    if (!rc && p->general) rc = trs_general_choose(p);
    else if (!rc) rc = trs_plan_make_operators(p);
    if (!rc && !p->general) rc = trs_plan_choose_quickly(p);
    if (!rc && !p->general && !p->side[0].quick) rc = trs_plan_choose(p);
    if (!rc) rc = order_and_finish(p, start);
    return rc;
}

int trs_plan_analyse(trs_plan *p)
{
    trs_enter();
    return trs_leave(analyse(p));
}

/* ---- new values -------------------------------------------------------------------------------------- */

/* Free all that an analysis has made. */
static void forget_analysis(trs_plan *p)
{
    trs_work_destroy(p->work);
    p->work = NULL;
    for (int k = 0; k < p->sides; k++) trs_retired_free(&p->side[k]);
    if (p->topo != p->side[0].op.lv.topo) trs_free(&p->ctx.mem, (void *)p->topo);
    p->topo = NULL;
    for (int k = 0; k < p->sides; k++) trs_instance_release(&p->side[k].instance);
    for (int k = 0; k < p->sides; k++) trs_operator_free(&p->side[k].op);
}

/* Other rows have to be left out: analyse what is left now.  The solver stays the same, since work spaces and captured
 * solves belong to it. */
static int analyse_again(trs_plan *p, const void *val)
{
    const double start = trs_now();
    forget_analysis(p);
    p->candidates = 0;
    p->info.seconds_levels = p->ctx.seconds_vendor = 0;
    int rc = trs_pivots_leave_out(p, val);
    p->info.nnz = p->imported.nnz;
    if (!rc) rc = trs_plan_make_operators(p);
    if (!rc) rc = trs_plan_choose(p);
    if (!rc) rc = order_and_finish(p, start);
    if (rc) forget_analysis(p);
    p->state = TRS_ANALYSED;
    return rc;
}

/* The triangle with all entries, those that are left out too, and their places in val. */
static const trs_tri *whole_triangle(trs_plan *p)
{
    return p->skip ? &p->whole : &p->side[0].op.tri;
}

/* Read new values of the matrix.  there: they are on the device that solves, else on the host. */
static int read_values(trs_plan *p, const trs_mat *mat, bool there, void *stream)
{
    int rc = TRS_OK;
    if (p->P) rc = trs_permuted_zeros(&p->ctx, mat, whole_triangle(p));
    if (rc) return rc;
    if (p->skip && (trs_pivots_other(p, mat->val) || !trs_plan_is_built(p)))
        return analyse_again(p, mat->val);
    if (p->general) rc = trs_general_take(p, mat, there, stream);
    for (int k = 0; k < p->sides && !rc && !p->general; k++)
        rc = trs_operator_take_values(&p->side[k].op, mat->val, there, stream);
    if (!rc) rc = trs_plan_give_values(p, stream);
    return rc;
}

/* May the values stay on the device?  Not where the host has to look which zeros, or which rows, are left out. */
static bool may_stay(const trs_plan *p, const trs_mat *mat)
{
    for (int k = 0; k < p->sides; k++) {
        const trs_side *side = &p->side[k];
        if (!trs_is_on_gpu(&side->instance)) return false;
        for (const trs_retired *r = side->retired; r; r = r->next)
            if (!trs_is_on_gpu(&r->instance)) return false;
    }
    return !p->P && !p->skip && mat->device == TRS_CUDA(p->ctx.device);
}

static int update(trs_plan *p, const trs_mat *mat, const trs_exec *exec)
{
    if (!p || !mat) return trs_fail(TRS_EARG, "update: plan or mat is NULL");
    trs_mat host;
    int rc = trs_plan_check_analysed(p, "update");
    if (rc) return rc;
    p->state = TRS_ANALYSED;
    p->pivots_known = false;
    rc = TRS_CHECK_RESERVED(exec, "trs_exec");
    if (!rc) rc = trs_check_values(mat);
    if (rc) return rc;
    if (!trs_same_arrays(&p->given, mat))
        return trs_fail(TRS_EARG, "update: n, nnz, ld, block, dtype or format differ from create");
    void *stream = exec ? exec->stream : NULL;
    if (may_stay(p, mat)) return values_known(p, read_values(p, mat, true, stream));
    if (mat->device > 0 && trs_gpu_wait(stream)) /* the stream may still be writing them */
        return trs_fail(TRS_EDEVICE, "update: the stream has failed");
    rc = trs_mat_fetch(&p->ctx, mat, false, &host);
    if (!rc) rc = read_values(p, &host, false, NULL);
    trs_mat_fetched(&p->ctx, mat, &host);
    return values_known(p, rc);
}

int trs_plan_update(trs_plan *p, const trs_mat *mat, const trs_exec *exec)
{
    trs_enter();
    return trs_leave(update(p, mat, exec));
}

/* ---- destroy ------------------------------------------------------------------------------------- */

void trs_plan_destroy(trs_plan *p)
{
    if (!p) return;
    trs_enter();
    trs_context *ctx = &p->ctx;
    forget_analysis(p);
    trs_tri_free(ctx, &p->imported);
    trs_tri_free(ctx, &p->whole);
    trs_free(&ctx->mem, p->P);
    trs_free(&ctx->mem, p->Q);
    trs_gpu_free(ctx, p->P_dev);
    trs_gpu_free(ctx, p->Q_dev);
    trs_free(&ctx->mem, p->skip);
    trs_gpu_free(ctx, p->skip_dev);
    trs_gpu_branch_free(ctx, p->branch);
    trs_gpu_drop_ring(ctx);
    trs_gpu_drop_scratch(ctx);
    pthread_mutex_destroy(&p->topo_lock);
    trs_memory mem = ctx->mem;
    trs_free(&mem, p);
    trs_leave_silently();
}
