/* narrow.cuh: a narrow block, by a warp, or by the eight of a block of threads, which share its columns.
 *
 * One stage has all columns, the other is the diagonal block.  With one right-hand side some lanes share a row;
 * with several each lane has one of them, of some rows where there are more lanes.
 * The warp owns the rows, or the first of eight, which adds up what the others found.  How x becomes visible: a lane
 * that has a row publishes it.
 * Waits for rows of earlier levels alone; the blocks of a bundle are of one level.
 * Bytes: elem for a number of the two stages, and elem + 4 for each column.  Bound by the hop, then by what a warp has
 * under way at a time, 256 numbers in 0.17 us. */
#ifndef TRS_SUPERNODAL_NARROW_CUH
#define TRS_SUPERNODAL_NARROW_CUH

#include "supernodal.cuh"

enum { WARP = 32, BATCH = 8 }; /* numbers of x, or of M, that a lane has under way at a time */
static_assert(BATCH * (WARP / int(TRS_NARROW)) >= int(TRS_NARROW),
              "a row of M by the fewest lanes");

__device__ inline int64_t place_of(const narrow &k, int i, int column)
{
    return tile_place(i, column, k.rows);
}

/* N numbers of x, those that are not there asked for again, together; where is -1 for those that are not wanted. */
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

/* x (i) from v (i) by the diagonal block itself; of a row the first of its lanes counts. */
template <class T>
__device__ inline T narrow_substitute(const problem<T> &P, const narrow &k, const T *L, T v, int i,
                                      int lanes)
{
    const int row = min(i, k.rows - 1);
    for (int c = 0; c < k.rows; c++) {
        if (i == c) v = v / conj_if(P.cj, L[place_of(k, c, c)]);
        const T x = of_lane(v, c * lanes);
        if (row > c) v = v - conj_if(P.cj, L[place_of(k, row, c)]) * x;
    }
    return v;
}

/* This lane's share of x (i) from v by the inverse; d are its numbers of row i, of columns sub, sub + lanes, ... */
template <class T>
__device__ inline T narrow_multiply(const narrow &k, const T (&d)[BATCH], T v, int sub, int lanes)
{
    T sum = number<T>(0);
#pragma unroll
    for (int j = 0; j < BATCH; j++) {
        if (j * lanes >= k.rows) break;
        sum = sum + d[j] * of_lane(v, min(sub + j * lanes, k.rows - 1) * lanes);
    }
    return sum;
}

/* What the warps that share a block found: [WARPS][TRS_NARROW][R]; NULL: a warp has it alone. */
template <class T, int R> using parts = T (*)[TRS_NARROW][R];

/* One right-hand side: 2, 4, 8, 16 or 32 lanes a row. */
template <class T>
static __device__ void solve_narrow(const problem<T> &P, int t, const here<T> &h, parts<T, 1> part)
{
    const int warp = part ? (int)threadIdx.x / WARP : 0, warps = part ? (int)WARPS : 1;
    const narrow k = P.thin[t];
    const bool bad = P.substituted[t];
    const T *M = P.store + k.inverse, *L = P.store + k.place; /* M is L_tt where that is bad */
    int lanes = WARP / int(TRS_NARROW);
    while (lanes < WARP && lanes * k.rows <= WARP / 2) lanes *= 2;
    const int i = (int)threadIdx.x % WARP / lanes, sub = (int)threadIdx.x % lanes;
    const bool in = i < k.rows;
    T d[BATCH], sum = number<T>(0), b = number<T>(0);
#pragma unroll
    for (int j = 0; j < BATCH; j++) {
        const int c = sub + j * lanes;
        d[j] = in && c < k.rows && !bad ? conj_if(P.cj, M[place_of(k, i, c)]) : number<T>(0);
    }
    if (in) b = P.b(k.first + i, 0);
    for (int c0 = sub + warp * BATCH * lanes; in && c0 < k.columns; c0 += warps * BATCH * lanes) {
        int64_t where[BATCH];
        T a[BATCH], x[BATCH];
#pragma unroll
        for (int j = 0; j < BATCH; j++) {
            const int c = c0 + j * lanes;
            where[j] = c < k.columns ? P.column[k.column + c] : -1;
            a[j] = c < k.columns ? conj_if(P.cj, L[place_of(k, i, c)]) : number<T>(0);
        }
        wait_for_all(x, where, h.mine);
#pragma unroll
        for (int j = 0; j < BATCH; j++) sum = sum + a[j] * x[j];
    }
    __syncwarp();
    for (int by = 1; by < lanes; by *= 2) sum = sum + from_lane(sum, by);
    if (part) {
        if (sub == 0) part[warp][i][0] = sum;
        __syncthreads();
        if (warp > 0) return;
        for (int w = 1; w < WARPS; w++) sum = sum + part[w][i][0];
    }
    b = b - sum;
    if (bad) b = narrow_substitute(P, k, M, b, i, lanes);
    else {
        sum = narrow_multiply(k, d, b, sub, lanes);
        for (int by = 1; by < lanes; by *= 2) sum = sum + from_lane(sum, by);
        b = sum;
    }
    if (in && sub == 0) {
        flag_store(h.mine + k.first + i, b);
        P.x(k.first + i, 0) = b;
    }
    for (int e = (int)threadIdx.x % WARP; e < k.rows * h.old; e += WARP)
        flag_clear(h.other + (int64_t)k.first * h.old + e);
}

