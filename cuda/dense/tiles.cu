/* tiles.cu: an update of dense-blocked makes the tiles of tiles.cuh.  Six kernels follow one another in a stream:
 *
 *     kernel  makes                                                            a block of threads has
 *     fill    L in tiles; rows from n to the next multiple of 64: identity     a row of L
 *     weigh   row sums of |D|, for the growth                                  a row of tiles
 *     invert  M_tt = L_tt^-1 (inverse.cuh: invert), unless it grows too much    a diagonal tile
 *     join    M_ts = -M_tt (sum of L_tu M_us, s <= u < t)                      a column of tiles of a panel
 *     split   a flag: the growth of M, the largest row sum of |M| |D|, is      a panel
 *             too large for M to be used
 *     scale   S_ts in the place of L_ts                                        a column of tiles, rows of a panel
 *
 * No block waits for another one, and each tile is written by one block a kernel: nothing can hang, and the bits are
 * the same every time.  `scale` multiplies 2.5 pairs of tiles for each of the n^2 / 8192 tiles, which makes 80 n^2
 * multiplications; the other kernels need fewer. */
#include "config.h"

#include "base/debug.h"
#include "cuda/blocks/block_inverse.cuh"
#include "tiles.cuh"

/* A block of threads a row; the rows past n are those of the identity. */
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
    for (int64_t p = Lp[i] + threadIdx.x; p < Lp[i + 1]; p += blockDim.x) {
        TRS_ASSERT(Li[p] >= 0 && Li[p] <= i);
        tile[tile_number(t, Li[p] / BLOCK) * TILE_SIZE + tile_place(i % BLOCK, Li[p] % BLOCK)] =
            Lx[p];
    }
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

/* Row sums of |D|. */
template <class T> static __global__ void weigh_kernel(const panel_at<T> P)
{
    const int t = blockIdx.x;
    const double sum = weigh_row<T>(P, t / PANEL * PANEL, t);
    if (threadIdx.x % 4 == 0) P.weight(t)[threadIdx.x / 4] = sum;
}

/* M_tt, unless L_tt is to be substituted. */
template <class T> static __global__ void invert_kernel(T *tile, int *substituted)
{
    two_tiles<T> *sh = (two_tiles<T> *)shared_numbers<T>();
    T *D = tile + tile_number(blockIdx.x, blockIdx.x) * TILE_SIZE;
    quarter_row<T> v;
    load_quarter<T>(v, {D, BLOCK, BLOCK});
    for (int e = threadIdx.x; e < TILE_SIZE; e += BLOCK_THREADS) sh->b[e] = number<T>(0);
    put_in_tile<T>(sh->a, v);
    __syncthreads();
    const bool good = invert(sh->a, sh->b, sh->norm, BLOCK) <= WORST<T>; /* a NaN is not */
    for (int e = threadIdx.x; e < TILE_SIZE && good; e += BLOCK_THREADS) D[e] = sh->b[e];
    if (threadIdx.x == 0) substituted[blockIdx.x] = !good;
}

/* None of rows first .. end-1 is to be substituted. */
__device__ inline bool all_inverted(const int *substituted, int first, int end)
{
    bool all = true;
    for (int t = first; t < end; t++) all = all && !substituted[t];
    return all;
}

/* Column s of M in a panel, which no other column waits for, unless a row of the panel is to be substituted. */
template <class T>
static __global__ void __launch_bounds__(BLOCK_THREADS, TWO_TILES_BESIDE<T>)
    join_kernel(int nt, const panel_at<T> P, const int *substituted)
{
    two_tiles<T> *sh = (two_tiles<T> *)shared_numbers<T>();
    const int first = (int)blockIdx.y * PANEL, end = min(first + PANEL, nt);
    const int s = first + (int)blockIdx.x;
    if (!all_inverted(substituted, first, end)) return;
    for (int t = s + 1; t < end; t++) join_tile<T>(sh, P, t, s);
}

