/* tiles.cu: an update of dense-blocked makes the tiles of tiles.cuh.  Four kernels follow one another in a stream:
 *
 *     kernel  makes                                                            a block of threads has
 *     invert  L_tu of D in tiles, the row sums of |D|, and M_tt = L_tt^-1      a row of tiles
 *             (inverse.cuh), unless it grows too much
 *     join    M_ts = -M_tt (sum of L_tu M_us, s <= u < t)                      32 columns of a panel
 *     split   a flag: the growth of M, the largest row sum of |M| |D|, is      a row of tiles
 *             too large for M to be used
 *     scale   S_ts in the place of L_ts                                        a tile
 *
 * No block waits for another one, and each tile is written by one block a kernel: nothing can hang, and the bits are
 * the same every time.
 *
 * L is read from its rows; the build has found where each tile begins in them.  A tile of S whose rows of L have no
 * entry above it in its panel is zero; these were cleared once, and are never written.  In the others only rows of L
 * that have an entry are multiplied: `scale` makes at most 80 n^2 multiplications, those of a full triangle, and
 * where L has few entries, 160 for each of them.  Bytes: S once, M from the cache. */
#include "config.h"

#include "base/debug.h"
#include "cuda/blocks/block_inverse.cuh"
#include "tiles.cuh"

/* L by rows, and where the entries of each tile are among them. */
template <class T> struct rows_of_l {
    int64_t n;
    int nt;
    const int64_t *ptr;
    const int32_t *idx;
    const T *val;
    const int32_t *begin; /* as in tiles */

    /* The first entry of row i from column 64 s on. */
    __device__ int64_t from(int64_t i, int s) const { return ptr[i] + begin[i * (nt + 1) + s]; }
    /* Has row i an entry in the tiles from column 64 s up to column 64 end? */
    __device__ bool has(int64_t i, int s, int end) const
    {
        const int32_t *at = begin + i * (nt + 1);
        return i < n && at[s] < at[end];
    }
};

/* A thread a row and a column of tiles: begin, by bisection. */
static __global__ void begin_kernel(int64_t n, int nt, const int64_t *Lp, const int32_t *Li,
                                    int32_t *begin)
{
    const int64_t e = index_of_thread(), i = e / (nt + 1);
    const int32_t column = (int32_t)(e % (nt + 1)) * BLOCK;
    if (i >= n) return;
    int64_t a = Lp[i], end = Lp[i + 1];
    while (a < end) {
        const int64_t m = (a + end) / 2;
        if (Li[m] < column) a = m + 1;
        else end = m;
    }
    begin[e] = (int32_t)(a - Lp[i]);
}

/* Tile (t, s) of L, whose entry (i, k) goes to place (i, k) of 64 x 64 numbers in global or shared memory.  Four lanes have
 * a row; rows past n are those of the identity. */
template <class T, class Place>
static __device__ void fill(const rows_of_l<T> &L, int t, int s, T *to, Place place)
{
    const int r = (int)threadIdx.x / 4, lane = (int)threadIdx.x % 4;
    const int64_t i = (int64_t)t * BLOCK + r;
    __syncthreads(); /* what was there has been read */
    for (int e = threadIdx.x; e < TILE_SIZE; e += BLOCK_THREADS) to[e] = number<T>(0);
    __syncthreads();
    if (i >= L.n) {
        if (s == t && lane == 0) to[place(r, r)] = number<T>(1);
    } else {
        const int64_t end = L.from(i, s + 1);
#pragma unroll 4
        for (int64_t p = L.from(i, s) + lane; p < end; p += 4) {
            TRS_ASSERT(L.idx[p] >= s * BLOCK && L.idx[p] <= i);
            to[place(r, L.idx[p] - s * BLOCK)] = L.val[p];
        }
    }
    __syncthreads();
}

__device__ inline int in_tile(int i, int k)
{
    return tile_place(i, k);
}

__device__ inline int by_rows(int i, int k)
{
    return i * BLOCK + k;
}

/* Where the tiles of L, M and S are, and the weights. */
template <class T> struct panel_at {
    T *l, *m;
    double *weights;
    __device__ tile_at<T> tile(int t, int s) const
    {
        return {l + tile_number(t, s) * TILE_SIZE, BLOCK, BLOCK};
    }
    __device__ tile_at<T> joined(int t, int s) const
    {
        return {m + joined_number(t, s) * TILE_SIZE, BLOCK, BLOCK};
    }
    __device__ double *weight(int t) const { return weights + (int64_t)t * BLOCK; }
};

/* The sum of magnitudes of row threadIdx.x / 4 of D in row t of tiles, the same on each of four lanes. */
template <class T> static __device__ double weigh(const rows_of_l<T> &L, int t)
{
    const int64_t i = (int64_t)t * BLOCK + (int)threadIdx.x / 4;
    double sum = i < L.n || threadIdx.x % 4 ? 0 : 1; /* rows of the identity */
    if (i < L.n)
        for (int64_t p = L.from(i, t / PANEL * PANEL) + threadIdx.x % 4; p < L.ptr[i + 1]; p += 4)
            sum += magnitude(L.val[p]);
    sum += shuffle_xor(sum, 1);
    return sum + shuffle_xor(sum, 2);
}

