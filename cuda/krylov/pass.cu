/* pass.cu: a pass over the vectors of a Krylov method, in one launch.  lib/krylov/pass.h says what a pass is.
 *
 * A block has a range of all vectors, and a thread always has the same elements of it, so that an inner product reads what this
 * thread has just updated.  Inner products of many vectors come after all updates of the range, a few vectors at a time.
 * Every block leaves the sums of its range and counts itself; the block that comes last adds them up, in an order that
 * depends on n alone, and does the step of scalars.  By then all blocks have read the scalars.  No block waits for another.
 * Bytes: each vector once, read and, if it is updated, written; these bound it, and below 10^5 rows the launch does. */
#include "config.h"

#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "krylov/on_device.h"
}

enum {
    /* thread blocks of an SM at least, of real types: with four, solves with 2 million rows take 1.05 times as long, and with
     * eight, GMRES 1.1 times, whose sums then lack registers; those of complex numbers need twice as many */
    RESIDENT = 6,
    /* one for each of these blocks on an H100 */
    MOST_RANGES = 132 * RESIDENT,
    /* elements of a thread between two looks at the inner products */
    DEEP = 4,
    /* inner products with the same y at a time */
    TOGETHER = 4,
    WARPS = PLAIN / 32
};

/* Numbers of a range: a multiple of PLAIN. */
static int64_t range_of(int64_t n)
{
    const int64_t least = 2 * PLAIN, even = (n + MOST_RANGES - 1) / MOST_RANGES;
    return max(least, (even + PLAIN - 1) / PLAIN * PLAIN);
}

int64_t trs_gpu_ranges(int64_t n)
{
    return (n + range_of(n) - 1) / range_of(n);
}

/* ---- numbers ------------------------------------------------------------------------------------ */

template <class T> static __device__ inline T as(trs_z z)
{
    return T(z.re);
}
template <> __device__ inline cuFloatComplex as(trs_z z)
{
    return make_cuFloatComplex(float(z.re), float(z.im));
}
template <> __device__ inline cuDoubleComplex as(trs_z z)
{
    return make_cuDoubleComplex(z.re, z.im);
}

template <class T> constexpr int parts = is_pair<T> ? 2 : 1;

/* sum += conj (x) y, whose imaginary part goes to sum[im] */
template <class T> static __device__ inline void add_product(double *sum, int im, T x, T y)
{
    if constexpr (is_pair<T>) {
        sum[0] += (double)x.x * y.x + (double)x.y * y.y;
        sum[im] += (double)x.x * y.y - (double)x.y * y.x;
    } else sum[0] += (double)x * y;
}

/* ---- sums of a block ----------------------------------------------------------------------------- */

/* Where the sums of a range go.  The real parts of inner product k are numbers k * ranges .., one of each range, and the imaginary
 * parts, if there are, lie behind all real ones. */
struct range_sums {
    double *all;
    int dots;
    __device__ double *of(int dot, int part) const
    {
        return all + (int64_t)(part * dots + dot) * gridDim.x;
    }
};

/* sum[0] = the sum over the warp of number lane / (32 / COUNT).  In each step a lane gives away half of its numbers. */
template <int COUNT> static __device__ inline void warp_sums(double *sum)
{
    const int lane = threadIdx.x % 32;
    int left = COUNT;
#pragma unroll
    for (int by = 16; by > 0; by /= 2) {
        const bool upper = lane & by;
        if (left == 1) {
            sum[0] += __shfl_xor_sync(~0u, sum[0], by);
            continue;
        }
        left /= 2;
#pragma unroll
        for (int k = 0; k < COUNT / 2; k++) {
            if (k >= left) continue;
            const double gives = upper ? sum[k] : sum[k + left];
            const double keeps = upper ? sum[k + left] : sum[k];
            sum[k] = keeps + __shfl_xor_sync(~0u, gives, by);
        }
    }
}

/* put (k, sum over the block of number k).  All threads call it. */
template <int COUNT, class F> static __device__ inline void block_sums(double *mine, F put)
{
    __shared__ double of_warp[WARPS][COUNT];
    constexpr int lanes = 32 / COUNT;
    const int lane = threadIdx.x % 32;
    warp_sums<COUNT>(mine);
    if (lane % lanes == 0) of_warp[threadIdx.x / 32][lane / lanes] = mine[0];
    __syncthreads();
    if (threadIdx.x < COUNT) {
        double sum = 0;
        for (int w = 0; w < WARPS; w++) sum += of_warp[w][threadIdx.x];
        put(threadIdx.x, sum);
    }
    __syncthreads();
}

/* ---- a range -------------------------------------------------------------------------------------- */

/* Of elements from .. to-1, at most DEEP of a thread. */
template <class T>
static __device__ inline void update(const trs_space &v, const trs_update &u, int64_t from,
                                     int64_t to)
{
    const trs_z *s = v.scalars->s;
    const T b = as<T>(s[u.b]), *x = (const T *)u.x;
    T *y = (T *)u.y, sum[DEEP];
    from += threadIdx.x;
#pragma unroll
    for (int e = 0; e < DEEP; e++) sum[e] = number<T>(0);
    for (int k = 0; x && k < trs_count(u.count); k++, x += v.ld) {
        const T a = as<T>(s[u.a + k]);
#pragma unroll
        for (int e = 0; e < DEEP; e++)
            if (from + e * PLAIN < to) sum[e] = sum[e] + a * x[from + e * PLAIN];
    }
#pragma unroll
    for (int e = 0; e < DEEP; e++) {
        const int64_t i = from + e * PLAIN;
        if (i >= to) continue;
        if (u.minus) sum[e] = number<T>(0) - sum[e];
        y[i] = u.b == ZERO ? sum[e] : sum[e] + b * y[i];
    }
}

