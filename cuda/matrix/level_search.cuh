/* level_search.cuh: the kernel that finds the level of every row.
 *
 *     level(i) = 1 + max { level(j) : L(i, j) is an entry, j < i },   0 if there are none
 *
 * A lane has a row, a warp 32 consecutive ones, and warps take them in order; the whole warp polls for a row with
 * many entries, between the others.
 * How a level becomes visible: level [i] is its own flag, -1 before.  Nothing else is published with it, so
 * relaxed loads and stores suffice.  Shuffles pass levels between the rows of a warp, so a chain of 32 rows
 * costs one dependency latency between SMs and not 32.
 * Why it cannot hang: all warps are resident (cooperative launch), each takes rows in order, cyclically, and
 * a waiting lane never keeps its warp from polling for the other lanes.  So some warp is always at the first
 * row without a level; everything that the row needs is published, and it gets its level.
 * When it gives up: a deep triangle takes levels x a latency, while the host makes one pass over the
 * entries.  When the rows done so far show that the search would take much longer than the host, it ends.
 * Bytes: 4 nnz + 20 n, and a gather of a level for each entry.  Bound by rows that wait for one another x a
 * latency, and, where the rows of a level are far apart, by the number of rows that are polled at a time. */
#ifndef TRS_LEVEL_SEARCH_CUH
#define TRS_LEVEL_SEARCH_CUH

#include "base/debug.h"
#include "cuda/runtime/flag.cuh"

#include <algorithm>

namespace level_search
{
enum { THREADS = PLAIN, WARP = 32, BATCH = 4, LONG = 64 /* entries */ };

/* Blocks of an SM.  The more there are, the farther apart rows of one level may be and still be watched at the same
 * time.  But where a row needs rows that are scattered, each warp polls as many sectors of memory as it has entries,
 * and too many warps hold up one another: then fewer are better. */
enum { PER_SM = 4, SCATTERED_PER_SM = 2 };

struct counts {      /* on the device, all 0 at first */
    int groups_done; /* groups of 32 rows, counted for one in STEP of them */
    int gave_up;     /* 1: the host would be faster */
    int levels;
    int longest; /* entries of the longest row */
};

struct search {
    int32_t n;
    const int64_t *Lp;
    const int32_t *Li;
    const int64_t *end; /* [n] of what each row waits for; NULL: all up to the diagonal */
    int32_t *level;     /* [n] */
    double host_ns;     /* what the host would take */
    counts *count;
    /* most rows need one that is so many rows before; 0: what rows need is scattered */
    int32_t period;
    int64_t warps; /* that have rows: warp w has groups w, w + warps, ... of 32 rows */
};

static __device__ inline unsigned long long now()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

/* The maximum over the lanes of the warp. */
static __device__ inline int32_t largest(int32_t v)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(~0u, v);
#else
    for (int by = WARP / 2; by > 0; by /= 2) v = max(v, __shfl_xor_sync(~0u, v, by));
    return v;
#endif
}

/* The bits that any lane of the warp has. */
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

/* The entries p, p + STRIDE, ... of a row, which a lane watches until their levels are there, BATCH at a time.  They are
 * taken in order: the rows of the first ones are likely to be done while those of the last are waited for. */
