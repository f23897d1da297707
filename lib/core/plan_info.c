/* plan_info.c: answers questions about a plan: bytes, the reason of the choice, facts, bad pivots, permutations, levels. */
#include "config.h"

#include "work.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- bytes ---------------------------------------------------------------------------------------- */

/* The bytes of levels and permutations of a side on the host.  here: its pattern is there. */
static int64_t order_bytes(const trs_plan *p, const trs_side *side, bool here)
{
    const trs_operator *op = &side->op;
    bool ordered = op->perm, topo_of_levels = op->lv.topo;
    int64_t levels = op->lv.count;
    if (p->state == TRS_CREATED) { /* they are not known yet */
        ordered = p->order == TRS_ORDER_LEVEL;
        topo_of_levels = true;
        levels = p->info.n;
    }
    const bool other = ordered || p->P || trs_counts_backwards(p, false);
    const bool topo_of_plan = !side->transposed && other && (here || p->topo);
    return 4 * (levels + 1) + 4 * (p->info.n + 1) * (topo_of_levels + ordered + topo_of_plan);
}

/* The bytes that a side takes on the host, or, before analyse, will take at most. */
static int64_t host_bytes(const trs_plan *p, const trs_side *side)
{
    const trs_operator *op = &side->op;
    const int64_t n = p->info.n, nnz = p->info.nnz, elem = (int64_t)trs_size(p->given.dtype);
    if (p->general) return nnz * elem;
    const bool places = p->state == TRS_CREATED || op->tri.src;
    const bool here = !op->ctx || op->on_host & TRS_OP_PATTERN;
    const int64_t order = order_bytes(p, side, here);
    if (!here) return order;
    return order + 8 * (n + 1) + nnz * (4 + elem + 8 * places);
}

/* The bytes that an operator keeps on the device besides those that the solver counts. */
static int64_t device_bytes(const trs_plan *p, const trs_operator *op)
{
    const trs_device_view *d = &op->device;
    int64_t bytes = 0;
    if (op->perm_dev) bytes += 4 * p->info.n;
    if (d->topo) bytes += 4 * p->info.n;
    if (d->block) bytes += 4 * p->info.nnz;
    if (d->block && d->src) bytes += 8 * p->info.nnz;
    return bytes;
}

/* All that an operator has on the device. */
static int64_t resident_bytes(const trs_operator *op)
{
    const trs_device_view *d = &op->device;
    const int64_t n = op->tri.n, nnz = op->tri.nnz;
    int64_t bytes = 0;
    if (d->found) bytes += 2 * (int64_t)sizeof *d->found;
    if (d->ptr) bytes += (n + 1) * (int64_t)sizeof *d->ptr;
    if (d->idx) bytes += nnz * (int64_t)sizeof *d->idx;
    if (d->val) bytes += nnz * (int64_t)trs_size(op->tri.dtype);
    if (d->level) bytes += n * (int64_t)sizeof *d->level;
    if (d->topo) bytes += n * (int64_t)sizeof *d->topo;
    if (d->src) bytes += nnz * (int64_t)sizeof *d->src;
    if (op->perm_dev) bytes += n * (int64_t)sizeof *op->perm_dev;
    return bytes;
}

/* A prospect of which nothing is known but n and nnz. */
static trs_prospect unknown(const trs_plan *p)
{
    return (trs_prospect){.ctx = &p->ctx,
                          .limit = p->ctx.limit,
                          .shape = {.n = p->info.n,
                                    .nnz = p->info.nnz,
                                    .levels = p->info.n,
                                    .nrhs = p->ctx.nrhs,
                                    .elem = (double)trs_size(p->given.dtype)}};
}

/* A prospect with the analyses that were made so far; none is made for it. */
static trs_prospect known(const trs_operator *op)
{
    trs_prospect s = {.ctx = op->ctx, .limit = op->ctx->limit};
    trs_shape_of(op, &s.shape);
    while (s.features < TRS_MOST_FEATURES) {
        const void **result = &s.feature[s.features].result;
        s.feature[s.features].of = trs_operator_analysis_at(op, s.features, result);
        if (!s.feature[s.features].of) break;
        s.features++;
    }
    return s;
}

static int64_t solver_bytes(const trs_plan *p, const trs_operator *op, const trs_solver *solver)
{
    const bool has_features = op->lv.ptr || op->general;
    const trs_prospect s = has_features ? known(op) : unknown(p);
    return solver->bytes(&s);
}