/* x(k)'y over the range, and x(k)'y2 if YS = 2; they are inner products first .. */
template <int YS, class T>
static __device__ inline void many_dots(const trs_space &v, const trs_dot &d, const void *y2,
                                        int64_t begin, int64_t end, range_sums sums, int first)
{
    const T *x = (const T *)d.x, *y[] = {(const T *)d.y, (const T *)y2};
    for (int k = 0; k < d.count; k += TOGETHER, x += TOGETHER * v.ld) {
        const int count = min(TOGETHER, d.count - k);
        double sum[parts<T> * YS * TOGETHER] = {};
        for (int64_t i = begin + threadIdx.x; i < end; i += PLAIN) {
            const T to[] = {y[0][i], y[YS - 1][i]};
#pragma unroll
            for (int g = 0; g < TOGETHER; g++) {
                if (g >= count) continue;
                const T of = x[i + g * v.ld];
#pragma unroll
                for (int s = 0; s < YS; s++)
                    add_product(sum + s * TOGETHER + g, YS * TOGETHER, of, to[s]);
            }
        }
        block_sums<parts<T> * YS * TOGETHER>(sum, [=](int number, double a) {
            const int g = number % TOGETHER, s = number / TOGETHER % YS;
            const int part = number / (YS * TOGETHER);
            if (g < count) sums.of(first + s * d.count + k + g, part)[blockIdx.x] = a;
        });
    }
}

template <class T>
static __device__ inline void do_range(const trs_space &v, const trs_pass &p, int64_t begin,
                                       int64_t end, range_sums sums)
{
    double sum[TRS_DOTS][parts<T>] = {};
    for (int64_t from = begin; from < end; from += DEEP * PLAIN) {
        const int64_t to = min(end, from + DEEP * PLAIN);
        for (int u = 0; u < TRS_UPDATES && p.update[u].y; u++) update<T>(v, p.update[u], from, to);
#pragma unroll
        for (int d = 0; d < TRS_DOTS; d++) {
            const T *x = (const T *)p.dot[d].x, *y = (const T *)p.dot[d].y;
            for (int64_t i = from + threadIdx.x; x && p.dot[d].count <= 1 && i < to; i += PLAIN)
                add_product(sum[d], 1, x[i], y[i]);
        }
    }
    static_assert(TRS_DOTS == 2);
    if (trs_read_once(&p)) {
        many_dots<2, T>(v, p.dot[0], p.dot[1].y, begin, end, sums, 0);
        return;
    }
    int first = 0;
#pragma unroll
    for (int d = 0; d < TRS_DOTS; d++) {
        if (!p.dot[d].x) break;
        if (p.dot[d].count > 1) many_dots<1, T>(v, p.dot[d], NULL, begin, end, sums, first);
        else
            block_sums<parts<T>>(sum[d],
                                 [=](int part, double a) { sums.of(first, part)[blockIdx.x] = a; });
        first += trs_count(p.dot[d].count);
    }
}

/* ---- all ranges -------------------------------------------------------------------------------------- */

static __device__ inline double warp_adds(const double *of)
{
    double sum = 0;
    for (int64_t r = threadIdx.x % 32; r < gridDim.x; r += 32) sum += __ldcg(of + r);
    warp_sums<1>(&sum);
    return sum;
}

/* The last block adds up the sums of all ranges, a warp for each inner product. */
template <class T>
static __device__ inline void finish(const trs_space &v, const trs_pass &p, range_sums sums)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int first = 0;
    for (int d = 0; d < TRS_DOTS && p.dot[d].x; d++) {
        const int count = trs_count(p.dot[d].count);
        for (int k = warp; k < count; k += WARPS) {
            trs_z sum = {warp_adds(sums.of(first + k, 0)), 0};
            if (is_pair<T>) sum.im = warp_adds(sums.of(first + k, 1));
            if (lane == 0) v.scalars->s[p.dot[d].a + k] = sum;
        }
        first += count;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        trs_scalar_do(v.scalars, p.step);
        *v.ended = 0;
    }
}

template <class T>
static __global__ void __launch_bounds__(PLAIN, is_pair<T> ? 4 : RESIDENT)
    pass_kernel(const trs_space v, const trs_pass p, int dots, int64_t range, bool always)
{
    __shared__ bool last;
    const int64_t begin = blockIdx.x * range;
    const range_sums sums = {(double *)v.sums, dots};
    if (trs_pass_over(v.scalars, &p, always)) return;
    do_range<T>(v, p, begin, min(v.n, begin + range), sums);
    if (!dots && !p.step) return;
    __threadfence(); /* the sums are there before the block counts */
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(v.ended, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    finish<T>(v, p, sums);
}

int trs_gpu_pass(const trs_space *v, const trs_pass *p, bool always)
{
    const int dots = trs_dots(p);
    const unsigned blocks = (unsigned)max(trs_gpu_ranges(v->n), (int64_t)1);
    return for_type(v->dtype, [&]<class T>(T) {
        pass_kernel<T><<<blocks, PLAIN, 0, static_cast<cudaStream_t>(v->stream)>>>(
            *v, *p, dots, range_of(v->n), always);
        return launched();
    });
}
