/* inverse.cuh: the inverse of a diagonal tile, and whether it may be used in the place of substitution.
 *
 * The error of x = M b, M = T^-1, is bounded componentwise by unit roundoff times |M| |T| |x| times a small
 * factor.  The growth is the largest row sum of |M| |T|, Skeel's condition number of the tile: where it is beyond
 * WORST, the tile is substituted. */
#ifndef TRS_INVERSE_CUH
#define TRS_INVERSE_CUH

#include "tile.cuh"

#include <type_traits>

/* Growth beyond which a tile is substituted: it costs 4 of 16 digits, or 2 of 7. */
template <class T>
constexpr double WORST = std::is_same_v<T, float> || std::is_same_v<T, cuFloatComplex> ? 1e2 : 1e4;

template <class T> struct two_tiles { /* shared memory */
    T a[TILE_SIZE], b[TILE_SIZE];
    double norm[BLOCK];
};

/* For how many thread blocks with two tiles an SM should have registers: it has shared memory for more. */
template <class T> constexpr int TWO_TILES_BESIDE = sizeof(T) <= 8 ? 2 : 1;

/* inverse = tile^-1, both lower, 64x64 and in shared memory, of which the first `rows` rows and columns count;
 * inverse is zero before.  Thread j < rows owns column j:
 *
 *     m_ij = (delta_ij - sum of t_ik m_kj, j <= k < i) / t_ii
 *
 * Returns the growth in every thread; it is not finite where a diagonal entry is so far from 1 that the inverse may
 * have underflowed.  norm [64] in shared memory is scratch. */
template <class T>
__device__ inline double invert(const T *tile, T *inverse, double *norm, int rows)
{
    const int j = threadIdx.x;
    TRS_ASSERT(rows >= 1 && rows <= BLOCK);
    if (j < rows) {
        double sum = 0;
        for (int k = 0; k <= j; k++) sum += magnitude(tile[tile_place(j, k)]);
        norm[j] = is_near_one(tile[tile_place(j, j)]) ? sum : INFINITY;
        for (int i = j; i < rows; i++) {
            T s = number<T>(i == j);
#pragma unroll 8
            for (int k = j; k < i; k++) s = s - tile[tile_place(i, k)] * inverse[tile_place(k, j)];
            inverse[tile_place(i, j)] = s / tile[tile_place(i, i)];
        }
    }
    __syncthreads();
    double growth = 0;
    if (j < rows)
        for (int k = 0; k <= j; k++) growth += magnitude(inverse[tile_place(j, k)]) * norm[k];
    __syncthreads();
    if (j < rows) norm[j] = growth;
    __syncthreads();
    for (int k = 0; k < rows; k++) growth = norm[k] > growth || isnan(norm[k]) ? norm[k] : growth;
    __syncthreads();
    return growth;
}

#endif