/* A row of tiles: those of D; M_tt, unless L_tt is to be substituted. */
template <class T>
static __global__ void invert_kernel(const rows_of_l<T> L, const panel_at<T> P, int *substituted,
                                     int *split)
{
    two_tiles<T> *sh = (two_tiles<T> *)shared_numbers<T>();
    const int t = blockIdx.x;
    for (int u = t / PANEL * PANEL; u < t; u++) fill(L, t, u, P.tile(t, u).p, in_tile);
    const double sum = weigh(L, t);
    if (threadIdx.x % 4 == 0) P.weight(t)[threadIdx.x / 4] = sum;
    for (int e = threadIdx.x; e < TILE_SIZE; e += BLOCK_THREADS) sh->b[e] = number<T>(0);
    fill(L, t, t, sh->a, in_tile);
    const bool good = invert(sh->a, sh->b, sh->norm, BLOCK) <= WORST<T>; /* a NaN is not */
    const T *from = good ? sh->b : sh->a;
    T *to = P.tile(t, t).p;
    for (int e = threadIdx.x; e < TILE_SIZE; e += BLOCK_THREADS) to[e] = from[e];
    if (threadIdx.x > 0) return;
    substituted[t] = !good;
    if (t % PANEL == 0) split[t / PANEL] = 0;
}

/* None of rows first .. end-1 is to be substituted. */
__device__ inline bool all_inverted(const int *substituted, int first, int end)
{
    bool all = true;
    for (int t = first; t < end; t++) all = all && !substituted[t];
    return all;
}

/* A slice of column s of M in a panel, unless a row of the panel is to be substituted. */
template <class T>
static __global__ void __launch_bounds__(BLOCK_THREADS, TWO_TILES_BESIDE<T>)
    join_kernel(int nt, const panel_at<T> P, const int *substituted)
{
    column_slices<T> *sh = (column_slices<T> *)shared_numbers<T>();
    const int first = (int)blockIdx.y * PANEL, end = min(first + PANEL, nt);
    const int s = first + (int)blockIdx.x / TILE_SLICES<T>, q = (int)blockIdx.x % TILE_SLICES<T>;
    if (s < end && all_inverted(substituted, first, end)) join_slice<T>(sh, P, first, end, s, q);
}

/* May M of a panel be used, as far as row t of tiles tells? */
template <class T>
static __global__ void split_kernel(int nt, const panel_at<T> P, const int *substituted, int *split)
{
    __shared__ double scratch[WARPS];
    const int t = blockIdx.x, first = t / PANEL * PANEL, end = min(first + PANEL, nt);
    bool good = all_inverted(substituted, first, end);
    if (good) good = largest_of_block(scratch, growth_of_row<T>(P, first, t)) <= WORST<T>;
    if (threadIdx.x == 0 && !good) split[t / PANEL] = 1; /* whoever else writes, writes the same */
}

/* The rows of tile (t, s) of L that have an entry, in every thread. */
template <class T> static __device__ uint64_t rows_with_entries(const rows_of_l<T> &L, int t, int s)
{
    const int64_t i = (int64_t)t * BLOCK + (int)threadIdx.x % 32;
    const uint64_t low = __ballot_sync(~0u, L.has(i, s, s + 1));
    return low | (uint64_t)__ballot_sync(~0u, L.has(i + 32, s, s + 1)) << 32;
}

/* What a thread has of a tile: two pairs of rows, and of columns, so that the threads of a warp read neighbours. */
template <class T> struct product_share {
    T v[4][4] = {};
    __device__ static int row(int i) { return i / 2 * 32 + (int)threadIdx.x % 16 * 2 + i % 2; }
    __device__ static int column(int j) { return j / 2 * 32 + (int)threadIdx.x / 16 * 2 + j % 2; }
    /* += column k of a, which stands in shared memory by columns, times row k of b, which stands there by rows */
    __device__ void add(const T *a, const T *b, int k)
    {
        pack<T, 2> l[2], r[2];
        for (int h = 0; h < 2; h++) {
            l[h] = *(const pack<T, 2> *)(a + k * COLUMN_PITCH + row(2 * h));
            r[h] = *(const pack<T, 2> *)(b + k * BLOCK + column(2 * h));
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) v[i][j] = v[i][j] + l[i / 2].v[i % 2] * r[j / 2].v[j % 2];
    }
    __device__ void store(T *tile) const
    {
        for (int e = 0; e < 16; e++) tile[tile_place(row(e / 4), column(e % 4))] = v[e / 4][e % 4];
    }
};

/* S_ts = sum of M_tu L_us, or L_ts itself where row t of tiles is to be substituted.  A tile without an entry of L in the
 * rows of its panel up to t is zero, however the panel is solved. */
