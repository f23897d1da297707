/* supernodal.cu: one launch over blocks of rows, solved by the inverses of their diagonal blocks.
 *
 *     update:  M_tt = L_tt^-1;  S_t = M_tt L (t, its latest columns)               supernodal_update.cu
 *     solve:   x_t = M_tt (b_t - early stages) - S_t x (latest columns)            wide blocks
 *              x_t = M_tt (b_t - L (t, columns) x)                                 narrow ones
 *              r_t = b_t - early stages;  x_t = sum of M_tu r_u - S_t x (latest)   panels (panel.cuh)
 *
 * Blocks, stages and tasks are those of supernode.h.  A stage is a dense matrix of the rows that have something
 * in some columns, so 8 bytes are read for a number where plain CSR reads 12, x once for all rows; and the levels
 * are those of blocks, for a factor 20 to 40 times fewer than those of rows.
 *
 * Who owns a row: a block of 256 threads (supernodal_wide.cuh), or each of four that share its block of rows
 * (supernodal_slice.cuh), or a warp, by itself or as the first of eight that share the columns (supernodal_narrow.cuh).
 * How x becomes visible: every number is its own flag (supernodal.cuh).
 * Cannot hang: a task waits for earlier ones alone, and tasks are taken in topological order, from a ticket counter, or
 * cyclically by warps that are all resident where all blocks are narrow (cooperative launch).
 * Same bits every time: the order of every sum depends on the pattern and on the last update alone.  Where an
 * inverse grows too much, or S_t overflows, the block is substituted, and its panel split: L_tu stay, and
 * x_t = M_tt (r_t - L_tu x_u - L_ts x_s).  A NaN in b spreads over its block or panel, and over the rows of a stage.
 * Bytes: those of the stages, b and x.  Bound by the height of the blocks' graph, 1.1 to 1.4 us each, then by bytes. */
#include "config.h"

#include "narrow.cuh"
#include "slice.cuh"

struct supernodal_work {
    turn *state;
    void *copy; /* [2][copy_size] */
    int64_t copy_size;
    int most;    /* right-hand sides at a time */
    int grid[4]; /* blocks of threads, for each number of right-hand sides at a time */
};

/* ---- kernels -------------------------------------------------------------------------------------------- */

/* The next task; one without blocks when there is none left. */
template <class T> __device__ inline trs_task draw(const problem<T> &P)
{
    const unsigned t = atomicAdd(&P.state->ticket, 1u);
    trs_task task = {};
    if (t < (unsigned)P.tasks) task = P.task[t];
    return task;
}

/* Any but a bundle.  With several right-hand sides, and where a panel is split, all of a block is done with its first
 * slice. */
template <class T, int R>
__device__ inline void solve_task(wide<T, R> *sh, const problem<T> &P, const trs_task &task,
                                  const here<T> &h)
{
    const bool sliced_task = task.kind == TRS_TASK_PANEL || task.kind == TRS_TASK_REST;
    if (sliced_task) {
        const trs_block &k = P.block[task.block];
        const bool split = task.kind == TRS_TASK_PANEL && P.split[task.block - k.member];
        if constexpr (R == 1)
            if (k.slices > 1 && !split) {
                solve_slice<T>(sh, P, task, h);
                return;
            }
        if (task.piece > 0) return;
    }
    solve_wide<T, R>(sh, P, task, h);
}

/* Wide blocks among the others: a block of threads draws tickets. */
template <class T, int R>
static __global__ void __launch_bounds__(BLOCK_THREADS) mixed_kernel(const problem<T> P)
{
    wide<T, R> *sh = (wide<T, R> *)shared_numbers<T>();
    static_assert(sizeof(T[WARPS][TRS_NARROW][R]) <= sizeof sh->tile, "room for parts");
    static_assert(int(TRS_BUNDLE) <= int(WARPS), "a warp for each block of a bundle");
    const here<T> h(P);
    const unsigned now = P.state->now;
    for (;;) {
        if (threadIdx.x == 0) sh->task = draw(P);
        __syncthreads();
        const trs_task task = sh->task;
        if (task.blocks == 0) break;
        delay();
        if (task.kind != TRS_TASK_BUNDLE) {
            solve_task<T, R>(sh, P, task, h);
            __pipeline_wait_prior(0);
        } else if (task.blocks == 1) /* for all warps */
            solve_thin<T, R>(P, task.block, h, (parts<T, R>)sh->tile);
        else if ((int)threadIdx.x / WARP < task.blocks)
            solve_thin<T, R>(P, task.block + (int)threadIdx.x / WARP, h, NULL);
        __syncthreads(); /* before shared memory is used again */
    }
    finish<R>(P.state, now);
}

/* All blocks narrow: warps take them in turn, neighbours go to different SMs. */
template <class T, int R>
static __global__ void __launch_bounds__(BLOCK_THREADS) narrow_kernel(const problem<T> P)
{
    const here<T> h(P);
    const unsigned now = P.state->now;
    const int warps = gridDim.x * WARPS;
    for (int t = (threadIdx.x / WARP) * gridDim.x + blockIdx.x; t < P.blocks; t += warps) {
        delay();
        solve_thin<T, R>(P, t, h, NULL);
    }
    finish<R>(P.state, now);
}

