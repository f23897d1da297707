/* merge_product.cu: M times a vector, a kernel a pass, in place but for the first.
 *
 * A thread has a row of some columns, and a block one of which N has many entries; none waits for another, since rows
 * that change read rows that do not.  Bytes: 16 n + 20 nnz (N); bound by these where there are many rows, and by a
 * chain of loads where there are few. */
#include "config.h"

#include "merge.cuh"

enum { THREADS = PLAIN };

template <class T> struct product_of {
    int32_t n, wides;
    int nrhs;
    const int64_t *ptr;
    const int32_t *idx, *wide;
    const T *val; /* of -N */
    bool cj;
    view<T> from, to;
};

/* -N of a row times from, of every so many-th entry from p on; the loads of a batch are under way before the first
 * is looked at. */
template <class T, int BATCH>
static __device__ inline T product(const product_of<T> &m, int64_t p, int64_t end, int every, int r)
{
    T s = number<T>(0);
    for (; p < end; p += BATCH * every) {
        T a[BATCH], v[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            if (p + k * every >= end) continue;
            a[k] = conj_if(m.cj, m.val[p + k * every]);
            v[k] = m.from(m.idx[p + k * every], r);
        }
#pragma unroll
        for (int k = 0; k < BATCH; k++)
            if (p + k * every < end) s = s + a[k] * v[k];
    }
    return s;
}

/* By the block. */
template <class T, int BATCH> static __device__ void wide_product(const product_of<T> &m, int32_t i)
{
    __shared__ T sum[THREADS];
    for (int r = (int)blockIdx.y; r < m.nrhs; r += (int)gridDim.y) {
        sum[threadIdx.x] = product<T, BATCH>(m, m.ptr[i] + threadIdx.x, m.ptr[i + 1], THREADS, r);
        __syncthreads();
        block_sum(sum, THREADS);
        if (threadIdx.x == 0) m.to(i, r) = m.from(i, r) + sum[0];
        __syncthreads();
    }
}

/* to = M from, or of what is in place the rows that change: a thread a row; in the last blocks, a block a row of
 * which N has many entries. */
template <class T, int BATCH> static __global__ void product_kernel(const product_of<T> m)
{
    const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    const unsigned blocks = gridDim.x - (unsigned)m.wides;
    if (blockIdx.x >= blocks) {
        wide_product<T, BATCH>(m, m.wide[blockIdx.x - blocks]);
        return;
    }
    if (i >= m.n) return;
    const int64_t begin = m.ptr[i], end = m.ptr[i + 1];
    if (begin == end && m.from.p == m.to.p) return;
    if (end - begin > MERGE_MOST) return;
    for (int r = (int)blockIdx.y; r < m.nrhs; r += (int)gridDim.y)
        m.to(i, r) = m.from(i, r) + product<T, BATCH>(m, begin, end, 1, r);
}

/* Where there are few rows, a chain of loads is what takes time, and so no thread has two columns; where there are many,
 * threads are, and ptr is read anew for every few columns only. */
int merge_product(const merging *m, trs_dtype t, const trs_job *job, trs_view from, trs_view to)
{
    enum { SMALL = 200000, COLUMNS = 4, MOST = 65535 };
    const int32_t n = m->from.n;
    return for_type(t, [&](auto zero) {
        using T = decltype(zero);
        const product_of<T> all = {
            n,         m->wides,       job->nrhs,   m->ptr, m->idx, m->wide, (const T *)m->n_val,
            job->conj, typed<T>(from), typed<T>(to)};
        const int each = n < SMALL ? 1 : COLUMNS,
                  across = min((job->nrhs + each - 1) / each, int(MOST));
        const dim3 blocks(blocks_of(n) + (unsigned)m->wides, (unsigned)across);
        const auto kernel = n < SMALL ? product_kernel<T, 4> : product_kernel<T, 1>;
        kernel<<<blocks, THREADS, 0, (cudaStream_t)job->stream>>>(all);
        return launched();
    });
}
