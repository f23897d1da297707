/* small.cuh: a small supernode, by a warp, or by the eight warps of a thread block, which share its columns.
 *
 *     waits for    x of the columns of its packed panel, all of earlier levels
 *     computes     x = M (b - L x), M = L_tt^-1; or by substitution if M is unusable
 *     publishes    x, lane by lane
 *
 * The supernodes of a batch are of one level, so no warp of a thread block waits for the x of another.  With one
 * right-hand side the lanes of the warp are divided among the rows, 2 to 32 lanes a row.  With several, each lane
 * has one right-hand side, and if lanes outnumber right-hand sides, some of the rows.  If eight warps share a
 * supernode, the first adds up the sums of the others and owns the rows.  Bytes: elem for a stored entry of the
 * panel and of the diagonal block, and elem + 4 for each column.  Bound by the dependency latency, then by the loads
 * that a warp has in flight at a time: 256 entries in 0.17 us. */
#ifndef TRS_SUPERNODAL_SMALL_CUH
#define TRS_SUPERNODAL_SMALL_CUH

#include "supernodal.cuh"

enum { WARP = 32, IN_FLIGHT = 8 }; /* numbers of x, or of M, that a lane loads at a time */
static_assert(IN_FLIGHT * (WARP / int(TRS_SMALL)) >= int(TRS_SMALL),
              "a row of M by the fewest lanes");

__device__ inline int64_t place_of(const small_supernode &k, int i, int column)
{
    return tile_place(i, column, k.rows);
}

/* What the warps that share a supernode found: [WARPS][TRS_SMALL][R]. */
template <class T, int R> using warp_sums = T (*)[TRS_SMALL][R];

/* Which of how many warps share the columns of a supernode. */
struct warp_of {
    int number = 0, count = 1;
    __device__ explicit warp_of(bool shared)
    {
        if (shared) number = (int)threadIdx.x / WARP, count = WARPS;
    }
};

/* N numbers of x; those that are not there are asked for again, together.  where is -1 for those that are not
 * wanted. */
template <class T, int N>
__device__ inline void wait_for_all(T (&x)[N], const int64_t (&where)[N], const T *from)
{
    unsigned waiting = 0;
#pragma unroll
    for (int j = 0; j < N; j++) {
        x[j] = number<T>(0);
        if (where[j] >= 0) waiting |= 1u << j;
    }
    while (waiting) {
        bool there[N];
#pragma unroll
        for (int j = 0; j < N; j++) there[j] = waiting >> j & 1 && flag_load(from + where[j], x[j]);
#pragma unroll
        for (int j = 0; j < N; j++)
            if (there[j]) waiting &= ~(1u << j);
    }
}

/* The rows of a supernode emptied in the other copy, by a warp. */
template <class T> __device__ inline void empty_rows(const small_supernode &k, const copies<T> &h)
{
    for (int e = (int)threadIdx.x % WARP; e < k.rows * h.width; e += WARP)
        flag_clear(h.emptied + (int64_t)k.first * h.width + e);
}

/* ---- one right-hand side --------------------------------------------------------------------------------- */

/* How the lanes of a warp share the rows of a supernode: `lanes` a row, 2, 4, 8, 16 or 32. */
struct row_lanes {
    int lanes;
    int i,
        sub; /* this lane's row, and which of its lanes it is: it has columns sub, sub + lanes, ... */
    bool in; /* is there a row i? */
    __device__ explicit row_lanes(int rows)
    {
        lanes = WARP / int(TRS_SMALL);
        while (lanes < WARP && lanes * rows <= WARP / 2) lanes *= 2;
        i = (int)threadIdx.x % WARP / lanes;
        sub = (int)threadIdx.x % lanes;
        in = i < rows;
        TRS_ASSERT(rows <= TRS_SMALL && rows * lanes <= WARP);
    }
    /* The sum over the lanes of a row, in each of them. */
    template <class T> __device__ T over_lanes(T sum) const
    {
        for (int by = 1; by < lanes; by *= 2) sum = sum + shuffle_xor(sum, by);
        return sum;
    }
};

