/* supernode_analysis.c: makes supernodes an analysis of an operator, where its pattern looks as if it had any. */
#include "config.h"

#include "matrix/on_device.h"
#include "supernodes.h"

/* Does it look as if there were supernodes?  The pattern is looked at where it is. */
static bool is_likely(trs_operator *op)
{
    int64_t common[2];
    if (!(op->on_device & TRS_OP_PATTERN)) return trs_supernodes_likely(op->ctx, &op->tri);
    if (trs_gpu_common(op, common)) return true; /* then the host will see */
    return trs_supernodes_common(&op->tri, common[0], common[1]);
}

/* Supernodes are made on the host.  A pattern that was on the device only is on the host for that long. */
static int make(trs_operator *op, bool needed, void *result, bool *found)
{
    const bool resident = !(op->on_host & TRS_OP_PATTERN);
    if (!needed && !is_likely(op)) return TRS_OK;
    int rc = trs_operator_show(op, TRS_OP_PATTERN);
    if (!rc) rc = trs_supernodes_make(op->ctx, &op->tri, result);
    if (resident) trs_operator_leave_host(op);
    *found = !rc;
    return rc;
}

static void trim(trs_context *ctx, void *result)
{
    trs_supernodes_free(ctx, result);
}

const trs_analysis trs_supernode_analysis = {
    .name = "supernodes", .size = sizeof(trs_supernodes), .make = make, .trim = trim};
