/* kernel.cuh: factor and solve a system with the threads of a warp or a block.
 *
 * A system's L + U, y and z are in shared memory if they fit, else in device memory.  Values of A go to their places; then each
 * entry is computed as its sum of products, level by level, with a barrier for the threads of the system between two levels.
 * Substitution is the same with rows for entries, and y for the second factor of a product.  Each entry, and each row, is
 * computed by lanes of one warp in one order, so the bits are the same each time, and no system knows of another one.
 *
 * Nothing waits but for barriers that all threads of the system pass: the number of levels and tasks is the same for all.
 * Bytes: of each system its values, b and x; the schedule is read by all systems and stays in the L2 cache.  What limits it is
 * the latency of a level: its tasks, list bounds and first pairs do not depend on numbers, so they are fetched before the
 * barrier. */
#ifndef TRS_LU_BATCH_KERNEL_CUH
#define TRS_LU_BATCH_KERNEL_CUH

#include "lu_batch.cuh"

extern "C" {
#include "matrix/whole.h"
}

/* The threads of a system. */
template <bool WARPS> struct team {
    int me, size;
    __device__ void wait() const
    {
        if constexpr (WARPS) __syncwarp();
        else __syncthreads();
    }
};

/* What the threads of a system find together. */
struct batch_found {
    unsigned long long largest,
        growth; /* bits of doubles >= 0, which are ordered as integers are */
    int first;
};

__device__ inline double batch_size(float a)
{
    return fabs((double)a);
}
__device__ inline double batch_size(double a)
{
    return fabs(a);
}
template <class C> __device__ inline double batch_size(C a)
{
    return fabs((double)a.x) + fabs((double)a.y);
}

/* ---- sums level by level -------------------------------------------------------------------------- */

template <class PAIR> struct batch_pair;
template <> struct batch_pair<uint32_t> {
    uint32_t both;
    __device__ int a() const { return both & 0xffff; }
    __device__ int b() const { return both >> 16; }
};
template <> struct batch_pair<int2> {
    int2 both;
    __device__ int a() const { return both.x; }
    __device__ int b() const { return both.y; }
};

/* What a lane knows of its part of a task before it reads any number. */
template <class PAIR> struct batch_part {
    int log, item, by, q, end; /* item < 0: none */
    batch_pair<PAIR> pair;
};

template <class PAIR>
__device__ inline batch_part<PAIR> fetch(const batch_list &l, int task, int end)
{
    batch_part<PAIR> p = {};
    p.item = -1;
    if (task >= end) return p;
    const int2 t = l.task[task];
    const int lane = threadIdx.x % 32, mine = lane >> (t.y & 255);
    p.log = t.y & 255;
    if (mine >= t.y >> 8) return p;
    const int m = t.x + mine;
    p.item = l.item[m];
    p.by = l.by[m];
    p.q = l.begin[m] + (lane & ((1 << p.log) - 1));
    p.end = l.begin[m + 1];
    if (p.q < p.end) p.pair = ((const batch_pair<PAIR> *)l.pair)[p.q];
    return p;
}

/* The sum of a part of a task, in all lanes of its item; each (product) is called for every product. */
template <class T, class PAIR, class E>
__device__ inline T sum_part(const batch_list &l, batch_part<PAIR> p, bool conj, const T *x,
                             const T *y, E each)
{
    T s = number<T>(0);
    while (p.item >= 0 && p.q < p.end) {
        const batch_pair<PAIR> pair = p.pair;
        p.q += 1 << p.log;
        if (p.q < p.end) p.pair = ((const batch_pair<PAIR> *)l.pair)[p.q];
        const T product = conj_if(conj, x[pair.a()]) * y[pair.b()];
        each(product);
        s = s + product;
    }
    for (int by = (1 << p.log) / 2; by > 0; by /= 2) s = s + shuffle_xor(s, by);
    return s;
}

/* Calls finish (item, by, sum) for all items, a level after the other. */
template <class T, class PAIR, bool WARPS, class E, class F>
__device__ inline void sum_lists(const batch_list &l, team<WARPS> g, bool conj, const T *x,
                                 const T *y, E each, F finish)
{
    const int warp = g.me / 32, warps = g.size / 32, lane = g.me % 32;
    int begin = 0, end = l.levels > 0 ? l.level[1] : 0;
    batch_part<PAIR> next = fetch<PAIR>(l, warp, end);
    for (int level = 0; level < l.levels; level++) {
        for (int t = begin + warp; t < end; t += warps) {
            const batch_part<PAIR> p = next;
            next = fetch<PAIR>(l, t + warps, end);
            const T s = sum_part<T>(l, p, conj, x, y, each);
            if (p.item >= 0 && (lane & ((1 << p.log) - 1)) == 0) finish(p.item, p.by, s);
        }
        begin = end;
        if (level + 1 < l.levels) {
            end = l.level[level + 2];
            next = fetch<PAIR>(l, begin + warp, end);
        }
        g.wait();
    }
}

