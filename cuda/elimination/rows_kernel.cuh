/* rows_kernel.cuh: elimination with a few lanes for a row, in one launch.
 *
 *     row i:  for k < i in row i, ascending:   l(i, k) = a(i, k) / u(k, k);   a(i, j) -= l(i, k) u(k, j)
 *
 * Who owns a row: the lanes that its task says (rows.cuh).  The row stays in their registers.  For a few lower entries
 * (i, k) at a time they look for the pivot and for those u(k, j) that the row has room for; then, one k after the other, the
 * lane of (i, k) divides, hands l to the others of its row by a shuffle, and they subtract.
 *
 * How a number becomes visible: each number of a row of U is its own flag (cuda/runtime/flag.cuh).  All bits of all of them
 * are set before the launch.  What goes to val is read by later launches only.
 *
 * Why it cannot hang: warp w of W takes the tasks w, w + W, w + 2 W, ... in this order, and all warps are resident (cooperative
 * launch).  Tasks are in the order of the levels, and none has rows of two levels.  So let k be the first task that is not
 * done: its warp is at it, all rows that it waits for are published, and the lanes of the warp go round every loop together.
 * Whatever the numbers are, each is published once, and never as the reserved pattern.
 *
 * Bytes in fp64, for each place 20 and as many as the row has lower entries, the numbers of A and val, twice U, and U times
 * the uses of a row.  Bound by instructions where levels are wide, else by levels x the dependency latency. */
#ifndef TRS_ELIMINATION_ROWS_KERNEL_CUH
#define TRS_ELIMINATION_ROWS_KERNEL_CUH

#include "pivots.cuh"
#include "rows.cuh"
#include "cuda/runtime/flag.cuh"

template <class T> struct row_args {
    row_schedule s;
    pivot_rules rules;
    const double *scale; /* [n] NULL: 1 */
    const T *a;
    T *val;
    T *number;
};

/* Lanes of a row, places of a lane, and how many lower entries of a row are looked for at a time. */
template <class A, int W, int E> struct row_lanes {
    typedef A T;
    static constexpr int LANES = W, EACH = E, ROWS = ROW_WARP / W;
    static constexpr int AT_ONCE = sizeof(T) * E > 32 ? 2 : ROW_BATCH;
};

/* val - l u */
template <class T> __device__ inline T minus_product(T val, T l, T u)
{
    if constexpr (sizeof(T) == sizeof(size_of(T()))) return fma(-l, u, val);
    else return {fma(-l.x, u.x, fma(l.y, u.y, val.x)), fma(-l.x, u.y, fma(-l.y, u.x, val.y))};
}

/* ---- what is read ahead ---------------------------------------------------------------------------------------- */

/* Two tasks ahead. */
template <int E> struct row_places {
    row_task task;
    int32_t row; /* of the lane, -1: none */
    int32_t a[E];
};

/* One task ahead. */
template <class T, int E> struct row_numbers {
    row_task task;
    int32_t row;
    double scale;
    int32_t a[E], number[E];
    uint32_t word[E]; /* of the first lower entries */
    T val[E];
};

template <class S, class T = typename S::T>
__device__ inline row_places<S::EACH> read_places(const row_args<T> &g, int64_t t)
{
    row_places<S::EACH> x;
    const int lane = threadIdx.x % ROW_WARP;
    const bool is = t < g.s.tasks;
    x.task = is ? g.s.task[t] : row_task{0, 0};
    x.row = is ? g.s.row[t * S::ROWS + lane / S::LANES] : -1;
#pragma unroll
    for (int e = 0; e < S::EACH; e++)
        x.a[e] = is ? g.s.a[(t * S::EACH + e) * ROW_WARP + lane] : ROW_NOTHING;
    return x;
}

/* Word w of the places of a lane. */
template <class S, class T = typename S::T>
__device__ inline void read_words(const row_args<T> &g, row_task task, int w,
                                  uint32_t (&word)[S::EACH])
{
    const bool is = w * ROW_BATCH < task.lower;
    const int64_t group = task.list + w * S::EACH;
#pragma unroll
    for (int e = 0; e < S::EACH; e++)
        word[e] = is ? g.s.list[(group + e) * ROW_WARP + threadIdx.x % ROW_WARP] : 0;
}

template <class S, class T = typename S::T>
__device__ inline row_numbers<T, S::EACH> read_numbers(const row_args<T> &g, int64_t t,
                                                       const row_places<S::EACH> &p)
{
    row_numbers<T, S::EACH> x;
    x.task = p.task;
    x.row = p.row;
    x.scale = g.scale && p.row >= 0 ? g.scale[p.row] : 1;
#pragma unroll
    for (int e = 0; e < S::EACH; e++) {
        const int64_t at = (t * S::EACH + e) * ROW_WARP + threadIdx.x % ROW_WARP;
        x.a[e] = p.a[e];
        x.number[e] = t < g.s.tasks ? g.s.number[at] : ROW_NOTHING;
        x.val[e] = p.a[e] >= 0 ? g.a[p.a[e] & ROW_MOST] : number<T>(0);
    }
    read_words<S>(g, p.task, 0, x.word);
    return x;
}

