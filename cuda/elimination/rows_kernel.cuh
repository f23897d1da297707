/* rows_kernel.cuh: elimination with a few lanes for a node of one to four rows, in one launch.
 *
 *     row i:  for k < i in row i, ascending:   l(i, k) = a(i, k) / u(k, k);   a(i, j) -= l(i, k) u(k, j)
 *
 * Who owns a row: the lanes of its task (rows.cuh).  The rows of a node stay in their registers.  For a few columns k
 * at a time they poll the pivot of row k, and those u(k, j) whose column the node has.  Then, one k after the other,
 * the lane of k divides, passes l(i, k) to the others by a shuffle, and they subtract.  At the end the rows of a node
 * are eliminated from one another, from lane to lane.
 *
 * How a number becomes visible: each number of a row of U is its own flag (cuda/runtime/flag.cuh).  All their bits
 * are set before the launch.  Only later launches read val.
 *
 * Why it cannot hang: warp w of W takes the tasks w, w + W, w + 2 W, ... in this order, and all warps are resident
 * (cooperative launch).  Tasks are in the order of the levels of their nodes' first rows, none has nodes of two
 * levels, and a node needs nodes of lower levels only.  Let k be the first unfinished task: its warp is at it, all
 * rows that it waits for are published, and the lanes of the warp go round every loop together.  Each number,
 * whatever its value, is published once, and never as the reserved pattern.
 *
 * Bytes in fp64: 12 a place, its bytes of the list, A and val, twice U, and U times the uses of a row.  Bound by
 * instructions where levels are wide, else by levels x the dependency latency. */
#ifndef TRS_ELIMINATION_ROWS_KERNEL_CUH
#define TRS_ELIMINATION_ROWS_KERNEL_CUH

#include "pivots.cuh"
#include "rows_shapes.cuh"
#include "cuda/runtime/flag.cuh"

/* Lanes of a node, places of a lane, rows of a node, and how many columns are looked for at a time. */
template <class A, int W, int E, int R> struct row_lanes {
    typedef A T;
    static constexpr int LANES = W, EACH = E, ROWS = R, NODES = ROW_WARP / W;
    static constexpr int ROOM = R > 1 ? 16 : 32; /* bytes of a lane for a column at a time */
    static constexpr int AT_ONCE = sizeof(T) * E > ROOM ? 2 : ROW_BATCH;
};

/* val - l u */
template <class T> __device__ inline T minus_product(T val, T l, T u)
{
    if constexpr (sizeof(T) == sizeof(size_of(T()))) return fma(-l, u, val);
    else return {fma(-l.x, u.x, fma(l.y, u.y, val.x)), fma(-l.x, u.y, fma(-l.y, u.x, val.y))};
}

/* ---- what is read ahead ---------------------------------------------------------------------------------- */

/* Two tasks ahead. */
template <int E, int R> struct row_places {
    row_task task;
    row_node node; /* of the lane */
    int32_t a[R][E];
};

/* One task ahead. */
template <class T, int E, int R> struct row_numbers {
    row_task task;
    row_node node;
    int32_t number[E];
    uint32_t word[E]; /* of the first columns */
    T val[R][E];      /* of A, scaled */
};

template <class S> using places_of = row_places<S::EACH, S::ROWS>;
template <class S> using numbers_of = row_numbers<typename S::T, S::EACH, S::ROWS>;

