/* stream.cuh: y = A x of a general sparse matrix whose rows are its lines, with 32-bit indices.  Krylov methods need this one.
 *
 * A warp has some consecutive rows.  It reads their entries, which are side by side, a window at a time, so that each
 * sector is read once, and leaves the products a x(j) in shared memory.  Then the lanes of each row sum those of the
 * row in order.  What a row has in a window is summed by the whole warp if it is long, so that rows may have any length.
 * The warp waits for no other.
 *
 * Bytes: 12 an entry of doubles, 20 or 24 a row, and x from the cache: these bound it.  AT_ONCE entries of a lane are
 * loaded at the same time.  The order of the sums depends on the pattern alone.
 * Source: Greathouse and Daga, Efficient sparse matrix-vector multiplication on GPUs using the CSR storage format, SC 2014 (a
 * block streams its rows through shared memory). */
#ifndef TRS_STREAM_CUH
#define TRS_STREAM_CUH

#include "rows.cuh"

enum { STREAM_WARPS = 4, STREAM_BYTES = 4096, AT_ONCE = 8 };

/* The place of product k of a window.  Without the gaps rows of 8 or 16 entries would all begin in the same bank. */
__device__ inline int stream_place(int k)
{
    return k + k / 16;
}

/* The products of a window, and how a lane sums its part of a row. */
template <class T> struct stream_window {
    enum { SIZE = STREAM_BYTES / (int)sizeof(T), PLACES = SIZE + SIZE / 16 };
    T *products;

    template <class V, class X>
    __device__ void fill(const int32_t *idx, V value, int64_t from, int64_t to, X x) const
    {
        const int lane = threadIdx.x % 32;
        for (int first = lane; from + first < to; first += 32 * AT_ONCE) {
            int32_t j[AT_ONCE];
            T a[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                if (from + first + 32 * k < to) {
                    j[k] = idx[from + first + 32 * k];
                    a[k] = value(from + first + 32 * k);
                }
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                if (from + first + 32 * k < to)
                    products[stream_place(first + 32 * k)] = a[k] * x(j[k]);
        }
        __syncwarp(); /* all products are there */
    }
    __device__ T sum(int first, int end, int step) const
    {
        T s = number<T>(0);
        for (int k = first; k < end; k += step) s = s + products[stream_place(k)];
        return s;
    }
};

/* The sum over each group of `lanes` adjacent lanes, in all of them. */
template <class T> static __device__ inline T sum_lanes(T s, int lanes)
{
    for (int by = lanes / 2; by > 0; by /= 2) s = s + shuffle_xor(s, by);
    return s;
}

/* x where it is in 0 .. most, else the nearer of the two. */
__device__ inline int64_t clamp_to(int64_t x, int64_t most)
{
    return min(max(x, (int64_t)0), most);
}

/* The sum of the row with entries begin .. end - 1, complete in the first of its lanes.  All lanes of the warp call this
 * together, with rows that follow each other. */
template <class T, class V, class X>
static __device__ inline T stream_rows(stream_window<T> w, const int32_t *idx, V value, X x,
                                       int lanes, int64_t begin, int64_t end)
{
    /* ROUNDS of the lanes of a row, before it is long */
    enum { SIZE = stream_window<T>::SIZE, ROUNDS = 16 };
    const int lane = threadIdx.x % 32, own = lane % lanes;
    const int64_t from = __shfl_sync(~0u, begin, 0), to = __shfl_sync(~0u, end, 31);
    T sum = number<T>(0);
    for (int64_t at = from; at < to; at += SIZE) {
        w.fill(idx, value, at, min(at + SIZE, to), x);
        const int first = (int)clamp_to(begin - at, SIZE), last = (int)clamp_to(end - at, SIZE);
        const bool is_long = last - first > ROUNDS * lanes && lanes < 32;
        if (!is_long) sum = sum + w.sum(first + own, last, lanes);
        for (unsigned left = __ballot_sync(~0u, is_long && own == 0); left; left &= left - 1) {
            const int owner = __ffs((int)left) - 1;
            const int a = __shfl_sync(~0u, first, owner), b = __shfl_sync(~0u, last, owner);
            const T all = sum_lanes(w.sum(a + lane, b, 32), 32);
            if (lane == owner) sum = sum + all;
        }
        __syncwarp();
    }
    return sum_lanes(sum, lanes);
}

template <class T, class P>
static __global__ void __launch_bounds__(32 * STREAM_WARPS)
    stream_kernel(const rows_of<T> m, const P *ptr, const view<T> x, const view<T> y)
{
    __shared__ T products[STREAM_WARPS][stream_window<T>::PLACES];
    const int64_t r = blockIdx.y;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, rows = 32 / m.lanes;
    const int32_t *idx = (const int32_t *)m.idx;
    const auto value = [&](int64_t q) { return conj_if(m.conj, m.val[q]); };
    const auto load = [&](int32_t j) { return x(j - m.base, r); };
    for (int64_t first = (blockIdx.x * (int64_t)STREAM_WARPS + warp) * rows; first < m.n;
         first += gridDim.x * (int64_t)STREAM_WARPS * rows) {
        const int64_t i = first + lane / m.lanes;
        const int64_t begin = ptr[min(i, m.n)] - m.base;
        const int64_t end = ptr[min(i + 1, m.n)] - m.base;
        const T sum = stream_rows<T>({products[warp]}, idx, value, load, m.lanes, begin, end);
        if (i < m.n && lane % m.lanes == 0) y(i, r) = sum;
    }
}

/* ---- for the host -------------------------------------------------------------------------- */

template <class T> static inline bool can_stream(const rows_of<T> &m)
{
    return m.block == 1 && m.idx && !m.wide_idx && !m.place && !m.kind;
}

/* So many lanes that the rows of a warp fill a window; and more where a matrix has too few rows to keep a device busy. */
static inline int stream_lanes(int64_t n, double mean)
{
    enum { BUSY = 1 << 17, ENTRIES = 16 };
    int lanes = 1;
    while (lanes < 32 && (ENTRIES * lanes < mean || n * lanes < BUSY)) lanes *= 2;
    return lanes;
}

template <class T>
static int launch_stream(rows_of<T> m, double mean, int nrhs, view<T> x, view<T> y, cudaStream_t s)
{
    m.lanes = stream_lanes(m.n, mean);
    const int64_t blocks = (m.n * m.lanes + 32 * STREAM_WARPS - 1) / (32 * STREAM_WARPS);
    const dim3 grid((unsigned)trs_min(blocks, (int64_t)1 << 20), (unsigned)nrhs);
    if (m.wide_ptr)
        stream_kernel<<<grid, 32 * STREAM_WARPS, 0, s>>>(m, (const int64_t *)m.ptr, x, y);
    else stream_kernel<<<grid, 32 * STREAM_WARPS, 0, s>>>(m, (const int32_t *)m.ptr, x, y);
    return launched();
}

#endif
