/* update.cu: new values into the packed panels: diagonal blocks inverted, late panels scaled.
 *
 *     fill     L into all panels
 *     weigh    row sums of |D| of chains, for the growth of their inverses
 *     invert   M_tt = L_tt^-1 of every supernode (inverse.cuh), unless it grows too much;
 *              S_t = M_tt L (t, late columns) of large supernodes that are in no chain
 *     join     M_ts of a chain (block_inverse.cuh): may it be used?
 *     scale    S_ts of a chain
 *     refill   L again for M_ts and S_ts of chains that are split
 *
 * Why growth: with M the residual of x is bounded by the unit roundoff times |D| |M| |D| |x|, and by substitution, times
 * |D| |x| (Higham, "Accuracy and Stability of Numerical Algorithms", chapters 8 and 14).  For x of equal size, e, the growth
 *
 *     max (|D| |M| |D| e)(i) / (|D| e)(i)        which is never more than        max (|M| |D| e)(i)
 *
 * says how much worse M is.  The second one is at hand first, and bounds the error of x; but where a factor has small
 * diagonal entries, as U of a matrix with unknowns of many sizes does, it is large for substitution as well, whose error has
 * the same bound.  So M may be used where either is small.
 *
 * A thread block has a panel, a supernode, a chain, or one of a chain's late panels; none waits for another, since
 * each kernel reads what the one before has written.  Bytes: stored entries are written once; what is inverted or
 * scaled is read and written again.  Bound by the longest paths: in `fill` a search in a row of L for each stored
 * entry, unless the plan has to refresh and keeps the places, 4 bytes each; in `invert` 64 threads, a column each, in `join` a chain, tile after tile. */
#include "config.h"

#include "cuda/blocks/block_inverse.cuh"
#include "supernodal.cuh"

/* The place of row i of L, column j; -1: nothing is stored. */
static __device__ inline int64_t find(const int64_t *Lp, const int32_t *Li, int32_t i, int32_t j)
{
    int64_t a = Lp[i], e = Lp[i + 1];
    while (a < e) {
        const int64_t m = (a + e) / 2;
        if (Li[m] < j) a = m + 1;
        else e = m;
    }
    return a < Lp[i + 1] && Li[a] == j ? a : -1;
}

/* L by rows, and where its entries go. */
template <class T> struct values_of {
    const trs_supernode *supernode;
    const trs_panel *panel;
    const int32_t *column;
    const int64_t *Lp;
    const int32_t *Li;
    const T *Lx;
};

/* put (e, p) for the entries e of a panel, counted in all of them, which are entries p of L, -1: zero.  row [64] in shared
 * memory: which row of the supernode each of its rows is. */
template <class T, class Put>
static __device__ void find_entries(const values_of<T> &L, const trs_panel &s, int *row, Put put)
{
    const int rows = __popcll(s.row_mask), width = (s.columns + 3) / 4 * 4,
              first = L.supernode[s.supernode].first;
    TRS_ASSERT(s.offset % 4 == 0 && s.columns > 0 && rows <= BLOCK);
    __syncthreads();
    for (int i = threadIdx.x; i < BLOCK; i += blockDim.x)
        if (s.row_mask >> i & 1) row[__popcll(s.row_mask & ((1ull << i) - 1))] = i;
    __syncthreads();
    for (int e = threadIdx.x; e < rows * width; e += blockDim.x) {
        const int i = e / 4 % rows, k = e / 4 / rows * 4 + e % 4;
        put(s.offset + e,
            k < s.columns ? find(L.Lp, L.Li, first + row[i], L.column[s.column + k]) : -1);
    }
}

/* The entries of L into a panel. */
template <class T>
static __device__ void fill_panel(const values_of<T> &L, const trs_panel &s, T *stored, int *row)
{
    find_entries(L, s, row,
                 [&](int64_t e, int64_t p) { stored[e] = p >= 0 ? L.Lx[p] : number<T>(0); });
}

/* A thread block a panel. */
template <class T> static __global__ void fill_kernel(const values_of<T> L, T *stored)
{
    __shared__ int row[BLOCK];
    fill_panel(L, L.panel[blockIdx.x], stored, row);
}

/* ---- places that are kept, where values change often ---------------------------------------------------- */

