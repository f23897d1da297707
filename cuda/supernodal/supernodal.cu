/* supernodal.cu: one launch over supernodes, which are solved by the inverses of their diagonal blocks; or over those of
 * both triangles of factors.
 *
 *     update:  M_tt = L_tt^-1;  S_t = M_tt L (t, late columns)                         update.cu
 *     solve:   x_t = M_tt (b_t - L (t, early columns) x) - S_t x (late columns)        large supernodes (large.cuh)
 *              x_t = M_tt (b_t - L (t, columns) x)                                     small ones (small.cuh)
 *              r_t = b_t - L (t, early columns) x;  x_t = sum of M_tu r_u - S_t x      chains (large.cuh, slice.cuh)
 *
 * lib/analysis/supernodes.h defines the data structure and its terms.  Entries of a packed panel take 8 bytes where
 * CSR takes 12, and x is read once for all rows of a panel.
 *
 * Who owns a row: a thread block, or each of up to four that share a supernode of a chain, or a warp (small.cuh).
 * How x becomes visible: every number is its own flag (supernodal.cuh).  Why it cannot hang: a task waits for
 * earlier tasks alone, and tasks are taken in topological order: from a ticket counter, or cyclically by warps that
 * are all resident where all supernodes are small (cooperative launch).  Tasks of a second triangle are drawn after all
 * of the first.  Why the bits are always the same: the order
 * of every sum depends on the pattern and on the last update alone.  If M_tt grows too much, or S_t overflows,
 * supernode t is substituted, and its chain is split: L_tu remain, and x_t = M_tt (r_t - L_tu x_u - L_ts x_s).  A
 * NaN in b spreads over its supernode or chain, and over the rows of a panel.  Bytes: stored entries, b and x.
 * Bound by the depth of the DAG, 1.1 to 1.4 us a level, then by bytes. */
#include "config.h"

#include "slice.cuh"
#include "small.cuh"

/* ---- kernels -------------------------------------------------------------------------------------------- */

/* The next task; one without supernodes when there is none left. */
template <class T> __device__ inline trs_task draw(const problem<T> &P)
{
    const unsigned t = atomicAdd(&P.state->ticket, 1u);
    trs_task task = {};
    if (t < (unsigned)P.tasks) task = P.task[t];
    return task;
}

/* Any task but a batch.  A chain that is split, and several right-hand sides, are no matter for slices: the first
 * slice does all of its supernode. */
template <class T, int R>
__device__ inline void solve_task(large_shared<T, R> *sh, const problem<T> &P, const trs_task &task,
                                  const copies<T> &h)
{
    if (task.kind == TRS_TASK_CHAIN || task.kind == TRS_TASK_PARTIAL_RHS) {
        const trs_supernode &k = P.supernode[task.supernode];
        const bool split = task.kind == TRS_TASK_CHAIN && P.split[task.supernode - k.chain_place];
        if constexpr (R == 1)
            if (k.slices > 1 && !split) {
                solve_slice<T>(sh, P, task, h);
                return;
            }
        if (task.slice > 0) return;
    }
    solve_large<T, R>(sh, P, task, h);
}

/* A batch of small supernodes, a warp each, or one for all warps. */
template <class T, int R>
__device__ inline void solve_batch(large_shared<T, R> *sh, const problem<T> &P,
                                   const trs_task &task, const copies<T> &h)
{
    const auto part = (warp_sums<T, R>)sh->tile;
    const bool shared = task.supernodes == 1;
    const int which = shared ? 0 : (int)threadIdx.x / WARP;
    TRS_ASSERT(task.supernodes > 0 && task.supernodes <= WARPS);
    if (which >= task.supernodes) return;
    if constexpr (R > 8 || !std::is_floating_point_v<T>)
        solve_small<T, R>(P, task.supernode + which, h, part, shared);
    else if (shared) solve_small<T, R>(P, task.supernode, h, part, true);
    else solve_small<T, R>(P, task.supernode + which, h, part, false);
}

/* For how many thread blocks an SM should have registers: it has shared memory for two with few right-hand sides. */
template <class T, int R> constexpr int mixed_beside()
{
    const bool few = R <= 8 && sizeof(T) <= 8;
    return few || (R == 32 && sizeof(T) == 4) ? 2 : 1;
}

