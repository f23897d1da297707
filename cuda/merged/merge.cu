/* merge.cu: one pass of substitution: every second level, or some of them, made one with the level before.
 *
 * A row waits for rows of the level before its own.  With their equations put in for them it waits for what they
 * wait for: M T x = M b, where M = I - N, and row i of N has T(i, j) / T(j, j) for these rows j.  T' = M T is a
 * lower triangle again.  A level is merged when the entries that this adds take less time than the hop between
 * SMs that it saves.  Rows that are changed read rows that are not, so M b can be made in place.
 * All kernels: a thread a row, a warp for those of its threads, none waits for another; rows that are too long for
 * a warp: merge_long.cu.  Bytes: 12 an entry of T and T', read twice and written once, some at random; bound by
 * chains of loads, so many rows are taken apart together (merge_rows.cuh).
 * Source: one step of cyclic reduction (Hockney 1965), for any pattern; as rewriting of equations it is known
 * from level-set solvers on CPUs. */
#include "config.h"

#include "merge_rows.cuh"

#include <cmath>
#include <cstring>

#include <cub/device/device_scan.cuh>

using rows::hand;
using rows::is_in;
using rows::lane_id;
using rows::line;
using rows::parts;
using rows::room;

enum { THREADS = PLAIN, ROWS = rows::THREADS /* of a block that takes them apart */, WARP = 32 };

static __device__ inline int64_t index_of_thread()
{
    return blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
}

static __device__ room &room_of_warp()
{
    __shared__ room all[ROWS / WARP];
    return all[threadIdx.x / WARP];
}

/* Row i, if there is one; of one that is too long for a warp, at least so much. */
static __device__ line line_of(const trs_pattern &t, int64_t i)
{
    if (i >= t.n) return {0, 0, 0};
    const int64_t begin = t.ptr[i], length = t.ptr[i + 1] - 1 - begin;
    return {begin, (int32_t)min(length, (int64_t)MERGE_ROOM + 1), t.level[i]};
}

/* ---- what a pass would add ------------------------------------------------------------------------------- */

struct tally_work { /* of the lane's row */
    int32_t rows, columns;
    __device__ void keep(int32_t, const rows::entry &) {}
    __device__ void stays(int32_t r) { rows = r; }
    __device__ void done(const parts &p, const hand &, const hand &items, int32_t, int32_t)
    {
        if (!is_in(items.in)) return;
        rows = p.rows;
        columns = p.columns;
    }
};

