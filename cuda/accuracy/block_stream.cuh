/* block_stream.cuh: y = A x of a general BSR matrix with blocks of 2 x 2 to 8 x 8 numbers.
 *
 * As in stream.cuh a warp reads its numbers, which are side by side, a window of whole blocks at a time, and leaves the
 * products a x(j) in shared memory.  A warp has some consecutive rows of blocks; `lanes` adjacent lanes sum the products
 * of a row of numbers, block by block, and combine their sums by shuffles.  The whole warp sums what a long row of blocks
 * has in a window.  The size of a block is a constant, as two divisions by it find the block and the column of a number.
 * The warp waits for no other, and the order of the sums depends on the pattern alone.
 *
 * Bytes: 4 + 8 b^2 a block of doubles, 8 a row of numbers for y, 4 or 8 a row of blocks for its pointer, and x from the
 * cache: these bound it. */
#ifndef TRS_BLOCK_STREAM_CUH
#define TRS_BLOCK_STREAM_CUH

#include "stream.cuh"

/* The most lanes, a power of 2, with which this number of groups fits in a warp. */
constexpr int fitting_lanes(int groups)
{
    int lanes = 1;
    while (2 * lanes * groups <= 32) lanes *= 2;
    return lanes;
}

template <class T, int B> struct block_window {
    enum {
        NUMBERS = B * B,
        BLOCKS = stream_window<T>::SIZE / NUMBERS, /* of a window */
        LANES = fitting_lanes(B),                  /* of a long row of numbers */
    };
    T *products;

    /* Of blocks at .. at + count - 1; `over`: from a number of a block to that of the next column, B or 1. */
    template <class X>
    __device__ void fill(const int32_t *idx, const T *val, int64_t at, int count, int over,
                         X x) const
    {
        const T *a = val + at * NUMBERS;
        const int numbers = count * NUMBERS;
        for (int first = threadIdx.x % 32; first < numbers; first += 32 * AT_ONCE) {
            int32_t j[AT_ONCE];
            T v[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                const int t = first + 32 * k;
                if (t >= numbers) continue;
                j[k] = idx[at + t / NUMBERS];
                v[k] = a[t];
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                const int t = first + 32 * k, e = t % NUMBERS;
                if (t < numbers)
                    products[stream_place(t)] = v[k] * x(j[k], over == 1 ? e % B : e / B);
            }
        }
        __syncwarp(); /* all products are there */
    }
    /* Of row r of every step-th block from `first` on. */
    __device__ T sum(int first, int end, int step, int r, int over) const
    {
        const int down = B + 1 - over; /* 1 or B */
        T s = number<T>(0);
        for (int k = first; k < end; k += step)
#pragma unroll
            for (int c = 0; c < B; c++)
                s = s + products[stream_place(k * NUMBERS + r * down + c * over)];
        return s;
    }
    /* Of row r of blocks first .. end - 1, those of the lane `owner`, by all lanes of the warp. */
    __device__ T sum_by_all(int owner, int first, int end, int r, int over) const
    {
        const int lane = threadIdx.x % 32, own = lane % LANES, row = lane / LANES;
        const int a = __shfl_sync(~0u, first, owner), b = __shfl_sync(~0u, end, owner);
        const T part = row < B ? sum(a + own, b, LANES, row, over) : number<T>(0);
        return shuffle(sum_lanes(part, LANES), r * LANES);
    }
};

/* The sum of a row of numbers of the blocks begin .. end - 1, complete in the first of its lanes.  All lanes of the warp
 * call this together; from .. to - 1 are the blocks of all of them, and `head` is the first lane of the row of blocks. */
