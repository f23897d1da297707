/* contiguous.c: copies B and X to where their columns are contiguous, and back, unless they are so already. */
#include "config.h"

#include "contiguous.h"
#include "vectors/gather.h"

int64_t trs_contiguous_bytes(const trs_instance *inst, int nrhs)
{
    const trs_tri *L = &inst->op->tri;
    return (L->n * (int64_t)trs_size(L->dtype) * nrhs + 63) / 64 * 64;
}

int trs_solve_contiguous(const trs_instance *inst, const trs_job *job, trs_contiguous_fn body)
{
    const trs_tri *L = &inst->op->tri;
    const int64_t step = inst->op->reversed ? -1 : 1;
    trs_job inner = *job;
    inner.work = (char *)job->work + trs_contiguous_bytes(inst, job->nrhs);
    if (job->b.rs == step && job->x.rs == step) {
        inner.b = trs_view_natural(inst->op, job->b);
        inner.x = trs_view_natural(inst->op, job->x);
        return body(inst, &inner);
    }
    const trs_view y = {job->work, 1, L->n};
    const trs_view rows = trs_view_natural(inst->op, y);
    const trs_gather copy = {.n = L->n, .nrhs = job->nrhs, .from = L->dtype, .to = L->dtype};
    trs_gather_rows(&copy, job->threads, job->b, rows);
    inner.b = inner.x = y;
    const int rc = body(inst, &inner);
    trs_gather_rows(&copy, job->threads, rows, job->x);
    return rc;
}