/* x of right-hand side r, which is w, or v where it was substituted, to those who wait for it and to the caller; this
 * lane has rows group, group + 16 / EACH, ... */
template <int R, class T, int EACH>
__device__ inline void narrow_publish(T (&v)[EACH], const T (&w)[EACH], bool bad,
                                      const problem<T> &P, const here<T> &h, const narrow &k,
                                      int group, int r)
{
#pragma unroll
    for (int m = 0; m < EACH; m++) {
        const int i = group + m * (TRS_NARROW / EACH);
        if (i >= k.rows) continue;
        if (!bad) v[m] = w[m];
        flag_store(h.mine + (int64_t)(k.first + i) * R + r, v[m]);
        if (r < P.nrhs) P.x(k.first + i, r) = v[m];
    }
}

/* Columns from column on, as far as there are so many, of a lane's rows group, group + 16 / EACH, ...; 0 elsewhere. */
template <class T, int AHEAD, int EACH>
__device__ inline void narrow_load(T (&a)[AHEAD][EACH], const problem<T> &P, const narrow &k,
                                   const T *from, int column, int columns, int group)
{
#pragma unroll
    for (int z = 0; z < AHEAD; z++)
#pragma unroll
        for (int m = 0; m < EACH; m++) {
            const int i = group + m * (TRS_NARROW / EACH);
            a[z][m] = number<T>(0);
            if (i < k.rows && column + z < columns)
                a[z][m] = conj_if(P.cj, from[place_of(k, i, column + z)]);
        }
}

/* R right-hand sides: the lanes go over them, and over rows where there are more lanes. */
template <class T, int R>
static __device__ void solve_narrow_many(const problem<T> &P, int t, const here<T> &h,
                                         parts<T, R> part)
{
    const int warp = part ? (int)threadIdx.x / WARP : 0, warps = part ? (int)WARPS : 1;
    constexpr int ACROSS = R < WARP ? R : WARP, GROUPS = WARP / ACROSS, EACH = TRS_NARROW / GROUPS,
                  N = 4, AHEAD = EACH > 4 ? 1 : N; /* columns that there are registers for */
    const narrow k = P.thin[t];
    const bool bad = P.substituted[t];
    const T *M = P.store + k.inverse, *L = P.store + k.place; /* M is L_tt where that is bad */
    const int lane = (int)threadIdx.x % WARP, group = lane / ACROSS;
    for (int r = lane % ACROSS; r < R; r += ACROSS) {
        T a[AHEAD][EACH], v[EACH], w[EACH]; /* of rows group, group + GROUPS, ... */
#pragma unroll
        for (int m = 0; m < EACH; m++) {
            const int i = group + m * GROUPS;
            v[m] = i < k.rows && r < P.nrhs && warp == 0 ? P.b(k.first + i, r) : number<T>(0);
            w[m] = number<T>(0);
        }
        for (int c0 = warp * N; c0 < k.columns; c0 += warps * N) {
            int64_t where[N];
            T x[N];
#pragma unroll
            for (int j = 0; j < N; j++)
                where[j] = c0 + j < k.columns ? (int64_t)P.column[k.column + c0 + j] * R + r : -1;
            narrow_load(a, P, k, L, c0, k.columns, group);
            wait_for_all(x, where, h.mine);
#pragma unroll
            for (int j = 0; j < N; j++) {
                if (j > 0 && j % AHEAD == 0) narrow_load(a, P, k, L, c0 + j, k.columns, group);
#pragma unroll
                for (int m = 0; m < EACH; m++) v[m] = v[m] - a[j % AHEAD][m] * x[j];
            }
        }
        narrow_load(a, P, k, M, 0, k.rows, group);
        if (part) {
            for (int m = 0; m < EACH && warp > 0; m++) part[warp][group + m * GROUPS][r] = v[m];
            __syncthreads();
            if (warp > 0) continue;
            for (int m = 0; m < EACH; m++)
                for (int o = 1; o < WARPS; o++) v[m] = v[m] + part[o][group + m * GROUPS][r];
        }
        __syncwarp();
#pragma unroll
        for (int c = 0; c < TRS_NARROW; c++) { /* w = M v, or v = L_tt^-1 v, by columns */
            if (c >= k.rows) break;
            if (c > 0 && c % AHEAD == 0) narrow_load(a, P, k, M, c, k.rows, group);
            if (bad && group == c % GROUPS)
                v[c / GROUPS] = v[c / GROUPS] / a[c % AHEAD][c / GROUPS];
            const T x = of_lane(v[c / GROUPS], c % GROUPS * ACROSS + lane % ACROSS);
#pragma unroll
            for (int m = 0; m < EACH; m++) {
                const int i = group + m * GROUPS;
                const T ax = a[c % AHEAD][m] * x;
                if (i < c + bad) continue;
                if (bad) v[m] = v[m] - ax;
                else w[m] = w[m] + ax;
            }
        }
        narrow_publish<R>(v, w, bad, P, h, k, group, r);
    }
    for (int e = lane; e < k.rows * h.old && warp == 0; e += WARP)
        flag_clear(h.other + (int64_t)k.first * h.old + e);
}

template <class T, int R>
__device__ inline void solve_thin(const problem<T> &P, int t, const here<T> &h, parts<T, R> part)
{
    if constexpr (R == 1) solve_narrow<T>(P, t, h, part);
    else solve_narrow_many<T, R>(P, t, h, part);
}

#endif
