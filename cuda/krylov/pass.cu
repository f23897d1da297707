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
    MOST_RANGES = 1024,
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

template <class T> static __device__ inline trs_z wide(T a)
{
    return {a.x, a.y};
}

/* sum + conj (x) y */
template <class T> static __device__ inline trs_z add_product(trs_z sum, T x, T y)
{
    return trs_plus(sum, trs_times(trs_conj(wide(x)), wide(y)));
}
template <> __device__ inline trs_z add_product(trs_z sum, float x, float y)
{
    return {sum.re + (double)x * y, 0};
}
template <> __device__ inline trs_z add_product(trs_z sum, double x, double y)
{
    return {sum.re + x * y, 0};
}

static __device__ inline trs_z warp_sum(trs_z a)
{
    for (int by = 16; by > 0; by /= 2) {
        const trs_z other = {__shfl_xor_sync(~0u, a.re, by), __shfl_xor_sync(~0u, a.im, by)};
        a = trs_plus(a, other);
    }
    return a;
}

/* to[0 .. COUNT-1] = the sums over the block.  All threads call it. */
template <int COUNT>
static __device__ inline void block_sums(const trs_z *mine, int count, trs_z *to)
{
    __shared__ trs_z of_warp[WARPS][TOGETHER];
    static_assert(COUNT <= TOGETHER);
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        const trs_z sum = warp_sum(mine[k]);
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32][k] = sum;
    }
    __syncthreads();
    if ((int)threadIdx.x < count) {
        trs_z sum = {0, 0};
        for (int w = 0; w < WARPS; w++) sum = trs_plus(sum, of_warp[w][threadIdx.x]);
        to[threadIdx.x] = sum;
    }
    __syncthreads();
}

/* ---- a range -------------------------------------------------------------------------------------- */

template <class T>
static __device__ inline void update(const trs_space &v, const trs_update &u, int64_t begin,
                                     int64_t end)
{
    const trs_z *s = v.scalars->s;
    const T a = as<T>(s[u.a]), b = as<T>(s[u.b]);
    const T *x = (const T *)u.x;
    T *y = (T *)u.y;
    for (int64_t i = begin + threadIdx.x; i < end; i += PLAIN) {
        T sum = number<T>(0);
        if (x) sum = a * x[i];
        for (int k = 1; k < u.count; k++) sum = sum + as<T>(s[u.a + k]) * x[i + k * v.ld];
        if (u.minus) sum = number<T>(0) - sum;
        y[i] = u.b == ZERO ? sum : sum + b * y[i];
    }
}

/* sums[k] = x(k)'y over the range. */
template <class T>
static __device__ inline void many_dots(const trs_space &v, const trs_dot &d, int64_t begin,
                                        int64_t end, trs_z *sums)
{
    const T *x = (const T *)d.x, *y = (const T *)d.y;
    for (int k = 0; k < d.count; k += TOGETHER) {
        const int count = min(TOGETHER, d.count - k);
        trs_z sum[TOGETHER] = {};
        for (int64_t i = begin + threadIdx.x; i < end; i += PLAIN)
#pragma unroll
            for (int g = 0; g < TOGETHER; g++)
                if (g < count) sum[g] = add_product(sum[g], x[i + (k + g) * v.ld], y[i]);
        block_sums<TOGETHER>(sum, count, sums + k);
    }
}

template <class T>
static __device__ inline void do_range(const trs_space &v, const trs_pass &p, int64_t begin,
                                       int64_t end, trs_z *sums)
{
    trs_z sum[TRS_DOTS] = {};
    for (int64_t from = begin; from < end; from += DEEP * PLAIN) {
        const int64_t to = min(end, from + DEEP * PLAIN);
        for (int u = 0; u < TRS_UPDATES && p.update[u].y; u++) update<T>(v, p.update[u], from, to);
#pragma unroll
        for (int d = 0; d < TRS_DOTS; d++) {
            const T *x = (const T *)p.dot[d].x, *y = (const T *)p.dot[d].y;
            for (int64_t i = from + threadIdx.x; x && p.dot[d].count <= 1 && i < to; i += PLAIN)
                sum[d] = add_product(sum[d], x[i], y[i]);
        }
    }
#pragma unroll
    for (int d = 0; d < TRS_DOTS; d++) {
        if (!p.dot[d].x) break;
        if (p.dot[d].count > 1) many_dots<T>(v, p.dot[d], begin, end, sums);
        else block_sums<1>(&sum[d], 1, sums);
        sums += trs_count(p.dot[d].count);
    }
}

/* ---- all ranges -------------------------------------------------------------------------------------- */

/* The last block adds up the sums of all ranges, a warp for each inner product. */
static __device__ inline void finish(const trs_space &v, const trs_pass &p, int dots)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int first = 0;
    for (int d = 0; d < TRS_DOTS && p.dot[d].x; d++) {
        const int count = trs_count(p.dot[d].count);
        for (int k = warp; k < count; k += WARPS) {
            trs_z sum = {0, 0};
            for (int64_t r = lane; r < gridDim.x; r += 32) {
                const trs_z *from = v.sums + r * dots + first + k;
                sum = trs_plus(sum, {__ldcg(&from->re), __ldcg(&from->im)});
            }
            sum = warp_sum(sum);
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
static __global__ void pass_kernel(const trs_space v, const trs_pass p, int dots, int64_t range,
                                   bool always)
{
    __shared__ bool last;
    const int64_t begin = blockIdx.x * range;
    if (v.scalars->stop && !always) return;
    do_range<T>(v, p, begin, min(v.n, begin + range), v.sums + blockIdx.x * (int64_t)dots);
    if (!dots && !p.step) return;
    __threadfence(); /* the sums are there before the block counts */
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(v.ended, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    finish(v, p, dots);
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