/* ---- factorisation --------------------------------------------------------------------------------- */

/* The value of entry q of R A(P, Q), where a are those of A. */
template <class T> __device__ inline T entry_of(const batch_call &c, const T *a, int64_t q)
{
    const int64_t from = c.a_from[q], how = from & ((1 << TRS_WHOLE_BITS) - 1);
    T v = conj_if(how == TRS_CONJUGATE, a[from >> TRS_WHOLE_BITS]);
    if (how == TRS_REAL_PART) v = number<T>((double)real_part(v));
    const double scale = c.scale[c.a_row[q]];
    return for_parts(v, [=](auto part) { return part * (decltype(part))scale; });
}

/* lu = R A(P, Q).  Returns the largest number that this thread has seen. */
template <class T, bool WARPS>
__device__ inline double read_matrix(const batch_call &c, team<WARPS> g, const T *a, T *lu)
{
    double largest = 0;
    for (int64_t p = g.me; p < c.nnz; p += g.size) lu[p] = number<T>(0);
    g.wait();
    for (int64_t q = g.me; q < c.nnz_a; q += g.size) {
        const int64_t to = c.a_to[q];
        if (to < 0) continue;
        T v = entry_of(c, a, q);
        largest = fmax(largest, batch_size(v));
        if (c.shift != 0 && c.a_row[q] == c.a_col[q]) {
            const double by = 1 + c.shift;
            v = for_parts(v, [=](auto part) { return part * (decltype(part))by; });
        }
        lu[to] = v;
    }
    g.wait();
    return largest;
}

/* The row of L + U - I that has place p. */
static __device__ inline int row_at(const batch_call &c, int p)
{
    int low = 0, high = c.n - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (c.ptr[middle] <= p) low = middle;
        else high = middle - 1;
    }
    return low;
}

/* *most = the largest of these numbers of all threads. */
static __device__ inline void note_largest(unsigned long long *most, double mine)
{
    for (int by = 16; by > 0; by /= 2) mine = fmax(mine, __shfl_xor_sync(~0u, mine, by));
    if (threadIdx.x % 32 == 0) atomicMax(most, (unsigned long long)__double_as_longlong(mine));
}

template <class T, class PAIR, bool WARPS>
static __device__ inline void factor_system(const batch_call &c, team<WARPS> g, int64_t k,
                                            const T *a, T *lu, batch_found *found)
{
    if (g.me == 0) *found = batch_found{0, 0, c.n};
    const double largest = read_matrix(c, g, a, lu);
    double growth = 0;
    sum_lists<T, PAIR>(
        c.list[TRS_LU_BATCH_ELIMINATION], g, false, lu, lu,
        [&](T product) { growth = fmax(growth, batch_size(product)); },
        [&](int p, int by, T s) {
            T v = lu[p] - s;
            growth = fmax(growth, batch_size(v));
            bool good = is_finite(v);
            if (by == p) v = number<T>(1) / v;
            else if (by >= 0) v = v * lu[by];
            good = good && is_finite(v);
            if (!good) atomicMin(&found->first, row_at(c, p));
            lu[p] = v;
        });
    note_largest(&found->largest, largest);
    note_largest(&found->growth, growth);
    g.wait();
    if (g.me > 0) return;
    const double most = __longlong_as_double((long long)found->largest);
    trs_lu_batch_outcome o = {-1, 0, TRS_OK};
    if (most > 0) o.growth = __longlong_as_double((long long)found->growth) / most;
    if (found->first < c.n) o.row = c.P[found->first], o.code = TRS_EPIVOT;
    else if (o.growth > c.growth_limit) o.code = TRS_EGROWTH;
    c.outcome[k] = o;
    if (c.kept) c.kept_code[k] = o.code;
}

/* ---- solves ---------------------------------------------------------------------------------------- */

