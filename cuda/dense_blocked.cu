/* dense_blocked.cu: one kernel a solve on a triangle cut into tiles of 64x64, for 1 .. 64 right-hand sides.
 *
 *     update:  D_t = the diagonal tile;  S_ts = D_t^-1 L_ts,  s < t
 *     solve:   x_t = D_t^-1 b_t - sum, s < t ascending, of S_ts x_s
 *
 * Scaling the rows by the inverse takes D_t out of the dependent path: a step is one product.  Where the
 * inverse grows too much (blocks.cuh: invert) the rows stay as they are and end in a substitution.
 *
 * A block of 256 threads owns the 64 rows of t.  It reads its tiles once, in order, two or three ahead of
 * their use; x_s comes from the published copy, whose numbers are their own flags (flag.cuh).
 * Cannot hang: t is a ticket, so whoever owns an earlier s has started before and waits only for still
 * earlier ones; how many blocks run at a time does not matter.
 * Two published copies take turns: who publishes x_t in one empties x_t in the other for the next solve.
 * Ticket and turn live in the work space on the device: a solve can be replayed in a graph.
 * Same bits every time: the order of every sum is fixed.  A NaN in b spreads over its block of 64.
 * Rows from n to the next multiple of 64 are those of the identity, with b = 0.
 * Bytes elem n^2 / 2.  Bound by n / 64 steps of about 0.6 us (a value from SM to SM 0.3, product 0.14,
 * barrier and shuffles 0.1) while one SM keeps up with a tile a step; by memory from n = 16384 on. */
#include "config.h"

#include "blocks.cuh"

struct blocked {
    int nt;           /* blocks of rows */
    void *tile;       /* [nt*(nt+1)/2] tiles: row t from t(t+1)/2 on, the diagonal last */
    int *substituted; /* [nt] 1: tile row t is L itself */
};

struct blocked_work {
    turn *state;
    void *copy; /* [2][copy_size] published x */
    int64_t copy_size;
    int most;    /* right-hand sides at a time: 1, 8, 32 or 64 */
    int grid[4]; /* blocks of threads, for each of those */
};

__host__ __device__ inline int64_t tile_number(int64_t t, int64_t s)
{
    return t * (t + 1) / 2 + s;
}

/* ---- solve ----------------------------------------------------------------------------------------- */

template <class T> struct problem {
    int64_t n;
    int nt, nrhs;
    const T *tile;
    const int *substituted;
    view<T> b, x;
    bool cj;
    turn *state;
    T *copy;
    int64_t copy_size;
};

template <class T, int R> struct stage { /* shared memory */
    static constexpr int RING = sizeof(T) == 16 ? 2 : 3;
    T tile[RING][TILE_SIZE];
    T x[2][BLOCK * R];
    int t;
};

/* The tile of step p of row t: the diagonal first, or last when it is to be substituted. */
__device__ inline int tile_of_step(int t, int p, bool last)
{
    return last ? p : p == 0 ? t : p - 1;
}

/* Start reading tile p of the row, if there is one. */
template <class T, int R>
__device__ inline void ahead(stage<T, R> *sh, const problem<T> &P, int t, int p, bool last)
{
    if (p <= t)
        fetch_tile(sh->tile[p % stage<T, R>::RING],
                   P.tile + tile_number(t, tile_of_step(t, p, last)) * TILE_SIZE);
    __pipeline_commit();
}

/* b_t into shared memory, zero where there is none. */
template <class T, int R> __device__ inline void load_b(T *x, const problem<T> &P, int t)
{
    for (int e = threadIdx.x; e < BLOCK * R; e += BLOCK_THREADS) {
        const int64_t i = (int64_t)t * BLOCK + e / R;
        const int r = e % R;
        x[e] = i < P.n && r < P.nrhs ? P.b(i, r) : number<T>(0);
    }
}

/* x_t to those who wait for it, then to the caller; and its place in the other copy emptied. */
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
    const int64_t old = (int64_t)BLOCK * P.state->width[1 - now];
    T *other = P.copy + (1 - now) * P.copy_size + t * old;
    for (int64_t e = threadIdx.x; e < old; e += BLOCK_THREADS) flag_clear(other + e);
}

