/* block_inverse.cuh: the inverse of a block triangle D of a few rows of tiles, and what stands left of D scaled by
 * it.
 *
 *              s         f   f+1  f+2                M = D^-1,  S = M L:
 *            L_fs   |   L_ff
 *     ...    L_f+1s |   L      L                     M_tt = L_tt^-1 (inverse.cuh)
 *            L_f+2s |   L      L     L               M_ts = -M_tt (sum of L_tu M_us, s <= u < t),   s < t
 *                          D                         S_ts = sum of M_tu L_us, f <= u <= t,          s < f
 *
 * D is that of a panel of dense-blocked, or of a chain of supernodes.  The argument D of a function says where its
 * tiles are: D.tile (t, u) is L_tu, and M_tt where t = u; D.joined (t, u), u < t, is where M_tu goes, which may be
 * the same place; D.weight (u) are the sums of magnitudes of the rows of tile row u of D.  All functions are for
 * 256 threads. */
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

/* What a thread has of a product of tiles: columns 4 (threadIdx.x / 16) .. +3 of rows 4 (threadIdx.x % 16) .. +3, so that
 * eight numbers from shared memory make sixteen products. */
template <class T> struct product_share {
    T v[4][4];
    __device__ product_share()
    {
        for (int e = 0; e < 16; e++) v[e / 4][e % 4] = number<T>(0);
    }
    __device__ static int row() { return 4 * ((int)threadIdx.x % 16); }
    __device__ static int column() { return 4 * ((int)threadIdx.x / 16); }
    /* += column k of a, which stands in shared memory by columns, times row k of b, which stands there by rows */
    __device__ void add(const T *a, const T *b, int k)
    {
        const quad<T> l = *(const quad<T> *)(a + k * COLUMN_PITCH + row());
        const quad<T> r = *(const quad<T> *)(b + k * BLOCK + column());
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) v[i][j] = v[i][j] + l.v[i] * r.v[j];
    }
};

/* What a thread loads of a tile: columns 4 n + threadIdx.x % 4 of row threadIdx.x / 4, and zero where the tile has none.
 * All of it is under way before any of it is needed. */
template <class T> using quarter_row = T[TILE_SIZE / BLOCK_THREADS];

template <class T> __device__ inline void load_quarter(quarter_row<T> &v, const tile_at<T> &tile)
{
#pragma unroll
    for (int n = 0; n < TILE_SIZE / BLOCK_THREADS; n++)
        v[n] = tile.get((int)threadIdx.x / 4, 4 * n + (int)threadIdx.x % 4);
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

/* sum += a b; other threads of the block may have written to a and b just before. */
template <class T>
__device__ inline void add_tiles(two_tiles<T> *sh, product_share<T> &sum, const tile_at<T> &a,
                                 const tile_at<T> &b)
{
    quarter_row<T> v, w;
    __syncthreads();
    load_quarter<T>(v, a);
    load_quarter<T>(w, b);
    put_by_columns<T>(sh->a, v);
    put_by_rows<T>(sh->b, w);
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < BLOCK; k++) sum.add(sh->a, sh->b, k);
}

template <class T>
__device__ inline void store_tile(const tile_at<T> &to, const product_share<T> &sum, bool minus)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (to.has(sum.row() + i, sum.column() + j))
                to.at(sum.row() + i, sum.column() + j) =
                    minus ? number<T>(0) - sum.v[i][j] : sum.v[i][j];
}

/* Makes M_ts from M_us and L_tu, s <= u < t, which have to be there: where M_ts takes the place of L_ts, those of a
 * row are made in the order of s. */
template <class T, class P>
__device__ inline void join_tile(two_tiles<T> *sh, const P &D, int t, int s)
{
    const tile_at<T> M = D.joined(t, s);
    product_share<T> below, sum;
    for (int u = s; u < t; u++)
        add_tiles<T>(sh, below, D.tile(t, u), u > s ? D.joined(u, s) : D.tile(s, s));
    __syncthreads(); /* L_ts has been read, where M_ts goes */
    store_tile<T>(M, below, true);
    add_tiles<T>(sh, sum, D.tile(t, t), M);
    __syncthreads();
    store_tile<T>(M, sum, false);
    __syncthreads();
}

/* Row threadIdx.x / 4 of |M| |D| e in tile row t, e all ones; the same on each of four lanes. */
template <class T, class P> __device__ inline double growth_of_row(const P &D, int first, int t)
{
    const int i = threadIdx.x / 4, lane = threadIdx.x % 4;
    double sum = 0;
    for (int s = first; s <= t; s++) {
        const tile_at<T> M = s < t ? D.joined(t, s) : D.tile(t, t);
        const double *weight = D.weight(s);
        quarter_row<T> v;
        quarter_row<double> w;
        load_quarter<T>(v, M);
#pragma unroll
        for (int n = 0; n < BLOCK / 4; n++)
            w[n] = M.has(i, 4 * n + lane) ? weight[4 * n + lane] : 0;
#pragma unroll
        for (int n = 0; n < BLOCK / 4; n++) sum += magnitude(v[n]) * w[n];
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

/* The growth of M: the largest row sum of |M| |D|, of tile rows first+1 .. end-1. */
template <class T, class P>
__device__ inline double growth_of(two_tiles<T> *sh, const P &D, int first, int end)
{
    double growth = 0;
    for (int t = first + 1; t < end; t++) {
        growth = larger_growth(growth_of_row<T>(D, first, t), growth);
    }
    return largest_of_block((double *)sh->b, growth);
}

/* Makes S_ts in the place of L_ts, from M_tu, first <= u <= t, and L_us; s is left of D.  The rows of a column are
 * made from the last one up, since S_ts needs L_us of the rows above.  Returns whether this thread's numbers are
 * finite. */
template <class T, class P>
__device__ inline bool scale_tile(two_tiles<T> *sh, const P &D, int first, int t, int s)
{
    product_share<T> sum;
    for (int u = first; u <= t; u++)
        add_tiles<T>(sh, sum, u < t ? D.joined(t, u) : D.tile(t, t), D.tile(u, s));
    __syncthreads();
    store_tile<T>(D.tile(t, s), sum, false);
    bool finite = true;
    for (int e = 0; e < 16; e++) finite = finite && is_finite(sum.v[e / 4][e % 4]);
    return finite;
}

/* The sum of magnitudes of row threadIdx.x / 4 of D in tile row t, the same on each of four lanes; before anything is
 * inverted. */
template <class T, class P> __device__ inline double weigh_row(const P &D, int first, int t)
{
    double sum = 0;
    for (int s = first; s <= t; s++) {
        quarter_row<T> v;
        load_quarter<T>(v, D.tile(t, s));
#pragma unroll
        for (int n = 0; n < BLOCK / 4; n++) sum += magnitude(v[n]);
    }
    sum += shuffle_xor(sum, 1);
    return sum + shuffle_xor(sum, 2);
}

#endif
