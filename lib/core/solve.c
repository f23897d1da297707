/* solve.c: solves X = op(T)^-1 B by the solvers of a plan, and makes the work space that this takes.
 *
 * Layouts and reversed operators are a matter of strides: element (i, r) of B stands at p[i*rs + r*cs], with rs < 0
 * where the operator counts rows backwards.  B and X are copied only where the plan stores rows in level order, where
 * A is a triangle after permutations, or where the solver runs on the device and B and X live on the host:
 *
 *     B (host) --stage--> B (device) --P, permuted--> b of T --topo, ordered--> plan order --solver--> x, and back */
#include "config.h"

#include "choice/choice.h"
#include "base/device.h"
#include "matrix/on_device.h"
#include "vectors/gather.h"
#include "work.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* ---- work space ----------------------------------------------------------------------------------- */

/* What a solve takes of a work space, in bytes. */
typedef struct needs {
    int64_t stage, ordered, permuted, scratch;
} needs;

static needs needs_of(const trs_plan *p, const trs_side *side, int nrhs)
{
    const trs_instance *i = &side->instance;
    const int64_t one = p->info.n * nrhs * (int64_t)trs_size(p->given.dtype);
    needs w = {0};
    if (!i->solver) return w;
    if (trs_is_on_gpu(i) && !p->on_device) w.stage = one;
    if (side->op.perm) w.ordered = one;
    if (p->P) w.permuted = one;
    if (i->solver->work_bytes) w.scratch = i->solver->work_bytes(i, nrhs);
    return w;
}

int64_t trs_work_bytes(const trs_plan *p, int nrhs)
{
    const int64_t one = p->info.n * nrhs * (int64_t)trs_size(p->given.dtype);
    if (p->state == TRS_CREATED) { /* nothing is built yet */
        const bool stage = p->solver && p->solver->place == TRS_ON_CUDA && !p->on_device;
        const bool scratch = p->solver && p->solver->work_bytes;
        return one * (stage + (p->order == TRS_ORDER_LEVEL) + (p->P != NULL) + scratch);
    }
    needs most = {0};
    for (int k = 0; k < p->sides; k++) {
        const needs w = needs_of(p, &p->side[k], nrhs);
        most.stage = trs_max(most.stage, w.stage);
        most.ordered = trs_max(most.ordered, w.ordered);
        most.permuted = trs_max(most.permuted, w.permuted);
        most.scratch = trs_max(most.scratch, w.scratch);
    }
    return most.stage + most.ordered + most.permuted + most.scratch;
}

static void buffer_free(trs_work *w, trs_buffer *b, bool device)
{
    if (device) trs_gpu_free(&w->ctx, b->p);
    if (!device) trs_free(&w->ctx.mem, b->p);
    *b = (trs_buffer){0};
}

/* Give a buffer at least so many bytes.  It does not change if there is no memory. */
static int buffer_grow(trs_work *w, trs_buffer *b, int64_t bytes, bool device)
{
    void *p;
    if (bytes <= b->bytes) return TRS_OK;
    if (device) p = trs_gpu_new(&w->ctx, bytes, 1, "a work space");
    else p = trs_new(&w->ctx, bytes, 1, "a work space");
    if (!p) return TRS_EMEM;
    buffer_free(w, b, device);
    *b = (trs_buffer){p, bytes};
    return TRS_OK;
}

static void fitted_free(trs_work *w, trs_fitted *s)
{
    for (int k = 0; k < 2; k++) trs_instance_work_destroy(&w->ctx, &s->of_side[k]);
    trs_free(&w->ctx.mem, s);
}

/* Let the instances of the plan make work spaces, if their solver has any but plain scratch. */
static int make_of_sides(trs_work *w, trs_fitted *s, int nrhs, bool *any)
{
    int rc = TRS_OK;
    for (int k = 0; k < s->plan->sides && !rc; k++) {
        const trs_instance *i = &s->plan->side[k].instance;
        if (!i->solver || !i->solver->work_create) continue;
        *any = true;
        rc = trs_instance_work_create(i, &w->ctx, nrhs, &s->of_side[k]);
    }
    return rc;
}

