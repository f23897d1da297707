/* residual.cu: R = B - op(A) X on the device, in twice the working precision, with the backward errors of X; and the norm
 * of op(A).  lib/accuracy/residual.c has the formulas, and the same on the host.
 *
 * A few lanes have a row (rows.cuh), and the columns are along y of the grid.  Every block writes the largest numbers
 * of its rows.  A second launch, with a block for each column, takes the maximum over all blocks; the order of a
 * maximum makes no difference.  No block waits for another.  Bytes: for each column the entries once, an element of x
 * for each of them, b and r; these bound it. */
#include "config.h"

#include "rows.cuh"

#include <cfloat>
#include <cstring>

/* ---- maxima -------------------------------------------------------------------------------------------------- */

/* Numbers that are not negative, as integers of the same order; NaN is the largest. */
static __device__ inline uint64_t bits_of(double v)
{
    return isnan(v) ? 0x7ff8000000000000ull : (uint64_t)__double_as_longlong(v);
}

struct maxima { /* the bits of trs_findings; row < 0: there is none */
    uint64_t omega = 0;
    int64_t row = -1;
    uint64_t residual = 0, b = 0, x = 0, a = 0;

    /* Includes those of other rows; of equal omegas the first row counts. */
    __device__ void fold(const maxima &o)
    {
        const bool first = row < 0 || (omega == o.omega && o.row < row);
        if (o.row >= 0 && (first || o.omega > omega)) omega = o.omega, row = o.row;
        residual = max(residual, o.residual);
        b = max(b, o.b);
        x = max(x, o.x);
        a = max(a, o.a);
    }
    __device__ maxima of_lane(int mask) const
    {
        maxima o;
        o.omega = __shfl_xor_sync(~0u, omega, mask);
        o.row = __shfl_xor_sync(~0u, row, mask);
        o.residual = __shfl_xor_sync(~0u, residual, mask);
        o.b = __shfl_xor_sync(~0u, b, mask);
        o.x = __shfl_xor_sync(~0u, x, mask);
        o.a = __shfl_xor_sync(~0u, a, mask);
        return o;
    }
};
static_assert(sizeof(maxima) == sizeof(trs_findings));

/* Those of all threads of the block, for its thread 0.  All threads call it. */
static __device__ inline void fold_block(maxima &mine)
{
    __shared__ maxima of_warp[PLAIN / 32];
    for (int by = 16; by > 0; by /= 2) mine.fold(mine.of_lane(by));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    for (int w = 1; w < PLAIN / 32 && threadIdx.x == 0; w++) mine.fold(of_warp[w]);
}

/* A block for each column. */
static __global__ void fold_kernel(int blocks, const maxima *part, maxima *all)
{
    maxima mine;
    for (int k = threadIdx.x; k < blocks; k += PLAIN)
        mine.fold(part[(int64_t)blockIdx.x * blocks + k]);
    __syncwarp();
    fold_block(mine);
    if (threadIdx.x == 0) all[blockIdx.x] = mine;
}

/* ---- residuals ----------------------------------------------------------------------------------------------- */

template <class T> struct row_error { /* what a row adds up */
    sum_of<T> ax;
    double size = 0; /* |op(A)| |x|, and the safe minimum for each of its terms */
    double row = 0;  /* |op(A)| */
    __device__ void add_from(int mask)
    {
        ax.add_from(mask);
        size += __shfl_xor_sync(~0u, size, mask);
        row += __shfl_xor_sync(~0u, row, mask);
    }
    __device__ void add(T a, T x, double safmin)
    {
        ax.add_product(a, x);
        size += size_of(a) * (size_of(x) + safmin) + safmin;
        row += size_of(a);
    }
};

/* The sum becomes b - op(A) x.  A size that overflows says nothing, hence NaN. */
template <class T>
static __device__ inline maxima finish_row(int64_t i, row_error<T> &e, T b, T x, double safmin)
{
    e.ax.negate();
    e.ax.add(b);
    const double r = e.ax.size();
    const double size = e.size + size_of(b) + safmin;
    maxima m;
    m.omega = bits_of(isfinite(size) ? r / size : (double)NAN);
    m.row = i;
    m.residual = bits_of(r);
    m.b = bits_of(size_of(b));
    m.x = bits_of(size_of(x));
    m.a = bits_of(e.row);
    return m;
}

