/* block_inverse.cuh: the inverse of a block triangle D of a few rows of tiles, and the tiles left of D scaled by it.
 *
 *              s         f   f+1  f+2                M = D^-1,  S = M L:
 *            L_fs   |   L_ff
 *     ...    L_f+1s |   L      L                     M_tt = L_tt^-1 (inverse.cuh)
 *            L_f+2s |   L      L     L               M_ts = -M_tt (sum of L_tu M_us, s <= u < t),   s < t
 *                          D                         S_ts = sum of M_tu L_us, f <= u <= t,          s < f
 *
 * D is that of a panel of dense-blocked, or of a chain of supernodes.  The argument D of a function locates its
 * tiles: D.tile (t, u) is L_tu, and M_tt where t = u; D.joined (t, u), u < t, is where M_tu goes; D.weight (u) are
 * the sums of magnitudes of the rows of tile row u of D.  All functions are for 256 threads. */
#ifndef TRS_BLOCK_INVERSE_CUH
#define TRS_BLOCK_INVERSE_CUH

#include "blocks.cuh"

template <class T> struct tile_at {
    T *p;
    int rows, columns;
    __device__ bool has(int i, int k) const { return i < rows && k < columns; }
    __device__ T &at(int i, int k) const { return p[tile_place(i, k, rows)]; }
    __device__ T get(int i, int k) const { return has(i, k) ? at(i, k) : number<T>(0); }
};

/* What a thread loads of a tile: columns first + 4 n + threadIdx.x % 4 of row threadIdx.x / 4, and zero where it has none.
 * All of it is under way before any of it is needed. */
template <class T> using quarter_row = T[TILE_SIZE / BLOCK_THREADS];

template <class T, int N>
__device__ inline void load_quarter(T (&v)[N], const tile_at<T> &tile, int first = 0)
{
#pragma unroll
    for (int n = 0; n < N; n++)
        v[n] = tile.get((int)threadIdx.x / 4, first + 4 * n + (int)threadIdx.x % 4);
}

/* To a tile in shared memory, and to a matrix by columns, and one by rows there. */
template <class T> __device__ inline void put_in_tile(T *tile, const quarter_row<T> &v)
{
#pragma unroll
    for (int n = 0; n < TILE_SIZE / BLOCK_THREADS; n++)
        tile[n * BLOCK_THREADS + threadIdx.x] = v[n];
}

template <class T> __device__ inline void put_by_columns(T *matrix, const quarter_row<T> &v)
{
#pragma unroll
    for (int n = 0; n < TILE_SIZE / BLOCK_THREADS; n++)
        matrix[(4 * n + threadIdx.x % 4) * COLUMN_PITCH + threadIdx.x / 4] = v[n];
}

template <class T> __device__ inline void put_by_rows(T *matrix, const quarter_row<T> &v)
{
#pragma unroll
    for (int n = 0; n < TILE_SIZE / BLOCK_THREADS; n++)
        matrix[threadIdx.x / 4 * BLOCK + 4 * n + threadIdx.x % 4] = v[n];
}

/* ---- slices of columns --------------------------------------------------------------------------------- */

/* Of numbers of 16 bytes half as many, so that the slices fit into the shared memory of older GPUs. */
template <class T> constexpr int SLICE_COLUMNS = sizeof(T) == 16 ? 16 : 32;
template <class T> constexpr int TILE_SLICES = BLOCK / SLICE_COLUMNS<T>;

/* M and S are made in slices of 32 columns, each by a thread block, which keeps the slices of one column of tiles in shared
 * memory, and multiplies tile after tile by them.  The next tile is on its way meanwhile. */
template <class T> struct column_slices { /* shared memory */
    T a[BLOCK * COLUMN_PITCH];            /* a tile, by columns */
    T x[4][BLOCK * SLICE_COLUMNS<T>];     /* slices of up to four rows of tiles, by rows */
};

/* What a thread has of a slice: two pairs of rows of a pair of columns (of one column of 16), so that the threads of a warp
 * read neighbours, and six numbers from shared memory make eight products. */
