/* inverse.cuh: the inverse of a diagonal tile, and whether it may replace substitution.
 *
 * The error of x = M b, M = T^-1, is bounded componentwise by unit roundoff times |M| |T| |x| times a small
 * factor.  The growth is the largest row sum of |M| |T|, Skeel's condition number of the tile.  If it exceeds
 * WORST, the tile is substituted. */
#ifndef TRS_INVERSE_CUH
#define TRS_INVERSE_CUH

#include "tile.cuh"

#include <type_traits>

/* Growth beyond which a tile is substituted: it costs 4 of 16 digits, or 2 of 7. */
template <class T>
constexpr double WORST = std::is_same_v<T, float> || std::is_same_v<T, cuFloatComplex> ? 1e2 : 1e4;

/* From a column to the next of a matrix that stands by columns in shared memory: those of a warp that write a few rows of
 * four columns meet in few banks. */
constexpr int COLUMN_PITCH = BLOCK + 4;

template <class T> struct two_tiles { /* shared memory */
    T a[BLOCK * COLUMN_PITCH], b[TILE_SIZE];
    double norm[BLOCK];
};

/* For how many thread blocks with two tiles an SM should have registers: it has shared memory for more. */
template <class T> constexpr int TWO_TILES_BESIDE = sizeof(T) <= 8 ? 2 : 1;

