/* merge_short.cuh: short rows expanded into their terms in shared memory, as many at a time as fit for a warp.
 *
 * A warp has 32 rows of T, one a lane, and takes batches of them with at most ENTRIES entries together.  For each
 * entry it finds out whether a row is substituted for it.  Then, for those rows of the batch that have at most TERMS
 * terms together, it finds the column of each term, and by a hash table the terms that are the first of their column
 * in their row.
 *
 *     row i of T       (i, k)    (i, j)       (i, m)        j is in the level before that of i,
 *                         |     /   |   \        |          and row j of T has columns k, p, q and j
 *     terms of row i   (i, k) (j, k) (j, p) (j, q) (i, m)   in this order
 *     columns of T'       k     .      p      q      m      the second term of column k is added to the first
 *
 * A row has 3 to 30 entries, which refer to random places: one row alone would be a chain of four loads (entry, level
 * of its column, pointers of that row, columns there).  Here the loads of many rows overlap, one kind after the
 * other, and all lanes are busy whatever the lengths of the rows.  Columns are in the order of their first terms, and
 * terms are added in their order, so the result does not depend on which lane reached the table first. */
#ifndef TRS_MERGE_SHORT_CUH
#define TRS_MERGE_SHORT_CUH

#include "merge.cuh"

namespace short_rows
{
enum {
    WARP = 32,
    THREADS = 2 * WARP, /* of a block: shared memory is what limits how many there are */
    ENTRIES = 192,
    TERMS = 256,
    TABLE = 512,
    AHEAD = 4,        /* loads of a lane that are under way together */
    NONE = INT32_MAX, /* a free place of the table */
    TOO_LONG = -1,    /* instead of a number of substituted rows */
};
static_assert((int)ENTRIES >= (int)MERGE_SHORT_TERMS && (int)TERMS >= (int)MERGE_SHORT_TERMS &&
                  ENTRIES <= 256 && TABLE >= 2 * TERMS,
              "a row fits, an entry's number fits into a byte, the table is half empty");

/* A number of terms and a number of substituted rows are summed up together in one number: terms + SUBSTITUTED rows. */
enum { SUBSTITUTED = 1 << 20 };

/* Shared memory of a warp.  Entries are numbered through the batch, terms through those rows of it that are expanded
 * together. */
struct warp_memory {
    /* place in T of the first entry of the row that is substituted for the entry; of an entry that is a term itself:
     * ~ its own place */
    int64_t source[ENTRIES];
    int32_t column[ENTRIES];
    uint32_t before[ENTRIES + 1]; /* terms + SUBSTITUTED rows of all entries before it */
    uint8_t lane[ENTRIES];        /* that has the row of the entry */
    uint8_t entry[TERMS];         /* that the term comes from */
    uint16_t bucket[TERMS];       /* of the table, where the column of the term is */
    int32_t term_column[TERMS];
    int32_t table[TABLE];               /* the first term of a row and column, or NONE */
    uint32_t leading[TERMS / WARP + 1]; /* a bit a term: is it the first of its column? */
    int32_t rank[TERMS / WARP + 1];     /* how many are before these 32 terms */
    int32_t shift[WARP];    /* of a lane's row: number of a term less what before [] counts there */
    int64_t to_shift[WARP]; /* of a lane's row: place in T' less rank */
    int64_t n_shift[WARP];  /* of a lane's row: place in N less substituted rows before */
};

struct row_of_t {
    int64_t begin;
    int32_t length; /* without the diagonal */
    int32_t level;
};

/* Some rows of the warp; start and end are of the lane's own row, if it is among them. */
struct row_batch {
    unsigned lanes;
    int32_t start, end; /* of its entries, or terms, in the batch */
    int32_t count;      /* entries, or terms, of the batch */
};

struct row_counts { /* of the row of a lane */
    int32_t substituted, terms, columns;
    int32_t first_term;
};

static __device__ inline int lane_id()
{
    return (int)(threadIdx.x % WARP);
}

static __device__ inline bool has_lane(unsigned lanes)
{
    return lanes >> lane_id() & 1;
}

template <class V> static __device__ inline V sum_up_to_lane(V v)
{
    for (int by = 1; by < WARP; by *= 2) {
        const V before = __shfl_up_sync(~0u, v, by);
        if (lane_id() >= by) v += before;
    }
    return v;
}

/* The first of the lanes left whose counts come to at most most together; count is of the lane's row. */
static __device__ inline row_batch next_batch(unsigned left, int32_t count, int32_t most)
{
    const bool is_left = left >> lane_id() & 1;
    const int32_t mine = is_left ? count : 0, end = sum_up_to_lane(mine);
    const unsigned lanes = __ballot_sync(~0u, is_left && end <= most);
    TRS_ASSERT(lanes != 0); /* each row fits by itself, so there is progress */
    return {lanes, end - mine, end, __shfl_sync(~0u, end, 31 - __clz((int)lanes))};
}

/* w.lane of the entries of the batch. */
static __device__ inline void assign_entries(const row_batch &b, warp_memory &w)
{
    TRS_ASSERT(b.count <= ENTRIES);
    if (has_lane(b.lanes))
        for (int32_t e = b.start; e < b.end; e++) w.lane[e] = (uint8_t)lane_id();
    __syncwarp();
}

/* ---- rows that are copied ---------------------------------------------------------------------- */

template <class V, class From>
static __device__ inline void copy_batch(const row_batch &b, From from, V *to, int64_t begin,
                                         int64_t target, warp_memory &w)
{
    assign_entries(b, w);
    for (int32_t first = 0; first < b.count; first += AHEAD * WARP) {
        V some[AHEAD];
        int64_t place[AHEAD];
#pragma unroll
        for (int q = 0; q < AHEAD; q++) {
            const int32_t e = first + q * WARP + lane_id();
            const int k = e < b.count ? w.lane[e] : 0;
            const int64_t p = __shfl_sync(~0u, begin - b.start, k) + e;
            place[q] = __shfl_sync(~0u, target - b.start, k) + e;
            if (e < b.count) some[q] = from[p];
        }
#pragma unroll
        for (int q = 0; q < AHEAD; q++)
            if (first + q * WARP + lane_id() < b.count) to[place[q]] = some[q];
    }
    __syncwarp();
}

/* By a warp, for each lane that wants it: to [target], ... = from [begin], ..., count of them.  from is an array, or
 * whatever has numbered elements. */
template <class V, class From>
static __device__ inline void copy_rows(From from, V *to, int64_t begin, int64_t target,
                                        int64_t count, bool wanted, warp_memory &w)
{
    unsigned left = __ballot_sync(~0u, wanted && count <= ENTRIES);
    unsigned longer = __ballot_sync(~0u, wanted && count > ENTRIES);
    while (left) {
        const row_batch b = next_batch(left, (int32_t)count, ENTRIES);
        copy_batch(b, from, to, begin, target, w);
        left &= ~b.lanes;
    }
    for (; longer; longer &= longer - 1) {
        const int k = __ffs((int)longer) - 1;
        const int64_t p = __shfl_sync(~0u, begin, k), q = __shfl_sync(~0u, target, k);
        const int64_t some = __shfl_sync(~0u, count, k);
        for (int64_t a = lane_id(); a < some; a += WARP) to[q + a] = from[p + a];
    }
}

/* ---- entries ----------------------------------------------------------------------------------- */

struct entry {
    int64_t place; /* in T; -1: the lane has none */
    int32_t column;
    bool is_substituted; /* by the row of its column */
    int64_t begin, last; /* of that row: its first entry and its diagonal */
};

/* Entries first + lane, first + lane + WARP, ... of the batch; level: of the row that each is in. */
static __device__ inline void read_entries(const trs_pattern &t, const row_of_t &r,
                                           const row_batch &b, const warp_memory &w, int32_t first,
                                           entry (&some)[AHEAD], int32_t (&level)[AHEAD])
{
#pragma unroll
    for (int q = 0; q < AHEAD; q++) {
        const int32_t e = first + q * WARP + lane_id();
        const int k = e < b.count ? w.lane[e] : 0;
        const int64_t from = __shfl_sync(~0u, r.begin - b.start, k);
        level[q] = __shfl_sync(~0u, r.level, k);
        some[q].place = e < b.count ? from + e : -1;
        some[q].column = e < b.count ? __ldg(t.idx + from + e) : 0;
    }
#pragma unroll
    for (int q = 0; q < AHEAD; q++) {
        const int32_t j = some[q].column;
        const bool is = some[q].place >= 0;
        some[q].begin = is ? __ldg(t.ptr + j) : 0;
        some[q].last = is ? __ldg(t.ptr + j + 1) - 1 : 0;
        some[q].is_substituted = is && __ldg(t.level + j) == level[q] - 1;
        TRS_ASSERT(!is || __ldg(t.level + j) < level[q]);
    }
}

/* Terms + SUBSTITUTED rows of an entry; more terms than a short row may have are as good as one more than that. */
static __device__ inline uint32_t terms_of(const entry &of)
{
    const int64_t terms =
        of.is_substituted ? min(of.last - of.begin, (int64_t)MERGE_SHORT_TERMS + 1) : 1;
    const uint32_t all = (uint32_t)terms + (of.is_substituted ? SUBSTITUTED : 0);
    return of.place < 0 ? 0 : all;
}

/* w.source, w.column and w.before of the entries of the batch; keep (e, entry) may keep more of each. */
template <class Keep>
static __device__ inline void classify_entries(const trs_pattern &t, const row_of_t &r,
                                               const row_batch &b, warp_memory &w, Keep keep)
{
    uint32_t sum = 0;
    assign_entries(b, w);
    for (int32_t first = 0; first < b.count; first += AHEAD * WARP) {
        entry some[AHEAD];
        int32_t level[AHEAD];
        read_entries(t, r, b, w, first, some, level);
#pragma unroll
        for (int q = 0; q < AHEAD; q++) {
            const entry &of = some[q];
            const int32_t e = first + q * WARP + lane_id();
            const uint32_t mine = terms_of(of);
            const uint32_t upto = sum_up_to_lane(mine);
            if (of.place >= 0) {
                w.before[e] = sum + upto - mine;
                w.column[e] = of.column;
                w.source[e] = of.is_substituted ? of.begin : ~of.place;
                keep(e, of);
            }
            sum += __shfl_sync(~0u, upto, WARP - 1);
        }
    }
    if (lane_id() == 0) w.before[b.count] = sum;
    __syncwarp();
}

/* ---- terms --------------------------------------------------------------------------------------- */

static __device__ inline int32_t first_term(const warp_memory &w, int32_t e)
{
    return (int32_t)(w.before[e] % SUBSTITUTED) + w.shift[w.lane[e]];
}

/* w.entry of the terms; their entries are among low to high - 1, where those of other rows may be, too. */
static __device__ inline void assign_terms(const row_batch &terms, int32_t low, int32_t high,
                                           warp_memory &w)
{
    for (int32_t e = low + lane_id(); e < high; e += WARP) {
        if (!(terms.lanes >> w.lane[e] & 1)) continue;
        const int32_t begin = first_term(w, e);
        const int32_t count = (int32_t)(w.before[e + 1] % SUBSTITUTED - w.before[e] % SUBSTITUTED);
        TRS_ASSERT(begin >= 0 && begin + count <= terms.count && terms.count <= TERMS);
        for (int32_t a = begin; a < begin + count; a++) w.entry[a] = (uint8_t)e;
    }
    __syncwarp();
}

/* Where in T a term is. */
static __device__ inline int64_t place_of(const warp_memory &w, int32_t a)
{
    const int e = w.entry[a];
    const int64_t source = w.source[e];
    return source < 0 ? ~source : source + (a - first_term(w, e));
}

/* to [a] = from [place of term a] */
template <class V>
static __device__ inline void gather_terms(const warp_memory &w, int32_t count, const V *from,
                                           V *to)
{
    for (int32_t first = lane_id(); first < count; first += AHEAD * WARP) {
        V some[AHEAD];
#pragma unroll
        for (int q = 0; q < AHEAD; q++) {
            const int32_t a = first + q * WARP;
            if (a < count) some[q] = from[place_of(w, a)];
        }
#pragma unroll
        for (int q = 0; q < AHEAD; q++)
            if (first + q * WARP < count) to[first + q * WARP] = some[q];
    }
    __syncwarp();
}

static __device__ inline int lane_of_term(const warp_memory &w, int32_t a)
{
    return w.lane[w.entry[a]];
}

/* w.bucket, and in w.table the first term of each column of each row.  Whoever comes first takes the bucket, and the
 * smallest term stays in it. */
static __device__ inline void hash_terms(int32_t count, warp_memory &w)
{
    const unsigned size = max(1u << (32 - __clz(2 * count - 1)), (unsigned)WARP);
    TRS_ASSERT(size <= TABLE);
    for (unsigned k = (unsigned)lane_id(); k < size; k += WARP) w.table[k] = NONE;
    __syncwarp();
    for (int32_t a = lane_id(); a < count; a += WARP) {
        const int32_t column = w.term_column[a];
        const int row = lane_of_term(w, a);
        unsigned k = ((unsigned)column * 32 + (unsigned)row) * 2654435761u >> 16;
        for (;; k++) {
            k &= size - 1;
            const int32_t there = atomicCAS(&w.table[k], (int32_t)NONE, a);
            if (there == NONE) break;
            if (w.term_column[there] != column || lane_of_term(w, there) != row) continue;
            atomicMin(&w.table[k], a);
            break;
        }
        w.bucket[a] = (uint16_t)k;
    }
    __syncwarp();
}

static __device__ inline bool is_leading(const warp_memory &w, int32_t a)
{
    return w.leading[a / WARP] >> (a % WARP) & 1;
}

/* How many of the terms before it are the first of their column. */
static __device__ inline int32_t rank_of(const warp_memory &w, int32_t a)
{
    return w.rank[a / WARP] + __popc(w.leading[a / WARP] & ((1u << (a % WARP)) - 1));
}

/* w.leading and w.rank, also of the term behind the last. */
static __device__ inline void rank_terms(int32_t count, warp_memory &w)
{
    int32_t rank = 0, first = 0;
    for (; first <= count; first += WARP) {
        const int32_t a = first + lane_id();
        const unsigned bits = __ballot_sync(~0u, a < count && w.table[w.bucket[a]] == a);
        if (lane_id() == 0) {
            w.leading[first / WARP] = bits;
            w.rank[first / WARP] = rank;
        }
        rank += __popc(bits);
    }
    __syncwarp();
}

/* ---- all of it ------------------------------------------------------------------------------------ */

/* substituted and terms of the lane's row, from w.before; TOO_LONG when it is no short row after all. */
static __device__ inline row_counts count_terms(const row_batch &b, const warp_memory &w)
{
    const uint32_t sum = w.before[b.end] - w.before[b.start];
    row_counts n = {(int32_t)(sum / SUBSTITUTED), (int32_t)(sum % SUBSTITUTED), 0, 0};
    if (n.substituted > MERGE_SHORT_ROWS || n.terms > MERGE_SHORT_TERMS) n.substituted = TOO_LONG;
    return n;
}

/* By a warp, each lane with the row that it wants to expand, which has at most MERGE_SHORT_TERMS entries.
 *
 *     work.keep (e, entry)               see classify_entries
 *     work.skip (substituted)            the lane's row is not expanded: nothing is substituted into it (0), or TOO_LONG
 *     work.expanded (counts, entries, terms, low, high)
 *                                        the terms of the rows terms.lanes are in shared memory; their entries are
 *                                        among low to high - 1 of the batch entries; counts is of the lane's row */
template <class Work>
static __device__ inline void expand_rows(const trs_pattern &t, const row_of_t &r, bool wanted,
                                          warp_memory &w, Work &work)
{
    unsigned left = __ballot_sync(~0u, wanted);
    while (left) {
        const row_batch b = next_batch(left, r.length, ENTRIES);
        classify_entries(t, r, b, w, [&](int32_t e, const entry &of) { work.keep(e, of); });
        left &= ~b.lanes;
        row_counts n = {0, 0, 0, 0};
        if (has_lane(b.lanes)) {
            n = count_terms(b, w);
            if (n.substituted <= 0) work.skip(n.substituted);
        }
        unsigned pending = __ballot_sync(~0u, n.substituted > 0);
        while (pending) {
            const row_batch terms = next_batch(pending, n.terms, TERMS);
            const int32_t low = __shfl_sync(~0u, b.start, __ffs((int)terms.lanes) - 1);
            const int32_t high = __shfl_sync(~0u, b.end, 31 - __clz((int)terms.lanes));
            pending &= ~terms.lanes;
            n.first_term = terms.start;
            if (has_lane(terms.lanes))
                w.shift[lane_id()] = n.first_term - (int32_t)(w.before[b.start] % SUBSTITUTED);
            __syncwarp();
            assign_terms(terms, low, high, w);
            gather_terms(w, terms.count, t.idx, w.term_column);
            hash_terms(terms.count, w);
            rank_terms(terms.count, w);
            if (has_lane(terms.lanes)) n.columns = rank_of(w, terms.end) - rank_of(w, terms.start);
            work.expanded(n, b, terms, low, high);
            __syncwarp();
        }
        __syncwarp();
    }
}

/* The shared memory of a warp, of a block of THREADS. */
static __device__ inline warp_memory &memory_of_warp()
{
    __shared__ warp_memory all[THREADS / WARP];
    return all[threadIdx.x / WARP];
}

/* Row i, if there is one; of one that is not short, at least so much. */
static __device__ inline row_of_t row_at(const trs_pattern &t, int64_t i)
{
    if (i >= t.n) return {0, 0, 0};
    const int64_t begin = t.ptr[i], length = t.ptr[i + 1] - 1 - begin;
    return {begin, (int32_t)min(length, (int64_t)MERGE_SHORT_TERMS + 1), t.level[i]};
}

static __device__ inline int64_t row_of_thread()
{
    return blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
}
} // namespace short_rows

#endif