/* This lane's numbers of row i of M; 0 where they are not wanted. */
template <class T>
__device__ inline void load_inverse(T (&d)[IN_FLIGHT], const problem<T> &P,
                                    const small_supernode &k, const T *M, bool wanted,
                                    const row_lanes &me)
{
#pragma unroll
    for (int j = 0; j < IN_FLIGHT; j++) {
        const int c = me.sub + j * me.lanes;
        d[j] =
            me.in && c < k.rows && wanted ? conj_if(P.cj, M[place_of(k, me.i, c)]) : number<T>(0);
    }
}

/* sum += this lane's share of row i of L x, of every `warps`th batch of columns. */
template <class T>
__device__ inline void add_columns(T &sum, const problem<T> &P, const small_supernode &k,
                                   const T *L, const T *published, int warp, int warps,
                                   const row_lanes &me)
{
    const int batch = IN_FLIGHT * me.lanes;
    for (int c0 = me.sub + warp * batch; me.in && c0 < k.columns; c0 += warps * batch) {
        int64_t where[IN_FLIGHT];
        T a[IN_FLIGHT], x[IN_FLIGHT];
#pragma unroll
        for (int j = 0; j < IN_FLIGHT; j++) {
            const int c = c0 + j * me.lanes;
            where[j] = c < k.columns ? P.column[k.column + c] : -1;
            a[j] = c < k.columns ? conj_if(P.cj, L[place_of(k, me.i, c)]) : number<T>(0);
        }
        wait_for_all(x, where, published);
#pragma unroll
        for (int j = 0; j < IN_FLIGHT; j++) sum = sum + a[j] * x[j];
    }
}

/* This lane's share of row i of M v. */
template <class T>
__device__ inline T multiply(const small_supernode &k, const T (&d)[IN_FLIGHT], T v,
                             const row_lanes &me)
{
    T sum = number<T>(0);
#pragma unroll
    for (int j = 0; j < IN_FLIGHT; j++) {
        if (j * me.lanes >= k.rows) break;
        sum = sum + d[j] * shuffle(v, min(me.sub + j * me.lanes, k.rows - 1) * me.lanes);
    }
    return sum;
}

/* Row i of L_tt^-1 v; of a row the first of its lanes counts. */
template <class T>
__device__ inline T substitute(const problem<T> &P, const small_supernode &k, const T *L, T v,
                               const row_lanes &me)
{
    const int row = min(me.i, k.rows - 1);
    for (int c = 0; c < k.rows; c++) {
        if (me.i == c) v = v / conj_if(P.cj, L[place_of(k, c, c)]);
        const T x = shuffle(v, c * me.lanes);
        if (row > c) v = v - conj_if(P.cj, L[place_of(k, row, c)]) * x;
    }
    return v;
}

template <class T>
static __device__ __forceinline__ void solve_small_one(const problem<T> &P, int t,
                                                       const copies<T> &h, warp_sums<T, 1> part,
                                                       bool shared)
{
    const warp_of warp(shared);
    const small_supernode k = P.small[t];
    const bool substituted = P.substituted[t];
    const T *M = P.stored + k.inverse, *L = P.stored + k.panel; /* M is L_tt where substituted */
    const row_lanes me(k.rows);
    T d[IN_FLIGHT], sum = number<T>(0), b = number<T>(0);
    load_inverse(d, P, k, M, !substituted, me);
    if (me.in) b = load_rhs(P, h, k.first + me.i);
    add_columns(sum, P, k, L, h.published, warp.number, warp.count, me);
    __syncwarp();
    sum = me.over_lanes(sum);
    if (shared) {
        if (me.sub == 0) part[warp.number][me.i][0] = sum;
        __syncthreads();
        if (warp.number > 0) return;
        for (int w = 1; w < WARPS; w++) sum = sum + part[w][me.i][0];
    }
    b = b - sum;
    if (substituted) b = substitute(P, k, M, b, me);
    else b = me.over_lanes(multiply(k, d, b, me));
    if (me.in && me.sub == 0) {
        publish(h.published + k.first + me.i, b);
        P.x.store(k.first + me.i, b);
    }
    empty_rows(k, h);
}

/* ---- several right-hand sides ----------------------------------------------------------------------------- */

/* The lanes of a warp on R right-hand sides: ACROSS of them at a time, in GROUPS groups of lanes, of which each has
 * EACH rows: group, group + GROUPS, ... */