template <int B, class T, class X>
static __device__ inline T stream_block_rows(block_window<T, B> w, const rows_of<T> &m, X x,
                                             int64_t from, int64_t to, int head, int64_t begin,
                                             int64_t end)
{
    enum { SIZE = block_window<T, B>::BLOCKS, ROUNDS = 8 }; /* ROUNDS: as in stream_rows */
    const int lane = threadIdx.x % 32, own = lane % m.lanes, r = lane / m.lanes % B;
    const int over = (int)m.right;
    T total = number<T>(0);
    for (int64_t at = from; at < to; at += SIZE) {
        w.fill((const int32_t *)m.idx, m.val, at, (int)min(to - at, (int64_t)SIZE), over, x);
        const int first = (int)clamp_to(begin - at, SIZE), last = (int)clamp_to(end - at, SIZE);
        const bool is_long = last - first > ROUNDS * m.lanes;
        if (!is_long) total = total + w.sum(first + own, last, m.lanes, r, over);
        for (unsigned left = __ballot_sync(~0u, is_long && lane == head); left; left &= left - 1) {
            const int owner = __ffs((int)left) - 1;
            const T all = w.sum_by_all(owner, first, last, r, over);
            if (head == owner && own == 0) total = total + all;
        }
        __syncwarp(); /* the products have been read */
    }
    return sum_lanes(total, m.lanes);
}

template <int B, class T>
static __global__ void __launch_bounds__(32 * STREAM_WARPS)
    block_stream_kernel(const rows_of<T> m, const view<T> x, const view<T> y)
{
    __shared__ T products[STREAM_WARPS][stream_window<T>::PLACES];
    const int64_t column = blockIdx.y, n = m.n / B;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int group = B * m.lanes, rows = 32 / group, line = lane / group;
    const auto load = [&](int32_t j, int c) { return x((j - m.base) * B + c, column); };
    for (int64_t first = (blockIdx.x * (int64_t)STREAM_WARPS + warp) * rows; first < n;
         first += gridDim.x * (int64_t)STREAM_WARPS * rows) {
        const int64_t i = first + line, last = min(first + rows, n);
        const bool there = line < rows && i < n; /* 32 need not be a multiple of group */
        const int64_t begin = m.begin(there ? i : last), end = there ? m.end(i) : begin;
        const T sum = stream_block_rows<B, T>({products[warp]}, m, load, m.begin(first),
                                              m.begin(last), line * group, begin, end);
        if (there && lane % m.lanes == 0) y(i * B + lane / m.lanes % B, column) = sum;
    }
}

/* ---- for the host -------------------------------------------------------------------------- */

template <class T> static inline bool can_stream_blocks(const rows_of<T> &m)
{
    return m.block >= 2 && m.block <= 8 && m.idx && !m.wide_idx && !m.place && !m.kind && !m.conj;
}

/* A power of 2, so that the lanes of a row exchange their sums; a row of blocks has a warp at most.  mean: of a row of
 * numbers. */
static inline int block_stream_lanes(int64_t n, int block, double mean)
{
    return min(stream_lanes(n, mean), fitting_lanes(block));
}

/* The kernel for blocks of m.block rows, which are B or more. */
template <int B, class T>
static void launch_for_block(const rows_of<T> &m, dim3 grid, view<T> x, view<T> y, cudaStream_t s)
{
    if (m.block == B) block_stream_kernel<B><<<grid, 32 * STREAM_WARPS, 0, s>>>(m, x, y);
    else if constexpr (B < 8) launch_for_block<B + 1>(m, grid, x, y, s);
}

template <class T>
static int launch_block_stream(rows_of<T> m, double mean, int nrhs, view<T> x, view<T> y,
                               cudaStream_t s)
{
    m.lanes = block_stream_lanes(m.n, m.block, mean);
    const int64_t each = 32 / (m.block * m.lanes) * STREAM_WARPS, n = m.n / m.block;
    const dim3 grid((unsigned)trs_min((n + each - 1) / each, (int64_t)1 << 20), (unsigned)nrhs);
    launch_for_block<2>(m, grid, x, y, s);
    return launched();
}

#endif
