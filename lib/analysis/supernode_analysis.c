/* supernode_analysis.c: makes supernodes an analysis of an operator, where its pattern looks as if it had any. */
#include "config.h"

#include "matrix/on_device.h"
#include "supernodal/steps.h"
#include "supernodes.h"

/* Does it look as if there were supernodes?  The pattern is looked at where it is. */
static bool is_likely(trs_operator *op)
{
    int64_t common[2];
    if (!(op->on_device & TRS_OP_PATTERN)) return trs_supernodes_likely(op->ctx, &op->tri);
    if (trs_gpu_common(op, common)) return true; /* then the host will see */
    return trs_supernodes_common(&op->tri, common[0], common[1]);
}

/* Supernodes are made on the host.  Of a pattern that is on the device only, its runs of columns are copied. */
static int make(trs_operator *op, bool needed, void *result, bool *found)
{
    trs_context *ctx = op->ctx;
    trs_run_pattern runs;
    if (!needed && !is_likely(op)) return TRS_OK;
    int rc = op->on_host & TRS_OP_PATTERN ? trs_run_pattern_make(ctx, &op->tri, &runs)
                                          : trs_run_pattern_fetch(op, &runs);
    if (!rc) rc = trs_supernodes_of_runs(ctx, &runs, result);
    else trs_run_pattern_free(ctx, &runs);
    *found = !rc;
    return rc;
}

static void trim(trs_context *ctx, void *result)
{
    trs_supernodes_free(ctx, result);
}

const trs_analysis trs_supernode_analysis = {
    .name = "supernodes", .size = sizeof(trs_supernodes), .make = make, .trim = trim};