template <class T, int R>
static __device__ void solve_rows(stage<T, R> *sh, const problem<T> &P, int t, unsigned now)
{
    constexpr int RING = stage<T, R>::RING;
    const bool last = P.substituted[t]; /* the diagonal comes last, to be substituted */
    const T *x = P.copy + now * P.copy_size;
    T sum[share<R>::COLUMNS], v[MINE<R>];
    const auto x_of = [=](int p) {
        const T *from = x + (int64_t)tile_of_step(t, p, last) * BLOCK * R;
        return [=](int e) { return from + e; };
    };
    for (int c = 0; c < share<R>::COLUMNS; c++) sum[c] = number<T>(0);
    for (int p = 0; p < RING - 1; p++) ahead(sh, P, t, p, last);
    for (int p = 0; p < GROUPS<R> && p <= t; p++)
        if (looks_after<R>(p) && tile_of_step(t, p, last) < t) look<T, R>(v, BLOCK * R, x_of(p));
    for (int p = 0; p <= t; p++) {
        const int s = tile_of_step(t, p, last), next = p + GROUPS<R>;
        T *xs = sh->x[p & 1];
        if (s == t) load_b<T, R>(xs, P, t);
        else if (looks_after<R>(p)) collect<T, R>(xs, v, x_of(p));
        __pipeline_wait_prior(RING - 2);
        __syncthreads(); /* tile and x_s are there, and everybody is done with the tile before */
        ahead(sh, P, t, p + RING - 1, last);
        if (last && s == t) break;
        if (looks_after<R>(p) && next <= t && tile_of_step(t, next, last) < t)
            look<T, R>(v, BLOCK * R, x_of(next));
        add_product<T, R>(sum, sh->tile[p % RING], xs, s != t, P.cj);
    }
    join_lanes<T, R>(sum);
    if (last) {
        const share<R> me;
        T *b = sh->x[t & 1], *scratch = sh->x[1 - (t & 1)];
        for (int c = 0; c < share<R>::COLUMNS; c++) sum[c] = b[me.row * R + me.first + c] + sum[c];
        substitute<T, R>(sum, sh->tile[t % RING], BLOCK, scratch, P.cj);
    }
    deliver<T, R>(sum, P, t, now);
}

template <class T, int R>
static __global__ void __launch_bounds__(BLOCK_THREADS) solve_kernel(const problem<T> P)
{
    stage<T, R> *sh = (stage<T, R> *)shared_numbers<T>();
    const unsigned now = P.state->now;
    for (;;) {
        if (threadIdx.x == 0) sh->t = (int)atomicAdd(&P.state->ticket, 1u);
        __syncthreads();
        const int t = sh->t;
        if (t >= P.nt) break;
        delay();
        solve_rows<T, R>(sh, P, t, now);
        __pipeline_wait_prior(0);
        __syncthreads(); /* before the ring and t are used again */
    }
    finish<R>(P.state, now);
}

/* ---- update ---------------------------------------------------------------------------------------- */

/* A block a row; the rows past n are those of the identity. */
template <class T>
static __global__ void fill_kernel(int64_t n, const int64_t *Lp, const int32_t *Li, const T *Lx,
                                   T *tile)
{
    const int64_t i = blockIdx.x, t = i / BLOCK;
    if (i >= n) {
        if (threadIdx.x == 0)
            tile[tile_number(t, t) * TILE_SIZE + tile_place(i % BLOCK, i % BLOCK)] = number<T>(1);
        return;
    }
    for (int64_t p = Lp[i] + threadIdx.x; p < Lp[i + 1]; p += blockDim.x)
        tile[tile_number(t, Li[p] / BLOCK) * TILE_SIZE + tile_place(i % BLOCK, Li[p] % BLOCK)] =
            Lx[p];
}

/* A block a diagonal tile. */
template <class T> static __global__ void invert_kernel(T *tile, int *substituted)
{
    two_tiles<T> *sh = (two_tiles<T> *)shared_numbers<T>();
    T *D = tile + tile_number(blockIdx.x, blockIdx.x) * TILE_SIZE;
    for (int e = threadIdx.x; e < TILE_SIZE; e += BLOCK_THREADS) {
        sh->a[e] = D[e];
        sh->b[e] = number<T>(0);
    }
    __syncthreads();
    const bool good = invert(sh->a, sh->b, sh->norm, BLOCK) <= WORST<T>; /* a NaN is not */
    for (int e = threadIdx.x; e < TILE_SIZE && good; e += BLOCK_THREADS) D[e] = sh->b[e];
    if (threadIdx.x == 0) substituted[blockIdx.x] = !good;
}