/* ---- the host side ---------------------------------------------------------------------------------------- */

static void release(trs_instance *inst)
{
    supernodal *d = (supernodal *)inst->data;
    trs_gpu_free(inst->ctx, d->block);
    trs_gpu_free(inst->ctx, d->stage);
    trs_gpu_free(inst->ctx, d->column);
    trs_gpu_free(inst->ctx, d->task);
    trs_gpu_free(inst->ctx, d->thin);
    trs_gpu_free(inst->ctx, d->store);
    trs_gpu_free(inst->ctx, d->substituted);
    trs_gpu_free(inst->ctx, d->split);
    trs_gpu_free(inst->ctx, d->panel);
    trs_gpu_free(inst->ctx, d->weight);
    trs_free(&inst->ctx->mem, d);
}

/* Which panels there are, and room for what an update weighs. */
static int panels_new(trs_instance *inst, supernodal *d)
{
    trs_context *ctx = inst->ctx;
    const trs_supernodes *s = &inst->op->super;
    if (s->panels == 0) return TRS_OK;
    int32_t *first = (int32_t *)trs_new(ctx, s->panels, sizeof *first, "panels");
    for (int32_t t = 0, k = 0; t < s->blocks && first; t++)
        if (s->block[t].members > 1 && s->block[t].member == 0) first[k++] = t;
    if (first) d->panel = (int32_t *)device_copy(ctx, first, s->panels, sizeof *first, "panels");
    trs_free(&ctx->mem, first);
    d->weight = (double *)trs_gpu_new(ctx, inst->op->tri.n, sizeof *d->weight, "sums of rows");
    return d->panel && d->weight ? TRS_OK : TRS_EMEM;
}

/* What a warp has to know of each block, wide ones too. */
static __global__ void thin_kernel(int32_t blocks, const trs_block *block, const trs_stage *stage,
                                   narrow *thin)
{
    const int32_t t = (int32_t)(blockIdx.x * PLAIN + threadIdx.x);
    if (t >= blocks) return;
    const trs_block k = block[t];
    const trs_stage s = stage[k.stage];
    const bool first = k.stages < 2; /* it needs no columns */
    thin[t] = {k.first,
               k.rows,
               first ? 0 : s.first,
               first ? 0 : s.columns,
               first ? 0 : s.place,
               stage[k.diagonal].place};
}

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    supernodal *d = (supernodal *)trs_alloc_zero(&ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(TRS_EMEM, "out of memory");
    inst->data = d;
    const trs_supernodes *s = &inst->op->super;
    const size_t size = trs_size(inst->op->tri.dtype);
    d->s = *s;
    d->s.block = NULL, d->s.stage = NULL, d->s.column = NULL, d->s.task = NULL;
    d->block = (trs_block *)device_copy(ctx, s->block, s->blocks, sizeof *s->block, "blocks");
    d->stage = (trs_stage *)device_copy(ctx, s->stage, s->stages, sizeof *s->stage, "stages");
    d->column = (int32_t *)device_copy(ctx, s->column, s->columns, sizeof *s->column, "columns");
    d->task = (trs_task *)device_copy(ctx, s->task, s->tasks, sizeof *s->task, "tasks");
    d->thin = (narrow *)trs_gpu_new(ctx, s->blocks, sizeof *d->thin, "narrow blocks");
    d->store = trs_gpu_new(ctx, s->store, size, "the values of the stages");
    d->substituted = (int *)trs_gpu_new(ctx, s->blocks, sizeof(int), "flags of the blocks");
    d->split = (int *)trs_gpu_new(ctx, s->blocks, sizeof(int), "flags of the panels");
    if (!d->block || !d->stage || !d->column || !d->task || !d->thin || !d->store ||
        !d->substituted || !d->split || panels_new(inst, d))
        return TRS_EMEM;
    if (s->blocks > 0)
        thin_kernel<<<blocks_of(s->blocks), PLAIN>>>(s->blocks, d->block, d->stage, d->thin);
    return launched() || trs_gpu_wait(NULL) ? trs_fail(TRS_EDEVICE, "cuda-supernodal") : TRS_OK;
}

static int update_direct(trs_instance *inst, const void *val, void *stream)
{
    return supernodal_take((const supernodal *)inst->data, &inst->op->device, inst->op->tri.dtype,
                           val, (cudaStream_t)stream);
}

/* Blocks of threads that a solve takes, as far as there is work for them; 0: not one fits. */
template <class T, int R> static int grid_of(const supernodal *d)
{
    const size_t bytes = sizeof(wide<T, R>);
    if (d->s.wide == 0) {
        const int64_t work = 6 * (int64_t)d->s.blocks / max(d->s.height, 1) / 8;
        return waiting_blocks((const void *)narrow_kernel<T, R>, BLOCK_THREADS, 0,
                              (double)max(work, (int64_t)multiprocessors()));
    }
    if (allow(mixed_kernel<T, R>, bytes) != cudaSuccess) return 0;
    return waiting_blocks((const void *)mixed_kernel<T, R>, BLOCK_THREADS, bytes,
                          max(d->s.tasks, 1));
}

