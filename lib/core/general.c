/* general.c: plans of general dense matrices, of which op(A) is kept by columns.
 *
 * They have the same states, views and work spaces as plans of triangles, but no levels.  op = T is an operator of its
 * own that holds A'.  op = H is T with conjugated b and x, because conj (M) x = b is M conj (x) = conj (b). */
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
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            memcpy(to + (op->transposed ? i * n + j : j * n + i) * size,
                   from + (j * m->ld + i) * size, (size_t)size);
    return TRS_OK;
}

static int take_on_device(trs_operator *op, const trs_mat *m, void *stream)
{
    void **to = &op->device.val;
    int rc = trs_gpu_use(op->ctx);
    if (rc) return rc;
    if (!*to) *to = trs_gpu_new(op->ctx, m->n * m->n, trs_size(m->dtype), "the full matrix");
    op->device.stream = stream;
    return *to ? trs_gpu_take_full(m->dtype, m->n, m->ld, op->transposed, m->val, *to, stream)
               : TRS_EMEM;
}

int trs_general_take(trs_plan *p, const trs_mat *m, bool there, void *stream)
{
    int rc = TRS_OK;
    for (int k = 0; k < 2 && !rc; k++) {
        trs_operator *op = &p->op[k];
        if (!op->used) continue;
        op->ctx = &p->ctx;
        op->general = true;
        op->transposed = k == 1;
        op->tri.n = (int32_t)m->n;
        op->tri.dtype = m->dtype;
        rc = there ? take_on_device(op, m, stream) : take_on_host(op, m);
        op->on_host = there ? 0 : TRS_OP_VALUES;
        op->on_device = there ? TRS_OP_VALUES : 0;
    }
    return rc;
}

enum { SMALL = 500 }; /* with fewer rows a CPU is faster than the way to the GPU */

/* The automatic choice is always a solver that exchanges rows. */
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
    trs_prospect s;
    const char *why;
    trs_cost c;
    trs_prospect_of(trs_plan_operator(p), TRS_NEED, &s);
    const int64_t n = s.shape.n;
    p->info.levels = p->info.longest = n;
    p->info.widest = n > 0;
    const bool named = p->wanted;
    if (!named) p->wanted = pivoting(p);
    if (!p->wanted) return nothing_pivots(p);
    p->info.predicted = trs_predict(&s, &p->ctx.machine, p->wanted, NULL, p->on_device, &c, &why);
    snprintf(p->reason, sizeof p->reason, "a full matrix of %" PRId64 " %s: %s", n,
             trs_noun(n, "row", "rows"),
             named ? "named by the caller" : "LU with partial pivoting");
    return trs_check_fit(p->wanted, &s);
}
