/* subtrees.cu: cuda-subtrees: a complete factor over several devices of a host, cut at the top of its elimination tree.
 *
 *     heads first    [ H1          ]      each device k, at the same time     [ Hk    ] [ x_k ]   [ b_k ]
 *                    [     H2      ]                                          [ Bk  I ] [ z_k ] = [  0  ]
 *                    [ B1  B2   C  ]      then the first one                  C x_C = b_C + z_1 + z_2
 *
 *     top first      [ C           ]      the first device                    C x_C = b_C
 *                    [ B1  H1      ]      then each, at the same time         [ I     ]         [ x_C ]
 *                    [ B2      H2  ]                                          [ Bk Hk ] [ . ] = [ b_k ]
 *
 * cut.c finds the parts.  Each of these triangles is an operator of its own, solved by cuda-supernodal.  I has zeros where C has
 * entries, so that rows of I, and of Bk, are in the same supernodes as those of C.
 *
 * Order of a solve, heads first, where m_k is memory of the first device and y_k of device k:
 *
 *     caller's stream     m_2 = b_2, 0   y_1 = b_1, 0   y_1 solved   y_C = b_C + z_1 + z_2   y_C solved   x = y_1, m_2, y_C
 *     stream of device 2           `- y_2 = m_2   y_2 solved   m_2 = y_2 -'
 *
 * X may be B: it is written after the last read of B.  No kernel of one device waits for a kernel of another, so nothing can
 * hang unless cuda-supernodal does.  The sum of z_k goes over the parts in order, so the bits are the same every time.
 * Only cudaMemcpyAsync goes from one device to another; a work space has 8 nrhs (rows + top) bytes in fp64 for each part,
 * and the same on the first device. */
#include "config.h"

#include "base/debug.h"
#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "analysis/level.h"
#include "analysis/supernodes.h"
#include "parts.h"
#include "solvers/solver.h"
}

#include <cstdio>

enum {
    MOST_PARTS = TRS_MOST_DEVICES + 1, /* the top is the last one */
    MOST_COLUMNS = 65535               /* of a grid of blocks; the kernels go round */
};

struct subtree_part {
    trs_context ctx; /* of its device */
    trs_operator op;
    trs_instance solver;
    int64_t *src;     /* [nnz] of trs_subtree_tri */
    int32_t *row;     /* [rows] on the first device: its rows in the whole */
    int32_t rows, at; /* of trs_subtree_tri */
};

struct subtrees {
    int parts, all; /* all: the top counted, unless it has no rows */
    bool top_first;
    int32_t top; /* rows */
    subtree_part part[MOST_PARTS];
};

struct subtree_lane { /* a part in a work space */
    trs_context ctx;
    cudaStream_t stream; /* of its device; NULL: the caller's */
    cudaEvent_t ended;
    trs_instance_work work;
    void *y; /* on its device */
    void *m; /* on the first device; y if that is its own */
};

struct subtrees_work {
    trs_context ctx; /* of the first device */
    cudaEvent_t begun;
    subtree_lane of[MOST_PARTS];
};

/* ---- build -------------------------------------------------------------------------------------------------- */

/* The operator of part k and its rows, without a solver. */
static int make_operator(trs_instance *inst, const trs_subtrees *cut, const int32_t *number, int k)
{
    subtree_part *part = &((subtrees *)inst->data)->part[k];
    trs_subtree_tri made;
    const int rc = trs_subtree_tri_make(inst->ctx, &inst->op->tri, cut, number, k, &made);
    part->src = made.src;
    part->rows = made.rows;
    part->at = made.at;
    trs_operator_from_host(&part->op, &part->ctx, &made.tri);
    part->op.on_host = TRS_OP_PATTERN;
    if (rc) return rc;
    part->row = device_copy(inst->ctx, cut->row + cut->begin[k], part->rows, "rows of a part");
    return part->row ? TRS_OK : TRS_EMEM;
}