static int grow_buffers(trs_work *w, const trs_plan *p, int nrhs)
{
    int rc = TRS_OK;
    for (int k = 0; k < p->sides && !rc; k++) {
        const trs_side *side = &p->side[k];
        const needs need = needs_of(p, side, nrhs);
        const bool there = trs_is_on_gpu(&side->instance);
        const int place = there ? TRS_ON_CUDA : TRS_ON_CPU;
        rc = buffer_grow(w, &w->stage, need.stage, true);
        if (!rc) rc = buffer_grow(w, &w->ordered[place], need.ordered, there);
        if (!rc) rc = buffer_grow(w, &w->permuted[place], need.permuted, there);
        if (!rc) rc = buffer_grow(w, &w->scratch[place], need.scratch, there);
    }
    return rc;
}

static trs_fitted *find_fitted(const trs_work *w, const trs_plan *p)
{
    trs_fitted *s = w->fitted;
    while (s && s->plan != p) s = s->next;
    return s;
}

/* Into the list, in the place of what is there for the same plan. */
static void put_fitted(trs_work *w, trs_fitted *s)
{
    trs_fitted **at = &w->fitted;
    while (*at && (*at)->plan != s->plan) at = &(*at)->next;
    trs_fitted *old = *at;
    s->next = old ? old->next : NULL;
    *at = s;
    if (old) fitted_free(w, old);
}

static int fit(trs_work *w, const trs_plan *p, int nrhs)
{
    bool any = trs_work_bytes(p, nrhs) > 0, on_gpu = false;
    int rc = TRS_OK;
    for (int k = 0; k < p->sides; k++) on_gpu |= trs_is_on_gpu(&p->side[k].instance);
    if (on_gpu) rc = trs_gpu_use(&w->ctx);
    if (rc) return rc;
    trs_fitted *s = trs_alloc_zero(&w->ctx.mem, 1, sizeof *s);
    if (!s) return trs_fail(TRS_EMEM, "out of memory for a work space");
    s->plan = p;
    s->analyses = p->info.analyses;
    for (int k = 0; k < p->sides; k++) s->version[k] = p->side[k].version;
    rc = make_of_sides(w, s, nrhs, &any);
    if (!rc) rc = grow_buffers(w, p, nrhs);
    s->nrhs = any ? nrhs : INT_MAX;
    if (rc) fitted_free(w, s);
    else put_fitted(w, s);
    return rc;
}

int trs_work_make(trs_work **work, const trs_plan *p, int nrhs, trs_context *ctx)
{
    trs_work *w = *work = trs_alloc_zero(&p->ctx.mem, 1, sizeof *w);
    if (!w) return trs_fail(TRS_EMEM, "out of memory for a work space");
    w->ctx = p->ctx;
    w->ctx.ring = NULL;
    w->ctx.scratch = NULL;
    w->ctx.scratch_bytes = 0;
    w->on_device = p->on_device;
    int rc = fit(w, p, nrhs);
    if (ctx) ctx->seconds_vendor = w->ctx.seconds_vendor;
    if (rc) {
        trs_work_destroy(w);
        *work = NULL;
    }
    return rc;
}

static int check_work(const trs_plan *p, int max_nrhs)
{
    const int rc = trs_plan_check_analysed(p, "work space");
    if (rc || max_nrhs > 0) return rc;
    return trs_fail(TRS_EARG, "work space: max_nrhs = %d is not positive", max_nrhs);
}

/* A work space of the caller has the instances of the plan. */
static void share(const trs_plan *p)
{
    for (int k = 0; k < p->sides; k++) atomic_store(&((trs_plan *)p)->side[k].shared, true);
}

int trs_work_create(trs_work **work, const trs_plan *p, int max_nrhs)
{
    trs_enter();
    if (!work) return trs_leave(trs_fail(TRS_EARG, "work space: work is NULL"));
    *work = NULL;
    int rc = check_work(p, max_nrhs);
    if (!rc) rc = trs_work_make(work, p, max_nrhs, NULL);
    if (!rc) share(p);
    return trs_leave(rc);
}