template <class T> static int grids(supernodal_work *w, const supernodal *d)
{
    int rc = TRS_OK;
    for (int nrhs = 1; nrhs <= 64 && !rc; nrhs *= 2)
        rc = for_width<T>(nrhs, [&](auto width, int k) {
            w->grid[k] = grid_of<T, decltype(width)::value>(d);
            return w->grid[k] > 0 ? TRS_OK : TRS_EDEVICE;
        });
    return rc;
}

static void work_destroy(trs_context *ctx, void *work)
{
    supernodal_work *w = (supernodal_work *)work;
    trs_gpu_free(ctx, w->state);
    trs_gpu_free(ctx, w->copy);
    trs_free(&ctx->mem, w);
}

/* Both copies empty, turn 0. */
static int work_start(supernodal_work *w, trs_context *ctx, size_t size)
{
    const size_t bytes = 2 * (size_t)w->copy_size * size;
    w->state = (turn *)trs_gpu_new(ctx, 1, sizeof *w->state, "the state of a solve");
    if (w->state) w->copy = trs_gpu_new(ctx, (int64_t)bytes, 1, "published x");
    if (!w->copy) return TRS_EMEM;
    if (cudaMemset(w->state, 0, sizeof *w->state) != cudaSuccess ||
        cudaMemset(w->copy, 0xff, bytes) != cudaSuccess)
        return trs_fail(TRS_EDEVICE, "cudaMemset");
    return trs_gpu_wait(NULL);
}

static int work_create(const trs_instance *inst, trs_context *ctx, int nrhs, void **work)
{
    const supernodal *d = (const supernodal *)inst->data;
    supernodal_work *w = (supernodal_work *)trs_alloc_zero(&ctx->mem, 1, sizeof *w);
    *work = w;
    if (!w) return trs_fail(TRS_EMEM, "out of memory");
    return for_type(inst->op->tri.dtype, [&](auto zero) {
        using T = decltype(zero);
        w->most = for_width<T>(nrhs, [](auto width, int) { return decltype(width)::value; });
        w->copy_size = ((int64_t)inst->op->tri.n + (int64_t)d->s.pieces * BLOCK) * w->most;
        int rc = grids<T>(w, d);
        if (rc) return trs_fail(rc, "cuda-supernodal needs more shared memory than there is");
        return work_start(w, ctx, sizeof(T));
    });
}

template <class T, int R>
static int launch(const supernodal *d, const problem<T> &P, int grid, cudaStream_t stream)
{
    if (d->s.wide > 0) {
        mixed_kernel<T, R><<<(unsigned)grid, BLOCK_THREADS, sizeof(wide<T, R>), stream>>>(P);
        return launched();
    }
    void *args[] = {(void *)&P};
    return cudaLaunchCooperativeKernel((const void *)narrow_kernel<T, R>, dim3((unsigned)grid),
                                       dim3(BLOCK_THREADS), args, 0, stream) == cudaSuccess
               ? TRS_OK
               : TRS_EDEVICE;
}

template <class T> static int solve_columns(const trs_instance *inst, const trs_job *job)
{
    const supernodal *d = (const supernodal *)inst->data;
    const supernodal_work *w = (const supernodal_work *)job->work;
    problem<T> P = {
        inst->op->tri.n, d->s.blocks, d->s.tasks,          d->block,       d->stage, d->column,
        d->task,         d->thin,     (const T *)d->store, d->substituted, d->split};
    P.cj = job->conj;
    P.state = w->state;
    P.copy = (T *)w->copy;
    P.copy_size = w->copy_size;
    int rc = TRS_OK;
    for (int r = 0; r < job->nrhs && !rc; r += w->most) {
        P.nrhs = min(job->nrhs - r, w->most);
        P.b = from_column(typed<T>(job->b), r);
        P.x = from_column(typed<T>(job->x), r);
        rc = for_width<T>(P.nrhs, [&](auto width, int k) {
            return launch<T, decltype(width)::value>(d, P, w->grid[k], (cudaStream_t)job->stream);
        });
    }
    return rc;
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    return for_type(inst->op->tri.dtype,
                    [&](auto zero) { return solve_columns<decltype(zero)>(inst, job); });
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return (s->nnz + s->store) * (int64_t)s->elem + s->nnz * 4 + s->n * 24 + s->blocks * 200;
}

const trs_solver trs_solver_supernodal = {
    .name = "cuda-supernodal",
    .about = "blocks of rows with inverted diagonal blocks, dense stages, one launch",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .supernodes = true,
    .pattern = true,
    .direct = true,
    .cost = supernodal_cost,
    .cost_now = supernodal_cost_now,
    .bytes = bytes,
    .build = build,
    .update_direct = update_direct,
    .solve = solve,
    .release = release,
    .work_create = work_create,
    .work_destroy = work_destroy,
};
