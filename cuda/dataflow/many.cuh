/* many.cuh: the kernel of cuda-dataflow for several right-hand sides, R = 2, 4, 8, 16 or 32 at a time.
 *
 * y has a row of R numbers for each node, so an operand is one row, which adjacent lanes load together.  A team
 * of lanes has a node.  A lane has two right-hand sides (one of complex numbers in double precision), which one
 * load of 16 bytes brings; the lanes read one entry each, and exchange the entries by shuffles:
 *
 *        R = 8, fp64:  lane of the team    0      1      2      3
 *                      right-hand sides    0 1    2 3    4 5    6 7       a row of y is two sectors of 32 bytes
 *                      holds entry         p      p+1    p+2    p+3       value and node
 *
 *        s(0..7) = s(0..7) + a(p) y(idx(p))(0..7)    then entries p+1, p+2, p+3; all four are looked for at once
 *
 * Where rows are long the team is larger, and SPLIT lanes have the same right-hand sides and every SPLIT-th
 * entry each; shuffles add up their sums at the end.  While a team waits for y, it reads the next entries.
 *
 * Who computes a node: a team; a warp has as many teams as fit.  How y becomes visible: each number is its own
 * flag (flag.cuh).  Why it cannot hang: as in single.cu, with nodes for tasks and teams for warps: nodes are
 * assigned in the order of the schedule, cyclically over the teams of warps that are all resident; and the teams
 * of a warp go round one loop, where a waiting team does not block the others from publishing.  The order of a
 * sum depends only on the length of the row and on R, so x has the same bits in every solve with the same number
 * of right-hand sides. */
#ifndef TRS_MANY_CUH
#define TRS_MANY_CUH

#include "dataflow.cuh"
#include "cuda/runtime/flag.cuh"

enum { THREADS = 256, WARP = TRS_FLOW_WARP };

/* The schedule and values as in flow.h. */
template <class T> struct many_args {
    int32_t nodes;
    const int64_t *ptr;
    const int32_t *idx, *row;
    const T *val, *inv;
    const int *divides;
    T *y;         /* [nodes][WIDTH] numbers that are their own flags */
    T *rows;      /* [n][WIDTH] B by rows; NULL: it is read from b */
    view<T> b, x; /* x.p NULL: x is taken from y afterwards */
    int nrhs;     /* at most WIDTH */
    bool cj;      /* conj (T) X = B */
};

/* ---- teams of lanes --------------------------------------------------------------------------------------- */

/* A kernel for R right-hand sides of type T, in which S lanes have the same right-hand sides, if a warp has so
 * many.
 *
 *        COLUMNS      right-hand sides of a lane: 8 or 16 bytes of y
 *        ACROSS       lanes that have a row of y between them
 *        SPLIT        lanes that have the same right-hand sides, and split the entries
 *        TEAM, TEAMS  lanes that have a node; teams of a warp
 *        IN_FLIGHT    operands that a lane waits for at a time
 *        BLOCKS       of an SM at least, so that the compiler leaves registers for as many */
template <class T, int R, int S> struct shape {
    typedef T type;
    static constexpr int WIDTH = R;
    static constexpr int COLUMNS = sizeof(T) > 8 ? 1 : 2;
    static constexpr int ACROSS = R / COLUMNS;
    static constexpr int SPLIT = S * ACROSS > WARP ? WARP / ACROSS : S;
    static constexpr int TEAM = ACROSS * SPLIT;
    static constexpr int TEAMS = WARP / TEAM;
    static constexpr int IN_FLIGHT = ACROSS < 4 ? ACROSS : 4;
    static constexpr int BLOCKS = sizeof(T) > 8 ? 2 : 3;
    typedef pack<T, COLUMNS> columns; /* what a lane has of a row of y */
    static_assert(TEAM % (IN_FLIGHT * SPLIT) == 0, "a team adds whole groups of operands");
};

/* Where a lane stands: lane = split * ACROSS + across of its team. */
template <class S> struct place_in_warp {
    int team, lane; /* of the warp; of the team */
    int across, r;  /* which right-hand sides; the first of them */
    int split;      /* which entries */
    unsigned mask;  /* the lanes of the team */
    __device__ place_in_warp()
        : team(threadIdx.x % WARP / S::TEAM), lane(threadIdx.x % S::TEAM), across(lane % S::ACROSS),
          r(across * S::COLUMNS), split(lane / S::ACROSS),
          mask(~0u >> (WARP - S::TEAM) << (team * S::TEAM))
    {
    }
};

/* ---- what a team reads ------------------------------------------------------------------------------------- */

/* Where the entries of a node are, and what its row needs; it is read one turn before the entries. */
template <class T> struct node_head {
    int64_t p;
    int32_t count, row; /* row -1: a partial sum, or no node */
    T inv;
};

