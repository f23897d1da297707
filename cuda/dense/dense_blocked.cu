/* dense_blocked.cu: one kernel a solve on a triangle cut into tiles of 64x64, for 1 .. 64 right-hand sides.
 *
 *     x_t = sum of M_ts b_s  -  sum of S_ts x_s
 *
 * Four rows of tiles are a panel (tiles.cuh): they do not wait for one another, but for the panels before, so that a
 * step is a product for 256 unknowns.  Where a panel may not be inverted its rows of tiles are steps.
 *
 * A block of 256 threads owns the 64 rows of t, or 16 of them with one right-hand side.  It reads its tiles once, in order,
 * some ahead of their use, two or three into shared memory, or eight into registers.  x_s comes from the published copy,
 * whose numbers are their own flags (flag.cuh).
 * Cannot hang: rows are tickets, so whoever owns an earlier row has started before and waits only for still
 * earlier ones; how many blocks run at a time does not matter.
 * Two published copies take turns: who publishes x_t in one empties x_t in the other for the next solve.
 * Ticket and turn live in the work space on the device: a solve can be replayed in a graph.
 * Same bits every time: the order of every sum is fixed.  A NaN in b spreads over its panel, and what follows.
 * Rows from n to the next multiple of 64 have b = 0.
 * Bytes elem n^2 / 2, of x a 16th or 64th of that.  With one right-hand side bound by n / 256 steps of about 0.9 us, from
 * n = 4096 on by memory. */
#include "config.h"

#include "tiles.cuh"

struct blocked_work {
    turn *state;
    void *copy; /* [2][copy_size] published x */
    void *b;    /* [copy_size] */
    int64_t copy_size;
    int most;    /* right-hand sides at a time: 1, 8, 32 or 64 */
    int grid[4]; /* blocks of threads, for each of those */
};

/* ---- solve ----------------------------------------------------------------------------------------- */

template <class T> struct problem {
    int64_t n;
    int nt, nrhs;
    const T *tile, *joined;
    const int *substituted, *split;
    view<T> b, x;
    bool cj;
    turn *state;
    T *copy;
    int64_t copy_size;
};

/* A row of tiles, and in which order its tiles come: first .. t times b, then 0 .. first-1 times x; where it ends in
 * a substitution, 0 .. t-1 times x, then t. */
struct tile_row {
    int t, first;
    bool last; /* the diagonal comes last, to be substituted */
    template <class P>
    __device__ tile_row(const P &p, int t)
        : t(t), first(p.split[t / PANEL] ? t : t / PANEL * PANEL), last(p.substituted[t])
    {
    }
    __device__ int tile(int step) const
    {
        const int with_b = t - first + 1;
        return last ? step : step < with_b ? first + step : step - with_b;
    }
};

template <class T> __device__ inline const T *tile_of(const problem<T> &P, const tile_row &r, int s)
{
    const bool joined = s >= r.first && s < r.t;
    return joined ? P.joined + joined_number(r.t, s) * TILE_SIZE
                  : P.tile + tile_number(r.t, s) * TILE_SIZE;
}

/* Numbers of b from row t of tiles on into shared memory, zero where there are none. */
template <class T, int R>
__device__ inline void load_b(T *x, const problem<T> &P, int t, int rows = BLOCK)
{
    for (int e = threadIdx.x; e < rows * R; e += BLOCK_THREADS) {
        const int64_t i = (int64_t)t * BLOCK + e / R;
        const int r = e % R;
        x[e] = i < P.n && r < P.nrhs ? P.b(i, r) : number<T>(0);
    }
}

/* The place of these rows of x in the other copy emptied. */
template <class T>
__device__ inline void empty_other(const problem<T> &P, int t, int rows, unsigned now)
{
    const int64_t old = (int64_t)rows * P.state->width[1 - now];
    T *other = P.copy + (1 - now) * P.copy_size + t * old;
    for (int64_t e = threadIdx.x; e < old; e += BLOCK_THREADS) flag_clear(other + e);
}