static int make_part(trs_instance *inst, const trs_subtrees *cut, const int32_t *number, int k)
{
    subtree_part *part = &((subtrees *)inst->data)->part[k];
    int rc = make_operator(inst, cut, number, k);
    if (!rc) rc = trs_gpu_use(&part->ctx);
    if (!rc) rc = trs_find_levels_on_device(&part->op);
    if (rc == TRS_ESUPPORT) rc = trs_find_levels(&part->op);
    if (!rc) rc = trs_instance_build(&part->solver, &part->op, &trs_solver_supernodal);
    if (!rc) trs_operator_trim(&part->op);
    trs_gpu_drop_ring(&part->ctx);
    trs_gpu_drop_scratch(&part->ctx);
    const int back = trs_gpu_use(inst->ctx);
    return rc ? rc : back;
}

static void place_parts(const trs_context *ctx, subtrees *d)
{
    for (int k = 0; k < d->all; k++) {
        trs_context *own = &d->part[k].ctx;
        *own = *ctx;
        own->device = ctx->devices[k < d->parts ? k : 0];
        own->ring = NULL;
        own->scratch = NULL;
        own->scratch_bytes = 0;
        own->device_count = 0;
    }
}

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    const int32_t n = inst->op->tri.n;
    const void *found;
    int rc = trs_operator_show(inst->op, TRS_OP_PATTERN);
    if (!rc) rc = trs_operator_analysis(inst->op, &trs_subtrees_analysis, true, &found);
    if (rc) return rc;
    const trs_subtrees *cut = (const trs_subtrees *)found;
    if (!cut) return trs_fail(TRS_ESUPPORT, "several devices: no cut into subtrees");
    subtrees *d = data_new<subtrees>(ctx, &inst->data);
    int32_t *number = (int32_t *)trs_new(ctx, n, sizeof *number, "rows by parts");
    rc = d && number ? TRS_OK : TRS_EMEM;
    if (!rc) {
        for (int32_t k = 0; k < n; k++) number[cut->row[k]] = k;
        d->parts = cut->parts;
        d->top_first = cut->top_first;
        d->top = n - cut->begin[cut->parts];
        d->all = d->parts + (d->top > 0);
        place_parts(ctx, d);
    }
    for (int k = 0; !rc && k < d->all; k++) rc = make_part(inst, cut, number, k);
    trs_free(&ctx->mem, number);
    return rc;
}

static void release(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    subtrees *d = (subtrees *)inst->data;
    for (int k = 0; k < d->all; k++) {
        subtree_part *part = &d->part[k];
        if (trs_gpu_use(&part->ctx)) trs_forget();
        trs_instance_release(&part->solver);
        trs_operator_free(&part->op);
        trs_gpu_drop_scratch(&part->ctx);
        trs_gpu_drop_ring(&part->ctx);
        trs_free(&ctx->mem, part->src);
        if (trs_gpu_use(ctx)) trs_forget();
        trs_gpu_free(ctx, part->row);
    }
    trs_free(&ctx->mem, d);
}

/* ---- values ------------------------------------------------------------------------------------------------- */

/* The values of a part, by way of the host. */
static int take_part(subtree_part *part, const trs_operator *T, void *values)
{
    const int64_t nnz = part->op.tri.nnz;
    trs_subtree_tri_values(T->ctx, T->tri.dtype, nnz, part->src, T->tri.val, values);
    int rc = trs_gpu_use(&part->ctx);
    if (!rc) rc = trs_operator_take_values(&part->op, values, false, NULL);
    if (!rc) rc = trs_instance_update(&part->solver, NULL);
    const int waited = trs_gpu_wait(NULL);
    trs_gpu_drop_ring(&part->ctx);
    return rc ? rc : waited;
}

/* Solves that were enqueued on the stream still read the values before. */
static int update(trs_instance *inst, void *stream)
{
    const subtrees *d = (const subtrees *)inst->data;
    int64_t most = 0;
    int rc = trs_operator_host(inst->op, TRS_OP_VALUES);
    if (!rc) rc = trs_gpu_wait(stream);
    for (int k = 0; k < d->all; k++) most = max(most, d->part[k].op.tri.nnz);
    void *values =
        rc ? NULL : trs_new(inst->ctx, most, trs_size(inst->op->tri.dtype), "values of a part");
    if (!rc && !values) rc = TRS_EMEM;
    inst->growth = 0;
    for (int k = 0; !rc && k < d->all; k++) {
        subtree_part *part = (subtree_part *)&d->part[k];
        rc = take_part(part, inst->op, values);
        inst->growth = max(inst->growth, part->solver.growth);
    }
    trs_free(&inst->ctx->mem, values);
    const int back = trs_gpu_use(inst->ctx);
    return rc ? rc : back;
}