/* The larger of two growths; a NaN counts as larger than any number. */
__device__ inline double larger_growth(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

/* The largest of growth [0 .. rows-1] in shared memory, in every thread. */
__device__ inline double largest_of_rows(const double *growth, int rows)
{
    const int lane = (int)threadIdx.x % 32;
    double v = 0;
    for (int i = lane; i < rows; i += 32) v = larger_growth(growth[i], v);
    for (int mask = 16; mask > 0; mask /= 2) v = larger_growth(shuffle_xor(v, mask), v);
    return v;
}

/* Magnitudes that a thread sums without a branch: all that it has of a row of a tile; of complex numbers, whose magnitude is
 * much code, a few. */
template <class T> constexpr int SUMMED = std::is_floating_point_v<T> ? BLOCK / 4 : 4;

/* norm [i] = the sum of magnitudes of row i of the tile, Inf where its diagonal entry is so far from 1 that the inverse may
 * underflow.  Four lanes have a row. */
template <class T> __device__ inline void weigh_tile(const T *tile, double *norm, int rows)
{
    const int i = (int)threadIdx.x / 4, lane = (int)threadIdx.x % 4;
    double sum = 0;
#pragma unroll SUMMED < T>
    for (int k = 0; k < BLOCK; k += 4)
        if (k + lane <= i) sum += magnitude(tile[tile_place(i, k + lane)]);
    sum += shuffle_xor(sum, 1);
    sum += shuffle_xor(sum, 2);
    if (lane > 0) return;
    if (i < rows && !is_near_one(tile[tile_place(i, i)])) sum = INFINITY;
    norm[i] = i < rows ? sum : 0;
}

/* norm = |M| norm, a row of M for four lanes. */
template <class T> __device__ inline void multiply_norm(const T *inverse, double *norm, int rows)
{
    const int i = (int)threadIdx.x / 4, lane = (int)threadIdx.x % 4;
    double sum = 0;
#pragma unroll SUMMED < T>
    for (int k = 0; k < BLOCK; k += 4)
        if (k + lane <= i) sum += magnitude(inverse[tile_place(i, k + lane)]) * norm[k + lane];
    sum += shuffle_xor(sum, 1);
    sum += shuffle_xor(sum, 2);
    __syncthreads();
    if (lane == 0 && i < rows) norm[i] = sum;
    __syncthreads();
}

constexpr int SIXTEENTH = 16; /* rows of the blocks that are inverted by substitution */

/* Column c of the inverse of at most 16 rows, by a thread that has it in registers and waits for no other one: entry (i, k) is
 * below the diagonal, reciprocal (i) that of a diagonal entry. */
template <class T, class E, class R>
__device__ inline void invert_column(T (&m)[SIXTEENTH], int c, int rows, E entry, R reciprocal)
{
#pragma unroll
    for (int i = 0; i < SIXTEENTH; i++) {
        m[i] = number<T>(0);
        if (i >= rows) continue;
        T s = number<T>(i == c);
#pragma unroll
        for (int k = 0; k < i; k++) s = s - entry(i, k) * m[k];
        m[i] = s * reciprocal(i);
    }
}

/* Column threadIdx.x % 16 of the inverse of one of the four blocks of 16 rows; the inverse has their reciprocal diagonal. */
template <class T> __device__ inline void invert_sixteenth(const T *tile, T *inverse)
{
    const int q = (int)threadIdx.x / SIXTEENTH * SIXTEENTH, c = (int)threadIdx.x % SIXTEENTH;
    T m[SIXTEENTH];
    invert_column(
        m, c, SIXTEENTH, [=](int i, int k) { return tile[tile_place(q + i, q + k)]; },
        [=](int i) { return inverse[tile_place(q + i, q + i)]; });
#pragma unroll
    for (int i = 0; i < SIXTEENTH; i++)
        if (i > c) inverse[tile_place(q + i, q + c)] = m[i];
}

/* sum = this thread's numbers of a product of H x H blocks of tiles: row i of a, from column ka on, times rows kb, kb + 1, ...
 * of b, of which it has H / 8 columns from j on. */
template <class T, int H>
__device__ inline void multiply_half(T (&sum)[H / 8], const T *a, int i, int ka, const T *b, int kb,
                                     int j)
{
#pragma unroll
    for (int c = 0; c < H / 8; c++) sum[c] = number<T>(0);
#pragma unroll 2
    for (int k = 0; k < H; k += 4) {
        const quad<T> v = *(const quad<T> *)(a + tile_place(i, ka + k));
#pragma unroll
        for (int z = 0; z < 4; z++) {
            const pack<T, H / 8> w = *(const pack<T, H / 8> *)(b + tile_place(kb + k + z, j));
#pragma unroll
            for (int c = 0; c < H / 8; c++) sum[c] = sum[c] + v.v[z] * w.v[c];
        }
    }
}

/* From the inverses of blocks of H rows to those of 2 H: M_21 = -M_22 (L_21 M_11), of all pairs of them at a time. */
template <class T, int H> __device__ inline void join_halves(const T *tile, T *inverse)
{
    constexpr int EACH = 8 * H, COLUMNS = H / 8; /* threads of a pair; columns of a thread */
    const int me = (int)threadIdx.x % EACH, left = (int)threadIdx.x / EACH * 2 * H,
              below = left + H;
    const int i = below + me % H, j = left + me / H * COLUMNS;
    T sum[COLUMNS];
    multiply_half<T, H>(sum, tile, i, left, inverse, left, j);
    for (int c = 0; c < COLUMNS; c++) inverse[tile_place(i, j + c)] = sum[c];
    __syncthreads();
    multiply_half<T, H>(sum, inverse, i, below, inverse, below, j);
    __syncthreads();
    for (int c = 0; c < COLUMNS; c++) inverse[tile_place(i, j + c)] = number<T>(0) - sum[c];
    __syncthreads();
}

/* inverse = tile^-1, both lower, 64x64 and in shared memory, of which the first `rows` rows and columns count, and the others
 * are zero; inverse is zero before.  Blocks of 16 rows are inverted side by side, then those of 32, of 64:
 *
 *         ( L_11      )^-1      (       M_11               )
 *         ( L_21 L_22 )      =  ( -M_22 (L_21 M_11)   M_22 )
 *
 * Returns the growth in every thread; it is not finite where a diagonal entry is so far from 1 that the inverse may
 * have underflowed.  norm [64] in shared memory becomes the rows of |M| |D| e. */
template <class T>
__device__ inline double invert(const T *tile, T *inverse, double *norm, int rows)
{
    const int j = threadIdx.x;
    TRS_ASSERT(rows >= 1 && rows <= BLOCK && blockDim.x == BLOCK_THREADS);
    weigh_tile(tile, norm, rows);
    if (j < rows) inverse[tile_place(j, j)] = number<T>(1) / tile[tile_place(j, j)];
    __syncthreads();
    if (j < BLOCK) invert_sixteenth(tile, inverse);
    __syncthreads();
    if (rows > SIXTEENTH) join_halves<T, 16>(tile, inverse);
    if (rows > 2 * SIXTEENTH) join_halves<T, 32>(tile, inverse);
    multiply_norm(inverse, norm, rows);
    return largest_of_rows(norm, rows);
}

#endif
