/* plan.c: create, analyse, update, info, destroy: the life of a plan.
 *
 *     create:  check the caller's matrix, take it over (trs_tri_import)
 *     analyse: sides -> levels -> solver -> order -> parts -> work space -> first values
 *     update:  new values through the places kept at import, pivots looked at, solvers told; or, where
 *              other rows have to be left out than before, all of analyse but the choice of the solver */
#include "config.h"

#include "general.h"
#include "gpu.h"
#include "noun.h"
#include "permuted.h"
#include "stages.h"
#include "stretches.h"
#include "work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- create --------------------------------------------------------------------------------- */

static int take_options(trs_plan *p, const trs_mat *mat, const trs_options *opt)
{
    trs_context *ctx = &p->ctx;
    if (opt->nrhs < 0 || opt->threads < 0 || opt->memory_limit < 0)
        return trs_fail(TRS_EARG, "a negative number in the options");
    if (opt->threads > TRS_MOST_THREADS)
        return trs_fail(TRS_EARG, "%d threads are more than %d", opt->threads, TRS_MOST_THREADS);
    if (opt->ops & ~7u) return trs_fail(TRS_EARG, "unknown bits in ops: %u", opt->ops);
    if ((unsigned)opt->layout > TRS_ROW_MAJOR || (unsigned)opt->order > TRS_ORDER_LEVEL)
        return trs_fail(TRS_EARG, "unknown layout or order");
    ctx->base = mat->base == 1;
    ctx->device = opt->device > 0 ? opt->device - 1 : mat->device > 0 ? mat->device - 1 : 0;
    ctx->limit = opt->memory_limit;
    ctx->threads = opt->threads ? opt->threads : trs_default_threads();
    ctx->nrhs = opt->nrhs ? opt->nrhs : 1;
    ctx->layout = opt->layout;
    ctx->ops = opt->ops ? opt->ops : 1u << TRS_N;
    ctx->bitwise = opt->bitwise;
    p->on_device = opt->device > 0;
    p->measure = opt->measure != 0;
    p->order = opt->order;
    p->general = trs_is_general(mat);
    p->side[0].used = ctx->ops & 1u << TRS_N;
    p->side[1].used = ctx->ops & (1u << TRS_T | 1u << TRS_H);
    return TRS_OK;
}

static int take_pivots(trs_plan *p, const trs_options *opt, trs_dtype t)
{
    const bool half = t == TRS_F32 || t == TRS_C32;
    const double value = half ? (double)(float)opt->pivot_value : opt->pivot_value;
    p->pivot = opt->pivot;
    p->pivot_value = value;
    if ((unsigned)opt->pivot > TRS_PIVOT_REPLACE)
        return trs_fail(TRS_EARG, "unknown policy for pivots: %d", (int)opt->pivot);
    if (p->general && opt->pivot)
        return trs_fail(TRS_ESUPPORT, "the pivots of a general matrix: only to fail");
    if (opt->pivot == TRS_PIVOT_REPLACE && (!isfinite(value) || value == 0))
        return trs_fail(TRS_EARG, "%g cannot replace a pivot", opt->pivot_value);
    return TRS_OK;
}

int trs_plan_find_solver(trs_plan *p, const char *name)
{
    char why[200];
    if (!name) return TRS_OK;
    p->wanted = trs_solver_named(name);
    if (!p->wanted) return trs_fail(TRS_ESUPPORT, "no solver \"%.60s\" in this build", name);
    if (p->wanted->family != (p->general ? TRS_GENERAL_DENSE : TRS_TRIANGLE))
        return trs_fail(TRS_ESUPPORT, "%s does not solve %s", name,
                        p->general ? "general matrices" : "triangles");
    if (p->ctx.bitwise && !(p->wanted->caps & TRS_CAP_BITWISE))
        return trs_fail(TRS_ESUPPORT, "%s does not promise the same bits every time", name);
    if (p->wanted->place == TRS_ON_CPU && p->on_device)
        return trs_fail(TRS_ESUPPORT, "%s cannot solve where B and X live on a device", name);
    if (!trs_solver_available(p->wanted, p->ctx.device, why, sizeof why))
        return trs_fail(TRS_EDEVICE, "%s cannot run here: %s", name, why);
    return TRS_OK;
}

