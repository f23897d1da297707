/* kernel.cuh: factor and solve a system with the threads of a warp or a block.
 *
 * A system's L + U, y and z are in shared memory if they fit, else in device memory.  Values of A go to their places; then each
 * entry is computed as its sum of products.  Each warp of the system has its own stream of tasks (lib/lu_batch/schedule.h), with
 * barriers for the threads of the system between two steps.  Substitution is the same with rows for entries, and y for the second
 * factor of a product.  Each entry, and each row, is computed by lanes of one warp in one order, so the bits are the same each
 * time, and no system knows of another one.
 *
 * Nothing waits but for barriers that all threads of the system pass: each warp passes as many as the list has steps.
 * Bytes: of each system its values, b and x; the schedule is read by all systems and stays in the L2 cache.  What limits it is
 * the latency of a step.  Tasks and their first quads do not depend on numbers, so a warp reads those of its next task, and the
 * head of the one after it, before it begins with a task. */
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

/* The size of a number as bits that are ordered as sizes are: of a double those of its upper half. */
__device__ inline unsigned size_bits(float a)
{
    return (unsigned)__float_as_int(a) & 0x7fffffff;
}
__device__ inline unsigned size_bits(double a)
{
    return (unsigned)__double2hiint(a) & 0x7fffffff;
}
__device__ inline unsigned size_bits(float2 a)
{
    return size_bits(fabsf(a.x) + fabsf(a.y));
}
__device__ inline unsigned size_bits(double2 a)
{
    return size_bits(fabs(a.x) + fabs(a.y));
}
__device__ inline double size_of_bits(unsigned bits, float)
{
    return (double)__int_as_float((int)bits);
}
__device__ inline double size_of_bits(unsigned bits, double)
{
    return __hiloint2double((int)bits, 0);
}

/* ---- sums step by step ------------------------------------------------------------------------------ */

enum { QUAD = TRS_LU_BATCH_QUAD };

/* Four pairs of places; if l is late (schedule.h), as it is in shared memory, also the places of 1 / u(k, k). */
template <bool NARROW, bool LATE> struct batch_quad;

/* What is no pair is places of zeros. */
template <bool LATE> struct batch_quad<true, LATE> {
    uint4 pair;
    uint2 pivot;
    __device__ batch_quad(const batch_list &l, int k) : pair(((const uint4 *)l.pair)[k])
    {
        if constexpr (LATE) pivot = ((const uint2 *)l.pivot)[k];
    }
    __device__ unsigned both(int j) const
    {
        const unsigned low = j == 0 ? pair.x : pair.y, high = j == 2 ? pair.z : pair.w;
        return j < 2 ? low : high;
    }
    __device__ bool has(int) const { return true; }
    __device__ int a(int j) const { return (int)(both(j) & 0xffff); }
    __device__ int b(int j) const { return (int)(both(j) >> 16); }
    __device__ int by(int j) const
    {
        const unsigned two = j < 2 ? pivot.x : pivot.y;
        return (int)(j % 2 ? two >> 16 : two & 0xffff);
    }
};

template <> struct batch_quad<false, false> {
    int4 low, high;
    __device__ batch_quad(const batch_list &l, int k)
        : low(((const int4 *)l.pair)[2 * (int64_t)k]),
          high(((const int4 *)l.pair)[2 * (int64_t)k + 1])
    {
    }
    __device__ int4 two(int j) const { return j < 2 ? low : high; }
    __device__ bool has(int j) const { return a(j) >= 0; }
    __device__ int a(int j) const { return j % 2 ? two(j).z : two(j).x; }
    __device__ int b(int j) const { return j % 2 ? two(j).w : two(j).y; }
};

/* What a lane knows of its part of a task before it reads any number.  Lanes that the task has no use for do what the last one
 * does that it has a use for, but store nothing. */
template <bool NARROW, bool LATE> struct batch_part {
    int waits, size; /* as in trs_lu_batch_task */
    int item, by;
    int quad;                       /* of this lane in the first round */
    batch_quad<NARROW, LATE> pairs; /* of that round */
    __device__ batch_part(const batch_list &l, int4 task)
        : waits(task.z), size(task.w), item(l.item[task.x + (used_lane() >> log())]),
          by(l.by[task.x + (used_lane() >> log())]), quad(task.y + used_lane()), pairs(l, quad)
    {
    }
    __device__ int log() const { return size & 7; }
    __device__ int used() const { return (size >> 3 & 63) << log(); } /* lanes */
    __device__ int used_lane() const { return min((int)(threadIdx.x % 32), used() - 1); }
    __device__ int rounds() const { return (int)((unsigned)size >> 9); }
    __device__ bool stores() const /* the first lane of each item */
    {
        const int lane = threadIdx.x % 32;
        return lane < used() && (lane & ((1 << log()) - 1)) == 0;
    }
};

