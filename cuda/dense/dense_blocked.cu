/* dense_blocked.cu: one kernel a solve, on a full triangle in tiles of 64x64, for 1 .. 64 right-hand sides.
 *
 *     x_t = sum of M_ts b_s  -  sum of S_ts x_s
 *
 * Four rows of tiles are a panel (tiles.cuh).  They wait only for earlier panels, not for one another, so a solve
 * pays one dependency latency for 256 unknowns.  In a panel that may not be inverted, each row of tiles waits for the
 * one before.
 *
 * A block of 256 threads owns the 64 rows of t, or with one right-hand side a slice of 16 of them.  It reads its
 * tiles once, in order, some ahead of their use.  x_s comes from a published copy of x, whose numbers are their own
 * flags (flag.cuh): a number has arrived when it is no longer the reserved pattern.
 *
 * It cannot hang: a ticket counter assigns the rows, so the block of an earlier row has started earlier.  A row waits
 * for earlier ones only, and the earliest unfinished one waits for nothing.  The number of blocks that run at a time
 * does not matter.
 *
 * Two published copies alternate: the block that publishes x_t in one empties x_t in the other for the next solve.
 * Ticket and turn are in the work space on the device, so a CUDA graph can replay a solve.
 *
 * The order of every sum is fixed: the bits are the same every time.  A NaN in b spreads over its panel and what
 * depends on it.  Rows from n to the next multiple of 64 have b = 0.
 * Bytes: elem n^2 / 2, and of x a 16th or 64th of that.  With one right-hand side the time is n / 256 dependency
 * latencies of about 0.9 us, from n = 4096 on that of memory. */
#include "config.h"

#include "solve_many.cuh"
#include "solve_one.cuh"

struct blocked_work : published_work {
    void *b; /* [copy_size] B, where X overwrites it */
};

/* ---- the kernel ---- */

/* What a block of threads keeps in shared memory, how many rows it owns, and for how many blocks an SM should have
 * registers. */
template <class T, int R>
using memory = std::conditional_t<R == 1, shared_one<T>, shared_many<T, R>>;
template <int R> constexpr int ROWS = R == 1 ? int(SLICE) : int(BLOCK);
template <class T, int R> constexpr int BESIDE = R == 1 && sizeof(T) <= 8 ? 2 : 1;

template <class T, int R>
static __global__ void __launch_bounds__(BLOCK_THREADS, BESIDE<T, R>)
    solve_kernel(const problem<T> P)
{
    auto *sh = (memory<T, R> *)shared_numbers<T>();
    const unsigned now = P.state->now;
    for (;;) {
        if (threadIdx.x == 0) sh->t = (int)atomicAdd(&P.state->ticket, 1u);
        __syncthreads();
        const int t = sh->t;
        if (t >= P.nt * (BLOCK / ROWS<R>)) break;
        delay();
        solve_row(sh, P, t, now);
        empty_other(P, t, ROWS<R>, now);
        __syncthreads(); /* before shared memory is used again */
    }
    finish<R>(P.state, now);
}

/* A copy of B where X overwrites it: a row of tiles reads b of all rows of its panel. */
template <class T> static __global__ void keep_kernel(const problem<T> P, view<T> to)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < P.n) to(i, blockIdx.y) = P.b(i, blockIdx.y);
}

/* ---- the host side ----------------------------------------------------------------------------------- */

static void release(trs_instance *inst)
{
    tiles_free(inst->ctx, (tiles *)inst->data);
    trs_free(&inst->ctx->mem, inst->data);
}

static int build(trs_instance *inst)
{
    const trs_tri *L = &inst->op->tri;
    const int rc = trs_operator_device(inst->op, TRS_OP_PATTERN);
    if (rc) return rc;
    trs_operator_hold(inst->op, TRS_OP_PATTERN);
    tiles *d = data_new<tiles>(inst->ctx, &inst->data);
    return d ? tiles_new(inst->ctx, L->n, L->dtype, &inst->op->device, d) : TRS_EMEM;
}

static int update(trs_instance *inst, void *stream)
{
    const trs_tri *L = &inst->op->tri;
    const trs_device_view *there = &inst->op->device;
    const int rc = trs_operator_device(inst->op, TRS_OP_VALUES);
    return rc ? rc
              : tiles_take((const tiles *)inst->data, L->n, there, L->dtype, there->val,
                           (cudaStream_t)stream);
}

/* Thread blocks of a launch, as many as there is work for; 0: not one fits. */
template <class T, int R> static int grid_of(int nt)
{
    const auto kernel = solve_kernel<T, R>;
    const size_t bytes = sizeof(memory<T, R>);
    if (allow_shared(kernel, bytes)) return 0;
    return waiting_blocks((const void *)kernel, BLOCK_THREADS, bytes,
                          max(nt, 1) * (BLOCK / ROWS<R>));
}

static void work_destroy(trs_context *ctx, void *work)
{
    trs_gpu_free(ctx, ((blocked_work *)work)->b);
    published_destroy(ctx, work);
}

static int work_create(const trs_instance *inst, trs_context *ctx, int nrhs, void **work)
{
    const int nt = ((const tiles *)inst->data)->nt;
    blocked_work *w = data_new<blocked_work>(ctx, work);
    if (!w) return TRS_EMEM;
    return for_type(inst->op->tri.dtype, [&]<class T>(T) {
        const int rc = published_start<T>(inst, ctx, nrhs, (int64_t)nt * BLOCK, w, [&](auto width) {
            return grid_of<T, decltype(width)::value>(nt);
        });
        if (!rc) w->b = trs_gpu_new(ctx, w->copy_size, sizeof(T), "B");
        return rc || w->b ? rc : TRS_EMEM;
    });
}

