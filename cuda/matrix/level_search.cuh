/* level_search.cuh: the kernel that finds the level of every row.
 *
 * One lane a row, in order, 32 rows a warp; a row with many entries is done by the whole warp between the
 * others.  How a level becomes visible: it is its own flag, -1 before; among the rows of a warp by shuffles, so
 * that a chain of 32 rows costs one hop between SMs and not 32.  Why it cannot hang: warps are all resident
 * (cooperative launch) and take rows in order, cyclically; no lane keeps its warp from going on with the
 * others, so the first row that is not done can always be done.  When the rows done so far say that all of them
 * take much longer than the host would, because the triangle is deep, it gives up.
 * Bytes 4 nnz + 20 n, gathers of levels; bound by warps that wait for one another x one hop, and where the rows
 * of a level are far apart by how many rows are in hand at a time. */
#ifndef TRS_FIND_CUH
#define TRS_FIND_CUH

#include "cuda/runtime/cuda.cuh"
#include "cuda/runtime/delay.cuh"

#include <algorithm>

namespace find
{
enum { THREADS = PLAIN, WARP = 32, BATCH = 4, LONG = 64 /* entries */ };

/* Blocks of an SM.  With more of them, rows of one level that are far apart do not wait for a warp; but each row that
 * waits for others here and there polls as many sectors, and they hold one another up: then fewer. */
enum { PER_SM = 4, SCATTERED_PER_SM = 2 };

struct counts { /* all 0 at first */
    int done;   /* warps of rows, one in STEP of them */
    int late;   /* given up */
    int levels;
};

struct search {
    int32_t n;
    const int64_t *Lp;
    const int32_t *Li;
    const int64_t *end; /* [n] of what each row waits for; NULL: all up to the diagonal */
    int32_t *level;     /* [n] */
    double patience;    /* ns */
    counts *count;
    int32_t period; /* most rows wait for the one so many before; 0: scattered ones */
    int64_t warps;  /* that have rows: a warp has every so many-th 32 of them */
};

static __device__ inline int32_t peek(const int32_t *p)
{
    int32_t v;
    delay();
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

static __device__ inline void publish(int32_t *p, int32_t v)
{
    delay();
    asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

static __device__ inline unsigned long long now()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

/* The largest of all lanes. */
static __device__ inline int32_t largest(int32_t v)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(~0u, v);
#else
    for (int by = WARP / 2; by > 0; by /= 2) v = max(v, __shfl_xor_sync(~0u, v, by));
    return v;
#endif
}

/* The bits that any lane has. */
static __device__ inline unsigned union_of(unsigned v)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(~0u, v);
#else
    for (int by = WARP / 2; by > 0; by /= 2) v |= __shfl_xor_sync(~0u, v, by);
    return v;
#endif
}

/* ---- entries ------------------------------------------------------------------------------------ */

/* The entries of a row that a lane sees to: p, p + STRIDE, ...  In order, since the first ones are likely to be
 * there while the last are waited for. */
template <int STRIDE> struct lookout {
    int64_t p, end;
    int32_t column[BATCH];
    int32_t highest; /* level seen */
    unsigned waiting;
    unsigned within; /* lanes of this warp whose rows it needs; of a row of one lane */

    __device__ bool more() const { return p < end; }
    __device__ void load(const int32_t *Li, int32_t first)
    {
        waiting = 0;
#pragma unroll
        for (int j = 0; j < BATCH; j++) {
            if (p + j * STRIDE >= end) continue;
            column[j] = Li[p + j * STRIDE];
            if (STRIDE == 1 && column[j] >= first) within |= 1u << (column[j] - first);
            else waiting |= 1u << j;
        }
        p += BATCH * STRIDE;
    }
    __device__ void start(const int32_t *Li, int32_t first, int64_t from, int64_t to)
    {
        p = from;
        end = to;
        highest = -1;
        within = 0;
        load(Li, first);
    }
    /* Is there one more? */
    __device__ bool poll(const int32_t *level)
    {
        const unsigned before = waiting;
        int32_t v[BATCH];
#pragma unroll
        for (int j = 0; j < BATCH; j++) v[j] = waiting >> j & 1 ? peek(level + column[j]) : -1;
#pragma unroll
        for (int j = 0; j < BATCH; j++)
            if (v[j] >= 0) {
                highest = max(highest, v[j]);
                waiting &= ~(1u << j);
            }
        return waiting != before;
    }
};

/* ---- rows of a warp that wait for one another ------------------------------------------------- */

/* None waits for another than the one before it: level = highest + 1 is, along a run of such rows, the
 * largest of highest of k + distance to k + 1, by doubling. */
static __device__ void settle_runs(lookout<1> &row, bool complete)
{
    const int lane = threadIdx.x % WARP;
    const unsigned upto = (2u << lane) - 1;
    const unsigned starts = ~__ballot_sync(~0u, row.within != 0);
    const unsigned open = __ballot_sync(~0u, !complete);
    const int start = 31 - __clz((int)(starts & upto));
    int32_t v = row.highest - lane;
#pragma unroll
    for (int by = 1; by < WARP; by *= 2) {
        const int32_t before = __shfl_up_sync(~0u, v, by);
        if (lane - by >= start) v = max(v, before);
    }
    if (open & upto & (~0u << start)) return;
    row.highest = v + lane;
    row.within = 0;
}

/* One after the other, in order. */
static __device__ void settle_any(lookout<1> &row, bool complete)
{
    for (unsigned left = union_of(row.within); left; left &= left - 1) {
        const int k = __ffs((int)left) - 1;
        const int32_t mine = complete && !row.within ? row.highest + 1 : -1;
        const int32_t level = __shfl_sync(~0u, mine, k);
        if (!(row.within >> k & 1) || level < 0) continue;
        row.highest = max(row.highest, level);
        row.within &= ~(1u << k);
    }
}

/* complete: all that comes from other warps was seen. */
static __device__ void settle(lookout<1> &row, bool complete)
{
    const unsigned before = 1u << threadIdx.x % WARP >> 1;
    if (!__any_sync(~0u, complete && row.within)) return;
    if (__all_sync(~0u, !(row.within & ~before))) settle_runs(row, complete);
    else settle_any(row, complete);
}

/* ---- the rows of a warp ------------------------------------------------------------------------------ */

struct crew { /* a warp with 32 rows, as one of its lanes sees it */
    const search &s;
    int32_t first;
    int64_t begin, end; /* of the lane's row */
    lookout<1> row;
    lookout<WARP> shared; /* the lane's part of the long row in hand, that of lane owner */
    bool open, complete;  /* not published; all that comes from other warps was seen */
    unsigned longs;       /* lanes with long rows that are not done */
    int owner;            /* -1: none */