template <class T, class PAIR, bool WARPS>
static __device__ inline void substitute(const batch_call &c, team<WARPS> g, int which, const T *lu,
                                         T *y)
{
    const bool conj = c.op == TRS_H;
    sum_lists<T, PAIR>(
        c.list[which], g, conj, lu, y, [](T) {},
        [&](int i, int by, T s) {
            const T v = y[i] - s;
            y[i] = by >= 0 ? conj_if(conj, lu[by]) * v : v;
        });
}

template <class T, class PAIR, bool WARPS>
static __device__ inline void solve_triangles(const batch_call &c, team<WARPS> g, const T *lu, T *y)
{
    const bool n = c.op == TRS_N;
    substitute<T, PAIR>(c, g, n ? TRS_LU_BATCH_LOWER : TRS_LU_BATCH_UPPER_T, lu, y);
    substitute<T, PAIR>(c, g, n ? TRS_LU_BATCH_UPPER : TRS_LU_BATCH_LOWER_T, lu, y);
}

template <class T> static __device__ inline T scaled(T v, bool scales, double by)
{
    if (!scales) return v;
    return for_parts(v, [=](auto part) { return part * (decltype(part))by; });
}

/* Number i of column r of system k, in the order of the pivots. */
template <class T> static __device__ inline T b_of(const batch_call &c, int64_t k, int r, int i)
{
    const T *b = (const T *)c.b.p + k * c.s.b_stride + r * c.b.cs;
    const int64_t *order = c.op == TRS_N ? c.P : c.Q;
    return scaled(b[order[i] * c.b.rs], c.op == TRS_N, c.scale[i]);
}

/* z = b - op(R A(P, Q)) y.  Returns the largest |z| / (|b| + |op(R A(P, Q))| |y|) that this thread has seen, NaN if one is. */
template <class T, bool WARPS>
static __device__ inline double residual(const batch_call &c, team<WARPS> g, int64_t k, int r,
                                         const T *a, const T *y, T *z)
{
    const bool n = c.op == TRS_N;
    const batch_lines &lines = n ? c.by_row : c.by_column;
    double worst = 0;
    for (int i = g.me; i < c.n; i += g.size) {
        T s = b_of<T>(c, k, r, i);
        double size = batch_size(s);
        for (int p = lines.ptr[i]; p < lines.ptr[i + 1]; p++) {
            const int64_t q = lines.entry[p];
            const T v = conj_if(c.op == TRS_H, entry_of(c, a, q));
            const T x = y[n ? c.a_col[q] : c.a_row[q]];
            s = s - v * x;
            size += batch_size(v) * batch_size(x);
        }
        z[i] = s;
        const double error = batch_size(s);
        const double ratio = error == 0 ? 0 : error / size;
        if (!(ratio <= worst) && worst == worst) worst = ratio;
    }
    return worst;
}

/* A NaN is above all numbers, as their bits are. */
static __device__ inline void note_worst(unsigned long long *most, double mine)
{
    atomicMax(most, (unsigned long long)__double_as_longlong(mine) & 0x7fffffffffffffffull);
}

template <class T, class PAIR, bool WARPS>
static __device__ inline void refine(const batch_call &c, team<WARPS> g, int64_t k, int r,
                                     bool good, const T *a, const T *lu, T *y, T *z,
                                     batch_found *found)
{
    for (int step = 0; step < c.s.steps; step++) {
        residual(c, g, k, r, a, y, z);
        g.wait();
        solve_triangles<T, PAIR>(c, g, lu, z);
        for (int i = g.me; i < c.n; i += g.size) y[i] = y[i] + z[i];
        g.wait();
    }
    if (!c.s.omega) return;
    if (g.me == 0 && r == 0) found->growth = 0;
    g.wait();
    note_worst(&found->growth, residual(c, g, k, r, a, y, z));
    g.wait();
    if (g.me > 0) return;
    c.s.omega[k] = NAN;
    if (good) c.s.omega[k] = __longlong_as_double((long long)found->growth);
}