template <int R> struct rhs_lanes {
    static constexpr int ACROSS = R < WARP ? R : WARP, GROUPS = WARP / ACROSS,
                         EACH = TRS_SMALL / GROUPS,
                         N = 4,   /* columns that are waited for at a time */
        AHEAD = EACH > 4 ? 1 : N; /* columns of L or M that there are registers for */
};
template <int R, class T> using rows_of_lane = T[rhs_lanes<R>::EACH];
template <int R, class T> using columns_ahead = T[rhs_lanes<R>::AHEAD][rhs_lanes<R>::EACH];

/* This lane's rows of columns from `column` on, as far as there are so many; 0 elsewhere. */
template <int R, class T>
__device__ inline void load_columns(columns_ahead<R, T> &a, const problem<T> &P,
                                    const small_supernode &k, const T *from, int column,
                                    int columns, int group)
{
#pragma unroll
    for (int z = 0; z < rhs_lanes<R>::AHEAD; z++)
#pragma unroll
        for (int m = 0; m < rhs_lanes<R>::EACH; m++) {
            const int i = group + m * rhs_lanes<R>::GROUPS;
            a[z][m] = number<T>(0);
            if (i < k.rows && column + z < columns)
                a[z][m] = conj_if(P.cj, from[place_of(k, i, column + z)]);
        }
}

/* v -= L x, of every `warps`th N columns from warp * N on. */
template <int R, class T>
__device__ inline void subtract_columns(rows_of_lane<R, T> &v, columns_ahead<R, T> &a,
                                        const problem<T> &P, const small_supernode &k, const T *L,
                                        const T *published, int r, int group, int warp, int warps)
{
    constexpr int N = rhs_lanes<R>::N, AHEAD = rhs_lanes<R>::AHEAD;
    for (int c0 = warp * N; c0 < k.columns; c0 += warps * N) {
        int64_t where[N];
        T x[N];
#pragma unroll
        for (int j = 0; j < N; j++)
            where[j] = c0 + j < k.columns ? (int64_t)P.column[k.column + c0 + j] * R + r : -1;
        load_columns<R>(a, P, k, L, c0, k.columns, group);
        wait_for_all(x, where, published);
#pragma unroll
        for (int j = 0; j < N; j++) {
            if (j > 0 && j % AHEAD == 0) load_columns<R>(a, P, k, L, c0 + j, k.columns, group);
#pragma unroll
            for (int m = 0; m < rhs_lanes<R>::EACH; m++) v[m] = v[m] - a[j % AHEAD][m] * x[j];
        }
    }
}

/* What column c of M adds to w = M v. */
template <int R, class T>
__device__ inline void apply_column(const rows_of_lane<R, T> &v, rows_of_lane<R, T> &w,
                                    const columns_ahead<R, T> &a, int c, int lane, int group)
{
    constexpr int AHEAD = rhs_lanes<R>::AHEAD, GROUPS = rhs_lanes<R>::GROUPS;
    const T x =
        shuffle(v[c / GROUPS], c % GROUPS * rhs_lanes<R>::ACROSS + lane % rhs_lanes<R>::ACROSS);
#pragma unroll
    for (int m = 0; m < rhs_lanes<R>::EACH; m++)
        if (group + m * GROUPS >= c) w[m] = w[m] + a[c % AHEAD][m] * x;
}

/* w = M v; a has the first columns of M already. */
template <int R, class T>
__device__ inline void apply_inverse(const rows_of_lane<R, T> &v, rows_of_lane<R, T> &w,
                                     columns_ahead<R, T> &a, const problem<T> &P,
                                     const small_supernode &k, const T *M, int lane, int group)
{
#pragma unroll
    for (int c = 0; c < TRS_SMALL; c++) {
        if (c >= k.rows) break;
        if (c > 0 && c % rhs_lanes<R>::AHEAD == 0) load_columns<R>(a, P, k, M, c, k.rows, group);
        apply_column<R>(v, w, a, c, lane, group);
    }
}

/* w = L_tt^-1 v, column after column.  It is rare, so its code is short: row c of x is always in v [0] of its group,
 * and then the rows behind it move up. */