template <class T> struct slice_share {
    static constexpr int COLUMNS = SLICE_COLUMNS<T> / 16, COUNT = 4 * COLUMNS;
    T v[4][COLUMNS];
    __device__ void clear()
    {
        for (int e = 0; e < COUNT; e++) v[e / COLUMNS][e % COLUMNS] = number<T>(0);
    }
    __device__ static int row(int i) { return i / 2 * 32 + (int)threadIdx.x % 16 * 2 + i % 2; }
    __device__ static int column(int j) { return (int)threadIdx.x / 16 * COLUMNS + j; }
    /* += a x */
    __device__ void add(const T *a, const T *x)
    {
#pragma unroll 4
        for (int k = 0; k < BLOCK; k++) {
            const pack<T, 2> low = *(const pack<T, 2> *)(a + k * COLUMN_PITCH + row(0));
            const pack<T, 2> high = *(const pack<T, 2> *)(a + k * COLUMN_PITCH + row(2));
            const pack<T, COLUMNS> w =
                *(const pack<T, COLUMNS> *)(x + k * SLICE_COLUMNS<T> + column(0));
#pragma unroll
            for (int j = 0; j < COLUMNS; j++) {
                v[0][j] = v[0][j] + low.v[0] * w.v[j];
                v[1][j] = v[1][j] + low.v[1] * w.v[j];
                v[2][j] = v[2][j] + high.v[0] * w.v[j];
                v[3][j] = v[3][j] + high.v[1] * w.v[j];
            }
        }
    }
    __device__ void negate()
    {
        for (int e = 0; e < COUNT; e++)
            v[e / COLUMNS][e % COLUMNS] = number<T>(0) - v[e / COLUMNS][e % COLUMNS];
    }
    __device__ bool finite() const
    {
        bool all = true;
        for (int e = 0; e < COUNT; e++) all = all && is_finite(v[e / COLUMNS][e % COLUMNS]);
        return all;
    }
    __device__ void put(T *x) const
    {
        for (int e = 0; e < COUNT; e++)
            x[row(e / COLUMNS) * SLICE_COLUMNS<T> + column(e % COLUMNS)] =
                v[e / COLUMNS][e % COLUMNS];
    }
    /* Slice q of a tile. */
    __device__ void load(const tile_at<T> &tile, int q)
    {
        for (int e = 0; e < COUNT; e++)
            v[e / COLUMNS][e % COLUMNS] =
                tile.get(row(e / COLUMNS), q * SLICE_COLUMNS<T> + column(e % COLUMNS));
    }
    __device__ void store(const tile_at<T> &tile, int q) const
    {
        for (int e = 0; e < COUNT; e++) {
            const int i = row(e / COLUMNS), k = q * SLICE_COLUMNS<T> + column(e % COLUMNS);
            if (tile.has(i, k)) tile.at(i, k) = v[e / COLUMNS][e % COLUMNS];
        }
    }
};

/* Makes slice q of M_ts, s < t < end, one after the other: none of D is written, as other blocks read it. */
template <class T, class P>
__device__ inline void join_slice(column_slices<T> *sh, const P &D, int first, int end, int s,
                                  int q)
{
    quarter_row<T> ahead;
    slice_share<T> sum;
    sum.load(D.tile(s, s), q);
    sum.put(sh->x[s - first]);
    sum.clear();
    if (s + 1 < end) load_quarter(ahead, D.tile(s + 1, s));
    for (int t = s + 1, u = s; t < end;) {
        const bool last = u == t; /* M_tt times what the others have made */
        const int next_t = last ? t + 1 : t, next_u = last ? s : u + 1;
        T *const x = sh->x[t - first];
        __syncthreads(); /* the tile before has been read */
        put_by_columns<T>(sh->a, ahead);
        if (last) {
            sum.put(x);
            sum.clear();
        }
        if (next_t < end) load_quarter(ahead, D.tile(next_t, next_u));
        __syncthreads();
        sum.add(sh->a, sh->x[u - first]);
        if (last) {
            sum.negate();
            sum.store(D.joined(t, s), q);
            __syncthreads(); /* x has been read */
            sum.put(x);
            sum.clear();
        }
        t = next_t, u = next_u;
    }
}