template <class T, class PAIR, bool WARPS>
static __device__ inline void solve_system(const batch_call &c, team<WARPS> g, int64_t k,
                                           const T *a, const T *lu, T *y, T *z, batch_found *found)
{
    const bool n = c.op == TRS_N;
    const int64_t *order = n ? c.Q : c.P;
    const int64_t code = c.kept ? c.kept_code[k] : c.outcome[k].code;
    const bool good = code == TRS_OK || code == TRS_EGROWTH;
    for (int r = 0; r < c.nrhs; r++) {
        for (int i = g.me; i < c.n; i += g.size) y[i] = b_of<T>(c, k, r, i);
        g.wait();
        solve_triangles<T, PAIR>(c, g, lu, y);
        refine<T, PAIR>(c, g, k, r, good, a, lu, y, z, found);
        T *x = (T *)c.x.p + k * c.s.x_stride + r * c.x.cs;
        for (int i = g.me; i < c.n; i += g.size) {
            const T v = scaled(y[i], !n, c.scale[i]);
            x[order[i] * c.x.rs] = good ? v : number<T>(NAN);
        }
        g.wait();
    }
}

/* ---- a system after the other -------------------------------------------------------------------- */

template <class T> static __device__ inline const T *values_of(const batch_call &c, int64_t k)
{
    if (c.s.val_of) return (const T *)c.s.val_of[k];
    return (const T *)c.s.val + k * c.s.val_stride;
}

template <class T, bool WARPS>
static __device__ inline void copy(team<WARPS> g, int64_t count, const T *from, T *to)
{
    for (int64_t p = g.me; p < count; p += g.size) to[p] = from[p];
    g.wait();
}

template <class T, class PAIR, bool WARPS, bool SHARED>
static __device__ inline void do_system(const batch_call &c, team<WARPS> g, int64_t k, T *mine,
                                        batch_found *found)
{
    T *kept = c.kept ? (T *)c.kept + k * c.nnz : NULL;
    T *lu = !SHARED && kept ? kept : mine, *y = mine + c.nnz, *z = y + c.n;
    const T *a = values_of<T>(c, k);
    if (SHARED && !c.factors) copy(g, c.nnz, kept, lu);
    if (c.factors) factor_system<T, PAIR>(c, g, k, a, lu, found);
    g.wait(); /* the outcome is written */
    if (SHARED && c.factors && kept) copy(g, c.nnz, (const T *)lu, kept);
    if (c.solves) solve_system<T, PAIR>(c, g, k, a, lu, y, z, found);
}

template <class T, class PAIR, bool WARPS, bool SHARED>
static __global__ void __launch_bounds__(WARPS ? 32 * BATCH_UNITS : BATCH_THREADS, WARPS ? 8 : 2)
    batch_kernel(const __grid_constant__ batch_call c)
{
    __shared__ batch_found found[BATCH_UNITS];
    const int units = WARPS ? BATCH_UNITS : 1, unit = WARPS ? threadIdx.x / 32 : 0;
    const team<WARPS> g = {(int)(WARPS ? threadIdx.x % 32 : threadIdx.x),
                           (int)(WARPS ? 32 : blockDim.x)};
    T *mine = SHARED ? shared_numbers<T>() + unit * c.space : (T *)c.slots + blockIdx.x * c.space;
    for (int64_t k = blockIdx.x * (int64_t)units + unit; k < c.s.count;
         k += gridDim.x * (int64_t)units) {
        if (c.s.mask && !((const unsigned char *)c.s.mask)[k])
            continue; /* all threads of the system do */
        do_system<T, PAIR, WARPS, SHARED>(c, g, k, mine, &found[unit]);
        g.wait();
    }
}

/* ---- launches --------------------------------------------------------------------------------------- */

/* Calls f (kernel) with the kernel of this kind. */
template <class T, class F> static int with_kernel(batch_kind kind, F f)
{
    if (kind == BATCH_WARPS) return f(batch_kernel<T, uint32_t, true, true>);
    if (kind == BATCH_BLOCKS) return f(batch_kernel<T, uint32_t, false, true>);
    return f(batch_kernel<T, int2, false, false>);
}

/* Lets the kernel have its shared memory, and finds how many blocks an SM takes. */
template <class T> int batch_prepare(const batch_shape &shape, int *resident)
{
    return with_kernel<T>(shape.kind, [&](auto kernel) {
        const int rc = allow_shared(kernel, shape.shared);
        if (rc) return rc;
        return cuda_status(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                               resident, kernel, shape.threads, shape.shared),
                           "blocks of a batch");
    });
}

/* Enqueues it; blocks: how many. */
template <class T>
int batch_launch(const batch_shape &shape, const batch_call &call, unsigned blocks,
                 cudaStream_t stream)
{
    return with_kernel<T>(shape.kind, [&](auto kernel) {
        kernel<<<blocks, (unsigned)shape.threads, shape.shared, stream>>>(call);
        return launched();
    });
}

#endif