static int fit_again(trs_work *w, const trs_plan *p, int max_nrhs)
{
    if (!w) return trs_fail(TRS_EARG, "work space: work is NULL");
    const int rc = check_work(p, max_nrhs);
    if (rc) return rc;
    if (p->on_device != w->on_device || p->ctx.device != w->ctx.device)
        return trs_fail(TRS_EARG, "work space: the plan runs on another device");
    const trs_fitted *s = find_fitted(w, p);
    if (s && s->analyses == p->info.analyses && s->nrhs >= max_nrhs) return TRS_OK;
    const int fitted = fit(w, p, max_nrhs);
    if (!fitted) share(p);
    return fitted;
}

int trs_work_fit(trs_work *w, const trs_plan *p, int max_nrhs)
{
    trs_enter();
    return trs_leave(fit_again(w, p, max_nrhs));
}

void trs_work_destroy(trs_work *w)
{
    if (!w) return;
    trs_enter();
    for (trs_fitted *s = w->fitted, *next; s; s = next) {
        next = s->next;
        fitted_free(w, s);
    }
    buffer_free(w, &w->stage, true);
    for (int place = TRS_ON_CPU; place <= TRS_ON_CUDA; place++) {
        buffer_free(w, &w->ordered[place], place == TRS_ON_CUDA);
        buffer_free(w, &w->permuted[place], place == TRS_ON_CUDA);
        buffer_free(w, &w->scratch[place], place == TRS_ON_CUDA);
    }
    trs_work_destroy(w->older);
    trs_gpu_drop_ring(&w->ctx);
    trs_memory mem = w->ctx.mem;
    trs_free(&mem, w);
    trs_leave_silently();
}

/* ---- views ---------------------------------------------------------------------------------------- */

static trs_view from_column(trs_view v, int r, size_t size)
{
    v.p = (char *)v.p + r * v.cs * (int64_t)size;
    return v;
}

/* ---- rearranging ------------------------------------------------------------------------------------ */

typedef struct order {            /* a permutation */
    const int32_t *host, *device; /* [n]; the one where the solver runs is not NULL */
} order;

typedef enum direction { BRING, PUT_BACK } direction;

/* BRING does to (k) = from (order (k)), PUT_BACK does to (order (k)) = from (k), where the solver runs. */
static int reorder(const trs_plan *p, const trs_instance *i, const trs_job *job, direction d,
                   order o, trs_view from, trs_view to)
{
    const trs_dtype t = p->given.dtype;
    const int32_t n = (int32_t)p->info.n;
    if (trs_is_on_gpu(i) && d == BRING)
        return trs_gpu_gather(t, n, job->nrhs, o.device, from, to, job->stream);
    if (trs_is_on_gpu(i)) return trs_gpu_scatter(t, n, job->nrhs, o.device, from, to, job->stream);
    const trs_gather g = {.n = n, .nrhs = job->nrhs, .from = t, .to = t, .perm = o.host};
    if (d == BRING) trs_gather_rows(&g, job->threads, from, to);
    else trs_scatter_rows(&g, from, to);
    return TRS_OK;
}

/* ---- solving ---------------------------------------------------------------------------------------- */

/* x = 0 in the rows that are left out, and x = b in the others. */
static int leave_out(const trs_plan *p, const trs_instance *i, const trs_job *job)
{
    const trs_dtype t = p->given.dtype;
    const size_t size = trs_size(t);
    const int32_t n = (int32_t)p->info.n;
    const trs_view b = job->b, x = job->x;
    if (trs_is_on_gpu(i)) return trs_gpu_leave_out(t, n, job->nrhs, p->skip_dev, b, x, job->stream);
    const trs_gather copy = {.n = n, .nrhs = job->nrhs, .from = t, .to = t};
    if (b.p != x.p) trs_gather_rows(&copy, job->threads, b, x);
    for (int r = 0; r < job->nrhs; r++)
        for (int32_t k = 0; k < n; k++)
            if (p->skip[k]) memset((char *)x.p + (k * x.rs + r * x.cs) * (int64_t)size, 0, size);
    return TRS_OK;
}

