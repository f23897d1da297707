/* merge.cu: one pass of substitution: every second level, or some of them, made one with the level before.
 *
 * A row waits for rows of the level before its own.  With their equations put in for them it waits for what they
 * wait for: M T x = M b, where M = I - N, and row i of N has T(i, j) / T(j, j) for these rows j.  T' = M T is a
 * lower triangle again.  A level is merged when the entries that this adds take less time than the hop between
 * SMs that it saves.  Rows that are changed read rows that are not, so M b can be made in place.
 * All kernels: a warp or a thread a row, none waits for another; rows that are too long for a warp: merge_long.cu.
 * Bytes: 12 an entry of T and T', read twice and written once, some at random; bound by chains of loads, so a row is
 * taken apart by all lanes at once.
 * Source: one step of cyclic reduction (Hockney 1965), for any pattern; as rewriting of equations it is known
 * from level-set solvers on CPUs. */
#include "config.h"

#include "merge.cuh"

#include <cmath>
#include <cstring>

#include <cub/device/device_scan.cuh>

enum {
    THREADS = PLAIN,
    WARP = 32,
    ROOM = MERGE_ROOM,
    MOST = MERGE_MOST,
    LONG = -1, /* a row for merge_long.cu */
};

/* ---- what a row is made of ------------------------------------------------------------------------------- */

struct room { /* of a warp, in shared memory */
    int32_t col[ROOM];
    int64_t from[ROOM];  /* place of the entry in T */
    int8_t put_in[ROOM]; /* which of the rows put in it is from; -1: of the row itself */
    bool again[ROOM];    /* its column was there before */
    int32_t row[MOST];   /* put in */
    int64_t place[MOST]; /* of the entry that it is put in for */
    int64_t begin[MOST]; /* its entries */
    int32_t end[MOST];   /* where they end here */
};

struct parts {
    int count; /* entries, those of the same column counted apart */
    int rows;  /* put in; 0: it stays as it is; LONG: not enough room */
};

/* The entries of a row that stay, and the rows put in for those in the level just before. */
static __device__ parts sort_out(const trs_pattern &t, int64_t begin, int64_t end, int32_t level,
                                 room &w)
{
    const int lane = threadIdx.x % WARP;
    const unsigned before = (1u << lane) - 1;
    parts r = {0, 0};
    for (int64_t p = begin; p < end; p += WARP) {
        const int32_t j = p + lane < end ? t.idx[p + lane] : -1;
        const bool last = j >= 0 && t.level[j] == level - 1;
        const unsigned own = __ballot_sync(~0u, j >= 0 && !last), puts = __ballot_sync(~0u, last);
        const int to = r.count + __popc(own & before), k = r.rows + __popc(puts & before);
        if (j >= 0 && !last) {
            w.col[to] = j;
            w.from[to] = p + lane;
            w.put_in[to] = -1;
        }
        if (last && k < MOST) {
            w.row[k] = j;
            w.place[k] = p + lane;
        }
        r.count += __popc(own);
        r.rows += __popc(puts);
    }
    __syncwarp();
    return r;
}

/* Where the entries of the rows put in go; how many there are then. */
static __device__ int make_room(const trs_pattern &t, const parts &r, room &w)
{
    const int lane = threadIdx.x % WARP;
    int end = 0;
    if (lane < r.rows) {
        const int32_t j = w.row[lane];
        w.begin[lane] = t.ptr[j];
        end = (int)min(t.ptr[j + 1] - 1 - w.begin[lane], (int64_t)ROOM + 1);
    }
    for (int by = 1; by < WARP; by *= 2) {
        const int other = __shfl_up_sync(~0u, end, by);
        if (lane >= by) end += other;
    }
    if (lane < r.rows) w.end[lane] = r.count + end;
    __syncwarp();
    return r.count + __shfl_sync(~0u, end, WARP - 1);
}

