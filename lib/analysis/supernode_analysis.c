/* supernode_analysis.c: makes supernodes with packed panels an analysis of an operator, where it has fundamental ones. */
#include "config.h"

#include "supernodes.h"
#include "trapezoids.h"

static int make(trs_operator *op, bool needed, void *result, bool *found)
{
    const void *fundamental;
    int rc = trs_operator_analysis(op, &trs_fundamental_analysis, needed, &fundamental);
    if (rc || !fundamental) return rc;
    rc = trs_supernodes_of(op->ctx, fundamental, result);
    *found = !rc;
    return rc;
}

static void trim(trs_context *ctx, void *result)
{
    trs_supernodes_free(ctx, result);
}

const trs_analysis trs_supernode_analysis = {
    .name = "supernodes", .size = sizeof(trs_supernodes), .make = make, .trim = trim};