/* ---- work space --------------------------------------------------------------------------------------------- */

static cudaError_t new_event(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDisableTiming);
}

static int new_lane(const subtrees *d, int k, int nrhs, subtrees_work *w)
{
    const subtree_part *part = &d->part[k];
    subtree_lane *l = &w->of[k];
    const int64_t numbers = (int64_t)part->op.tri.n * nrhs;
    const size_t size = trs_size(part->op.tri.dtype);
    l->ctx = part->ctx;
    int rc = trs_gpu_use(&l->ctx);
    if (!rc) l->y = trs_gpu_new(&l->ctx, numbers, size, "X of a part");
    if (!rc && !l->y) rc = TRS_EMEM;
    if (!rc) rc = trs_instance_work_create(&part->solver, &l->ctx, nrhs, &l->work);
    if (!rc && k > 0 && k < d->parts) {
        cudaError_t e = cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking);
        if (!e) e = new_event(&l->ended);
        rc = cuda_status(e, "a stream of another device");
    }
    if (!rc) rc = trs_gpu_use(&w->ctx);
    if (rc) return rc;
    l->m =
        l->ctx.device == w->ctx.device ? l->y : trs_gpu_new(&w->ctx, numbers, size, "X of a part");
    return l->m ? TRS_OK : TRS_EMEM;
}

static int work_create(const trs_instance *inst, trs_context *ctx, int nrhs, void **work)
{
    const subtrees *d = (const subtrees *)inst->data;
    subtrees_work *w = data_new<subtrees_work>(ctx, work);
    if (!w) return TRS_EMEM;
    w->ctx = d->part[0].ctx;
    int rc = cuda_status(new_event(&w->begun), "an event");
    for (int k = 0; !rc && k < d->all; k++) rc = new_lane(d, k, nrhs, w);
    const int back = trs_gpu_use(ctx);
    return rc ? rc : back;
}

static void work_destroy(trs_context *ctx, void *work)
{
    subtrees_work *w = (subtrees_work *)work;
    for (int k = 0; k < MOST_PARTS; k++) {
        subtree_lane *l = &w->of[k];
        if (!l->y) continue;
        if (trs_gpu_use(&l->ctx)) trs_forget();
        trs_instance_work_destroy(&l->ctx, &l->work);
        if (l->stream) (void)cuda_failed(cudaStreamDestroy(l->stream));
        if (l->ended) (void)cuda_failed(cudaEventDestroy(l->ended));
        trs_gpu_free(&l->ctx, l->y);
        if (trs_gpu_use(ctx)) trs_forget();
        if (l->m != l->y) trs_gpu_free(&w->ctx, l->m);
    }
    if (trs_gpu_use(ctx)) trs_forget();
    if (w->begun) (void)cuda_failed(cudaEventDestroy(w->begun));
    trs_free(&ctx->mem, w);
}

/* ---- solve -------------------------------------------------------------------------------------------------- */

/* y [rows + top] of a part: its rows of b from `at` on, and before them x of the top, or after them 0. */
template <class T>
static __global__ void fill_kernel(int32_t rows, int32_t at, int32_t all, int nrhs,
                                   const int32_t *row, view<T> b, view<T> top, view<T> y)
{
    const int64_t i = index_of_thread();
    if (i >= all) return;
    for (int r = (int)blockIdx.y; r < nrhs; r += (int)gridDim.y)
        if (i >= at && i < at + rows) y(i, r) = b(row[i - at], r);
        else y(i, r) = top.p ? top(i, r) : number<T>(0);
}

template <class T> struct sum_args { /* to = to + sum of from */
    int parts;
    view<T> from[TRS_MOST_DEVICES];
};

template <class T>
static __global__ void sum_kernel(int32_t n, int nrhs, const sum_args<T> z, view<T> to)
{
    const int64_t i = index_of_thread();
    if (i >= n) return;
    for (int r = (int)blockIdx.y; r < nrhs; r += (int)gridDim.y) {
        T sum = to(i, r);
        for (int k = 0; k < z.parts; k++) sum = sum + z.from[k](i, r);
        to(i, r) = sum;
    }
}