/* By a warp: of a row of a level that is merged with the one before. */
static __device__ parts take_apart(const merging &m, int64_t i, room &w)
{
    const trs_pattern &t = m.from;
    const int64_t begin = t.ptr[i], end = t.ptr[i + 1] - 1;
    const int32_t level = t.level[i];
    if (!m.merged[level]) return {0, 0};
    if (end - begin > ROOM) return {0, LONG};
    const parts r = sort_out(t, begin, end, level, w);
    if (r.rows > MOST) return {0, LONG};
    const int count = make_room(t, r, w);
    if (count > ROOM) return {0, LONG};
    for (int a = r.count + threadIdx.x % WARP; a < count; a += WARP) {
        int k = 0;
        while (a >= w.end[k]) k++;
        w.from[a] = w.begin[k] + a - (k > 0 ? w.end[k - 1] : r.count);
        w.col[a] = t.idx[w.from[a]];
        w.put_in[a] = (int8_t)k;
    }
    __syncwarp();
    return {count, r.rows};
}

/* By a warp: how many different columns, and w.again. */
static __device__ int count_columns(room &w, int count)
{
    int found = 0;
    for (int a = threadIdx.x % WARP; a - (int)threadIdx.x % WARP < count; a += WARP) {
        bool first = a < count;
        for (int c = 0; c < a && first; c++) first = w.col[c] != w.col[a];
        if (a < count) w.again[a] = !first;
        found += __popc(__ballot_sync(~0u, first));
    }
    __syncwarp();
    return found;
}

static __device__ room &room_of_warp()
{
    __shared__ room all[THREADS / WARP];
    return all[threadIdx.x / WARP];
}

static __device__ int64_t row_of_warp()
{
    return (blockIdx.x * (int64_t)THREADS + threadIdx.x) / WARP;
}

/* What each level adds, were it merged; of every so many-th row.  Of all of them also m.ptr and m.to_ptr: entries of
 * each row of N and T'.  longs: the rows that are not counted here. */
static __global__ void tally_kernel(const merging m, int every, merge_tally *of, int32_t *longs)
{
    const int64_t i = row_of_warp() * every;
    room &w = room_of_warp();
    if (i >= m.from.n) return;
    const int32_t l = m.from.level[i];
    if (!m.merged[l]) return;
    const parts r = take_apart(m, i, w);
    const int64_t length = m.from.ptr[i + 1] - m.from.ptr[i];
    const int64_t now = r.rows ? count_columns(w, r.count) + 1 : length;
    if (threadIdx.x % WARP) return;
    if (r.rows == LONG) {
        atomicAdd(longs, 1);
        return;
    }
    if (every == 1) {
        m.ptr[i] = r.rows;
        m.to_ptr[i] = now;
    }
    if (r.rows)
        atomicAdd((unsigned long long *)&of[l].adds,
                  (unsigned long long)((now + r.rows - length) * every));
}

