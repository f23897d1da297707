/* factor_kernel.cuh: the numbers of incomplete factors by blocks, in one launch.  For k < i in row i, ascending:
 *
 *     l(i, k) = a(i, k) d(k)^-1;   a(i, j) -= l(i, k) u(k, j)   for each product of block (i, k)
 *     DILU: the same with j = i alone, and a(i, k) stays
 *     IC(0): the same with j >= i alone, and a(i, k) = u(k, i)^H, which is the u of the first product
 *
 * Who computes a row: a warp.  It has the row in shared memory, or, if that is too small, in memory of its own.  A lane has one
 * column of a product: c of u(k, j) and of a(i, j), so no two lanes write the same number.  d(i) is inverted by Gauss-Jordan
 * elimination with exchanges of rows, which IC(0) has none of, a lane for each column of [d I].
 *
 * How blocks become visible: each number of d(k)^-1 and u(k, j) is its own flag (runtime/flag.cuh).  While step k is computed, the
 * numbers of the next step are looked for.  l(i, k) is read by nobody in this launch.
 *
 * Why it cannot hang: the launch is cooperative, warp w of W takes the rows w, w + W, ... of the order of levels, and lanes of a
 * warp never wait for numbers of the same row.  All rows that the first unpublished row needs come before it.
 *
 * Bytes: those of A with 8 for each place, of the factors twice, and 8 for each product.  Bound by the latency of a level, in which
 * a few steps follow one another. */
#ifndef TRS_BLOCK_FACTOR_KERNEL_CUH
#define TRS_BLOCK_FACTOR_KERNEL_CUH

#include "kernels.cuh"
#include "cuda/runtime/flag.cuh"

/* Numbers in the blocks of row i, which are in three runs of the stored ones. */
template <class T, int B> struct runs {
    int64_t lower, own, upper;       /* where they begin */
    int first_own, first_upper, end; /* numbers of row i before them, and all */
    int first_read;                  /* numbers of row i before those that come from A */
    int64_t unread;                  /* numbers of all L, if none of them come from A; else 0 */

    __device__ runs(const factor_args<T> &k, int32_t i)
    {
        enum { SIZE = B * B };
        lower = k.lower[i] * SIZE;
        own = (k.lower[k.n] + i) * SIZE;
        upper = k.upper[i] * SIZE;
        first_own = (int)(k.lower[i + 1] * SIZE - lower);
        first_upper = first_own + SIZE;
        end = first_upper + (int)(k.upper[i + 1] * SIZE - upper);
        first_read = k.cholesky ? first_own : 0;
        unread = k.cholesky ? k.lower[k.n] * SIZE : 0;
    }
    /* The place of number e of the row among all. */
    __device__ int64_t place(int e) const
    {
        if (e < first_own) return lower + e;
        return e < first_upper ? own + (e - first_own) : upper + (e - first_upper);
    }
};

__device__ inline double largest_of_warp(double v)
{
    for (int by = WARP / 2; by > 0; by /= 2) v = fmax(v, __shfl_xor_sync(~0u, v, by));
    return v;
}

/* IC(0): the lower half of d, which has the numbers of conj (A) on and above its diagonal; then it has those of A. */
template <class T, int B> __device__ inline void mirror_diagonal(T *d)
{
    for (int e = (int)(threadIdx.x % WARP); e < B * B; e += WARP) {
        const int r = e % B, c = e / B;
        if (r > c) d[e] = conj_if(true, d[c + B * r]);
        if (r == c) d[e] = number<T>((double)real_part(d[e]));
    }
    __syncwarp();
}

/* row = the numbers of A, with IC(0) without those of L.  Returns whether all are finite; *largest: the largest, if it is asked
 * for. */
template <class T, int B>
__device__ inline bool read_row(const factor_args<T> &k, const runs<T, B> &w, T *row,
                                double *largest)
{
    bool good = true;
    double most = 0;
#pragma unroll 4
    for (int e = w.first_read + (int)(threadIdx.x % WARP); e < w.end; e += WARP) {
        const int64_t from = k.src[w.place(e) - w.unread];
        const T v = conj_if(k.cholesky, from == TRS_SRC_MISSING ? number<T>(0) : k.a[from]);
        good = good && is_finite(v);
        if (k.boost > 0) most = fmax(most, magnitude(v));
        row[e] = v;
    }
    if (k.boost > 0) most = largest_of_warp(most);
    *largest = most;
    __syncwarp();
    if (k.cholesky) mirror_diagonal<T, B>(row + w.first_own);
    for (int c = (int)(threadIdx.x % WARP); c < B && k.shift > 0; c += WARP) {
        T *d = row + w.first_own + c * (B + 1);
        *d = number<T>(1 + k.shift) * *d;
    }
    __syncwarp();
    return __all_sync(~0u, good);
}