/* What the side has on the device by solvers that say so; false: that of the side does not. */
static bool held_bytes(const trs_side *side, int64_t *bytes)
{
    const trs_instance *i = &side->instance;
    if (!i->data || !i->solver->held) return false;
    TRS_ASSERT(i->solver->place == TRS_ON_CUDA);
    *bytes += resident_bytes(&side->op) + i->solver->held(i);
    for (const trs_retired *r = side->retired; r; r = r->next)
        if (r->instance.data && r->instance.solver->held)
            *bytes += r->instance.solver->held(&r->instance);
    return true;
}

/* Fill in info->bytes_host and bytes_device, with those of the solver that is going to be built; NULL: of what is. */
static void plan_bytes(const trs_plan *p, const trs_solver *solver, trs_info *info)
{
    const int64_t n = p->info.n;
    info->bytes_host = (int64_t)sizeof *p + (p->P ? 8 * n : 0);
    info->bytes_device = 0;
    if (p->skip) info->bytes_host += n + 8 * (n + 1) + p->whole.nnz * (p->whole.src ? 12 : 4);
    for (int k = 0; k < p->sides; k++) {
        const trs_side *side = &p->side[k];
        const trs_solver *s = solver ? solver : side->instance.solver;
        info->bytes_host += host_bytes(p, side);
        if (!solver && s && held_bytes(side, &info->bytes_device)) continue;
        info->bytes_device += device_bytes(p, &side->op);
        if (!s) continue;
        const int64_t bytes = solver_bytes(p, &side->op, s);
        if (s->place == TRS_ON_CUDA) info->bytes_device += bytes;
        else info->bytes_host += bytes;
    }
    if (p->skip_dev) info->bytes_device += n;
    if (p->P_dev) info->bytes_device += 8 * n;
}

int trs_plan_check_limit(const trs_plan *p, const trs_solver *solver)
{
    trs_info info;
    if (!p->ctx.limit) return TRS_OK;
    plan_bytes(p, solver, &info);
    const int64_t most = info.bytes_host > info.bytes_device ? info.bytes_host : info.bytes_device;
    if (most <= p->ctx.limit) return TRS_OK;
    return trs_fail(TRS_EMEM, "the plan would need %.3g bytes, over the limit", (double)most);
}

/* ---- the reason of the choice --------------------------------------------------------------------- */

void trs_plan_say(trs_plan *p, const char *format, ...)
{
    const size_t used = strlen(p->reason);
    va_list args;
    va_start(args, format);
    vsnprintf(p->reason + used, sizeof p->reason - used, format, args);
    va_end(args);
}

/* ---- levels ------------------------------------------------------------------------------------- */

/* Make topo of a permuted triangle.  Its levels do not ascend in the caller's numbering, so a counting sort does it. */
static int sort_topo(trs_plan *p, const trs_operator *op)
{
    const int32_t n = op->tri.n;
    int32_t *topo = trs_new(&p->ctx, n, sizeof *topo, "topo");
    p->topo = topo;
    if (!topo) return TRS_EMEM;
    int32_t *level = trs_new(&p->ctx, n + (int64_t)op->lv.count, sizeof *level, "topo");
    if (!level) return TRS_EMEM;
    int32_t *next = level + n; /* of each level */
    for (int32_t l = 0; l < op->lv.count; l++) {
        next[l] = op->lv.ptr[l];
        for (int32_t k = op->lv.ptr[l]; k < op->lv.ptr[l + 1]; k++)
            level[trs_pivot_row(p, op, op->lv.topo[k])] = l;
    }
    for (int32_t i = 0; i < n; i++) topo[next[level[i]]++] = i;
    TRS_ASSERT(op->lv.count == 0 || next[op->lv.count - 1] == n);
    trs_free(&p->ctx.mem, level);
    return TRS_OK;
}

int trs_plan_keep_topo(trs_plan *p)
{
    const trs_side *side = trs_plan_side(p, false);
    const bool descends = trs_counts_backwards(p, false); /* within a level */
    if (!side || !side->op.lv.topo) return TRS_OK;        /* the host has none yet */
    const trs_operator *op = &side->op;
    if (p->P) return sort_topo(p, op);
    p->topo = op->lv.topo;
    if (!op->perm && !op->reversed) return TRS_OK;
    int32_t *topo = trs_new(&p->ctx, op->tri.n, sizeof *topo, "topo");
    p->topo = topo;
    if (!topo) return TRS_EMEM;
    for (int32_t l = 0; l < op->lv.count; l++)
        for (int32_t a = op->lv.ptr[l], b = op->lv.ptr[l + 1], k = a; k < b; k++)
            topo[descends ? a + b - 1 - k : k] = trs_caller_row(op, op->lv.topo[k]);
    return TRS_OK;
}

/* ---- questions ----------------------------------------------------------------------------------- */

