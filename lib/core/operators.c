/* operators.c: makes the operators of a plan, T and T', of the caller's matrix, and finds their levels.
 *
 * A canonical matrix (matrix/canonical.h) whose arrays are on the device is taken over there, and the host sees of it
 * what somebody asks for.  Any other matrix is imported on the host. */
#include "config.h"

#include "analysis/level.h"
#include "base/device.h"
#include "matrix/on_device.h"
#include "plan.h"

#include <string.h>

bool trs_counts_backwards(const trs_plan *p, int k)
{
    return (k == 0) == !!(p->shape.kind & TRS_UPPER);
}

/* ---- taken over on the device ----------------------------------------------------------------- */

static bool may_stay(const trs_plan *p, const trs_mat *m)
{
    const bool has_pointers = m->format == TRS_CSR || m->format == TRS_CSC;
    const bool named_elsewhere = p->wanted && p->wanted->place != TRS_ON_CUDA;
    return has_pointers && m->device == TRS_CUDA(p->ctx.device) &&
           !(m->kind & (TRS_UNIT | TRS_PERMUTED)) && m->n > 0 && m->nnz >= m->n && m->ptr &&
           m->idx && !p->general && p->pivot != TRS_PIVOT_SKIP && !p->measure && !p->ctx.limit &&
           p->order != TRS_ORDER_LEVEL && !named_elsewhere;
}

