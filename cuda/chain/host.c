/* host.c: a CPU core solves, between two copies: for long chains of small rows, on which a core with its caches is
 * faster than any GPU.
 *
 * B is copied to pinned memory, a function in the stream runs cpu-serial there, and X is copied back.  Nothing waits on
 * the host, and all of it can be captured in a CUDA graph.  The function gets a host_call: what to solve, and the
 * strides of B and X.  It follows from the number of right-hand sides, the layout and whether values are conjugated; so
 * the work space has one for each combination, written once, and no solve changes one that an earlier solve, still
 * under way, is going to read.
 * cpu-serial reads the triangle of the operator, or, where the plan has to refresh, one with values in pinned memory, which
 * a refresh copies there in the stream.
 * Bytes over the link: 2 elem n.  The time is that of cpu-serial, and some 30 us for two copies and a call. */
#include "config.h"

#include "base/debug.h"
#include "base/device.h"
#include "matrix/on_device.h"
#include "solvers/solver.h"

#include <cuda_runtime_api.h>
#include <string.h>

typedef struct host_data { /* of a plan that has to refresh */
    void *val;             /* [nnz] pinned */
    trs_operator op;       /* the operator with these values, whose arrays it borrows */
    trs_instance who;      /* solves with it */
} host_data;

typedef struct host_call { /* for the function in the stream */
    const trs_instance *inst;
    trs_job job;
} host_call;

typedef struct host_work {
    void *buffer; /* [n*nrhs] pinned */
    int nrhs;
    host_call *calls; /* [4*nrhs] by number of right-hand sides, layout, conj */
} host_work;

static host_call *call_of(const host_work *w, int nrhs, bool by_rows, bool conj)
{
    return &w->calls[4 * (nrhs - 1) + 2 * by_rows + conj];
}

static void CUDART_CB run(void *data)
{
    const host_call *c = data;
    (void)trs_solver_cpu_serial.solve(c->inst, &c->job);
}

static void work_destroy(trs_context *ctx, void *work)
{
    host_work *w = work;
    trs_gpu_pinned_free(w->buffer);
    trs_free(&ctx->mem, w->calls);
    trs_free(&ctx->mem, w);
}

static void write_calls(const trs_instance *inst, host_work *w)
{
    const int64_t n = inst->op->tri.n;
    const host_data *d = inst->data;
    const trs_instance *who = d ? &d->who : inst;
    for (int r = 1; r <= w->nrhs; r++)
        for (int k = 0; k < 4; k++) {
            const bool by_rows = k / 2 == 1;
            trs_view v = {w->buffer, by_rows ? r : 1, by_rows ? 1 : n};
            trs_job job = {.nrhs = r, .conj = k % 2 == 1, .threads = 1};
            job.b = job.x = trs_view_natural(inst->op, v); /* its own inverse */
            *call_of(w, r, by_rows, k % 2 == 1) = (host_call){who, job};
        }
}

static int work_create(const trs_instance *inst, trs_context *ctx, int nrhs, void **work)
{
    const trs_tri *t = &inst->op->tri;
    host_work *w = *work = trs_alloc_zero(&ctx->mem, 1, sizeof *w);
    if (!w) return trs_fail(TRS_EMEM, "out of memory");
    w->nrhs = nrhs;
    w->calls = trs_new(ctx, 4 * (int64_t)nrhs, sizeof *w->calls, "calls of the host");
    if (!w->calls) return TRS_EMEM;
    const size_t bytes = (size_t)t->n * (size_t)nrhs * trs_size(t->dtype);
    w->buffer = trs_gpu_pinned_new(ctx, bytes);
    if (!w->buffer)
        return trs_fail(TRS_EMEM, "%.3g bytes of pinned memory for B and X", (double)bytes);
    write_calls(inst, w);
    return TRS_OK;
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    const host_work *w = job->work;
    const size_t size = trs_size(inst->op->tri.dtype);
    const size_t n = (size_t)inst->op->tri.n, many = (size_t)job->nrhs;
    const trs_view b = trs_view_natural(inst->op, job->b), x = trs_view_natural(inst->op, job->x);
    const bool by_rows = b.rs != 1 || x.rs != 1;
    const size_t width = (by_rows ? many : n) * size, lines = by_rows ? n : many;
    TRS_ASSERT(job->nrhs >= 1 && job->nrhs <= w->nrhs);
    int rc = trs_gpu_copy_lines(w->buffer, width, b.p, (size_t)(by_rows ? b.rs : b.cs) * size,
                                width, lines, false, job->stream);
    if (!rc && cudaLaunchHostFunc(job->stream, run, call_of(w, job->nrhs, by_rows, job->conj)) !=
                   cudaSuccess)
        rc = trs_fail(TRS_EDEVICE, "cuda-host: %s", cudaGetErrorName(cudaGetLastError()));
    if (rc) return rc;
    return trs_gpu_copy_lines(x.p, (size_t)(by_rows ? x.rs : x.cs) * size, w->buffer, width, width,
                              lines, true, job->stream);
}

/* ---- values --------------------------------------------------------------------------------- */

static size_t value_bytes(const trs_instance *inst)
{
    const trs_tri *t = &inst->op->tri;
    return (size_t)t->nnz * trs_size(t->dtype);
}

static void release(trs_instance *inst)
{
    host_data *d = inst->data;
    trs_gpu_pinned_free(d->val);
    trs_free(&inst->ctx->mem, d);
}

static int build(trs_instance *inst)
{
    inst->refreshes = inst->ctx->refreshes;
    if (!inst->refreshes) return TRS_OK;
    host_data *d = inst->data = trs_alloc_zero(&inst->ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(TRS_EMEM, "out of memory");
    d->val = trs_gpu_pinned_new(inst->ctx, value_bytes(inst));
    return d->val ? TRS_OK : trs_fail(TRS_EMEM, "no pinned memory for the values");
}

static int update(trs_instance *inst, void *stream)
{
    host_data *d = inst->data;
    const int rc = trs_operator_host(inst->op, TRS_OP_PATTERN | TRS_OP_VALUES);
    (void)stream;
    if (rc || !d) return rc;
    d->op = *inst->op;
    d->op.tri.val = d->val;
    d->who = *inst;
    d->who.op = &d->op;
    d->who.data = NULL; /* cpu-serial has none then, and looks at the values as it solves */
    if (inst->op->tri.nnz) memcpy(d->val, inst->op->tri.val, value_bytes(inst));
    return TRS_OK;
}

/* Solves that were enqueued before read the values that were there before. */
static int refresh(trs_instance *inst, void *stream)
{
    const host_data *d = inst->data;
    const size_t bytes = value_bytes(inst);
    if (!bytes) return TRS_OK;
    return trs_gpu_copy_lines(d->val, bytes, inst->op->device.val, bytes, bytes, 1, false, stream);
}

/* Two copies and the call of the function start one after the other: no solve takes less than some starts. */
static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    (void)trs_solver_cpu_serial.estimate(p, built, m, c);
    c->copies = 2 * m->link_start + 2 * (double)s->n * s->elem * s->nrhs * m->link_byte;
    const double all = c->bytes + c->latency + c->copies, least = m->chain_starts * m->link_start;
    c->sync = all < least ? least - all : 0;
    c->update = m->link_start + (double)s->nnz * s->elem * m->link_byte;
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    (void)p;
    return 0;
}

const trs_solver trs_solver_host = {
    .name = "cuda-host",
    .about = "cpu-serial between two copies, in the stream: for chains",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .refreshes = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .refresh = refresh,
    .solve = solve,
    .release = release,
    .work_create = work_create,
    .work_destroy = work_destroy,
};
