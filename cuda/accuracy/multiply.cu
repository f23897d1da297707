/* multiply.cu: Y = op(A) X on the device, summed in working precision.
 *
 * stream.cuh and block_stream.cuh have the kernels of most matrices.  For all others a few lanes have a row (rows.cuh).
 * The columns of X are along y of the grid.  x is only read and y only written, so nothing is handed over within the
 * launch and no thread waits.  Bytes: for each column the entries once, an element of x for each of them, and y; these
 * bound it. */
#include "config.h"

#include "block_stream.cuh"

template <class T> struct plain_sum {
    T s = number<T>(0);
    __device__ void add_from(int mask) { s = s + shuffle_xor(s, mask); }
};

template <class T>
static __global__ void multiply_kernel(const rows_of<T> m, const view<T> x, const view<T> y)
{
    const int64_t r = blockIdx.y;
    each_row<plain_sum<T>>(
        m, [&](int64_t j) { return x(j, r); },
        [&](plain_sum<T> &sum, int64_t i, int64_t j, T a, T xj) {
            if (!(m.unit() && i == j)) sum.s = sum.s + a * xj;
        },
        [&](int64_t i, plain_sum<T> &sum) { y(i, r) = m.unit() ? sum.s + x(i, r) : sum.s; });
}

int trs_gpu_multiply(const trs_lines *l, int nrhs, trs_view x, trs_view y, void *stream)
{
    if (l->A.n == 0) return TRS_OK;
    return for_type(l->A.dtype, [&]<class T>(T) {
        const rows_of<T> m = as_rows<T>(l);
        return for_columns(nrhs, [&](int r, int count) {
            const cudaStream_t s = static_cast<cudaStream_t>(stream);
            const view<T> from = from_column(typed<T>(x), r), to = from_column(typed<T>(y), r);
            if (can_stream(m)) return launch_stream(m, mean_row(l), count, from, to, s);
            if (can_stream_blocks(m))
                return launch_block_stream(m, mean_row(l), count, from, to, s);
            const dim3 grid(blocks_for(m, 1u << 20), (unsigned)count);
            multiply_kernel<T><<<grid, PLAIN, 0, s>>>(m, from, to);
            return launched();
        });
    });
}
