/* panel.cuh: the inverse of the diagonal block of a panel, which is some rows of tiles, and what is scaled with it.
 *
 *     M_ts = -M_tt (sum of L_tu M_us, s <= u < t);    S_ts = sum of M_tu L_us, u <= t
 *
 * P says where tiles are: P.tile (t, u) is L_tu, M_tt where t = u; P.joined (t, u), u < t, is where M_tu goes,
 * which may be the same place; P.weight (u) are the sums of magnitudes of the rows of D, those of tile row u.
 * By 256 threads. */
#ifndef TRS_PANEL_CUH
#define TRS_PANEL_CUH

#include "blocks.cuh"

template <class T> struct tile_at {
    T *p;
    int rows, columns;
    __device__ bool has(int i, int k) const { return i < rows && k < columns; }
    __device__ T &at(int i, int k) const { return p[tile_place(i, k, rows)]; }
    __device__ T get(int i, int k) const { return has(i, k) ? at(i, k) : number<T>(0); }
};

template <class T>
using columns = T[share<BLOCK>::COLUMNS]; /* of a tile, of row threadIdx.x % 64 */

template <class T> __device__ inline void clear(columns<T> &sum)
{
    for (int c = 0; c < share<BLOCK>::COLUMNS; c++) sum[c] = number<T>(0);
}

/* sum += a b */
template <class T>
__device__ inline void add_tiles(two_tiles<T> *sh, columns<T> &sum, const tile_at<T> &a,
                                 const tile_at<T> &b)
{
    __syncthreads();
    for (int e = threadIdx.x; e < TILE_SIZE; e += BLOCK_THREADS) {
        const int i = e % BLOCK_THREADS / 4, k = e / BLOCK_THREADS * 4 + e % 4;
        sh->a[e] = a.get(i, k);
        sh->b[i * BLOCK + k] = b.get(i, k);
    }
    __syncthreads();
    add_product<T, BLOCK>(sum, sh->a, sh->b, false, false);
}

template <class T>
__device__ inline void store_tile(const tile_at<T> &to, const columns<T> &sum, bool minus)
{
    const share<BLOCK> me;
    for (int c = 0; c < share<BLOCK>::COLUMNS; c++)
        if (to.has(me.row, me.first + c))
            to.at(me.row, me.first + c) = minus ? number<T>(0) - sum[c] : sum[c];
}

/* M_ts, from M_us and L_tu, s <= u < t, which are there: where M goes to the place of L, the M_ts of a row are made in the
 * order of s. */
template <class T, class P>
__device__ inline void join_tile(two_tiles<T> *sh, const P &panel, int t, int s)
{
    const tile_at<T> M = panel.joined(t, s);
    columns<T> sum;
    clear<T>(sum);
    for (int u = s; u < t; u++)
        add_tiles<T>(sh, sum, panel.tile(t, u), u > s ? panel.joined(u, s) : panel.tile(s, s));
    __syncthreads(); /* L_ts has been read, where M_ts goes */
    store_tile<T>(M, sum, true);
    clear<T>(sum);
    add_tiles<T>(sh, sum, panel.tile(t, t), M);
    __syncthreads();
    store_tile<T>(M, sum, false);
    __syncthreads();
}

/* Of row threadIdx.x / 4 of tile row t, on each of four lanes: the row of |M| |D| 1. */
template <class T, class P> __device__ inline double growth_of_row(const P &panel, int first, int t)
{
    const int i = threadIdx.x / 4;
    double sum = 0;
    for (int s = first; s <= t; s++) {
        const tile_at<T> M = s < t ? panel.joined(t, s) : panel.tile(t, t);
        const double *weight = panel.weight(s);
        for (int k = threadIdx.x % 4; k < BLOCK; k += 4)
            if (M.has(i, k)) sum += magnitude(M.at(i, k)) * weight[k];
    }
    sum += from_lane(sum, 1);
    return sum + from_lane(sum, 2);
}

/* The largest of what the threads have; a NaN is larger than any number. */
__device__ inline double largest_of_block(double *scratch, double v)
{
    __syncthreads();
    scratch[threadIdx.x] = v;
    __syncthreads();
    for (int k = 0; k < BLOCK_THREADS; k++)
        v = scratch[k] > v || isnan(scratch[k]) ? scratch[k] : v;
    return v;
}

/* The growth of M: the largest row sum of |M| |D|, of tile rows first+1 .. end-1. */
template <class T, class P>
__device__ inline double growth_of(two_tiles<T> *sh, const P &panel, int first, int end)
{
    double growth = 0;
    for (int t = first + 1; t < end; t++) {
        const double g = growth_of_row<T>(panel, first, t);
        growth = g > growth || isnan(g) ? g : growth;
    }
    return largest_of_block((double *)sh->b, growth);
}

/* S_ts in the place of L_ts, from M_tu, first <= u <= t, and L_us; s is before the panel.  Of this thread's numbers: are
 * they finite? */
template <class T, class P>
__device__ inline bool scale_tile(two_tiles<T> *sh, const P &panel, int first, int t, int s)
{
    columns<T> sum;
    clear<T>(sum);
    for (int u = first; u <= t; u++)
        add_tiles<T>(sh, sum, u < t ? panel.joined(t, u) : panel.tile(t, t), panel.tile(u, s));
    __syncthreads();
    store_tile<T>(panel.tile(t, s), sum, false);
    bool finite = true;
    for (int c = 0; c < share<BLOCK>::COLUMNS; c++) finite = finite && is_finite(sum[c]);
    return finite;
}

/* The sums of magnitudes of row threadIdx.x / 4 of D, of tile row t, on each of four lanes; before anything is
 * inverted. */
template <class T, class P> __device__ inline double weigh_row(const P &panel, int first, int t)
{
    const int i = threadIdx.x / 4;
    double sum = 0;
    for (int s = first; s <= t; s++) {
        const tile_at<T> L = panel.tile(t, s);
        for (int k = threadIdx.x % 4; k < BLOCK; k += 4)
            if (L.has(i, k)) sum += magnitude(L.at(i, k));
    }
    sum += from_lane(sum, 1);
    return sum + from_lane(sum, 2);
}

#endif