/* Arrays of a matrix that lives on a device, copied to the host; also for values alone. */
static int fetch(trs_context *ctx, const trs_mat *m, bool pattern, trs_mat *host)
{
    *host = *m;
    if (m->device <= 0) return TRS_OK;
    const struct {
        const void *from;
        const void **to;
        int64_t count;
        size_t size;
    } a[] = {{m->val, &host->val, trs_value_count(m), trs_size(m->dtype)},
             {m->ptr, &host->ptr, trs_line_count(m) + 1, m->ptr_bits == 32 ? 4 : 8},
             {m->idx, &host->idx, m->nnz, m->idx_bits == 64 ? 8 : 4}};
    host->ptr = host->idx = host->val = NULL;
    host->device = TRS_HOST;
    int rc = trs_gpu_use(ctx);
    for (int k = 0; k < (pattern && m->format != TRS_DENSE ? 3 : 1) && !rc; k++) {
        void *p = trs_new(ctx, a[k].count, a[k].size, "a copy from the device");
        *a[k].to = p;
        rc = !p ? TRS_EMEM : trs_gpu_get(ctx, p, a[k].from, (size_t)a[k].count * a[k].size);
    }
    return rc;
}

static void fetch_done(trs_context *ctx, const trs_mat *m, trs_mat *host)
{
    if (m->device <= 0) return;
    trs_free(&ctx->mem, (void *)host->ptr);
    trs_free(&ctx->mem, (void *)host->idx);
    trs_free(&ctx->mem, (void *)host->val);
}

static int import(trs_plan *p, const trs_mat *mat)
{
    trs_context *ctx = &p->ctx;
    trs_mat host = *mat;
    int rc = trs_check_values(mat);
    if (rc) return rc;
    const bool permuted = mat->kind & TRS_PERMUTED;
    if (!p->general && !permuted && !(mat->kind & (TRS_LOWER | TRS_UPPER)))
        return trs_fail(TRS_EARG, "kind says neither TRS_LOWER nor TRS_UPPER nor TRS_PERMUTED");
    p->info.n = mat->n;
    p->shape = *mat;
    p->shape.ptr = p->shape.idx = p->shape.val = NULL;
    p->imported_is_t = !permuted && !trs_by_rows(mat);
    rc = trs_far_import(p, mat);
    if (rc || p->far) return rc;
    rc = fetch(ctx, mat, true, &host);
    if (!rc && p->general) rc = trs_general_read(p, &host);
    else if (!rc && permuted) rc = trs_permuted_import(ctx, &host, &p->imported, &p->P, &p->Q);
    else if (!rc) rc = trs_tri_import(ctx, &host, &p->imported);
    if (!rc && p->pivot == TRS_PIVOT_SKIP) rc = trs_pivots_import(p, host.val);
    fetch_done(ctx, mat, &host);
    return rc;
}

static int create(trs_plan **plan, const trs_mat *mat, const trs_options *opt)
{
    static const trs_options defaults = {0};
    if (!plan) return trs_fail(TRS_EARG, "create: plan is NULL");
    *plan = NULL;
    if (!mat) return trs_fail(TRS_EARG, "create: mat is NULL");
    if (!opt) opt = &defaults;
    if (!opt->memory.alloc != !opt->memory.free ||
        !opt->device_memory.alloc != !opt->device_memory.free)
        return trs_fail(TRS_EARG, "create: one of memory's callbacks alloc and free is NULL");
    double start = trs_now();
    trs_plan *p = trs_alloc_zero(&opt->memory, 1, sizeof *p);
    if (!p) return trs_fail(TRS_EMEM, "out of memory for a plan");
    pthread_mutex_init(&p->topo_lock, NULL);
    p->ctx.mem = opt->memory;
    p->ctx.device_memory = opt->device_memory;
    int rc = take_options(p, mat, opt);
    if (!rc) rc = take_pivots(p, opt, mat->dtype);
    if (!rc) rc = trs_plan_find_solver(p, opt->solver);
    if (!rc) rc = trs_check_device(opt->device);
    if (!rc) rc = trs_check_device(mat->device);
    if (!rc) rc = import(p, mat);
    if (rc) {
        trs_plan_destroy(p);
        return rc;
    }
    *plan = p;
    p->state = TRS_CREATED;
    p->info.nnz = p->general ? mat->n * mat->n : p->far ? mat->nnz : p->imported.nnz;
    p->info.seconds_create = trs_now() - start;
    return TRS_OK;
}

int trs_plan_create(trs_plan **plan, const trs_mat *mat, const trs_options *opt)
{
    trs_enter();
    return trs_leave(create(plan, mat, opt));
}

/* ---- analyse: the sides --------------------------------------------------------------------- */