/* By a warp; a lane may have none.  Where one level has most of the rows, lanes do not wait for one another. */
static __device__ void add_to_levels(merge_tally *of, int32_t level, int64_t adds)
{
    const unsigned some = __ballot_sync(~0u, adds != 0);
    if (!some) return;
    const int32_t common = __shfl_sync(~0u, level, __ffs((int)some) - 1);
    int64_t sum = level == common ? adds : 0;
    for (int by = WARP / 2; by > 0; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
    if (lane_id() == 0) atomicAdd((unsigned long long *)&of[common].adds, (unsigned long long)sum);
    if (adds && level != common)
        atomicAdd((unsigned long long *)&of[level].adds, (unsigned long long)adds);
}

/* By a warp: the rows of these lanes to the end of the list. */
static __device__ void append(bool wanted, int32_t i, int32_t *list, int32_t *count)
{
    const unsigned some = __ballot_sync(~0u, wanted);
    int32_t at = 0;
    if (!some) return;
    if (lane_id() == 0) at = atomicAdd(count, __popc(some));
    at = __shfl_sync(~0u, at, 0);
    if (wanted) list[at + __popc(some & ((1u << lane_id()) - 1))] = i;
}

struct tallying {
    int odd;   /* levels l with l % 2 == odd; ANY: all of them */
    int every; /* so many-th row */
    merge_tally *of;
    int32_t *list,
        *longs; /* rows that are not counted here, and how many; as many as there are rows */
};

enum { ANY = -1 };

/* What each level adds, were it merged.  Of all rows also m.ptr and m.to_ptr: entries of each row of N and T'. */
static __global__ void __launch_bounds__(ROWS) tally_kernel(const merging m, const tallying t)
{
    const int64_t i = index_of_thread() * t.every;
    const line r = line_of(m.from, i);
    const bool wanted = r.level > 0 && (t.odd == ANY || r.level % 2 == t.odd);
    const bool too_long = r.length > MERGE_ROOM;
    tally_work work = {too_long ? -1 : 0, r.length};
    rows::take_apart(m.from, r, wanted && !too_long, room_of_warp(), work);
    const bool is_long = wanted && work.rows < 0, is_short = wanted && !is_long;
    append(is_long, (int32_t)i, t.list, t.longs);
    if (is_short && t.every == 1) {
        m.ptr[i] = work.rows;
        m.to_ptr[i] = work.columns + 1;
    }
    const int64_t adds = is_short ? (int64_t)(work.columns + work.rows - r.length) * t.every : 0;
    add_to_levels(t.of, r.level, adds);
}

/* By a warp: the size of a long row. */
static __device__ merge_row measure(const trs_pattern &t, int32_t i)
{
    int64_t items = 0;
    int rows = 0;
    for (int64_t p = t.ptr[i] + lane_id(); p < t.ptr[i + 1] - 1; p += WARP) {
        const int32_t j = t.idx[p];
        const bool put = t.level[j] == t.level[i] - 1;
        rows += put;
        items += 1 + (put ? t.ptr[j + 1] - t.ptr[j] - 1 : 0);
    }
    for (int by = WARP / 2; by > 0; by /= 2) {
        items += __shfl_xor_sync(~0u, items, by);
        rows += __shfl_xor_sync(~0u, rows, by);
    }
    return {i, rows, (int32_t)min(items, (int64_t)INT32_MAX), 0, 0};
}

/* The long rows, in any order; of[l].stay for those that are too long even for a block.  A warp a row. */
static __global__ void list_kernel(const merging m, const tallying t, int32_t listed,
                                   merge_longs *found)
{
    const int64_t k = index_of_thread() / WARP;
    if (k >= listed) return;
    const int32_t i = t.list[k];
    merge_tally &level = t.of[m.from.level[i]];
    const bool too_long = m.from.ptr[i + 1] - m.from.ptr[i] > MERGE_LONG_ITEMS;
    const merge_row row = too_long ? merge_row() : measure(m.from, i);
    if (lane_id()) return;
    if (too_long || row.rows > MERGE_LONG_ROWS || row.items > MERGE_LONG_ITEMS) {
        level.stay = 1;
    } else {
        const int64_t items = (int64_t)row.items * t.every;
        atomicAdd((unsigned long long *)&level.items, (unsigned long long)items);
        m.long_row[atomicAdd(&found->count, 1)] = row;
        atomicMax(&found->largest, row.items);
    }
}

/* ---- the pattern of T' and N ------------------------------------------------------------------------------ */

/* Rows of levels that are not merged, and levels of all. */
static __global__ void keep_kernel(const merging m)
{
    const int64_t i = index_of_thread();
    if (i > m.from.n) return;
    const int32_t l = i < m.from.n ? m.from.level[i] : -1;
    if (l >= 0) m.to_level[i] = m.number[l];
    if (l >= 0 && merges(m, l)) return;
    m.ptr[i] = 0;
    m.to_ptr[i] = l < 0 ? 0 : m.from.ptr[i + 1] - m.from.ptr[i];
}

/* What becomes of a row, once m.ptr and m.to_ptr are there. */
struct changed {
    line r;
    bool is_row, stays, is_short; /* is_short: it may be, but for what is put in */
    int64_t to, n_to;
    __device__ changed(const merging &m, int64_t i)
        : r(line_of(m.from, i)), is_row(i < m.from.n), stays(false), is_short(false), to(0), n_to(0)
    {
        if (!is_row) return;
        to = m.to_ptr[i];
        n_to = m.ptr[i];
        const int64_t rows = m.ptr[i + 1] - n_to;
        stays = rows == 0;
        is_short = !stays && rows <= MERGE_MOST && r.length <= MERGE_ROOM;
    }
};

/* By a warp: w.to and w.n_to of the rows in hand. */
static __device__ void find_targets(const changed &c, const parts &p, const hand &h,
                                    const hand &items, room &w)
{
    if (is_in(items.in)) {
        w.to[lane_id()] = c.to - rows::rank_of(w, p.start);
        w.n_to[lane_id()] = c.n_to - w.before[h.start] / rows::PUT_IN;
    }
    __syncwarp();
}

/* array [place in N of each entry that a row is put in for] = what (entry) */
template <class V, class What>
static __device__ void fill_n(const hand &items, int32_t low, int32_t high, const room &w, V *array,
                              What what)
{
    for (int32_t e = low + lane_id(); e < high; e += WARP) {
        const int k = w.row[e];
        if ((items.in >> k & 1) && w.begin[e] >= 0)
            array[w.n_to[k] + w.before[e] / rows::PUT_IN] = what(e);
    }
}

/* array [place in T' of each item that is the first of its column] = what (item) */
template <class V, class What>
static __device__ void fill_to(const hand &items, const room &w, V *array, What what)
{
    for (int32_t a = lane_id(); a < items.count; a += WARP)
        if (rows::is_first(w, a)) array[w.to[rows::row_of(w, a)] + rows::rank_of(w, a)] = what(a);
}

struct fill_work {
    const merging &m;
    const changed &c;
    room &w;
    int32_t i;
    __device__ void keep(int32_t, const rows::entry &) {}
    __device__ void stays(int32_t) {}
    __device__ void done(const parts &p, const hand &h, const hand &items, int32_t low,
                         int32_t high)
    {
        find_targets(c, p, h, items, w);
        fill_n(items, low, high, w, m.idx, [&](int32_t e) { return w.column[e]; });
        fill_to(items, w, m.to_idx, [&](int32_t a) { return w.item_column[a]; });
        if (is_in(items.in)) m.to_idx[c.to + p.columns] = i;
    }
};

/* Columns of T', in the order in which they are met, and of N. */
static __global__ void __launch_bounds__(ROWS) fill_kernel(const merging m)
{
    const int64_t i = index_of_thread();
    room &w = room_of_warp();
    const changed c(m, i);
    const int64_t length = c.stays ? m.from.ptr[i + 1] - c.r.begin : 0;
    fill_work work = {m, c, w, (int32_t)i};
    rows::copy_rows(m.from.idx, m.to_idx, c.r.begin, c.to, length, c.stays, w);
    rows::take_apart(m.from, c.r, c.is_short, w, work);
}

/* ---- values ------------------------------------------------------------------------------------------------ */

template <class T> struct value_room { /* of a warp */
    T factor[rows::ENTRIES];           /* of -N, for entries that rows are put in for */
    T item[rows::ITEMS];
};

template <class T> struct values_work {
    const merging &m;
    const changed &c;
    room &w;
    value_room<T> &v;
    const T *val;
    int64_t i;
    uint64_t *growth;

    __device__ void keep(int32_t e, const rows::entry &of)
    {
        if (of.put_in) v.factor[e] = number<T>(0) - val[of.place] / val[of.last];
    }
    __device__ void stays(int32_t) {}

    /* The sum of the magnitudes of the lane's row of N. */
    __device__ double size_of_row(const hand &h) const
    {
        double sum = 0;
        for (int32_t e = h.start; e < h.end; e++)
            if (w.begin[e] >= 0) sum += magnitude(v.factor[e]);
        return sum;
    }
    /* Those that are not the first of their column to the first, in their order. */
    __device__ void add_up(int32_t count)
    {
        for (int32_t a0 = 0; a0 < count; a0 += WARP) {
            const int32_t a = a0 + lane_id(), first = a < count ? w.table[w.slot[a]] : a;
            const unsigned same = __match_any_sync(~0u, first != a ? first : -1 - lane_id());
            if (first != a && lane_id() == __ffs((int)same) - 1) {
                T sum = v.item[first];
                for (unsigned left = same; left; left &= left - 1)
                    sum = sum + v.item[a0 + __ffs((int)left) - 1];
                v.item[first] = sum;
            }
            __syncwarp();
        }
    }
    __device__ void done(const parts &p, const hand &h, const hand &items, int32_t low,
                         int32_t high)
    {
        T *const out = (T *)m.val;
        rows::fetch(w, items.count, val, v.item);
        for (int32_t a = lane_id(); a < items.count; a += WARP)
            if (w.begin[w.entry[a]] >= 0) v.item[a] = v.factor[w.entry[a]] * v.item[a];
        __syncwarp();
        add_up(items.count);
        find_targets(c, p, h, items, w);
        fill_n(items, low, high, w, (T *)m.n_val, [&](int32_t e) { return v.factor[e]; });
        bool bad = false;
        fill_to(items, w, out, [&](int32_t a) {
            bad |= !is_finite(v.item[a]);
            return v.item[a];
        });
        if (bad) merge_grows(growth, INFINITY);
        if (!is_in(items.in)) return;
        out[c.to + p.columns] = val[m.from.ptr[i + 1] - 1];
        merge_grows(growth, size_of_row(h));
    }
};

template <class T>
static __global__ void __launch_bounds__(ROWS)
    values_kernel(const merging m, const T *val, uint64_t *growth)
{
    __shared__ value_room<T> all[ROWS / WARP];
    const int64_t i = index_of_thread();
    room &w = room_of_warp();
    const changed c(m, i);
    const int64_t length = c.stays ? m.from.ptr[i + 1] - c.r.begin : 0;
    values_work<T> work = {m, c, w, all[threadIdx.x / WARP], val, i, growth};
    /* T(i, j) / T(j, j) may underflow, which no sum shows */
    if (c.is_row && !is_near_one(val[m.from.ptr[i + 1] - 1])) merge_grows(growth, INFINITY);
    rows::copy_rows(val, (T *)m.val, c.r.begin, c.to, length, c.stays, w);
    rows::take_apart(m.from, c.r, c.is_short, w, work);
}

/* ---- the host side ------------------------------------------------------------------------------------------ */

static int failed(cudaError_t e)
{
    (void)cudaGetLastError();
    return trs_fail(TRS_EDEVICE, "merging levels: %s", cudaGetErrorString(e));
}

/* Where a thread has a row. */
static unsigned blocks_for(int64_t rows)
{
    return (unsigned)((rows + ROWS - 1) / ROWS);
}

/* The sums before each of the numbers, in place. */
template <class V> static int add_up(trs_context *ctx, V *a, int64_t count)
{
    size_t bytes = 0;
    cudaError_t e = cub::DeviceScan::ExclusiveSum(NULL, bytes, a, a, count);
    if (e) return failed(e);
    void *temp = trs_gpu_scratch(ctx, (int64_t)bytes, "sums");
    if (!temp) return TRS_EMEM;
    e = cub::DeviceScan::ExclusiveSum(temp, bytes, a, a, count);
    return e ? failed(e) : TRS_OK;
}

/* The longs and of, on the host or on the device. */
static size_t lay_out(merge_counts *c, char *base, int64_t levels)
{
    size_t used = 0;
    c->longs = carve<merge_longs>(base, &used, 1);
    c->of = carve<merge_tally>(base, &used, levels);
    return used;
}

static size_t lay_out(merge_desk *d, char *base, int64_t levels)
{
    const size_t counts = lay_out(&d->there, base, levels);
    size_t used = 0;
    d->number = carve<int32_t>(base ? base + counts : NULL, &used, levels);
    return counts + used;
}

int merge_desk_new(trs_context *ctx, int64_t levels, merge_desk *d)
{
    const size_t counts = lay_out(&d->here, NULL, levels);
    d->host = trs_new(ctx, (int64_t)counts, 1, "levels");
    if (d->host) d->to = (int32_t *)trs_new(ctx, levels, sizeof *d->to, "levels");
    if (!d->to) return TRS_EMEM;
    d->device = trs_gpu_new(ctx, (int64_t)lay_out(d, NULL, levels), 1, "levels");
    if (!d->device) return TRS_EMEM;
    lay_out(&d->here, (char *)d->host, levels);
    lay_out(d, (char *)d->device, levels);
    return TRS_OK;
}

void merge_desk_free(trs_context *ctx, merge_desk *d)
{
    trs_free(&ctx->mem, d->host);
    trs_free(&ctx->mem, d->to);
    trs_gpu_free(ctx, d->device);
}

/* What was counted, from the device or back to it. */
static int bring(trs_context *ctx, const merging *m, const merge_desk *d, bool back)
{
    merge_counts c;
    const size_t bytes = lay_out(&c, NULL, m->from.levels);
    return back ? trs_gpu_put(ctx, d->there.longs, d->here.longs, bytes)
                : trs_gpu_get(ctx, d->here.longs, d->there.longs, bytes);
}

/* What the long rows that t has listed add. */
static int tally_longs(trs_context *ctx, merging *m, const tallying &t, const merge_desk *d)
{
    const int32_t listed = d->here.longs->count;
    m->long_row = (merge_row *)trs_gpu_new(ctx, listed, sizeof *m->long_row, "long rows");
    if (!m->long_row) return TRS_EMEM;
    const cudaError_t e = cudaMemsetAsync(d->there.longs, 0, sizeof *d->there.longs, NULL);
    list_kernel<<<blocks_of(listed * (int64_t)WARP), THREADS>>>(*m, t, listed, d->there.longs);
    int rc = e ? failed(e) : bring(ctx, m, d, false);
    if (rc) return rc;
    m->longs = d->here.longs->count;
    m->largest = d->here.longs->largest;
    for (int32_t l = 0; l < m->from.levels; l++)
        if (d->here.of[l].items > MERGE_LEVEL_ITEMS) d->here.of[l].stay = 1;
    rc = bring(ctx, m, d, true);
    if (!rc && m->longs) rc = merge_long_count(ctx, m, t.every, d->there.of);
    return rc ? rc : bring(ctx, m, d, false);
}

/* d->here, were all levels of that kind merged, from every so many-th row. */
static int tally_rows(trs_context *ctx, merging *m, int odd, int every, const merge_desk *d)
{
    merge_counts c;
    const size_t bytes = lay_out(&c, NULL, m->from.levels);
    const int64_t rows = (m->from.n + (int64_t)every - 1) / every;
    tallying t = {odd, every, d->there.of, NULL, &d->there.longs->count};
    trs_gpu_free(ctx, m->long_row);
    m->long_row = NULL;
    m->longs = 0;
    t.list = (int32_t *)trs_gpu_scratch(ctx, rows * (int64_t)sizeof *t.list, "long rows");
    if (!t.list) return TRS_EMEM;
    const cudaError_t e = cudaMemsetAsync(d->there.longs, 0, bytes, NULL);
    tally_kernel<<<blocks_for(rows), ROWS>>>(*m, t);
    const int rc = e ? failed(e) : bring(ctx, m, d, false);
    return rc || !d->here.longs->count ? rc : tally_longs(ctx, m, t, d);
}

enum { SLOTS = 3 }; /* of items, that take what an entry takes */

/* Hops that a pass has to save, of those that there are: it takes as long as the one before. */
static const double FEWEST = 0.05;

/* Those levels of one kind are merged whose entries cost less than a hop: d->to; how many levels are left, 0 when all
 * of it is not worth the product. */
static int32_t decide(const merging *m, int odd, int64_t most, const merge_desk *d)
{
    double gain = 0; /* hops */
    int64_t entries = m->from.nnz;
    int32_t left = 0;
    for (int32_t l = 0; l < m->from.levels; l++) {
        const merge_tally &of = d->here.of[l];
        const double saved = 1 - (double)of.adds / MERGE_ENTRIES;
        const bool merged = l > 0 && l % 2 == odd && !of.stay && saved >= 0;
        if (merged) {
            gain += saved;
            entries += of.adds + of.items / SLOTS;
        } else {
            left++;
        }
        d->to[l] = left - 1;
    }
    const bool worth_it = gain >= merge_product_hops(m->from.n) + FEWEST * m->from.levels;
    return worth_it && entries <= most ? left : 0;
}

static size_t lay_out_lines(merging *m, char *base)
{
    size_t used = 0;
    m->to_ptr = carve<int64_t>(base, &used, (int64_t)m->from.n + 1);
    m->ptr = carve<int64_t>(base, &used, (int64_t)m->from.n + 1);
    m->to_level = carve<int32_t>(base, &used, m->from.n);
    return used;
}

static int lines_new(trs_context *ctx, merging *m)
{
    if (m->lines) return TRS_OK;
    m->lines = trs_gpu_new(ctx, (int64_t)lay_out_lines(m, NULL), 1, "rows");
    if (!m->lines) return TRS_EMEM;
    lay_out_lines(m, (char *)m->lines);
    return TRS_OK;
}

static size_t lay_out_entries(merging *m, char *base, size_t size)
{
    size_t used = 0;
    m->val = carve<char>(base, &used, m->to.nnz * (int64_t)size);
    m->n_val = carve<char>(base, &used, m->nnz * (int64_t)size);
    m->to_idx = carve<int32_t>(base, &used, m->to.nnz);
    m->idx = carve<int32_t>(base, &used, m->nnz);
    return used;
}

static int entries_new(trs_context *ctx, size_t size, merging *m)
{
    m->entries = trs_gpu_new(ctx, (int64_t)lay_out_entries(m, NULL, size), 1, "columns, values");
    if (!m->entries) return TRS_EMEM;
    lay_out_entries(m, (char *)m->entries, size);
    return TRS_OK;
}

/* How long the rows become, once it is decided. */
static int count(trs_context *ctx, merging *m, const merge_desk *d)
{
    const int32_t n = m->from.n;
    int rc = trs_gpu_put(ctx, d->number, d->to, (size_t)m->from.levels * sizeof *d->to);
    if (!rc) {
        keep_kernel<<<blocks_of(n + (int64_t)1), THREADS>>>(*m);
        if (m->longs) rc = merge_long_place(ctx, m);
    }
    if (!rc) rc = add_up(ctx, m->to_ptr, n + (int64_t)1);
    if (!rc) rc = add_up(ctx, m->ptr, n + (int64_t)1);
    if (!rc) rc = trs_gpu_get(ctx, &m->to.nnz, m->to_ptr + n, sizeof m->to.nnz);
    return rc ? rc : trs_gpu_get(ctx, &m->nnz, m->ptr + n, sizeof m->nnz);
}

static int carry_out(trs_context *ctx, const merge_desk *d, size_t size, merging *m)
{
    int rc = count(ctx, m, d);
    if (!rc) rc = entries_new(ctx, size, m);
    if (rc) return rc;
    m->to.n = m->from.n;
    m->to.ptr = m->to_ptr;
    m->to.idx = m->to_idx;
    m->to.level = m->to_level;
    fill_kernel<<<blocks_for(m->from.n), ROWS>>>(*m);
    if (m->longs) rc = merge_long_fill(ctx, m);
    const cudaError_t e = cudaGetLastError();
    if (rc) return rc;
    return e ? failed(e) : TRS_OK;
}

/* m->to.levels, and what there is of rows.  Of a large triangle a sample is asked first, for both kinds at once. */
static int choose(trs_context *ctx, const merge_desk *d, int *odd, int64_t most, merging *m)
{
    enum { FEW = 100000, EVERY = 16 };
    const bool large = m->from.n > FEW;
    int rc = large ? TRS_OK : lines_new(ctx, m);
    if (!rc) rc = tally_rows(ctx, m, ANY, large ? (int)EVERY : 1, d);
    if (rc) return rc;
    const bool worth_it[2] = {decide(m, 0, most, d) > 0, decide(m, 1, most, d) > 0};
    for (int k = 0; k < 2 && !m->to.levels && !rc; k++) {
        if (k == 1) *odd = !*odd;
        if (!worth_it[*odd]) continue;
        if (large) rc = lines_new(ctx, m);
        if (large && !rc) rc = tally_rows(ctx, m, *odd, 1, d);
        if (!rc) m->to.levels = decide(m, *odd, most, d);
    }
    return rc;
}

int merge_new(trs_context *ctx, const merge_desk *d, const trs_pattern *from, int *odd,
              int64_t most, trs_dtype t, merging *m)
{
    m->from = *from;
    m->number = d->number;
    int rc = choose(ctx, d, odd, most, m);
    if (!rc && m->to.levels) rc = carry_out(ctx, d, trs_size(t), m);
    m->number = NULL;
    return rc;
}

void merge_free(trs_context *ctx, merging *m)
{
    void *const all[] = {m->lines, m->entries, m->long_row, m->slot, m->wide};
    for (void *p : all) trs_gpu_free(ctx, p);
    memset(m, 0, sizeof *m);
}

int merge_take(const merging *m, trs_dtype t, const void *val, uint64_t *growth, void *stream)
{
    return for_type(t, [&](auto zero) {
        using T = decltype(zero);
        values_kernel<T>
            <<<blocks_for(m->from.n), ROWS, 0, (cudaStream_t)stream>>>(*m, (const T *)val, growth);
        const int rc = launched();
        return rc || !m->longs ? rc : merge_long_take(m, t, val, growth, (cudaStream_t)stream);
    });
}