static int64_t padded(int64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* All arrays are in one allocation, since each allocation takes up to 0.1 ms. */
static int allocate(trs_operator *op)
{
    const trs_tri *t = &op->tri;
    trs_device_view *d = &op->device;
    const int64_t found = padded(2 * (int64_t)sizeof(int64_t));
    const int64_t ptr = padded(((int64_t)t->n + 1) * (int64_t)sizeof *t->ptr);
    const int64_t idx = padded(t->nnz * (int64_t)sizeof *t->idx);
    const int64_t val = t->nnz * (int64_t)trs_size(t->dtype);
    char *block = trs_gpu_new(op->ctx, found + ptr + idx + val, 1, "a triangle");
    if (!block) return TRS_EMEM;
    d->block = block;
    d->found = (int64_t *)block;
    d->ptr = (int64_t *)(block + found);
    d->idx = (int32_t *)(block + found + ptr);
    d->val = block + found + ptr + idx;
    if (!op->reversed) return TRS_OK;
    d->src = trs_gpu_new(op->ctx, t->nnz, sizeof *t->src, "places of the values");
    return d->src ? TRS_OK : TRS_EMEM;
}

int trs_plan_take_resident(trs_plan *p, const trs_mat *m, bool *taken)
{
    const int k = p->imported_is_t;
    trs_operator *op = &p->op[k];
    const bool used = op->used;
    *taken = false;
    if (!may_stay(p, m)) return TRS_OK;
    op->ctx = &p->ctx;
    op->transposed = k == 1;
    op->tri = (trs_tri){.n = (int32_t)m->n, .nnz = m->nnz, .dtype = m->dtype};
    op->reversed = trs_counts_backwards(p, k);
    int rc = trs_gpu_use(&p->ctx);
    if (!rc) rc = allocate(op);
    if (!rc) rc = trs_gpu_canonical(m, op);
    *taken = !rc;
    if (!rc) op->on_device = TRS_OP_PATTERN | TRS_OP_VALUES;
    else {
        trs_operator_free(op);
        op->used = used;
    }
    return rc == TRS_EMATRIX ? TRS_OK : rc;
}

static bool is_resident(const trs_operator *op)
{
    return op->ctx && !(op->on_host & TRS_OP_PATTERN);
}

int trs_plan_import_to_host(trs_plan *p)
{
    trs_operator *op = &p->op[p->imported_is_t];
    const bool used = op->used;
    if (!op->ctx) return TRS_OK;
    int rc = trs_operator_show(op, TRS_OP_PATTERN | TRS_OP_VALUES);
    if (!rc && op->reversed) rc = trs_tri_reverse(&p->ctx, &op->tri);
    if (rc) return rc;
    p->imported = op->tri;
    memset(&op->tri, 0, sizeof op->tri);
    trs_operator_free(op);
    op->used = used;
    trs_tri_drop_identity(&p->ctx, &p->imported);
    return TRS_OK;
}

/* ---- levels ----------------------------------------------------------------------------------- */

/* The device finds the levels of triangles with so many entries sooner than the host.  The pattern that is copied there
 * for it is used by the solvers, too. */
enum { LEVELS_THERE_FROM = 2000000, FULL_PERCENT = 90 };

/* Has it nearly all entries that there can be?  Then the host finds the levels without going through the rows. */
static bool is_full(const trs_tri *t)
{
    return 200 * (double)t->nnz >= FULL_PERCENT * (double)t->n * ((double)t->n + 1);
}

static bool had_better_ask_device(const trs_plan *p, const trs_operator *op)
{
    char why[200];
    if (op->tri.nnz < LEVELS_THERE_FROM || is_full(&op->tri) || p->ctx.limit) return false;
    if (p->wanted) return p->wanted->place == TRS_ON_CUDA && !p->wanted->library;
    return !trs_gpu_probe(p->ctx.device, why, sizeof why);
}

/* Every way gives the same levels.  A solver of the seeds that is named gets the seeds' analysis.  The automatic choice
 * uses the fastest one, and no other follows, whichever solver is chosen. */
static int find_levels(trs_plan *p, trs_operator *op)
{
    const bool by_columns = p->wanted && p->wanted->by_columns;
    if (!by_columns && (is_resident(op) || had_better_ask_device(p, op))) {
        p->info.analysis = "rows on the device";
        if (!trs_find_levels_on_device(op)) return TRS_OK;
        trs_forget();
    }
    p->info.analysis =
        by_columns ? "topological sort by in-degree (CSC)" : "one sweep over the rows";
    return by_columns ? trs_sort_by_in_degree(op) : trs_find_levels(op);
}

/* ---- all of it -------------------------------------------------------------------------------- */

/* Operator k takes the imported triangle over, which is counted backwards if it is an upper one. */
static int orient(trs_plan *p, int k)
{
    trs_operator *op = &p->op[k];
    trs_operator_from_host(op, &p->ctx, &p->imported);
    op->transposed = k == 1;
    op->reversed = trs_counts_backwards(p, k);
    return op->reversed ? trs_tri_reverse(&p->ctx, &op->tri) : TRS_OK;
}

/* The transpose of a lower triangle is an upper one, so it is counted backwards. */
static int transpose(trs_operator *from, trs_operator *to)
{
    trs_tri t;
    int rc = trs_operator_show(from, TRS_OP_PATTERN | TRS_OP_VALUES);
    if (!rc) rc = trs_tri_transpose(from->ctx, &from->tri, true, &t);
    if (rc) return rc;
    trs_operator_from_host(to, from->ctx, &t);
    to->transposed = !from->transposed;
    to->reversed = !from->reversed;
    return trs_tri_reverse(from->ctx, &to->tri);
}

static int make_levels(trs_plan *p, trs_operator *op)
{
    const double start = trs_now();
    const int rc = find_levels(p, op);
    p->info.seconds_levels += trs_now() - start;
    if (!rc && op->on_host & TRS_OP_PATTERN) trs_tri_drop_identity(&p->ctx, &op->tri);
    return rc;
}

int trs_plan_make_operators(trs_plan *p)
{
    const int have = p->imported_is_t;
    trs_operator *first = &p->op[have], *other = &p->op[!have];
    int rc = first->ctx ? TRS_OK : orient(p, have);
    if (!rc && other->used) rc = transpose(first, other);
    if (!first->used) trs_operator_free(first);
    for (int k = 0; k < 2 && !rc; k++)
        if (p->op[k].used) rc = make_levels(p, &p->op[k]);
    return rc;
}

int trs_plan_order_by_level(trs_operator *op)
{
    trs_context *ctx = op->ctx;
    trs_tri t;
    int rc = trs_operator_show(op, TRS_OP_PATTERN | TRS_OP_VALUES | TRS_OP_LEVELS);
    if (!rc) rc = trs_tri_permute(ctx, &op->tri, op->lv.topo, &t);
    if (rc) return rc;
    trs_operator_forget(op);
    trs_tri_free(ctx, &op->tri);
    op->tri = t;
    op->perm = op->lv.topo;
    op->lv.topo = trs_new(ctx, t.n, sizeof *op->perm, "topo");
    if (!op->lv.topo) return TRS_EMEM;
    for (int32_t k = 0; k < t.n; k++) {
        if (op->reversed) op->perm[k] = t.n - 1 - op->perm[k];
        op->lv.topo[k] = k;
    }
    op->reversed = false;
    return TRS_OK;
}
