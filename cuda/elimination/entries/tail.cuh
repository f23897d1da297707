/* tail.cuh: the last rows and columns, by one block with its numbers in registers.
 *
 *     thread (y, x) has w(i, j) for i = y + 16 a, j = x + 16 b, a, b < R        of at most 16 R rows and columns
 *
 *     step k:   the threads of row k find 1 / u(k, k), and leave u(k, j) / u(k, k) in shared memory,
 *               those of column k leave w(i, k) there
 *               barrier
 *               w(i, j) -= w(i, k) (u(k, j) / u(k, k))  by all threads, for i, j > k
 *
 * Even and odd steps use separate places for row and column, so one barrier a step is enough: a thread that writes
 * for step k + 2 has passed the barrier of step k + 1, and all threads read the results of step k before that
 * barrier.  No block waits for another.  An entry that the pattern does not have is zero whenever it is read.  For
 * L L^H the upper triangle is made from the lower one, which is the one that is stored.
 * Bound by the steps: 9, 23, 59 us for 32, 64, 128 rows in fp64. */
#ifndef TRS_TAIL_CUH
#define TRS_TAIL_CUH

#include "entries.cuh"

namespace tail
{
enum { SIDE = 16 };

/* The entry w(i, j) of the tail, or -1; of L L^H, above the diagonal, that of w(j, i). */
template <class T> __device__ inline int32_t place(const entry_args<T> &g, int i, int j)
{
    if (i >= g.s.tail || j >= g.s.tail) return -1;
    return g.rules.cholesky && j > i ? g.s.place[j * g.s.tail + i] : g.s.place[i * g.s.tail + j];
}

/* u(k, k) in row n - tail + k, of which elimination left d. */
template <class T>
__device__ inline T pivot(const entry_args<T> &g, int k, T d, pivot_counts &counts)
{
    const int32_t row = g.s.n - g.s.tail + k;
    d = take_pivot(g, row, d, counts);
    g.inv[row] = kept_pivot(d);
    return d;
}

template <class T, int R> struct numbers {
    T w[R][R];
    uint64_t present; /* bit R a + b: w [a][b] is an entry */

    __device__ T at(int a, int b) const
    {
        return present >> (R * a + b) & 1 ? w[a][b] : number<T>(0);
    }
};

/* f (a, b, j > i, p) for the numbers w [a][b] of this thread, where (i, j) is the tail's entry p of the matrix; p < 0:
 * none. */
template <class T, int R, class F>
__device__ inline void each_number(const entry_args<T> &g, const F &f)
{
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
#pragma unroll
    for (int a = 0; a < R; a++)
#pragma unroll
        for (int b = 0; b < R; b++) {
            const int i = y + SIDE * a, j = x + SIDE * b;
            f(a, b, j > i, place(g, i, j));
        }
}

template <class T, int R> __device__ inline void load(const entry_args<T> &g, numbers<T, R> &m)
{
    m.present = 0;
    each_number<T, R>(g, [&](int a, int b, bool upper, int32_t p) {
        m.w[a][b] = p >= 0 ? conj_if(g.rules.cholesky && upper, g.w[p]) : number<T>(0);
        if (p >= 0) m.present |= (uint64_t)1 << (R * a + b);
    });
}

template <class T, int R>
__device__ inline void store(const entry_args<T> &g, const numbers<T, R> &m)
{
    each_number<T, R>(g, [&](int a, int b, bool upper, int32_t p) {
        if (p >= 0 && !(g.rules.cholesky && upper)) g.w[p] = m.w[a][b];
    });
}

/* What step k leaves for all threads. */
template <class T, int R> struct step {
    T row[SIDE * R], col[SIDE * R]; /* u(k, j) / u(k, k), w(i, k) */
};

/* Step k = 16 kb + y, by the 16 threads of its row, which are lanes of one warp. */
template <class T, int R>
__device__ inline void leave_row(const entry_args<T> &g, int kb, numbers<T, R> &m, step<T, R> &left,
                                 pivot_counts &counts)
{
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    if (x == y) m.w[kb][kb] = pivot(g, SIDE * kb + y, m.w[kb][kb], counts);
    const unsigned lanes = 0xffffu << (y % 2 * SIDE);
    const T c = kept_pivot(
        for_parts(m.w[kb][kb], [=](auto part) { return __shfl_sync(lanes, part, y, SIDE); }));
#pragma unroll
    for (int b = kb; b < R; b++) left.row[x + SIDE * b] = over_pivot(m.at(kb, b), c);
}

/* By the 16 threads of its column. */
template <class T, int R>
__device__ inline void leave_column(int kb, const numbers<T, R> &m, step<T, R> &left)
{
    const int y = threadIdx.x / SIDE;
#pragma unroll
    for (int a = kb; a < R; a++) left.col[y + SIDE * a] = m.at(a, kb);
}

/* w(i, j) for i, j > 16 kb + k, by all threads.  The largest product is that of the largest numbers of both. */
template <class T, int R>
__device__ inline void subtract(int kb, int k, const step<T, R> &left, numbers<T, R> &m,
                                pivot_counts &counts)
{
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    T u[R];
    auto most_l = size_of(number<T>(0)), most_u = most_l;
#pragma unroll
    for (int b = kb; b < R; b++) {
        u[b] = b > kb || x > k ? left.row[x + SIDE * b] : number<T>(0);
        most_u = max(most_u, size_of(u[b]));
    }
#pragma unroll
    for (int a = kb; a < R; a++) {
        if (a == kb && y <= k) continue;
        const T l = left.col[y + SIDE * a];
        most_l = max(most_l, size_of(l));
#pragma unroll
        for (int b = kb; b < R; b++)
            if (b > kb || x > k) m.w[a][b] = m.w[a][b] - l * u[b];
    }
    counts.largest = max(counts.largest, size_bits(most_l * most_u));
}

template <class T, int R>
__global__ void __launch_bounds__(SIDE *SIDE) kernel(const entry_args<T> g)
{
    __shared__ step<T, R> left[2];
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    pivot_counts counts = {};
    numbers<T, R> m;
    load(g, m);
#pragma unroll
    for (int kb = 0; kb < R; kb++)
        for (int k = 0; k < SIDE && SIDE * kb + k < g.s.tail; k++) {
            if (y == k) leave_row(g, kb, m, left[k % 2], counts);
            if (x == k) leave_column(kb, m, left[k % 2]);
            __syncthreads();
            subtract(kb, k, left[k % 2], m, counts);
        }
    store(g, m);
    conclude<T>(g.rules, counts);
}

template <class T> int launch(const entry_args<T> &g, cudaStream_t stream)
{
    const int threads = SIDE * SIDE;
    TRS_ASSERT(g.s.tail <= SIDE * (sizeof(T) > 8 ? 4 : 8));
    if (g.s.tail == 0) return TRS_OK;
    if (g.s.tail <= 2 * SIDE) kernel<T, 2><<<1, threads, 0, stream>>>(g);
    else if (g.s.tail <= 4 * SIDE) kernel<T, 4><<<1, threads, 0, stream>>>(g);
    else if constexpr (sizeof(T) <= 8) kernel<T, 8><<<1, threads, 0, stream>>>(g);
    return launched();
}
} // namespace tail

#endif
