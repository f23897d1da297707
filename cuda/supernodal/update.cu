/* update.cu: new values into the packed panels: diagonal blocks inverted, late panels scaled.
 *
 *     fill     L into all panels
 *     weigh    row sums of |D| of chains, for the growth of their inverses
 *     invert   M_tt = L_tt^-1 of every supernode, unless it grows too much: sixteen lanes a small one, a thread block
 *              (inverse.cuh) a large one; S_t = M_tt L (t, late columns) of large ones that are in no chain
 *     join     M_ts of a chain (block_inverse.cuh), apart from L_ts
 *     split    may M be used?
 *     scale    S_ts of a chain; M_ts in its place
 *     refill   L again for M_ts and S_ts of chains whose S overflows
 *
 * Why growth: with M the residual of x is bounded by the unit roundoff times |D| |M| |D| |x|, and by substitution, times
 * |D| |x| (Higham, "Accuracy and Stability of Numerical Algorithms", chapters 8 and 14).  For x of equal size, e, the growth
 *
 *     max (|D| |M| |D| e)(i) / (|D| e)(i)        which is never more than        max (|M| |D| e)(i)
 *
 * tells how much worse M is.  The second bound is available first, and bounds the error of x.  But if a factor has
 * small diagonal entries, as U of a matrix whose unknowns differ in size, it is large for substitution as well, whose
 * error has the same bound.  So M may be used if either is small.
 *
 * A thread block has a panel, a supernode, a chain, or one of a chain's late panels; none waits for another, since
 * each kernel reads what the one before has written.  Bytes: stored entries are written once; what is inverted or
 * scaled is read and written again.  Bound by the longest paths: in `fill` a search in a row of L for each stored
 * entry, unless the plan supports refresh and stores the places, 4 bytes each; in `invert` 64 threads, a column each,
 * in `join` a chain, tile after tile. */
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
    load_quarter(v, panel);
    put_by_rows<T>(a, v);
    __syncthreads();
    add_product<T, BLOCK>(sum, inverse, a, false, false);
    bool finite = true;
    for (int c = 0; c < share<BLOCK>::COLUMNS; c++) finite = finite && is_finite(sum[c]);
    return __syncthreads_and(finite);
}

/* f of a number of each of 16 lanes, in all of them: f has one value whatever the order. */
template <class F> static __device__ double over_lanes(double v, F f)
{
    for (int mask = SIXTEENTH / 2; mask > 0; mask /= 2) v = f(shuffle_xor(v, mask), v);
    return v;
}

/* Row c of L_tt, its diagonal entry, and the sum of its magnitudes. */
template <class T>
static __device__ __forceinline__ void load_row(const T *M, int c, int rows, T (&l)[SIXTEENTH],
                                                T *d, double *weight)
{
    *d = number<T>(0);
    *weight = 0;
#pragma unroll
    for (int k = 0; k < SIXTEENTH; k++) {
        l[k] = k <= c && c < rows ? M[tile_place(c, k, rows)] : number<T>(0);
        *weight += magnitude(l[k]);
        if (k == c) *d = l[k];
    }
}

/* Does |M| |D| e, or the residual by it, grow little enough?  Lane c has row c of L_tt and column c of M; norm: of |D| e;
 * weight: of |L_tt| e. */
template <class T>
static __device__ __forceinline__ bool grows_little(const T (&l)[SIXTEENTH],
                                                    const T (&m)[SIXTEENTH], int c, int rows,
                                                    int most, double norm, double weight)
{
    const auto add = [](double a, double b) { return a + b; };
    double h = 0, residual = 0; /* of row c */
#pragma unroll
    for (int i = 0; i < SIXTEENTH; i++) {
        const double sum = i < most ? over_lanes(magnitude(m[i]) * norm, add) : 0;
        if (i == c) h = sum;
    }
#pragma unroll
    for (int k = 0; k < SIXTEENTH; k++) residual += magnitude(l[k]) * shuffle(h, k, SIXTEENTH);
    const double growth = over_lanes(c < rows ? h : 0, larger_growth);
    residual = over_lanes(c < rows ? residual / weight : 0, larger_growth);
    return growth <= WORST<T> || residual <= WORST<T>; /* a NaN is neither */
}

