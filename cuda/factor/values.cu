/* values.cu: operations on the values of factors on the device, apart from their elimination.
 *
 * A thread has a number; bandwidth bounds it. */
#include "config.h"

#include "cuda/runtime/cuda.cuh"
extern "C" {
#include "elimination/lu_rows.h"
}

template <class T> static __global__ void unit_kernel(int32_t n, const int64_t *Lp, T *val)
{
    const int32_t i = index32_of_thread();
    if (i < n) val[Lp[i + 1] - 1] = number<T>(1);
}

int trs_gpu_unit_diagonal(const trs_lu_rows *rows, trs_dtype t, void *val)
{
    if (rows->cholesky || rows->n == 0) return TRS_OK;
    return for_type(t, [&]<class T>(T) {
        unit_kernel<T><<<blocks_of(rows->n), PLAIN>>>(rows->n, rows->Lp, (T *)val);
        return launched();
    });
}

template <class F, class G>
static __global__ void convert_kernel(int64_t parts, const F *from, G *to)
{
    const int64_t k = index_of_thread();
    if (k < parts) to[k] = (G)from[k];
}

int trs_gpu_convert(int64_t count, trs_dtype from_type, const void *from, trs_dtype to_type,
                    void *to, void *stream)
{
    const cudaStream_t s = (cudaStream_t)stream;
    const int64_t parts = count * (trs_is_complex(from_type) ? 2 : 1);
    if (parts == 0) return TRS_OK;
    if (trs_is_single(from_type) == trs_is_single(to_type))
        return cuda_status(cudaMemcpyAsync(to, from, (size_t)count * trs_size(from_type),
                                           cudaMemcpyDeviceToDevice, s),
                           "copying values");
    if (trs_is_single(to_type))
        convert_kernel<<<blocks_of(parts), PLAIN, 0, s>>>(parts, (const double *)from, (float *)to);
    else
        convert_kernel<<<blocks_of(parts), PLAIN, 0, s>>>(parts, (const float *)from, (double *)to);
    return launched();
}

template <class T>
static __global__ void mix_kernel(int64_t count, const int64_t *from, const T *by, const T *a, T *g)
{
    const int64_t e = index_of_thread();
    if (e >= count) return;
    T sum = number<T>(0);
    for (int64_t q = 4 * e; q < 4 * e + 4 && from[q] >= 0; q++) sum = sum + by[q] * a[from[q]];
    g[e] = sum;
}

int trs_gpu_mix(trs_dtype t, int64_t count, const int64_t *from, const void *by, const void *a,
                void *g, void *stream)
{
    if (count == 0) return TRS_OK;
    return for_type(t, [&]<class T>(T) {
        mix_kernel<T><<<blocks_of(count), PLAIN, 0, (cudaStream_t)stream>>>(
            count, from, (const T *)by, (const T *)a, (T *)g);
        return launched();
    });
}

int trs_gpu_wait_for_all(trs_context *ctx)
{
    const int rc = trs_gpu_use(ctx);
    if (rc) return rc;
    return cuda_status(cudaDeviceSynchronize(), "waiting for the device");
}
