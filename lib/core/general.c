/* general.c: plans of general dense matrices: keep op(A) by columns, choose a solver, judge pivots.
 *
 * The same plan, states, views and work spaces as for a triangle; there are no levels and no parts but
 * one.  op = T is a side of its own that holds A'; op = H is T with conjugated b and x, for
 * conj (M) x = b is M conj (x) = conj (b). */
#include "config.h"

#include "general.h"
#include "base/device.h"
#include "solvers/on_device.h"
#include "base/noun.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool trs_is_general(const trs_mat *m)
{
    return m->format == TRS_DENSE && !(m->kind & (TRS_LOWER | TRS_UPPER | TRS_PERMUTED));
}

static int side_new(trs_context *ctx, trs_side *s, const trs_mat *m)
{
    s->tri.n = (int32_t)m->n;
    s->tri.dtype = m->dtype;
    s->full = trs_new(ctx, m->n * m->n, trs_size(m->dtype), "the full matrix");
    return s->full ? TRS_OK : TRS_EMEM;
}

int trs_general_read(trs_plan *p, const trs_mat *m)
{
    const int64_t n = m->n, size = (int64_t)trs_size(m->dtype);
    const char *from = m->val;
    for (int k = 0; k < 2; k++) {
        trs_side *s = &p->side[k];
        if (!s->used) continue;
        int rc = s->full ? TRS_OK : side_new(&p->ctx, s, m);
        if (rc) return rc;
        char *to = s->full;
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++)
                memcpy(to + (k == 0 ? j * n + i : i * n + j) * size, from + (j * m->ld + i) * size,
                       (size_t)size);
    }
    return TRS_OK;
}

enum { SMALL = 500 }; /* rows below which a CPU is faster than the way to the GPU */

/* The automatic choice always pivots. */
static const trs_solver *pivoting(const trs_plan *p)
{
    const bool cpu_first = !p->on_device && p->info.n < SMALL;
    const char *const name[2] = {cpu_first ? "lapack-getrf" : "cusolver-getrf",
                                 cpu_first ? "cusolver-getrf" : "lapack-getrf"};
    char why[200];
    for (int k = 0; k < 2; k++) {
        const trs_solver *s = trs_solver_named(name[k]);
        if (s && p->ctx.bitwise && !(s->caps & TRS_CAP_BITWISE)) continue;
        if (s && !(p->on_device && s->place == TRS_ON_CPU) &&
            trs_solver_available(s, p->ctx.device, why, sizeof why))
            return s;
    }
    return NULL;
}

static int nothing_pivots(const trs_plan *p)
{
    char why[200];
    if (p->ctx.bitwise)
        return trs_fail(TRS_ESUPPORT,
                        "no solver that exchanges rows promises the same bits; name another");
    if (trs_solver_available(trs_solver_named("lapack-getrf"), p->ctx.device, why, sizeof why))
        return trs_fail(TRS_ESUPPORT, "a general matrix on a device needs cuSOLVER");
    return trs_fail(TRS_ESUPPORT,
                    "a general matrix needs LAPACK or cuSOLVER, and neither is here (%s)", why);
}

int trs_general_choose(trs_plan *p)
{
    const trs_side *s = &p->side[p->side[0].used ? 0 : 1];
    trs_shape shape;
    trs_shape_of(&p->ctx, s, &shape);
    p->info.levels = p->info.longest = shape.n;
    p->info.widest = shape.n > 0;
    const bool named = p->wanted;
    if (!named) p->wanted = pivoting(p);
    if (!p->wanted) return nothing_pivots(p);
    trs_cost c;
    p->info.predicted = trs_predict(&p->ctx, p->wanted, NULL, &shape, p->on_device, &c);
    snprintf(p->reason, sizeof p->reason, "a full matrix of %" PRId64 " %s: %s", shape.n,
             trs_noun(shape.n, "row", "rows"),
             named ? "named by the caller" : "LU with partial pivoting");
    if (!trs_fits(p->wanted, &shape, p->ctx.limit))
        return trs_fail(TRS_EMEM, "%s would need %.3g bytes, over the limit", p->wanted->name,
                        (double)p->wanted->bytes(&shape));
    return TRS_OK;
}