/* Sixteen lanes a small supernode, lane c column c of its inverse; row c of L_tt is in registers. */
template <class T>
static __global__ void invert_small_kernel(int32_t count, const trs_supernode *supernode,
                                           const trs_panel *panel, T *stored, int *substituted)
{
    static_assert(int(TRS_SMALL) == SIXTEENTH, "a lane has a column");
    const int32_t t = index32_of_thread() / SIXTEENTH;
    const int c = (int)threadIdx.x % SIXTEENTH;
    const bool is_small = t < count && supernode[t].rows <= TRS_SMALL;
    const int rows = is_small ? supernode[t].rows : 0;
    const int most = max(rows, __shfl_xor_sync(~0u, rows, SIXTEENTH));       /* of the warp */
    T *M = is_small ? stored + panel[supernode[t].diagonal].offset : stored; /* L_tt before */
    T l[SIXTEENTH], m[SIXTEENTH], d;
    double weight;
    load_row(M, c, rows, l, &d, &weight);
    const T reciprocal = c < rows ? number<T>(1) / d : number<T>(0);
    invert_column(
        m, c, most, [&](int i, int k) { return shuffle(l[k], i, SIXTEENTH); },
        [&](int i) { return shuffle(reciprocal, i, SIXTEENTH); });
    const double norm = c < rows && !is_near_one(d) ? INFINITY : weight;
    const bool good = grows_little(l, m, c, rows, most, norm, weight);
    if (!is_small) return;
    if (c == 0) substituted[t] = !good;
#pragma unroll
    for (int i = 0; i < SIXTEENTH; i++)
        if (good && i >= c && i < rows) M[tile_place(i, c, rows)] = m[i];
}

/* A thread block a large supernode: its diagonal block inverted, and its late panel scaled by that. */
template <class T>
static __global__ void __launch_bounds__(BLOCK_THREADS, TWO_TILES_BESIDE<T>)
    invert_kernel(const int32_t *large, const trs_supernode *supernode, const trs_panel *panel,
                  T *stored, int *substituted)
{
    two_tiles<T> *sh = (two_tiles<T> *)shared_numbers<T>();
    const int32_t t = large[blockIdx.x];
    const trs_supernode k = supernode[t];
    T *M = stored + panel[k.diagonal].offset; /* L_tt before */
    const int width = (k.rows + 3) / 4 * 4;
    TRS_ASSERT(panel[k.diagonal].columns == k.rows);
    quarter_row<T> v;
    load_quarter(v, tile_at<T>{M, k.rows, k.rows});
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
    if (threadIdx.x == 0) substituted[t] = !good;
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
    T *stored, *apart; /* apart: M_ts of all chains, since L_ts is read by others */
    double *weights;
    __device__ tile_at<T> tile(int t, int s) const
    {
        const int from = supernode[t].diagonal;
        const trs_panel &g = panel[s >= LATE ? from + 1 + s - LATE : from - (t - s)];
        TRS_ASSERT(__popcll(g.row_mask) == supernode[t].rows);
        return {stored + g.offset, supernode[t].rows, g.columns};
    }
    __device__ double *weight(int t) const { return weights + supernode[t].first; }
    __device__ int late(int t) const
    {
        return supernode[t].panel + supernode[t].panels - supernode[t].diagonal - 1;
    }
};

/* The tiles of one chain, with its late panel number `late` if there is one: each is found by two reads of memory, all of
 * them side by side, and kept in shared memory. */
template <class T> struct chain_tiles {
    const chain_in_panels<T> &P;
    const int first, end;
    T *const apart;
    tile_at<T> (*const at)[TRS_CHAIN + 1];

    __device__ chain_tiles(const chain_in_panels<T> &P, int chain, int first, int late)
        : P(P), first(first), end(first + P.supernode[first].chain_length),
          apart(P.apart + (int64_t)chain * CHAIN_PAIRS * TILE_SIZE), at(places())
    {
        const int t = first + (int)threadIdx.x / 8, k = (int)threadIdx.x % 8;
        if (t < end && k <= t - first) at[t - first][k] = P.tile(t, first + k);
        if (t < end && k == TRS_CHAIN && late >= 0)
            at[t - first][k] = P.tile(t, chain_in_panels<T>::LATE + late);
        __syncthreads();
    }
    __device__ tile_at<T> tile(int t, int s) const
    {
        return at[t - first][s >= chain_in_panels<T>::LATE ? int(TRS_CHAIN) : s - first];
    }
    __device__ tile_at<T> joined(int t, int s) const
    {
        const int k = t - first, j = s - first;
        return {apart + (k * (k - 1) / 2 + j) * TILE_SIZE, at[k][j].rows, at[k][j].columns};
    }
    __device__ double *weight(int t) const { return P.weight(t); }

  private:
    __device__ static tile_at<T> (*places())[TRS_CHAIN + 1]
    {
        __shared__ tile_at<T> memory[TRS_CHAIN][TRS_CHAIN + 1];
        return memory;
    }
};