/* ---- tiles in shared memory, R right-hand sides ---- */

template <class T, int R> struct stage {
    static constexpr int RING = sizeof(T) == 16 ? 2 : 3;
    T tile[RING][TILE_SIZE];
    T x[2][BLOCK * R];
    int t;
};

/* Start reading the tile of a step, if there is one. */
template <class T, int R>
__device__ inline void ahead(stage<T, R> *sh, const problem<T> &P, const tile_row &r, int step)
{
    if (step <= r.t) fetch_tile(sh->tile[step % stage<T, R>::RING], tile_of(P, r, r.tile(step)));
    __pipeline_commit();
}

/* x_t to those who wait for it, then to the caller. */
template <class T, int R>
__device__ inline void deliver(const T (&v)[share<R>::COLUMNS], const problem<T> &P, int t,
                               unsigned now)
{
    const share<R> me;
    const int64_t i = (int64_t)t * BLOCK + me.row;
    T *mine = P.copy + now * P.copy_size + (int64_t)t * BLOCK * R;
    for (int c = 0; c < share<R>::COLUMNS && me.writes(); c++)
        flag_store(mine + me.row * R + me.first + c, v[c]);
    for (int c = 0; c < share<R>::COLUMNS && me.writes(); c++)
        if (i < P.n && me.first + c < P.nrhs) P.x(i, me.first + c) = v[c];
}

template <class T, int R>
static __device__ void solve_row(stage<T, R> *sh, const problem<T> &P, int t, unsigned now)
{
    constexpr int RING = stage<T, R>::RING;
    const tile_row row(P, t);
    const T *x = P.copy + now * P.copy_size;
    T sum[share<R>::COLUMNS], v[MINE<R>];
    const auto x_of = [=](int p) {
        const T *from = x + (int64_t)row.tile(p) * BLOCK * R;
        return [=](int e) { return from + e; };
    };
    const auto is_x = [=](int p) { return p <= t && row.tile(p) < row.first; };
    for (int c = 0; c < share<R>::COLUMNS; c++) sum[c] = number<T>(0);
    for (int p = 0; p < RING - 1; p++) ahead(sh, P, row, p);
    if (is_x(0)) look<T, R>(v, BLOCK * R, x_of(0));
    for (int p = 0; p <= t; p++) {
        const int s = row.tile(p);
        T *xs = sh->x[p & 1];
        if (is_x(p)) collect<T, R>(xs, v, x_of(p));
        else load_b<T, R>(xs, P, s);
        __pipeline_wait_prior(RING - 2);
        __syncthreads(); /* tile and x_s are there, and everybody is done with the tile before */
        ahead(sh, P, row, p + RING - 1);
        if (row.last && s == t) break;
        if (is_x(p + 1)) look<T, R>(v, BLOCK * R, x_of(p + 1));
        add_product<T, R>(sum, sh->tile[p % RING], xs, is_x(p), P.cj);
    }
    if (row.last) {
        const share<R> me;
        T *b = sh->x[t & 1], *scratch = sh->x[1 - (t & 1)];
        for (int c = 0; c < share<R>::COLUMNS; c++) sum[c] = b[me.row * R + me.first + c] + sum[c];
        substitute<T, R>(sum, sh->tile[t % RING], BLOCK, scratch, P.cj);
    }
    deliver<T, R>(sum, P, t, now);
    __pipeline_wait_prior(0);
}

/* ---- tiles in registers, one right-hand side ---- */

enum { AHEAD = 2 }; /* panels of tiles in registers, or on their way */

template <class T> struct registers { /* and what is in shared memory */
    T x[2][int(PANEL) * int(BLOCK)];  /* b, or -x */
    T part[WARPS][SLICE];
    T tile[int(SLICE) * int(BLOCK)]; /* to be substituted */
    int t;
};

/* A slice while it is solved.  Phase 0: tiles times b.  Phases 1 .. panel: those of a panel of x.  The last one: those
 * that wait for rows of its own panel. */
