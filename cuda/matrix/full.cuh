/* full.cuh: the host side shared by the dense baselines: a full matrix on the device, made from the
 * triangle of the operator, and B copied into X, where the kernels then work in place. */
#ifndef TRS_DENSE_CUH
#define TRS_DENSE_CUH

#include "cuda/runtime/cuda.cuh"

/* ---- a triangle as a full matrix on the device (full.cu) ------------------------------------- */

struct device_full { /* entry (i, j) is val[i*rs + j*cs], zero where nothing is stored */
    int64_t n, rs, cs;
    bool reversed; /* kept in the order of a caller whose triangle is upper */
    void *val;     /* [n*n] */
};

int device_full_new(const trs_instance *inst, bool by_rows, device_full *d);
int device_full_values(const trs_instance *inst, device_full *d, void *stream);
int64_t device_full_bytes(const trs_prospect *p);

template <class T> inline view<T> typed(const device_full &d)
{
    return {static_cast<T *>(d.val), d.rs, d.cs};
}

/* ---- triangles --------------------------------------------------------------------------------- */

/* inst->data becomes a D, whose first member is the full matrix. */
template <class D, bool BY_ROWS> inline int dense_build(trs_instance *inst)
{
    D *d = data_new<D>(inst->ctx, &inst->data);
    if (!d) return TRS_EMEM;
    return device_full_new(inst, BY_ROWS, &d->full);
}

template <class D> inline void dense_release(trs_instance *inst)
{
    D *d = (D *)inst->data;
    trs_gpu_free(inst->ctx, d->full.val);
    trs_free(&inst->ctx->mem, d);
}

struct dense_data {
    device_full full;
};

/* The matrix as it is. */
template <class D> inline int dense_fill(trs_instance *inst, void *stream)
{
    return device_full_values(inst, &((D *)inst->data)->full, stream);
}

/* And what a solver makes of it, which an M says:
 *     data                    its D
 *     make (T (), d, stream)  launches, on the stream of the update */
template <class M> inline int dense_update(trs_instance *inst, void *stream)
{
    typename M::data *d = (typename M::data *)inst->data;
    const int rc = dense_fill<typename M::data>(inst, stream);
    if (rc || d->full.n == 0) return rc;
    return for_type(inst->op->tri.dtype, [&]<class T>(T zero) {
        M::make(zero, d, (cudaStream_t)stream);
        return launched();
    });
}

/* X = B, after which the kernels forget B. */
inline int copy_b(const trs_instance *inst, const trs_job *job)
{
    if (job->b.p == job->x.p) return TRS_OK;
    return trs_gpu_gather(inst->op->tri.dtype, inst->op->tri.n, job->nrhs, NULL, job->b, job->x,
                          job->stream);
}

/* The same, and then f (x, count) launches what solves in place for count columns from the first of x on. */
template <class F> inline int solve_in_place(const trs_instance *inst, const trs_job *job, F f)
{
    const int rc = copy_b(inst, job);
    if (rc) return rc;
    return for_type(inst->op->tri.dtype, [&]<class T>(T) {
        return for_columns(job->nrhs, [&](int first, int count) {
            f(from_column(typed<T>(job->x), first), count);
            return launched();
        });
    });
}

/* Is this number of a full matrix stored in the triangle (full.cu)? */
template <class T> __device__ inline bool is_entry(T a)
{
    return a != 0 || !signbit(a);
}
template <> __device__ inline bool is_entry(cuFloatComplex a)
{
    return is_entry(a.x);
}
template <> __device__ inline bool is_entry(cuDoubleComplex a)
{
    return is_entry(a.x);
}

#endif