/* A thread block a supernode of a chain. */
template <class T>
static __global__ void weigh_kernel(const chain_in_panels<T> P, const int32_t *chain)
{
    const chain_tiles<T> D(P, blockIdx.x, chain[blockIdx.x], -1);
    const int t = D.first + (int)blockIdx.y;
    if (t >= D.end) return;
    const double sum = weigh_row<T>(D, D.first, t);
    if (threadIdx.x % 4 == 0 && (int)threadIdx.x / 4 < P.supernode[t].rows)
        P.weight(t)[threadIdx.x / 4] = sum;
}

/* The growth of M, in every thread: the largest row sum of |M| |D|.  h [rows of D] gets all of them; h and scratch are shared
 * memory. */
template <class T>
static __device__ double growth_of(const chain_tiles<T> &D, double *h, double *scratch)
{
    const trs_supernode *supernode = D.P.supernode;
    double growth = 0;
    for (int t = D.first; t < D.end; t++) {
        const double sum = growth_of_row<T>(D, D.first, t);
        const int i = (int)threadIdx.x / 4;
        if (threadIdx.x % 4 == 0 && i < supernode[t].rows)
            h[supernode[t].first - supernode[D.first].first + i] = sum;
        growth = larger_growth(sum, growth);
    }
    return largest_of_block(scratch, growth);
}

/* The growth of the residual by M, in every thread, from h.  Four lanes have a row; of tiles on the diagonal L has the
 * numbers, which end its rows. */
template <class T>
static __device__ double residual_growth(const chain_tiles<T> &D, const values_of<T> &L,
                                         const double *h, double *scratch)
{
    const trs_supernode *supernode = D.P.supernode;
    const int begin = supernode[D.first].first, r = (int)threadIdx.x / 4,
              lane = (int)threadIdx.x % 4;
    double growth = 0;
    for (int t = D.first; t < D.end; t++) {
        const int first = supernode[t].first, i = first + r;
        const bool is_row = r < supernode[t].rows;
        double sum = 0;
        for (int s = D.first; s < t; s++)
            sum =
                weigh_quarter<T>(sum, D.tile(t, s), (const double *)h + supernode[s].first - begin);
#pragma unroll SUMMED < T>
        for (int n = 0; n < BLOCK / 4; n++) {
            const int64_t p = is_row ? L.Lp[i + 1] - 1 - 4 * n - lane : -1;
            if (is_row && p >= L.Lp[i] && L.Li[p] >= first)
                sum += magnitude(L.Lx[p]) * h[L.Li[p] - begin];
        }
        sum += shuffle_xor(sum, 1);
        sum += shuffle_xor(sum, 2);
        if (is_row) growth = larger_growth(sum / D.P.weights[i], growth);
    }
    return largest_of_block(scratch, growth);
}

enum { GROWS = 1, OVERFLOWS = 2 }; /* why a chain is split: M, or one of its diagonal blocks; S */

static __device__ bool all_inverted(const int *substituted, int first, int end)
{
    bool all = true;
    for (int t = first; t < end; t++) all = all && !substituted[t];
    return all;
}

/* A thread block a slice of a column of tiles of a chain: M, apart, unless a supernode is to be substituted. */
template <class T>
static __global__ void __launch_bounds__(BLOCK_THREADS, TWO_TILES_BESIDE<T>)
    join_kernel(const chain_in_panels<T> P, const int32_t *chain, const int *substituted)
{
    column_slices<T> *sh = (column_slices<T> *)shared_numbers<T>();
    const chain_tiles<T> D(P, blockIdx.x, chain[blockIdx.x], -1);
    const int s = D.first + (int)blockIdx.y / TILE_SLICES<T>, q = (int)blockIdx.y % TILE_SLICES<T>;
    if (s + 1 >= D.end || q * SLICE_COLUMNS<T> >= D.tile(s, s).columns ||
        !all_inverted(substituted, D.first, D.end))
        return;
    join_slice<T>(sh, D, D.first, D.end, s, q);
}

/* A thread block a chain: may M be used? */
template <class T>
static __global__ void split_kernel(const chain_in_panels<T> P, const values_of<T> L,
                                    const int32_t *chain, const int *substituted, int *split)
{
    __shared__ double h[TRS_CHAIN * int(BLOCK)], scratch[WARPS];
    const chain_tiles<T> D(P, blockIdx.x, chain[blockIdx.x], -1);
    bool good = all_inverted(substituted, D.first, D.end);
    if (good && !(growth_of<T>(D, h, scratch) <= WORST<T>)) /* a NaN is not */
        good = residual_growth<T>(D, L, h, scratch) <= WORST<T>;
    if (threadIdx.x == 0) split[D.first] = good ? 0 : GROWS;
}