/* Is op(T) of this side an upper triangle, to be counted backwards? */
bool trs_counts_backwards(const trs_plan *p, int k)
{
    return (k == 0) == !!(p->shape.kind & TRS_UPPER);
}

enum { FULL_PERCENT = 90 };

/* Nearly all entries that there can be: no pattern to look for, and the host need not go through the rows to find
 * their levels. */
static bool is_full(const trs_tri *t)
{
    return 200 * (double)t->nnz >= FULL_PERCENT * (double)t->n * ((double)t->n + 1);
}

/* The device finds the levels of larger triangles sooner, and has what is sent there to do so for the solvers
 * that want it. */
enum { LEVELS_THERE_FROM = 2000000 };

static bool had_better_ask_device(const trs_plan *p, const trs_side *s)
{
    char why[200];
    if (s->tri.nnz < LEVELS_THERE_FROM || is_full(&s->tri) || p->was_far || p->ctx.limit)
        return false;
    return p->wanted ? p->wanted->direct : !trs_gpu_probe(p->ctx.device, why, sizeof why);
}

/* The analysis of the slides: the pattern by columns (CSC), and a topological sort of it by in-degree. */
static int sort_columns(trs_context *ctx, trs_side *s)
{
    trs_tri csc;
    int rc = trs_tri_transpose(ctx, &s->tri, false, &csc);
    if (rc) return rc;
    rc = trs_level_sets(ctx, &csc, 0, csc.n, &s->lv);
    trs_tri_free(ctx, &csc);
    return rc;
}

/* Every way gives the same levels.  A solver that is named gets the analysis that belongs to it; the choice among
 * solvers goes by the fastest one, and what it found is not looked for again, whoever is chosen. */
static int find_levels(trs_plan *p, trs_side *s)
{
    const bool by_columns = p->wanted && p->wanted->by_columns;
    p->info.analysis = "rows on the device";
    if (had_better_ask_device(p, s) && !trs_direct_levels(&p->ctx, s)) return TRS_OK;
    p->info.analysis =
        by_columns ? "topological sort by in-degree (CSC)" : "one sweep over the rows";
    int rc = by_columns ? sort_columns(&p->ctx, s)
                        : trs_level_rows(&p->ctx, &s->tri, 0, s->tri.n, &s->lv);
    if (!rc) trs_tally_levels(&p->ctx, s);
    return rc;
}

/* The triangle of a side, found at a [k], counted from the right end; its levels. */
static int take_side(trs_plan *p, int k, trs_tri *a)
{
    trs_side *s = &p->side[k];
    s->tri = *a;
    memset(a, 0, sizeof *a);
    s->reversed = trs_counts_backwards(p, k);
    int rc = s->reversed ? trs_tri_reverse(&p->ctx, &s->tri) : TRS_OK;
    double start = trs_now();
    if (!rc) rc = find_levels(p, s);
    p->info.seconds_levels += trs_now() - start;
    if (!rc) trs_tri_drop_identity(&p->ctx, &s->tri);
    return rc;
}

/* The imported triangle, transposed for the side that needs it. */
static int build_sides(trs_plan *p)
{
    const int have = p->imported_is_t, other = 1 - have;
    trs_tri a[2] = {{0}, {0}};
    a[have] = p->imported;
    memset(&p->imported, 0, sizeof p->imported);
    int rc = p->side[other].used ? trs_tri_transpose(&p->ctx, &a[have], true, &a[other]) : TRS_OK;
    for (int k = 0; k < 2 && !rc; k++)
        if (p->side[k].used) rc = take_side(p, k, &a[k]);
    for (int k = 0; k < 2; k++) trs_tri_free(&p->ctx, &a[k]);
    return rc;
}

int32_t trs_caller_row(const trs_side *s, int32_t k)
{
    if (s->perm) return s->perm[k];
    return s->reversed ? s->tri.n - 1 - k : k;
}

/* Rows of a level side by side: plan order becomes topo, and topo the identity. */
static int order_by_level(trs_context *ctx, trs_side *s)
{
    trs_tri t;
    int rc = trs_tri_permute(ctx, &s->tri, s->lv.topo, &t);
    if (rc) return rc;
    trs_supernodes_free(ctx, &s->super); /* were of the old order */
    trs_stretches_free(ctx, &s->stretches);
    s->stretches.solver[0] = NULL;
    trs_direct_free(ctx, &s->direct);
    trs_tri_free(ctx, &s->tri);
    s->tri = t;
    s->perm = s->lv.topo;
    s->lv.topo = trs_new(ctx, t.n, sizeof *s->perm, "topo");
    if (!s->lv.topo) return TRS_EMEM;
    for (int32_t k = 0; k < t.n; k++) {
        if (s->reversed) s->perm[k] = t.n - 1 - s->perm[k];
        s->lv.topo[k] = k;
    }
    s->reversed = false;
    return TRS_OK;
}

