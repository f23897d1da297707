/* plan_info.c: answers questions about a plan: bytes, the reason of the choice, facts, bad pivots, permutations, levels. */
#include "config.h"

#include "work.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- bytes ---------------------------------------------------------------------------------------- */

/* The bytes of levels and permutations of an operator on the host.  known: its levels are; here: its pattern is. */
static int64_t order_bytes(const trs_plan *p, const trs_operator *op, bool known, bool here)
{
    const bool ordered = known ? op->perm != NULL : p->order == TRS_ORDER_LEVEL;
    const bool other = ordered || p->P || trs_counts_backwards(p, 0);
    const bool has_topo = op == &p->op[0] && other && (here || p->topo);
    const bool has_own = !known || op->lv.topo;
    const int64_t levels = known ? op->lv.count : p->info.n;
    return 4 * (levels + 1) + 4 * (p->info.n + 1) * (has_own + ordered + has_topo);
}

/* The bytes that an operator takes on the host, or, before analyse, will take at most. */
static int64_t host_bytes(const trs_plan *p, const trs_operator *op)
{
    const int64_t n = p->info.n, nnz = p->info.nnz, elem = (int64_t)trs_size(p->shape.dtype);
    if (!op->used) return 0;
    if (p->general) return nnz * elem;
    const bool known = op->lv.ptr, places = !known || op->tri.src;
    const bool here = !op->ctx || op->on_host & TRS_OP_PATTERN;
    const int64_t pattern = 8 * (n + 1) + nnz * (4 + elem + 8 * places);
    return (here ? pattern : 0) + order_bytes(p, op, known, here);
}

/* The bytes that it keeps on the device besides those that the solver counts. */
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

/* A prospect of which nothing is known but n and nnz. */
static trs_prospect unknown(const trs_plan *p)
{
    return (trs_prospect){.ctx = &p->ctx,
                          .limit = p->ctx.limit,
                          .shape = {.n = p->info.n,
                                    .nnz = p->info.nnz,
                                    .levels = p->info.n,
                                    .nrhs = p->ctx.nrhs,
                                    .elem = (double)trs_size(p->shape.dtype)}};
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

void trs_plan_bytes(const trs_plan *p, const trs_solver *solver, trs_info *info)
{
    const int64_t n = p->info.n;
    info->bytes_host = (int64_t)sizeof *p + (p->P ? 8 * n : 0);
    info->bytes_device = 0;
    if (p->skip) info->bytes_host += n + 8 * (n + 1) + p->whole.nnz * (p->whole.src ? 12 : 4);
    for (int k = 0; k < 2; k++) {
        const trs_operator *op = &p->op[k];
        info->bytes_host += host_bytes(p, op);
        info->bytes_device += device_bytes(p, op);
        if (!op->used || !solver) continue;
        const trs_prospect s = op->lv.ptr || op->general ? known(op) : unknown(p);
        const bool cuda = solver->place == TRS_ON_CUDA;
        *(cuda ? &info->bytes_device : &info->bytes_host) += solver->bytes(&s);
    }
    if (p->skip_dev) info->bytes_device += n;
    if (p->P_dev) info->bytes_device += 8 * n;
}

int trs_plan_check_limit(const trs_plan *p, const trs_solver *solver)
{
    trs_info info;
    if (!p->ctx.limit) return TRS_OK;
    trs_plan_bytes(p, solver, &info);
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
    int32_t *topo = trs_new(&p->ctx, n, sizeof *topo, "topo"), *level, *next;
    p->topo = topo;
    level = topo ? trs_new(&p->ctx, n + (int64_t)op->lv.count, sizeof *level, "topo") : NULL;
    if (!level) return TRS_EMEM;
    next = level + n; /* of each level */
    for (int32_t l = 0; l < op->lv.count; l++) {
        next[l] = op->lv.ptr[l];
        for (int32_t k = op->lv.ptr[l]; k < op->lv.ptr[l + 1]; k++)
            level[trs_pivot_row(p, op, op->lv.topo[k])] = l;
    }
    for (int32_t i = 0; i < n; i++) topo[next[level[i]]++] = i;
    trs_free(&p->ctx.mem, level);
    return TRS_OK;
}

int trs_plan_keep_topo(trs_plan *p)
{
    const trs_operator *op = &p->op[0];
    const bool descends = trs_counts_backwards(p, 0); /* within a level */
    if (!op->used || !op->lv.topo) return TRS_OK;     /* the host has none yet */
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

static void tell(trs_plan *p, trs_info *info)
{
    *info = p->info;
    info->solver = p->wanted ? p->wanted->name : NULL;
    info->reason = p->reason;
    info->costs = p->ctx.costs;
    if (!info->analysis) info->analysis = "";
    if (p->state == TRS_FAILED) return;
    pthread_mutex_lock(&p->topo_lock);
    trs_plan_bytes(p, p->wanted, info);
    pthread_mutex_unlock(&p->topo_lock);
    info->bytes_work = trs_work_bytes(p, p->ctx.nrhs);
    const trs_instance *last = &p->solver[p->op[1].used];
    info->growth = last->growth;
    info->seconds_factor = last->seconds_factor;
}

int trs_plan_info(const trs_plan *p, trs_info *info)
{
    trs_enter();
    if (!p || !info) return trs_leave(trs_fail(TRS_EARG, "info: plan or info is NULL"));
    tell((trs_plan *)p, info);
    trs_leave_silently();
    return TRS_OK;
}

/* Levels that were found on the device may have their topo there until it is asked for, since it is larger than all
 * else that such an analysis brings to the host.  Several threads may ask for it at a time. */
static int bring_topo(trs_plan *p)
{
    pthread_mutex_lock(&p->topo_lock);
    int rc = p->topo ? TRS_OK : trs_operator_host(&p->op[0], TRS_OP_LEVELS);
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

int trs_plan_levels(const trs_plan *p, const int32_t **topo, const int32_t **lv_ptr)
{
    trs_enter();
    if (!topo || !lv_ptr) return trs_leave(trs_fail(TRS_EARG, "levels: topo or lv_ptr is NULL"));
    int rc = trs_plan_check_analysed(p, "levels");
    if (rc) return trs_leave(rc);
    if (!p->op[0].lv.ptr)
        return trs_leave(
            trs_fail(TRS_ESTATE, "levels: %s",
                     p->general ? "the matrix is general" : "TRS_N was not announced"));
    rc = bring_topo((trs_plan *)p);
    *topo = p->topo;
    *lv_ptr = p->op[0].lv.ptr;
    return trs_leave(rc);
}
