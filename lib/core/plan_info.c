/* plan_info.c: what a plan tells: bytes, facts, bad pivots, permutations, levels. */
#include "config.h"

#include "base/device.h"
#include "solvers/on_device.h"
#include "work.h"

#include <string.h>

/* ---- bytes ---------------------------------------------------------------------------------------- */

/* What a side takes on the host; before analyse, what it will take at most. */
static int64_t bytes_of_side(const trs_plan *p, const trs_side *s)
{
    const int64_t n = p->info.n, elem = (int64_t)trs_size(p->shape.dtype);
    const int64_t nnz = p->info.nnz;
    if (!s->used) return 0;
    if (p->general) return nnz * elem;
    const bool known = s->lv.ptr, src = !known || s->tri.src;
    const bool ordered = known ? s->perm != NULL : p->order == TRS_ORDER_LEVEL;
    const bool topo =
        s == &p->side[0] && (ordered || p->P || trs_counts_backwards(p, 0)) && (!p->far || p->topo);
    const int64_t rows = (p->far ? 0 : 8) + (known && !s->lv.topo ? 0 : 4) + (ordered ? 4 : 0) +
                         (topo ? 4 : 0); /* ptr, lv.topo, perm, topo */
    const int64_t each = p->far ? 0 : 4 + elem + (src ? 8 : 0);
    return (n + 1) * rows + 4 * ((known ? s->lv.count : n) + 1) + nnz * each;
}

void trs_plan_bytes(const trs_plan *p, const trs_solver *solver, trs_info *info)
{
    const int64_t n = p->info.n;
    info->bytes_host = (int64_t)sizeof *p + (p->P ? 8 * n : 0);
    info->bytes_device = 0;
    if (p->skip) info->bytes_host += n + 8 * (n + 1) + p->whole.nnz * (p->whole.src ? 12 : 4);
    for (int k = 0; k < 2; k++) {
        const trs_side *s = &p->side[k];
        trs_shape shape = {.n = n, .nnz = p->info.nnz, .levels = n, .nrhs = p->ctx.nrhs};
        info->bytes_host += bytes_of_side(p, s);
        if (!s->used || !solver) continue;
        shape.elem = (double)trs_size(p->shape.dtype);
        if (s->lv.ptr || s->full) trs_shape_of(&p->ctx, s, &shape);
        const bool cuda = solver->place == TRS_ON_CUDA;
        *(cuda ? &info->bytes_device : &info->bytes_host) += solver->bytes(&shape);
        if (cuda && s->perm) info->bytes_device += 4 * n;
        if (s->direct.block) info->bytes_device += p->info.nnz * (s->direct.src ? 12 : 4);
        if (s->direct.topo) info->bytes_device += 4 * n;
    }
    if (p->skip_dev) info->bytes_device += n;
    if (p->P_dev) info->bytes_device += 8 * n;
}
/* ---- levels ------------------------------------------------------------------------------------- */

/* topo of a permuted triangle, whose levels do not ascend in the caller's numbering: a counting sort. */
static int sort_topo(trs_plan *p, const trs_side *s)
{
    const int32_t n = s->tri.n;
    int32_t *topo = trs_new(&p->ctx, n, sizeof *topo, "topo"), *level, *next;
    p->topo = topo;
    level = topo ? trs_new(&p->ctx, n + (int64_t)s->lv.count, sizeof *level, "topo") : NULL;
    if (!level) return TRS_EMEM;
    next = level + n; /* of each level */
    for (int32_t l = 0; l < s->lv.count; l++) {
        next[l] = s->lv.ptr[l];
        for (int32_t k = s->lv.ptr[l]; k < s->lv.ptr[l + 1]; k++)
            level[trs_pivot_row(p, s, s->lv.topo[k])] = l;
    }
    for (int32_t i = 0; i < n; i++) topo[next[level[i]]++] = i;
    trs_free(&p->ctx.mem, level);
    return TRS_OK;
}