/* The same on the device; perm NULL: there is none. */
static int device_perm(trs_context *ctx, int64_t n, const int32_t *perm, int32_t **there)
{
    if (!perm || *there) return TRS_OK;
    *there = trs_gpu_new(ctx, n, sizeof *perm, "a permutation");
    return *there ? trs_gpu_put(ctx, *there, perm, (size_t)n * sizeof *perm) : TRS_EMEM;
}

/* ---- analyse: who solves ---------------------------------------------------------------------- */

/* Smaller triangles are nothing for a solver that wants supernodes or strips. */
enum { SHAPES_FROM = 5000 };

/* A full triangle that a solver of full matrices may store. */
static bool is_for_full_solver(const trs_context *ctx, const trs_side *s)
{
    trs_shape shape;
    if (!is_full(&s->tri)) return false;
    trs_shape_of(ctx, s, &shape);
    for (int k = 0; trs_solver_at(k); k++) {
        const trs_solver *one = trs_solver_at(k);
        if (one->full && one->place == TRS_ON_CUDA && one->family == TRS_TRIANGLE &&
            trs_fits(one, &shape, ctx->limit))
            return true;
    }
    return false;
}

static int find_supernodes(trs_plan *p, trs_side *s)
{
    trs_context *ctx = &p->ctx;
    const trs_solver *w = p->wanted;
    if (s->super.block || (w && !w->stretches ? !w->supernodes : !trs_direct_supernodes(ctx, s)))
        return TRS_OK;
    const int rc =
        p->far ? trs_far_supernodes(ctx, s) : trs_supernodes_make(ctx, &s->tri, &s->super);
    if ((w && w->supernodes) || rc != TRS_ESUPPORT) return rc;
    trs_forget(); /* without, then */
    s->super = (trs_supernodes){0};
    return TRS_OK;
}

/* What only some solvers look at, if one of them is going to. */
static int find_shapes(trs_plan *p, trs_side *s)
{
    trs_context *ctx = &p->ctx;
    const trs_solver *w = p->wanted;
    char why[200];
    if (!w && (s->tri.nnz < SHAPES_FROM || is_for_full_solver(ctx, s) ||
               trs_gpu_probe(ctx->device, why, sizeof why)))
        return TRS_OK;
    if (!w || w->strips || w->stretches) s->strip_rows = trs_direct_strips_rows(ctx, s);
    int rc = find_supernodes(p, s);
    if (rc || p->far || (w && !w->stretches)) return rc;
    rc = trs_stretches_find(ctx, s, w != NULL);
    if (w || rc != TRS_EMEM) return rc;
    trs_forget(); /* without a cut, then */
    return TRS_OK;
}

/* "; 22904 rows by cuda-supernodal, 4096 by dense-blocked" */
static void describe_stretches(trs_plan *p, const trs_stretches *s)
{
    const size_t used = strlen(p->reason);
    if (!p->wanted->stretches || !s->row) return;
    snprintf(p->reason + used, sizeof p->reason - used, "; %d %s by %s, %d by %s",
             (int)s->shape[0].n, trs_noun(s->shape[0].n, "row", "rows"), s->solver[0]->name,
             (int)s->shape[1].n, s->solver[1]->name);
}