/* ---- lower entries ---------------------------------------------------------------------------------------------- */

/* What a lane needs of the next few lower entries of its row. */
template <class S> struct row_batch {
    typedef typename S::T T;
    static constexpr int E = S::EACH, B = S::AT_ONCE;
    uint32_t word[E]; /* a byte each, the lowest first */
    T u[E][B];
    unsigned waiting; /* bit e B + b: u[e][b] is not there yet */
    const T *pivot[B];

    __device__ int byte(int e, int b) const { return word[e] >> (8 * b) & 255; }

    /* The lower entries from first on; the word has been read.  row_number: of the places of the row, in shared memory. */
    __device__ void start(const T *number, const int32_t *row_number, int first)
    {
        waiting = 0;
#pragma unroll
        for (int b = 0; b < B; b++) {
            const int s = min(first + b, S::LANES * E - 1);
            pivot[b] = number + (row_number[s / S::LANES * ROW_WARP + s % S::LANES] - 1);
        }
#pragma unroll
        for (int e = 0; e < E; e++)
#pragma unroll
            for (int b = 0; b < B; b++) {
                u[e][b] = ::number<T>(0);
                if (byte(e, b)) waiting |= 1u << (e * B + b);
            }
    }

    /* Looks for all that is not there.  All loads are under way before the result of the first is used. */
    __device__ void look()
    {
#pragma unroll
        for (int e = 0; e < E; e++)
#pragma unroll
            for (int b = 0; b < B; b++)
                if (waiting >> (e * B + b) & 1) u[e][b] = flag_peek(pivot[b] + byte(e, b));
#pragma unroll
        for (int e = 0; e < E; e++)
#pragma unroll
            for (int b = 0; b < B; b++)
                if (flag_there(u[e][b])) waiting &= ~(1u << (e * B + b));
    }

    /* Bits of `waiting` that belong to entry b. */
    __device__ static unsigned bits(int b)
    {
        unsigned all = 0;
#pragma unroll
        for (int e = 0; e < E; e++) all |= 1u << (e * B + b);
        return all;
    }

    /* Eliminates entry b, which lane `from` of the row has. */
    __device__ void eliminate(int b, int from, T (&val)[E], unsigned &largest)
    {
        T l = ::number<T>(0);
#pragma unroll
        for (int e = 0; e < E; e++)
            if (byte(e, b) == 1) l = val[e] = over(true, val[e], u[e][b]);
        l = shuffle(l, from, S::LANES);
        const auto size = size_of(l);
#pragma unroll
        for (int e = 0; e < E; e++)
            if (byte(e, b) > 1) {
                val[e] = minus_product(val[e], l, u[e][b]);
                largest = max(largest, size_bits(size * size_of(u[e][b])));
            }
    }
};

/* Eliminates all lower entries of the rows of a task.  Every lane of the warp comes to each ballot and shuffle: so none of
 * these may stand behind a condition that lanes may answer differently. */
template <class S, class T = typename S::T>
__device__ inline void eliminate_all(const row_args<T> &g, const row_numbers<T, S::EACH> &x,
                                     const int32_t *row_number, T (&val)[S::EACH],
                                     unsigned &largest)
{
    constexpr int B = S::AT_ONCE;
    row_batch<S> batch;
    uint32_t next[S::EACH];
#pragma unroll
    for (int e = 0; e < S::EACH; e++) next[e] = x.word[e];
    for (int s = 0; s < x.task.lower; s += B) {
        const bool whole = s % ROW_BATCH == 0;
#pragma unroll
        for (int e = 0; e < S::EACH; e++)
            batch.word[e] = whole ? next[e] : batch.word[e] >> 8 * B % 32;
        if (whole) read_words<S>(g, x.task, s / ROW_BATCH + 1, next);
        batch.start(g.number, row_number, s);
        batch.look();
#pragma unroll
        for (int b = 0; b < B; b++) {
            if (s + b >= x.task.lower) break;
            while (__any_sync(~0u, batch.waiting & batch.bits(b))) batch.look();
            batch.eliminate(b, (s + b) % S::LANES, val, largest);
        }
    }
}

/* ---- a task ------------------------------------------------------------------------------------------------------ */

/* The largest of the lanes of a row. */
template <class S> __device__ inline double row_largest(double v)
{
#pragma unroll
    for (int by = S::LANES / 2; by > 0; by /= 2) v = max(v, __shfl_xor_sync(~0u, v, by));
    return v;
}

/* Of the number of a place (rows.cuh). */
__device__ inline bool is_lower(int32_t number)
{
    return number >= 0;
}
__device__ inline bool is_upper(int32_t number) /* the diagonal too */
{
    return number < ROW_NOTHING;
}
__device__ inline bool is_diagonal(int32_t number)
{
    return number < 0 && ~number & ROW_MARKED;
}

