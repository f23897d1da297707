/* solve.c: X = op(T)^-1 B through the parts of a plan, and the work space that this takes.
 *
 * Layout, order of the rows and direction are settled here by strides: element (i, r) of B stands at
 * p[i*rs + r*cs], with rs < 0 where the side counts backwards.  Only when the plan reorders rows by
 * level, or when B and X live on the other side, are they copied. */
#include "config.h"

#include "gpu.h"
#include "work.h"

#include <limits.h>
#include <string.h>

/* ---- work space ----------------------------------------------------------------------------------- */

static bool is_staged(const trs_plan *p)
{
    return p->info.on_gpu && !p->on_device;
}

static int make_part_works(trs_work *w, const trs_plan *p, int k, int nrhs, bool *any)
{
    const trs_side *s = &p->side[k];
    w->part[k] = trs_alloc_zero(&w->ctx.mem, s->nparts, sizeof *w->part[k]);
    if (!w->part[k]) return trs_fail(&w->ctx, TRS_EMEM, "out of memory for a work space");
    for (int c = 0; c < s->nparts; c++) {
        const trs_solver *solver = s->part[c].solver;
        if (!solver->work_create) continue;
        *any = true;
        int rc = solver->work_create(&s->part[c], &w->ctx, nrhs, &w->part[k][c]);
        if (rc) return rc;
    }
    return TRS_OK;
}

static int make_buffers(trs_work *w, const trs_plan *p, int nrhs, bool *any)
{
    const int64_t count = p->info.n * nrhs;
    const size_t size = trs_size(p->shape.dtype);
    trs_context *ctx = &w->ctx;
    if (is_staged(p)) {
        w->stage = trs_gpu_new(ctx, count, size, "B and X on the device");
        if (!w->stage) return TRS_EMEM;
        *any = true;
    }
    if (p->side[0].perm || p->side[1].perm) {
        w->ordered = p->info.on_gpu ? trs_gpu_new(ctx, count, size, "X in plan order")
                                    : trs_new(ctx, count, size, "X in plan order");
        if (!w->ordered) return TRS_EMEM;
        *any = true;
    }
    return TRS_OK;
}

int trs_work_make(trs_work **work, const trs_plan *p, int nrhs, trs_context *ctx)
{
    trs_work *w = *work = trs_alloc_zero(&p->ctx.mem, 1, sizeof *w);
    bool any = false;
    if (!w) return ctx ? trs_fail(ctx, TRS_EMEM, "out of memory for a work space") : TRS_EMEM;
    w->plan = p;
    w->ctx = p->ctx;
    int rc = p->info.on_gpu ? trs_gpu_use(&w->ctx) : TRS_OK;
    for (int k = 0; k < 2 && !rc; k++) rc = make_part_works(w, p, k, nrhs, &any);
    if (!rc) rc = make_buffers(w, p, nrhs, &any);
    w->nrhs = any ? nrhs : INT_MAX;
    if (ctx) {
        memcpy(ctx->message, w->ctx.message, sizeof ctx->message);
        ctx->seconds_vendor = w->ctx.seconds_vendor;
    }
    if (rc) {
        trs_work_destroy(w);
        *work = NULL;
    }
    return rc;
}

int64_t trs_work_bytes(const trs_work *w)
{
    int64_t one = w->plan->info.n * (int64_t)trs_size(w->plan->shape.dtype);
    return w->nrhs == INT_MAX ? 0 : one * w->nrhs * (!!w->stage + !!w->ordered);
}

int trs_work_create(trs_work **work, const trs_plan *p, int max_nrhs)
{
    if (!work) return TRS_EARG;
    *work = NULL;
    if (!p || max_nrhs < 1) return TRS_EARG;
    if (p->state != TRS_ANALYSED && p->state != TRS_READY) return TRS_ESTATE;
    return trs_work_make(work, p, max_nrhs, NULL);
}

void trs_work_destroy(trs_work *w)
{
    if (!w) return;
    const trs_plan *p = w->plan;
    for (int k = 0; k < 2; k++) {
        for (int c = 0; w->part[k] && c < p->side[k].nparts; c++)
            if (w->part[k][c])
                p->side[k].part[c].solver->work_destroy(&p->side[k].part[c], w->part[k][c]);
        trs_free(&w->ctx.mem, w->part[k]);
    }
    if (w->stage) trs_gpu_free(w->stage);
    if (w->ordered && p->info.on_gpu) trs_gpu_free(w->ordered);
    else trs_free(&w->ctx.mem, w->ordered);
    trs_memory mem = w->ctx.mem;
    trs_free(&mem, w);
}