static __global__ void place_kernel(const values_of<float> L, int32_t *place)
{
    __shared__ int row[BLOCK];
    find_entries(L, L.panel[blockIdx.x], row, [&](int64_t e, int64_t p) { place[e] = (int32_t)p; });
}

/* Where there is no memory for them, every update searches. */
int supernodal_keep_places(trs_context *ctx, supernodal *d, const trs_device_view *L, int64_t nnz)
{
    const values_of<float> pattern = {d->supernode, d->panel, d->column, L->ptr, L->idx, NULL};
    if (nnz > INT32_MAX || d->s.count == 0) return TRS_OK;
    d->place = device_new<int32_t>(ctx, d->s.stored, "places of the values");
    if (!d->place) return trs_forget(), TRS_OK;
    /* -1 between panels, too */
    const size_t bytes = (size_t)d->s.stored * sizeof *d->place;
    const cudaError_t e = cudaMemsetAsync(d->place, 0xff, bytes, NULL);
    place_kernel<<<(unsigned)d->s.panels, 128>>>(pattern, d->place);
    const int rc = cuda_status(e, "places of the values");
    return rc ? rc : launched();
}

/* A thread an entry of the panels. */
template <class T>
static __global__ void gather_kernel(int64_t count, const int32_t *place, const T *Lx, T *stored)
{
    const int64_t e = index_of_thread();
    if (e >= count) return;
    const int32_t p = place[e];
    stored[e] = p >= 0 ? Lx[p] : number<T>(0);
}

/* ---- inverses ------------------------------------------------------------------------------------- */

/* The growth of the residual by `inverse`, in every thread, after invert; norm has the rows of |M| |D| e. */
template <class T> static __device__ double residual_growth(const T *tile, double *norm, int rows)
{
    const int i = threadIdx.x;
    double sum = 0, weight = 0;
    for (int k = 0; k <= i && i < rows; k++) {
        const double size = magnitude(tile[tile_place(i, k)]);
        sum += size * norm[k];
        weight += size;
    }
    __syncthreads();
    if (i < rows) norm[i] = sum / weight;
    __syncthreads();
    return largest_of_rows(norm, rows);
}

/* sum = inverse * panel, this thread's share: the columns of the panel as right-hand sides; a, a tile in shared
 * memory, is scratch.  False: it overflows. */
template <class T>
__device__ inline bool scale(T (&sum)[share<BLOCK>::COLUMNS], const T *inverse,
                             const tile_at<T> &panel, T *a)
{
    quarter_row<T> v;
    load_quarter<T>(v, panel);
    put_by_rows<T>(a, v);
    __syncthreads();
    add_product<T, BLOCK>(sum, inverse, a, false, false);
    bool finite = true;
    for (int c = 0; c < share<BLOCK>::COLUMNS; c++) finite = finite && is_finite(sum[c]);
    return __syncthreads_and(finite);
}

/* A thread block a supernode: its diagonal block inverted, and its late panel scaled by that. */
template <class T>
static __global__ void __launch_bounds__(BLOCK_THREADS, TWO_TILES_BESIDE<T>)
    invert_kernel(const trs_supernode *supernode, const trs_panel *panel, T *stored,
                  int *substituted)
{
    two_tiles<T> *sh = (two_tiles<T> *)shared_numbers<T>();
    const trs_supernode k = supernode[blockIdx.x];
    T *M = stored + panel[k.diagonal].offset; /* L_tt before */
    const int width = (k.rows + 3) / 4 * 4;
    TRS_ASSERT(panel[k.diagonal].columns == k.rows);
    quarter_row<T> v;
    load_quarter<T>(v, {M, k.rows, k.rows});
    for (int e = threadIdx.x; e < TILE_SIZE; e += BLOCK_THREADS) sh->b[e] = number<T>(0);
    put_in_tile<T>(sh->a, v);
    __syncthreads();
    bool good = invert(sh->a, sh->b, sh->norm, k.rows) <= WORST<T>; /* a NaN is not */
    if (!good) good = residual_growth(sh->a, sh->norm, k.rows) <= WORST<T>;
    const bool scales = good && k.chain_length == 1 && k.diagonal + 1 < k.panel + k.panels;
    const trs_panel s = panel[scales ? k.diagonal + 1 : k.diagonal];
    T sum[share<BLOCK>::COLUMNS];
    for (int c = 0; c < share<BLOCK>::COLUMNS; c++) sum[c] = number<T>(0);
    if (scales) good = scale<T>(sum, sh->b, {stored + s.offset, k.rows, s.columns}, sh->a);
    if (threadIdx.x == 0) substituted[blockIdx.x] = !good;
    if (!good) return;
    for (int e = threadIdx.x; e < k.rows * width; e += BLOCK_THREADS)
        M[e] = sh->b[tile_place(e / 4 % k.rows, e / 4 / k.rows * 4 + e % 4)];
    const share<BLOCK> me;
    for (int c = 0; c < share<BLOCK>::COLUMNS && scales; c++)
        if (me.row < k.rows && me.first + c < s.columns)
            stored[s.offset + tile_place(me.row, me.first + c, k.rows)] = sum[c];
}

