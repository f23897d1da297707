/* doubling.cuh: after the 2x2 triangles (pair.cuh) the identity blocks on the diagonal double, i = 2, 4, 8, ...
 * Source: "Dense Lower Triangular Solver", section "GPU Complex 2":
 *
 *     for i = 2; i < n; i = 2i:   valid rows y: the lower half of every 2i rows;  d = y - y % i - 1 - j
 *         L(y, x) = L(y, x) - sum, j < i, of L(d, x) L(y, d)      columns x left of the multipliers
 *         b(y)    = b(y)    - sum, j < i, of b(d) L(y, d)
 *
 *                     columns x   columns d
 *     upper half   [  L(d, x)        I             ]      i rows d
 *     lower half   [  L(y, x)     L(y, d)     I    ]      i rows y, which are valid
 *
 * According to the document, the multipliers L(y, d) become zero but are not written.  So after the last i each of
 * them is still where it was used, and b can follow later: L is changed by an update, b by every solve, with the same
 * numbers in the same order of i.  n need not be a power of two: rows y >= n are guarded, and d < y.
 *
 * A launch writes rows of lower halves in columns left of the multipliers.  It reads rows of upper halves and the
 * multipliers, which no thread writes in this launch, so threads do not conflict. */
#ifndef TRS_DOUBLING_CUH
#define TRS_DOUBLING_CUH

#include "pair.cuh"

enum { ROW_THREADS = 256 };

/* The k-th valid row, and how many there are. */
__host__ __device__ inline int64_t valid_row(int64_t k, int64_t i)
{
    return k / i * (2 * i) + i + k % i;
}

inline int64_t valid_rows(int64_t n, int64_t i)
{
    const int64_t rest = n % (2 * i);
    return n / (2 * i) * i + (rest > i ? rest - i : 0);
}

/* Columns left of the multipliers of row y. */
__host__ __device__ inline int64_t valid_columns(int64_t y, int64_t i)
{
    return y - y % i - i;
}

/* A thread an element, x fastest. */
template <class T> static __global__ void element_kernel(int64_t rows, int64_t i, view<T> L)
{
    const int64_t k = blockIdx.y * (int64_t)PAIR_HIGH + threadIdx.y;
    const int64_t x = blockIdx.x * (int64_t)PAIR_WIDE + threadIdx.x;
    if (k >= rows) return;
    const int64_t y = valid_row(k, i);
    if (x >= valid_columns(y, i)) return;
    T sum = L(y, x);
    for (int64_t j = 0; j < i; j++) {
        const int64_t d = y - y % i - 1 - j;
        sum = sum - L(d, x) * L(y, d);
    }
    L(y, x) = sum;
}

template <class T> inline void double_elements(const pair_data *d, int64_t i, cudaStream_t s)
{
    const int64_t rows = valid_rows(d->full.n, i);
    const int64_t columns = valid_columns(valid_row(rows - 1, i), i);
    const dim3 grid(blocks_of(columns, PAIR_WIDE), blocks_of(rows, PAIR_HIGH));
    if (columns > 0)
        element_kernel<T><<<grid, dim3(PAIR_WIDE, PAIR_HIGH), 0, s>>>(rows, i, typed<T>(d->full));
}

/* b: a block of threads a valid row, where the document has one thread, because the multipliers lie side by side. */
template <class T> static __global__ void double_b(int64_t i, view<const T> L, view<T> b, bool cj)
{
    T *s = shared_numbers<T>();
    const int64_t y = valid_row(blockIdx.x, i);
    const int r = blockIdx.y;
    T sum = number<T>(0);
    for (int64_t j = threadIdx.x; j < i; j += blockDim.x) {
        const int64_t d = y - y % i - 1 - j;
        sum = sum + conj_if(cj, L(y, d)) * b(d, r);
    }
    s[threadIdx.x] = sum;
    __syncthreads();
    block_sum(s, (int)blockDim.x);
    if (threadIdx.x == 0) b(y, r) = b(y, r) - s[0];
}

/* ---- the members of both solvers ------------------------------------------------------------- */

/* The full matrix with its blocks doubled; S::step<T> (d, i, stream) does it once. */
template <class S> struct doubled {
    using data = pair_data;
    template <class T> static void make(T zero, const pair_data *d, cudaStream_t s)
    {
        pairs_solved::make(zero, d, s);
        for (int64_t i = 2; i < d->full.n; i *= 2) S::template step<T>(d, i, s);
    }
};

inline int doubling_solve(const trs_instance *inst, const trs_job *job)
{
    const pair_data *d = (const pair_data *)inst->data;
    const cudaStream_t stream = (cudaStream_t)job->stream;
    return solve_in_place(inst, job, [&]<class T>(view<T> x, int count) {
        pair_right<T>(d, x, count, job->conj, stream);
        for (int64_t i = 2; i < d->full.n; i *= 2) {
            const dim3 grid((unsigned)valid_rows(d->full.n, i), (unsigned)count);
            const int threads = (int)min(max(i, (int64_t)32), (int64_t)ROW_THREADS);
            double_b<T><<<grid, threads, (size_t)threads * sizeof(T), stream>>>(
                i, typed<const T>(d->full), x, job->conj);
        }
    });
}

inline const char *doubling_estimate(const trs_prospect *p, const trs_instance *,
                                     const trs_machine *m, trs_cost *c)
{
    const trs_shape *s = &p->shape;
    c->bytes = m->doubling_copies * (double)s->n * (double)s->n * s->elem * s->nrhs * m->gpu_byte;
    for (int64_t i = 1; i < s->n; i *= 2) c->sync += m->gpu_launch;
    return NULL;
}

/* The entry of the table for steps S. */
template <class S> constexpr trs_solver doubling_solver(const char *name, const char *about)
{
    trs_solver s = {};
    s.name = name;
    s.about = about;
    s.place = TRS_ON_CUDA;
    s.family = TRS_TRIANGLE;
    s.caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE;
    s.accuracy = TRS_INVERTING;
    s.order = TRS_ORDER_NATURAL;
    s.full = true;
    s.refreshes = true;
    s.estimate = doubling_estimate;
    s.bytes = device_full_bytes;
    s.build = pair_build<true>;
    s.update = dense_update<doubled<S>>;
    s.solve = doubling_solve;
    s.release = pair_release;
    return s;
}

#endif