/* ---- one step ------------------------------------------------------------------------------------------ */

/* What a lane reads for the step of block (i, k): numbers of d(k)^-1, and a column of one of the first products. */
template <class T, int B> struct step_ahead {
    enum { SIZE = B * B, ND = (SIZE + WARP - 1) / WARP, PER = WARP / B };
    const T *d_at, *u_at;
    int32_t to; /* -1: this lane has no product */
    T d[ND], u[B];

    __device__ void find(const factor_args<T> &k, int32_t column, int64_t first, int64_t end)
    {
        d_at = k.val + (k.lower[k.n] + column) * SIZE;
        find_product(k, first, end);
    }
    __device__ void find_product(const factor_args<T> &k, int64_t first, int64_t end)
    {
        const int lane = (int)(threadIdx.x % WARP);
        const bool any = lane / B < PER && first + lane / B < end;
        const trs_block_product p = any ? k.product[first + lane / B] : trs_block_product{0, -1};
        to = p.to;
        u_at = k.val + (int64_t)p.u * SIZE + lane % B * B;
    }
    __device__ bool has_d(int z) const { return z * WARP + threadIdx.x % WARP < SIZE; }

    /* The first look. */
    __device__ void begin()
    {
#pragma unroll
        for (int z = 0; z < ND; z++)
            d[z] = has_d(z) ? flag_peek(d_at + z * WARP + threadIdx.x % WARP) : number<T>(0);
        begin_product();
    }
    __device__ void begin_product()
    {
#pragma unroll
        for (int r = 0; r < B; r++) u[r] = to >= 0 ? flag_peek(u_at + r) : number<T>(0);
    }
    __device__ bool is_there() const
    {
        bool there = true;
#pragma unroll
        for (int z = 0; z < ND; z++) there = there && flag_there(d[z]);
#pragma unroll
        for (int r = 0; r < B; r++) there = there && flag_there(u[r]);
        return there;
    }
    __device__ void wait()
    {
        while (!__all_sync(~0u, is_there())) {
#pragma unroll
            for (int z = 0; z < ND; z++)
                if (!flag_there(d[z])) d[z] = flag_peek(d_at + z * WARP + threadIdx.x % WARP);
#pragma unroll
            for (int r = 0; r < B; r++)
                if (!flag_there(u[r])) u[r] = flag_peek(u_at + r);
        }
    }
    /* a(i, j) -= l u(k, j), the column of this lane */
    __device__ void subtract(T *row, const T *l) const
    {
        T *a = row + (int64_t)to * SIZE + threadIdx.x % WARP % B * B;
        if (to < 0) return;
#pragma unroll
        for (int r = 0; r < B; r++) {
            T s = a[r];
#pragma unroll
            for (int q = 0; q < B; q++) s = s - l[r + B * q] * u[q];
            a[r] = s;
        }
    }
    /* a = u^H, of the first product */
    __device__ void turn(T *a) const
    {
        const int c = (int)(threadIdx.x % WARP);
#pragma unroll
        for (int r = 0; r < B; r++)
            if (c < B) a[c + B * r] = conj_if(true, u[r]);
        __syncwarp();
    }
    /* l [SIZE] = a d; d is written to shared memory [SIZE] first */
    __device__ void multiply(const T *a, T *shared, T *l) const
    {
        T sum[ND];
        const int lane = (int)(threadIdx.x % WARP);
#pragma unroll
        for (int z = 0; z < ND; z++)
            if (has_d(z)) shared[z * WARP + lane] = d[z];
        __syncwarp();
#pragma unroll
        for (int z = 0; z < ND; z++) {
            const int e = has_d(z) ? z * WARP + lane : 0;
            sum[z] = number<T>(0);
#pragma unroll
            for (int q = 0; q < B; q++) sum[z] = sum[z] + a[e % B + B * q] * shared[q + e / B * B];
        }
#pragma unroll
        for (int z = 0; z < ND; z++)
            if (has_d(z)) l[z * WARP + lane] = sum[z];
        __syncwarp();
    }
};

/* The memory of a warp. */
template <class T> struct warp_room {
    T *row, *l, *d;
};