/* All tasks of a triangle, by thread blocks that draw them by tickets. */
template <class T, int R>
__device__ inline void solve_mixed(const problem<T> &P, const copies<T> &h)
{
    large_shared<T, R> *sh = (large_shared<T, R> *)shared_numbers<T>();
    static_assert(sizeof(T[WARPS][TRS_SMALL][R]) <= sizeof sh->tile, "room for sums of warps");
    static_assert(int(TRS_BATCH) <= int(WARPS), "a warp for each supernode of a batch");
    for (;;) {
        if (threadIdx.x == 0) sh->task = draw(P);
        __syncthreads();
        const trs_task task = sh->task;
        if (task.supernodes == 0) break;
        delay();
        if (task.kind != TRS_TASK_SMALL) {
            solve_task<T, R>(sh, P, task, h);
            __pipeline_wait_prior(0);
        } else solve_batch<T, R>(sh, P, task, h);
        __syncthreads(); /* before shared memory is used again */
    }
}

/* Large supernodes among the others. */
template <class T, int R>
static __global__ void __launch_bounds__(BLOCK_THREADS, mixed_beside<T, R>())
    mixed_kernel(const problem<T> P)
{
    const copies<T> h(P);
    const unsigned now = P.state->now;
    solve_mixed<T, R>(P, h);
    finish<R>(P.state, now);
}

/* Vectors of complete factors are in double precision, so there are no such kernels for other types. */
template <class T>
constexpr bool has_both = std::is_same_v<T, double> || std::is_same_v<T, cuDoubleComplex>;

/* Both triangles of factors; the second takes as b what the first has published. */
template <class T> struct both_problems {
    problem<T> of[2];
    bool turned; /* the two count rows from different ends */
};

/* A thread block goes to the second triangle when all tasks of the first have been drawn. */
template <class T>
static __global__ void __launch_bounds__(BLOCK_THREADS, mixed_beside<T, 1>())
    both_kernel(const __grid_constant__ both_problems<T> both)
{
    const T *before = NULL;
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
        const problem<T> &P = both.of[k];
        copies<T> h(P);
        const unsigned now = P.state->now;
        if (before) {
            h.before = both.turned ? before + P.n - 1 : before;
            h.step = both.turned ? -1 : 1;
        }
        solve_mixed<T, 1>(P, h);
        finish<1>(P.state, now);
        before = h.published;
    }
}

/* All supernodes small: warps take them in turn, and neighbours go to different SMs. */
template <class T, int R>
static __global__ void __launch_bounds__(BLOCK_THREADS) small_kernel(const problem<T> P)
{
    const copies<T> h(P);
    const unsigned now = P.state->now;
    const int warps = gridDim.x * WARPS;
    for (int t = (threadIdx.x / WARP) * gridDim.x + blockIdx.x; t < P.supernodes; t += warps) {
        delay();
        solve_small<T, R>(P, t, h, NULL, false);
    }
    finish<R>(P.state, now);
}

/* ---- the host side ---------------------------------------------------------------------------------------- */

static void release(trs_instance *inst)
{
    supernodal *d = (supernodal *)inst->data;
    device_free(inst->ctx, d->supernode, d->panel, d->column, d->task, d->small, d->stored,
                d->substituted, d->split, d->large, d->chain, d->place, d->weight, d->apart);
    trs_free(&inst->ctx->mem, d);
}

/* Of the supernodes, those that are wanted, on the device. */
template <class F>
static int32_t *chosen(trs_context *ctx, const trs_supernodes *s, int32_t count, const char *what,
                       F is_wanted)
{
    int32_t *list = (int32_t *)trs_new(ctx, count, sizeof *list, what);
    for (int32_t t = 0, k = 0; t < s->count && list; t++)
        if (is_wanted(s->supernode[t])) list[k++] = t;
    int32_t *there = list ? device_copy(ctx, list, count, what) : NULL;
    trs_free(&ctx->mem, list);
    return there;
}

static int large_new(trs_context *ctx, const trs_supernodes *s, supernodal *d)
{
    if (s->large == 0) return TRS_OK;
    d->large = chosen(ctx, s, s->large, "large supernodes",
                      [](const trs_supernode &k) { return k.rows > TRS_SMALL; });
    return d->large ? TRS_OK : TRS_EMEM;
}

/* The first supernodes of the chains, and room for what an update makes of them. */
static int chains_new(trs_instance *inst, const trs_supernodes *s, supernodal *d)
{
    trs_context *ctx = inst->ctx;
    if (s->chains == 0) return TRS_OK;
    d->chain = chosen(ctx, s, s->chains, "chains", [](const trs_supernode &k) {
        return k.chain_length > 1 && k.chain_place == 0;
    });
    d->weight = device_new<double>(ctx, inst->op->tri.n, "sums of rows");
    d->apart = trs_gpu_new(ctx, (int64_t)s->chains * CHAIN_PAIRS * TILE_SIZE,
                           trs_size(inst->op->tri.dtype), "inverses of chains");
    return d->chain && d->weight && d->apart ? TRS_OK : TRS_EMEM;
}

