/* full.cu: the triangle of an operator as a full matrix on the device, for the dense solvers.
 *
 * It is filled from the operator's own rows on the device.  As on the host (cpu_full.h), the full matrix has
 * -0 where no entry is stored, and +0 where a zero of either sign is stored.
 * Bytes of an update: elem n^2 written (zeros), then elem nnz read and written. */
#include "config.h"

#include "full.cuh"

int device_full_new(const trs_instance *inst, bool by_rows, device_full *d)
{
    const int64_t n = inst->op->tri.n;
    d->n = n;
    d->rs = by_rows ? n : 1;
    d->cs = by_rows ? 1 : n;
    int rc = trs_operator_device(inst->op, TRS_OP_PATTERN);
    if (rc) return rc;
    trs_operator_hold(inst->op, TRS_OP_PATTERN);
    d->val = trs_gpu_new(inst->ctx, n * n, trs_size(inst->op->tri.dtype), "the full matrix");
    return d->val ? TRS_OK : TRS_EMEM;
}

template <class T> static __global__ void clear_kernel(int64_t count, T *full)
{
    const int64_t k = index_of_thread();
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

int device_full_values(const trs_instance *inst, device_full *d, void *stream)
{
    const cudaStream_t s = (cudaStream_t)stream;
    const trs_device_view *L = &inst->op->device;
    const int rc = trs_operator_device(inst->op, TRS_OP_VALUES);
    if (rc || d->n == 0) return rc;
    return for_type(inst->op->tri.dtype, [&]<class T>(T) {
        clear_kernel<T><<<blocks_of(d->n * d->n), PLAIN, 0, s>>>(d->n * d->n, (T *)d->val);
        fill_kernel<T><<<(unsigned)d->n, 128, 0, s>>>(d->n, d->reversed, L->ptr, L->idx,
                                                      (const T *)L->val, typed<T>(*d));
        return launched();
    });
}

int64_t device_full_bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return (int64_t)(s->elem * (double)s->n * (double)s->n) + s->nnz * (int64_t)(s->elem + 4) +
           8 * (s->n + 1);
}