template <class S, class T = typename S::T>
__device__ inline places_of<S> read_places(const row_args<T> &g, int64_t t)
{
    places_of<S> x;
    const int lane = threadIdx.x % ROW_WARP;
    const bool is = t < g.s.tasks;
    x.task = is ? g.s.task[t] : row_task{0, 0};
    x.node = is ? g.s.node[t * S::NODES + lane / S::LANES] : row_node{0, 0, 0, 0};
#pragma unroll
    for (int r = 0; r < S::ROWS; r++)
#pragma unroll
        for (int e = 0; e < S::EACH; e++)
            x.a[r][e] =
                is ? g.s.a[((t * S::ROWS + r) * S::EACH + e) * ROW_WARP + lane] : ROW_NOTHING;
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

/* The number of A that a place says. */
template <class T> __device__ inline T read_a(const row_args<T> &g, int32_t a)
{
    return a >= 0 ? conj_if(a & ROW_MARKED, g.a[a & ROW_MOST]) : number<T>(0);
}

template <class S, class T = typename S::T>
__device__ inline numbers_of<S> read_numbers(const row_args<T> &g, int64_t t, const places_of<S> &p)
{
    numbers_of<S> x;
    x.task = p.task;
    x.node = p.node;
#pragma unroll
    for (int e = 0; e < S::EACH; e++) {
        const int64_t at = (t * S::EACH + e) * ROW_WARP + threadIdx.x % ROW_WARP;
        x.number[e] = t < g.s.tasks ? g.s.number[at] : ROW_NOTHING;
    }
#pragma unroll
    for (int r = 0; r < S::ROWS; r++)
#pragma unroll
        for (int e = 0; e < S::EACH; e++) x.val[r][e] = read_a(g, p.a[r][e]);
    read_words<S>(g, p.task, 0, x.word);
    return x;
}

/* ---- columns left of a node ------------------------------------------------------------------------------ */

/* What a lane needs of the next few columns. */
template <class S> struct row_batch {
    typedef typename S::T T;
    static constexpr int E = S::EACH, B = S::AT_ONCE;
    uint32_t word[E]; /* a byte each, the lowest first */
    T u[E][B];
    unsigned waiting; /* bit e B + b: u[e][b] is not there yet */
    const T *pivot[B];

    __device__ int byte(int e, int b) const { return word[e] >> (8 * b) & 255; }

    /* Columns first, first + 1, ... of the node; the word has been read.  place: what `number` says of the places of the
     * node, in shared memory. */
    __device__ void start(const T *number, const int32_t *place, int first)
    {
        waiting = 0;
#pragma unroll
        for (int b = 0; b < B; b++) {
            const int q = min(first + b, S::LANES * E - 1);
            pivot[b] = number + (place[q / S::LANES * ROW_WARP + q % S::LANES] - 1);
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

    /* Bits of `waiting` that belong to column b. */
    __device__ static unsigned bits(int b)
    {
        unsigned all = 0;
#pragma unroll
        for (int e = 0; e < E; e++) all |= 1u << (e * B + b);
        return all;
    }

    /* Eliminates column b, which lane `from` of the node has, from one row. */
    __device__ void eliminate(int b, int from, T (&val)[E], unsigned &largest) const
    {
        T l = ::number<T>(0);
#pragma unroll
        for (int e = 0; e < E; e++)
            if (byte(e, b) == 1)
                l = val[e] = is_inverse(u[e][b]) ? val[e] * u[e][b] : val[e] / u[e][b];
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

/* Eliminates all columns left of the nodes of a task.  Every lane of the warp comes to each ballot and shuffle: so none of
 * these may stand behind a condition that lanes may answer differently. */
template <class S, class T = typename S::T>
__device__ inline void eliminate_before(const row_args<T> &g, numbers_of<S> &x,
                                        const int32_t *place, unsigned &largest)
{
    constexpr int B = S::AT_ONCE;
    const int columns = x.task.lower;
    row_batch<S> batch;
    uint32_t next[S::EACH];
#pragma unroll
    for (int e = 0; e < S::EACH; e++) next[e] = x.word[e];
    for (int q = 0; q < columns; q += B) {
        const bool whole = q % ROW_BATCH == 0;
#pragma unroll
        for (int e = 0; e < S::EACH; e++)
            batch.word[e] = whole ? next[e] : batch.word[e] >> 8 * B % 32;
        if (whole) read_words<S>(g, x.task, q / ROW_BATCH + 1, next);
        batch.start(g.number, place, q);
        batch.look();
#pragma unroll
        for (int b = 0; b < B; b++) {
            if (q + b >= columns) break;
            while (__any_sync(~0u, batch.waiting & batch.bits(b))) batch.look();
#pragma unroll
            for (int r = 0; r < S::ROWS; r++)
                batch.eliminate(b, (q + b) % S::LANES, x.val[r], largest);
        }
    }
}

/* ---- the rows of a node ---------------------------------------------------------------------------------- */

/* The largest of the lanes of a node. */
template <class S> __device__ inline double node_largest(double v)
{
#pragma unroll
    for (int by = S::LANES / 2; by > 0; by /= 2) v = max(v, __shfl_xor_sync(~0u, v, by));
    return v;
}

/* The column of place e, counted from the diagonal of the node's first row. */
template <class S> __device__ inline int column_of(const row_node &node, int e)
{
    return e * S::LANES + threadIdx.x % S::LANES - node.diag;
}

/* Row r as elimination begins with it.  Returns the size below which its pivot is replaced. */
template <class S, class T = typename S::T>
__device__ inline double begin_row(const row_args<T> &g, const row_node &node, int r,
                                   T (&val)[S::EACH], pivot_counts &counts)
{
    const double scale = g.scale && r < node.rows ? g.scale[node.row + r] : 1;
    double largest = 0;
#pragma unroll
    for (int e = 0; e < S::EACH; e++) {
        const int column = column_of<S>(node, e);
        if (g.scale)
            val[e] = for_parts(val[e], [=](auto part) { return decltype(part)(part * scale); });
        note(counts.largest_a, val[e]);
        if (column <= r || !g.rules.cholesky || g.rules.sign)
            largest = fmax(largest, (double)size_of(val[e]));
        if (column == r) val[e] = shifted(g.rules, val[e]);
    }
    return g.rules.boost > 0 ? g.rules.boost * node_largest<S>(largest) : 0;
}

/* Row r is complete but for its pivot.  Publishes it, and returns to every lane what is kept of the pivot. */
template <class S, class T = typename S::T>
__device__ inline T publish_row(const row_args<T> &g, const numbers_of<S> &x, int r,
                                T (&val)[S::EACH], double least, pivot_counts &counts)
{
    T d = number<T>(1);
    bool boosted = false;
#pragma unroll
    for (int e = 0; e < S::EACH; e++)
        if (column_of<S>(x.node, e) == r && r < x.node.rows)
            d = val[e] = used_pivot(g.rules, x.node.row + r, val[e], least, boosted);
    const T kept = kept_pivot(d);
#pragma unroll
    for (int e = 0; e < S::EACH; e++) {
        const int column = column_of<S>(x.node, e);
        if (column < r || x.number[e] == ROW_NOTHING || r >= x.node.rows) continue;
        flag_store(g.number + (row_own(x.number[e]) + r * x.node.stride),
                   column == r ? kept : val[e]);
        note(counts.largest, val[e]);
    }
    counts.boosted += boosted;
    return S::ROWS > 1 ? shuffle(kept, (x.node.diag + r) % S::LANES, S::LANES) : kept;
}

/* Eliminates row `by` of a node from row r. */
template <class S, class T = typename S::T>
__device__ inline void eliminate_within(const row_node &node, int by, T kept, const T (&u)[S::EACH],
                                        T (&val)[S::EACH], unsigned &largest)
{
    T l = number<T>(0);
#pragma unroll
    for (int e = 0; e < S::EACH; e++)
        if (column_of<S>(node, e) == by) l = val[e] = over(true, val[e], kept);
    l = shuffle(l, (node.diag + by) % S::LANES, S::LANES);
    const auto size = size_of(l);
#pragma unroll
    for (int e = 0; e < S::EACH; e++)
        if (column_of<S>(node, e) > by) {
            val[e] = minus_product(val[e], l, u[e]);
            largest = max(largest, size_bits(size * size_of(u[e])));
        }
}

/* Is every number of row r finite?  A bad pivot is reported. */
template <class S, class T = typename S::T>
__device__ inline void judge_row(const row_args<T> &g, const row_node &node, int r,
                                 const T (&val)[S::EACH], pivot_counts &counts)
{
    const int first = threadIdx.x % ROW_WARP / S::LANES * S::LANES;
    const unsigned lanes = ~0u >> (ROW_WARP - S::LANES) << first;
    T d = number<T>(1);
    bool finite = true, mine = false;
#pragma unroll
    for (int e = 0; e < S::EACH; e++) {
        finite = finite && is_finite(val[e]);
        if (column_of<S>(node, e) != r) continue;
        d = val[e];
        mine = r < node.rows;
    }
    const unsigned spoiled = __ballot_sync(~0u, !finite);
    if (mine) report(g.rules, counts, node.row + r, fault_of(g.rules, d, !(spoiled & lanes)));
}

/* What place e of row r has of L or U. */
template <class S, class T = typename S::T>
__device__ inline T factor(const row_args<T> &g, const numbers_of<S> &x, int r, int e)
{
    const int column = column_of<S>(x.node, e);
    if (!g.rules.cholesky || column > r) return x.val[r][e];
    if (column == r) return root(g.rules, x.val[r][e]);
    T d = number<T>(1);
#pragma unroll
    for (int k = 0; k < S::ROWS; k++)
        if (column == k) d = x.val[k][e];
    if (column < 0) d = pivot_of(flag_peek(g.number + x.number[e]));
    return x.val[r][e] * root(g.rules, d);
}

template <class S, class T = typename S::T>
__device__ inline void write_node(const row_args<T> &g, const numbers_of<S> &x,
                                  const int32_t (&to)[S::ROWS][S::EACH])
{
#pragma unroll
    for (int r = 0; r < S::ROWS; r++)
#pragma unroll
        for (int e = 0; e < S::EACH; e++)
            if (to[r][e] >= 0) g.val[to[r][e]] = factor<S>(g, x, r, e);
}

/* Computes a task.  place: of the node, in shared memory. */
template <class S, class T = typename S::T>
__device__ inline void compute_task(const row_args<T> &g, numbers_of<S> &x, const int32_t *place,
                                    pivot_counts &counts)
{
    double least[S::ROWS];
#pragma unroll
    for (int r = 0; r < S::ROWS; r++) least[r] = begin_row<S>(g, x.node, r, x.val[r], counts);
    eliminate_before<S>(g, x, place, counts.largest);
#pragma unroll
    for (int r = 0; r < S::ROWS; r++) {
        const T kept = publish_row<S>(g, x, r, x.val[r], least[r], counts);
#pragma unroll
        for (int k = r + 1; k < S::ROWS; k++)
            eliminate_within<S>(x.node, r, kept, x.val[r], x.val[k], counts.largest);
    }
#pragma unroll
    for (int r = 0; r < S::ROWS; r++) judge_row<S>(g, x.node, r, x.val[r], counts);
}

template <class S, class T = typename S::T>
static __global__ void __launch_bounds__(ROW_THREADS) row_kernel(const row_args<T> g)
{
    __shared__ int32_t places[ROW_THREADS / ROW_WARP][S::EACH * ROW_WARP];
    const int lane = threadIdx.x % ROW_WARP, warp = threadIdx.x / ROW_WARP;
    const int64_t warps = (int64_t)gridDim.x * (ROW_THREADS / ROW_WARP);
    /* neighbouring tasks go to different SMs, which then share a level's work */
    const int64_t first = warp * (int64_t)gridDim.x + blockIdx.x;
    pivot_counts counts = {};
    numbers_of<S> x = read_numbers<S>(g, first, read_places<S>(g, first));
    places_of<S> p = read_places<S>(g, first + warps);
    for (int64_t t = first; t < g.s.tasks; t += warps) {
        const places_of<S> after = read_places<S>(g, t + 2 * warps);
        const numbers_of<S> next = read_numbers<S>(g, t + warps, p);
        int32_t to[S::ROWS][S::EACH];
        __syncwarp();
#pragma unroll
        for (int e = 0; e < S::EACH; e++) {
            places[warp][e * ROW_WARP + lane] = x.number[e];
#pragma unroll
            for (int r = 0; r < S::ROWS; r++)
                to[r][e] = g.s.to[((t * S::ROWS + r) * S::EACH + e) * ROW_WARP + lane];
        }
        __syncwarp();
        compute_task<S>(g, x, places[warp] + lane / S::LANES * S::LANES, counts);
        write_node<S>(g, x, to);
        x = next;
        p = after;
    }
    conclude<T>(g.rules, counts);
}

template <class T> static const void *row_kernel_of(row_shape s)
{
    const void *kernel = NULL;
    for_shapes([&]<int W, int E, int R>() {
        if (s.lanes == W && s.each == E && s.rows == R)
            kernel = (const void *)row_kernel<row_lanes<T, W, E, R>>;
    });
    return kernel;
}

#endif
