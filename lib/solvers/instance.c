/* instance.c: builds a solver for an operator, and makes a work space for it. */
#include "config.h"

#include "base/debug.h"
#include "base/device.h"
#include "solver.h"

#include <string.h>

static int use_device(const trs_instance *i)
{
    return i->solver->place == TRS_ON_CUDA ? trs_gpu_use(i->ctx) : TRS_OK;
}

int trs_instance_build(trs_instance *i, trs_operator *op, const trs_solver *s)
{
    *i = (trs_instance){.ctx = op->ctx, .op = op, .solver = s, .refreshes = s->refreshes};
    op->held = 0;
    op->host_values_wanted = false;
    int rc = use_device(i);
    return !rc && s->build ? s->build(i) : rc;
}

int trs_instance_update(trs_instance *i, void *stream)
{
    int rc = use_device(i);
    if (!rc) rc = trs_operator_device(i->op, i->op->held | i->op->kept);
    if (!rc && i->solver->update) rc = i->solver->update(i, stream);
    return rc;
}

int trs_instance_refresh(trs_instance *i, void *stream)
{
    const trs_solver *s = i->solver;
    TRS_ASSERT(i->refreshes && i->op->on_device & TRS_OP_VALUES &&
               !((i->op->held | i->op->kept) & ~i->op->on_device));
    if (s->refresh) return s->refresh(i, stream);
    return s->update ? s->update(i, stream) : TRS_OK;
}

int trs_instance_find_growth(trs_instance *i, void *stream)
{
    return i->solver->find_growth ? i->solver->find_growth(i, stream) : TRS_OK;
}

void trs_instance_release(trs_instance *i)
{
    if (i->solver && i->solver->release && i->data) i->solver->release(i);
    memset(i, 0, sizeof *i);
}

int trs_instance_work_create(const trs_instance *i, trs_context *ctx, int nrhs,
                             trs_instance_work *w)
{
    const trs_solver *s = i->solver;
    *w = (trs_instance_work){.solver = s};
    if (s->work_create) return s->work_create(i, ctx, nrhs, &w->p);
    const int64_t bytes = s->work_bytes ? s->work_bytes(i, nrhs) : 0;
    if (!bytes) return TRS_OK;
    w->p = s->place == TRS_ON_CUDA ? trs_gpu_new(ctx, bytes, 1, "a work space")
                                   : trs_new(ctx, bytes, 1, "a work space");
    return w->p ? TRS_OK : TRS_EMEM;
}

void trs_instance_work_destroy(trs_context *ctx, trs_instance_work *w)
{
    if (!w->p) return;
    if (w->solver->work_destroy) w->solver->work_destroy(ctx, w->p);
    else if (w->solver->place == TRS_ON_CUDA) trs_gpu_free(ctx, w->p);
    else trs_free(&ctx->mem, w->p);
    w->p = NULL;
}
