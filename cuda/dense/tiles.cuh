/* tiles.cuh: a full lower triangle in tiles of 64x64, scaled by the inverses of its diagonal blocks (tiles.cu).
 *
 * Four rows of tiles f .. f+3 are a panel; D is its diagonal block of 256 rows:
 *
 *                     s < f        f f+1 f+2 f+3
 *         f        [  .   .   .  | L             ]
 *         f+1      [  .  L_ts .  | L   L         ]       right of the bar: D
 *         f+2      [  .   .   .  | L   L   L     ]
 *         f+3      [  .   .   .  | L   L   L   L ]
 *
 * Multiplied by M = D^-1 from the left, the rows of a panel do not wait for one another:
 *
 *     x_t = sum of M_ts b_s, f <= s <= t  -  sum of S_ts x_s, s < f;    S_ts = sum of M_tu L_us, f <= u <= t
 *
 * An update makes M and S; a solve is two products.  M is as accurate as substitution as long as it does not grow.
 * Its growth is the largest row sum of |M| |D|, Skeel's condition number of D.  If it exceeds WORST (blocks.cuh) the
 * panel is split, and each of its rows of tiles becomes a panel of its own:
 *
 *     x_t = M_tt b_t - sum of S_ts x_s, s < t;   S_ts = M_tt L_ts
 *
 * If even M_tt grows too much, row t of tiles remains L and is substituted. */
#ifndef TRS_TILES_CUH
#define TRS_TILES_CUH

#include "cuda/blocks/blocks.cuh"

enum { PANEL = 4, PAIRS = PANEL * (PANEL - 1) / 2 };

struct tiles {    /* arrays on the device */
    int nt;       /* rows of tiles */
    void *tile;   /* [nt*(nt+1)/2] row t from t(t+1)/2 on: tiles of S, the last one M_tt or L_tt */
    void *joined; /* [panels][PAIRS] tiles of M left of the diagonal */
    double *weight; /* [nt*64] sums of magnitudes of the rows of D */
    /* [n][nt+1] the first entry of each row in a tile, counted from the beginning of the row; then all of them */
    int32_t *begin;
    int *substituted; /* [nt] 1: row t of tiles is L itself, to be substituted */
    int *split;       /* [panels] 1: each row of tiles is a panel of its own */
};

__host__ __device__ inline int64_t tile_number(int64_t t, int64_t s)
{
    return t * (t + 1) / 2 + s;
}

/* Where M_ts is, s < t of one panel, among those of all panels. */
__host__ __device__ inline int64_t joined_number(int t, int s)
{
    return (int64_t)(t / PANEL) * PAIRS + tile_number(t % PANEL - 1, s % PANEL);
}

inline int panels_of(int nt)
{
    return (nt + PANEL - 1) / PANEL;
}

inline int rows_of_tiles(int64_t n)
{
    return (int)((n + BLOCK - 1) / BLOCK);
}

/* For a pattern on the device, of which only ptr and idx are read.  d is zero before; whatever comes of it, free it. */
int tiles_new(trs_context *ctx, int64_t n, trs_dtype t, const trs_device_view *L, tiles *d);
void tiles_free(trs_context *ctx, tiles *d);
/* All arrays of d, from the values val of L, whose ptr and idx are on the device, too; on a stream. */
int tiles_take(const tiles *d, int64_t n, const trs_device_view *L, trs_dtype t, const void *val,
               cudaStream_t stream);
/* Bytes on the device. */
int64_t tiles_bytes(int64_t n, int64_t elem);

#endif
