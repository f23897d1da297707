/* merge_product.cu: M times a vector, a kernel a pass, in place but for the first.
 *
 *     (M b)(i) = b(i) - sum over j of N(i, j) b(j)
 *
 * A thread has a row; a block has a row with many entries of N.  None waits for another, and the product can be made
 * in place: a row i with entries of N reads rows j without any, which no thread changes (merge.h).
 * Bytes: 16 n + 20 nnz (N) for a column of doubles; these bound it for many rows, and a chain of loads
 * (pointers of the row, its columns, b) for few. */
#include "config.h"

#include "merge.cuh"

enum { THREADS = PLAIN };

template <class T> struct product_of {
    int32_t n, block_rows;
    int nrhs;
    const int64_t *ptr; /* of N */
    const int32_t *idx, *block_row;
    const T *val; /* of -N */
    bool cj;      /* conjugate the values */
    view<T> from, to;
};

/* The sum over entries p, p + every, ... of -N(i, j) from(j, r); the loads of BATCH entries are under way before the
 * first of them is used. */
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

/* A row by the block. */
template <class T, int BATCH>
static __device__ void block_product(const product_of<T> &m, int32_t i)
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

/* to = M from, a thread a row; where to is from, rows that do not change are left alone.  The last blocks have a row
 * each of which N has many entries. */
template <class T, int BATCH> static __global__ void product_kernel(const product_of<T> m)
{
    const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    const unsigned blocks = gridDim.x - (unsigned)m.block_rows;
    if (blockIdx.x >= blocks) {
        block_product<T, BATCH>(m, m.block_row[blockIdx.x - blocks]);
        return;
    }
    if (i >= m.n) return;
    const int64_t begin = m.ptr[i], end = m.ptr[i + 1];
    if (begin == end && m.from.p == m.to.p) return;
    if (end - begin > MERGE_SHORT_ROWS) return;
    for (int r = (int)blockIdx.y; r < m.nrhs; r += (int)gridDim.y)
        m.to(i, r) = m.from(i, r) + product<T, BATCH>(m, begin, end, 1, r);
}

/* Where there are few rows, a chain of loads is what takes time: no thread has two columns of the job, and four
 * entries are read at a time.  Where there are many rows, the number of threads that run at once is what bounds it, so
 * a thread has COLUMNS of them, reads ptr once for these, and has few registers. */
int merge_product(const merge_pass *m, trs_dtype t, const trs_job *job, trs_view from, trs_view to)
{
    enum { SMALL = 200000, COLUMNS = 4, MOST = 65535 };
    const int32_t n = m->from.n;
    return for_type(t, [&]<class T>(T) {
        const product_of<T> all = {n,
                                   m->block_rows,
                                   job->nrhs,
                                   m->n_ptr,
                                   m->n_idx,
                                   m->block_row,
                                   (const T *)m->n_val,
                                   job->conj,
                                   typed<T>(from),
                                   typed<T>(to)};
        const int each = n < SMALL ? 1 : COLUMNS,
                  across = min((job->nrhs + each - 1) / each, int(MOST));
        const dim3 blocks(blocks_of(n) + (unsigned)m->block_rows, (unsigned)across);
        const auto kernel = n < SMALL ? product_kernel<T, 4> : product_kernel<T, 1>;
        kernel<<<blocks, THREADS, 0, (cudaStream_t)job->stream>>>(all);
        return launched();
    });
}