/* S: a thread block a slice of a late panel of a chain, while others may find that theirs overflows.  Further blocks put M
 * into its place. */
template <class T>
static __global__ void __launch_bounds__(BLOCK_THREADS, TWO_TILES_BESIDE<T>)
    scale_kernel(const chain_in_panels<T> P, const int32_t *chain, int *split)
{
    column_slices<T> *sh = (column_slices<T> *)shared_numbers<T>();
    const int first = chain[blockIdx.x], late = (int)blockIdx.y / TILE_SLICES<T>,
              q = (int)blockIdx.y % TILE_SLICES<T>;
    if (split[first] & GROWS) return;
    if (late == TRS_CHAIN_LATE) {
        const chain_tiles<T> D(P, blockIdx.x, first, -1);
        for (int t = first + 1; t < D.end; t++)
            for (int s = first; s < t; s++) {
                slice_share<T> v;
                v.load(D.joined(t, s), q);
                v.store(D.tile(t, s), q);
            }
        return;
    }
    if (late >= P.late(first)) return;
    const chain_tiles<T> D(P, blockIdx.x, first, late);
    const int s = chain_in_panels<T>::LATE + late;
    if (q * SLICE_COLUMNS<T> >= D.tile(first, s).columns) return;
    if (!scale_slice<T>(sh, D, first, D.end, s, q)) atomicOr(&split[first], (int)OVERFLOWS);
}

/* L again instead of M and S, where S is no good: a thread block a supernode of a chain. */
template <class T>
static __global__ void refill_kernel(const values_of<T> L, const int32_t *chain, T *stored,
                                     const int *split)
{
    __shared__ int row[BLOCK];
    const int first = chain[blockIdx.x];
    if (!(split[first] & OVERFLOWS) || (int)blockIdx.y >= L.supernode[first].chain_length) return;
    const trs_supernode k = L.supernode[first + blockIdx.y];
    for (int g = k.diagonal - k.chain_place; g < k.panel + k.panels; g++)
        if (g != k.diagonal) fill_panel(L, L.panel[g], stored, row);
}

template <class T>
static int take(const supernodal *d, const trs_device_view *direct, const T *val,
                cudaStream_t stream)
{
    const size_t bytes = sizeof(two_tiles<T>), slices = sizeof(column_slices<T>);
    T *stored = (T *)d->stored;
    const values_of<T> L = {d->supernode, d->panel, d->column, direct->ptr, direct->idx, val};
    const chain_in_panels<T> P = {d->supernode, d->panel, stored, (T *)d->apart, d->weight};
    if (allow_shared(invert_kernel<T>, bytes) || allow_shared(join_kernel<T>, slices) ||
        allow_shared(scale_kernel<T>, slices))
        return TRS_EDEVICE;
    if (d->place)
        gather_kernel<T>
            <<<blocks_of(d->s.stored), PLAIN, 0, stream>>>(d->s.stored, d->place, val, stored);
    else fill_kernel<T><<<(unsigned)d->s.panels, 128, 0, stream>>>(L, stored);
    const unsigned chains = (unsigned)d->s.chains;
    const dim3 rows(chains, TRS_CHAIN), columns(chains, (TRS_CHAIN - 1) * TILE_SLICES<T>),
        late(chains, (TRS_CHAIN_LATE + 1) * TILE_SLICES<T>);
    if (chains) weigh_kernel<T><<<rows, BLOCK_THREADS, 0, stream>>>(P, d->chain);
    invert_small_kernel<T><<<blocks_of((int64_t)d->s.count * SIXTEENTH), PLAIN, 0, stream>>>(
        d->s.count, d->supernode, d->panel, stored, d->substituted);
    if (d->s.large)
        invert_kernel<T><<<(unsigned)d->s.large, BLOCK_THREADS, bytes, stream>>>(
            d->large, d->supernode, d->panel, stored, d->substituted);
    if (chains) {
        join_kernel<T><<<columns, BLOCK_THREADS, slices, stream>>>(P, d->chain, d->substituted);
        split_kernel<T>
            <<<chains, BLOCK_THREADS, 0, stream>>>(P, L, d->chain, d->substituted, d->split);
        scale_kernel<T><<<late, BLOCK_THREADS, slices, stream>>>(P, d->chain, d->split);
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
