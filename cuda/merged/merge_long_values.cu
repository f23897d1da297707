/* merge_long_values.cu: the values of T' and -N in long rows.
 *
 * A block a row; none waits for another.  merge_long.cu has stored the target of each term (merge_pass.target).  The
 * terms of one substituted row have different columns, so they are added in parallel, with a barrier between one row
 * and the next: the order of a sum is that of the rows.  Bytes: for each term 12, and twice 8 of its sum, which is in
 * the cache. */
#include "config.h"

#include "merge_long.cuh"

using namespace long_rows;

/* By the block: -N of the row; thread 0 gets the sum of its magnitudes. */
template <class T>
static __device__ double factors(const merge_pass &m, int32_t i, const long_row &r,
                                 const substituted_rows &sh, const T *val)
{
    __shared__ double warp_sum[WARPS];
    double sum = 0;
    for (int32_t k = (int32_t)threadIdx.x; k < r.substituted; k += THREADS) {
        const T d = val[m.from.ptr[sh.row[k] + 1] - 1];
        const T f = number<T>(0) - val[r.begin + sh.place[k]] / d;
        ((T *)m.n_val)[m.n_ptr[i] + k] = f;
        sum += magnitude(f);
    }
    for (int by = 1; by < 32; by *= 2) sum += __shfl_down_sync(~0u, sum, by);
    if (threadIdx.x % 32 == 0) warp_sum[threadIdx.x / 32] = sum;
    __syncthreads();
    for (int w = 1; w < WARPS && threadIdx.x == 0; w++) sum += warp_sum[w];
    __syncthreads();
    return sum;
}

/* By the block: the sums of the terms of a row; f: -N.  True to a thread that has seen one that is not finite. */
template <class T>
static __device__ bool add_terms(const merge_pass &m, const merge_long_row &row, const long_row &r,
                                 const substituted_rows &sh, const T *val, const T *f, T *out)
{
    const int32_t *const target = m.target + row.first_target, me = (int32_t)threadIdx.x;
    for (int32_t q = me; q < row.columns; q += THREADS) out[q] = number<T>(0);
    __syncthreads();
    for (int32_t a = me; a < r.length; a += THREADS)
        if (target[a] != MERGE_NONE) out[target[a]] = val[r.begin + a];
    for (int32_t k = 0; k < r.substituted; k++) {
        const T *const of = val + m.from.ptr[sh.row[k]] - sh.begin[k];
        __syncthreads();
        for (int32_t a = sh.begin[k] + me; a < sh.begin[k + 1]; a += THREADS) {
            TRS_ASSERT(target[r.length + a] >= 0 && target[r.length + a] < row.columns);
            T &sum = out[target[r.length + a]];
            sum = sum + f[k] * of[a];
        }
    }
    __syncthreads();
    bool bad = false;
    for (int32_t q = me; q < row.columns; q += THREADS) bad |= !is_finite(out[q]);
    return bad;
}

template <class T>
static __global__ void __launch_bounds__(THREADS)
    values_kernel(const merge_pass m, const T *val, uint64_t *growth)
{
    __shared__ substituted_rows sh;
    for (int32_t k = (int32_t)blockIdx.x; k < m.long_rows; k += (int32_t)gridDim.x) {
        const merge_long_row row = m.long_row[k];
        if (row.first_target == MERGE_NONE) continue;
        T *const out = (T *)m.to_val + m.to_ptr[row.row];
        const long_row r = find_substituted(m.from, row.row, sh);
        TRS_ASSERT(r.substituted == row.substituted);
        const double sum = factors(m, row.row, r, sh, val);
        const T *const f = (const T *)m.n_val + m.n_ptr[row.row];
        if (add_terms(m, row, r, sh, val, f, out)) raise_growth(growth, INFINITY);
        if (threadIdx.x > 0) continue;
        out[row.columns] = val[r.begin + r.length];
        raise_growth(growth, sum);
    }
}

int merge_long_values(const merge_pass *m, trs_dtype t, const void *val, uint64_t *growth,
                      cudaStream_t stream)
{
    const unsigned blocks = (unsigned)min(m->long_rows, 8 * multiprocessors());
    return for_type(t, [&]<class T>(T) {
        values_kernel<T><<<blocks, THREADS, 0, stream>>>(*m, (const T *)val, growth);
        return launched();
    });
}