template <class T>
static __global__ void scatter_kernel(int32_t rows, int nrhs, const int32_t *row, view<T> y,
                                      view<T> x)
{
    const int64_t i = index_of_thread();
    if (i >= rows) return;
    for (int r = (int)blockIdx.y; r < nrhs; r += (int)gridDim.y) x(row[i], r) = y(i, r);
}

template <class T> struct subtree_run {
    const subtrees *d;
    subtrees_work *w;
    const trs_job *job;
    cudaStream_t caller;

    int64_t length(int k) const { return d->part[k].op.tri.n; }
    /* of the rows of the part, or of the top, on the first device */
    view<T> at(int k, int64_t row) const { return {(T *)w->of[k].m + row, 1, length(k)}; }
    view<T> own(int k) const { return at(k, d->part[k].at); }
    view<T> top(int k) const { return at(k, d->top_first ? 0 : d->part[k].rows); }
    cudaStream_t stream(int k) const { return w->of[k].stream ? w->of[k].stream : caller; }
    dim3 blocks(int64_t n) const
    {
        return dim3(blocks_of(n), (unsigned)min(job->nrhs, MOST_COLUMNS));
    }
};

/* m of part k, on the first device. */
template <class T> static void fill(const subtree_run<T> &r, int k, view<T> top)
{
    const subtree_part *part = &r.d->part[k];
    const int64_t all = r.length(k);
    fill_kernel<T><<<r.blocks(all), PLAIN, 0, r.caller>>>(part->rows, part->at, (int32_t)all,
                                                          r.job->nrhs, part->row,
                                                          typed<T>(r.job->b), top, r.at(k, 0));
}

/* Between m and y, in the order of the part's stream. */
template <class T> static cudaError_t send(const subtree_run<T> &r, int k, bool there)
{
    const subtree_lane *l = &r.w->of[k];
    const size_t bytes = (size_t)r.length(k) * (size_t)r.job->nrhs * sizeof(T);
    if (l->m == l->y || !bytes) return cudaSuccess;
    return cudaMemcpyAsync(there ? l->y : l->m, there ? l->m : l->y, bytes, cudaMemcpyDefault,
                           r.stream(k));
}

/* y of part k is solved in place. */
template <class T> static int solve_part(const subtree_run<T> &r, int k)
{
    const subtree_part *part = &r.d->part[k];
    const subtree_lane *l = &r.w->of[k];
    trs_job job = *r.job;
    job.b = job.x = {l->y, 1, r.length(k)};
    job.work = l->work.p;
    job.stream = r.stream(k);
    return part->solver.solver->solve(&part->solver, &job);
}

/* Part k on another device than the caller's stream, after `begun`. */
template <class T> static int solve_there(const subtree_run<T> &r, int k)
{
    const subtree_lane *l = &r.w->of[k];
    int rc = trs_gpu_use((trs_context *)&l->ctx);
    if (rc) return rc;
    cudaError_t e = cudaStreamWaitEvent(l->stream, r.w->begun, 0);
    if (!e) e = send(r, k, true);
    rc = cuda_status(e, "cuda-subtrees");
    if (!rc) rc = solve_part(r, k);
    if (!rc) rc = cuda_status(send(r, k, false), "cuda-subtrees");
    return rc;
}

/* What follows on the caller's stream waits for all parts, also after a failure. */
template <class T> static int join_streams(const subtree_run<T> &r)
{
    cudaError_t e = cudaSuccess;
    for (int k = 1; k < r.d->parts && !e; k++) {
        const subtree_lane *l = &r.w->of[k];
        e = set_device(l->ctx.device);
        if (!e) e = cudaEventRecord(l->ended, l->stream);
        if (!e) e = set_device(r.w->ctx.device);
        if (!e) e = cudaStreamWaitEvent(r.caller, l->ended, 0);
    }
    return cuda_status(e, "cuda-subtrees");
}

/* The heads, at the same time; m of those that are elsewhere is filled. */
template <class T> static int solve_heads(const subtree_run<T> &r)
{
    int rc = cuda_status(cudaEventRecord(r.w->begun, r.caller), "cuda-subtrees");
    for (int k = 1; k < r.d->parts && !rc; k++) rc = solve_there(r, k);
    const int back = trs_gpu_use(&r.w->ctx);
    if (!rc) rc = back;
    if (!rc) rc = solve_part(r, 0);
    const int joined = join_streams(r);
    return rc ? rc : joined;
}