static int choose(trs_plan *p)
{
    trs_context *ctx = &p->ctx;
    trs_side *s = &p->side[p->side[0].used ? 0 : 1];
    trs_shape shape;
    int rc = find_shapes(p, s);
    if (rc) return rc;
    trs_shape_of(ctx, s, &shape);
    p->info.levels = shape.levels;
    p->info.widest = shape.widest;
    p->info.longest = shape.longest;
    if (!p->wanted) {
        trs_candidate *c = p->candidate;
        int count = trs_choose(ctx, &shape, p->on_device, c, p->reason, sizeof p->reason);
        if (!count) return trs_fail(TRS_ESUPPORT, "no solver of this build can do this here");
        rc = p->measure ? trs_measure(p, s, c, count, p->reason, sizeof p->reason) : TRS_OK;
        if (rc) return rc;
        p->candidates = p->measure ? 1 : count;
        p->wanted = c[0].solver;
        p->info.predicted = c[0].seconds;
    } else {
        trs_cost c;
        p->info.predicted = trs_predict(ctx, p->wanted, NULL, &shape, p->on_device, &c);
        size_t used = trs_describe_shape(p->reason, sizeof p->reason, &shape);
        snprintf(p->reason + used, sizeof p->reason - used, ": %s",
                 p->info.analyses ? "kept, as other rows are left out" : "named by the caller");
    }
    describe_stretches(p, &s->stretches);
    if (!trs_fits(p->wanted, &shape, ctx->limit))
        return trs_fail(TRS_EMEM, "%s would need %.3g bytes, over the limit", p->wanted->name,
                        (double)p->wanted->bytes(&shape));
    return TRS_OK;
}

/* The side and the choice, found where the matrix is; else it is as if it had come from the host. */
static int choose_far(trs_plan *p)
{
    const double start = trs_now();
    bool found = false;
    int rc = p->ncuts ? TRS_OK : trs_far_levels(p, &found);
    p->info.seconds_levels += trs_now() - start;
    if (!rc && !found) return trs_far_import_after_all(p);
    if (!rc) rc = choose(p);
    return rc || p->wanted->direct ? rc : trs_far_fetch(p);
}

static int analyse_part(trs_plan *p, trs_side *s, trs_part *part)
{
    trs_context *ctx = part->ctx;
    int rc = TRS_OK;
    part->lv = &s->lv;
    if (part->from > 0 || part->to < s->tri.n) {
        if (!(part->solver->caps & TRS_CAP_PARTS))
            return trs_fail(TRS_ESUPPORT, "%s solves whole triangles only", part->solver->name);
        rc = trs_level_rows(ctx, &s->tri, part->from, part->to, &part->own);
        part->lv = &part->own;
    }
    if (!rc && part->solver->place == TRS_ON_CUDA) rc = trs_gpu_use(ctx);
    if (!rc && part->solver->direct) rc = trs_direct_pattern(ctx, s, part->solver);
    if (!rc && part->solver->analyse) rc = part->solver->analyse(part);
    p->info.on_gpu = part->solver->place == TRS_ON_CUDA;
    return rc;
}

static int build_parts(trs_plan *p, int k)
{
    trs_side *s = &p->side[k];
    int rc = find_shapes(p, s);
    if (rc) return rc;
    s->part = trs_alloc_zero(&p->ctx.mem, p->ncuts + 1, sizeof *s->part);
    if (!s->part) return trs_fail(TRS_EMEM, "out of memory for the parts");
    for (int c = 0; c <= p->ncuts && !rc; c++) {
        trs_part *part = &s->part[s->nparts++];
        part->ctx = &p->ctx;
        part->side = s;
        part->transposed = k == 1;
        part->from = c > 0 ? p->cut[c - 1] : 0;
        part->to = c < p->ncuts ? p->cut[c] : s->tri.n;
        part->solver = p->cut_solver ? p->cut_solver[c] : p->wanted;
        rc = analyse_part(p, s, part);
    }
    return rc;
}

static void free_parts(trs_context *ctx, trs_side *s)
{
    for (int c = 0; c < s->nparts; c++) {
        trs_part *part = &s->part[c];
        if (part->solver->release && part->data) part->solver->release(part);
        trs_levels_free(ctx, &part->own);
    }
    trs_free(&ctx->mem, s->part);
    s->part = NULL;
    s->nparts = 0;
}

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

/* topo in the caller's numbering. */
static int keep_topo(trs_plan *p)
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

/* ---- values ------------------------------------------------------------------------------------ */

static int update_part(trs_context *ctx, trs_side *s, trs_part *part)
{
    const trs_solver *solver = part->solver;
    int rc = solver->place == TRS_ON_CUDA ? trs_gpu_use(ctx) : TRS_OK;
    if (!rc && solver->direct) return trs_direct_tell(ctx, s, part);
    return !rc && solver->update ? solver->update(part) : rc;
}

static int update_parts(trs_plan *p)
{
    int rc = TRS_OK;
    p->values_there = false;
    if (!p->general && p->pivot != TRS_PIVOT_SKIP) trs_pivots_treat(p);
    for (int k = 0; k < 2; k++)
        for (int c = 0; c < p->side[k].nparts && !rc; c++)
            rc = update_part(&p->ctx, &p->side[k], &p->side[k].part[c]);
    return rc;
}

