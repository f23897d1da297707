/* dense_blocked.cu: one kernel a solve on a triangle cut into tiles of 64x64, for 1 .. 64 right-hand sides.
 *
 *     D = the diagonal block of 4 rows of tiles f .. f+3 (a group), M = D^-1
 *     update:  M_ts, f <= s <= t;  S_ts = sum of M_tu L_us, f <= u <= t, for s < f
 *     solve:   x_t = sum of M_ts b_s, f <= s <= t  -  sum, s < f ascending, of S_ts x_s
 *
 * Scaling the rows by the inverse takes D out of the dependent path: a step is a product for 256 unknowns, and
 * the rows of a group do not wait for one another.  Where M grows too much (blocks.cuh: invert) the group is
 * apart: each row of tiles is a group of its own, and if need be stays as it is and ends in a substitution.
 *
 * A block of 256 threads owns the 64 rows of t.  It reads its tiles once, in order, some ahead of their use: with one
 * right-hand side four in registers, else two or three in shared memory.  x_s comes from the published copy, whose
 * numbers are their own flags (flag.cuh).
 * Cannot hang: t is a ticket, so whoever owns an earlier s has started before and waits only for still
 * earlier ones; how many blocks run at a time does not matter.
 * Two published copies take turns: who publishes x_t in one empties x_t in the other for the next solve.
 * Ticket and turn live in the work space on the device: a solve can be replayed in a graph.
 * Same bits every time: the order of every sum is fixed.  A NaN in b spreads over its group, and what follows.
 * Rows from n to the next multiple of 64 are those of the identity, with b = 0.
 * Bytes elem n^2 / 2.  Bound by n / 256 steps of about TODO us while one SM keeps up with four tiles a step. */
#include "config.h"

#include "blocks.cuh"

enum { GROUP = 4, PAIRS = GROUP * (GROUP - 1) / 2 };

struct blocked {
    int nt;           /* blocks of rows */
    void *tile;       /* [nt*(nt+1)/2] tiles: row t from t(t+1)/2 on, the diagonal last */
    void *joined;     /* [groups][PAIRS] tiles of M left of the diagonal */
    double *weight;   /* [nt*64] sums of magnitudes of a row of D */
    int *substituted; /* [nt] 1: tile row t is L itself */
    int *apart;       /* [groups] 1: rows of tiles wait for those of their group, too */
};

struct blocked_work {
    turn *state;
    void *copy; /* [2][copy_size] published x */
    void *b;    /* [copy_size] */
    int64_t copy_size;
    int most;    /* right-hand sides at a time: 1, 8, 32 or 64 */
    int grid[4]; /* blocks of threads, for each of those */
};

__host__ __device__ inline int64_t tile_number(int64_t t, int64_t s)
{
    return t * (t + 1) / 2 + s;
}

/* Where M_ts is, s < t of one group, among those of all groups. */
__host__ __device__ inline int64_t joined_number(int t, int s)
{
    return (int64_t)(t / GROUP) * PAIRS + tile_number(t % GROUP - 1, s % GROUP);
}

static int groups_of(int nt)
{
    return (nt + GROUP - 1) / GROUP;
}

/* ---- solve ----------------------------------------------------------------------------------------- */