template <class T> static int solve_all(const subtree_run<T> &r)
{
    const subtrees *d = r.d;
    const view<T> none = {NULL, 1, 0}, x_top = r.at(d->parts, 0);
    int rc = TRS_OK;
    if (d->top) fill(r, d->parts, none);
    if (d->top && d->top_first) rc = solve_part(r, d->parts);
    for (int k = d->parts - 1; k >= 0; k--) fill(r, k, d->top_first ? x_top : none);
    if (!rc) rc = launched();
    if (!rc) rc = solve_heads(r);
    if (!rc && !d->top_first && d->top) {
        sum_args<T> z = {};
        z.parts = d->parts;
        for (int k = 0; k < d->parts; k++) z.from[k] = r.top(k);
        sum_kernel<T><<<r.blocks(d->top), PLAIN, 0, r.caller>>>(d->top, r.job->nrhs, z, x_top);
        rc = solve_part(r, d->parts);
    }
    for (int k = 0; k < d->all && !rc; k++) {
        const subtree_part *part = &d->part[k];
        scatter_kernel<T><<<r.blocks(part->rows), PLAIN, 0, r.caller>>>(
            part->rows, r.job->nrhs, part->row, r.own(k), typed<T>(r.job->x));
    }
    return rc ? rc : launched();
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    return for_type(inst->op->tri.dtype, [&]<class T>(T) {
        return solve_all<T>({(const subtrees *)inst->data, (subtrees_work *)job->work, job,
                             (cudaStream_t)job->stream});
    });
}

/* ---- what it takes ------------------------------------------------------------------------------------------ */

/* Parts of the device that has most of them, one after the other. */
static int busiest(const trs_prospect *p, const trs_subtrees *cut)
{
    int most = 1, run = 1;
    for (int k = 1; p->ctx && k < cut->parts; k++) {
        run = p->ctx->devices[k] == p->ctx->devices[k - 1] ? run + 1 : 1;
        most = max(most, run);
    }
    return most;
}

/* That of cuda-supernodal, with the bytes of the largest part and of the top, which is read twice.  The way up the tree is as
 * long as without a cut. */
static const char *estimate(const trs_prospect *p, const trs_instance *, const trs_machine *m,
                            trs_cost *c)
{
    const trs_subtrees *cut =
        (const trs_subtrees *)trs_prospect_analysis(p, &trs_subtrees_analysis, true);
    if (!cut) return "no cut into subtrees is worth it";
    if (p->shape.nrhs > 1 && p->effort != TRS_NEED) return "subtrees are for one right-hand side";
    const char *why = trs_solver_supernodal.estimate(p, NULL, m, c);
    if (why) return why;
    const int rounds = busiest(p, cut);
    c->bytes *= rounds * (cut->largest + cut->top) + cut->top;
    c->latency *= rounds;
    c->sync = (1 + rounds) * c->sync + (double)(3 + 2 * cut->parts) * m->gpu_launch;
    return NULL;
}

/* Of the first device. */
static int64_t bytes(const trs_prospect *p)
{
    const trs_subtrees *cut =
        (const trs_subtrees *)trs_prospect_analysis(p, &trs_subtrees_analysis, true);
    const double share = cut ? cut->largest + 2 * cut->top : 1;
    return (int64_t)((double)trs_solver_supernodal.bytes(p) * share) + p->shape.n * 8;
}

/* "; 2 parts, 4096 rows above them" */
static void describe(const trs_prospect *p, char *text, size_t size)
{
    const trs_subtrees *cut =
        (const trs_subtrees *)trs_prospect_analysis(p, &trs_subtrees_analysis, true);
    if (!cut) return;
    const int32_t n = (int32_t)p->shape.n, top = n - cut->begin[cut->parts];
    snprintf(text, size, "; %d parts, %d rows above them", cut->parts, (int)top);
}

const trs_solver trs_solver_subtrees = {
    .name = "cuda-subtrees",
    .about = "subtrees of a complete factor over several devices (trs_options.devices)",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_CAPTURE,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .several = true,
    .reconsiders = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
    .describe = describe,
    .release = release,
    .work_create = work_create,
    .work_destroy = work_destroy,
};
