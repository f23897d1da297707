/* solve_kernel.cuh: both triangles of factors by blocks, in one launch.
 *
 *     y (i) = b (i) - sum of l (i, k) y (k)               x (i) = d (i)^-1 (y (i) - sum of u (i, k) x (k))
 *
 * and as block_end says for others.
 *
 * Who computes a row: a team of lanes.  Lane (slot, r) has number r of the row, and the blocks slot, slot + SLOTS, ... of it, of
 * which it reads row r.  It looks for number r of x(k), and gets the others of its block from its neighbours by shuffles.  The
 * sums of the slots are added by shuffles, in an order that depends on the pattern alone.  d(i)^-1 is stored, so no division is in
 * the chain.
 *
 * How x becomes visible: each number is its own flag (runtime/flag.cuh); all bits of y are set before the launch.  While a team
 * waits for the blocks of one round, it has loaded those of the next, and looks for their x, too.
 *
 * Why it cannot hang: the launch is cooperative, so all warps are resident, and warp w of W takes the tasks w, w + W, ... in
 * order.  The teams of a warp wait together, but the rows of a task are of one level, and need rows of earlier tasks only: of
 * lower levels, or, in the second sweep, of the first.  Of the first task that is not published, all that its rows need is there,
 * so its warp goes through its rounds, and publishes.
 *
 * Bytes: 4 + b^2 numbers a block, once.  Bound by the latency of a level where levels are narrow, else by bandwidth. */
#ifndef TRS_BLOCK_SOLVE_KERNEL_CUH
#define TRS_BLOCK_SOLVE_KERNEL_CUH

#include "kernels.cuh"
#include "cuda/runtime/flag.cuh"

/* A row of blocks in one triangle; i = -1: none. */
struct block_row {
    int32_t i;
    int64_t begin, end;
};

template <class T, int TEAM>
__device__ inline block_row row_of_task(const solve_args<T> &k, int64_t t)
{
    block_row w = {-1, 0, 0};
    if (t < k.tasks) w.i = k.order[t * (WARP / TEAM) + threadIdx.x % WARP / TEAM];
    if (w.i < 0) return w;
    const int64_t *begin = k.begin[t >= k.lower_tasks];
    w.begin = begin[w.i];
    w.end = begin[w.i + 1];
    return w;
}

/* What a lane has of one block: row r of it, and number r of its x. */
template <class T, int B> struct block_part {
    T a[B], v;
    const T *at; /* of v */
    bool waits;  /* v is not there yet */

    __device__ void load(const solve_args<T> &k, const T *y, int64_t p, int64_t end, int r)
    {
        waits = p < end;
        v = number<T>(0);
        at = y;
        if (waits) at = y + (int64_t)k.idx[p] * B + r;
#pragma unroll
        for (int c = 0; c < B; c++) a[c] = waits ? k.val[p * (B * B) + c * B + r] : number<T>(0);
    }
    __device__ T look() const
    {
        return waits ? flag_peek(at) : flag_unset<T>();
    }
    __device__ void take(T seen)
    {
        if (!waits || !flag_there(seen)) return;
        v = seen;
        waits = false;
    }
};

/* The team's sum of - a y over the blocks of its row, in the lanes of slot 0. */
template <class T, int B, int TEAM>
__device__ inline T sum_of_row(const solve_args<T> &k, const T *y, const block_row &w)
{
    constexpr int SLOTS = TEAM / B;
    const int lane = (int)(threadIdx.x % TEAM), slot = lane / B, r = lane % B;
    const int64_t end = slot < SLOTS ? w.end : w.begin;
    int rounds = (int)((w.end - w.begin + SLOTS - 1) / SLOTS);
    for (int by = TEAM; by < WARP; by *= 2) rounds = max(rounds, __shfl_xor_sync(~0u, rounds, by));
    block_part<T, B> part, next;
    T sum = number<T>(0);
    part.load(k, y, w.begin + slot, end, r);
    for (int q = 1; q <= rounds; q++) {
        next.load(k, y, w.begin + q * SLOTS + slot, end, r);
        while (__any_sync(~0u, part.waits)) {
            const T now = part.look(), then = next.look();
            part.take(now);
            next.take(then);
        }
#pragma unroll
        for (int c = 0; c < B; c++) sum = sum - part.a[c] * shuffle(part.v, slot * B + c, TEAM);
        part = next;
    }
#pragma unroll
    for (int half = TEAM / 2; half > 0; half /= 2) {
        if (half >= SLOTS) continue;
        const T other = shuffle_down(sum, half * B, TEAM);
        if (slot + half < SLOTS) sum = sum + other;
    }
    return sum;
}

/* Row r of d times the numbers that lanes 0 .. B-1 of the team have. */
template <class T, int B, int TEAM> __device__ inline T scaled(const T (&d)[B], T v)
{
    T sum = number<T>(0);
#pragma unroll
    for (int c = 0; c < B; c++) sum = sum + d[c] * shuffle(v, c, TEAM);
    return sum;
}

template <class T, int B, int TEAM>
__device__ inline void solve_row(const solve_args<T> &k, int upper, const block_row &w)
{
    const int r = (int)(threadIdx.x % TEAM);
    const bool mine = r < B && w.i >= 0;
    const int64_t at = (int64_t)w.i * B + r;
    const T *d = k.val + (k.begin[0][k.n] + w.i) * (B * B);
    T own[B], b = number<T>(0);
#pragma unroll
    for (int c = 0; c < B; c++) own[c] = mine ? d[c * B + r] : number<T>(0);
    if (mine) b = upper ? flag_peek(k.y[0] + at) : conj_if(k.conj, k.b(at, 0));
    T x = sum_of_row<T, B, TEAM>(k, k.y[upper], w);
    if (mine && upper && !flag_there(b)) b = flag_wait(k.y[0] + at);
    __syncwarp();
    if (k.end[upper] != END_ADD) x = b + x;
    if (k.end[upper] != END_PLAIN) x = scaled<T, B, TEAM>(own, x);
    if (k.end[upper] == END_ADD) x = b + x;
    if (!mine) return;
    TRS_ASSERT(!flag_there(flag_peek(k.y[upper] + at)));
    flag_store(k.y[upper] + at, x);
    if (upper) k.x(at, 0) = conj_if(k.conj, x);
}

template <class T, int B, int TEAM>
static __global__ void __launch_bounds__(SOLVE_THREADS) block_solve_kernel(const solve_args<T> k)
{
    const int64_t warps = (int64_t)gridDim.x * (SOLVE_THREADS / WARP);
    /* neighbouring tasks go to different multiprocessors, which then share the work of a level */
    int64_t t = (threadIdx.x / WARP) * (int64_t)gridDim.x + blockIdx.x;
    block_row next = row_of_task<T, TEAM>(k, t);
    for (; t < k.tasks; t += warps) {
        const block_row row = next;
        next = row_of_task<T, TEAM>(k, t + warps);
        solve_row<T, B, TEAM>(k, t >= k.lower_tasks, row);
    }
}

#endif
