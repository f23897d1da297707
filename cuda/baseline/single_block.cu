/* single_block.cu: one block of threads, the triangle by columns, a thread a column of the level.
 * Source: slides "GPU-accelerated sparse triangular solver", page "CSC with single block":
 *
 *     for each level:  for each column j of it, by a thread of its own:
 *                          x(j) = (b(j) - sum(j)) / L(j, j)
 *                          sum(i) += L(i, j) x(j) for all i > j     (atomicAdd)
 *                      barrier
 *
 * The page does not cover levels with more columns than threads; here they are processed in batches.  Its "sum this
 * row" cannot work in CSC, which has no rows to traverse: the sums are gathered as columns are finished.
 *
 * Row j belongs to the thread that has column j.  sum(i) is complete and visible after the barrier that ends the
 * level of the last row that i depends on; reads bypass the L1 cache, because atomics are done in the L2.  No block
 * waits for another one: it cannot hang.  The order of the atomic additions varies, and so do the last bits of x.
 * Bytes: 12 nnz + 28 n and an atomic an entry, on one SM.  The time is that of a barrier and some dependent loads a
 * level, or, where levels are wide, that of the atomics. */
#include "config.h"

#include "cuda/runtime/cuda.cuh"

enum { THREADS = 1024 };

struct single_block {
    int64_t *Lp; /* by columns, on the device; the diagonal is first in every column */
    int32_t *Li, *topo, *lv;
    void *Lx;
    int64_t *src; /* entry p of the columns is entry src [p] of the operator */
};

/* A number written by atomics of this block, read past L1. */
template <class T> __device__ inline T read_sum(const T *p)
{
    return __ldcg(p);
}
template <> __device__ inline cuFloatComplex read_sum(const cuFloatComplex *p)
{
    return make_cuFloatComplex(__ldcg(&p->x), __ldcg(&p->y));
}
template <> __device__ inline cuDoubleComplex read_sum(const cuDoubleComplex *p)
{
    return make_cuDoubleComplex(__ldcg(&p->x), __ldcg(&p->y));
}

template <class T>
static __global__ void __launch_bounds__(THREADS)
    single_block_kernel(int32_t n, int32_t levels, const int32_t *topo, const int32_t *lv,
                        const int64_t *Lp, const int32_t *Li, const T *Lx, T *sums, view<T> b,
                        view<T> x, bool cj)
{
    const int r = blockIdx.x;
    T *sum = sums + (int64_t)n * r;
    for (int32_t l = 0; l < levels; l++) {
        for (int32_t k = lv[l] + (int32_t)threadIdx.x; k < lv[l + 1]; k += THREADS) {
            const int32_t j = topo[k];
            const int64_t end = Lp[j + 1];
            int64_t p = Lp[j];
            T xj = (b(j, r) - read_sum(&sum[j])) / conj_if(cj, Lx[p]);
            x(j, r) = xj;
            for (p++; p < end; p++) atomic_add(&sum[Li[p]], conj_if(cj, Lx[p]) * xj);
        }
        __syncthreads();
    }
}

static void release(trs_instance *inst)
{
    single_block *d = (single_block *)inst->data;
    device_free(inst->ctx, d->Lp, d->Li, d->topo, d->lv, d->Lx, d->src);
    trs_free(&inst->ctx->mem, d);
}

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    const trs_levels *lv = &inst->op->lv;
    single_block *d = data_new<single_block>(ctx, &inst->data);
    if (!d) return TRS_EMEM;
    int rc = trs_operator_host(inst->op, TRS_OP_PATTERN | TRS_OP_VALUES | TRS_OP_LEVELS);
    if (rc) return rc;
    trs_tri csr = inst->op->tri, csc;
    csr.src = NULL; /* so that the transpose keeps places in this CSR */
    rc = trs_tri_transpose(ctx, &csr, true, &csc);
    if (rc) return rc;
    const int64_t n = csr.n, nnz = csr.nnz;
    d->Lp = device_copy(ctx, csc.ptr, n + 1, "column pointers");
    d->Li = device_copy(ctx, csc.idx, nnz, "rows");
    d->src = device_copy(ctx, csc.src, nnz, "places of the values");
    trs_tri_free(ctx, &csc);
    d->topo = device_copy(ctx, lv->topo, n, "topo");
    d->lv = device_copy(ctx, lv->ptr, (int64_t)lv->count + 1, "lv_ptr");
    d->Lx = trs_gpu_new(ctx, nnz, trs_size(csr.dtype), "values");
    return d->Lp && d->Li && d->src && d->topo && d->lv && d->Lx ? TRS_OK : TRS_EMEM;
}

static int update(trs_instance *inst, void *stream)
{
    single_block *d = (single_block *)inst->data;
    const int rc = trs_operator_device(inst->op, TRS_OP_VALUES);
    return rc ? rc
              : trs_gpu_take_values(inst->op->tri.dtype, inst->op->tri.nnz, d->src,
                                    inst->op->device.val, d->Lx, stream);
}

static int64_t work_bytes(const trs_instance *inst, int nrhs)
{
    return (int64_t)inst->op->tri.n * nrhs * (int64_t)trs_size(inst->op->tri.dtype);
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    const single_block *d = (const single_block *)inst->data;
    const int32_t n = inst->op->tri.n;
    cudaStream_t stream = (cudaStream_t)job->stream;
    return for_type(inst->op->tri.dtype, [&]<class T>(T) {
        T *sums = (T *)job->work;
        cudaMemsetAsync(sums, 0, (size_t)n * job->nrhs * sizeof(T), stream);
        single_block_kernel<T><<<job->nrhs, THREADS, 0, stream>>>(
            n, inst->op->lv.count, d->topo, d->lv, d->Lp, d->Li, (const T *)d->Lx, sums,
            typed<T>(job->b), typed<T>(job->x), job->conj);
        return launched();
    });
}

static const char *estimate(const trs_prospect *p, const trs_instance *, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    c->bytes = (double)s->nnz * m->single_entry * s->nrhs;
    c->sync = 2 * m->gpu_launch;
    c->latency = (double)s->levels * m->single_level + s->sum_longest * m->single_longest;
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return s->nnz * (int64_t)(2 * s->elem + 12) + 16 * (s->n + 1);
}

const trs_solver trs_solver_single_block = {
    .name = "cuda-single-block",
    .about = "CSC, one block, a thread a column of the level, atomicAdd (baseline)",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .by_columns = true,
    .refreshes = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update = update,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};