/* Makes slice q of S_ts in the place of L_ts, for all rows first .. end-1 of tiles; s is left of D.  Returns whether this
 * thread's numbers are finite. */
template <class T, class P>
__device__ inline bool scale_slice(column_slices<T> *sh, const P &D, int first, int end, int s,
                                   int q)
{
    quarter_row<T> ahead;
    slice_share<T> sum;
    bool finite = true;
    for (int u = first; u < end; u++) {
        sum.load(D.tile(u, s), q);
        sum.put(sh->x[u - first]);
    }
    sum.clear();
    load_quarter(ahead, D.tile(first, first));
    for (int t = first, u = first; t < end;) {
        const bool last = u == t;
        const int next_t = last ? t + 1 : t, next_u = last ? first : u + 1;
        __syncthreads(); /* the tile before has been read */
        put_by_columns<T>(sh->a, ahead);
        if (next_t < end)
            load_quarter(ahead,
                         next_u < next_t ? D.joined(next_t, next_u) : D.tile(next_t, next_t));
        __syncthreads();
        sum.add(sh->a, sh->x[u - first]);
        if (last) {
            sum.store(D.tile(t, s), q);
            finite = sum.finite() && finite;
            sum.clear();
        }
        t = next_t, u = next_u;
    }
    return finite;
}

/* ---- growth --------------------------------------------------------------------------------------------- */

/* sum + this lane's part of the sum of magnitudes of row threadIdx.x / 4 of a tile, each times the weight of its column;
 * W is const double *, or nullptr_t without weights. */
template <class T, class W>
__device__ inline double weigh_quarter(double sum, const tile_at<T> &tile, W weight)
{
    const int i = threadIdx.x / 4, lane = threadIdx.x % 4;
#pragma unroll 1
    for (int first = 0; first < BLOCK; first += 4 * SUMMED<T>) {
        T v[SUMMED<T>];
        double w[SUMMED<T>];
        load_quarter(v, tile, first);
#pragma unroll
        for (int n = 0; n < SUMMED<T>; n++) {
            w[n] = 1;
            if constexpr (!std::is_null_pointer_v<W>) {
                const int k = first + 4 * n + lane;
                w[n] = tile.has(i, k) ? weight[k] : 0;
            }
        }
#pragma unroll
        for (int n = 0; n < SUMMED<T>; n++) sum += magnitude(v[n]) * w[n];
    }
    return sum;
}

/* Row threadIdx.x / 4 of |M| |D| e in tile row t, e all ones; the same on each of four lanes. */
template <class T, class P> __device__ inline double growth_of_row(const P &D, int first, int t)
{
    double sum = 0;
    for (int s = first; s <= t; s++) {
        const tile_at<T> M = s < t ? D.joined(t, s) : D.tile(t, t);
        sum = weigh_quarter<T>(sum, M, D.weight(s));
    }
    sum += shuffle_xor(sum, 1);
    return sum + shuffle_xor(sum, 2);
}

/* The largest v of all threads; scratch [warps] is shared memory. */
__device__ inline double largest_of_block(double *scratch, double v)
{
    for (int mask = 16; mask > 0; mask /= 2) v = larger_growth(shuffle_xor(v, mask), v);
    __syncthreads();
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
    __syncthreads();
    return largest_of_rows(scratch, WARPS);
}

/* The sum of magnitudes of row threadIdx.x / 4 of D in tile row t, the same on each of four lanes; before anything is
 * inverted. */
template <class T, class P> __device__ inline double weigh_row(const P &D, int first, int t)
{
    double sum = 0;
    for (int s = first; s <= t; s++) sum = weigh_quarter<T>(sum, D.tile(t, s), nullptr);
    sum += shuffle_xor(sum, 1);
    return sum + shuffle_xor(sum, 2);
}

#endif
