/* row_of_tiles.cuh: shared by both kernels of dense-blocked: the problem, and the tiles of a row in the order of
 * their products.
 *
 * Row t of tiles, of panel f .. f+3 (tiles.cuh), is a sum over its tiles, first those of M times b, then those of S
 * times x.  So a block waits for nothing until the products with b are done:
 *
 *     step           0  ..  t-f      t-f+1  ..  t
 *     tile           f  ..  t        0      ..  f-1
 *     is             M_ts            S_ts
 *     times          b_s             x_s, which is published in this order
 *
 * A row that is substituted has L itself on the diagonal, S elsewhere, and takes its tiles from left to right. */
#ifndef TRS_ROW_OF_TILES_CUH
#define TRS_ROW_OF_TILES_CUH

#include "base/debug.h"
#include "tiles.cuh"

template <class T> struct problem { /* of a launch */
    int64_t n;
    int nt, nrhs; /* rows of tiles; right-hand sides of this launch */
    const T *tile, *joined;
    const int *substituted, *split;
    view<T> b, x;
    bool cj;
    turn *state;
    T *copy; /* [2][copy_size] published x, row of tiles after row of tiles */
    int64_t copy_size;
};

struct tile_row {
    int t, first;     /* its tiles first .. t are those of M */
    bool substituted; /* the last tile is L_tt, to be substituted */
    template <class P>
    __device__ tile_row(const P &p, int t)
        : t(t), first(p.split[t / PANEL] ? t : t / PANEL * PANEL), substituted(p.substituted[t])
    {
        TRS_ASSERT(t < p.nt);
        TRS_ASSERT(!substituted || first == t); /* its panel is split */
    }
    /* The tile of a step. */
    __device__ int tile(int step) const
    {
        const int of_M = t - first + 1;
        if (substituted) return step;
        return step < of_M ? first + step : step - of_M;
    }
};

template <class T> __device__ inline const T *tile_of(const problem<T> &P, const tile_row &r, int s)
{
    const bool joined = s >= r.first && s < r.t;
    TRS_ASSERT(s >= 0 && s <= r.t);
    return joined ? P.joined + joined_number(r.t, s) * TILE_SIZE
                  : P.tile + tile_number(r.t, s) * TILE_SIZE;
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

/* Empty the place of these rows of x in the copy of the other turn, for the next solve: nobody reads that copy now.  It
 * may have been written with another number of right-hand sides. */
template <class T>
__device__ inline void empty_other(const problem<T> &P, int t, int rows, unsigned now)
{
    const int64_t old = (int64_t)rows * P.state->width[1 - now];
    T *other = P.copy + (1 - now) * P.copy_size + t * old;
    TRS_ASSERT((t + 1) * old <= P.copy_size);
    for (int64_t e = threadIdx.x; e < old; e += BLOCK_THREADS) flag_clear(other + e);
}

#endif