template <class T> __device__ inline node_head<T> read_head(const many_args<T> &k, int64_t node)
{
    node_head<T> h = {0, 0, -1, number<T>(0)};
    if (node < k.nodes) {
        h.p = k.ptr[node];
        h.count = (int32_t)(k.ptr[node + 1] - h.p);
        h.row = k.row[node];
        h.inv = k.inv[node];
    }
    return h;
}

/* The entry that a lane holds for its team. */
template <class T> struct lane_entry {
    int32_t node; /* -1: nothing */
    T a;
};

/* Of the count entries from p on that the team holds, if there are so many. */
template <class T>
__device__ inline lane_entry<T> read_entry(const many_args<T> &k, int64_t p, int lane,
                                           int32_t count)
{
    lane_entry<T> e = {-1, number<T>(0)};
    if (lane < count) {
        e.node = k.idx[p + lane];
        e.a = conj_if(k.cj, k.val[p + lane]);
    }
    return e;
}

/* What the lane has of a row of WIDTH numbers. */
template <class S, class T = typename S::type>
__device__ inline typename S::columns *part_of(const place_in_warp<S> &me, T *rows, int64_t row)
{
    return (typename S::columns *)(rows + row * S::WIDTH) + me.across;
}

template <class S, class T = typename S::type>
__device__ inline typename S::columns read_b(const many_args<T> &k, const place_in_warp<S> &me,
                                             int32_t row)
{
    typename S::columns b = {};
    if (row < 0) return b;
    if (k.rows) return *part_of(me, k.rows, row);
    for (int c = 0; c < S::COLUMNS; c++)
        if (me.r + c < k.nrhs) b.v[c] = k.b(row, me.r + c);
    return b;
}

/* ---- operands ----------------------------------------------------------------------------------------------- */

/* Rows of y that a lane waits for, its own columns of them. */
template <class S> struct operands {
    int32_t node[S::IN_FLIGHT]; /* -1: none */
    typename S::columns y[S::IN_FLIGHT];
    unsigned waiting; /* bit j: y[j] is not there yet */
};

/* The next operands are those of entries at, at + 1, ... that the team holds.  All lanes of the warp come to
 * the shuffle; now says for which of them it is time. */
template <class S, class T = typename S::type>
__device__ inline void next_operands(operands<S> &w, const place_in_warp<S> &me,
                                     const lane_entry<T> &e, int at, bool now)
{
#pragma unroll
    for (int j = 0; j < S::IN_FLIGHT; j++) {
        const int32_t node = __shfl_sync(~0u, e.node, at + j * S::SPLIT + me.split, S::TEAM);
        if (!now) continue;
        w.node[j] = node;
        if (node >= 0) w.waiting |= 1u << j;
    }
}

/* Looks once for each operand that is not there yet.  All loads are under way before the result of the first is
 * used. */
template <class S, class T = typename S::type>
__device__ inline void poll_operands(const many_args<T> &k, const place_in_warp<S> &me,
                                     operands<S> &w)
{
#pragma unroll
    for (int j = 0; j < S::IN_FLIGHT; j++)
        if (w.waiting >> j & 1) w.y[j] = flag_peek(part_of(me, k.y, w.node[j]));
#pragma unroll
    for (int j = 0; j < S::IN_FLIGHT; j++)
        if (w.waiting >> j & 1 && flag_there(w.y[j])) w.waiting &= ~(1u << j);
}

/* s = s + a y, where whole says that all operands of the team are there. */
template <class S, class T = typename S::type>
__device__ inline void add_operands(typename S::columns &s, const operands<S> &w,
                                    const place_in_warp<S> &me, const lane_entry<T> &e, int at,
                                    bool whole)
{
#pragma unroll
    for (int j = 0; j < S::IN_FLIGHT; j++) {
        const T a = shuffle(e.a, at + j * S::SPLIT + me.split, S::TEAM);
        if (whole && w.node[j] >= 0)
            for (int c = 0; c < S::COLUMNS; c++) s.v[c] = s.v[c] + a * w.y[j].v[c];
    }
}

/* The sum over the lanes that have the same right-hand sides; each of them gets it. */
template <class S> __device__ inline typename S::columns sum_of_team(typename S::columns s)
{
    using T = typename S::type;
#pragma unroll
    for (int by = S::ACROSS; by < S::TEAM; by *= 2)
        for (int c = 0; c < S::COLUMNS; c++) {
            const T other = shuffle_xor(s.v[c], by);
            s.v[c] = s.v[c] + other;
        }
    return s;
}

/* ---- nodes --------------------------------------------------------------------------------------------------- */

/* (b - sum) over the diagonal; a partial sum has b = 0 and inv = -1. */
template <bool DIVIDES, class T>
__device__ inline T divide(const many_args<T> &k, const node_head<T> &h, T s)
{
    return over(DIVIDES, s, conj_if(k.cj, h.inv));
}