/* All products of one block of L; `next` has been found, and is looked for meanwhile. */
template <class T, int B>
__device__ inline void run_step(const factor_args<T> &k, const warp_room<T> &m, int q,
                                step_ahead<T, B> &step, int64_t first, int64_t end)
{
    enum { SIZE = B * B };
    T *a = m.row + (int64_t)q * SIZE;
    if (k.cholesky) step.turn(a);
    step.multiply(a, m.d, m.l);
    step.subtract(m.row, m.l);
    for (int64_t t = first + step.PER; t < end; t += step.PER) {
        step.find_product(k, t, end);
        step.begin_product();
        step.wait();
        step.subtract(m.row, m.l);
    }
    for (int e = (int)(threadIdx.x % WARP); e < SIZE && !k.diagonal_only; e += WARP) a[e] = m.l[e];
    __syncwarp();
}

/* The steps of row i; a lane knows one of 32 columns, and where its products begin and end. */
template <class T, int B>
__device__ inline void eliminate_row(const factor_args<T> &k, int32_t i, const warp_room<T> &m)
{
    const int64_t begin = k.lower[i];
    const int count = (int)(k.lower[i + 1] - begin);
    for (int base = 0; base < count; base += WARP) {
        const int here = min(count - base, (int)WARP);
        const int64_t p = begin + base + min((int)(threadIdx.x % WARP), here - 1);
        const int32_t column = k.idx[p];
        const int64_t from = k.step[p], to = k.step[p + 1];
        step_ahead<T, B> step, next;
        step.find(k, __shfl_sync(~0u, column, 0), __shfl_sync(~0u, from, 0),
                  __shfl_sync(~0u, to, 0));
        step.begin();
        for (int q = 0; q < here; q++) {
            const int then = min(q + 1, here - 1);
            next.find(k, __shfl_sync(~0u, column, then), __shfl_sync(~0u, from, then),
                      __shfl_sync(~0u, to, then));
            step.wait();
            next.begin();
            run_step(k, m, base + q, step, __shfl_sync(~0u, from, q), __shfl_sync(~0u, to, q));
            step = next;
        }
    }
}

/* ---- the diagonal block -------------------------------------------------------------------------------- */

/* The row, from c on, of the largest number of this lane's column. */
template <class T, int B> __device__ inline int pivot_of(const T (&v)[B], int c)
{
    int at = c;
    double most = -1;
#pragma unroll
    for (int r = 0; r < B; r++) {
        const double size = magnitude(v[r]);
        if (r >= c && size > most) at = r, most = size;
    }
    return at;
}

template <class T, int B> __device__ inline void swap_rows(T (&v)[B], int k, int at)
{
    T first = v[0];
#pragma unroll
    for (int r = 0; r < B; r++)
        if (r == k) first = v[r];
    T second = first;
#pragma unroll
    for (int r = 0; r < B; r++)
        if (r == at) second = v[r];
#pragma unroll
    for (int r = 0; r < B; r++) {
        if (r == at) v[r] = first;
        if (r == k) v[r] = second;
    }
}

/* The pivot d, or, if it is smaller than `least`, a number of that size and of the same sign or phase; positive: least itself. */
template <class T>
__device__ inline T pivot_from(T d, bool positive, double least, unsigned long long *boosted)
{
    if (positive) d = number<T>((double)real_part(d));
    if (least <= 0) return d;
    const double size = positive ? (double)real_part(d) : magnitude(d);
    if (!(size < least)) return d;
    ++*boosted;
    return positive || size == 0 ? number<T>(least) : number<T>(least / size) * d;
}

/* Lanes 0 .. B-1 have the columns of d, and lanes B .. 2B-1 those of the identity, which become those of d^-1.
 * A pivot smaller than `least` is replaced.  positive: d is Hermitian, and its pivots must be positive.
 * Returns the first fault. */
template <class T, int B>
__device__ inline trs_ilu_fault invert(T (&v)[B], bool positive, double least,
                                       unsigned long long *boosted)
{
    trs_ilu_fault fault = TRS_ILU_GOOD;
#pragma unroll
    for (int k = 0; k < B; k++) {
        if (!positive) swap_rows<T, B>(v, k, __shfl_sync(~0u, pivot_of<T, B>(v, k), k));
        const T d = pivot_from(shuffle(v[k], k), positive, least, boosted);
        if (!fault && positive && real_part(d) <= 0) fault = TRS_ILU_NEGATIVE;
        if (!fault && magnitude(d) == 0) fault = TRS_ILU_ZERO;
        v[k] = number<T>(1) / d * v[k];
#pragma unroll
        for (int r = 0; r < B; r++) {
            const T l = shuffle(v[r], k);
            if (r != k) v[r] = v[r] - l * v[k];
        }
    }
    return fault;
}

