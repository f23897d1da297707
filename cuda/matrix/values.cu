/* values.cu: new values and their pivots on the device (matrix/operator.c).
 *
 * A thread has an entry, or a row.  Bytes of a gather: 8 and two elements an entry, one of them read at random. */
#include "config.h"

#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "matrix/whole.h"
}

template <class T>
static __global__ void take_kernel(int64_t nnz, const int64_t *src, const T *from, T *to)
{
    const int64_t p = index_of_thread();
    if (p >= nnz) return;
    const int64_t s = src[p];
    to[p] = s >= 0 ? from[s] : number<T>(s == TRS_SRC_UNIT);
}

int trs_gpu_take_values(trs_dtype t, int64_t nnz, const void *src, const void *from, void *to,
                        void *stream)
{
    cudaStream_t s = static_cast<cudaStream_t>(stream);
    if (nnz == 0) return TRS_OK;
    if (!src) {
        cudaMemcpyAsync(to, from, (size_t)nnz * trs_size(t), cudaMemcpyDeviceToDevice, s);
        return launched();
    }
    return for_type(t, [&]<class T>(T) {
        take_kernel<T>
            <<<blocks_of(nnz), PLAIN, 0, s>>>(nnz, (const int64_t *)src, (const T *)from, (T *)to);
        return launched();
    });
}

/* The other half of a Hermitian matrix is written as what is stored of it. */
template <class T>
static __global__ void whole_kernel(int64_t count, const int64_t *from_place, const T *val, T *to)
{
    const int64_t p = index_of_thread();
    if (p >= count) return;
    const int64_t how = from_place[p] & ((1 << TRS_WHOLE_BITS) - 1);
    const T a = val[from_place[p] >> TRS_WHOLE_BITS];
    if (how == TRS_REAL_PART) to[p] = number<T>(real_part(a));
    else to[p] = conj_if(how == TRS_CONJUGATE, a);
}

int trs_gpu_whole_values(trs_dtype t, int64_t count, const int64_t *from_place, const void *val,
                         void *to, void *stream)
{
    if (count == 0) return TRS_OK;
    return for_type(t, [&]<class T>(T) {
        whole_kernel<T><<<blocks_of(count), PLAIN, 0, static_cast<cudaStream_t>(stream)>>>(
            count, from_place, (const T *)val, (T *)to);
        return launched();
    });
}

/* A thread sums an entry, in the order of its terms. */
template <class T>
static __global__ void sum_kernel(int64_t count, const int64_t *start, const int64_t *order,
                                  const T *from, T *to)
{
    const int64_t q = index_of_thread();
    if (q >= count) return;
    T sum = from[order[start[q]]];
    for (int64_t p = start[q] + 1; p < start[q + 1]; p++) sum = sum + from[order[p]];
    to[q] = sum;
}

int trs_gpu_sum_terms(trs_dtype t, int64_t count, const int64_t *start, const int64_t *order,
                      const void *from, void *to, void *stream)
{
    if (count == 0) return TRS_OK;
    return for_type(t, [&]<class T>(T) {
        sum_kernel<T><<<blocks_of(count), PLAIN, 0, static_cast<cudaStream_t>(stream)>>>(
            count, start, order, (const T *)from, (T *)to);
        return launched();
    });
}

template <class T>
static __global__ void take_full_kernel(int64_t n, int64_t ld, bool transposed, const T *from,
                                        T *to)
{
    const int64_t e = index_of_thread(), i = e % n, j = e / n;
    if (j < n) to[e] = transposed ? from[j + i * ld] : from[i + j * ld];
}

int trs_gpu_take_full(trs_dtype t, int64_t n, int64_t ld, bool transposed, const void *from,
                      void *to, void *stream)
{
    if (n == 0) return TRS_OK;
    return for_type(t, [&]<class T>(T) {
        take_full_kernel<T><<<blocks_of(n * n), PLAIN, 0, static_cast<cudaStream_t>(stream)>>>(
            n, ld, transposed, (const T *)from, (T *)to);
        return launched();
    });
}

/* ---- pivots ------------------------------------------------------------------------------------ */

__device__ inline bool is_bad(float a)
{
    return a == 0 || !isfinite(a);
}
__device__ inline bool is_bad(double a)
{
    return a == 0 || !isfinite(a);
}
__device__ inline bool is_bad(cuFloatComplex a)
{
    return !isfinite(a.x) || !isfinite(a.y) || (a.x == 0 && a.y == 0);
}
__device__ inline bool is_bad(cuDoubleComplex a)
{
    return !isfinite(a.x) || !isfinite(a.y) || (a.x == 0 && a.y == 0);
}

struct rows { /* of an operator */
    int32_t n;
    const int64_t *ptr;
    const int32_t *perm;
    bool reversed;
    /* The caller's number of row k. */
    __device__ int32_t caller(int32_t k) const
    {
        if (perm) return perm[k];
        return reversed ? n - 1 - k : k;
    }
};

static rows rows_of(const trs_operator *op)
{
    return {op->tri.n, op->device.ptr, op->perm_dev, op->reversed};
}

/* found, all bits of which are set before: one less than there are bad pivots, and the first by the caller's number.  Both are
 * integers, so that the order of the threads makes no difference. */
template <class T>
static __global__ void find_kernel(rows L, const T *val, unsigned long long *found)
{
    const int32_t k = index32_of_thread();
    if (k >= L.n || !is_bad(val[L.ptr[k + 1] - 1])) return;
    atomicAdd(&found[0], 1ull);
    atomicMin(&found[1], (unsigned long long)L.caller(k));
}

int trs_gpu_find_pivots(const trs_operator *op, void *stream)
{
    cudaStream_t at = static_cast<cudaStream_t>(stream);
    unsigned long long *found = (unsigned long long *)op->device.found;
    cudaMemsetAsync(found, 0xff, 2 * sizeof *found, at);
    if (op->tri.n == 0) return launched();
    return for_type(op->tri.dtype, [&]<class T>(T) {
        find_kernel<T>
            <<<blocks_of(op->tri.n), PLAIN, 0, at>>>(rows_of(op), (const T *)op->device.val, found);
        return launched();
    });
}

template <class T>
static __global__ void replace_kernel(int32_t n, const int64_t *ptr, T *val, T value)
{
    const int32_t k = index32_of_thread();
    if (k >= n) return;
    T *pivot = val + ptr[k + 1] - 1;
    if (is_bad(*pivot)) *pivot = value;
}

int trs_gpu_replace_pivots(const trs_operator *op, double value, void *stream)
{
    return for_type(op->tri.dtype, [&]<class T>(T) {
        replace_kernel<T><<<blocks_of(op->tri.n), PLAIN, 0, static_cast<cudaStream_t>(stream)>>>(
            op->tri.n, op->device.ptr, (T *)op->device.val, number<T>(value));
        return launched();
    });
}
