/* solve_one.cuh: a slice of dense-blocked, 16 rows of a row of tiles, for one right-hand side, by one block of threads.
 *
 * With one right-hand side every number of a tile is used once, so the time is that of reading the tiles.  Slices,
 * four for each row of tiles, give every SM something to read.  The tiles are in registers, not in shared memory: a
 * thread has four columns of one row of each tile, and the tiles of two phases are in flight at a time.  The order of
 * the tiles, by panels of four,
 *
 *     phase          0            1 .. q               q+1
 *     tiles          M_tf..M_tt   S of panels 0..q-1   S left of t in its own panel, where that is split
 *     times          b            x                    x
 *
 * where q is the number of the panel of t.  The block waits for x panel by panel, each of the 256 threads for one
 * number. */
#ifndef TRS_SOLVE_ONE_CUH
#define TRS_SOLVE_ONE_CUH

#include "row_of_tiles.cuh"

enum { AHEAD = 2 }; /* phases whose tiles are in registers, or on their way */

template <class T> struct shared_one {
    T x[2][int(PANEL) * int(BLOCK)]; /* b or -x of a phase, in turn */
    T part[WARPS][SLICE];
    T tile[int(SLICE) * int(BLOCK)]; /* of the diagonal, to be substituted */
    int t;                           /* the ticket */
};

template <class T> struct slice {
    shared_one<T> *sh;
    const problem<T> &P;
    const tile_row row;
    const int first_row; /* of the tiles: 0, 16, 32 or 48 */
    const int panel;     /* of the row */
    const T *x;          /* published */
    T seen;              /* what was seen of number threadIdx.x of the panel of x that comes next */
    T sum[4];            /* of row threadIdx.x % 16, over four columns of each tile */

    __device__ slice(shared_one<T> *sh, const problem<T> &P, int t, unsigned now)
        : sh(sh), P(P), row(P, t / SLICES), first_row(t % SLICES * SLICE), panel(row.t / PANEL),
          x(P.copy + now * P.copy_size)
    {
        for (int z = 0; z < 4; z++) sum[z] = number<T>(0);
    }

    __device__ int tiles_of_phase(int p) const
    {
        if (p == 0) return row.substituted ? 0 : row.t - row.first + 1;
        if (p <= panel) return PANEL;
        return p == panel + 1 ? row.first - panel * PANEL : 0;
    }
    __device__ void load(part_of_tile<T> &a, int p, int k) const
    {
        const int s = p == 0 ? row.first : (p - 1) * PANEL;
        if (k < tiles_of_phase(p)) a.load(tile_of(P, row, s + k), first_row);
    }
    /* A first look at x of panel q, if that is before the row's own. */
    __device__ void look(int q)
    {
        if (q < panel) seen = flag_peek(x + (int64_t)q * PANEL * BLOCK + threadIdx.x);
    }
    /* x of panel q into shared memory, waiting for what was not there. */
    __device__ void collect(int q)
    {
        if (!flag_there(seen)) seen = flag_wait(x + (int64_t)q * PANEL * BLOCK + threadIdx.x);
        sh->x[(q + 1) & 1][threadIdx.x] = number<T>(0) - seen;
        look(q + 1);
        __syncthreads();
    }
    /* A phase, each tile of which makes room for one of a later phase. */
    __device__ void phase(part_of_tile<T> (&a)[PANEL], int p)
    {
        const int count = tiles_of_phase(p);
        if (p > 0) collect(p - 1);
#pragma unroll
        for (int k = 0; k < PANEL; k++) {
            if (k < count) a[k].multiply(sum, sh->x[p & 1] + k * BLOCK, P.cj);
            load(a[k], p + AHEAD, k);
        }
    }
    /* The last phase of a split panel: x_s of one row of tiles after the other. */
    __device__ void last_phase(part_of_tile<T> (&a)[PANEL])
    {
#pragma unroll
        for (int k = 0; k < PANEL - 1; k++) {
            const int s = panel * PANEL + k;
            if (s >= row.first) break;
            __syncthreads(); /* all threads are done with x */
            if (threadIdx.x < BLOCK)
                sh->x[0][threadIdx.x] =
                    number<T>(0) - flag_wait(x + (int64_t)s * BLOCK + threadIdx.x);
            __syncthreads();
            a[k].multiply(sum, sh->x[0], P.cj);
        }
    }

    /* x of the slice's rows by substitution: first what the slices before this one of the same tile have published,
     * then a row after the other.  v is the sum over the tiles left of the diagonal. */
    __device__ T substituted(T v)
    {
        const T *from = tile_of(P, row, row.t);
        const int mine = threadIdx.x % SLICE;
        __syncthreads(); /* all threads are done with x */
        for (int e = threadIdx.x; e < SLICE * BLOCK; e += BLOCK_THREADS) {
            const int i = e / 4 % SLICE, k = e / (4 * SLICE) * 4 + e % 4;
            sh->tile[e] = conj_if(P.cj, from[tile_place(first_row + i, k)]);
        }
        if ((int)threadIdx.x < first_row)
            sh->x[0][threadIdx.x] = flag_wait(x + (int64_t)row.t * BLOCK + threadIdx.x);
        load_b<T, 1>(sh->x[1], P, row.t);
        __syncthreads();
        v = sh->x[1][first_row + mine] + v;
        for (int k = 0; k < first_row; k++)
            v = v - sh->tile[tile_place(mine, k, SLICE)] * sh->x[0][k];
        for (int k = 0; k < SLICE; k++) {
            const T *column = sh->tile + tile_place(0, first_row + k, SLICE);
            if ((int)threadIdx.x == k) sh->x[0][first_row + k] = v / column[4 * k];
            __syncthreads();
            if (mine > k) v = v - column[4 * mine] * sh->x[0][first_row + k];
        }
        return sh->x[0][first_row + mine];
    }
};

template <class T>
static __device__ void solve_row(shared_one<T> *sh, const problem<T> &P, int t, unsigned now)
{
    slice<T> r(sh, P, t, now);
    part_of_tile<T> a[AHEAD][PANEL];
#pragma unroll
    for (int d = 0; d < AHEAD; d++)
#pragma unroll
        for (int k = 0; k < PANEL; k++) r.load(a[d][k], d, k);
    load_b<T, 1>(sh->x[0], P, r.row.first, PANEL * BLOCK);
    r.look(0);
    __syncthreads();
    for (int p = 0; p <= r.panel + 1; p += AHEAD)
#pragma unroll
        for (int d = 0; d < AHEAD; d++) {
            if (p + d <= r.panel) r.phase(a[d], p + d);
            else if (p + d == r.panel + 1) r.last_phase(a[d]);
        }
    T v = join_parts(sh->part, r.sum);
    if (r.row.substituted) v = r.substituted(v);
    const int64_t i = (int64_t)t * SLICE + threadIdx.x;
    if (threadIdx.x >= SLICE) return;
    publish(P.copy + now * P.copy_size + i, v);
    if (i < P.n) P.x(i, 0) = v;
}

#endif