/* Solve with B and X that are where the solver runs, in the caller's order, or in that of T if A is permuted. */
static int solve_rows(const trs_plan *p, const trs_instance *i, trs_work *w, trs_job job)
{
    const trs_operator *op = i->op;
    if (!op->perm) {
        job.b = trs_view_natural(op, job.b);
        job.x = trs_view_natural(op, job.x);
        return i->solver->solve(i, &job);
    }
    const order rows = {op->perm, op->perm_dev};
    const trs_view x = job.x, y = {w->ordered[i->solver->place].p, 1, op->tri.n};
    int rc = reorder(p, i, &job, BRING, rows, job.b, y);
    job.b = job.x = y;
    if (!rc) rc = i->solver->solve(i, &job);
    if (!rc) rc = reorder(p, i, &job, PUT_BACK, rows, y, x);
    return rc;
}

/* The same where rows are left out.  B may not be changed, so the rows of it that are kept go to X, and the solve is
 * done in place.  A solver that inverts multiplies zeros within its blocks too, so that a NaN may reach the x of rows
 * that are left out; these are cleared once more. */
static int solve_kept_rows(const trs_plan *p, const trs_instance *i, trs_work *w, trs_job job)
{
    if (!p->skip || !p->bad_pivots) return solve_rows(p, i, w, job);
    int rc = leave_out(p, i, &job);
    job.b = job.x;
    if (!rc) rc = solve_rows(p, i, w, job);
    if (!rc && i->solver->accuracy == TRS_INVERTING) rc = leave_out(p, i, &job);
    return rc;
}

/* T(k, m) = A(P(k), Q(m)):  A x = b is T y = b(P) with x(Q) = y,  A' x = b is T' y = b(Q) with x(P) = y. */
static int solve_permuted(const trs_plan *p, const trs_instance *i, trs_work *w, trs_job job)
{
    const order P = {p->P, p->P_dev}, Q = {p->Q, p->Q_dev};
    const order of_b = i->op->transposed ? Q : P, of_x = i->op->transposed ? P : Q;
    const trs_view x = job.x, y = {w->permuted[i->solver->place].p, 1, p->info.n};
    int rc = reorder(p, i, &job, BRING, of_b, job.b, y);
    job.b = job.x = y;
    if (!rc) rc = solve_kept_rows(p, i, w, job);
    if (!rc) rc = reorder(p, i, &job, PUT_BACK, of_x, y, x);
    return rc;
}

/* Solve with B and X that are where the solver runs, in the caller's order. */
static int solve_there(const trs_plan *p, const trs_instance *i, trs_work *w, trs_job job)
{
    return p->P ? solve_permuted(p, i, w, job) : solve_kept_rows(p, i, w, job);
}

/* Solve on the device with B and X on the host.  The stage has contiguous columns, or rows if B or X has rows. */
static int solve_staged(const trs_plan *p, const trs_instance *i, trs_work *w, trs_job job)
{
    const size_t size = trs_size(p->given.dtype), n = (size_t)p->info.n, many = (size_t)job.nrhs;
    const bool columns = job.b.rs == 1 && job.x.rs == 1;
    const size_t width = (columns ? n : many) * size, vectors = columns ? many : n;
    const trs_view b = job.b, x = job.x;
    size_t b_pitch = (size_t)b.rs * size, x_pitch = (size_t)x.rs * size;
    job.b = job.x = (trs_view){w->stage.p, (int64_t)many, 1};
    if (columns) {
        b_pitch = (size_t)b.cs * size;
        x_pitch = (size_t)x.cs * size;
        job.b = job.x = (trs_view){w->stage.p, 1, (int64_t)n};
    }
    TRS_ASSERT((int64_t)(vectors * width) <= w->stage.bytes);
    int rc = trs_gpu_copy_lines(w->stage.p, width, b.p, b_pitch, width, vectors, true, job.stream);
    if (!rc) rc = solve_there(p, i, w, job);
    if (!rc)
        rc = trs_gpu_copy_lines(x.p, x_pitch, w->stage.p, width, width, vectors, false, job.stream);
    const int waited = trs_gpu_wait(job.stream);
    return rc ? rc : waited;
}

