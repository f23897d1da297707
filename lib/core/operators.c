/* operators.c: makes the operators of a plan, T and T', of the caller's matrix, and finds their levels.
 *
 * Where the arrays of a sparse matrix are on the device, its operators are made there, and the host sees of them what
 * somebody asks for.  All others are imported on the host: full ones, those that are permuted, those of which rows may be
 * left out. */
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
    const bool named_elsewhere = p->wanted && p->wanted->place != TRS_ON_CUDA;
    return m->format != TRS_DENSE && m->device == TRS_CUDA(p->ctx.device) &&
           !(m->kind & TRS_PERMUTED) && m->n > 0 && m->ptr && (m->idx || !m->nnz) && !p->general &&
           p->pivot != TRS_PIVOT_SKIP && !p->measure && !p->ctx.limit &&
           p->order != TRS_ORDER_LEVEL && !named_elsewhere;
}

/* May it be canonical as it stands? */
static bool looks_canonical(const trs_mat *m)
{
    return m->format != TRS_BSR && !(m->kind & TRS_UNIT) && m->nnz >= m->n;
}

static int take_canonical(const trs_mat *m, trs_operator *op)
{
    op->tri.nnz = m->nnz;
    int rc = trs_operator_new_resident(op, m->nnz, op->reversed);
    if (!rc) rc = trs_gpu_canonical(m, op);
    if (rc) trs_operator_forget(op);
    return rc;
}

/* Make operator k of m. */
static int take(trs_plan *p, const trs_mat *m, int k)
{
    trs_operator *op = &p->op[k];
    const bool turned = k != p->imported_is_t;
    op->ctx = &p->ctx;
    op->transposed = k == 1;
    op->tri = (trs_tri){.n = (int32_t)m->n, .dtype = m->dtype};
    op->reversed = trs_counts_backwards(p, k);
    int rc = turned || !looks_canonical(m) ? TRS_EMATRIX : take_canonical(m, op);
    if (rc == TRS_EMATRIX) rc = trs_gpu_import(m, turned, op);
    op->on_device = TRS_OP_PATTERN | TRS_OP_VALUES;
    return rc;
}

static void forget_operator(trs_operator *op)
{
    const bool used = op->used;
    trs_operator_free(op);
    op->used = used;
}

/* Without memory for the import there, the host does it: what the device has to hold is less then. */
int trs_plan_take_resident(trs_plan *p, const trs_mat *m, bool *taken)
{
    *taken = false;
    if (!may_stay(p, m)) return TRS_OK;
    int rc = trs_gpu_use(&p->ctx);
    for (int k = 0; k < 2 && !rc; k++)
        if (p->op[k].used) rc = take(p, m, k);
    *taken = !rc;
    for (int k = 0; k < 2 && rc; k++) forget_operator(&p->op[k]);
    if (rc != TRS_EMEM) return rc == TRS_EMATRIX ? TRS_OK : rc;
    trs_gpu_drop_scratch(&p->ctx);
    trs_forget();
    return TRS_OK;
}

static bool is_resident(const trs_operator *op)
{
    return op->ctx && !(op->on_host & TRS_OP_PATTERN);
}

/* Copy operator k to t, as the caller stored it. */
static int bring_back(trs_plan *p, int k, trs_tri *t)
{
    trs_operator *op = &p->op[k];
    trs_tri turned;
    int rc = trs_operator_show(op, TRS_OP_PATTERN | TRS_OP_VALUES);
    if (!rc && op->reversed) rc = trs_tri_reverse(&p->ctx, &op->tri);
    if (!rc && k != p->imported_is_t) {
        rc = trs_tri_transpose(&p->ctx, &op->tri, true, &turned);
        if (rc) return rc;
        trs_tri_free(&p->ctx, &op->tri);
        op->tri = turned;
    }
    if (rc) return rc;
    *t = op->tri;
    memset(&op->tri, 0, sizeof op->tri);
    return TRS_OK;
}

int trs_plan_import_to_host(trs_plan *p)
{
    const int k = p->op[p->imported_is_t].used ? p->imported_is_t : !p->imported_is_t;
    const int rc = p->op[k].ctx ? bring_back(p, k, &p->imported) : TRS_OK;
    if (rc) return rc;
    for (int j = 0; j < 2; j++) forget_operator(&p->op[j]);
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
    const bool resident = first->ctx || other->ctx;
    int rc = resident ? TRS_OK : orient(p, have);
    if (!rc && !resident && other->used) rc = transpose(first, other);
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
