/* inverse.cu: the product of a full inverse with a vector, and norms (lib/elimination/inverse.h).
 *
 * multiply: a warp has a row of M and reads it 16 bytes a lane, DEEP times before the first is used; the sums of the lanes meet
 * by shuffles.  The order of a sum depends on n alone, so the bits are the same every time.  No thread waits for another.
 * Bytes: M once, which bounds it; b comes from the caches.  On an H100 the L2 cache keeps M up to some 40 MB, n = 2200 in F64,
 * and a product takes 3.2 us + 0.33 us for a megabyte; larger ones take twice as long, since they come from memory. */
#include "config.h"

#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "elimination/inverse.h"
}

enum { ROWS = 4, DEEP = 8 }; /* rows of a block of threads, one a warp */

template <class T> struct alignas(16) pack {
    static constexpr int SIZE = 16 / int(sizeof(T));
    T v[SIZE];
};

template <class T> struct product {
    int32_t n;
    int64_t pitch;
    const T *m;
    bool conj;
    const double *norm;
    double hopeless;
    view<T> b, x;
};

static __device__ inline int32_t line_of_warp()
{
    return int32_t(blockIdx.x * ROWS + threadIdx.x / 32);
}

/* The part of row i that a lane has. */
template <class T> static __device__ inline T part_of_row(const product<T> &P, int32_t i)
{
    constexpr int SIZE = pack<T>::SIZE, STEP = 32 * SIZE;
    const T *row = P.m + i * P.pitch;
    T sum = number<T>(0);
    for (int32_t j = int32_t(threadIdx.x % 32) * SIZE; j < P.n; j += DEEP * STEP) {
        pack<T> a[DEEP];
#pragma unroll
        for (int d = 0; d < DEEP; d++)
            if (j + d * STEP < P.n) a[d] = *(const pack<T> *)(row + j + d * STEP);
#pragma unroll
        for (int d = 0; d < DEEP; d++)
#pragma unroll
            for (int k = 0; k < SIZE; k++) {
                const int32_t at = j + d * STEP + k;
                if (at < P.n) sum = sum + conj_if(P.conj, a[d].v[k]) * P.b(at, 0);
            }
    }
    return sum;
}

template <class T>
static __global__ void __launch_bounds__(32 * ROWS) multiply_kernel(const product<T> P)
{
    const int32_t i = line_of_warp();
    if (i >= P.n) return;
    T sum = part_of_row(P, i);
    for (int by = 16; by > 0; by /= 2) sum = sum + shuffle_xor(sum, by);
    if (threadIdx.x % 32 > 0) return;
    if (!(P.norm[0] * P.norm[1] <= P.hopeless)) sum = number<T>(NAN);
    P.x(i, 0) = sum;
}

int trs_gpu_inverse_multiply(trs_dtype t, int32_t n, const void *m, bool conj, const double *norm,
                             double hopeless, trs_view b, trs_view x, void *stream)
{
    return for_type(t, [&]<class T>(T) {
        const product<T> P = {n,        trs_inverse_pitch(n), (const T *)m, conj, norm,
                              hopeless, typed<T>(b),          typed<T>(x)};
        multiply_kernel<T><<<blocks_of(n, ROWS), 32 * ROWS, 0, (cudaStream_t)stream>>>(P);
        return launched();
    });
}

template <class T>
static __global__ void identity_kernel(int32_t n, int64_t pitch, T *m, double *norm)
{
    const int64_t p = index_of_thread();
    if (p == 0) norm[1] = 0;
    if (p < n * pitch) m[p] = number<T>(p / pitch == p % pitch);
}

int trs_gpu_inverse_identity(trs_dtype t, int32_t n, void *m, double *norm, void *stream)
{
    const int64_t pitch = trs_inverse_pitch(n);
    return for_type(t, [&]<class T>(T) {
        identity_kernel<T>
            <<<blocks_of(n * pitch), PLAIN, 0, (cudaStream_t)stream>>>(n, pitch, (T *)m, norm);
        return launched();
    });
}

/* ---- norms -------------------------------------------------------------------------------------- */

/* n lines of count numbers: of line l the first is number l*first, and the others are `step` apart. */
struct lines {
    int32_t n;
    const int64_t *ptr; /* not NULL: line l is from ptr [l] up to ptr [l+1] */
    int64_t first, step;
};

/* A warp a line.  The sums are not negative, and a NaN is made positive, so that their bits have their order. */
template <class T> static __global__ void norm_kernel(const lines L, const T *val, double *norm)
{
    const int32_t l = line_of_warp();
    if (l >= L.n) return;
    const int64_t first = L.ptr ? L.ptr[l] : l * L.first;
    const int64_t count = L.ptr ? L.ptr[l + 1] - first : L.n;
    double mine = 0;
    for (int64_t k = threadIdx.x % 32; k < count; k += 32)
        mine += magnitude(val[first + k * L.step]);
    for (int by = 16; by > 0; by /= 2) mine += __shfl_xor_sync(~0u, mine, by);
    if (threadIdx.x % 32 == 0) atomic_larger(norm, fabs(mine));
}

static int find_norm(trs_dtype t, const lines &L, const void *val, double *norm, void *stream)
{
    return for_type(t, [&]<class T>(T) {
        norm_kernel<T>
            <<<blocks_of(L.n, ROWS), 32 * ROWS, 0, (cudaStream_t)stream>>>(L, (const T *)val, norm);
        return launched();
    });
}

int trs_gpu_inverse_norm_a(trs_dtype t, int32_t n, const int64_t *ptr, const void *val,
                           double *norm, void *stream)
{
    const int rc = cuda_status(cudaMemsetAsync(norm, 0, sizeof *norm, (cudaStream_t)stream),
                               "clearing a norm");
    return rc ? rc : find_norm(t, {n, ptr, 0, 1}, val, norm, stream);
}

int trs_gpu_inverse_norm_m(trs_dtype t, int32_t n, bool by_rows, const void *m, double *norm,
                           void *stream)
{
    const int64_t pitch = trs_inverse_pitch(n);
    const lines L = {n, NULL, by_rows ? pitch : 1, by_rows ? 1 : pitch};
    return find_norm(t, L, m, norm + 1, stream);
}