/* A block a tile left of the diagonal: S_ts = D_t^-1 L_ts, the columns of L_ts as right-hand sides. */
template <class T>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    scale_kernel(T *tile, const int *substituted)
{
    const int s = blockIdx.x, t = blockIdx.y;
    if (s >= t || substituted[t]) return;
    two_tiles<T> *sh = (two_tiles<T> *)shared_numbers<T>();
    const T *D = tile + tile_number(t, t) * TILE_SIZE;
    T *L = tile + tile_number(t, s) * TILE_SIZE;
    for (int e = threadIdx.x; e < TILE_SIZE; e += BLOCK_THREADS) {
        const int i = e % BLOCK_THREADS / 4, k = e / BLOCK_THREADS * 4 + e % 4;
        sh->a[e] = D[e];
        sh->b[i * BLOCK + k] = L[e];
    }
    __syncthreads();
    const share<BLOCK> me;
    T sum[share<BLOCK>::COLUMNS];
    for (int c = 0; c < share<BLOCK>::COLUMNS; c++) sum[c] = number<T>(0);
    add_product<T, BLOCK>(sum, sh->a, sh->b, false, false);
    for (int c = 0; c < share<BLOCK>::COLUMNS; c++) L[tile_place(me.row, me.first + c)] = sum[c];
}

/* ---- the host side ----------------------------------------------------------------------------------- */

static int blocks_of_rows(int64_t n)
{
    return (int)((n + BLOCK - 1) / BLOCK);
}

static void release(trs_part *part)
{
    blocked *d = (blocked *)part->data;
    trs_gpu_free(part->ctx, d->tile);
    trs_gpu_free(part->ctx, d->substituted);
    trs_free(&part->ctx->mem, d);
}