/* The solvers have the values, or rc says why not; may the plan be solved with? */
static int values_known(trs_plan *p, int rc)
{
    if (!p->general && (!rc || rc == TRS_EPIVOT) && trs_pivots_judge(p)) rc = TRS_EPIVOT;
    p->judged = !rc || rc == TRS_EPIVOT;
    p->state = rc ? TRS_ANALYSED : TRS_READY;
    return rc;
}

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

/* On the host and on the device, with this solver (NULL: without). */
static void bytes_of_plan(const trs_plan *p, const trs_solver *solver, trs_info *info)
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

static int check_limit(trs_plan *p)
{
    trs_info info;
    if (!p->ctx.limit) return TRS_OK;
    bytes_of_plan(p, p->wanted, &info);
    const int64_t most = info.bytes_host > info.bytes_device ? info.bytes_host : info.bytes_device;
    if (most <= p->ctx.limit) return TRS_OK;
    return trs_fail(TRS_EMEM, "the plan would need %.3g bytes, over the limit", (double)most);
}

/* ---- analyse: all of it ------------------------------------------------------------------------------ */

static bool may_use_gpu(const trs_plan *p)
{
    char why[200];
    if (p->wanted) return p->wanted->place == TRS_ON_CUDA;
    return !trs_gpu_probe(p->ctx.device, why, sizeof why);
}

/* Parts by p->wanted, with values; TRS_EPIVOT: there they are, and with other values they will do. */
static int build(trs_plan *p)
{
    int rc = TRS_OK;
    for (int k = 0; k < 2; k++) free_parts(&p->ctx, &p->side[k]);
    for (int k = 0; k < 2 && !rc; k++) {
        trs_side *s = &p->side[k];
        if (!s->used) continue;
        rc = build_parts(p, k);
        if (!rc && p->info.on_gpu) rc = device_perm(&p->ctx, s->tri.n, s->perm, &s->perm_dev);
    }
    if (!rc && p->info.on_gpu) rc = device_perm(&p->ctx, p->info.n, p->P, &p->P_dev);
    if (!rc && p->info.on_gpu) rc = device_perm(&p->ctx, p->info.n, p->Q, &p->Q_dev);
    trs_gpu_drop_scratch(&p->ctx);
    if (!rc) rc = trs_pivots_put(p);
    return rc ? rc : p->far ? trs_direct_update(p, NULL, NULL) : update_parts(p);
}

/* Of a solve, with T or its transpose. */
static double cost_now(const trs_plan *p)
{
    double sum = 0;
    int sides = 0;
    for (int k = 0; k < 2; k++) {
        const trs_side *s = &p->side[k];
        trs_shape shape;
        trs_cost c;
        if (!s->used) continue;
        trs_shape_of(&p->ctx, s, &shape);
        sum += trs_predict(&p->ctx, p->wanted, s->part, &shape, p->on_device, &c);
        sides++;
    }
    return sum / sides;
}

/* Another solver, after this one took so many seconds; INFINITY: could not be made. */
static int build_other(trs_plan *p, const trs_solver *other, double seconds)
{
    const size_t used = strlen(p->reason), left = sizeof p->reason - used;
    const char *name = p->wanted->name;
    if (isinf(seconds)) snprintf(p->reason + used, left, "; %s could not be made", name);
    else snprintf(p->reason + used, left, "; %s %.3g ms now", name, 1e3 * seconds);
    p->wanted = other;
    const int rc = check_limit(p);
    return rc ? rc : build(p);
}

/* May it take over?  The values may have been the reason. */
static bool may_follow(const trs_plan *p, const trs_solver *s)
{
    return !trs_inverts_blindly(s) && (s->direct || !p->far);
}

/* Pivots are replaced once: a second look would find none to replace. */
static bool may_build_again(const trs_plan *p)
{
    return !p->ncuts && (!p->bad_pivots || p->pivot == TRS_PIVOT_SKIP);
}

/* Parts by the first candidate that there is memory for. */
static int build_first(trs_plan *p)
{
    int rc = check_limit(p);
    if (!rc) rc = build(p);
    while (rc == TRS_EMEM && p->candidates > 1 && may_build_again(p)) {
        const trs_candidate next = p->candidate[1];
        memmove(p->candidate, p->candidate + 1, (size_t)--p->candidates * sizeof next);
        if (!may_follow(p, next.solver)) continue;
        p->info.predicted = next.seconds;
        trs_forget();
        rc = build_other(p, next.solver, INFINITY);
    }
    return rc;
}