template <class T>
static __global__ void __launch_bounds__(BLOCK_THREADS, TWO_TILES_BESIDE<T>)
    scale_kernel(const rows_of_l<T> L, const panel_at<T> P, const int *substituted,
                 const int *split)
{
    const int s = blockIdx.x, t = blockIdx.y, panel = t / PANEL * PANEL;
    const bool alone = split[t / PANEL];
    if (s >= t || (s >= panel && !alone)) return;
    const int64_t i = (int64_t)panel * BLOCK + threadIdx.x;
    if (!__syncthreads_or(i < (int64_t)(t + 1) * BLOCK && L.has(i, s, s + 1))) return;
    two_tiles<T> *sh = (two_tiles<T> *)shared_numbers<T>();
    if (substituted[t]) {
        fill(L, t, s, P.tile(t, s).p, in_tile);
        return;
    }
    product_share<T> sum;
    for (int u = alone ? t : panel; u <= t; u++) {
        uint64_t rows = rows_with_entries(L, u, s);
        if (!rows) continue;
        quarter_row<T> v;
        load_quarter(v, u < t ? P.joined(t, u) : P.tile(t, t));
        fill(L, u, s, sh->b, by_rows);
        put_by_columns<T>(sh->a, v);
        __syncthreads();
        for (; rows; rows &= rows - 1) sum.add(sh->a, sh->b, __ffsll((long long)rows) - 1);
    }
    sum.store(P.tile(t, s).p);
}

/* ---- the host side ----------------------------------------------------------------------------------- */

int tiles_new(trs_context *ctx, int64_t n, trs_dtype t, const trs_device_view *L, tiles *d)
{
    d->nt = rows_of_tiles(n);
    const int panels = panels_of(d->nt);
    const int64_t begins = n * (d->nt + 1), numbers = tile_number(d->nt, 0) * TILE_SIZE;
    const size_t size = trs_size(t);
    d->tile = trs_gpu_new(ctx, numbers, size, "the tiles");
    d->joined = trs_gpu_new(ctx, (int64_t)panels * PAIRS * TILE_SIZE, size, "tiles of panels");
    d->weight = device_new<double>(ctx, (int64_t)d->nt * BLOCK, "sums of rows");
    d->begin = device_new<int32_t>(ctx, begins, "where tiles begin");
    d->substituted = device_new<int>(ctx, d->nt, "flags of the tiles");
    d->split = device_new<int>(ctx, panels, "flags of the panels");
    if (!d->tile || !d->joined || !d->weight || !d->begin || !d->substituted || !d->split)
        return TRS_EMEM;
    if (n == 0) return TRS_OK;
    const cudaError_t e = cudaMemsetAsync(d->tile, 0, (size_t)numbers * size, NULL);
    begin_kernel<<<blocks_of(begins), PLAIN>>>(n, d->nt, L->ptr, L->idx, d->begin);
    const int rc = cuda_status(e, "the tiles");
    return rc ? rc : launched();
}

void tiles_free(trs_context *ctx, tiles *d)
{
    device_free(ctx, d->tile, d->joined, d->weight, d->begin, d->substituted, d->split);
}

template <class T>
static int take(const tiles *d, int64_t n, const trs_device_view *view, const T *val,
                cudaStream_t stream)
{
    const size_t bytes = sizeof(two_tiles<T>), slices = sizeof(column_slices<T>);
    const rows_of_l<T> L = {n, d->nt, view->ptr, view->idx, val, d->begin};
    const panel_at<T> P = {(T *)d->tile, (T *)d->joined, d->weight};
    const unsigned nt = (unsigned)d->nt, panels = (unsigned)panels_of(d->nt);
    if (allow_shared(invert_kernel<T>, bytes) || allow_shared(join_kernel<T>, slices) ||
        allow_shared(scale_kernel<T>, bytes))
        return TRS_EDEVICE;
    invert_kernel<T><<<nt, BLOCK_THREADS, bytes, stream>>>(L, P, d->substituted, d->split);
    join_kernel<T><<<dim3((PANEL - 1) * TILE_SLICES<T>, panels), BLOCK_THREADS, slices, stream>>>(
        d->nt, P, d->substituted);
    split_kernel<T><<<nt, BLOCK_THREADS, 0, stream>>>(d->nt, P, d->substituted, d->split);
    scale_kernel<T><<<dim3(nt, nt), BLOCK_THREADS, bytes, stream>>>(L, P, d->substituted, d->split);
    return launched();
}

int tiles_take(const tiles *d, int64_t n, const trs_device_view *L, trs_dtype t, const void *val,
               cudaStream_t stream)
{
    if (n == 0) return TRS_OK;
    return for_type(t, [&]<class T>(T) { return take<T>(d, n, L, (const T *)val, stream); });
}

int64_t tiles_bytes(int64_t n, int64_t elem)
{
    const int64_t nt = rows_of_tiles(n), panels = panels_of((int)nt);
    return (tile_number(nt, 0) + panels * PAIRS) * TILE_SIZE * elem + nt * (BLOCK * 8 + 4) +
           4 * n * (nt + 1) + panels * 4;
}