/* ---- checks, and all right-hand sides ---------------------------------------------------------------- */

static int check_plan(const trs_plan *p, trs_op op, int nrhs, const trs_exec *exec)
{
    const int rc = trs_check_threads("solve", exec->threads);
    if (rc) return rc;
    if (!p) return trs_fail(TRS_EARG, "solve: plan is NULL");
    if (nrhs < 0 || (unsigned)op > TRS_H || (unsigned)exec->layout > TRS_ROW_MAJOR)
        return trs_fail(TRS_EARG, "solve: op, nrhs or layout is out of range");
    if (p->state == TRS_ANALYSED)
        return trs_fail(TRS_ESTATE, "solve: the plan has no values it can be solved with");
    if (p->state != TRS_READY) return trs_fail(TRS_ESTATE, "solve: the plan is not analysed");
    if (!(p->ctx.ops & 1u << op))
        return trs_fail(TRS_ESTATE, "solve: TRS_%c was not announced in the options", "NTH"[op]);
    return TRS_OK;
}

static int check_vectors(const trs_plan *p, int nrhs, const void *B, int64_t ldb, const void *X,
                         int64_t ldx, trs_layout layout)
{
    if (!B || !X) return trs_fail(TRS_EARG, "solve: %c is NULL", B ? 'X' : 'B');
    const int64_t b = trs_extent(B, p->info.n, nrhs, ldb, layout, p->given.dtype);
    const int64_t x = trs_extent(X, p->info.n, nrhs, ldx, layout, p->given.dtype);
    if (b < 0 || x < 0 || ldb > INT32_MAX || ldx > INT32_MAX)
        return trs_fail(TRS_EARG, "solve: ldb = %" PRId64 " or ldx = %" PRId64 " is out of range",
                        ldb, ldx);
    if (B == X && ldb != ldx) return trs_fail(TRS_EARG, "solve: X is B, but ldb and ldx differ");
    if (B != X && trs_overlap(B, b, X, x)) return trs_fail(TRS_EARG, "solve: B and X overlap");
    return TRS_OK;
}

static int check_fitted(const trs_plan *p, const trs_fitted *fitted)
{
    if (!fitted) return trs_fail(TRS_EARG, "solve: the work space was not made for this plan");
    if (fitted->analyses == p->info.analyses) return TRS_OK;
    return trs_fail(TRS_ESTATE, "solve: an update has analysed the plan again since the work space "
                                "was fitted: trs_work_fit");
}

static int check_capture(const trs_plan *p, const trs_instance *i, void *stream)
{
    if (!trs_is_on_gpu(i) || p->capture_anyhow) return TRS_OK; /* a CPU solver uses no stream */
    const bool may = p->on_device && i->solver->caps & TRS_CAP_CAPTURE;
    if (may || !trs_gpu_is_capturing(stream)) return TRS_OK;
    const char *what = p->on_device ? "the solver" : "B and X on the host";
    return trs_fail(TRS_ESUPPORT, "solve: %s cannot be captured in a graph", what);
}

/* Solve for as many right-hand sides at a time as the work space was made for. */
static int solve_all(const trs_plan *p, const trs_instance *i, trs_work *w, int most, trs_job job)
{
    const size_t size = trs_size(p->given.dtype);
    const bool staged = trs_is_on_gpu(i) && !p->on_device;
    const trs_view b = job.b, x = job.x;
    const int nrhs = job.nrhs;
    int rc = TRS_OK;
    TRS_ASSERT(most > 0);
    job.of_call = nrhs;
    for (int r = 0; r < nrhs && !rc; r += job.nrhs) {
        job.nrhs = nrhs - r < most ? nrhs - r : most;
        job.b = from_column(b, r, size);
        job.x = from_column(x, r, size);
        rc = staged ? solve_staged(p, i, w, job) : solve_there(p, i, w, job);
    }
    return rc;
}

