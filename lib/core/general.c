/* general.c: plans of general dense matrices, whose operators store op(A) by columns.
 *
 * They have the same states, views and work spaces as plans of triangles, but no levels.  The side of TRS_T has an
 * operator that stores A'.  TRS_H is TRS_T with conjugated b and x, because conj (M) x = b is M conj (x) = conj (b). */
#include "config.h"

#include "general.h"
#include "base/device.h"
#include "matrix/on_device.h"
#include "base/noun.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool trs_is_general(const trs_mat *m)
{
    return m->format == TRS_DENSE && !(m->kind & (TRS_LOWER | TRS_UPPER | TRS_PERMUTED));
}

/* Copy op(A) by columns from A by columns. */
static int take_on_host(trs_operator *op, const trs_mat *m)
{
    const int64_t n = m->n, size = (int64_t)trs_size(m->dtype);
    const char *from = m->val;
    if (!op->full) op->full = trs_new(op->ctx, n * n, (size_t)size, "the full matrix");
    if (!op->full) return TRS_EMEM;
    char *to = op->full;
    const int64_t down = op->transposed ? n : 1, right = op->transposed ? 1 : n;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            memcpy(to + (i * down + j * right) * size, from + (j * m->ld + i) * size, (size_t)size);
    return TRS_OK;
}

static int take_on_device(trs_operator *op, const trs_mat *m, void *stream)
{
    void **to = &op->device.val;
    int rc = trs_gpu_use(op->ctx);
    if (rc) return rc;
    if (!*to) *to = trs_gpu_new(op->ctx, m->n * m->n, trs_size(m->dtype), "the full matrix");
    op->device.stream = stream;
    if (!*to) return TRS_EMEM;
    return trs_gpu_take_full(m->dtype, m->n, m->ld, op->transposed, m->val, *to, stream);
}

int trs_general_take(trs_plan *p, const trs_mat *m, bool there, void *stream)
{
    int rc = TRS_OK;
    TRS_ASSERT(p->general && m->format == TRS_DENSE && m->ld >= m->n);
    for (int k = 0; k < p->sides && !rc; k++) {
        trs_operator *op = &p->side[k].op;
        op->ctx = &p->ctx;
        op->general = true;
        op->transposed = p->side[k].transposed;
        op->tri.n = (int32_t)m->n;
        op->tri.dtype = m->dtype;
        rc = there ? take_on_device(op, m, stream) : take_on_host(op, m);
        op->on_host = there ? 0 : TRS_OP_VALUES;
        op->on_device = there ? TRS_OP_VALUES : 0;
    }
    return rc;
}

enum { SMALL = 500 }; /* with fewer rows a CPU is faster than the copies to the GPU */

/* The solver of this name if the plan can use it, else NULL. */
static const trs_solver *usable(const trs_plan *p, const char *name)
{
    const trs_solver *s = trs_solver_named(name);
    char why[200];
    if (!s || (p->ctx.bitwise && !(s->caps & TRS_CAP_BITWISE))) return NULL;
    if (p->on_device && s->place == TRS_ON_CPU) return NULL;
    return trs_solver_available(s, p->ctx.device, why, sizeof why) ? s : NULL;
}

/* The automatic choice is always a solver that exchanges rows. */
static const trs_solver *pivoting(const trs_plan *p)
{
    const trs_solver *s = NULL;
    if (p->info.n < SMALL) s = usable(p, "lapack-getrf");
    if (!s) s = usable(p, "cusolver-getrf");
    if (!s) s = usable(p, "lapack-getrf");
    return s;
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
    trs_prospect s;
    const char *why;
    trs_cost c;
    trs_prospect_of(&p->side[0].op, TRS_NEED, &s);
    const int64_t n = s.shape.n;
    p->info.levels = p->info.longest = n;
    p->info.widest = n > 0;
    const bool named = p->solver;
    if (!named) p->solver = pivoting(p);
    if (!p->solver) return nothing_pivots(p);
    p->info.predicted = trs_predict(&s, &p->ctx.machine, p->solver, NULL, p->on_device, &c, &why);
    snprintf(p->reason, sizeof p->reason, "a full matrix of %" PRId64 " %s: %s", n,
             trs_noun(n, "row", "rows"),
             named ? "named by the caller" : "LU with partial pivoting");
    return trs_check_fit(p->solver, &s);
}