/* ---- chains ------------------------------------------------------------------------------------ */

/* Where the tiles of D and S of a chain are: tile (t, s) of rows of supernode t has the columns of supernode s of the
 * chain, or of late panel number s - LATE. */
template <class T> struct chain_in_panels {
    enum { LATE = 1 << 30 };
    const trs_supernode *supernode;
    const trs_panel *panel;
    T *stored;
    double *weights;
    __device__ tile_at<T> tile(int t, int s) const
    {
        const int from = supernode[t].diagonal;
        const trs_panel &g = panel[s >= LATE ? from + 1 + s - LATE : from - (t - s)];
        TRS_ASSERT(__popcll(g.row_mask) == supernode[t].rows);
        return {stored + g.offset, supernode[t].rows, g.columns};
    }
    __device__ tile_at<T> joined(int t, int s) const { return tile(t, s); }
    __device__ double *weight(int t) const { return weights + supernode[t].first; }
    __device__ int late(int t) const
    {
        return supernode[t].panel + supernode[t].panels - supernode[t].diagonal - 1;
    }
};

/* A thread block a supernode of a chain. */
template <class T>
static __global__ void weigh_kernel(const chain_in_panels<T> P, const int32_t *chain)
{
    const int first = chain[blockIdx.x], t = first + (int)blockIdx.y;
    if ((int)blockIdx.y >= P.supernode[first].chain_length) return;
    const double sum = weigh_row<T>(P, first, t);
    if (threadIdx.x % 4 == 0 && (int)threadIdx.x / 4 < P.supernode[t].rows)
        P.weight(t)[threadIdx.x / 4] = sum;
}

/* The growth of the residual by M, in every thread: a thread a row of D, of which L has the numbers.  scratch is shared
 * memory. */
template <class T>
static __device__ double residual_growth(two_tiles<T> *scratch, const chain_in_panels<T> &P,
                                         const values_of<T> &L, int first, int end)
{
    double *h = (double *)scratch->a; /* |M| |D| e */
    const int begin = P.supernode[first].first, i = begin + (int)threadIdx.x;
    static_assert(int(BLOCK_THREADS) == int(TRS_CHAIN) * int(BLOCK), "a thread has a row");
    __syncthreads();
    for (int t = first; t < end; t++) {
        const double g = growth_of_row<T>(P, first, t);
        if (threadIdx.x % 4 == 0 && (int)threadIdx.x / 4 < P.supernode[t].rows)
            h[P.supernode[t].first - begin + (int)threadIdx.x / 4] = g;
    }
    __syncthreads();
    double sum = 0;
    if (i < P.supernode[end - 1].first + P.supernode[end - 1].rows) {
        for (int64_t p = L.Lp[i + 1] - 1; p >= L.Lp[i] && L.Li[p] >= begin; p--)
            sum += magnitude(L.Lx[p]) * h[L.Li[p] - begin];
        sum /= P.weights[i];
    }
    return largest_of_block((double *)scratch->b, sum);
}

enum { GROWS = 1, OVERFLOWS = 2 }; /* why a chain is split: M, or one of its diagonal blocks; S */