    __device__ crew(const search &all, int32_t from)
        : s(all), first(from), complete(false), owner(-1)
    {
        const int64_t i = (int64_t)first + threadIdx.x % WARP;
        const bool is_row = i < s.n;
        begin = is_row ? s.Lp[i] : 0;
        end = !is_row ? 0 : s.end ? s.end[i] : s.Lp[i + 1] - 1;
        const bool is_long = end - begin > LONG;
        longs = __ballot_sync(~0u, is_long);
        open = is_row && !is_long;
        row.start(s.Li, first, begin, open ? end : begin);
    }

    /* These say whether there was something new. */
    __device__ bool look()
    {
        if (!open || complete) return false;
        const bool news = row.waiting && row.poll(s.level);
        if (row.waiting) return news;
        if (row.more()) row.load(s.Li, first);
        else complete = true;
        return true;
    }

    __device__ bool look_at_long()
    {
        const int lane = threadIdx.x % WARP;
        if (!longs) return false;
        if (owner < 0) {
            owner = __ffs((int)longs) - 1;
            const int64_t from = __shfl_sync(~0u, begin, owner) + lane;
            shared.start(s.Li, first, from, __shfl_sync(~0u, end, owner));
        }
        const bool news = shared.waiting && shared.poll(s.level);
        if (__any_sync(~0u, shared.waiting)) return news;
        if (__any_sync(~0u, shared.more())) {
            shared.load(s.Li, first);
            return true;
        }
        const int32_t highest = largest(shared.highest);
        if (lane == owner) {
            row.highest = highest;
            complete = true;
            publish(s.level + first + lane, highest + 1);
        }
        longs &= longs - 1;
        owner = -1;
        return true;
    }

    __device__ void tell()
    {
        settle(row, complete);
        if (!open || !complete || row.within) return;
        publish(s.level + first + threadIdx.x % WARP, row.highest + 1);
        open = false;
    }

