/* update.cu: new values into the store: diagonal blocks inverted, what follows them scaled.
 *
 *     fill     L into the stages
 *     weigh    row sums of |D| of panels, for the growth
 *     invert   M_tt = L_tt^-1 of every block (blocks.cuh: invert), unless it grows too much;
 *              S_t = M_tt L (t, its latest columns), of wide blocks that are in no panel
 *     join     M_ts of a panel (panel.cuh); its growth, the largest row sum of |M| |D|: may it be used?
 *     scale    S_ts of a panel
 *     refill   L again for M_ts and S_ts where the panel is split
 *
 * A block of threads a stage, a block of rows, a panel, or one of its latest blocks; none waits for another, since each
 * kernel reads what the one before has written.  Bytes: the store is written once; what is inverted or scaled is read and
 * written again.  Bound by the longest paths: in `fill` a search in a row of L for each number of the store, in `invert`
 * 64 threads, a column each, in `join` a panel, tile after tile. */
#include "config.h"

#include "cuda/blocks/panel.cuh"
#include "supernodal.cuh"

/* Row i of L, column j; zero where nothing is stored. */
template <class T>
__device__ inline T entry(const int64_t *Lp, const int32_t *Li, const T *Lx, int32_t i, int32_t j)
{
    int64_t a = Lp[i], e = Lp[i + 1];
    while (a < e) {
        const int64_t m = (a + e) / 2;
        if (Li[m] < j) a = m + 1;
        else e = m;
    }
    return a < Lp[i + 1] && Li[a] == j ? Lx[a] : number<T>(0);
}

/* What an update goes by. */
template <class T> struct source {
    const trs_block *block;
    const trs_stage *stage;
    const int32_t *column;
    const int64_t *Lp; /* L by rows */
    const int32_t *Li;
    const T *Lx;
};

/* The entries of L into a stage; row [64] in shared memory: which row of the block each of its rows is. */
template <class T>
static __device__ void fill_stage(const source<T> &L, const trs_stage &s, T *store, int *row)
{
    const int rows = __popcll(s.rows), width = (s.columns + 3) / 4 * 4,
              first = L.block[s.block].first;
    __syncthreads();
    for (int i = threadIdx.x; i < BLOCK; i += blockDim.x)
        if (s.rows >> i & 1) row[__popcll(s.rows & ((1ull << i) - 1))] = i;
    __syncthreads();
    for (int e = threadIdx.x; e < rows * width; e += blockDim.x) {
        const int i = e / 4 % rows, k = e / 4 / rows * 4 + e % 4;
        store[s.place + e] = k < s.columns
                                 ? entry(L.Lp, L.Li, L.Lx, first + row[i], L.column[s.first + k])
                                 : number<T>(0);
    }
}

/* A block of threads a stage. */
template <class T> static __global__ void fill_kernel(const source<T> L, T *store)
{
    __shared__ int row[BLOCK];
    fill_stage(L, L.stage[blockIdx.x], store, row);
}

/* sum = inverse * stage, this thread's share: the columns of the stage as right-hand sides; a, a tile in shared
 * memory, is scratch.  False: it overflows. */
template <class T>
__device__ inline bool scale(T (&sum)[share<BLOCK>::COLUMNS], const T *inverse, const T *stage,
                             int rows, int columns, T *a)
{
    for (int e = threadIdx.x; e < TILE_SIZE; e += BLOCK_THREADS) {
        const int i = e / BLOCK, c = e % BLOCK;
        a[e] = i < rows && c < columns ? stage[tile_place(i, c, rows)] : number<T>(0);
    }
    __syncthreads();
    add_product<T, BLOCK>(sum, inverse, a, false, false);
    bool finite = true;
    for (int c = 0; c < share<BLOCK>::COLUMNS; c++) finite = finite && is_finite(sum[c]);
    return __syncthreads_and(finite);
}

/* A block of threads a block of rows: its diagonal tile inverted, and its latest stage scaled with it. */
template <class T>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    invert_kernel(const trs_block *block, const trs_stage *stage, T *store, int *substituted)
{
    two_tiles<T> *sh = (two_tiles<T> *)shared_numbers<T>();
    const trs_block k = block[blockIdx.x];
    T *M = store + stage[k.diagonal].place; /* L_tt before */
    const int width = (k.rows + 3) / 4 * 4;
    for (int e = threadIdx.x; e < TILE_SIZE; e += BLOCK_THREADS) sh->b[e] = number<T>(0);
    for (int e = threadIdx.x; e < k.rows * width; e += BLOCK_THREADS)
        sh->a[tile_place(e / 4 % k.rows, e / 4 / k.rows * 4 + e % 4)] = M[e];
    __syncthreads();
    bool good = invert(sh->a, sh->b, sh->norm, k.rows) <= WORST<T>; /* a NaN is not */
    const bool scales = good && k.members == 1 && k.diagonal + 1 < k.stage + k.stages;
    const trs_stage s = stage[scales ? k.diagonal + 1 : k.diagonal];
    T sum[share<BLOCK>::COLUMNS];
    for (int c = 0; c < share<BLOCK>::COLUMNS; c++) sum[c] = number<T>(0);
    if (scales) good = scale(sum, sh->b, store + s.place, k.rows, s.columns, sh->a);
    if (threadIdx.x == 0) substituted[blockIdx.x] = !good;
    if (!good) return;
    for (int e = threadIdx.x; e < k.rows * width; e += BLOCK_THREADS)
        M[e] = sh->b[tile_place(e / 4 % k.rows, e / 4 / k.rows * 4 + e % 4)];
    const share<BLOCK> me;
    for (int c = 0; c < share<BLOCK>::COLUMNS && scales; c++)
        if (me.row < k.rows && me.first + c < s.columns)
            store[s.place + tile_place(me.row, me.first + c, k.rows)] = sum[c];
}

