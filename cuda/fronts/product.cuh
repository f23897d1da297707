/* product.cuh: C -= X Y', or C -= X S Y', for a tile of C, of lower, of upper or of an update matrix.
 *
 *     trail_kernel    lower (i, j) -= L (i, panel) U' (j, panel)'    upper (i, j) -= U' (i, panel) L (j, panel)'
 *     schur_kernel    update (i, j) -= L (i, :) U' (j, :)'           with L^H for U of L L^H, S L^H for that of L S L^H
 *
 * A block owns a tile of TILE x TILE, reads its rows of X and Y by DEPTH columns at a time into shared memory, and C
 * once.  It reads only results of earlier launches.  Tiles on the diagonal are computed as a whole; the numbers above
 * the diagonal of lower, or below that of upper, are unused.
 *
 * Numbers in double precision are multiplied by the tensor cores: a warp has a quarter of the tile, 4 x 4 fragments of 8 x
 * 8.  With rows of TILE + 4 numbers, the 16 lanes that a load serves at a time find 16 different banks.  The other types
 * have 32 entries a thread.  A tile reads 2 TILE numbers for TILE^2 multiply-adds, so the L2 cache bounds it at about
 * TILE / 8 flops a byte when the whole chip is busy. */
#ifndef TRS_FRONTS_PRODUCT_CUH
#define TRS_FRONTS_PRODUCT_CUH

#include "arrays.cuh"

enum { PRODUCT_THREADS = 128, DEPTH = 32 };

/* Blocks that an SM is to hold; the registers of a thread are bounded accordingly. */
template <class T> constexpr int PRODUCT_BLOCKS = sizeof(T) > 8 ? 2 : 3;

template <class T> struct factor_tile {
    T x[DEPTH][TILE + 4], y[DEPTH][TILE + 4];
};

template <class T> struct product {
    T *c;
    const T *x, *y;
    int64_t ldc, ld;    /* from one column to the next of c; of x and y */
    int height, width;  /* of the part of the tile that there is */
    int depth;          /* columns of x and y */
    const int8_t *sign; /* of these; NULL: 1 */
};

/* Columns k, k + 1, ... of a factor into shared memory, with zeros for what is not there, and with the other sign if it is
 * to be subtracted; sign: as in product.  A thread has all of its loads under way before it stores the first. */
template <bool negative, class T>
__device__ inline void load_factor(const T *from, int64_t ld, int rows, int depth, bool conjugate,
                                   const int8_t *sign, T (*to)[TILE + 4])
{
    constexpr int APART = PRODUCT_THREADS / TILE;
    const int i = (int)threadIdx.x % TILE, first = (int)threadIdx.x / TILE;
    T v[DEPTH / APART];
    unsigned turned = 0; /* bit m: v [m] has the other sign */
#pragma unroll
    for (int m = 0; m < DEPTH / APART; m++) {
        const int k = first + m * APART;
        v[m] = k < depth && i < rows ? from[k * ld + i] : number<T>(0);
        if (negative != (sign && k < depth && sign[k] < 0)) turned |= 1u << m;
    }
#pragma unroll
    for (int m = 0; m < DEPTH / APART; m++) {
        const T x = conj_if(conjugate, v[m]);
        to[first + m * APART][i] = turned >> m & 1 ? number<T>(0) - x : x;
    }
}

/* d += a b: a 8 x 4, b 4 x 8; lane 4 r + k holds a (r, k), b (k, r) and d (r, 2 k), d (r, 2 k + 1). */
__device__ inline void multiply_8x8x4(double (&d)[2], double a, double b)
{
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(d[0]), "+d"(d[1])
                 : "d"(a), "d"(b));
}

/* The entries of a tile that a thread has. */
template <class T> struct sums { /* rows i + 16 p, columns j + 8 q */
    T d[4][8];
    int i, j;
    __device__ sums() : i((int)threadIdx.x % 16), j((int)threadIdx.x / 16) {}
    __device__ void add(const factor_tile<T> &s)
    {
#pragma unroll IS_COMPLEX < T> ? 2 : 4
        for (int k = 0; k < DEPTH; k++) {
            T x[4];
#pragma unroll
            for (int p = 0; p < 4; p++) x[p] = s.x[k][i + 16 * p];
#pragma unroll
            for (int q = 0; q < 8; q++) {
                const T y = s.y[k][j + 8 * q];
#pragma unroll
                for (int p = 0; p < 4; p++) d[p][q] = d[p][q] + x[p] * y;
            }
        }
    }
    template <class F> __device__ void each(F f)
    {
#pragma unroll
        for (int q = 0; q < 8; q++)
#pragma unroll
            for (int p = 0; p < 4; p++) f(i + 16 * p, j + 8 * q, d[p][q]);
    }
};

