/* batch.cu: many systems of one pattern on the device, in one launch.
 *
 * Each system is solved level by level by one warp, or by one block if its levels are wide.  A thread has a row of
 * the level and a right-hand side, and sums its entries in their order, so the bits are the same each time.  A
 * barrier for the threads of the system between two levels makes x visible to the next level.  Systems do not wait
 * for one another, so any number of them runs in any order.
 * Bytes: of each system its values, b and x; the pattern is read by all, and stays in the L2 cache.  A level
 * takes the latency of its longest row; all systems that are resident at a time share this latency. */
#include "config.h"

#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "batch/batch.h"
}

enum { WARP = 32, WIDE = 64, BLOCK = 256 }; /* from levels of WIDE rows on a block has a system */

template <class T> struct batch {
    const int64_t *ptr, *src;
    const int32_t *at, *level;
    int32_t n, levels;
    int64_t count;
    const T *val;
    view<T> b, x;
    int64_t val_stride, b_stride, x_stride;
    int nrhs;
    bool conj;
    unsigned long long *found; /* NULL: nobody looks */
};

template <class T> static __device__ inline T value(const batch<T> &m, const T *val, int64_t p)
{
    const int64_t s = m.src[p];
    return s >= 0 ? conj_if(m.conj, val[s]) : number<T>(s == TRS_SRC_UNIT);
}

/* Row q of the order, for right-hand side r of system k. */
template <class T>
static __device__ inline void solve_row(const batch<T> &m, int64_t k, int32_t q, int r)
{
    const T *val = m.val + k * m.val_stride, *b = m.b.p + k * m.b_stride + r * m.b.cs;
    T *x = m.x.p + k * m.x_stride + r * m.x.cs;
    const int64_t diagonal = m.ptr[q + 1] - 1;
    const int32_t i = m.at[diagonal];
    const T pivot = value(m, val, diagonal);
    T s = b[i * m.b.rs];
    for (int64_t p = m.ptr[q]; p < diagonal; p++) s = s - value(m, val, p) * x[m.at[p] * m.x.rs];
    x[i * m.x.rs] = s / pivot;
    if (m.found && (!is_finite(pivot) || magnitude(pivot) == 0))
        atomicMin(m.found, (unsigned long long)(k * m.n + i));
}

template <class T, int SIZE>
static __global__ void __launch_bounds__(BLOCK) batch_kernel(const batch<T> m)
{
    const int64_t k = blockIdx.x * (int64_t)(BLOCK / SIZE) + threadIdx.x / SIZE;
    if (k >= m.count) return; /* all threads of the system do */
    for (int32_t l = 0; l < m.levels; l++) {
        const int32_t begin = m.level[l], rows = m.level[l + 1] - begin;
        for (int64_t t = threadIdx.x % SIZE; t < (int64_t)rows * m.nrhs; t += SIZE)
            solve_row(m, k, begin + (int32_t)(t % rows), (int)(t / rows));
        if (SIZE == WARP) __syncwarp();
        else __syncthreads();
    }
}

template <class T> static batch<T> typed_batch(const trs_batch_job *j)
{
    const trs_batch_rows *r = j->rows;
    batch<T> m = {r->ptr, r->src, r->at, r->level, r->n, r->levels, j->count};
    m.val = (const T *)j->val;
    m.b = typed<T>(j->b), m.x = typed<T>(j->x);
    m.val_stride = j->val_stride, m.b_stride = j->b_stride, m.x_stride = j->x_stride;
    m.nrhs = j->nrhs;
    m.conj = j->conj;
    m.found = j->look ? (unsigned long long *)r->found : NULL;
    return m;
}

static int launch(const trs_batch_job *j, cudaStream_t stream)
{
    const int64_t items = (int64_t)j->rows->widest * j->nrhs;
    const bool warps = items < WIDE;
    const int64_t blocks = warps ? (j->count + BLOCK / WARP - 1) / (BLOCK / WARP) : j->count;
    if (blocks > INT32_MAX) return trs_fail(TRS_EARG, "batch: too many systems");
    return for_type(j->dtype, [&]<class T>(T) {
        const batch<T> m = typed_batch<T>(j);
        if (warps) batch_kernel<T, WARP><<<(unsigned)blocks, BLOCK, 0, stream>>>(m);
        else batch_kernel<T, BLOCK><<<(unsigned)blocks, BLOCK, 0, stream>>>(m);
        return launched();
    });
}

int trs_gpu_solve_batch(const trs_batch_job *j, int64_t *first)
{
    cudaStream_t stream = static_cast<cudaStream_t>(j->stream);
    int64_t *found = j->rows->found;
    const size_t bytes = sizeof *found;
    *first = -1;
    if (!j->look) return launch(j, stream);
    cudaMemsetAsync(found, 0xff, bytes,
                    stream); /* the largest number without a sign, -1 with one */
    int rc = launch(j, stream);
    if (rc) return rc;
    cudaMemcpyAsync(first, found, bytes, cudaMemcpyDeviceToHost, stream);
    return trs_gpu_wait(stream);
}