/* ---- panels ------------------------------------------------------------------------------------ */

/* Where the tiles of D and S are: block u of the panel, or the latest block number s - END. */
template <class T> struct panel_in_store {
    enum { END = 1 << 30 };
    const trs_block *block;
    const trs_stage *stage;
    T *store;
    double *weights;
    __device__ tile_at<T> tile(int t, int s) const
    {
        const int from = block[t].diagonal;
        const trs_stage &g = stage[s >= END ? from + 1 + s - END : from - (t - s)];
        return {store + g.place, block[t].rows, g.columns};
    }
    __device__ tile_at<T> joined(int t, int s) const { return tile(t, s); }
    __device__ double *weight(int t) const { return weights + block[t].first; }
    __device__ int latest(int t) const
    {
        return block[t].stage + block[t].stages - block[t].diagonal - 1;
    }
};

/* A block of threads a row of blocks of a panel. */
template <class T>
static __global__ void weigh_kernel(const panel_in_store<T> P, const int32_t *panel)
{
    const int first = panel[blockIdx.x], t = first + (int)blockIdx.y;
    if ((int)blockIdx.y >= P.block[first].members) return;
    const double sum = weigh_row<T>(P, first, t);
    if (threadIdx.x % 4 == 0 && (int)threadIdx.x / 4 < P.block[t].rows)
        P.weight(t)[threadIdx.x / 4] = sum;
}

enum { GROWS = 1, OVERFLOWS = 2 }; /* why a panel is split: of M, or of one of its blocks; of S */

/* A block of threads a panel: M, unless a block is to be substituted, and whether it may be used. */
template <class T>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    join_kernel(const panel_in_store<T> P, const int32_t *panel, const int *substituted, int *split)
{
    two_tiles<T> *sh = (two_tiles<T> *)shared_numbers<T>();
    const int first = panel[blockIdx.x], end = first + P.block[first].members;
    bool good = true;
    for (int t = first; t < end; t++) good = good && !substituted[t];
    for (int t = first + 1; t < end && good; t++) /* L_ts is where M_ts goes: row by row */
        for (int s = first; s < t; s++) join_tile<T>(sh, P, t, s);
    good = good && growth_of<T>(sh, P, first, end) <= WORST<T>; /* a NaN is not */
    if (threadIdx.x == 0) split[first] = good ? 0 : GROWS;
}

/* S: a block of threads for each of the latest blocks of a panel, while others may find that theirs overflows. */
template <class T>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    scale_kernel(const panel_in_store<T> P, const int32_t *panel, int *split)
{
    two_tiles<T> *sh = (two_tiles<T> *)shared_numbers<T>();
    const int first = panel[blockIdx.x], s = blockIdx.y;
    if ((split[first] & GROWS) || s >= P.latest(first)) return;
    bool finite = true;
    for (int t = first + P.block[first].members - 1; t >= first; t--)
        finite = scale_tile<T>(sh, P, first, t, panel_in_store<T>::END + s) && finite;
    if (!finite) atomicOr(&split[first], (int)OVERFLOWS);
}

/* L again instead of M and S, where these are no good: a block of threads a row of blocks. */
template <class T>
static __global__ void refill_kernel(const source<T> L, const int32_t *panel, T *store,
                                     const int *split)
{
    __shared__ int row[BLOCK];
    const int first = panel[blockIdx.x];
    if (!split[first] || (int)blockIdx.y >= L.block[first].members) return;
    const trs_block k = L.block[first + blockIdx.y];
    for (int g = k.diagonal - k.member; g < k.stage + k.stages; g++)
        if (g != k.diagonal) fill_stage(L, L.stage[g], store, row);
}

template <class T>
static int take(const supernodal *d, const trs_device_view *direct, const T *val,
                cudaStream_t stream)
{
    const size_t bytes = sizeof(two_tiles<T>);
    T *store = (T *)d->store;
    const source<T> L = {
        d->block, d->stage, d->column, (const int64_t *)direct->ptr, (const int32_t *)direct->idx,
        val};
    const panel_in_store<T> P = {d->block, d->stage, store, d->weight};
    if (allow(invert_kernel<T>, bytes) != cudaSuccess ||
        allow(join_kernel<T>, bytes) != cudaSuccess || allow(scale_kernel<T>, bytes) != cudaSuccess)
        return TRS_EDEVICE;
    fill_kernel<T><<<(unsigned)d->s.stages, 128, 0, stream>>>(L, store);
    const unsigned panels = (unsigned)d->s.panels;
    const dim3 rows(panels, TRS_PANEL), latest(panels, TRS_LATEST);
    if (panels) weigh_kernel<T><<<rows, BLOCK_THREADS, 0, stream>>>(P, d->panel);
    invert_kernel<T><<<(unsigned)d->s.blocks, BLOCK_THREADS, bytes, stream>>>(
        d->block, d->stage, store, d->substituted);
    if (panels) {
        join_kernel<T>
            <<<panels, BLOCK_THREADS, bytes, stream>>>(P, d->panel, d->substituted, d->split);
        scale_kernel<T><<<latest, BLOCK_THREADS, bytes, stream>>>(P, d->panel, d->split);
        refill_kernel<T><<<rows, 128, 0, stream>>>(L, d->panel, store, d->split);
    }
    return launched();
}

int supernodal_take(const supernodal *d, const trs_device_view *L, trs_dtype t, const void *val,
                    cudaStream_t stream)
{
    if (d->s.blocks == 0) return TRS_OK;
    return for_type(t, [&](auto zero) {
        using T = decltype(zero);
        return take<T>(d, L, (const T *)val, stream);
    });
}