/* ---- views ---------------------------------------------------------------------------------------- */

static trs_view view_of(const void *p, int64_t ld, trs_layout layout)
{
    trs_view v = {(void *)p, 1, ld};
    if (layout == TRS_ROW_MAJOR) v.rs = ld, v.cs = 1;
    return v;
}

static trs_view from_column(trs_view v, int r, size_t size)
{
    v.p = (char *)v.p + r * v.cs * (int64_t)size;
    return v;
}

/* Rows counted from the other end. */
static trs_view backwards(trs_view v, int64_t n, size_t size)
{
    v.p = (char *)v.p + (n - 1) * v.rs * (int64_t)size;
    v.rs = -v.rs;
    return v;
}

trs_view trs_view_natural(const trs_side *s, trs_view v)
{
    return s->reversed ? backwards(v, s->tri.n, trs_size(s->tri.dtype)) : v;
}

/* ---- rearranging on the host ------------------------------------------------------------------------ */

static void copy_element(void *to, int64_t q, const void *from, int64_t p, size_t size)
{
    memcpy((char *)to + q * (int64_t)size, (const char *)from + p * (int64_t)size, size);
}

/* perm NULL: the identity */
static void gather(size_t size, int32_t n, int nrhs, const int32_t *perm, trs_view x, trs_view y)
{
    for (int r = 0; r < nrhs; r++)
        for (int32_t k = 0; k < n; k++)
            copy_element(y.p, k * y.rs + r * y.cs, x.p, (perm ? perm[k] : k) * x.rs + r * x.cs,
                         size);
}

static void scatter(size_t size, int32_t n, int nrhs, const int32_t *perm, trs_view y, trs_view x)
{
    for (int r = 0; r < nrhs; r++)
        for (int32_t k = 0; k < n; k++)
            copy_element(x.p, perm[k] * x.rs + r * x.cs, y.p, k * y.rs + r * y.cs, size);
}

/* ---- solving ---------------------------------------------------------------------------------------- */

static int solve_parts(const trs_side *s, trs_work *w, trs_job *job)
{
    int rc = TRS_OK;
    int k = s != &w->plan->side[0];
    for (int c = 0; c < s->nparts && !rc; c++) {
        job->work = w->part[k][c];
        rc = s->part[c].solver->solve(&s->part[c], job);
    }
    return rc;
}

/* Rows without a pivot are left out: b = 0 there, and so x.  B stays as it is, so the rest of it goes
 * to X, and from there on it is a solve in place. */
static int leave_out(const trs_plan *p, trs_job *job)
{
    const size_t size = trs_size(p->shape.dtype);
    const int32_t n = (int32_t)p->info.n;
    const trs_view b = job->b, x = job->x;
    job->b = x;
    if (p->info.on_gpu)
        return trs_gpu_leave_out(p->shape.dtype, n, job->nrhs, p->skip_dev, b, x, job->stream);
    if (b.p != x.p) gather(size, n, job->nrhs, NULL, b, x);
    for (int r = 0; r < job->nrhs; r++)
        for (int32_t i = 0; i < n; i++)
            if (p->skip[i]) memset((char *)x.p + (i * x.rs + r * x.cs) * (int64_t)size, 0, size);
    return TRS_OK;
}

/* B and X where the solver runs, in the caller's order. */
static int solve_side(const trs_plan *p, const trs_side *s, trs_work *w, trs_job job)
{
    const size_t size = trs_size(p->shape.dtype);
    const int32_t n = s->tri.n;
    int rc = p->skip && p->bad_pivots ? leave_out(p, &job) : TRS_OK;
    if (rc) return rc;
    if (!s->perm) {
        if (s->reversed) job.b = backwards(job.b, n, size), job.x = backwards(job.x, n, size);
        return solve_parts(s, w, &job);
    }
    const trs_view x = job.x, y = {w->ordered, 1, n};
    if (p->info.on_gpu)
        rc = trs_gpu_gather(p->shape.dtype, n, job.nrhs, s->perm_dev, job.b, y, job.stream);
    else gather(size, n, job.nrhs, s->perm, job.b, y);
    job.b = job.x = y;
    if (!rc) rc = solve_parts(s, w, &job);
    if (rc) return rc;
    if (p->info.on_gpu)
        return trs_gpu_scatter(p->shape.dtype, n, job.nrhs, s->perm_dev, y, x, job.stream);
    scatter(size, n, job.nrhs, s->perm, y, x);
    return TRS_OK;
}