template <> struct sums<double> {
    double d[4][4][2];
    int i, j, row, k; /* of the warp's quarter; of the lane in a fragment */
    __device__ sums()
    {
        const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
        i = warp % 2 * 32;
        j = warp / 2 * 32;
        row = lane / 4;
        k = lane % 4;
    }
    __device__ void add(const factor_tile<double> &s)
    {
#pragma unroll
        for (int m = 0; m < DEPTH; m += 4) {
            double x[4], y[4];
#pragma unroll
            for (int p = 0; p < 4; p++) x[p] = s.x[m + k][i + 8 * p + row];
#pragma unroll
            for (int q = 0; q < 4; q++) y[q] = s.y[m + k][j + 8 * q + row];
#pragma unroll
            for (int p = 0; p < 4; p++)
#pragma unroll
                for (int q = 0; q < 4; q++) multiply_8x8x4(d[p][q], x[p], y[q]);
        }
    }
    template <class F> __device__ void each(F f)
    {
#pragma unroll
        for (int q = 0; q < 4; q++)
#pragma unroll
            for (int e = 0; e < 2; e++)
#pragma unroll
                for (int p = 0; p < 4; p++) f(i + 8 * p + row, j + 8 * q + 2 * k + e, d[p][q][e]);
    }
};

template <class T>
__device__ inline void subtract_product(const product<T> &p, bool conjugate, factor_tile<T> &s)
{
    sums<T> sum;
    const auto is_there = [&](int i, int j) { return i < p.height && j < p.width; };
    sum.each([&](int i, int j, T &x) { x = is_there(i, j) ? p.c[j * p.ldc + i] : number<T>(0); });
    for (int k = 0; k < p.depth; k += DEPTH) {
        if (k > 0) __syncthreads();
        load_factor<true>(p.x + k * p.ld, p.ld, p.height, p.depth - k, false,
                          p.sign ? p.sign + k : NULL, s.x);
        load_factor<false>(p.y + k * p.ld, p.ld, p.width, p.depth - k, conjugate, NULL, s.y);
        __syncthreads();
        sum.add(s);
    }
    sum.each([&](int i, int j, T &x) {
        if (is_there(i, j)) p.c[j * p.ldc + i] = x;
    });
}

/* Tile number `at` of a trapezoid whose columns of tiles are down, down-1, ... high. */
template <class T>
static __global__ void __launch_bounds__(PRODUCT_THREADS, PRODUCT_BLOCKS<T>)
    trail_kernel(fronts_view<T> v, launch_view l)
{
    factor_tile<T> &s = *(factor_tile<T> *)shared_numbers<T>();
    int32_t block, i, j;
    const trs_front_numbers &d = front_of_block(v.numbers, l, &block);
    const int32_t order = d.cols + d.rows, begin = l.panel * PANEL;
    const int32_t behind = min(begin + PANEL, d.cols);
    const int32_t down = (order - behind + TILE - 1) / TILE;
    const int32_t across = (d.cols - behind + TILE - 1) / TILE;
    const int32_t tiles = across * down - across * (across - 1) / 2;
    const bool lower = block < tiles;
    lower_tile(lower ? block : block - tiles, down, &i, &j);
    i = behind + i * TILE;
    j = behind + j * TILE;
    T *left = v.panels + (lower ? d.lower : d.upper);
    const T *right = v.panels + (lower != v.cholesky ? d.upper : d.lower);
    const int64_t ld = order, panel = begin * ld;
    const product<T> p = {left + j * ld + i,
                          left + panel + i,
                          right + panel + j,
                          ld,
                          ld,
                          min(TILE, order - i),
                          min(TILE, d.cols - j),
                          behind - begin,
                          v.sign ? v.sign + d.first + begin : NULL};
    after_earlier_launches();
    subtract_product(p, v.cholesky, s);
}

template <class T>
static __global__ void __launch_bounds__(PRODUCT_THREADS, PRODUCT_BLOCKS<T>)
    schur_kernel(fronts_view<T> v, launch_view l)
{
    factor_tile<T> &s = *(factor_tile<T> *)shared_numbers<T>();
    int32_t block, i, j;
    const trs_front_numbers &d = front_of_block(v.numbers, l, &block);
    const int32_t q = (d.rows + TILE - 1) / TILE;
    if (v.cholesky) lower_tile(block, q, &i, &j);
    else i = block % q, j = block / q;
    i *= TILE;
    j *= TILE;
    const int64_t ld = d.cols + d.rows;
    const product<T> p = {v.pool + d.update + (int64_t)j * d.rows + i,
                          v.panels + d.lower + d.cols + i,
                          v.panels + (v.cholesky ? d.lower : d.upper) + d.cols + j,
                          d.rows,
                          ld,
                          min(TILE, d.rows - i),
                          min(TILE, d.rows - j),
                          d.cols,
                          v.sign ? v.sign + d.first : NULL};
    after_earlier_launches();
    subtract_product(p, v.cholesky, s);
}

#endif