int trs_work_find(const trs_plan *p, trs_work *w, const trs_side *side, const trs_instance **found,
                  trs_job *job)
{
    const trs_fitted *fitted = find_fitted(w, p);
    const ptrdiff_t k = side - p->side;
    int rc = check_fitted(p, fitted);
    if (rc) return rc;
    const trs_instance *i = *found = trs_side_instance(side, fitted->version[k]);
    TRS_ASSERT(i && i->solver);
    if (trs_is_on_gpu(i)) rc = trs_gpu_use(&w->ctx);
    if (!rc) rc = check_capture(p, i, job->stream);
    job->work = i->solver->work_bytes ? w->scratch[i->solver->place].p : fitted->of_side[k].p;
    return rc;
}

/* With a work space, and the instance that it was made for. */
static int solve_in(const trs_plan *p, trs_work *w, const trs_side *side, bool by_rows, trs_job job)
{
    const trs_instance *i;
    const int rc = trs_work_find(p, w, side, &i, &job);
    if (rc) return rc;
    if (by_rows && !(i->solver->caps & TRS_CAP_ROW_MAJOR))
        return trs_fail(TRS_ESUPPORT, "solve: %s takes no B and X by rows", i->solver->name);
    return solve_all(p, i, w, find_fitted(w, p)->nrhs, job);
}

int trs_work_take(atomic_bool *solving, const char *owner, const char *create)
{
    if (!atomic_exchange_explicit(solving, true, memory_order_acquire)) return TRS_OK;
    if (!owner) return trs_fail(TRS_ESTATE, "solve: another solve is using this work space");
    return trs_fail(TRS_ESTATE,
                    "solve: another solve is using the work space of the %s; threads that share "
                    "the %s need a work space each: %s",
                    owner, owner, create);
}

void trs_work_release(atomic_bool *solving)
{
    atomic_store_explicit(solving, false, memory_order_release);
}

/* The arguments are right. */
static int solve_checked(trs_plan *p, trs_side *side, bool by_rows, const trs_job *job,
                         trs_work *work)
{
    atomic_bool *solving = work ? &work->solving : &p->solving;
    int rc = trs_work_take(solving, work ? NULL : "plan", "trs_work_create");
    if (rc) return rc;
    if (!work) trs_plan_count(p, side, job->nrhs, job->stream);
    rc = solve_in(p, work ? work : p->work, side, by_rows, *job);
    trs_work_release(solving);
    return rc;
}

static int solve(const trs_plan *p, trs_op op, int nrhs, const void *B, int64_t ldb, void *X,
                 int64_t ldx, const trs_exec *exec)
{
    static const trs_exec defaults = {0};
    int rc = TRS_CHECK_RESERVED(exec, "trs_exec");
    if (!exec) exec = &defaults;
    if (!rc) rc = check_plan(p, op, nrhs, exec);
    if (rc || nrhs == 0 || p->info.n == 0) return rc;
    rc = check_vectors(p, nrhs, B, ldb, X, ldx, exec->layout);
    if (rc) return rc;
    /* a single column with a leading dimension of 1 is one by rows as well */
    const bool by_rows = exec->layout == TRS_ROW_MAJOR && (ldb > 1 || ldx > 1);
    const trs_job job = {.nrhs = nrhs,
                         .b = trs_view_of(B, ldb, exec->layout),
                         .x = trs_view_of(X, ldx, exec->layout),
                         .conj = op == TRS_H && trs_is_complex(p->given.dtype),
                         .threads = exec->threads > 0 ? exec->threads : p->ctx.threads,
                         .stream = exec->stream};
    return solve_checked((trs_plan *)p, trs_plan_side(p, op != TRS_N), by_rows, &job, exec->work);
}

int trs_solve(const trs_plan *p, trs_op op, int nrhs, const void *B, int64_t ldb, void *X,
              int64_t ldx, const trs_exec *exec)
{
    trs_enter();
    return trs_leave(solve(p, op, nrhs, B, ldb, X, ldx, exec));
}