int trs_plan_pivots(const trs_plan *p, int64_t *count, int64_t *first)
{
    trs_enter();
    const int rc = trs_plan_check_analysed(p, "pivots");
    if (rc) return trs_leave(rc);
    if (count) *count = p->bad_pivots;
    if (first) *first = p->bad_pivots ? p->first_bad + p->ctx.base : -1;
    return trs_leave(TRS_OK);
}

/* Levels that a plan on the host began without are found when they are asked for.  On a device that would disturb the capture of
 * a graph. */
static void find_levels_for_info(trs_plan *p)
{
    trs_shape shape;
    if (p->general || p->on_device || !trs_plan_is_built(p)) return;
    if (trs_plan_find_levels(p, &p->side[0])) trs_forget();
    if (strcmp(p->reason, TRS_NO_ANALYSIS)) return;
    trs_shape_of(&p->side[0].op, &shape);
    const size_t used = trs_describe_shape(p->reason, sizeof p->reason, &shape);
    snprintf(p->reason + used, sizeof p->reason - used, ": %s", TRS_NO_ANALYSIS);
}

/* The lock is held. */
static void fill_info(trs_plan *p, trs_info *info)
{
    find_levels_for_info(p);
    *info = p->info;
    const trs_solver *solver = trs_plan_is_built(p) ? p->side[0].instance.solver : p->solver;
    info->solver = solver ? solver->name : NULL;
    info->reason = p->reason;
    info->costs = p->ctx.costs;
    if (!info->analysis) info->analysis = "";
    if (p->state == TRS_FAILED) return;
    plan_bytes(p, trs_plan_is_built(p) ? NULL : solver, info);
    for (int k = 0; k < p->sides; k++) {
        const trs_side *side = &p->side[k];
        if (side->solves > info->solves) info->solves = side->solves;
        if (side->grows_at > info->grows_at) info->grows_at = side->grows_at;
        const double error = side->instance.sweep_error;
        if (!(error <= info->sweep_error)) info->sweep_error = error; /* a NaN is not less */
    }
    info->bytes_work = trs_work_bytes(p, p->ctx.nrhs);
    const trs_instance *last = &p->side[p->sides - 1].instance;
    info->growth = last->growth;
    info->seconds_factor = last->seconds_factor;
}

int trs_plan_info(const trs_plan *p, trs_info *info)
{
    trs_enter();
    if (!p || !info) return trs_leave(trs_fail(TRS_EARG, "info: plan or info is NULL"));
    pthread_mutex_t *lock = &((trs_plan *)p)->topo_lock;
    pthread_mutex_lock(lock);
    fill_info((trs_plan *)p, info);
    pthread_mutex_unlock(lock);
    trs_leave_silently();
    return TRS_OK;
}

/* Levels that were found on the device may have their topo there until it is asked for, since it is larger than all
 * else that such an analysis brings to the host.  Several threads may ask for it at a time. */
static int bring_topo(trs_plan *p, trs_side *side)
{
    pthread_mutex_lock(&p->topo_lock);
    int rc = trs_plan_find_levels(p, side);
    if (!rc && !p->topo) rc = trs_operator_host(&side->op, TRS_OP_LEVELS);
    if (!rc && !p->topo) rc = trs_plan_keep_topo(p);
    pthread_mutex_unlock(&p->topo_lock);
    return rc;
}

int trs_plan_permutation(const trs_plan *p, const int32_t **P, const int32_t **Q)
{
    trs_enter();
    if (!p || !P || !Q) return trs_leave(trs_fail(TRS_EARG, "permutation: plan, P or Q is NULL"));
    if (p->state == TRS_FAILED)
        return trs_leave(trs_fail(TRS_ESTATE, "permutation: the analysis of the plan failed"));
    *P = p->P;
    *Q = p->Q;
    return trs_leave(TRS_OK);
}

static int get_levels(trs_plan *p, const int32_t **topo, const int32_t **lv_ptr)
{
    if (!topo || !lv_ptr) return trs_fail(TRS_EARG, "levels: topo or lv_ptr is NULL");
    int rc = trs_plan_check_analysed(p, "levels");
    if (rc) return rc;
    trs_side *side = trs_plan_side(p, false);
    if (p->general) return trs_fail(TRS_ESTATE, "levels: the matrix is general");
    if (!side) return trs_fail(TRS_ESTATE, "levels: TRS_N was not announced");
    if (!trs_plan_is_built(p)) return trs_fail(TRS_ESTATE, "levels: the last update failed");
    rc = bring_topo(p, side);
    *topo = p->topo;
    *lv_ptr = side->op.lv.ptr;
    return rc;
}

int trs_plan_levels(const trs_plan *p, const int32_t **topo, const int32_t **lv_ptr)
{
    trs_enter();
    return trs_leave(get_levels((trs_plan *)p, topo, lv_ptr));
}
