/* operators.c: makes the operators of a plan, T and T', from the caller's matrix, and finds their levels.
 *
 * If the arrays of a sparse matrix are on the device, its operators are made there (import_device.c), and the host copies of
 * them only what is asked for.  All other matrices are imported on the host: dense ones, permuted ones, and those whose rows
 * may be left out. */
#include "config.h"

#include "analysis/level.h"
#include "base/device.h"
#include "plan.h"

#include <string.h>

bool trs_counts_backwards(const trs_plan *p, bool transposed)
{
    const bool upper = p->given.kind & TRS_UPPER;
    return upper != transposed;
}

/* ---- brought back from the device ------------------------------------------------------------- */

static bool is_resident(const trs_operator *op)
{
    return op->ctx && !(op->on_host & TRS_OP_PATTERN);
}

/* Move a triangle to p->imported, as the caller stored it. */
static int bring_back(trs_plan *p, trs_side *side)
{
    trs_operator *op = &side->op;
    trs_tri turned;
    int rc = trs_operator_show(op, TRS_OP_PATTERN | TRS_OP_VALUES);
    if (!rc && op->reversed) rc = trs_tri_reverse(&p->ctx, &op->tri);
    if (!rc && side->transposed != p->imported_is_t) {
        rc = trs_tri_transpose(&p->ctx, &op->tri, true, &turned);
        if (rc) return rc;
        trs_tri_free(&p->ctx, &op->tri);
        op->tri = turned;
    }
    if (rc) return rc;
    p->imported = op->tri;
    memset(&op->tri, 0, sizeof op->tri);
    return TRS_OK;
}

int trs_plan_import_to_host(trs_plan *p)
{
    trs_side *side = trs_plan_side(p, p->imported_is_t);
    if (!side) side = &p->side[0];
    if (side->op.ctx) {
        const int rc = bring_back(p, side);
        if (rc) return rc;
    }
    for (int k = 0; k < p->sides; k++) trs_operator_free(&p->side[k].op);
    trs_tri_drop_identity(&p->ctx, &p->imported);
    return TRS_OK;
}

/* ---- levels ----------------------------------------------------------------------------------- */

static const char *const ON_DEVICE = "rows on the device";

/* With this many entries or more the device finds the levels sooner than the host.  The pattern that is copied there for it
 * is used by the solvers, too. */
enum { LEVELS_THERE_FROM = 2000000, FULL_PERCENT = 90 };

/* Does it have nearly all possible entries?  Then the host finds the levels without a sweep over the rows. */
static bool is_full(const trs_tri *t)
{
    return 200 * (double)t->nnz >= FULL_PERCENT * (double)t->n * ((double)t->n + 1);
}

static bool device_is_faster(const trs_plan *p, const trs_operator *op)
{
    char why[200];
    if (op->tri.nnz < LEVELS_THERE_FROM || is_full(&op->tri) || p->ctx.limit) return false;
    if (p->ctx.device_count > 1) return false; /* the pattern may be too large for one of them */
    if (p->solver) return p->solver->place == TRS_ON_CUDA && !p->solver->library;
    return !trs_gpu_probe(p->ctx.device, why, sizeof why);
}

/* All three methods give the same levels.  If the caller names a solver of the baseline that sorts by columns, its
 * documents' analysis finds them.  Otherwise the fastest method does, whichever solver is chosen. */
static int find_levels(trs_plan *p, trs_operator *op)
{
    if (p->solver && p->solver->by_columns) {
        p->info.analysis = "topological sort by in-degree (CSC)";
        return trs_sort_by_in_degree(op);
    }
    if (is_resident(op) || device_is_faster(p, op)) {
        p->info.analysis = ON_DEVICE;
        if (!trs_find_levels_on_device(op)) return TRS_OK;
        trs_forget();
    }
    p->info.analysis = "one sweep over the rows";
    return trs_find_levels(op);
}

/* ---- all of it -------------------------------------------------------------------------------- */

/* Move the imported triangle to an operator, which counts backwards if the triangle is an upper one. */
static int orient(trs_plan *p, trs_operator *op)
{
    trs_operator_from_host(op, &p->ctx, &p->imported);
    op->transposed = p->imported_is_t;
    op->reversed = trs_counts_backwards(p, p->imported_is_t);
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

/* It took so long to find the levels of a side, or how many they are. */
static void note_levels(trs_plan *p, const trs_side *side, double seconds)
{
    p->info.seconds_levels += seconds;
    if (side != &p->side[0]) return;
    p->info.levels = side->op.lv.count;
    p->info.widest = side->op.lv.widest;
    p->info.longest = side->op.statistics.longest;
}

int trs_plan_find_levels(trs_plan *p, trs_side *side)
{
    if (side->op.lv.ptr) return TRS_OK;
    const double start = trs_now();
    const int rc = find_levels(p, &side->op);
    if (!rc) note_levels(p, side, trs_now() - start);
    return rc;
}

int trs_plan_count_levels(trs_plan *p, trs_side *side)
{
    if (trs_side_knows_levels(side)) return TRS_OK;
    const double start = trs_now();
    if (!is_resident(&side->op) || trs_search_levels_on_device(&side->op)) {
        trs_forget();
        return trs_plan_find_levels(p, side);
    }
    p->info.analysis = ON_DEVICE;
    note_levels(p, side, trs_now() - start);
    return TRS_OK;
}

/* From p->imported. */
static int make_on_host(trs_plan *p)
{
    trs_side *same = trs_plan_side(p, p->imported_is_t);
    trs_side *other = trs_plan_side(p, !p->imported_is_t);
    trs_operator unused = {0}, *first = same ? &same->op : &unused;
    int rc = orient(p, first);
    if (!rc && other) rc = transpose(first, &other->op);
    trs_operator_free(&unused);
    return rc;
}

int trs_plan_make_operators(trs_plan *p)
{
    int rc = TRS_OK;
    if (!p->side[0].op.ctx) rc = make_on_host(p);
    for (int k = 0; k < p->sides && !rc; k++) {
        trs_operator *op = &p->side[k].op;
        if (op->on_host & TRS_OP_PATTERN) trs_tri_drop_identity(&p->ctx, &op->tri);
    }
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
        TRS_ASSERT(op->perm[k] >= 0 && op->perm[k] < t.n);
        if (op->reversed) op->perm[k] = t.n - 1 - op->perm[k];
        op->lv.topo[k] = k;
    }
    op->reversed = false;
    return TRS_OK;
}