    __device__ bool is_busy() const { return __any_sync(~0u, open) || longs; }
};

/* ---- all rows -------------------------------------------------------------------------------------------- */

enum { ROUNDS = 64, STEP = 8 };
static const double EARLIEST = 1.5e6, SURE = 6e6; /* ns */

/* As far as the rows done so far tell, which is the less the earlier: the first ones of many triangles are deeper
 * than the others, or get going slowly. */
static __device__ bool is_hopeless(const search &s, unsigned long long begin)
{
    const double spent = (double)(now() - begin), all = (double)s.n / (WARP * STEP);
    const double doubt = spent < SURE ? SURE / spent : 1;
    return peek(&s.count->late) ||
           (spent > EARLIEST && spent * all > s.patience * doubt * (1 + peek(&s.count->done)));
}

/* The number of levels up to these rows; 0: given up. */
static __device__ int32_t do_rows(const search &s, int32_t first, unsigned long long begin)
{
    crew c(s, first);
    for (int round = 1; c.is_busy(); round++) {
        const bool news = c.look(), others = c.look_at_long();
        if (__any_sync(~0u, news || others)) c.tell();
        if (round % ROUNDS == 0 && __any_sync(~0u, is_hopeless(s, begin))) return 0;
    }
    if (threadIdx.x % WARP == 0 && first / WARP % STEP == 0) atomicAdd(&s.count->done, 1);
    return largest(c.complete ? c.row.highest + 2 : 0);
}

static __global__ void __launch_bounds__(THREADS, PER_SM) find_kernel(const search s)
{
    const unsigned long long begin = now();
    const int64_t first = (threadIdx.x / WARP) * (int64_t)gridDim.x + blockIdx.x;
    int32_t levels = 0;
    if (first >= s.warps) return;
    /* neighbours go to different SMs */
    for (int64_t t = first; t * WARP < s.n; t += s.warps) {
        const int32_t here = do_rows(s, (int32_t)(t * WARP), begin);
        if (here == 0) {
            s.count->late = 1;
            return;
        }
        levels = max(levels, here);
    }
    if (threadIdx.x % WARP == 0) atomicMax(&s.count->levels, levels);
}

/* ---- who has which rows ---------------------------------------------------------------------------------- */

enum { SAMPLES = 256 };

/* How far before their diagonals the farthest entries of some rows are, as an average: of grids, the points around that
 * of the plane before. */
static __global__ void __launch_bounds__(SAMPLES) reach_kernel(const search s, int32_t *reach)
{
    const int64_t i = (2 * (int64_t)threadIdx.x + 1) * s.n / (2 * SAMPLES);
    const int64_t begin = s.Lp[i], end = min(s.Lp[i + 1] - 1, begin + LONG);
    int64_t sum = 0, count = 0, farthest = 0;
    for (int64_t p = begin; p < end; p++) {
        const int64_t distance = i - s.Li[p];
        if (count == 0) farthest = distance;
        if (4 * distance < 3 * farthest) break;
        sum += distance;
        count++;
    }
    reach[threadIdx.x] = count ? (int32_t)((sum + count / 2) / count) : 0;
}

/* The reach of most of them; 0: there is none. */
static inline int32_t period_of(int32_t (&reach)[SAMPLES])
{
    std::sort(reach, reach + SAMPLES);
    const int32_t middle = reach[SAMPLES / 2];
    return std::count(reach, reach + SAMPLES, middle) >= SAMPLES / 2 ? middle : 0;
}

/* The rows that a warp has next wait for much the same as those it has just done when they are some periods later; were
 * they a part of a period off, they, or those of other warps, would come much too early, and hold up all that wait for
 * the ones between.  One less, for the rows behind the first of a period should not have to wait for the last. */
static inline int64_t warps_in_step(int64_t warps, int64_t period)
{
    const int64_t periods = period > 0 ? warps * WARP / period : 0;
    const int64_t some = periods * period / WARP - 1;
    return some > 0 ? some : warps;
}

static inline bool is_all_in_hand(const search &all)
{
    return all.n <= (int64_t)SCATTERED_PER_SM * multiprocessors() * THREADS;
}

/* all.level is -1 everywhere. */
static inline cudaError_t launch(search all)
{
    const double rows = (all.n + (double)THREADS - 1) / (int)THREADS;
    const int per_sm = all.period ? PER_SM : SCATTERED_PER_SM;
    const double most = min((double)per_sm * multiprocessors(), max(rows, 1.0));
    const int blocks = waiting_blocks((const void *)find_kernel, THREADS, 0, most);
    all.warps = warps_in_step((int64_t)blocks * (THREADS / WARP), all.period);
    void *args[] = {&all};
    return cudaLaunchCooperativeKernel((const void *)find_kernel, dim3((unsigned)blocks),
                                       dim3(THREADS), args, 0, NULL);
}
} // namespace find

#endif