template <int STRIDE> struct watch {
    int64_t p, end; /* entries that are not loaded yet */
    int32_t column[BATCH];
    int32_t highest;  /* level seen */
    unsigned waiting; /* a bit for each entry of the batch whose level is not there */
    unsigned within;  /* lanes of this warp whose rows the row needs; STRIDE is 1 */

    __device__ bool has_more() const { return p < end; }
    __device__ void load(const int32_t *Li, int32_t first)
    {
        waiting = 0;
#pragma unroll
        for (int j = 0; j < BATCH; j++) {
            if (p + j * STRIDE >= end) continue;
            column[j] = Li[p + j * STRIDE];
            TRS_ASSERT(column[j] >= 0 && column[j] < first + WARP);
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
    /* Has another level come? */
    __device__ bool poll(const int32_t *level)
    {
        const unsigned before = waiting;
        int32_t v[BATCH];
#pragma unroll
        for (int j = 0; j < BATCH; j++) v[j] = waiting >> j & 1 ? int_peek(level + column[j]) : -1;
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

/* Where no row of the warp needs another of it but the one before, the rows form chains, lanes start to end of each.
 * With h(k) the highest level that row k has seen in other warps,
 *
 *     level(k) = max { h(m) + 1 + (k - m) : start <= m <= k },
 *
 * a prefix maximum of h(m) - m, which doubling makes in five steps. */
static __device__ void resolve_chains(watch<1> &row, bool complete)
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

/* In general: one row after the other, in order. */
static __device__ void resolve_in_order(watch<1> &row, bool complete)
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

/* Hands levels on among the rows of a warp; complete: the lane's row has seen all that comes from other warps. */
static __device__ void resolve_within(watch<1> &row, bool complete)
{
    const unsigned before = 1u << threadIdx.x % WARP >> 1;
    if (!__any_sync(~0u, complete && row.within)) return;
    if (__all_sync(~0u, !(row.within & ~before))) resolve_chains(row, complete);
    else resolve_in_order(row, complete);
}

/* ---- the rows of a warp ------------------------------------------------------------------------------ */

/* Behind the last entry that row i waits for. */
static __device__ inline int64_t end_of(const search &s, int64_t i)
{
    return s.end ? s.end[i] : s.Lp[i + 1] - 1;
}

/* 32 consecutive rows, as a lane of the warp that has them sees it.  A row is long when it has more than LONG entries;
 * long rows are watched by all lanes, one after the other. */
struct warp_rows {
    const search &s;
    int32_t first;
    int64_t begin, end; /* of the lane's row */
    watch<1> row;
    watch<WARP> of_long; /* the lane's part of the long row of long_lane */
    bool open;           /* the lane's row is not long, and its level is not published */
    bool complete;       /* the row has seen all that comes from other warps */
    unsigned long_lanes; /* lanes with long rows that are not done */
    int long_lane;       /* whose long row is watched now; -1: none */

    __device__ warp_rows(const search &all, int32_t from)
        : s(all), first(from), complete(false), long_lane(-1)
    {
        const int64_t i = (int64_t)first + threadIdx.x % WARP;
        const bool is_row = i < s.n;
        begin = is_row ? s.Lp[i] : 0;
        end = is_row ? end_of(s, i) : 0;
        const bool is_long = end - begin > LONG;
        long_lanes = __ballot_sync(~0u, is_long);
        open = is_row && !is_long;
        row.start(s.Li, first, begin, open ? end : begin);
    }

    /* These two say whether there was something new. */
    __device__ bool poll_row()
    {
        if (!open || complete) return false;
        const bool news = row.waiting && row.poll(s.level);
        if (row.waiting) return news;
        if (row.has_more()) row.load(s.Li, first);
        else complete = true;
        return true;
    }

    __device__ bool poll_long_row()
    {
        const int lane = threadIdx.x % WARP;
        if (!long_lanes) return false;
        if (long_lane < 0) {
            long_lane = __ffs((int)long_lanes) - 1;
            const int64_t from = __shfl_sync(~0u, begin, long_lane) + lane;
            of_long.start(s.Li, first, from, __shfl_sync(~0u, end, long_lane));
        }
        const bool news = of_long.waiting && of_long.poll(s.level);
        if (__any_sync(~0u, of_long.waiting)) return news;
        if (__any_sync(~0u, of_long.has_more())) {
            of_long.load(s.Li, first);
            return true;
        }
        const int32_t highest = largest(of_long.highest);
        if (lane == long_lane) {
            TRS_ASSERT(highest <
                       first + lane); /* each level up to that has a row before this one */
            row.highest = highest;
            complete = true;
            int_store(s.level + first + lane, highest + 1);
        }
        long_lanes &= long_lanes - 1;
        long_lane = -1;
        return true;
    }

    __device__ void publish_complete_rows()
    {
        resolve_within(row, complete);
        if (!open || !complete || row.within) return;
        TRS_ASSERT(row.highest < first + (int)(threadIdx.x % WARP));
        int_store(s.level + first + threadIdx.x % WARP, row.highest + 1);
        open = false;
    }

    __device__ bool is_busy() const { return __any_sync(~0u, open) || long_lanes; }
};

/* ---- all rows -------------------------------------------------------------------------------------------- */

enum { ROUNDS = 64 /* of polling, between two looks at the clock */, STEP = 8 };
static const double EARLIEST = 1.5e6, SURE = 6e6; /* ns */

/* All rows are predicted to take spent x all / done, which has to be less than what the host takes.  Before SURE the host
 * gets SURE / spent times as long, for the first rows of many triangles are deeper than the others, or wait for loads
 * that later rows find in the cache; before EARLIEST nothing is predicted. */
static __device__ bool is_hopeless(const search &s, unsigned long long begin)
{
    const double spent = (double)(now() - begin), all = (double)s.n / (WARP * STEP);
    const double margin = spent < SURE ? SURE / spent : 1;
    return int_peek(&s.count->gave_up) ||
           (spent > EARLIEST &&
            spent * all > s.host_ns * margin * (1 + int_peek(&s.count->groups_done)));
}

/* By a warp: finds the levels of 32 rows, and returns the number of levels up to these; 0: it has given up. */
static __device__ int32_t find_levels(const search &s, int32_t first, unsigned long long begin)
{
    warp_rows c(s, first);
    for (int round = 1; c.is_busy(); round++) {
        const bool news = c.poll_row(), of_long = c.poll_long_row();
        if (__any_sync(~0u, news || of_long)) c.publish_complete_rows();
        if (round % ROUNDS == 0 && __any_sync(~0u, is_hopeless(s, begin))) return 0;
    }
    if (threadIdx.x % WARP == 0 && first / WARP % STEP == 0) atomicAdd(&s.count->groups_done, 1);
    return largest(c.complete ? c.row.highest + 2 : 0);
}

static __device__ inline int32_t length_of(const search &s, int64_t i)
{
    return i < s.n ? (int32_t)(s.Lp[i + 1] - s.Lp[i]) : 0;
}

static __global__ void __launch_bounds__(THREADS, PER_SM) find_kernel(const search s)
{
    const unsigned long long begin = now();
    const int64_t first = (threadIdx.x / WARP) * (int64_t)gridDim.x + blockIdx.x;
    int32_t levels = 0, longest = 0;
    if (first >= s.warps) return;
    /* neighbouring groups go to different SMs, where they are polled by different schedulers */
    for (int64_t t = first; t * WARP < s.n; t += s.warps) {
        const int32_t here = find_levels(s, (int32_t)(t * WARP), begin);
        if (here == 0) {
            s.count->gave_up = 1;
            return;
        }
        levels = max(levels, here);
        longest = max(longest, length_of(s, t * WARP + threadIdx.x % WARP));
    }
    longest = largest(longest);
    if (threadIdx.x % WARP) return;
    atomicMax(&s.count->levels, levels);
    atomicMax(&s.count->longest, longest);
}

/* ---- who has which rows ---------------------------------------------------------------------------------- */

enum { SAMPLES = 256 };

/* How far before the diagonal the farthest entries of some rows are: the mean distance of those at least 3/4 as far as
 * the first entry.  In a grid these are the neighbours in the plane before. */
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

/* The reach that half of the samples have or more; 0: there is none. */
static inline int32_t period_of(int32_t (&reach)[SAMPLES])
{
    std::sort(reach, reach + SAMPLES);
    const int32_t middle = reach[SAMPLES / 2];
    return std::count(reach, reach + SAMPLES, middle) >= SAMPLES / 2 ? middle : 0;
}

/* How many warps have rows, of those that there are.  Let rows need what is one period before them, as the planes of a
 * grid do.  Then it is best if a warp's next rows are a whole number of periods behind its last ones: what they need is
 * about to come.  If they were a part of a period off, the warp, or another one, would have rows that can only be done
 * much later, and while it waits for those nobody has the rows in between, which all others wait for.  One warp fewer,
 * because the rows behind the first of a period should not have to wait for the last. */
static inline int64_t warps_in_step(int64_t warps, int64_t period)
{
    const int64_t periods = period > 0 ? warps * WARP / period : 0;
    const int64_t some = periods * period / WARP - 1;
    return some > 0 ? some : warps;
}

/* Can all rows be watched at the same time? */
static inline bool fits_at_once(const search &all)
{
    return all.n <= (int64_t)SCATTERED_PER_SM * multiprocessors() * THREADS;
}

/* all.level is -1 everywhere. */
static inline int launch(search all)
{
    const double rows = (all.n + (double)THREADS - 1) / (int)THREADS;
    const int per_sm = all.period ? PER_SM : SCATTERED_PER_SM;
    const double most = min((double)per_sm * multiprocessors(), max(rows, 1.0));
    const int blocks = waiting_blocks((const void *)find_kernel, THREADS, 0, most);
    all.warps = warps_in_step((int64_t)blocks * (THREADS / WARP), all.period);
    return launch_together((const void *)find_kernel, blocks, THREADS, all, NULL);
}
} // namespace level_search

#endif