/* s and some products of a quad, whose numbers are all read before the first is used. */
template <int COUNT, bool NARROW, bool LATE, class T, class E>
__device__ inline T sum_some(const batch_quad<NARROW, LATE> &pairs, int from, bool conj, const T *x,
                             const T *y, T s, E each)
{
    T u[COUNT], v[COUNT], w[COUNT];
#pragma unroll
    for (int j = 0; j < COUNT; j++) {
        if (!pairs.has(from + j)) {
            u[j] = v[j] = w[j] = number<T>(0);
            continue;
        }
        u[j] = x[pairs.a(from + j)];
        v[j] = y[pairs.b(from + j)];
        if constexpr (LATE) w[j] = x[pairs.by(from + j)];
    }
#pragma unroll
    for (int j = 0; j < COUNT; j++) {
        if constexpr (LATE) u[j] = u[j] * w[j];
        const T product = conj_if(conj, u[j]) * v[j];
        each(product);
        s = s + product;
    }
    return s;
}

template <bool NARROW, bool LATE, class T, class E>
__device__ inline T sum_quad(const batch_quad<NARROW, LATE> &pairs, bool conj, const T *x,
                             const T *y, T s, E each)
{
    constexpr int COUNT = sizeof(T) > 8 ? QUAD / 2 : QUAD; /* registers */
#pragma unroll
    for (int from = 0; from < QUAD; from += COUNT)
        s = sum_some<COUNT>(pairs, from, conj, x, y, s, each);
    return s;
}

/* The sum of a task's item, in all of its lanes; each (product) is called for every product. */
template <bool NARROW, bool LATE, class T, class E>
__device__ inline T sum_part(const batch_list &l, const batch_part<NARROW, LATE> &p, bool conj,
                             const T *x, const T *y, E each)
{
    T s = number<T>(0);
    if (p.rounds() == 1) {
        s = sum_quad(p.pairs, conj, x, y, s, each);
    } else {
        batch_quad<NARROW, LATE> next(l, p.quad + p.used());
        s = sum_quad(p.pairs, conj, x, y, s, each);
        for (int round = 2; round < p.rounds(); round++) {
            const batch_quad<NARROW, LATE> now = next;
            next = batch_quad<NARROW, LATE>(l, p.quad + round * p.used());
            s = sum_quad(now, conj, x, y, s, each);
        }
        s = sum_quad(next, conj, x, y, s, each);
    }
#pragma unroll 1
    for (int by = (1 << p.log()) / 2; by > 0; by /= 2) s = s + shuffle_xor(s, by);
    return s;
}