template <class T>
static __global__ void residual_kernel(const rows_of<T> m, const view<T> b, const view<T> x, T *r,
                                       maxima *part)
{
    const double safmin =
        sizeof(typename sum_of<T>::R) == sizeof(float) ? (double)FLT_MIN : DBL_MIN;
    const int64_t c = blockIdx.y;
    maxima mine;
    each_row<row_error<T>>(
        m, [&](int64_t j) { return x(j, c); },
        [&](row_error<T> &e, int64_t i, int64_t j, T a, T xj) {
            if (!(m.unit() && i == j)) e.add(a, xj, safmin);
        },
        [&](int64_t i, row_error<T> &e) {
            if (m.unit()) e.add(number<T>(1), x(i, c), safmin);
            mine.fold(finish_row(i, e, b(i, c), x(i, c), safmin));
            if (r) r[c * m.n + i] = e.ax.value();
        });
    fold_block(mine);
    if (threadIdx.x == 0) part[c * gridDim.x + blockIdx.x] = mine;
}

enum { MOST = 1024 }; /* blocks of a column: each leaves its maxima */

int64_t trs_gpu_residual_bytes(int nrhs)
{
    return (int64_t)sizeof(maxima) * nrhs * (MOST + 1);
}

/* Copies to the host, and waits. */
static int fetch(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    cudaError_t e = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream);
    if (e == cudaSuccess) e = cudaStreamSynchronize(stream);
    return cuda_status(e, "a residual");
}

int trs_gpu_residual(const trs_lines *l, int nrhs, trs_view b, trs_view x, void *r, void *scratch,
                     trs_findings *found, void *stream)
{
    cudaStream_t s = static_cast<cudaStream_t>(stream);
    maxima *all = (maxima *)scratch, *part = all + nrhs;
    TRS_ASSERT(nrhs <= TRS_RESIDUAL_COLUMNS);
    const int rc = for_type(l->A.dtype, [&]<class T>(T) {
        const rows_of<T> m = as_rows<T>(l);
        const unsigned blocks = blocks_for(m, MOST);
        const dim3 grid(blocks, (unsigned)nrhs);
        residual_kernel<T><<<grid, PLAIN, 0, s>>>(m, typed<T>(b), typed<T>(x), (T *)r, part);
        fold_kernel<<<(unsigned)nrhs, PLAIN, 0, s>>>((int)blocks, part, all);
        return launched();
    });
    if (rc) return rc;
    return fetch(found, all, (size_t)nrhs * sizeof *found, s);
}

/* ---- norms ----------------------------------------------------------------------------------------------------- */

struct row_norm {
    int64_t entries = 0;
    double sum = 0;
    __device__ void add_from(int mask)
    {
        entries += __shfl_xor_sync(~0u, entries, mask);
        sum += __shfl_xor_sync(~0u, sum, mask);
    }
};

/* Of the maxima, `residual` is the length of a row here, an integer, and `a` its norm. */
template <class T> static __global__ void survey_kernel(const rows_of<T> m, maxima *part)
{
    maxima mine;
    each_row<row_norm>(
        m, [](int64_t) { return 0; },
        [&](row_norm &s, int64_t i, int64_t j, T a, int) {
            s.entries++;
            if (!(m.unit() && i == j)) s.sum += magnitude(a);
        },
        [&](int64_t, row_norm &s) {
            if (m.unit()) s.sum += 1;
            mine.residual = max(mine.residual, (uint64_t)s.entries);
            mine.a = max(mine.a, bits_of(s.sum));
        });
    fold_block(mine);
    if (threadIdx.x == 0) part[blockIdx.x] = mine;
}

int trs_gpu_survey(const trs_lines *l, void *scratch, int64_t *longest, double *norm, void *stream)
{
    cudaStream_t s = static_cast<cudaStream_t>(stream);
    maxima *all = (maxima *)scratch, *part = all + 1;
    trs_findings found;
    int rc = for_type(l->A.dtype, [&]<class T>(T) {
        const rows_of<T> m = as_rows<T>(l);
        const unsigned blocks = blocks_for(m, MOST);
        survey_kernel<T><<<blocks, PLAIN, 0, s>>>(m, part);
        fold_kernel<<<1, PLAIN, 0, s>>>((int)blocks, part, all);
        return launched();
    });
    if (!rc) rc = fetch(&found, all, sizeof found, s);
    if (rc) return rc;
    memcpy(longest, &found.residual, sizeof *longest);
    *norm = found.a;
    return TRS_OK;
}