template <class T> struct slice {
    registers<T> *sh;
    const problem<T> &P;
    const tile_row row;
    const int first_row; /* of the tiles */
    const int panel;
    const T *x; /* published */
    T seen;     /* number threadIdx.x of the panel of x that comes next */
    T sum[4];

    __device__ slice(registers<T> *sh, const problem<T> &P, int t, unsigned now)
        : sh(sh), P(P), row(P, t / SLICES), first_row(t % SLICES * SLICE), panel(row.t / PANEL),
          x(P.copy + now * P.copy_size)
    {
        for (int z = 0; z < 4; z++) sum[z] = number<T>(0);
    }

    __device__ int tiles_of_phase(int p) const
    {
        if (p == 0) return row.last ? 0 : row.t - row.first + 1;
        return p <= panel ? (int)PANEL : p == panel + 1 ? row.first - panel * PANEL : 0;
    }
    __device__ void load(part_of_tile<T> &a, int p, int k) const
    {
        const int s = p == 0 ? row.first : (p - 1) * PANEL;
        if (k < tiles_of_phase(p)) a.load(tile_of(P, row, s + k), first_row);
    }
    __device__ void look(int q)
    {
        if (q < panel) seen = flag_peek(x + (int64_t)q * PANEL * BLOCK + threadIdx.x);
    }
    __device__ void collect(int q)
    {
        if (!flag_there(seen)) seen = flag_wait(x + (int64_t)q * PANEL * BLOCK + threadIdx.x);
        sh->x[(q + 1) & 1][threadIdx.x] = number<T>(0) - seen;
        look(q + 1);
        __syncthreads();
    }
    /* Each tile makes room for one of a later phase. */
    __device__ void phase(part_of_tile<T> (&a)[PANEL], int p)
    {
        const int count = tiles_of_phase(p);
        if (p > 0) collect(p - 1);
#pragma unroll
        for (int k = 0; k < PANEL; k++) {
            if (k < count) a[k].multiply(sum, sh->x[p & 1] + k * BLOCK, P.cj);
            load(a[k], p + AHEAD, k);
        }
    }
    __device__ void last_phase(part_of_tile<T> (&a)[PANEL])
    {
#pragma unroll
        for (int k = 0; k < PANEL - 1; k++) {
            const int s = panel * PANEL + k;
            if (s >= row.first) break;
            __syncthreads(); /* everybody is done with x */
            if (threadIdx.x < BLOCK)
                sh->x[0][threadIdx.x] =
                    number<T>(0) - flag_wait(x + (int64_t)s * BLOCK + threadIdx.x);
            __syncthreads();
            a[k].multiply(sum, sh->x[0], P.cj);
        }
    }

    /* x from v = x before the diagonal tile came: what slices before this one have, then a row after the other. */
    __device__ T substituted(T v)
    {
        const T *from = tile_of(P, row, row.t);
        const int mine = threadIdx.x % SLICE;
        __syncthreads(); /* everybody is done with x */
        for (int e = threadIdx.x; e < SLICE * BLOCK; e += BLOCK_THREADS) {
            const int i = e / 4 % SLICE, k = e / (4 * SLICE) * 4 + e % 4;
            sh->tile[e] = conj_if(P.cj, from[tile_place(first_row + i, k)]);
        }
        if ((int)threadIdx.x < first_row)
            sh->x[0][threadIdx.x] = flag_wait(x + (int64_t)row.t * BLOCK + threadIdx.x);
        load_b<T, 1>(sh->x[1], P, row.t);
        __syncthreads();
        v = sh->x[1][first_row + mine] + v;
        for (int k = 0; k < first_row; k++)
            v = v - sh->tile[tile_place(mine, k, SLICE)] * sh->x[0][k];
        for (int k = 0; k < SLICE; k++) {
            const T *column = sh->tile + tile_place(0, first_row + k, SLICE);
            if ((int)threadIdx.x == k) sh->x[0][first_row + k] = v / column[4 * k];
            __syncthreads();
            if (mine > k) v = v - column[4 * mine] * sh->x[0][first_row + k];
        }
        return sh->x[0][first_row + mine];
    }
};