/* own [item] = finish (item, by, own [item] - sum, times) for all items; times: x [by], or 1; 1 if l is late. */
template <bool NARROW, bool LATE, bool WARPS, class T, class E, class F>
__device__ inline void sum_lists(const batch_list &l, team<WARPS> g, bool conj, const T *x, T *own,
                                 E each, F finish)
{
    const int begin = l.stream[g.me / 32], last = l.stream[g.me / 32 + 1] - 1;
    const int4 *tasks = (const int4 *)l.task;
    int left = l.steps;
    if (begin <= last) {
        batch_part<NARROW, LATE> next(l, tasks[begin]);
        int4 later = tasks[min(begin + 1, last)];
        for (int task = begin; task <= last; task++) {
            const batch_part<NARROW, LATE> p = next;
            next = batch_part<NARROW, LATE>(l, later);
            later = tasks[min(task + 2, last)];
            left -= p.waits;
#pragma unroll 1
            for (int k = p.waits; k > 0; k--) g.wait();
            __syncwarp(); /* what the last task has stored is visible */
            T mine = number<T>(0), times = number<T>(1);
            if (p.stores()) { /* no other lane reads what this one stores */
                mine = own[p.item];
                if (!LATE && p.by >= 0) times = x[p.by];
            }
            const T s = sum_part(l, p, conj, x, own, each);
            if (p.stores()) own[p.item] = finish(p.item, p.by, mine - s, times);
        }
    }
#pragma unroll 1
    for (; left > 0; left--) g.wait();
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

template <class T, bool NARROW, bool WARPS>
static __device__ inline void factor_system(const batch_call &c, team<WARPS> g, int64_t k,
                                            const T *a, T *lu, batch_found *found)
{
    if (g.me == 0) *found = batch_found{0, 0, c.n};
    const double largest = read_matrix(c, g, a, lu);
    unsigned growth = 0;
    const batch_list &list = c.list[TRS_LU_BATCH_ELIMINATION];
    const auto check = [&](bool good, int p) {
        if (!good) atomicMin(&found->first, row_at(c, p));
    };
    sum_lists<NARROW, NARROW>(
        list, g, false, (const T *)lu, lu,
        [&](T product) { growth = max(growth, size_bits(product)); },
        [&](int p, int by, T v, T times) {
            growth = max(growth, size_bits(v));
            check(is_finite(v), p);
            if (by == p) return number<T>(1) / v;
            return NARROW ? v : v * times;
        });
    for (int m = g.me; m < list.items; m += g.size) {
        const int p = list.item[m], by = list.by[m];
        if (by < 0) continue;
        if (NARROW && by != p) lu[p] = lu[p] * lu[by];
        check(is_finite(lu[p]), p);
    }
    note_largest(&found->largest, largest);
    note_largest(&found->growth, size_of_bits(growth, real_part(number<T>(0))));
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

template <class T, bool NARROW, bool WARPS>
static __device__ inline void substitute(const batch_call &c, team<WARPS> g, int which, const T *lu,
                                         T *y)
{
    const bool conj = c.op == TRS_H;
    sum_lists<NARROW, false>(
        c.list[which], g, conj, lu, y, [](T) {},
        [&](int, int, T v, T times) { return conj_if(conj, times) * v; });
}

template <class T, bool NARROW, bool WARPS>
static __device__ inline void solve_triangles(const batch_call &c, team<WARPS> g, const T *lu, T *y)
{
    const bool n = c.op == TRS_N;
    substitute<T, NARROW>(c, g, n ? TRS_LU_BATCH_LOWER : TRS_LU_BATCH_UPPER_T, lu, y);
    substitute<T, NARROW>(c, g, n ? TRS_LU_BATCH_UPPER : TRS_LU_BATCH_LOWER_T, lu, y);
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

template <class T, bool NARROW, bool WARPS>
static __device__ inline void refine(const batch_call &c, team<WARPS> g, int64_t k, int r,
                                     bool good, const T *a, const T *lu, T *y, T *z,
                                     batch_found *found)
{
    for (int step = 0; step < c.s.steps; step++) {
        residual(c, g, k, r, a, y, z);
        g.wait();
        solve_triangles<T, NARROW>(c, g, lu, z);
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

template <class T, bool NARROW, bool WARPS>
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
        solve_triangles<T, NARROW>(c, g, lu, y);
        refine<T, NARROW>(c, g, k, r, good, a, lu, y, z, found);
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

template <class T, bool NARROW, bool WARPS, bool SHARED>
static __device__ inline void do_system(const batch_call &c, team<WARPS> g, int64_t k, T *mine,
                                        batch_found *found)
{
    T *kept = c.kept ? (T *)c.kept + k * c.nnz : NULL;
    T *lu = !SHARED && kept ? kept : mine, *y = mine + c.nnz + 1, *z = y + c.n + 1;
    const T *a = values_of<T>(c, k);
    if (SHARED && !c.factors) copy(g, c.nnz, kept, lu);
    if (c.factors) factor_system<T, NARROW>(c, g, k, a, lu, found);
    g.wait(); /* the outcome is written */
    if (SHARED && c.factors && kept) copy(g, c.nnz, (const T *)lu, kept);
    if (c.solves) solve_system<T, NARROW>(c, g, k, a, lu, y, z, found);
}

template <bool WARPS, bool SHARED> static constexpr int batch_most_threads()
{
    if (WARPS) return 32 * BATCH_UNITS;
    return SHARED ? BATCH_THREADS : BATCH_SLOT_THREADS;
}

/* On an SM, so that the compiler leaves registers for them. */
template <bool WARPS, bool SHARED> static constexpr int batch_least_blocks()
{
    if (WARPS) return 6;
    return SHARED ? 1 : 2;
}

template <class T, bool NARROW, bool WARPS, bool SHARED>
static __global__ void __launch_bounds__(batch_most_threads<WARPS, SHARED>(),
                                         batch_least_blocks<WARPS, SHARED>())
    batch_kernel(const __grid_constant__ batch_call c)
{
    __shared__ batch_found found[BATCH_UNITS];
    const int units = WARPS ? BATCH_UNITS : 1, unit = WARPS ? threadIdx.x / 32 : 0;
    const team<WARPS> g = {(int)(WARPS ? threadIdx.x % 32 : threadIdx.x),
                           (int)(WARPS ? 32 : blockDim.x)};
    T *mine = SHARED ? shared_numbers<T>() + unit * c.space : (T *)c.slots + blockIdx.x * c.space;
    if (g.me == 0) mine[c.nnz] = mine[c.nnz + 1 + c.n] = mine[c.nnz + 2 * (c.n + 1)] = number<T>(0);
    g.wait();
    for (int64_t k = blockIdx.x * (int64_t)units + unit; k < c.s.count;
         k += gridDim.x * (int64_t)units) {
        if (c.s.mask && !((const unsigned char *)c.s.mask)[k])
            continue; /* all threads of the system do */
        do_system<T, NARROW, WARPS, SHARED>(c, g, k, mine, &found[unit]);
        g.wait();
    }
}

/* ---- launches --------------------------------------------------------------------------------------- */

/* Calls f (kernel) with the kernel of this kind. */
template <class T, class F> static int with_kernel(batch_kind kind, F f)
{
    if (kind == BATCH_WARPS) return f(batch_kernel<T, true, true, true>);
    if (kind == BATCH_BLOCKS) return f(batch_kernel<T, true, false, true>);
    return f(batch_kernel<T, false, false, false>);
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