/* The analysis and the values tell what was not known when p->wanted was chosen; where another solver is predicted to
 * be faster than this one has turned out to be, that one. */
static int settle(trs_plan *p)
{
    if (!may_build_again(p)) return TRS_OK;
    for (int k = 1; k < p->candidates && p->wanted->cost_now; k++) {
        const trs_candidate *next = &p->candidate[k];
        const trs_solver *const last = p->wanted;
        const double now = cost_now(p);
        p->info.predicted = now;
        if (now <= next->seconds) break;
        if (!may_follow(p, next->solver)) continue;
        const int failed = build_other(p, next->solver, now);
        const double then = failed ? INFINITY : cost_now(p);
        if (then < now) {
            p->info.predicted = then;
            continue;
        }
        trs_forget();
        return build_other(p, last, then);
    }
    return TRS_OK;
}

/* Is what the plan has chosen, not by measuring, still open? */
static bool is_to_be_tried(const trs_plan *p)
{
    int k = 0;
    while (k < p->candidates && p->candidate[k].solver != p->wanted) k++;
    return k < p->candidates && p->candidate[k].try_both && !p->measure && !p->ncuts;
}

int trs_plan_finish(trs_plan *p, double start)
{
    p->state = TRS_FAILED; /* until all of it has worked */
    p->info.analyses++;
    int rc = p->general || p->far ? TRS_OK : keep_topo(p);
    int pivots = rc ? rc : build_first(p);
    if (!pivots) pivots = settle(p);
    if (!pivots && is_to_be_tried(p)) trs_try_twin(p);
    rc = pivots != TRS_EPIVOT ? pivots : TRS_OK;
    for (int k = 0; k < 2; k++) {
        trs_supernodes_free(&p->ctx, &p->side[k].super);
        trs_stretches_free(&p->ctx, &p->side[k].stretches);
        trs_direct_drop_pattern(&p->ctx, &p->side[k]);
    }
    if (!rc) rc = trs_work_make(&p->own, p, p->ctx.nrhs, &p->ctx);
    if (!rc) rc = values_known(p, pivots);
    p->info.seconds_analyse = trs_now() - start;
    p->info.seconds_vendor = p->ctx.seconds_vendor;
    return rc;
}

/* The sides are there, and who solves is known. */
static int order_and_finish(trs_plan *p, double start)
{
    const trs_order order = p->order ? p->order : p->wanted->order;
    int rc = TRS_OK;
    for (int k = 0; k < 2 && !rc; k++)
        if (p->side[k].used && order == TRS_ORDER_LEVEL && !p->general)
            rc = order_by_level(&p->ctx, &p->side[k]);
    return rc ? rc : trs_plan_finish(p, start);
}

static int analyse(trs_plan *p)
{
    if (!p) return trs_fail(TRS_EARG, "analyse: plan is NULL");
    if (p->state != TRS_CREATED) return trs_fail(TRS_ESTATE, "analyse: not a fresh plan");
    double start = trs_now();
    p->state = TRS_FAILED;
    int rc = trs_machine_find(&p->ctx, may_use_gpu(p));
    if (!rc && p->far) rc = choose_far(p);
    if (!rc && p->general) rc = trs_general_choose(p);
    else if (!rc && !p->side[p->imported_is_t].lv.ptr) {
        rc = build_sides(p);
        if (!rc) rc = choose(p);
    }
    return rc ? rc : order_and_finish(p, start);
}

int trs_plan_analyse(trs_plan *p)
{
    trs_enter();
    return trs_leave(analyse(p));
}

/* ---- new values -------------------------------------------------------------------------------------- */

/* All that an analysis has found. */
static void forget_sides(trs_plan *p)
{
    trs_work_destroy(p->own);
    p->own = NULL;
    if (p->topo != p->side[0].lv.topo) trs_free(&p->ctx.mem, (void *)p->topo);
    p->topo = NULL;
    for (int k = 0; k < 2; k++) {
        const bool used = p->side[k].used;
        trs_side_free(&p->ctx, &p->side[k]);
        p->side[k] = (trs_side){.used = used};
    }
}

bool trs_plan_has_sides(const trs_plan *p)
{
    return p->side[p->side[0].used ? 0 : 1].nparts > 0;
}

/* Other rows have to be left out: analyse what is left now, for the same solver, since work spaces and what was
 * captured belong to it. */
