/* vectors.cu: the rows of B and X in another order, or some of them left out, on the device.
 *
 * One thread an element; threads share nothing.  Bytes: one element read and one written, one of the two at
 * random with a permutation, and 4 for the permutation. */
#include "config.h"

#include "cuda.cuh"

#include <type_traits>

/* y(k) = x(perm(k)), or x(perm(k)) = y(k) if back; perm NULL is the identity. */
template <class T>
static __global__ void reorder_kernel(int32_t n, int nrhs, const int32_t *perm, view<T> x,
                                      view<T> y, bool back)
{
    int64_t t = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (t >= (int64_t)n * nrhs) return;
    int64_t k = t % n, r = t / n, i = perm ? perm[k] : k;
    if (back) x(i, r) = y(k, r);
    else y(k, r) = x(i, r);
}

static int reorder(trs_dtype t, int32_t n, int nrhs, const int32_t *perm, trs_view x, trs_view y,
                   bool back, void *stream)
{
    const unsigned blocks = blocks_of((int64_t)n * nrhs);
    return for_type(t, [&]<class T>(T) {
        reorder_kernel<T><<<blocks, PLAIN, 0, static_cast<cudaStream_t>(stream)>>>(
            n, nrhs, perm, typed<T>(x), typed<T>(y), back);
        return launched();
    });
}

int trs_gpu_gather(trs_dtype t, int32_t n, int nrhs, const int32_t *perm, trs_view x, trs_view y,
                   void *stream)
{
    return reorder(t, n, nrhs, perm, x, y, false, stream);
}

int trs_gpu_scatter(trs_dtype t, int32_t n, int nrhs, const int32_t *perm, trs_view y, trs_view x,
                    void *stream)
{
    return reorder(t, n, nrhs, perm, x, y, true, stream);
}

/* Is row i the first one of a block? */
__device__ static inline bool is_block(const double *block, int64_t i)
{
    return block && i >= 0 && (block[4 * i + 2] != 0 || block[4 * i + 3] != 0);
}

/* y(i) = -y(i) where sign(i) < 0; the thread of the first row of a block computes both of its rows. */
template <class T>
static __global__ void divide_by_pivots_kernel(int32_t n, int nrhs, const int8_t *sign,
                                               const double *block, view<T> y)
{
    int64_t t = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (t >= (int64_t)n * nrhs) return;
    int64_t i = t % n, r = t / n;
    if (is_block(block, i - 1)) return;
    if (is_block(block, i)) {
        const double *s = block + 4 * i;
        const T b = number<T>(s[2], s[3]), u = y(i, r), v = y(i + 1, r);
        y(i, r) = number<T>(s[0]) * u + b * v;
        y(i + 1, r) = conj_if(true, b) * u + number<T>(s[1]) * v;
    } else if (sign[i] < 0) y(i, r) = number<T>(0) - y(i, r);
}

int trs_gpu_divide_by_pivots(trs_dtype t, int32_t n, int nrhs, const int8_t *sign,
                             const double *block, trs_view y, void *stream)
{
    const unsigned blocks = blocks_of((int64_t)n * nrhs);
    return for_type(t, [&]<class T>(T) {
        divide_by_pivots_kernel<T><<<blocks, PLAIN, 0, static_cast<cudaStream_t>(stream)>>>(
            n, nrhs, sign, block, typed<T>(y));
        return launched();
    });
}

/* Arithmetic is in double precision. */
template <class T> using wide_of = std::conditional_t<is_pair<T>, cuDoubleComplex, double>;

template <class T, class W = wide_of<T>>
static __global__ void turn_rows_kernel(int32_t count, int nrhs, const int32_t *first, const W *w,
                                        bool adjoint, view<T> y)
{
    int64_t t = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (t >= (int64_t)count * nrhs) return;
    int64_t q = t % count, r = t / count, k = first[q];
    const W *s = w + 4 * q;
    const W a = conj_if(adjoint, s[0]), d = conj_if(adjoint, s[3]);
    const W b = conj_if(adjoint, adjoint ? s[2] : s[1]);
    const W c = conj_if(adjoint, adjoint ? s[1] : s[2]);
    const auto same = [](double part) { return part; };
    const W u = convert<W>(y(k, r), same), v = convert<W>(y(k + 1, r), same);
    y(k, r) = convert<T>(a * u + b * v, same);
    y(k + 1, r) = convert<T>(c * u + d * v, same);
}

int trs_gpu_turn_rows(trs_dtype t, int32_t count, int nrhs, const int32_t *first, const void *w,
                      bool adjoint, trs_view y, void *stream)
{
    const unsigned blocks = blocks_of((int64_t)count * nrhs);
    TRS_ASSERT(count > 0);
    return for_type(t, [&]<class T>(T) {
        turn_rows_kernel<T><<<blocks, PLAIN, 0, static_cast<cudaStream_t>(stream)>>>(
            count, nrhs, first, static_cast<const wide_of<T> *>(w), adjoint, typed<T>(y));
        return launched();
    });
}

/* x(i) = skip(i) ? 0 : b(i). */
template <class T>
static __global__ void leave_out_kernel(int32_t n, int nrhs, const unsigned char *skip, view<T> b,
                                        view<T> x)
{
    int64_t t = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (t >= (int64_t)n * nrhs) return;
    int64_t i = t % n, r = t / n;
    x(i, r) = skip[i] ? number<T>(0) : b(i, r);
}

int trs_gpu_leave_out(trs_dtype t, int32_t n, int nrhs, const unsigned char *skip, trs_view b,
                      trs_view x, void *stream)
{
    const unsigned blocks = blocks_of((int64_t)n * nrhs);
    return for_type(t, [&]<class T>(T) {
        leave_out_kernel<T><<<blocks, PLAIN, 0, static_cast<cudaStream_t>(stream)>>>(
            n, nrhs, skip, typed<T>(b), typed<T>(x));
        return launched();
    });
}