/* By a warp: the size of a long row. */
static __device__ merge_row measure(const trs_pattern &t, int32_t i)
{
    int64_t items = 0;
    int rows = 0;
    for (int64_t p = t.ptr[i] + threadIdx.x % WARP; p < t.ptr[i + 1] - 1; p += WARP) {
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

struct long_rows {
    int32_t count, largest; /* rows; items of one */
};

/* The long rows, in any order; of[l].stay for those that are too long even for a block. */
static __global__ void list_kernel(const merging m, int every, merge_tally *of, long_rows *found)
{
    const int64_t i = row_of_warp() * every;
    room &w = room_of_warp();
    if (i >= m.from.n || take_apart(m, i, w).rows != LONG) return;
    merge_tally &level = of[m.from.level[i]];
    const bool too_long = m.from.ptr[i + 1] - m.from.ptr[i] > MERGE_LONG_ITEMS;
    const merge_row row = too_long ? merge_row() : measure(m.from, (int32_t)i);
    if (threadIdx.x % WARP) return;
    if (too_long || row.rows > MERGE_LONG_ROWS || row.items > MERGE_LONG_ITEMS) {
        level.stay = 1;
    } else {
        const int64_t items = (int64_t)row.items * every;
        atomicAdd((unsigned long long *)&level.items, (unsigned long long)items);
        m.long_row[atomicAdd(&found->count, 1)] = row;
        atomicMax(&found->largest, row.items);
    }
}

/* Rows of levels that are not merged, and levels of all; number: of each level in T'. */
static __global__ void keep_kernel(const merging m, const int32_t *number)
{
    const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (i > m.from.n) return;
    const int32_t l = i < m.from.n ? m.from.level[i] : -1;
    if (l >= 0) m.to_level[i] = number[l];
    if (l >= 0 && m.merged[l]) return;
    m.ptr[i] = 0;
    m.to_ptr[i] = l < 0 ? 0 : m.from.ptr[i + 1] - m.from.ptr[i];
}

/* Columns of T', in the order in which they are met, and of N. */
static __global__ void fill_kernel(const merging m)
{
    const int64_t i = row_of_warp();
    const int lane = threadIdx.x % WARP;
    room &w = room_of_warp();
    if (i >= m.from.n) return;
    const int64_t begin = m.from.ptr[i], end = m.from.ptr[i + 1], to = m.to_ptr[i];
    const parts r = take_apart(m, i, w);
    if (r.rows == LONG) return;
    if (!r.rows) {
        for (int64_t p = begin + lane; p < end; p += WARP) m.to_idx[to + p - begin] = m.from.idx[p];
        return;
    }
    count_columns(w, r.count);
    int64_t next = to;
    for (int a0 = 0; a0 < r.count; a0 += WARP) {
        const int a = a0 + lane;
        const bool first = a < r.count && !w.again[a];
        const unsigned firsts = __ballot_sync(~0u, first);
        if (first) m.to_idx[next + __popc(firsts & ((1u << lane) - 1))] = w.col[a];
        next += __popc(firsts);
    }
    if (lane < r.rows) m.idx[m.ptr[i] + lane] = w.row[lane];
    if (lane == 0) m.to_idx[m.to_ptr[i + 1] - 1] = (int32_t)i;
}

/* ---- values ------------------------------------------------------------------------------------------------ */

/* -N of row i, and the sum of its magnitudes. */
template <class T>
static __device__ double factors(const merging &m, int64_t i, const T *val, const room &w, int rows)
{
    const int lane = threadIdx.x % WARP;
    double sum = 0;
    if (lane < rows) {
        const T f = number<T>(0) - val[w.place[lane]] / val[m.from.ptr[w.row[lane] + 1] - 1];
        ((T *)m.n_val)[m.ptr[i] + lane] = f;
        sum = magnitude(f);
    }
    for (int by = WARP / 2; by > 0; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
    __syncwarp();
    return sum;
}

template <class T>
static __global__ void values_kernel(const merging m, const T *val, uint64_t *growth)
{
    const int64_t i = row_of_warp();
    const int lane = threadIdx.x % WARP;
    room &w = room_of_warp();
    if (i >= m.from.n) return;
    const int64_t begin = m.from.ptr[i], end = m.from.ptr[i + 1], to = m.to_ptr[i];
    T *const out = (T *)m.val + to;
    const parts r = take_apart(m, i, w);
    /* T(i, j) / T(j, j) may underflow, which no sum shows */
    if (lane == 0 && !is_near_one(val[end - 1])) merge_grows(growth, INFINITY);
    if (r.rows == LONG) return;
    if (!r.rows) {
        for (int64_t p = begin + lane; p < end; p += WARP) out[p - begin] = val[p];
        return;
    }
    const double sum = factors(m, i, val, w, r.rows);
    const T *const f = (const T *)m.n_val + m.ptr[i];
    const int columns = (int)(m.to_ptr[i + 1] - to) - 1;
    for (int q = lane; q < columns; q += WARP) {
        const int32_t j = m.to_idx[to + q];
        T s = number<T>(0);
        for (int a = 0; a < r.count; a++) {
            if (w.col[a] != j) continue;
            const T v = val[w.from[a]];
            s = s + (w.put_in[a] < 0 ? v : f[w.put_in[a]] * v);
        }
        out[q] = s;
        if (!is_finite(s)) merge_grows(growth, INFINITY);
    }
    if (lane) return;
    out[columns] = val[end - 1];
    merge_grows(growth, sum);
}

/* ---- the host side ------------------------------------------------------------------------------------------ */

static int failed(trs_context *ctx, cudaError_t e)
{
    (void)cudaGetLastError();
    return trs_fail(ctx, TRS_EDEVICE, "merging levels: %s", cudaGetErrorString(e));
}

/* The sums before each of the numbers, in place. */
template <class V> static int add_up(trs_context *ctx, V *a, int64_t count)
{
    size_t bytes = 0;
    cudaError_t e = cub::DeviceScan::ExclusiveSum(NULL, bytes, a, a, count);
    if (e) return failed(ctx, e);
    void *temp = trs_gpu_scratch(ctx, (int64_t)bytes, "sums");
    if (!temp) return TRS_EMEM;
    e = cub::DeviceScan::ExclusiveSum(temp, bytes, a, a, count);
    return e ? failed(ctx, e) : TRS_OK;
}

/* What is decided of the levels; arrays on the host, [from.levels]. */
struct decision {
    unsigned char *merged;
    merge_tally *of;
    int32_t *number;
    merge_tally *there; /* of, on the device */
    long_rows *longs;   /* on the device */
    int32_t largest;    /* items of a long row */
};

static int decision_new(trs_context *ctx, int64_t levels, decision *d)
{
    d->merged = (unsigned char *)trs_new(ctx, levels, 1, "levels");
    if (d->merged) d->of = (merge_tally *)trs_new(ctx, levels, sizeof *d->of, "levels");
    if (d->of) d->number = (int32_t *)trs_new(ctx, levels, sizeof *d->number, "levels");
    if (d->number) d->there = (merge_tally *)trs_gpu_new(ctx, levels, sizeof *d->there, "levels");
    if (d->there) d->longs = (long_rows *)trs_gpu_new(ctx, 1, sizeof *d->longs, "long rows");
    return d->longs ? TRS_OK : TRS_EMEM;
}

static void decision_free(trs_context *ctx, decision *d)
{
    trs_free(&ctx->mem, d->merged);
    trs_free(&ctx->mem, d->of);
    trs_free(&ctx->mem, d->number);
    trs_gpu_free(ctx, d->there);
    trs_gpu_free(ctx, d->longs);
}

/* Levels stay whose long rows have too many items. */
static int bound_longs(trs_context *ctx, const merging *m, decision *d)
{
    const size_t bytes = (size_t)m->from.levels * sizeof *d->of;
    const int rc = trs_gpu_get(ctx, d->of, d->there, bytes);
    if (rc) return rc;
    for (int32_t l = 0; l < m->from.levels; l++)
        if (d->of[l].items > MERGE_LEVEL_ITEMS) d->of[l].stay = 1;
    return trs_gpu_put(ctx, d->there, d->of, bytes);
}

/* What the count of long rows adds to d->there. */
static int tally_longs(trs_context *ctx, merging *m, int every, int64_t rows, decision *d)
{
    long_rows found;
    int rc = trs_gpu_get(ctx, &found, d->longs, sizeof found);
    trs_gpu_free(ctx, m->long_row);
    m->long_row = NULL;
    m->longs = 0;
    if (rc || !found.count) return rc;
    m->long_row = (merge_row *)trs_gpu_new(ctx, found.count, sizeof *m->long_row, "long rows");
    if (!m->long_row) return TRS_EMEM;
    const cudaError_t e = cudaMemset(d->longs, 0, sizeof found);
    list_kernel<<<blocks_of(rows * WARP), THREADS>>>(*m, every, d->there, d->longs);
    rc = e ? failed(ctx, e) : trs_gpu_get(ctx, &found, d->longs, sizeof found);
    m->longs = found.count;
    d->largest = found.largest;
    if (!rc && m->longs) rc = bound_longs(ctx, m, d);
    return rc || !m->longs ? rc : merge_long_count(ctx, m, d->largest, every, d->there);
}

/* d->of, were all levels of that kind merged, from every so many-th row. */
static int tally_rows(trs_context *ctx, merging *m, int odd, int every, decision *d)
{
    const int32_t levels = m->from.levels;
    for (int32_t l = 0; l < levels; l++) d->merged[l] = l > 0 && l % 2 == odd;
    int rc = trs_gpu_put(ctx, m->merged, d->merged, (size_t)levels);
    if (rc) return rc;
    cudaError_t e = cudaMemset(d->there, 0, (size_t)levels * sizeof *d->there);
    if (!e) e = cudaMemset(d->longs, 0, sizeof *d->longs);
    const int64_t rows = (m->from.n + (int64_t)every - 1) / every;
    tally_kernel<<<blocks_of(rows * WARP), THREADS>>>(*m, every, d->there, &d->longs->count);
    rc = e ? failed(ctx, e) : tally_longs(ctx, m, every, rows, d);
    return rc ? rc : trs_gpu_get(ctx, d->of, d->there, (size_t)levels * sizeof *d->of);
}

enum { SLOTS = 3 }; /* of items, that take what an entry takes */

/* Hops that a pass has to save, of those that there are: it takes as long as the one before. */
static const double FEWEST = 0.05;

/* Those levels are merged whose entries cost less than a hop; m->to.levels: how many are left, 0 when all of
 * it is not worth the product. */
static void decide(merging *m, int64_t most, decision *d)
{
    double gain = 0; /* hops */
    int64_t entries = m->from.nnz;
    m->to.levels = m->from.levels;
    for (int32_t l = 0; l < m->from.levels; l++) {
        const double saved = 1 - (double)d->of[l].adds / MERGE_ENTRIES;
        if (d->of[l].stay || saved < 0) d->merged[l] = 0;
        if (!d->merged[l]) continue;
        gain += saved;
        entries += d->of[l].adds + d->of[l].items / SLOTS;
        m->to.levels--;
    }
    if (gain < merge_product_hops(m->from.n) + FEWEST * m->from.levels || entries > most)
        m->to.levels = 0;
}

/* How long the rows become, once it is decided. */
static int count(trs_context *ctx, merging *m, const decision *d)
{
    const int32_t n = m->from.n, levels = m->from.levels;
    for (int32_t l = 0, k = -1; l < levels; l++) d->number[l] = d->merged[l] ? k : ++k;
    int32_t *number = (int32_t *)trs_gpu_new(ctx, levels, sizeof *number, "levels");
    if (!number) return TRS_EMEM;
    int rc = trs_gpu_put(ctx, number, d->number, (size_t)levels * sizeof *number);
    if (!rc) rc = trs_gpu_put(ctx, m->merged, d->merged, (size_t)levels);
    if (!rc) {
        keep_kernel<<<blocks_of(n + (int64_t)1), THREADS>>>(*m, number);
        if (m->longs) rc = merge_long_place(ctx, m);
    }
    if (!rc) rc = add_up(ctx, m->to_ptr, n + (int64_t)1);
    if (!rc) rc = add_up(ctx, m->ptr, n + (int64_t)1);
    if (!rc) rc = trs_gpu_get(ctx, &m->to.nnz, m->to_ptr + n, sizeof m->to.nnz);
    if (!rc) rc = trs_gpu_get(ctx, &m->nnz, m->ptr + n, sizeof m->nnz);
    trs_gpu_free(ctx, number);
    return rc;
}

static int lines_new(trs_context *ctx, merging *m)
{
    const int64_t n = m->from.n;
    m->to_ptr = (int64_t *)trs_gpu_new(ctx, n + 1, sizeof(int64_t), "row pointers");
    if (m->to_ptr) m->to_level = (int32_t *)trs_gpu_new(ctx, n, sizeof(int32_t), "levels");
    if (m->to_level) m->ptr = (int64_t *)trs_gpu_new(ctx, n + 1, sizeof(int64_t), "row pointers");
    return m->ptr ? TRS_OK : TRS_EMEM;
}

static int entries_new(trs_context *ctx, size_t size, merging *m)
{
    m->to_idx = (int32_t *)trs_gpu_new(ctx, m->to.nnz, sizeof(int32_t), "columns");
    if (m->to_idx) m->val = trs_gpu_new(ctx, m->to.nnz, size, "values");
    if (m->val) m->idx = (int32_t *)trs_gpu_new(ctx, m->nnz, sizeof(int32_t), "columns");
    if (m->idx) m->n_val = trs_gpu_new(ctx, m->nnz, size, "factors");
    return m->n_val ? TRS_OK : TRS_EMEM;
}

static int carry_out(trs_context *ctx, const decision *d, size_t size, merging *m)
{
    int rc = count(ctx, m, d);
    if (!rc) rc = entries_new(ctx, size, m);
    if (rc) return rc;
    m->to.n = m->from.n;
    m->to.ptr = m->to_ptr;
    m->to.idx = m->to_idx;
    m->to.level = m->to_level;
    fill_kernel<<<blocks_of((int64_t)m->from.n * WARP), THREADS>>>(*m);
    if (m->longs) rc = merge_long_fill(ctx, m, d->largest);
    cudaError_t e = cudaGetLastError();
    if (!e) e = cudaDeviceSynchronize();
    return rc ? rc : e ? failed(ctx, e) : TRS_OK;
}

/* Of a large triangle a sample is asked first. */
int merge_new(trs_context *ctx, const trs_pattern *from, int odd, int64_t most, trs_dtype t,
              merging *m)
{
    enum { FEW = 100000, EVERY = 16 };
    decision d = {};
    m->from = *from;
    m->merged = (unsigned char *)trs_gpu_new(ctx, from->levels, 1, "levels");
    int rc = m->merged ? decision_new(ctx, from->levels, &d) : TRS_EMEM;
    m->to.levels = 1;
    for (int every = from->n > FEW ? EVERY : 1; every && m->to.levels && !rc; every /= EVERY) {
        if (every == 1) rc = lines_new(ctx, m);
        if (!rc) rc = tally_rows(ctx, m, odd, every, &d);
        if (!rc) decide(m, most, &d);
    }
    if (!rc && m->to.levels) rc = carry_out(ctx, &d, trs_size(t), m);
    decision_free(ctx, &d);
    return rc;
}

void merge_free(trs_context *ctx, merging *m)
{
    void *const all[] = {m->merged, m->to_ptr, m->to_idx,   m->to_level, m->val, m->ptr,
                         m->idx,    m->n_val,  m->long_row, m->slot,     m->wide};
    for (void *p : all) trs_gpu_free(ctx, p);
    memset(m, 0, sizeof *m);
}

int merge_take(const merging *m, trs_dtype t, const void *val, uint64_t *growth, void *stream)
{
    return for_type(t, [&](auto zero) {
        using T = decltype(zero);
        values_kernel<T>
            <<<blocks_of((int64_t)m->from.n * WARP), THREADS, 0, (cudaStream_t)stream>>>(
                *m, (const T *)val, growth);
        const int rc = launched();
        return rc || !m->longs ? rc : merge_long_take(m, t, val, growth, (cudaStream_t)stream);
    });
}