/* A thread block a chain: M, unless a supernode is to be substituted, and whether it may be used. */
template <class T>
static __global__ void __launch_bounds__(BLOCK_THREADS, TWO_TILES_BESIDE<T>)
    join_kernel(const chain_in_panels<T> P, const values_of<T> L, const int32_t *chain,
                const int *substituted, int *split)
{
    two_tiles<T> *sh = (two_tiles<T> *)shared_numbers<T>();
    const int first = chain[blockIdx.x], end = first + P.supernode[first].chain_length;
    bool good = true;
    for (int t = first; t < end; t++) good = good && !substituted[t];
    for (int t = first + 1; t < end && good; t++) /* L_ts is where M_ts goes: row by row */
        for (int s = first; s < t; s++) join_tile<T>(sh, P, t, s);
    if (good && !(growth_of<T>(sh, P, first, end) <= WORST<T>)) /* a NaN is not */
        good = residual_growth<T>(sh, P, L, first, end) <= WORST<T>;
    if (threadIdx.x == 0) split[first] = good ? 0 : GROWS;
}

/* S: a thread block for each late panel of a chain, while others may find that theirs overflows. */
template <class T>
static __global__ void __launch_bounds__(BLOCK_THREADS, TWO_TILES_BESIDE<T>)
    scale_kernel(const chain_in_panels<T> P, const int32_t *chain, int *split)
{
    two_tiles<T> *sh = (two_tiles<T> *)shared_numbers<T>();
    const int first = chain[blockIdx.x], s = blockIdx.y;
    if ((split[first] & GROWS) || s >= P.late(first)) return;
    bool finite = true;
    for (int t = first + P.supernode[first].chain_length - 1; t >= first; t--)
        finite = scale_tile<T>(sh, P, first, t, chain_in_panels<T>::LATE + s) && finite;
    if (!finite) atomicOr(&split[first], (int)OVERFLOWS);
}

/* L again instead of M and S, where these are no good: a thread block a supernode of a chain. */
template <class T>
static __global__ void refill_kernel(const values_of<T> L, const int32_t *chain, T *stored,
                                     const int *split)
{
    __shared__ int row[BLOCK];
    const int first = chain[blockIdx.x];
    if (!split[first] || (int)blockIdx.y >= L.supernode[first].chain_length) return;
    const trs_supernode k = L.supernode[first + blockIdx.y];
    for (int g = k.diagonal - k.chain_place; g < k.panel + k.panels; g++)
        if (g != k.diagonal) fill_panel(L, L.panel[g], stored, row);
}

template <class T>
static int take(const supernodal *d, const trs_device_view *direct, const T *val,
                cudaStream_t stream)
{
    const size_t bytes = sizeof(two_tiles<T>);
    T *stored = (T *)d->stored;
    const values_of<T> L = {d->supernode, d->panel, d->column, direct->ptr, direct->idx, val};
    const chain_in_panels<T> P = {d->supernode, d->panel, stored, d->weight};
    if (allow_shared(invert_kernel<T>, bytes) != cudaSuccess ||
        allow_shared(join_kernel<T>, bytes) != cudaSuccess ||
        allow_shared(scale_kernel<T>, bytes) != cudaSuccess)
        return TRS_EDEVICE;
    if (d->place)
        gather_kernel<T>
            <<<blocks_of(d->s.stored), PLAIN, 0, stream>>>(d->s.stored, d->place, val, stored);
    else fill_kernel<T><<<(unsigned)d->s.panels, 128, 0, stream>>>(L, stored);
    const unsigned chains = (unsigned)d->s.chains;
    const dim3 rows(chains, TRS_CHAIN), late(chains, TRS_CHAIN_LATE);
    if (chains) weigh_kernel<T><<<rows, BLOCK_THREADS, 0, stream>>>(P, d->chain);
    invert_kernel<T><<<(unsigned)d->s.count, BLOCK_THREADS, bytes, stream>>>(
        d->supernode, d->panel, stored, d->substituted);
    if (chains) {
        join_kernel<T>
            <<<chains, BLOCK_THREADS, bytes, stream>>>(P, L, d->chain, d->substituted, d->split);
        scale_kernel<T><<<late, BLOCK_THREADS, bytes, stream>>>(P, d->chain, d->split);
        refill_kernel<T><<<rows, 128, 0, stream>>>(L, d->chain, stored, d->split);
    }
    return launched();
}

int supernodal_take(const supernodal *d, const trs_device_view *L, trs_dtype t, const void *val,
                    cudaStream_t stream)
{
    if (d->s.count == 0) return TRS_OK;
    return for_type(t, [&]<class T>(T) { return take<T>(d, L, (const T *)val, stream); });
}