template <class T> static int solve_columns(const trs_instance *inst, const trs_job *job)
{
    const tiles *d = (const tiles *)inst->data;
    const blocked_work *w = (const blocked_work *)job->work;
    problem<T> P = {.n = inst->op->tri.n, .nt = d->nt, .tile = (const T *)d->tile};
    P.joined = (const T *)d->joined;
    P.substituted = d->substituted;
    P.split = d->split;
    P.cj = job->conj;
    P.state = w->state;
    P.copy = (T *)w->copy;
    P.copy_size = w->copy_size;
    for (int r = 0; r < job->nrhs; r += w->most) {
        P.nrhs = min(job->nrhs - r, w->most);
        P.b = from_column(typed<T>(job->b), r);
        P.x = from_column(typed<T>(job->x), r);
        if (job->b.p == job->x.p) {
            const view<T> kept = {(T *)w->b, 1, P.n};
            keep_kernel<<<dim3(blocks_of(P.n), (unsigned)P.nrhs), PLAIN, 0,
                          (cudaStream_t)job->stream>>>(P, kept);
            P.b = kept;
        }
        for_width<T>(P.nrhs, [&](auto width, int k) {
            constexpr int R = decltype(width)::value;
            const size_t bytes = sizeof(memory<T, R>);
            solve_kernel<T, R>
                <<<(unsigned)w->grid[k], BLOCK_THREADS, bytes, (cudaStream_t)job->stream>>>(P);
            return 0;
        });
    }
    return launched();
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    return for_type(inst->op->tri.dtype, [&]<class T>(T) { return solve_columns<T>(inst, job); });
}

/* Complex numbers take more arithmetic, and registers; more of both with several columns. */
static double slower(const trs_shape *s, const trs_machine *m)
{
    if (!s->is_complex) return 1;
    if (s->elem <= 8) return m->dense_complex_single;
    if (s->nrhs == 1) return m->dense_complex;
    return s->nrhs <= 8 ? m->dense_8_complex : m->dense_32_complex;
}

/* Seconds of several columns: steps, a panel of rows after the one before, and products.  8 columns wait for these
 * where there are more rows of tiles than SMs, 32 where all SMs together take longer than half of the steps; more are
 * done in turns. */
static double cost_of_many(const trs_shape *s, const trs_machine *m)
{
    const int rows = rows_of_tiles(s->n);
    const double n = (double)s->n, steps = panels_of(rows), turns = (s->nrhs + 31) / 32;
    if (s->nrhs <= 8)
        return m->dense_8_panel * steps + (rows > m->gpu_sms ? m->dense_8_square * n * n : 0);
    return turns *
           max(m->dense_32_panel * steps, m->dense_32_behind * steps + m->dense_32_square * n * n);
}

/* One column: half of a step is hidden behind what is read. */
static void cost_of_tiles(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    if (s->nrhs > 1) {
        c->sync = m->dense_many_launches * m->gpu_launch;
        c->latency = cost_of_many(s, m) * slower(s, m);
        return;
    }
    const double step = s->elem > 4 ? m->dense_panel : m->dense_panel_single;
    c->sync = m->dense_launches * m->gpu_launch;
    c->bytes = 0.5 * (double)s->n * (double)s->n * s->elem * m->gpu_byte * slower(s, m);
    c->latency = panels_of(rows_of_tiles(s->n)) * step * slower(s, m);
}

/* In a panel that is split rows of tiles wait for one another, and one that is not inverted takes a step a row: all of
 * it for each 8 columns. */
static double substituting(const trs_instance *built, const trs_shape *s, const trs_machine *m)
{
    const tiles *d = (const tiles *)built->data;
    const double split = s->nrhs == 1 ? m->dense_split * (PANEL - 1) : m->dense_many_split;
    const double eights = s->nrhs <= 8 ? 1 : 4 * ((s->nrhs + 31) / 32);
    const double columns = eights * (s->is_complex ? m->dense_many_substituted : 1);
    const double times = s->nrhs == 1 ? 1 : columns;
    return times * ((double)count_flags(built->ctx, d->split, panels_of(d->nt)) * split +
                    (double)count_flags(built->ctx, d->substituted, d->nt) * m->blocks_substituted);
}

/* Four launches, in which the first tiles of a panel follow one another; then products of tiles, in each of which a row of L
 * that has entries counts, eight as it is taken to be; and S is written. */
static double cost_of_update(const trs_shape *s, const trs_machine *m)
{
    const double n = (double)s->n, most = n * rows_of_tiles(s->n) / 2; /* rows of all tiles */
    const double rows = min((double)s->nnz / 8, most) / m->gpu_sms;
    return m->dense_update_launches * m->gpu_launch + m->dense_update_panel +
           (rows * m->dense_update_row + n * n / 2 * s->elem * m->gpu_byte) *
               (s->is_complex ? m->dense_complex : 1);
}

static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    cost_of_tiles(&p->shape, m, c);
    c->update = cost_of_update(&p->shape, m);
    if (built) c->latency += substituting(built, &p->shape, m);
    return NULL;
}

/* The tiles, and T. */
static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    const int64_t elem = (int64_t)s->elem;
    return tiles_bytes(s->n, elem) + s->nnz * (elem + 4) + 8 * (s->n + 1);
}

const trs_solver trs_solver_dense_blocked = {
    .name = "dense-blocked",
    .about = "full triangle in 64x64 tiles, diagonal blocks of 256 inverted, one kernel",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .full = true,
    .reconsiders = true,
    .refreshes = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
    .release = release,
    .work_create = work_create,
    .work_destroy = work_destroy,
};