/* a(i, j) as elimination begins with it.  Returns the size below which the pivot is replaced. */
template <class S, class T = typename S::T>
__device__ inline double begin_row(const row_args<T> &g, const row_numbers<T, S::EACH> &x,
                                   pivot_tally &tally, T (&val)[S::EACH])
{
    const double scale = x.scale;
    double largest = 0;
#pragma unroll
    for (int e = 0; e < S::EACH; e++) {
        const bool diagonal = is_diagonal(x.number[e]);
        val[e] = conj_if(x.a[e] >= 0 && x.a[e] & ROW_MARKED, x.val[e]);
        if (g.scale)
            val[e] = for_parts(val[e], [=](auto part) { return decltype(part)(part * scale); });
        note(tally.largest_a, val[e]);
        if (is_lower(x.number[e]) || diagonal || !g.rules.cholesky)
            largest = fmax(largest, (double)size_of(val[e]));
        if (diagonal) val[e] = shifted(g.rules, val[e]);
    }
    return g.rules.boost > 0 ? g.rules.boost * row_largest<S>(largest) : 0;
}

/* Publishes the row of U.  Returns the pivot to the lane that has it, 1 to others. */
template <class S, class T = typename S::T>
__device__ inline T publish_row(const row_args<T> &g, const row_numbers<T, S::EACH> &x,
                                T (&val)[S::EACH], double least, pivot_tally &tally)
{
    T d = number<T>(1);
    bool mine = false, boosted = false;
#pragma unroll
    for (int e = 0; e < S::EACH; e++)
        if (is_diagonal(x.number[e])) {
            d = val[e];
            mine = true;
        }
    if (mine) d = settled(g.rules, d, least, boosted);
    const T kept = kept_pivot(d);
#pragma unroll
    for (int e = 0; e < S::EACH; e++) {
        const int32_t k = x.number[e];
        if (is_upper(k)) flag_store(g.number + (~k & ROW_MOST), is_diagonal(k) ? kept : val[e]);
    }
    tally.boosted += boosted;
    return d;
}

/* Is every number of the row finite?  A bad pivot is reported. */
template <class S, class T = typename S::T>
__device__ inline void judge_row(const row_args<T> &g, const row_numbers<T, S::EACH> &x,
                                 const T (&val)[S::EACH], T d, pivot_tally &tally)
{
    const int first = threadIdx.x % ROW_WARP / S::LANES * S::LANES;
    const unsigned row = ~0u >> (ROW_WARP - S::LANES) << first;
    bool finite = true, mine = false;
#pragma unroll
    for (int e = 0; e < S::EACH; e++) {
        finite = finite && is_finite(val[e]);
        mine = mine || is_diagonal(x.number[e]);
        if (is_upper(x.number[e])) note(tally.largest, is_diagonal(x.number[e]) ? d : val[e]);
    }
    const unsigned spoiled = __ballot_sync(~0u, !finite);
    if (mine) report(g.rules, tally, x.row, fault_of(g.rules, d, !(spoiled & row)));
}

/* The number of L or U that is at a place. */
template <class T> __device__ inline T factor(const row_args<T> &g, int32_t number, T val, T d)
{
    if (is_diagonal(number)) return g.rules.cholesky ? root(d) : d;
    if (!g.rules.cholesky || !is_lower(number)) return val;
    return val * root(pivot_of(flag_peek(g.number + number)));
}

template <class S, class T = typename S::T>
static __global__ void __launch_bounds__(ROW_THREADS) row_kernel(const row_args<T> g)
{
    __shared__ int32_t row_numbers_of[ROW_THREADS / ROW_WARP][S::EACH * ROW_WARP];
    const int lane = threadIdx.x % ROW_WARP, warp = threadIdx.x / ROW_WARP;
    const int64_t warps = (int64_t)gridDim.x * (ROW_THREADS / ROW_WARP);
    /* neighbouring tasks go to different SMs, which then share a level's work */
    const int64_t first = warp * (int64_t)gridDim.x + blockIdx.x;
    int32_t *row_number = row_numbers_of[warp];
    const int32_t *mine = row_number + lane / S::LANES * S::LANES;
    pivot_tally tally = {};
    row_numbers<T, S::EACH> x = read_numbers<S>(g, first, read_places<S>(g, first));
    row_places<S::EACH> p = read_places<S>(g, first + warps);
    for (int64_t t = first; t < g.s.tasks; t += warps) {
        const row_places<S::EACH> after = read_places<S>(g, t + 2 * warps);
        const row_numbers<T, S::EACH> next = read_numbers<S>(g, t + warps, p);
        int32_t to[S::EACH];
        T val[S::EACH];
        __syncwarp();
#pragma unroll
        for (int e = 0; e < S::EACH; e++) {
            to[e] = g.s.to[(t * S::EACH + e) * ROW_WARP + lane];
            row_number[e * ROW_WARP + lane] = x.number[e];
        }
        __syncwarp();
        const double least = begin_row<S>(g, x, tally, val);
        eliminate_all<S>(g, x, mine, val, tally.largest);
        const T d = publish_row<S>(g, x, val, least, tally);
        judge_row<S>(g, x, val, d, tally);
#pragma unroll
        for (int e = 0; e < S::EACH; e++)
            if (to[e] >= 0) g.val[to[e]] = factor(g, x.number[e], val[e], d);
        x = next;
        p = after;
    }
    conclude<T>(g.rules, tally);
}

#endif
