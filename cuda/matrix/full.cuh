/* full.cuh: what solvers share that store the triangle as a full matrix on the device: the full matrix as the data of a
 * part, and B copied to X, where the kernels then work in place. */
#ifndef TRS_DENSE_CUH
#define TRS_DENSE_CUH

#include "cuda/runtime/cuda.cuh"

/* ---- triangles --------------------------------------------------------------------------------- */

/* part->data becomes a D, whose first member is the full matrix. */
template <class D> inline int dense_analyse(trs_part *part, bool by_rows)
{
    D *d = (D *)trs_alloc_zero(&part->ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(TRS_EMEM, "out of memory");
    part->data = d;
    return device_full_new(part, by_rows, &d->full);
}

template <class D> inline void dense_release(trs_part *part)
{
    D *d = (D *)part->data;
    device_full_free(part->ctx, &d->full);
    trs_free(&part->ctx->mem, d);
}

struct dense_data {
    device_full full;
};

/* An M says what a solver makes of the full matrix once that has new values:
 *     data                    its D
 *     make (T (), d, stream)  launches kernels on the stream of the update */
template <class M> inline int dense_make(trs_part *part, cudaStream_t stream)
{
    typename M::data *d = (typename M::data *)part->data;
    if (d->full.n == 0) return TRS_OK;
    return for_type(part->side->tri.dtype, [&](auto zero) {
        M::make(zero, d, stream);
        return launched();
    });
}

template <class M> inline int dense_update(trs_part *part)
{
    int rc = device_full_values(part, &((typename M::data *)part->data)->full);
    if (!rc) rc = dense_make<M>(part, NULL);
    return rc ? rc : trs_gpu_wait(NULL);
}

template <class M> inline int dense_update_direct(trs_part *part, const void *val, void *stream)
{
    int rc = device_full_take(part, &((typename M::data *)part->data)->full, val, stream);
    return rc ? rc : dense_make<M>(part, (cudaStream_t)stream);
}

/* The matrix as it is. */
template <class D> struct as_filled {
    using data = D;
    template <class T> static void make(T, const D *, cudaStream_t) {}
};

/* X = B, in which the kernels then work. */
inline int copy_b(const trs_part *part, const trs_job *job)
{
    if (job->b.p == job->x.p) return TRS_OK;
    return trs_gpu_gather(part->side->tri.dtype, part->side->tri.n, job->nrhs, NULL, job->b, job->x,
                          job->stream);
}

inline unsigned blocks_for(int64_t count, int threads)
{
    return (unsigned)((count + threads - 1) / threads);
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