/* Publishes d(i)^-1; returns the fault of d(i). */
template <class T, int B>
__device__ inline trs_ilu_fault publish_diagonal(const factor_args<T> &k, const runs<T, B> &w,
                                                 const T *row, double least,
                                                 unsigned long long *boosted)
{
    const int lane = (int)(threadIdx.x % WARP);
    T v[B];
    bool finite = true;
#pragma unroll
    for (int r = 0; r < B; r++)
        v[r] = lane < B ? row[w.first_own + r + B * lane] : number<T>(r == lane - B);
    const trs_ilu_fault fault = invert<T, B>(v, k.cholesky, least, boosted);
    const bool mine = lane >= B && lane < 2 * B;
    for (int r = 0; r < B && mine; r++) {
        finite = finite && is_finite(v[r]);
        flag_store(k.val + w.own + (lane - B) * B + r, v[r]);
    }
    if (fault) return fault;
    return __all_sync(~0u, finite) ? TRS_ILU_GOOD : TRS_ILU_INFINITE;
}

/* Publishes L and U; returns whether all numbers of the row are finite. */
template <class T, int B>
__device__ inline bool publish_row(const factor_args<T> &k, const runs<T, B> &w, const T *row)
{
    bool finite = true;
    for (int e = (int)(threadIdx.x % WARP); e < w.end; e += WARP) {
        const T v = row[e];
        finite = finite && is_finite(v);
        if (e < w.first_own) k.val[w.lower + e] = v;
        if (e >= w.first_upper) flag_store(k.val + w.upper + (e - w.first_upper), v);
    }
    return __all_sync(~0u, finite);
}

/* ---- all rows ------------------------------------------------------------------------------------------ */

/* What a warp reports at its end. */
struct warp_outcome {
    unsigned long long bad = 0, first = ~0ull, boosted = 0;
    bool infinite = false; /* A has a number that is not finite */

    __device__ void note(int32_t i, trs_ilu_fault fault)
    {
        bad += fault != TRS_ILU_GOOD;
        if (fault) first = min(first, 4 * (unsigned long long)i + fault);
    }
    __device__ void report(trs_elimination_outcome *to) const
    {
        if (threadIdx.x % WARP != 0) return;
        if (bad) atomicAdd((unsigned long long *)&to->bad, bad);
        if (bad) atomicMin((unsigned long long *)&to->first, first);
        if (boosted) atomicAdd((unsigned long long *)&to->boosted, boosted);
        if (infinite) to->largest_a = __longlong_as_double(0x7ff0000000000000ll);
    }
};

template <class T, int B>
static __global__ void __launch_bounds__(FACTOR_THREADS) block_factor_kernel(const factor_args<T> k)
{
    enum { SIZE = B * B, WARPS = FACTOR_THREADS / WARP };
    const int warp = (int)(threadIdx.x / WARP);
    const int64_t numbers = (int64_t)k.longest * SIZE;
    T *mine = shared_numbers<T>() + warp * (2 * SIZE + (k.scratch ? 0 : numbers));
    warp_room<T> m = {mine + 2 * SIZE, mine, mine + SIZE};
    if (k.scratch) m.row = k.scratch + ((int64_t)blockIdx.x * WARPS + warp) * numbers;
    warp_outcome found;
    /* neighbouring rows go to different multiprocessors, which then share the work of a level */
    for (int64_t t = warp * (int64_t)gridDim.x + blockIdx.x; t < k.n;
         t += (int64_t)gridDim.x * WARPS) {
        const int32_t i = k.order[t];
        const runs<T, B> w(k, i);
        double largest;
        found.infinite |= !read_row<T, B>(k, w, m.row, &largest);
        eliminate_row<T, B>(k, i, m);
        const bool finite = publish_row<T, B>(k, w, m.row);
        const trs_ilu_fault fault =
            publish_diagonal<T, B>(k, w, m.row, k.boost * largest, &found.boosted);
        found.note(i, finite ? fault : TRS_ILU_INFINITE);
        __syncwarp();
    }
    found.report(k.outcome);
}

#endif