/* May M of a panel be used? */
template <class T>
static __global__ void split_kernel(int nt, const panel_at<T> P, const int *substituted, int *split)
{
    two_tiles<T> *sh = (two_tiles<T> *)shared_numbers<T>();
    const int first = (int)blockIdx.x * PANEL, end = min(first + PANEL, nt);
    const bool good = all_inverted(substituted, first, end) &&
                      growth_of<T>(sh, P, first, end) <= WORST<T>; /* a NaN is not */
    if (threadIdx.x == 0) split[blockIdx.x] = !good;
}

/* Column s of S in the rows of a panel, from the last one up: S_ts needs L_us of the rows u <= t. */
template <class T>
static __global__ void __launch_bounds__(BLOCK_THREADS, TWO_TILES_BESIDE<T>)
    scale_kernel(int nt, const panel_at<T> P, const int *substituted, const int *split)
{
    const int s = blockIdx.x, panel = blockIdx.y, first = panel * PANEL;
    const bool alone = split[panel];
    if (s >= first && !alone) return;
    two_tiles<T> *sh = (two_tiles<T> *)shared_numbers<T>();
    for (int t = min(first + PANEL, nt) - 1; t >= first && t > s; t--)
        if (!substituted[t]) scale_tile<T>(sh, P, alone ? t : first, t, s);
}

/* ---- the host side ----------------------------------------------------------------------------------- */

int tiles_new(trs_context *ctx, int64_t n, trs_dtype t, tiles *d)
{
    d->nt = rows_of_tiles(n);
    const int panels = panels_of(d->nt);
    const size_t size = trs_size(t);
    d->tile = trs_gpu_new(ctx, tile_number(d->nt, 0) * TILE_SIZE, size, "the tiles");
    d->joined = trs_gpu_new(ctx, (int64_t)panels * PAIRS * TILE_SIZE, size, "tiles of panels");
    d->weight = device_new<double>(ctx, (int64_t)d->nt * BLOCK, "sums of rows");
    d->substituted = device_new<int>(ctx, d->nt, "flags of the tiles");
    d->split = device_new<int>(ctx, panels, "flags of the panels");
    return d->tile && d->joined && d->weight && d->substituted && d->split ? TRS_OK : TRS_EMEM;
}

void tiles_free(trs_context *ctx, tiles *d)
{
    device_free(ctx, d->tile, d->joined, d->weight, d->substituted, d->split);
}

template <class T>
static int take(const tiles *d, int64_t n, const trs_device_view *L, const T *val,
                cudaStream_t stream)
{
    const size_t bytes = sizeof(two_tiles<T>);
    T *tile = (T *)d->tile;
    const panel_at<T> P = {tile, (T *)d->joined, d->weight};
    const unsigned nt = (unsigned)d->nt, panels = (unsigned)panels_of(d->nt);
    if (cudaMemsetAsync(tile, 0, (size_t)tile_number(d->nt, 0) * TILE_SIZE * sizeof(T), stream) !=
            cudaSuccess ||
        allow_shared(invert_kernel<T>, bytes) != cudaSuccess ||
        allow_shared(join_kernel<T>, bytes) != cudaSuccess ||
        allow_shared(split_kernel<T>, bytes) != cudaSuccess ||
        allow_shared(scale_kernel<T>, bytes) != cudaSuccess)
        return TRS_EDEVICE;
    fill_kernel<T><<<nt * BLOCK, 128, 0, stream>>>(n, L->ptr, L->idx, val, tile);
    weigh_kernel<T><<<nt, BLOCK_THREADS, 0, stream>>>(P);
    invert_kernel<T><<<nt, BLOCK_THREADS, bytes, stream>>>(tile, d->substituted);
    join_kernel<T>
        <<<dim3(PANEL - 1, panels), BLOCK_THREADS, bytes, stream>>>(d->nt, P, d->substituted);
    split_kernel<T><<<panels, BLOCK_THREADS, bytes, stream>>>(d->nt, P, d->substituted, d->split);
    scale_kernel<T>
        <<<dim3(nt, panels), BLOCK_THREADS, bytes, stream>>>(d->nt, P, d->substituted, d->split);
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
           panels * 4;
}