template <class T> struct problem {
    int64_t n;
    int nt, nrhs;
    const T *tile, *joined;
    const int *substituted, *apart;
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
        : t(t), first(p.apart[t / GROUP] ? t : t / GROUP * GROUP), last(p.substituted[t])
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
    return (joined ? P.joined + joined_number(r.t, s) * TILE_SIZE
                   : P.tile + tile_number(r.t, s) * TILE_SIZE);
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

/* The place of x_t in the other copy emptied. */
template <class T> __device__ inline void empty_other(const problem<T> &P, int t, unsigned now)
{
    const int64_t old = (int64_t)BLOCK * P.state->width[1 - now];
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
    if (step <= r.t)
        fetch_tile(sh->tile[step % stage<T, R>::RING], tile_of(P, r, r.tile(step)));
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
    const auto mine = [=](int p) {
        return p <= t && row.tile(p) < row.first && looks_after<R>(p);
    };
    for (int c = 0; c < share<R>::COLUMNS; c++) sum[c] = number<T>(0);
    for (int p = 0; p < RING - 1; p++) ahead(sh, P, row, p);
    for (int p = 0; p < GROUPS<R>; p++)
        if (mine(p)) look<T, R>(v, BLOCK * R, x_of(p));
    for (int p = 0; p <= t; p++) {
        const int s = row.tile(p);
        T *xs = sh->x[p & 1];
        if (s >= row.first) load_b<T, R>(xs, P, s);
        else if (mine(p)) collect<T, R>(xs, v, x_of(p));
        __pipeline_wait_prior(RING - 2);
        __syncthreads(); /* tile and x_s are there, and everybody is done with the tile before */
        ahead(sh, P, row, p + RING - 1);
        if (row.last && s == t) break;
        if (mine(p + GROUPS<R>)) look<T, R>(v, BLOCK * R, x_of(p + GROUPS<R>));
        add_product<T, R>(sum, sh->tile[p % RING], xs, s < row.first, P.cj);
    }
    join_lanes<T, R>(sum);
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

/* What a thread has of a tile: of row threadIdx.x % 64 the columns k with k/4%4 == threadIdx.x / 64, so that all
 * lanes of a warp want the same x. */
template <class T> struct part_of_tile {
    quad<T> v[4];
    __device__ void load(const T *tile)
    {
#pragma unroll
        for (int m = 0; m < 4; m++)
            v[m] = *(const quad<T> *)(tile + 4 * (m * BLOCK_THREADS + threadIdx.x));
    }
    /* sum += it times x [64]. */
    __device__ void multiply(T (&sum)[4], const T *x, bool cj) const
    {
#pragma unroll
        for (int m = 0; m < 4; m++) {
            const quad<T> w = *(const quad<T> *)(x + 16 * m + threadIdx.x / BLOCK * 4);
#pragma unroll
            for (int z = 0; z < 4; z++) sum[z] = sum[z] + conj_if(cj, v[m].v[z]) * w.v[z];
        }
    }
};

template <class T> struct registers { /* and what is in shared memory */
    T x[2][(int)GROUP * BLOCK]; /* b, or -x */
    T part[BLOCK_THREADS / BLOCK][BLOCK];
    alignas(16) T tile[TILE_SIZE]; /* to be substituted */
    int t;
};

template <class T> struct looker { /* for number threadIdx.x of the x of a group */
    const T *x;
    T v;
    __device__ void look(int group)
    {
        v = flag_peek(x + (int64_t)group * GROUP * BLOCK + threadIdx.x);
    }
    __device__ void collect(T *to, int group)
    {
        if (!flag_there(v)) v = flag_wait(x + (int64_t)group * GROUP * BLOCK + threadIdx.x);
        to[threadIdx.x] = number<T>(0) - v;
    }
};

/* The sum of what all threads have, of rows 0..63, in the threads of these numbers. */
template <class T> static __device__ T join_parts(registers<T> *sh, const T (&sum)[4])
{
    const int row = threadIdx.x % BLOCK;
    sh->part[threadIdx.x / BLOCK][row] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    __syncthreads();
    return (sh->part[0][row] + sh->part[1][row]) + (sh->part[2][row] + sh->part[3][row]);
}

/* x_t = L_tt^-1 (b_t + v), in the threads of these numbers. */
template <class T>
static __device__ T substitute_row(registers<T> *sh, const problem<T> &P, const tile_row &row, T v)
{
    T *b = sh->x[0], w[1];
    fetch_tile(sh->tile, tile_of(P, row, row.t));
    __pipeline_commit();
    __syncthreads(); /* everybody is done with x */
    load_b<T, 1>(b, P, row.t);
    __syncthreads();
    if (threadIdx.x < BLOCK) b[threadIdx.x] = b[threadIdx.x] + v;
    __pipeline_wait_prior(0);
    __syncthreads();
    w[0] = b[threadIdx.x / 4];
    substitute<T, 1>(w, sh->tile, BLOCK, sh->x[1], P.cj);
    return sh->x[1][threadIdx.x % BLOCK];
}

template <class T>
static __device__ void solve_row(registers<T> *sh, const problem<T> &P, int t, unsigned now)
{
    const tile_row row(P, t);
    const int group = t / GROUP, f = group * GROUP, with_b = row.last ? 0 : t - row.first + 1;
    looker<T> x = {P.copy + now * P.copy_size, number<T>(0)};
    part_of_tile<T> a[GROUP];
    T sum[4];
    for (int z = 0; z < 4; z++) sum[z] = number<T>(0);
#pragma unroll
    for (int k = 0; k < GROUP; k++)
        if (k < with_b) a[k].load(tile_of(P, row, row.first + k));
    load_b<T, 1>(sh->x[1], P, row.first, GROUP * BLOCK);
    if (group > 0) x.look(0);
    __syncthreads();
    /* With q = -1 the tiles of b, with group those that wait for rows of their own group. */
    for (int q = -1;; q++) {
        const T *xs = sh->x[q & 1];
        const int count = q < 0 ? with_b : GROUP, next = (q + 1) * GROUP;
        const int ahead = q + 1 < group ? GROUP : row.first - next;
#pragma unroll
        for (int k = 0; k < GROUP; k++) {
            if (k < count) a[k].multiply(sum, xs + k * BLOCK, P.cj);
            if (k < ahead) a[k].load(P.tile + tile_number(t, next + k) * TILE_SIZE);
        }
        if (q + 1 >= group) break;
        x.collect(sh->x[(q + 1) & 1], q + 1);
        if (q + 2 < group) x.look(q + 2);
        __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < GROUP - 1; k++)
        if (f + k < row.first) {
            T *xs = sh->x[k & 1];
            __syncthreads();
            if (threadIdx.x < BLOCK)
                xs[threadIdx.x] =
                    number<T>(0) - flag_wait(x.x + (int64_t)(f + k) * BLOCK + threadIdx.x);
            __syncthreads();
            a[k].multiply(sum, xs, P.cj);
        }
    T v = join_parts(sh, sum);
    if (row.last) v = substitute_row(sh, P, row, v);
    const int64_t i = (int64_t)t * BLOCK + threadIdx.x;
    if (threadIdx.x >= BLOCK) return;
    flag_store(P.copy + now * P.copy_size + i, v);
    if (i < P.n) P.x(i, 0) = v;
}

/* ---- the kernel ---- */

/* What a block keeps in shared memory: of double precision complex numbers four tiles have no room in registers. */
template <class T, int R>
using memory = std::conditional_t<R == 1 && sizeof(T) <= 8, registers<T>, stage<T, R>>;

template <class T, int R>
static __global__ void __launch_bounds__(BLOCK_THREADS) solve_kernel(const problem<T> P)
{
    auto *sh = (memory<T, R> *)shared_numbers<T>();
    const unsigned now = P.state->now;
    for (;;) {
        if (threadIdx.x == 0) sh->t = (int)atomicAdd(&P.state->ticket, 1u);
        __syncthreads();
        const int t = sh->t;
        if (t >= P.nt) break;
        delay();
        solve_row(sh, P, t, now);
        empty_other(P, t, now);
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

/* The sums of magnitudes of the rows of D: a block a row of tiles. */
template <class T> static __global__ void weigh_kernel(const T *tile, double *weight)
{
    const int t = blockIdx.x, first = t / GROUP * GROUP;
    double sum = 0;
    for (int s = first; s <= t; s++)
        for (int k = 0; k < TILE_SIZE; k += BLOCK_THREADS)
            sum += magnitude(tile[tile_number(t, s) * TILE_SIZE + k + threadIdx.x]);
    sum += from_lane(sum, 1);
    sum += from_lane(sum, 2);
    if (threadIdx.x % 4 == 0) weight[(int64_t)t * BLOCK + threadIdx.x / 4] = sum;
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

template <class T> using columns = T[share<BLOCK>::COLUMNS]; /* of a tile, of row threadIdx.x % 64 */

/* sum += a b, both tiles. */
template <class T>
static __device__ void add_tiles(two_tiles<T> *sh, columns<T> &sum, const T *a, const T *b)
{
    __syncthreads();
    for (int e = threadIdx.x; e < TILE_SIZE; e += BLOCK_THREADS) {
        const int i = e % BLOCK_THREADS / 4, k = e / BLOCK_THREADS * 4 + e % 4;
        sh->a[e] = a[e];
        sh->b[i * BLOCK + k] = b[e];
    }
    __syncthreads();
    add_product<T, BLOCK>(sum, sh->a, sh->b, false, false);
}

template <class T> static __device__ void clear(columns<T> &sum)
{
    for (int c = 0; c < share<BLOCK>::COLUMNS; c++) sum[c] = number<T>(0);
}

template <class T> static __device__ void store_tile(T *to, const columns<T> &sum, bool minus)
{
    const share<BLOCK> me;
    for (int c = 0; c < share<BLOCK>::COLUMNS; c++)
        to[tile_place(me.row, me.first + c)] = minus ? number<T>(0) - sum[c] : sum[c];
}

/* The largest of what the threads have; a NaN is larger than any number. */
static __device__ double largest_of_block(double *scratch, double v)
{
    __syncthreads();
    scratch[threadIdx.x] = v;
    __syncthreads();
    for (int k = 0; k < BLOCK_THREADS; k++)
        v = scratch[k] > v || isnan(scratch[k]) ? scratch[k] : v;
    return v;
}

/* Row t of M: M_ts = -D_t^-1 (sum of L_tu M_us, s <= u < t), where M_ss = D_s^-1. */
template <class T>
static __device__ void join_row(two_tiles<T> *sh, const T *tile, T *joined, int t)
{
    const int first = t / GROUP * GROUP;
    columns<T> sum;
    for (int s = first; s < t; s++) {
        T *M = joined + joined_number(t, s) * TILE_SIZE;
        clear<T>(sum);
        for (int u = s; u < t; u++)
            add_tiles<T>(sh, sum, tile + tile_number(t, u) * TILE_SIZE,
                         u > s ? joined + joined_number(u, s) * TILE_SIZE
                               : tile + tile_number(s, s) * TILE_SIZE);
        store_tile<T>(M, sum, true);
        __syncthreads();
        clear<T>(sum);
        add_tiles<T>(sh, sum, tile + tile_number(t, t) * TILE_SIZE, M);
        __syncthreads();
        store_tile<T>(M, sum, false);
        __syncthreads();
    }
}

/* Of row threadIdx.x / 4 of tile row t, on one of four lanes: the row of |M| |D| 1. */
template <class T>
static __device__ double growth_of_row(const T *tile, const T *joined, const double *weight, int t)
{
    double sum = 0;
    for (int s = t / GROUP * GROUP; s <= t; s++) {
        const T *M = s < t ? joined + joined_number(t, s) * TILE_SIZE
                           : tile + tile_number(t, t) * TILE_SIZE;
        for (int k = 0; k < BLOCK; k += 4)
            sum += magnitude(M[k * BLOCK + threadIdx.x]) *
                   weight[(int64_t)s * BLOCK + k + threadIdx.x % 4];
    }
    sum += from_lane(sum, 1);
    return sum + from_lane(sum, 2);
}

/* A block a group: M, unless a row of tiles is to be substituted, and whether it may be used. */
template <class T>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    join_kernel(int nt, const T *tile, const double *weight, const int *substituted, T *joined,
                int *apart)
{
    two_tiles<T> *sh = (two_tiles<T> *)shared_numbers<T>();
    const int first = (int)blockIdx.x * GROUP, end = min(first + GROUP, nt);
    bool good = true;
    double growth = 0;
    for (int t = first; t < end; t++) good = good && !substituted[t];
    for (int t = first + 1; t < end && good; t++) {
        join_row(sh, tile, joined, t);
        const double g = growth_of_row(tile, joined, weight, t);
        growth = g > growth || isnan(g) ? g : growth;
    }
    growth = largest_of_block((double *)sh->b, growth);
    if (threadIdx.x == 0) apart[blockIdx.x] = !(good && growth <= WORST<T>);
}

/* A block a column of tiles s of a group, from the last row on: S_ts = sum of M_tu L_us. */
template <class T>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    scale_kernel(int nt, T *tile, const T *joined, const int *substituted, const int *apart)
{
    const int s = blockIdx.x, group = blockIdx.y, first = group * GROUP;
    const bool alone = apart[group];
    if (s >= first && !alone) return;
    two_tiles<T> *sh = (two_tiles<T> *)shared_numbers<T>();
    columns<T> sum;
    for (int t = min(first + GROUP, nt) - 1; t >= first && t > s; t--) {
        if (substituted[t]) continue;
        clear<T>(sum);
        for (int u = alone ? t : first; u <= t; u++)
            add_tiles<T>(sh, sum,
                         u < t ? joined + joined_number(t, u) * TILE_SIZE
                               : tile + tile_number(t, t) * TILE_SIZE,
                         tile + tile_number(u, s) * TILE_SIZE);
        __syncthreads();
        store_tile<T>(tile + tile_number(t, s) * TILE_SIZE, sum, false);
    }
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
    trs_gpu_free(part->ctx, d->joined);
    trs_gpu_free(part->ctx, d->weight);
    trs_gpu_free(part->ctx, d->substituted);
    trs_gpu_free(part->ctx, d->apart);
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
    const int groups = groups_of(d->nt);
    const size_t size = trs_size(L->dtype);
    d->tile = trs_gpu_new(ctx, tile_number(d->nt, 0) * TILE_SIZE, size, "the tiles");
    d->joined = trs_gpu_new(ctx, (int64_t)groups * PAIRS * TILE_SIZE, size, "tiles of groups");
    d->weight = (double *)trs_gpu_new(ctx, (int64_t)d->nt * BLOCK, sizeof(double), "sums of rows");
    d->substituted = (int *)trs_gpu_new(ctx, d->nt, sizeof(int), "flags of the tiles");
    d->apart = (int *)trs_gpu_new(ctx, groups, sizeof(int), "flags of the groups");
    return d->tile && d->joined && d->weight && d->substituted && d->apart ? TRS_OK : TRS_EMEM;
}

template <class T> static int fill_tiles(const trs_part *part, const T *val, cudaStream_t stream)
{
    const blocked *d = (const blocked *)part->data;
    const trs_direct *L = &part->side->direct;
    const size_t bytes = sizeof(two_tiles<T>);
    T *tile = (T *)d->tile, *joined = (T *)d->joined;
    const unsigned nt = (unsigned)d->nt, groups = (unsigned)groups_of(d->nt);
    if (cudaMemsetAsync(tile, 0, (size_t)tile_number(d->nt, 0) * TILE_SIZE * sizeof(T), stream) !=
            cudaSuccess ||
        allow(invert_kernel<T>, bytes) != cudaSuccess ||
        allow(join_kernel<T>, bytes) != cudaSuccess ||
        allow(scale_kernel<T>, bytes) != cudaSuccess)
        return TRS_EDEVICE;
    fill_kernel<T><<<nt * BLOCK, 128, 0, stream>>>(part->side->tri.n, (const int64_t *)L->ptr,
                                                   (const int32_t *)L->idx, val, tile);
    weigh_kernel<T><<<nt, BLOCK_THREADS, 0, stream>>>(tile, d->weight);
    invert_kernel<T><<<nt, BLOCK_THREADS, bytes, stream>>>(tile, d->substituted);
    join_kernel<T><<<groups, BLOCK_THREADS, bytes, stream>>>(d->nt, tile, d->weight, d->substituted,
                                                             joined, d->apart);
    scale_kernel<T><<<dim3(nt, groups), BLOCK_THREADS, bytes, stream>>>(d->nt, tile, joined,
                                                                        d->substituted, d->apart);
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
            const size_t bytes = sizeof(memory<T, R>);
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
    trs_gpu_free(part->ctx, w->b);
    trs_free(&part->ctx->mem, w);
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
    P.joined = (const T *)d->joined;
    P.substituted = d->substituted;
    P.apart = d->apart;
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
            solve_kernel<T, R><<<(unsigned)w->grid[k], BLOCK_THREADS, sizeof(memory<T, R>),
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
    c->hops = blocks_of_rows(s->n) * ((s->elem > 4 ? 0.7e-6 : 0.55e-6) + 0.04e-6 * s->nrhs);
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
