/* move.cu: moves right-hand sides between the caller and the triangles of a factorisation, on the device.
 *
 *     bring       y(k, r) = s(p(k)) b(p(k), r) / 2^e(r)        p a permutation, s a scaling of rows
 *     put back    x(p(k), r) = s(p(k)) 2^e(r) y(k, r)          e(r): only where y has the smaller range
 *
 * One pass does permutation, scaling, and change of type and layout.  A thread has an element of y, in memory order,
 * so y is read and written in whole sectors and the caller's vectors at random.  Threads share nothing, and none
 * waits.  Bytes: the two elements, 4 for p and 8 for s (which the L2 cache keeps for the next column).  Arithmetic is
 * in double precision, in the same order as on the host (factor/lu_solve.c), so y is the same. */
#include "config.h"

#include "cuda.cuh"

#include <type_traits>

/* The power of two next to size, as trs_power_near finds it. */
static __device__ inline double power_near(double size)
{
    int e = 0;
    if (isfinite(size)) frexp(size, &e);
    return ldexp(1.0, min(max(e, -1000), 1000));
}

/* A trs_move as a kernel sees it. */
template <class Outer, class Inner> struct moving {
    int64_t n;
    int nrhs;
    const int32_t *perm;
    const double *scale, *size;
    bool conj, add;
    view<Outer> x;
    view<Inner> y;
    __device__ int64_t row(int64_t k) const { return perm ? perm[k] : k; }
    __device__ double scale_of(int64_t i) const { return scale ? scale[i] : 1; }
    __device__ double power_of(int64_t r) const { return size ? power_near(size[r]) : 1; }
};

/* Where thread t is in y: along a column, or along a row if these lie side by side. */
template <class M> static __device__ inline bool place(const M &m, int64_t *k, int64_t *r)
{
    const int64_t t = index_of_thread();
    if (t >= m.n * m.nrhs) return false;
    *k = m.nrhs == 1 ? t : t % m.n;
    *r = m.nrhs == 1 ? 0 : t / m.n;
    if (m.y.cs == 1 && m.nrhs > 1) *k = t / m.nrhs, *r = t % m.nrhs;
    return true;
}

template <class Outer, class Inner>
static __global__ void bring_kernel(const moving<Outer, Inner> m)
{
    int64_t k, r;
    if (!place(m, &k, &r)) return;
    const int64_t i = m.row(k);
    const double s = m.scale_of(i), by = 1 / m.power_of(r);
    m.y(k, r) =
        convert<Inner>(conj_if(m.conj, m.x(i, r)), [=](double part) { return by * (s * part); });
}

template <class Outer, class Inner>
static __global__ void put_back_kernel(const moving<Outer, Inner> m)
{
    int64_t k, r;
    if (!place(m, &k, &r)) return;
    const int64_t i = m.row(k);
    const double s = m.scale_of(i), by = m.power_of(r);
    const Outer v =
        conj_if(m.conj, convert<Outer>(m.y(k, r), [=](double part) { return s * (by * part); }));
    m.x(i, r) = m.add ? m.x(i, r) + v : v;
}

/* The larger of |Re a| and |Im a| in double precision; of a NaN, 0, since fmax passes it over. */
template <class T> static __device__ inline double larger_part(T a)
{
    if constexpr (is_pair<T>) return fmax(fabs((double)a.x), fabs((double)a.y));
    else return fmax(0.0, fabs((double)a));
}

/* size(r) = max s(i) |b(i, r)|; the columns are along y of the grid.  A size is never negative, so that the order of such
 * numbers is that of their bits, and the largest is found by atomics on integers: it is the same in any order. */
template <class T>
static __global__ void size_kernel(int64_t n, const double *scale, view<T> x, double *size)
{
    double most = 0;
    const int64_t r = blockIdx.y;
    for (int64_t i = index_of_thread(); i < n; i += all_threads())
        most = fmax(most, (scale ? scale[i] : 1) * larger_part(x(i, r)));
    __syncwarp();
    for (int by = 16; by > 0; by /= 2) most = fmax(most, __shfl_xor_sync(~0u, most, by));
    if (threadIdx.x % 32 == 0 && most > 0) atomic_larger(&size[r], most);
}

template <class T> static int find_sizes(const trs_move *m, view<T> x, cudaStream_t stream)
{
    cudaMemsetAsync(m->size, 0, (size_t)m->nrhs * sizeof *m->size, stream);
    return for_columns(m->nrhs, [&](int r, int count) {
        const dim3 grid(few_blocks(m->n), (unsigned)count);
        size_kernel<T><<<grid, PLAIN, 0, stream>>>(m->n, m->scale, from_column(x, r), m->size + r);
        return launched();
    });
}

/* Calls f with numbers of the two types. */
template <class F> static int for_types(const trs_move *m, F f)
{
    TRS_ASSERT(trs_is_complex(m->outer) == trs_is_complex(m->inner));
    return for_type(m->outer, [&]<class Outer>(Outer outer) {
        using high = std::conditional_t<is_pair<Outer>, cuDoubleComplex, double>;
        using low = std::conditional_t<is_pair<Outer>, cuFloatComplex, float>;
        return trs_is_single(m->inner) ? f(outer, low()) : f(outer, high());
    });
}

template <class Outer, class Inner>
static moving<Outer, Inner> as_moving(const trs_move *m, trs_view x, trs_view y)
{
    return {m->n,    m->nrhs, m->perm,         m->scale,       m->size,
            m->conj, m->add,  typed<Outer>(x), typed<Inner>(y)};
}

int trs_gpu_bring(const trs_move *m, trs_view x, trs_view y, void *stream)
{
    cudaStream_t s = static_cast<cudaStream_t>(stream);
    if (m->n == 0 || m->nrhs == 0) return TRS_OK;
    return for_types(m, [&]<class Outer, class Inner>(Outer, Inner) {
        const int rc = m->size ? find_sizes(m, typed<Outer>(x), s) : TRS_OK;
        if (rc) return rc;
        bring_kernel<<<blocks_of((int64_t)m->n * m->nrhs), PLAIN, 0, s>>>(
            as_moving<Outer, Inner>(m, x, y));
        return launched();
    });
}

int trs_gpu_put_back(const trs_move *m, trs_view y, trs_view x, void *stream)
{
    cudaStream_t s = static_cast<cudaStream_t>(stream);
    if (m->n == 0 || m->nrhs == 0) return TRS_OK;
    return for_types(m, [&]<class Outer, class Inner>(Outer, Inner) {
        put_back_kernel<<<blocks_of((int64_t)m->n * m->nrhs), PLAIN, 0, s>>>(
            as_moving<Outer, Inner>(m, x, y));
        return launched();
    });
}
