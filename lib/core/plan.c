/* plan.c: analyse, update, destroy: the life of a plan.
 *
 *     create:  check the caller's matrix, take it over (plan_create.c)
 *     analyse: sides -> levels -> solver -> order -> parts -> work space -> first values
 *     update:  new values through the places kept at import, pivots looked at, solvers told; or, where
 *              other rows have to be left out than before, all of analyse but the choice of the solver
 *
 * Questions about a plan are answered in plan_info.c. */
#include "config.h"

#include "general.h"
#include "base/device.h"
#include "solvers/on_device.h"
#include "base/noun.h"
#include "matrix/permuted.h"
#include "base/parallel.h"
#include "cuda/segments/cut.h"
#include "work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (s->super.supernode || (w && !w->stretches ? !w->supernodes : !trs_direct_supernodes(ctx, s)))
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

static int check_limit(trs_plan *p)
{
    trs_info info;
    if (!p->ctx.limit) return TRS_OK;
    trs_plan_bytes(p, p->wanted, &info);
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
    int rc = p->general || p->far ? TRS_OK : trs_plan_keep_topo(p);
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
    if (trs_direct_possible(p, mat)) return values_known(p, trs_direct_update(p, mat->val, stream));
    if (mat->device > 0 && trs_gpu_wait(stream)) /* whoever writes them there has to be done */
        return trs_fail(TRS_EDEVICE, "update: the stream has failed");
    rc = trs_mat_fetch(ctx, mat, false, &host);
    if (!rc) rc = take_values(p, &host);
    trs_mat_fetched(ctx, mat, &host);
    return values_known(p, rc);
}

int trs_plan_update(trs_plan *p, const trs_mat *mat, const trs_exec *exec)
{
    trs_enter();
    return trs_leave(update(p, mat, exec));
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