template <class S, bool DIVIDES, class T = typename S::type>
__device__ inline void publish(const many_args<T> &k, const place_in_warp<S> &me, int64_t node,
                               const node_head<T> &h, const typename S::columns &b,
                               const typename S::columns &sum)
{
    typename S::columns x;
    if (me.split > 0) return;
    TRS_ASSERT(node < k.nodes && !flag_there(flag_peek(part_of(me, k.y, node))));
    for (int c = 0; c < S::COLUMNS; c++) x.v[c] = divide<DIVIDES>(k, h, b.v[c] - sum.v[c]);
    flag_store(part_of(me, k.y, node), x);
    if (h.row < 0 || !k.x.p) return;
    for (int c = 0; c < S::COLUMNS; c++)
        if (me.r + c < k.nrhs) k.x(h.row, me.r + c) = x.v[c];
}

/* What the team holds after the entries that it holds now.  Of this node left entries remain, from p on, those
 * that it holds included: the next ones of these, or the first ones of the next node. */
template <class S, class T = typename S::type>
__device__ inline lane_entry<T> read_ahead(const many_args<T> &k, const place_in_warp<S> &me,
                                           int64_t p, int32_t left, const node_head<T> &next)
{
    const bool more = left > S::TEAM;
    return read_entry(k, more ? p + S::TEAM : next.p, me.lane, more ? left - S::TEAM : next.count);
}

/* Computes a node of each team of the warp.  e has the first entries of the node; in the end it has those of
 * the next one.  Every lane of the warp goes round the loop until all nodes are published, and comes to each
 * ballot and shuffle in it: so none of these may stand behind a condition or && that lanes may answer
 * differently. */
template <class S, bool DIVIDES, class T = typename S::type>
__device__ inline void compute_nodes(const many_args<T> &k, const place_in_warp<S> &me,
                                     int64_t node, const node_head<T> &h, const node_head<T> &next,
                                     const typename S::columns &b, lane_entry<T> &e)
{
    lane_entry<T> ahead = read_ahead(k, me, h.p, h.count, next);
    typename S::columns s = {};
    operands<S> w;
    w.waiting = 0;
    bool done = node >= k.nodes, fresh = !done;
    int64_t p = h.p;        /* of the first entry that the team holds */
    int32_t left = h.count; /* entries of the node from there on */
    int32_t at = 0;         /* of the entries that the team holds, those that are added */
    while (__any_sync(~0u, !done)) {
        if (__any_sync(~0u, fresh)) next_operands(w, me, e, at, fresh);
        fresh = false;
        poll_operands(k, me, w);
        const unsigned lacking = __ballot_sync(~0u, w.waiting != 0) & me.mask;
        const bool whole = !done && !lacking;
        if (!__any_sync(~0u, whole)) continue;
        add_operands(s, w, me, e, at, whole);
        if (whole) at += S::IN_FLIGHT * S::SPLIT;
        TRS_ASSERT(at <= S::TEAM);
        const bool last = whole && at >= left;
        if (__any_sync(~0u, last)) {
            const typename S::columns sum = sum_of_team<S>(s);
            if (last) publish<S, DIVIDES>(k, me, node, h, b, sum);
        }
        done = done || last;
        fresh = whole && !last;
        if (fresh && at == S::TEAM) {
            e = ahead;
            at = 0;
            p += S::TEAM;
            left -= S::TEAM;
            ahead = read_ahead(k, me, p, left, next);
        }
    }
    e = ahead;
}

template <class S, bool DIVIDES, class T = typename S::type>
static __device__ inline void compute_all(const many_args<T> &k)
{
    const place_in_warp<S> me;
    const int64_t stride = (int64_t)gridDim.x * (THREADS / WARP) * S::TEAMS;
    /* neighbouring nodes go to different SMs, as in single.cu */
    const int64_t warp = (threadIdx.x / WARP) * (int64_t)gridDim.x + blockIdx.x;
    const int64_t first = warp * S::TEAMS + me.team;
    auto h = read_head(k, first), next = read_head(k, first + stride);
    auto e = read_entry(k, h.p, me.lane, h.count);
    auto b = read_b(k, me, h.row);
    for (int64_t node = first; node - me.team < k.nodes; node += stride) {
        const auto after = read_head(k, node + 2 * stride);
        delay();
        const auto next_b = read_b(k, me, next.row);
        compute_nodes<S, DIVIDES>(k, me, node, h, next, b, e);
        h = next;
        next = after;
        b = next_b;
    }
}

template <class S>
static __global__ void __launch_bounds__(THREADS, S::BLOCKS)
    many_kernel(const many_args<typename S::type> k)
{
    if (*k.divides) compute_all<S, true>(k);
    else compute_all<S, false>(k);
}

#endif