static int analyse(trs_part *part)
{
    trs_context *ctx = part->ctx;
    const trs_tri *L = &part->side->tri;
    blocked *d = (blocked *)trs_alloc_zero(&ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(ctx, TRS_EMEM, "out of memory");
    part->data = d;
    d->nt = blocks_of_rows(L->n);
    d->tile = trs_gpu_new(ctx, tile_number(d->nt, 0) * TILE_SIZE, trs_size(L->dtype), "the tiles");
    if (d->tile) d->substituted = (int *)trs_gpu_new(ctx, d->nt, sizeof(int), "flags of the tiles");
    return d->substituted ? TRS_OK : TRS_EMEM;
}

template <class T> static int fill_tiles(const trs_part *part, const T *val, cudaStream_t stream)
{
    const blocked *d = (const blocked *)part->data;
    const trs_direct *L = &part->side->direct;
    const size_t bytes = sizeof(two_tiles<T>);
    T *tile = (T *)d->tile;
    if (cudaMemsetAsync(tile, 0, (size_t)tile_number(d->nt, 0) * TILE_SIZE * sizeof(T), stream) !=
            cudaSuccess ||
        allow(invert_kernel<T>, bytes) != cudaSuccess ||
        allow(scale_kernel<T>, bytes) != cudaSuccess)
        return TRS_EDEVICE;
    fill_kernel<T><<<(unsigned)d->nt * BLOCK, 128, 0, stream>>>(
        part->side->tri.n, (const int64_t *)L->ptr, (const int32_t *)L->idx, val, tile);
    invert_kernel<T><<<(unsigned)d->nt, BLOCK_THREADS, bytes, stream>>>(tile, d->substituted);
    scale_kernel<T><<<dim3((unsigned)d->nt, (unsigned)d->nt), BLOCK_THREADS, bytes, stream>>>(
        tile, d->substituted);
    return launched();
}

static int update_direct(trs_part *part, const void *val, void *stream)
{
    const trs_tri *L = &part->side->tri;
    if (L->n == 0) return TRS_OK;
    return for_type(L->dtype, [&](auto zero) {
        using T = decltype(zero);
        return fill_tiles<T>(part, (const T *)val, (cudaStream_t)stream);
    });
}

template <class T> static int grids(blocked_work *w, int nt)
{
    int rc = TRS_OK;
    for (int nrhs = 1; nrhs <= 64 && !rc; nrhs *= 2)
        rc = for_width<T>(nrhs, [&](auto width, int k) {
            constexpr int R = decltype(width)::value;
            const size_t bytes = sizeof(stage<T, R>);
            if (allow(solve_kernel<T, R>, bytes) != cudaSuccess) return TRS_EDEVICE;
            w->grid[k] =
                waiting_blocks((const void *)solve_kernel<T, R>, BLOCK_THREADS, bytes, max(nt, 1));
            return w->grid[k] > 0 ? TRS_OK : TRS_EDEVICE;
        });
    return rc;
}

static void work_destroy(const trs_part *part, void *work)
{
    blocked_work *w = (blocked_work *)work;
    trs_gpu_free(part->ctx, w->state);
    trs_gpu_free(part->ctx, w->copy);
    trs_free(&part->ctx->mem, w);
}

/* Both copies EMPTY, turn 0. */
static int work_start(blocked_work *w, trs_context *ctx, size_t size)
{
    const size_t bytes = 2 * (size_t)w->copy_size * size;
    w->state = (turn *)trs_gpu_new(ctx, 1, sizeof *w->state, "the state of a solve");
    if (w->state) w->copy = trs_gpu_new(ctx, (int64_t)bytes, 1, "published x");
    if (!w->copy) return TRS_EMEM;
    if (cudaMemset(w->state, 0, sizeof *w->state) != cudaSuccess ||
        cudaMemset(w->copy, 0xff, bytes) != cudaSuccess)
        return trs_fail(ctx, TRS_EDEVICE, "cudaMemset");
    return trs_gpu_wait(NULL);
}

static int work_create(const trs_part *part, trs_context *ctx, int nrhs, void **work)
{
    const int nt = ((const blocked *)part->data)->nt;
    blocked_work *w = (blocked_work *)trs_alloc_zero(&ctx->mem, 1, sizeof *w);
    *work = w;
    if (!w) return trs_fail(ctx, TRS_EMEM, "out of memory");
    return for_type(part->side->tri.dtype, [&](auto zero) {
        using T = decltype(zero);
        w->most = for_width<T>(nrhs, [](auto width, int) { return decltype(width)::value; });
        w->copy_size = (int64_t)nt * BLOCK * w->most;
        int rc = grids<T>(w, nt);
        if (rc) return trs_fail(ctx, rc, "dense-blocked needs more shared memory than there is");
        return work_start(w, ctx, sizeof(T));
    });
}

template <class T> static int solve_columns(const trs_part *part, const trs_job *job)
{
    const blocked *d = (const blocked *)part->data;
    const blocked_work *w = (const blocked_work *)job->work;
    problem<T> P = {.n = part->side->tri.n, .nt = d->nt, .tile = (const T *)d->tile};
    P.substituted = d->substituted;
    P.cj = job->conj;
    P.state = w->state;
    P.copy = (T *)w->copy;
    P.copy_size = w->copy_size;
    for (int r = 0; r < job->nrhs; r += w->most) {
        P.nrhs = min(job->nrhs - r, w->most);
        P.b = from_column(typed<T>(job->b), r);
        P.x = from_column(typed<T>(job->x), r);
        for_width<T>(P.nrhs, [&](auto width, int k) {
            constexpr int R = decltype(width)::value;
            solve_kernel<T, R><<<(unsigned)w->grid[k], BLOCK_THREADS, sizeof(stage<T, R>),
                                 (cudaStream_t)job->stream>>>(P);
            return 0;
        });
    }
    return launched();
}

static int solve(const trs_part *part, const trs_job *job)
{
    return for_type(part->side->tri.dtype,
                    [&](auto zero) { return solve_columns<decltype(zero)>(part, job); });
}

static void cost(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    c->bytes = 0.5 * (double)s->n * (double)s->n * s->elem * m->gpu_byte;
    c->sync = m->gpu_launch;
    c->hops = blocks_of_rows(s->n) * (0.8e-6 + 0.04e-6 * s->nrhs);
}

/* A block that is not inverted takes a step a row. */
static void cost_now(const trs_part *part, const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    const blocked *d = (const blocked *)part->data;
    cost(s, m, c);
    c->hops += (double)count_flags(part->ctx, d->substituted, d->nt) * SUBSTITUTED;
}

static int64_t bytes(const trs_shape *s)
{
    return tile_number(blocks_of_rows(s->n), 0) * TILE_SIZE * (int64_t)s->elem +
           s->nnz * (int64_t)(s->elem + 4) + 8 * (s->n + 1);
}

const trs_solver trs_solver_dense_blocked = {
    .name = "dense-blocked",
    .about = "full triangle in 64x64 tiles, diagonal ones inverted, one kernel",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .full = true,
    .pattern = true,
    .direct = true,
    .cost = cost,
    .cost_now = cost_now,
    .bytes = bytes,
    .analyse = analyse,
    .update_direct = update_direct,
    .solve = solve,
    .release = release,
    .work_create = work_create,
    .work_destroy = work_destroy,
};