template <class T>
static __device__ void solve_row(registers<T> *sh, const problem<T> &P, int t, unsigned now)
{
    slice<T> r(sh, P, t, now);
    part_of_tile<T> a[AHEAD][PANEL];
#pragma unroll
    for (int d = 0; d < AHEAD; d++)
#pragma unroll
        for (int k = 0; k < PANEL; k++) r.load(a[d][k], d, k);
    load_b<T, 1>(sh->x[0], P, r.row.first, PANEL * BLOCK);
    r.look(0);
    __syncthreads();
    for (int p = 0; p <= r.panel + 1; p += AHEAD)
#pragma unroll
        for (int d = 0; d < AHEAD; d++) {
            if (p + d <= r.panel) r.phase(a[d], p + d);
            else if (p + d == r.panel + 1) r.last_phase(a[d]);
        }
    T v = join_parts(sh->part, r.sum);
    if (r.row.last) v = r.substituted(v);
    const int64_t i = (int64_t)t * SLICE + threadIdx.x;
    if (threadIdx.x >= SLICE) return;
    flag_store(P.copy + now * P.copy_size + i, v);
    if (i < P.n) P.x(i, 0) = v;
}

/* ---- the kernel ---- */

/* What a block keeps in shared memory, how many rows it has, and how many blocks an SM should have room for. */
template <class T, int R> using memory = std::conditional_t<R == 1, registers<T>, stage<T, R>>;
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

/* B, kept where X is going to overwrite it: rows of tiles want the b of those before. */
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
    inst->data = trs_alloc_zero(&inst->ctx->mem, 1, sizeof(tiles));
    if (!inst->data) return trs_fail(TRS_EMEM, "out of memory");
    return tiles_new(inst->ctx, L->n, L->dtype, (tiles *)inst->data);
}

static int update_direct(trs_instance *inst, const void *val, void *stream)
{
    const trs_tri *L = &inst->op->tri;
    return tiles_take((const tiles *)inst->data, L->n, &inst->op->device, L->dtype, val,
                      (cudaStream_t)stream);
}

template <class T> static int grids(blocked_work *w, int nt)
{
    int rc = TRS_OK;
    for (int nrhs = 1; nrhs <= 64 && !rc; nrhs *= 2)
        rc = for_width<T>(nrhs, [&](auto width, int k) {
            constexpr int R = decltype(width)::value;
            const auto kernel = solve_kernel<T, R>;
            const size_t bytes = sizeof(memory<T, R>);
            if (allow(kernel, bytes) != cudaSuccess) return TRS_EDEVICE;
            w->grid[k] = waiting_blocks((const void *)kernel, BLOCK_THREADS, bytes,
                                        max(nt, 1) * (BLOCK / ROWS<R>));
            return w->grid[k] > 0 ? TRS_OK : TRS_EDEVICE;
        });
    return rc;
}

static void work_destroy(trs_context *ctx, void *work)
{
    blocked_work *w = (blocked_work *)work;
    trs_gpu_free(ctx, w->state);
    trs_gpu_free(ctx, w->copy);
    trs_gpu_free(ctx, w->b);
    trs_free(&ctx->mem, w);
}

/* Both copies EMPTY, turn 0. */
static int work_start(blocked_work *w, trs_context *ctx, size_t size)
{
    const size_t bytes = 2 * (size_t)w->copy_size * size;
    w->state = (turn *)trs_gpu_new(ctx, 1, sizeof *w->state, "the state of a solve");
    w->copy = trs_gpu_new(ctx, (int64_t)bytes, 1, "published x");
    w->b = trs_gpu_new(ctx, w->copy_size, size, "B");
    if (!w->state || !w->copy || !w->b) return TRS_EMEM;
    if (cudaMemset(w->state, 0, sizeof *w->state) != cudaSuccess ||
        cudaMemset(w->copy, 0xff, bytes) != cudaSuccess)
        return trs_fail(TRS_EDEVICE, "cudaMemset");
    return trs_gpu_wait(NULL);
}