int trs_plan_keep_topo(trs_plan *p)
{
    const trs_side *s = &p->side[0];
    const bool descends = trs_counts_backwards(p, 0); /* within a level */
    if (!s->used) return TRS_OK;
    if (p->P) return sort_topo(p, s);
    p->topo = s->lv.topo;
    if (!s->perm && !s->reversed) return TRS_OK;
    int32_t *topo = trs_new(&p->ctx, s->tri.n, sizeof *topo, "topo");
    p->topo = topo;
    if (!topo) return TRS_EMEM;
    for (int32_t l = 0; l < s->lv.count; l++)
        for (int32_t a = s->lv.ptr[l], b = s->lv.ptr[l + 1], k = a; k < b; k++)
            topo[descends ? a + b - 1 - k : k] = trs_caller_row(s, s->lv.topo[k]);
    return TRS_OK;
}

/* ---- questions ----------------------------------------------------------------------------------- */

static int pivots(const trs_plan *p, int64_t *count, int64_t *first)
{
    if (!p) return trs_fail(TRS_EARG, "pivots: plan is NULL");
    if (p->state != TRS_ANALYSED && p->state != TRS_READY)
        return trs_fail(TRS_ESTATE, "pivots: the plan is not analysed");
    if (count) *count = p->bad_pivots;
    if (first) *first = p->bad_pivots ? p->first_bad + p->ctx.base : -1;
    return TRS_OK;
}

int trs_plan_pivots(const trs_plan *p, int64_t *count, int64_t *first)
{
    trs_enter();
    return trs_leave(pivots(p, count, first));
}

/* A far side keeps its topo on the device until it is asked for, maybe by several threads at a time: it is
 * larger than all else that an analysis there brings to the host. */
static void lock_topo(const trs_plan *p)
{
    pthread_mutex_lock(&((trs_plan *)p)->topo_lock);
}

static void unlock_topo(const trs_plan *p)
{
    pthread_mutex_unlock(&((trs_plan *)p)->topo_lock);
}

static void tell(const trs_plan *p, trs_info *info)
{
    *info = p->info;
    info->solver = p->wanted ? p->wanted->name : NULL;
    info->reason = p->reason;
    info->costs = p->ctx.costs;
    if (!info->analysis) info->analysis = "";
    if (p->state == TRS_FAILED) return;
    lock_topo(p);
    trs_plan_bytes(p, p->wanted, info);
    unlock_topo(p);
    info->bytes_work = trs_work_bytes(p, p->ctx.nrhs);
    const trs_side *last = &p->side[p->side[1].used];
    if (last->nparts) {
        info->growth = last->part->growth;
        info->seconds_factor = last->part->seconds_factor;
    }
}

int trs_plan_info(const trs_plan *p, trs_info *info)
{
    trs_enter();
    if (!p || !info) return trs_leave(trs_fail(TRS_EARG, "info: plan or info is NULL"));
    tell(p, info);
    trs_leave_silently();
    return TRS_OK;
}

static int bring_topo(trs_plan *p)
{
    lock_topo(p);
    int rc = p->topo ? TRS_OK : trs_far_topo(p);
    if (!rc && !p->topo) rc = trs_plan_keep_topo(p);
    unlock_topo(p);
    return rc;
}

static int levels(const trs_plan *p, const int32_t **topo, const int32_t **lv_ptr)
{
    if (!p || !topo || !lv_ptr) return trs_fail(TRS_EARG, "levels: plan, topo or lv_ptr is NULL");
    if (p->state != TRS_ANALYSED && p->state != TRS_READY)
        return trs_fail(TRS_ESTATE, "levels: the plan is not analysed");
    if (!p->side[0].lv.ptr)
        return trs_fail(TRS_ESTATE, "levels: %s",
                        p->general ? "the matrix is general" : "TRS_N was not announced");
    int rc = bring_topo((trs_plan *)p);
    *topo = p->topo;
    *lv_ptr = p->side[0].lv.ptr;
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
    return trs_leave(levels(p, topo, lv_ptr));
}
