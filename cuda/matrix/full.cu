/* full.cu: the triangle of a part as a full matrix on the device, for the dense solvers of the seeds and of cuBLAS.
 *
 * The rows are kept as CSR, too, so that new values take one copy and two kernels.  Where nothing is stored the full
 * matrix has -0, and where zero is stored, of either sign, it has +0 (as on the host, cpu_full.h).  For 0 NaN is NaN:
 * this is how a kernel knows a product that it must leave out.
 * Bytes of an update: elem n^2 zeros are written, then elem nnz read and written. */
#include "config.h"

#include "base/debug.h"
#include "cuda/runtime/cuda.cuh"

enum { THREADS = PLAIN };

int device_full_new(const trs_part *part, bool by_rows, device_full *d)
{
    const int64_t n = part->side->tri.n;
    d->n = n;
    d->rs = by_rows ? n : 1;
    d->cs = by_rows ? 1 : n;
    int rc = device_csr_new(part, &d->L);
    if (rc) return rc;
    d->val = trs_gpu_new(part->ctx, n * n, trs_size(part->side->tri.dtype), "the full matrix");
    return d->val ? TRS_OK : TRS_EMEM;
}

template <class T> static __global__ void clear_kernel(int64_t count, T *full)
{
    const int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (k < count) full[k] = number<T>(-0.0);
}

/* A block of threads a row; adding 0 makes +0 of -0. */
template <class T>
static __global__ void fill_kernel(int64_t n, bool reversed, const int64_t *Lp, const int32_t *Li,
                                   const T *Lx, view<T> full)
{
    const int64_t i = blockIdx.x;
    for (int64_t p = Lp[i] + threadIdx.x; p < Lp[i + 1]; p += blockDim.x) {
        TRS_ASSERT(Li[p] >= 0 && Li[p] <= i);
        const T a = Lx[p] + number<T>(0);
        if (reversed) full(n - 1 - i, n - 1 - Li[p]) = a;
        else full(i, Li[p]) = a;
    }
}

/* d->val from the values of d->L. */
static int fill(const trs_part *part, device_full *d, cudaStream_t s)
{
    const trs_dtype t = part->side->tri.dtype;
    if (d->n == 0) return TRS_OK;
    return for_type(t, [&](auto zero) {
        using T = decltype(zero);
        clear_kernel<T><<<blocks_of(d->n * d->n), THREADS, 0, s>>>(d->n * d->n, (T *)d->val);
        fill_kernel<T><<<(unsigned)d->n, 128, 0, s>>>(d->n, d->reversed, d->L.ptr, d->L.idx,
                                                      (const T *)d->L.val, typed<T>(*d));
        return launched();
    });
}

int device_full_values(const trs_part *part, device_full *d)
{
    int rc = device_csr_values(part, &d->L);
    return rc ? rc : fill(part, d, NULL);
}

int device_full_take(const trs_part *part, device_full *d, const void *val, void *stream)
{
    int rc = device_csr_take(part, &d->L, val, stream);
    return rc ? rc : fill(part, d, (cudaStream_t)stream);
}

void device_full_free(trs_context *ctx, device_full *d)
{
    device_csr_free(ctx, &d->L);
    trs_gpu_free(ctx, d->val);
}

int64_t device_full_bytes(const trs_shape *s)
{
    return (int64_t)(s->elem * (double)s->n * (double)s->n) + s->nnz * (int64_t)(s->elem + 4) +
           8 * (s->n + 1);
}