static int work_create(const trs_instance *inst, trs_context *ctx, int nrhs, void **work)
{
    const int nt = ((const tiles *)inst->data)->nt;
    blocked_work *w = (blocked_work *)trs_alloc_zero(&ctx->mem, 1, sizeof *w);
    *work = w;
    if (!w) return trs_fail(TRS_EMEM, "out of memory");
    return for_type(inst->op->tri.dtype, [&](auto zero) {
        using T = decltype(zero);
        w->most = for_width<T>(nrhs, [](auto width, int) { return decltype(width)::value; });
        w->copy_size = (int64_t)nt * BLOCK * w->most;
        int rc = grids<T>(w, nt);
        if (rc) return trs_fail(rc, "dense-blocked needs more shared memory than there is");
        return work_start(w, ctx, sizeof(T));
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
    return for_type(inst->op->tri.dtype,
                    [&](auto zero) { return solve_columns<decltype(zero)>(inst, job); });
}

/* Complex numbers take more arithmetic, and registers; more of both with several columns. */
static double slower(const trs_shape *s)
{
    if (!s->is_complex) return 1;
    if (s->elem <= 8) return 1.2;
    if (s->nrhs == 1) return 1.8;
    return s->nrhs <= 8 ? 2.8 : 2.25;
}

/* Seconds of several columns, measured with 2, 8 and 32 on an H200: steps, a panel of rows after the one before, and
 * products.  8 columns wait for these where there are more rows of tiles than SMs, 32 where all SMs together take
 * longer than half of the steps; more are done in turns. */
static double cost_of_many(const trs_shape *s)
{
    const int rows = rows_of_tiles(s->n), sms = 132;
    const double n = (double)s->n, steps = panels_of(rows), turns = (s->nrhs + 31) / 32;
    if (s->nrhs <= 8) return 8.7e-6 * steps + (rows > sms ? 1.5e-12 * n * n : 0);
    return turns * max(21.8e-6 * steps, 10.9e-6 * steps + 3.46e-12 * n * n);
}

/* One column: half of a step is hidden behind what is read.  Measured for 1500 to 19168 rows. */
static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    (void)built;
    if (s->nrhs > 1) {
        c->sync = 2.5 * m->gpu_launch;
        c->hops = cost_of_many(s) * slower(s);
        return NULL;
    }
    const double step = s->elem > 4 ? 0.5e-6 : 0.4e-6;
    c->sync = 2.8 * m->gpu_launch;
    c->bytes = 0.5 * (double)s->n * (double)s->n * s->elem * m->gpu_byte * slower(s);
    c->hops = panels_of(rows_of_tiles(s->n)) * step * slower(s);
    return NULL;
}

/* In a panel that is split rows of tiles wait for one another, and one that is not inverted takes a step a row: all of
 * it for each 8 columns. */
static void cost_now(const trs_instance *inst, const trs_shape *s, const trs_machine *m,
                     trs_cost *c)
{
    const tiles *d = (const tiles *)inst->data;
    const double split = s->nrhs == 1 ? 0.9e-6 * (PANEL - 1) : 4e-6;
    const double eights = s->nrhs <= 8 ? 1 : 4 * ((s->nrhs + 31) / 32);
    const double times = s->nrhs == 1 ? 1 : eights * (s->is_complex ? 1.8 : 1);
    cost(s, m, c);
    c->hops += times * ((double)count_flags(inst->ctx, d->split, panels_of(d->nt)) * split +
                        (double)count_flags(inst->ctx, d->substituted, d->nt) * SUBSTITUTED);
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
    .pattern = true,
    .direct = true,
    .estimate = estimate,
    .cost_now = cost_now,
    .bytes = bytes,
    .build = build,
    .update_direct = update_direct,
    .solve = solve,
    .release = release,
    .work_create = work_create,
    .work_destroy = work_destroy,
};