/* What a warp has to know of each supernode; large ones get a record, too, which is not read. */
static __global__ void small_records_kernel(int32_t supernodes, const trs_supernode *supernode,
                                            const trs_panel *panel, small_supernode *small)
{
    const int32_t t = index32_of_thread();
    if (t >= supernodes) return;
    const trs_supernode k = supernode[t];
    const trs_panel s = panel[k.panel];
    const bool alone = k.panels < 2; /* it needs no columns */
    small[t] = {k.first,
                k.rows,
                alone ? 0 : s.column,
                alone ? 0 : s.columns,
                alone ? 0 : s.offset,
                panel[k.diagonal].offset};
}

/* The arrays of the analysis, and room for what an update makes. */
static int arrays_new(trs_instance *inst, const trs_supernodes *s, supernodal *d)
{
    trs_context *ctx = inst->ctx;
    const size_t size = trs_size(inst->op->tri.dtype);
    d->s = *s;
    d->s.supernode = NULL, d->s.panel = NULL, d->s.column = NULL, d->s.task = NULL;
    d->supernode = device_copy(ctx, s->supernode, s->count, "supernodes");
    d->panel = device_copy(ctx, s->panel, s->panels, "panels");
    d->column = device_copy(ctx, s->column, s->columns, "columns");
    d->task = device_copy(ctx, s->task, s->tasks, "tasks");
    d->small = device_new<small_supernode>(ctx, s->count, "small supernodes");
    d->stored = trs_gpu_new(ctx, s->stored, size, "the entries of the panels");
    d->substituted = device_new<int>(ctx, s->count, "flags of the supernodes");
    d->split = device_new<int>(ctx, s->count, "flags of the chains");
    if (!d->supernode || !d->panel || !d->column || !d->task || !d->small || !d->stored ||
        !d->substituted || !d->split)
        return TRS_EMEM;
    const int rc = large_new(ctx, s, d);
    return rc ? rc : chains_new(inst, s, d);
}

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    supernodal *d = data_new<supernodal>(ctx, &inst->data);
    if (!d) return TRS_EMEM;
    const void *found;
    int rc = trs_operator_analysis(inst->op, &trs_supernode_analysis, true, &found);
    if (!rc) rc = trs_operator_device(inst->op, TRS_OP_PATTERN);
    if (rc) return rc;
    trs_operator_hold(inst->op, TRS_OP_PATTERN);
    const trs_supernodes *s = (const trs_supernodes *)found;
    rc = arrays_new(inst, s, d);
    if (!rc && ctx->refreshes && !ctx->limit)
        rc = supernodal_keep_places(ctx, d, &inst->op->device, inst->op->tri.nnz);
    if (rc) return rc;
    if (s->count > 0)
        small_records_kernel<<<blocks_of(s->count), PLAIN>>>(s->count, d->supernode, d->panel,
                                                             d->small);
    return launched() || trs_gpu_wait(NULL) ? trs_fail(TRS_EDEVICE, "cuda-supernodal") : TRS_OK;
}

static int update(trs_instance *inst, void *stream)
{
    const trs_operator *op = inst->op;
    const int rc = trs_operator_device(inst->op, TRS_OP_VALUES);
    return rc ? rc
              : supernodal_take((const supernodal *)inst->data, &op->device, op->tri.dtype,
                                op->device.val, (cudaStream_t)stream);
}

/* Thread blocks that a solve takes, as far as there is work for them; 0: not one fits. */
template <class T, int R> static int grid_of(const supernodal *d)
{
    const size_t bytes = sizeof(large_shared<T, R>);
    if (d->s.large == 0) {
        const int64_t work = 6 * (int64_t)d->s.count / max(d->s.depth, 1) / 8;
        return waiting_blocks((const void *)small_kernel<T, R>, BLOCK_THREADS, 0,
                              (double)max(work, (int64_t)multiprocessors()));
    }
    if (allow_shared(mixed_kernel<T, R>, bytes)) return 0;
    if constexpr (R == 1 && has_both<T>)
        if (allow_shared(both_kernel<T>, bytes)) return 0;
    return waiting_blocks((const void *)mixed_kernel<T, R>, BLOCK_THREADS, bytes,
                          max(d->s.tasks, 1));
}

static int work_create(const trs_instance *inst, trs_context *ctx, int nrhs, void **work)
{
    const supernodal *d = (const supernodal *)inst->data;
    const int64_t rows = inst->op->tri.n + (int64_t)d->s.partials * BLOCK;
    published_work *w = data_new<published_work>(ctx, work);
    if (!w) return TRS_EMEM;
    return for_type(inst->op->tri.dtype, [&]<class T>(T) {
        return published_start<T>(inst, ctx, nrhs, rows, w, [&](auto width) {
            return grid_of<T, decltype(width)::value>(d);
        });
    });
}

