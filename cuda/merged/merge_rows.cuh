/* merge_rows.cuh: rows of merged levels taken apart in shared memory, as many at a time as a warp has room for.
 *
 * A warp has 32 rows, one a lane, and takes those in hand that have ENTRIES entries together.  Of each entry it asks
 * whether a row is put in for it; then, for rows that have ITEMS items together, what column each item has, and by a
 * hash table which of them are the first of their column in their row.  The items of a row are its entries in their
 * order, each put in for replaced by those of the row put in.  So the loads of many rows are under way together, one
 * kind after the other, and all lanes are busy whatever the lengths; the outcome does not depend on who was first
 * in the table. */
#ifndef TRS_MERGE_ROWS_CUH
#define TRS_MERGE_ROWS_CUH

#include "merge.cuh"

namespace rows
{
enum {
    WARP = 32,
    THREADS = 2 * WARP,
    ENTRIES = 192,
    ITEMS = 256,
    TABLE = 512,
    AHEAD = 4, /* loads of a lane that are under way together */
    NONE = INT32_MAX,
};
static_assert((int)ENTRIES >= (int)MERGE_ROOM && (int)ITEMS >= (int)MERGE_ROOM && ENTRIES <= 256 &&
                  TABLE >= 2 * ITEMS,
              "room for a row, places in a byte, a table half empty");

/* Counts of items and of rows put in, in one number, so that one sum does for both. */
enum { PUT_IN = 1 << 20 };

struct room {               /* of a warp */
    int64_t begin[ENTRIES]; /* of the row put in for the entry; else ~ its own place */
    int32_t column[ENTRIES];
    uint32_t before[ENTRIES + 1]; /* items and rows put in of the entries before it */
    uint8_t row[ENTRIES];         /* lane */
    uint8_t entry[ITEMS];         /* that the item is of */
    uint16_t slot[ITEMS];         /* in the table */
    int32_t item_column[ITEMS];
    int32_t table[TABLE]; /* the first item of its row and column */
    uint32_t first[ITEMS / WARP + 1];
    int32_t rank[ITEMS / WARP + 1]; /* how many are first before these 32 */
    int32_t shift[WARP];            /* from items before an entry to its own, of a row */
    int64_t to[WARP],
        n_to[WARP]; /* of a row: what makes a place in T' of a rank, and in N of rows put in */
};

struct line { /* a row of T */
    int64_t begin;
    int32_t length; /* without the diagonal */
    int32_t level;
};

struct hand { /* some rows of the warp; a lane knows where its own is */
    unsigned in;
    int32_t start, end; /* entries */
    int32_t count;      /* of all in hand */
};

struct parts { /* of the row of a lane */
    int32_t rows, items, columns;
    int32_t start; /* items */
};

static __device__ inline int lane_id()
{
    return (int)(threadIdx.x % WARP);
}

template <class V> static __device__ inline V sum_up_to_lane(V v)
{
    for (int by = 1; by < WARP; by *= 2) {
        const V before = __shfl_up_sync(~0u, v, by);
        if (lane_id() >= by) v += before;
    }
    return v;
}

/* The first of those left that have as much room as there is; count is of the lane's row. */
static __device__ inline hand take_in_hand(unsigned left, int32_t count, int32_t most)
{
    const bool mine = left >> lane_id() & 1;
    const int32_t own = mine ? count : 0, end = sum_up_to_lane(own);
    const unsigned in = __ballot_sync(~0u, mine && end <= most);
    return {in, end - own, end, __shfl_sync(~0u, end, 31 - __clz((int)in))};
}

static __device__ inline bool is_in(unsigned lanes)
{
    return lanes >> lane_id() & 1;
}

/* w.row of the entries in hand. */
static __device__ inline void share_entries(const hand &h, room &w)
{
    if (is_in(h.in))
        for (int32_t e = h.start; e < h.end; e++) w.row[e] = (uint8_t)lane_id();
    __syncwarp();
}

/* ---- rows that stay as they are ----------------------------------------------------------------- */

template <class V>
static __device__ inline void copy_in_hand(const hand &h, const V *from, V *to, int64_t begin,
                                           int64_t target, room &w)
{
    share_entries(h, w);
    for (int32_t first = 0; first < h.count; first += AHEAD * WARP) {
        V some[AHEAD];
        int64_t place[AHEAD];
#pragma unroll
        for (int q = 0; q < AHEAD; q++) {
            const int32_t e = first + q * WARP + lane_id();
            const int k = e < h.count ? w.row[e] : 0;
            const int64_t p = __shfl_sync(~0u, begin - h.start, k) + e;
            place[q] = __shfl_sync(~0u, target - h.start, k) + e;
            if (e < h.count) some[q] = from[p];
        }
#pragma unroll
        for (int q = 0; q < AHEAD; q++)
            if (first + q * WARP + lane_id() < h.count) to[place[q]] = some[q];
    }
    __syncwarp();
}

/* By a warp, each lane with a row or none: to [target], ... = from [begin], ..., count of them. */
template <class V>
static __device__ inline void copy_rows(const V *from, V *to, int64_t begin, int64_t target,
                                        int64_t count, bool wanted, room &w)
{
    unsigned left = __ballot_sync(~0u, wanted && count <= ENTRIES);
    unsigned longer = __ballot_sync(~0u, wanted && count > ENTRIES);
    while (left) {
        const hand h = take_in_hand(left, (int32_t)count, ENTRIES);
        copy_in_hand(h, from, to, begin, target, w);
        left &= ~h.in;
    }
    for (; longer; longer &= longer - 1) {
        const int k = __ffs((int)longer) - 1;
        const int64_t p = __shfl_sync(~0u, begin, k), q = __shfl_sync(~0u, target, k);
        const int64_t some = __shfl_sync(~0u, count, k);
        for (int64_t a = lane_id(); a < some; a += WARP) to[q + a] = from[p + a];
    }
}

/* ---- entries ---------------------------------------------------------------------------------- */

struct entry {
    int64_t place; /* in T */
    int32_t column;
    bool put_in;
    int64_t begin, last; /* of the row of its column */
};

/* Some entries of those in hand, from first on; level: of the row that each is in. */
static __device__ inline void read_entries(const trs_pattern &t, const line &r, const hand &h,
                                           const room &w, int32_t first, entry (&some)[AHEAD],
                                           int32_t (&level)[AHEAD])
{
#pragma unroll
    for (int q = 0; q < AHEAD; q++) {
        const int32_t e = first + q * WARP + lane_id();
        const int k = e < h.count ? w.row[e] : 0;
        const int64_t from = __shfl_sync(~0u, r.begin - h.start, k);
        level[q] = __shfl_sync(~0u, r.level, k);
        some[q].place = e < h.count ? from + e : -1;
        some[q].column = e < h.count ? __ldg(t.idx + from + e) : 0;
    }
#pragma unroll
    for (int q = 0; q < AHEAD; q++) {
        const int32_t j = some[q].column;
        const bool is = some[q].place >= 0;
        some[q].begin = is ? __ldg(t.ptr + j) : 0;
        some[q].last = is ? __ldg(t.ptr + j + 1) - 1 : 0;
        some[q].put_in = is && __ldg(t.level + j) == level[q] - 1;
    }
}

/* What each entry in hand is; keep (e, entry) may keep more of it. */
template <class Keep>
static __device__ inline void look_at_entries(const trs_pattern &t, const line &r, const hand &h,
                                              room &w, Keep keep)
{
    uint32_t sum = 0;
    share_entries(h, w);
    for (int32_t first = 0; first < h.count; first += AHEAD * WARP) {
        entry some[AHEAD];
        int32_t level[AHEAD];
        read_entries(t, r, h, w, first, some, level);
#pragma unroll
        for (int q = 0; q < AHEAD; q++) {
            const entry &of = some[q];
            const int32_t e = first + q * WARP + lane_id();
            const int64_t items = of.put_in ? min(of.last - of.begin, (int64_t)MERGE_ROOM + 1) : 1;
            const uint32_t own = of.place < 0 ? 0 : (uint32_t)items + (of.put_in ? PUT_IN : 0);
            const uint32_t upto = sum_up_to_lane(own);
            if (of.place >= 0) {
                w.before[e] = sum + upto - own;
                w.column[e] = of.column;
                w.begin[e] = of.put_in ? of.begin : ~of.place;
                keep(e, of);
            }
            sum += __shfl_sync(~0u, upto, WARP - 1);
        }
    }
    if (lane_id() == 0) w.before[h.count] = sum;
    __syncwarp();
}

/* ---- items ---------------------------------------------------------------------------------------- */

static __device__ inline int32_t first_item(const room &w, int32_t e)
{
    return (int32_t)(w.before[e] % PUT_IN) + w.shift[w.row[e]];
}

/* w.entry of the items in hand, whose entries are low to high - 1 and perhaps those of other rows. */
static __device__ inline void share_items(const hand &items, int32_t low, int32_t high, room &w)
{
    for (int32_t e = low + lane_id(); e < high; e += WARP) {
        if (!(items.in >> w.row[e] & 1)) continue;
        const int32_t begin = first_item(w, e);
        const int32_t count = (int32_t)(w.before[e + 1] % PUT_IN - w.before[e] % PUT_IN);
        for (int32_t a = begin; a < begin + count; a++) w.entry[a] = (uint8_t)e;
    }
    __syncwarp();
}

/* Where in T an item is. */
static __device__ inline int64_t place_of(const room &w, int32_t a)
{
    const int e = w.entry[a];
    const int64_t begin = w.begin[e];
    return begin < 0 ? ~begin : begin + (a - first_item(w, e));
}

/* to [a] = from [place of item a] */
template <class V>
static __device__ inline void fetch(const room &w, int32_t count, const V *from, V *to)
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

static __device__ inline int row_of(const room &w, int32_t a)
{
    return w.row[w.entry[a]];
}

/* w.slot, and in w.table the first item of each column of each row. */
static __device__ inline void hash_items(int32_t count, room &w)
{
    const unsigned size = max(1u << (32 - __clz(2 * count - 1)), (unsigned)WARP);
    for (unsigned k = (unsigned)lane_id(); k < size; k += WARP) w.table[k] = NONE;
    __syncwarp();
    for (int32_t a = lane_id(); a < count; a += WARP) {
        const int32_t column = w.item_column[a];
        const int row = row_of(w, a);
        unsigned k = ((unsigned)column * 32 + (unsigned)row) * 2654435761u >> 16;
        for (;; k++) {
            k &= size - 1;
            const int32_t there = atomicCAS(&w.table[k], (int32_t)NONE, a);
            if (there == NONE) break;
            if (w.item_column[there] != column || row_of(w, there) != row) continue;
            atomicMin(&w.table[k], a);
            break;
        }
        w.slot[a] = (uint16_t)k;
    }
    __syncwarp();
}

static __device__ inline bool is_first(const room &w, int32_t a)
{
    return w.first[a / WARP] >> (a % WARP) & 1;
}

/* How many of the items before it are first. */
static __device__ inline int32_t rank_of(const room &w, int32_t a)
{
    return w.rank[a / WARP] + __popc(w.first[a / WARP] & ((1u << (a % WARP)) - 1));
}

static __device__ inline void rank_items(int32_t count, room &w)
{
    int32_t rank = 0, first = 0;
    for (; first <= count; first += WARP) {
        const int32_t a = first + lane_id();
        const unsigned bits = __ballot_sync(~0u, a < count && w.table[w.slot[a]] == a);
        if (lane_id() == 0) {
            w.first[first / WARP] = bits;
            w.rank[first / WARP] = rank;
        }
        rank += __popc(bits);
    }
    __syncwarp();
}

/* ---- all of it -------------------------------------------------------------------------------------- */

/* By a warp, each lane with the row that it wants, which has at most MERGE_ROOM entries.  work.keep (e, entry): see
 * look_at_entries; work.stays (rows): rows is 0: nothing is put in for the lane's row, -1: more than there is room for;
 * work.done (parts, hand, items, low, high): the items of some rows, whose entries are from low to high - 1. */
template <class Work>
static __device__ inline void take_apart(const trs_pattern &t, const line &r, bool wanted, room &w,
                                         Work &work)
{
    unsigned left = __ballot_sync(~0u, wanted);
    while (left) {
        const hand h = take_in_hand(left, r.length, ENTRIES);
        look_at_entries(t, r, h, w, [&](int32_t e, const entry &of) { work.keep(e, of); });
        left &= ~h.in;
        parts p = {0, 0, 0, 0};
        if (is_in(h.in)) {
            const uint32_t sum = w.before[h.end] - w.before[h.start];
            p.rows = (int32_t)(sum / PUT_IN);
            p.items = (int32_t)(sum % PUT_IN);
            if (p.rows > MERGE_MOST || p.items > MERGE_ROOM) p.rows = -1;
            if (p.rows <= 0) work.stays(p.rows);
        }
        unsigned pending = __ballot_sync(~0u, p.rows > 0);
        while (pending) {
            const hand items = take_in_hand(pending, p.items, ITEMS);
            const int32_t low = __shfl_sync(~0u, h.start, __ffs((int)items.in) - 1);
            const int32_t high = __shfl_sync(~0u, h.end, 31 - __clz((int)items.in));
            pending &= ~items.in;
            p.start = items.start;
            if (is_in(items.in))
                w.shift[lane_id()] = p.start - (int32_t)(w.before[h.start] % PUT_IN);
            __syncwarp();
            share_items(items, low, high, w);
            fetch(w, items.count, t.idx, w.item_column);
            hash_items(items.count, w);
            rank_items(items.count, w);
            if (is_in(items.in)) p.columns = rank_of(w, items.end) - rank_of(w, items.start);
            work.done(p, h, items, low, high);
            __syncwarp();
        }
        __syncwarp();
    }
}
} // namespace rows

#endif
