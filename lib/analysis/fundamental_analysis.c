/* fundamental_analysis.c: makes fundamental supernodes an analysis of an operator, where its pattern looks as if it had
 * any. */
#include "config.h"

#include "matrix/on_device.h"
#include "supernodes.h"
#include "trapezoids.h"

/* Does it look as if there were supernodes?  The pattern is looked at where it is. */
static bool is_likely(trs_operator *op)
{
    int64_t common[2];
    if (op->on_host & TRS_OP_PATTERN) return trs_supernodes_likely(op->ctx, &op->tri);
    if (trs_gpu_common(op, common)) return true; /* then the host will see */
    return trs_supernodes_common(&op->tri, common[0], common[1]);
}

static int make(trs_operator *op, bool needed, void *result, bool *found)
{
    if (!needed && !is_likely(op)) return TRS_OK;
    const int rc = op->on_host & TRS_OP_PATTERN ? trs_fundamental_make(op->ctx, &op->tri, result)
                                                : trs_fundamental_fetch(op, result);
    *found = !rc;
    return rc;
}

static void trim(trs_context *ctx, void *result)
{
    trs_fundamental_free(ctx, result);
}

const trs_analysis trs_fundamental_analysis = {
    .name = "fundamental supernodes", .size = sizeof(trs_fundamental), .make = make, .trim = trim};