template <class T, int R>
static int launch(const supernodal *d, const problem<T> &P, int grid, cudaStream_t stream)
{
    if (d->s.large > 0) {
        mixed_kernel<T, R>
            <<<(unsigned)grid, BLOCK_THREADS, sizeof(large_shared<T, R>), stream>>>(P);
        return launched();
    }
    return launch_together((const void *)small_kernel<T, R>, grid, BLOCK_THREADS, P, stream);
}

/* All but the right-hand sides. */
template <class T> static problem<T> problem_of(const trs_instance *inst, const trs_job *job)
{
    const supernodal *d = (const supernodal *)inst->data;
    const published_work *w = (const published_work *)job->work;
    problem<T> P = {inst->op->tri.n, d->s.count, d->s.tasks, d->supernode,         d->panel,
                    d->column,       d->task,    d->small,   (const T *)d->stored, d->substituted,
                    d->split};
    P.cj = job->conj;
    P.state = w->state;
    P.copy = (T *)w->copy;
    P.copy_size = w->copy_size;
    return P;
}

template <class T> static int solve_columns(const trs_instance *inst, const trs_job *job)
{
    const supernodal *d = (const supernodal *)inst->data;
    const published_work *w = (const published_work *)job->work;
    problem<T> P = problem_of<T>(inst, job);
    int rc = TRS_OK;
    for (int r = 0; r < job->nrhs && !rc; r += w->most) {
        P.nrhs = min(job->nrhs - r, w->most);
        P.b = {from_column(typed<T>(job->b), r)};
        P.x = {from_column(typed<T>(job->x), r)};
        rc = for_width<T>(P.nrhs, [&](auto width, int k) {
            return launch<T, decltype(width)::value>(d, P, w->grid[k], (cudaStream_t)job->stream);
        });
    }
    return rc;
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    return for_type(inst->op->tri.dtype, [&]<class T>(T) { return solve_columns<T>(inst, job); });
}

/* order [n] by the rows of A, as the operator counts rows. */
template <class T>
static outside<T> in_order(const trs_operator *op, trs_view v, const int32_t *order,
                           const double *scale)
{
    outside<T> o = {typed<T>(v), order, 1, scale};
    if (op->reversed) o.order += op->tri.n - 1, o.step = -1;
    return o;
}

template <class T> static int solve_two(const trs_both *two)
{
    const trs_instance *first = two->of[0].instance, *second = two->of[1].instance;
    const trs_job *job = two->of[0].job, *then = two->of[1].job;
    const published_work *w = (const published_work *)job->work,
                         *v = (const published_work *)then->work;
    both_problems<T> both = {{problem_of<T>(first, job), problem_of<T>(second, then)}};
    both.turned = first->op->reversed != second->op->reversed;
    both.of[0].nrhs = both.of[1].nrhs = 1;
    both.of[0].b = in_order<T>(first->op, job->b, two->order_b, two->scale_b);
    both.of[1].x = in_order<T>(second->op, then->x, two->order_x, two->scale_x);
    both_kernel<T><<<(unsigned)max(w->grid[0], v->grid[0]), BLOCK_THREADS,
                     sizeof(large_shared<T, 1>), (cudaStream_t)job->stream>>>(both);
    return launched();
}

static int solve_both(const trs_both *two)
{
    for (int k = 0; k < 2; k++)
        if (((const supernodal *)two->of[k].instance->data)->s.large == 0) return TRS_ESUPPORT;
    return for_type(two->of[0].instance->op->tri.dtype, [&]<class T>(T) {
        if constexpr (has_both<T>) return solve_two<T>(two);
        else return (int)TRS_ESUPPORT;
    });
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    const trs_supernodes *b =
        (const trs_supernodes *)trs_prospect_analysis(p, &trs_supernode_analysis, true);
    const int64_t apart = b ? (int64_t)b->chains * CHAIN_PAIRS * TILE_SIZE : 0;
    const int64_t stored = b ? b->stored + apart : 0, supernodes = b ? b->count : 0;
    return (s->nnz + stored) * (int64_t)s->elem + s->nnz * 4 + s->n * 24 + supernodes * 200;
}

const trs_solver trs_solver_supernodal = {
    .name = "cuda-supernodal",
    .about = "supernodes with inverted diagonal blocks, packed panels, one launch",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .reconsiders = true,
    .refreshes = true,
    .estimate = supernodal_estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
    .solve_both = solve_both,
    .release = release,
    .work_create = work_create,
    .work_destroy = published_destroy,
};