template <int R, class T>
__device__ inline void substitute_rows(rows_of_lane<R, T> &v, rows_of_lane<R, T> &w,
                                       const problem<T> &P, const small_supernode &k, const T *L,
                                       int lane, int group)
{
    constexpr int GROUPS = rhs_lanes<R>::GROUPS, EACH = rhs_lanes<R>::EACH;
    int next = group; /* the row of v [0] */
#pragma unroll 1
    for (int c = 0; c < TRS_SMALL; c++) {
        if (c < k.rows && next == c) v[0] = v[0] / conj_if(P.cj, L[place_of(k, c, c)]);
        const T x = shuffle(v[0], c % GROUPS * rhs_lanes<R>::ACROSS + lane % rhs_lanes<R>::ACROSS);
        if (next == c) {
#pragma unroll
            for (int m = 0; m < EACH - 1; m++) v[m] = v[m + 1], w[m] = w[m + 1];
            w[EACH - 1] = x;
            next += GROUPS;
        }
#pragma unroll
        for (int m = 0; m < EACH; m++) {
            const int i = next + m * GROUPS;
            if (i < k.rows) v[m] = v[m] - conj_if(P.cj, L[place_of(k, i, c)]) * x;
        }
    }
}

/* x of right-hand side r to those who wait for it and to the caller. */
template <int R, class T>
__device__ inline void publish_column(const rows_of_lane<R, T> &x, const problem<T> &P,
                                      const copies<T> &h, const small_supernode &k, int group,
                                      int r)
{
#pragma unroll
    for (int m = 0; m < rhs_lanes<R>::EACH; m++) {
        const int i = group + m * rhs_lanes<R>::GROUPS;
        if (i >= k.rows) continue;
        publish(h.published + (int64_t)(k.first + i) * R + r, x[m]);
        if (r < P.nrhs) P.x.v(k.first + i, r) = x[m];
    }
}

/* v of the first warp += what the others found. */
template <int R, class T>
__device__ inline void join_warps(rows_of_lane<R, T> &v, warp_sums<T, R> part, int warp, int group,
                                  int r)
{
    constexpr int GROUPS = rhs_lanes<R>::GROUPS, EACH = rhs_lanes<R>::EACH;
    for (int m = 0; m < EACH && warp > 0; m++) part[warp][group + m * GROUPS][r] = v[m];
    __syncthreads();
    for (int m = 0; m < EACH && warp == 0; m++)
        for (int o = 1; o < WARPS; o++) v[m] = v[m] + part[o][group + m * GROUPS][r];
}

template <class T, int R>
static __device__ __forceinline__ void solve_small_many(const problem<T> &P, int t,
                                                        const copies<T> &h, warp_sums<T, R> part,
                                                        bool shared)
{
    using lanes = rhs_lanes<R>;
    const warp_of warp(shared);
    const small_supernode k = P.small[t];
    const bool substituted = P.substituted[t];
    const T *M = P.stored + k.inverse, *L = P.stored + k.panel;
    const int lane = (int)threadIdx.x % WARP, group = lane / lanes::ACROSS;
    for (int r = lane % lanes::ACROSS; r < R; r += lanes::ACROSS) {
        columns_ahead<R, T> a;
        rows_of_lane<R, T> v, w;
#pragma unroll
        for (int m = 0; m < lanes::EACH; m++) {
            const int i = group + m * lanes::GROUPS;
            v[m] =
                i < k.rows && r < P.nrhs && warp.number == 0 ? P.b.v(k.first + i, r) : number<T>(0);
            w[m] = number<T>(0);
        }
        subtract_columns<R>(v, a, P, k, L, h.published, r, group, warp.number, warp.count);
        load_columns<R>(a, P, k, M, 0, k.rows, group);
        if (shared) {
            join_warps<R>(v, part, warp.number, group, r);
            if (warp.number > 0) continue;
        }
        __syncwarp();
        if (substituted) substitute_rows<R>(v, w, P, k, M, lane, group);
        else apply_inverse<R>(v, w, a, P, k, M, lane, group);
        publish_column<R>(w, P, h, k, group, r);
    }
    if (warp.number == 0) empty_rows(k, h);
}

/* Small supernode t, by a warp, or shared by all warps of the thread block, whose sums part has room for.  It is inlined, so
 * that its code is that of one of both where `shared` is a constant. */
template <class T, int R>
__device__ __forceinline__ void solve_small(const problem<T> &P, int t, const copies<T> &h,
                                            warp_sums<T, R> part, bool shared)
{
    if constexpr (R == 1) solve_small_one<T>(P, t, h, part, shared);
    else solve_small_many<T, R>(P, t, h, part, shared);
}

#endif
