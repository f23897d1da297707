/* values.cuh: A into the panels, L and U out of them, and the size of the products.
 *
 * Each of these kernels moves its data once, and the bandwidth of memory bounds it: for each entry of A 16 bytes of
 * places and its value, for each entry of L and U 8 bytes of places and its value twice; for L U the panels are read
 * once more. */
#ifndef TRS_FRONTS_VALUES_CUH
#define TRS_FRONTS_VALUES_CUH

#include "arrays.cuh"

/* The larger one of *to and x >= 0, of all threads that ask.  The bits of such numbers are ordered as the numbers are, so
 * that nothing depends on who comes first; a NaN is left out. */
__device__ inline void raise_to(double *to, double x)
{
    for (int by = 16; by > 0; by /= 2) x = fmax(x, __shfl_down_sync(~0u, x, by));
    if (threadIdx.x % 32 == 0 && x > *(volatile double *)to) atomic_larger(to, x);
}

static __global__ void begin_kernel(trs_elimination_outcome *o, unsigned long long *left)
{
    *o = {.first = UINT64_MAX, .first_boosted = UINT64_MAX};
    *left = 0;
}

/* The larger one of *to and x >= 0, as one thread asks. */
__device__ inline void raise_one(double *to, double x)
{
    if (x > *(volatile double *)to) atomic_larger(to, x);
}

/* |x|, by which boost measures. */
template <class T> __device__ inline double length_of(T x)
{
    if constexpr (IS_COMPLEX<T>) return hypot((double)x.x, (double)x.y);
    else return fabs((double)x);
}

/* largest [n], zero before: of the rows of A in the order of the pivots.  A thread has an entry of one triangle, which counts
 * for its row and for its column. */
template <class T>
static __global__ void largest_kernel(int64_t entries, const int64_t *from, const int32_t *i,
                                      const int32_t *j, const T *a, double *largest)
{
    const int64_t e = index_of_thread();
    if (e >= entries) return;
    const double size = length_of(a[from[e]]);
    raise_one(largest + i[e], size);
    raise_one(largest + j[e], size);
}

/* A thread has an entry of A, and no two have one place: the panels are zero before. */
template <class T>
static __global__ void scatter_kernel(int64_t entries, const int64_t *from, const int64_t *to,
                                      const int32_t *row, const double *scale, const T *a,
                                      T *panels, trs_elimination_outcome *outcome)
{
    const int64_t e = index_of_thread();
    double size = 0;
    if (e < entries) {
        T x = a[from[e]];
        if (row) x = x * number<T>(scale[row[e]]);
        size = is_finite(x) ? magnitude(x) : INFINITY;
        panels[to[e] < 0 ? ~to[e] : to[e]] = conj_if(to[e] < 0, x);
    }
    raise_to(&outcome->largest_a, size);
}

/* What may be left out of L, and relative to A out of U: L and U with and without it are factors of matrices that differ by
 * as much.  What cancelled when A was factored need not cancel here, since sums have another order. */
template <class T> constexpr double NEGLIGIBLE = 1e-12;
template <> inline constexpr double NEGLIGIBLE<float> = 5e-4;
template <> inline constexpr double NEGLIGIBLE<cuFloatComplex> = 5e-4;

/* Numbers of the panels into L or U, any thread any of them.  *left, unless it is NULL, counts down for each one that is
 * not negligible, but for ones on the diagonal of L; relative_to: of U, the outcome that knows the size of A, and NULL of
 * L.  *largest, unless it is NULL, becomes the largest square: of L S L^H that is the largest |l(i, k) s(k) l(j, k)|. */
template <class T>
static __global__ void gather_kernel(int64_t entries, const int64_t *from, const T *panels, T *to,
                                     const trs_elimination_outcome *relative_to,
                                     unsigned long long *left, double *largest)
{
    const double least = NEGLIGIBLE<T> * (relative_to ? relative_to->largest_a : 1);
    long long found = 0;
    double most = 0;
    for (int64_t e = index_of_thread(); e < entries; e += all_threads()) {
        const int64_t at = from[e];
        T x = number<T>(at == TRS_FRONT_ONE);
        if (at >= 0) x = panels[at];
        found += at >= 0 && magnitude(x) > least;
        most = fmax(most, (double)magnitude(x));
        to[e] = x;
    }
    if (largest) raise_to(largest, most * most);
    if (left) add_to(left, -found);
}

/* Entry (i, k) of L or of U', behind the pivot of column k of a front. */
template <class T>
__device__ inline T factor_entry(const T *panels, const trs_front_numbers &d, bool lower, int i,
                                 int k)
{
    const int64_t order = d.cols + d.rows;
    const int block = k / PANEL;
    if (d.diagonal < 0 || i >= d.cols || i / PANEL != block)
        return panels[(lower ? d.lower : d.upper) + k * order + i];
    const int row = lower ? i % PANEL : k % PANEL, column = lower ? k % PANEL : i % PANEL;
    return panels[d.diagonal + (block * PANEL + column) * PANEL + row];
}

/* What a lane finds in column k of L and row k of U of a front. */
struct found_in_column {
    double l, u; /* the largest numbers, l(k, k) = 1 among them */
    int count;   /* that are not negligible */
};

template <class T>
__device__ inline found_in_column look_at_column(const T *panels, const trs_front_numbers &d, int k,
                                                 double largest_a)
{
    const int lane = (int)threadIdx.x % 32, order = d.cols + d.rows;
    const double least = NEGLIGIBLE<T>, least_u = least * largest_a;
    found_in_column s = {1, 0, 0};
    if (lane == 0) {
        const int64_t at = d.diagonal < 0 ? d.lower + k * (int64_t)order + k
                                          : d.diagonal + k * (int64_t)PANEL + k % PANEL;
        s.u = magnitude(panels[at]);
        s.count = s.u > least_u;
    }
    for (int i = k + 1 + lane; i < order; i += 32) {
        const double below = magnitude(factor_entry(panels, d, true, i, k));
        const double beside = magnitude(factor_entry(panels, d, false, i, k));
        s.l = fmax(s.l, below);
        s.u = fmax(s.u, beside);
        s.count += (below > least) + (beside > least_u);
    }
    return s;
}

/* A warp has a column k of L and the row k of U at a time: the largest |l(i, k) u(k, j)| is the product of the largest of
 * either.  *left counts up for each number of the panels that is not negligible.  It reads the panels once.  Of L L^H,
 * |l(i, k)|^2 <= a(i, i), so there nothing can grow. */
template <class T>
static __global__ void growth_kernel(fronts_view<T> v, const int32_t *of, int32_t n,
                                     unsigned long long *left)
{
    double largest = 0;
    long long count = 0;
    for (int64_t c = index_of_thread() / 32; c < n; c += all_threads() / 32) {
        const trs_front_numbers &d = v.numbers[of[c]];
        found_in_column s = look_at_column(v.panels, d, (int)(c - d.first), v.outcome->largest_a);
        for (int by = 16; by > 0; by /= 2) {
            s.l = fmax(s.l, __shfl_xor_sync(~0u, s.l, by));
            s.u = fmax(s.u, __shfl_xor_sync(~0u, s.u, by));
        }
        largest = fmax(largest, s.l * s.u);
        count += s.count;
    }
    raise_to(&v.outcome->largest, largest);
    add_to(left, count);
}

/* A number that is not negligible and that neither L nor U has a place for makes them wrong, so the growth is without
 * bound.  UMFPACK leaves out what happened to be zero when it factored. */
static __global__ void end_kernel(trs_elimination_outcome *o, const unsigned long long *left)
{
    if (*left != 0) o->largest = INFINITY;
}

#endif
