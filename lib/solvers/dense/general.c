/* general.c: how a factorisation of a general dense matrix went, and the diagonal of U. */
#include "config.h"

#include "base/device.h"
#include "general.h"

#include <inttypes.h>
#include <string.h>

int trs_general_judge(trs_instance *inst, double growth, int64_t first)
{
    trs_context *ctx = inst->ctx;
    inst->growth = growth;
    inst->breakdown = first;
    if (first < 0) return TRS_OK;
    return trs_fail(TRS_EPIVOT, "row %" PRId64 ": the pivot is zero, tiny or not finite%s",
                    first + ctx->base,
                    inst->solver->caps & TRS_CAP_PIVOTS ? ": the matrix is singular"
                                                        : ", and rows are not exchanged");
}

/* ---- the diagonal of U -------------------------------------------------------------------------- */

void trs_general_diagonal(const trs_instance *inst, const void *lu, void *u)
{
    const trs_tri *t = &inst->op->tri;
    const size_t size = trs_size(t->dtype), n = (size_t)t->n;
    for (size_t k = 0; k < n; k++)
        memcpy((char *)u + k * size, (const char *)lu + k * (n + 1) * size, size);
}

int trs_general_diagonal_there(const trs_instance *inst, const void *lu, void *u)
{
    const trs_tri *t = &inst->op->tri;
    const size_t size = trs_size(t->dtype), n = (size_t)t->n;
    int rc = trs_gpu_copy_lines(u, size, lu, (n + 1) * size, size, n, false, NULL);
    if (!rc) rc = trs_gpu_wait(NULL);
    return rc ? trs_fail(rc, "the diagonal of U could not be read") : TRS_OK;
}