static int analyse_again(trs_plan *p, const void *val)
{
    const double start = trs_now();
    forget_sides(p);
    p->candidates = 0;
    p->info.seconds_levels = p->ctx.seconds_vendor = 0;
    int rc = trs_pivots_leave_out(p, val);
    p->info.nnz = p->imported.nnz;
    if (!rc) rc = build_sides(p);
    if (!rc) rc = choose(p);
    if (!rc) rc = order_and_finish(p, start);
    if (rc) forget_sides(p);
    p->state = TRS_ANALYSED;
    return rc;
}

/* All entries of the matrix, those that are left out too, with their places in val. */
static const trs_tri *whole_triangle(const trs_plan *p)
{
    return p->skip ? &p->whole : &p->side[!p->side[0].used].tri;
}

static int take_values(trs_plan *p, const trs_mat *host)
{
    const int other = p->P ? trs_permuted_zeros(&p->ctx, host, whole_triangle(p)) : TRS_OK;
    if (other) return other;
    if (p->skip && (trs_pivots_other(p, host->val) || !trs_plan_has_sides(p)))
        return analyse_again(p, host->val);
    if (trs_direct_in_place(p)) return trs_direct_send(p, host->val);
    if (p->far) return trs_far_update(p, host->val);
    int rc = p->general ? trs_general_read(p, host) : TRS_OK;
    for (int k = 0; k < 2 && !p->general; k++)
        if (p->side[k].used) trs_tri_read_values(&p->ctx, &p->side[k].tri, host->val);
    return rc ? rc : update_parts(p);
}

static int update(trs_plan *p, const trs_mat *mat, const trs_exec *exec)
{
    if (!p || !mat) return trs_fail(TRS_EARG, "update: plan or mat is NULL");
    if (p->state != TRS_ANALYSED && p->state != TRS_READY)
        return trs_fail(TRS_ESTATE, "update: the plan is not analysed");
    p->state = TRS_ANALYSED;
    p->judged = false;
    trs_context *ctx = &p->ctx;
    trs_mat host;
    int rc = trs_check_values(mat);
    if (rc) return rc;
    if (!trs_same_arrays(&p->shape, mat))
        return trs_fail(TRS_EARG, "update: n, nnz, ld, block, dtype or format differ from create");
    void *stream = exec ? exec->stream : NULL;
    if (trs_direct_possible(p, mat)) {
        return values_known(p, trs_direct_update(p, mat->val, stream));
    }
    if (mat->device > 0 && trs_gpu_wait(stream)) /* whoever writes them there has to be done */
        return trs_fail(TRS_EDEVICE, "update: the stream has failed");
    rc = fetch(ctx, mat, false, &host);
    if (!rc) rc = take_values(p, &host);
    fetch_done(ctx, mat, &host);
    return values_known(p, rc);
}

int trs_plan_update(trs_plan *p, const trs_mat *mat, const trs_exec *exec)
{
    trs_enter();
    return trs_leave(update(p, mat, exec));
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
    bytes_of_plan(p, p->wanted, info);
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
    if (!rc && !p->topo) rc = keep_topo(p);
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

/* ---- destroy ------------------------------------------------------------------------------------- */

void trs_side_free(trs_context *ctx, trs_side *s)
{
    free_parts(ctx, s);
    trs_gpu_free(ctx, s->perm_dev);
    trs_direct_free(ctx, &s->direct);
    trs_free(&ctx->mem, s->perm);
    trs_levels_free(ctx, &s->lv);
    trs_supernodes_free(ctx, &s->super);
    trs_stretches_free(ctx, &s->stretches);
    trs_tri_free(ctx, &s->tri);
    trs_free(&ctx->mem, s->full);
}

void trs_plan_destroy(trs_plan *p)
{
    if (!p) return;
    trs_enter();
    trs_context *ctx = &p->ctx;
    forget_sides(p);
    trs_tri_free(ctx, &p->imported);
    trs_tri_free(ctx, &p->whole);
    trs_free(&ctx->mem, p->P);
    trs_free(&ctx->mem, p->Q);
    trs_gpu_free(ctx, p->P_dev);
    trs_gpu_free(ctx, p->Q_dev);
    trs_free(&ctx->mem, p->skip);
    trs_gpu_free(ctx, p->skip_dev);
    trs_gpu_drop_ring(ctx);
    trs_gpu_drop_scratch(ctx);
    pthread_mutex_destroy(&p->topo_lock);
    trs_memory mem = ctx->mem;
    trs_free(&mem, p);
    trs_leave_silently();
}