/* B and X on the host, the solver on the device. */
static int solve_staged(const trs_plan *p, const trs_side *s, trs_work *w, trs_job job)
{
    const size_t size = trs_size(p->shape.dtype), n = (size_t)s->tri.n, many = (size_t)job.nrhs;
    const bool columns = job.b.rs == 1 && job.x.rs == 1;
    const size_t width = (columns ? n : many) * size, lines = columns ? many : n;
    const trs_view b = job.b, x = job.x;
    job.b = job.x =
        columns ? (trs_view){w->stage, 1, (int64_t)n} : (trs_view){w->stage, (int64_t)many, 1};
    int rc = trs_gpu_copy_lines(w->stage, width, b.p, (size_t)(columns ? b.cs : b.rs) * size, width,
                                lines, true, job.stream);
    if (!rc) rc = solve_side(p, s, w, job);
    if (!rc)
        rc = trs_gpu_copy_lines(x.p, (size_t)(columns ? x.cs : x.rs) * size, w->stage, width, width,
                                lines, false, job.stream);
    int waited = trs_gpu_wait(job.stream);
    return rc ? rc : waited;
}

static bool overlap(const trs_plan *p, int nrhs, const void *B, int64_t ldb, const void *X,
                    int64_t ldx, trs_layout layout)
{
    int64_t lines = layout == TRS_ROW_MAJOR ? p->info.n : nrhs;
    int64_t width = layout == TRS_ROW_MAJOR ? nrhs : p->info.n;
    uintptr_t size = trs_size(p->shape.dtype), b = (uintptr_t)B, x = (uintptr_t)X;
    uintptr_t bytes_b = (uintptr_t)(ldb * (lines - 1) + width) * size;
    uintptr_t bytes_x = (uintptr_t)(ldx * (lines - 1) + width) * size;
    if (B == X) return ldb != ldx;
    return b < x + bytes_x && x < b + bytes_b;
}

static int check_solve(const trs_plan *p, trs_op op, int nrhs, const void *B, int64_t ldb,
                       const void *X, int64_t ldx, trs_layout layout)
{
    if (!p || nrhs < 0 || (unsigned)op > TRS_H || (unsigned)layout > TRS_ROW_MAJOR) return TRS_EARG;
    if (p->state != TRS_READY || !(p->ctx.ops & 1u << op)) return TRS_ESTATE;
    if (nrhs == 0 || p->info.n == 0) return TRS_OK;
    int64_t width = layout == TRS_ROW_MAJOR ? nrhs : p->info.n;
    if (!B || !X || ldb < width || ldx < width || ldb > INT32_MAX || ldx > INT32_MAX)
        return TRS_EARG;
    if (overlap(p, nrhs, B, ldb, X, ldx, layout)) return TRS_EARG;
    if (layout == TRS_ROW_MAJOR && (ldb > 1 || ldx > 1) && !(p->wanted->caps & TRS_CAP_ROW_MAJOR))
        return TRS_ESUPPORT;
    return TRS_OK;
}

int trs_solve(const trs_plan *p, trs_op op, int nrhs, const void *B, int64_t ldb, void *X,
              int64_t ldx, const trs_exec *exec)
{
    static const trs_exec defaults = {0};
    if (!exec) exec = &defaults;
    int rc = check_solve(p, op, nrhs, B, ldb, X, ldx, exec->layout);
    if (rc || nrhs == 0 || p->info.n == 0) return rc;
    const trs_side *s = &p->side[op != TRS_N];
    const size_t size = trs_size(p->shape.dtype);
    const trs_view b = view_of(B, ldb, exec->layout), x = view_of(X, ldx, exec->layout);
    trs_work *w = exec->work ? exec->work : p->own;
    if (w->plan != p) return TRS_EARG;
    trs_job job = {.stream = exec->stream,
                   .threads = exec->threads > 0 ? exec->threads : p->ctx.threads};
    job.conj = op == TRS_H && trs_is_complex(p->shape.dtype);
    if (p->info.on_gpu) rc = trs_gpu_use(&w->ctx);
    for (int r = 0; r < nrhs && !rc; r += job.nrhs) {
        job.nrhs = nrhs - r < w->nrhs ? nrhs - r : w->nrhs;
        job.b = from_column(b, r, size);
        job.x = from_column(x, r, size);
        rc = is_staged(p) ? solve_staged(p, s, w, job) : solve_side(p, s, w, job);
    }
    return rc;
}
