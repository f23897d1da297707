/* merge_long.cu: rows of merged levels that a warp has no room for.
 *
 * A block a row.  Its items are its own entries and then those of the rows put in, one row after the other.  A hash
 * table finds items of the same column; the first of them gives the column its slot, in the order of the items, so
 * that T' does not depend on who was first in the table.  Slots are kept: new values are added row after row with
 * a barrier in between, no two items of one row have the same slot, and so the order of a sum is that of the rows.
 * No block waits for another.  Bytes: 12 an item, and for analysis 8 to 16 of the table, at random. */
#include "config.h"

#include "merge.cuh"

#include <climits>

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

enum {
    THREADS = PLAIN,
    MOST = MERGE_LONG_ROWS,
    TABLES = 128 << 20, /* bytes of the tables of all blocks */
    NONE = -1,
};

typedef cub::BlockScan<int32_t, THREADS> scan;

struct put_rows { /* the rows put in for one, in shared memory */
    int32_t row[MOST];
    int32_t place[MOST];     /* of the entry that it is put in for, in its row */
    int32_t begin[MOST + 1]; /* of its entries among those of all of them */
    scan::TempStorage scans;
    int32_t found;
};

/* Where row i of T is. */
struct line {
    int64_t begin;
    int32_t length; /* without the diagonal */
    int32_t level;
    int32_t rows; /* put in */
};

/* By the block: sh.begin, once the rows are known. */
static __device__ void sum_lengths(const trs_pattern &t, int32_t rows, put_rows &sh)
{
    int32_t sum = 0;
    for (int32_t k0 = 0; k0 < rows; k0 += THREADS) {
        const int32_t k = k0 + (int32_t)threadIdx.x;
        const int32_t j = k < rows ? sh.row[k] : 0;
        int32_t length = k < rows ? (int32_t)(t.ptr[j + 1] - t.ptr[j] - 1) : 0, before, all;
        scan(sh.scans).ExclusiveSum(length, before, all);
        __syncthreads();
        if (k < rows) sh.begin[k] = sum + before;
        sum += all;
    }
    if (threadIdx.x == 0) sh.begin[rows] = sum;
    __syncthreads();
}

/* By the block: the rows put in for row i, in their order. */
static __device__ line find_rows(const trs_pattern &t, int32_t i, put_rows &sh)
{
    line r = {t.ptr[i], (int32_t)(t.ptr[i + 1] - t.ptr[i] - 1), t.level[i], 0};
    __syncthreads(); /* nobody reads those of the row before any more */
    for (int32_t a0 = 0; a0 < r.length; a0 += THREADS) {
        const int32_t a = a0 + (int32_t)threadIdx.x;
        const int32_t j = a < r.length ? t.idx[r.begin + a] : 0;
        const int32_t put = a < r.length && t.level[j] == r.level - 1;
        int32_t before, all;
        scan(sh.scans).ExclusiveSum(put, before, all);
        __syncthreads();
        if (put) {
            sh.row[r.rows + before] = j;
            sh.place[r.rows + before] = a;
        }
        r.rows += all;
    }
    __syncthreads();
    sum_lengths(t, r.rows, sh);
    return r;
}

static __device__ inline int32_t items_of(const line &r, const put_rows &sh)
{
    return r.length + sh.begin[r.rows];
}

/* The column of an item; NONE for an entry that a row is put in for. */
static __device__ int32_t column_of(const trs_pattern &t, const line &r, const put_rows &sh,
                                    int32_t a)
{
    if (a < r.length) {
        const int32_t j = t.idx[r.begin + a];
        return t.level[j] == r.level - 1 ? (int32_t)NONE : j;
    }
    a -= r.length;
    int32_t low = 0, high = r.rows; /* the last that begins at a or before */
    while (high - low > 1) {
        const int32_t middle = (low + high) / 2;
        if (sh.begin[middle] <= a) low = middle;
        else high = middle;
    }
    return t.idx[t.ptr[sh.row[low]] + a - sh.begin[low]];
}

/* ---- the table of a block ------------------------------------------------------------------------------------- */

struct table {
    int32_t *column; /* [size] NONE: free */
    int32_t *first;  /* [size] item of that column; -1 - its slot, once it has one */
    unsigned mask;   /* size - 1 */
};

static __host__ __device__ inline unsigned table_size(int32_t items)
{
    unsigned size = 64;
    while (size < 2 * (unsigned)items) size *= 2;
    return size;
}

static __device__ table clear_table(int32_t *memory, unsigned each, int32_t items)
{
    const unsigned size = table_size(items);
    int32_t *const base = memory + (size_t)blockIdx.x * 2 * each;
    const table h = {base, base + each, size - 1};
    for (unsigned k = threadIdx.x; k < size; k += THREADS) {
        h.column[k] = NONE;
        h.first[k] = INT_MAX;
    }
    __syncthreads();
    return h;
}

static __device__ inline unsigned place_in(const table &h, int32_t column)
{
    return ((unsigned)column * 2654435761u >> 7) & h.mask;
}

/* Item a; true for the first that came. */
static __device__ bool put_item(const table &h, int32_t column, int32_t a)
{
    for (unsigned k = place_in(h, column);; k = (k + 1) & h.mask) {
        const int32_t there = atomicCAS(&h.column[k], NONE, column);
        if (there != NONE && there != column) continue;
        atomicMin(&h.first[k], a);
        return there == NONE;
    }
}

/* first of a column that is in the table. */
static __device__ int32_t *first_of(const table &h, int32_t column)
{
    unsigned k = place_in(h, column);
    while (h.column[k] != column) k = (k + 1) & h.mask;
    return &h.first[k];
}

/* By the block: all items; how many columns they have. */
static __device__ int32_t put_items(const trs_pattern &t, const line &r, put_rows &sh,
                                    const table &h)
{
    const int32_t items = items_of(r, sh);
    int32_t found = 0;
    if (threadIdx.x == 0) sh.found = 0;
    for (int32_t a = (int32_t)threadIdx.x; a < items; a += THREADS) {
        const int32_t j = column_of(t, r, sh, a);
        if (j != NONE) found += put_item(h, j, a);
    }
    __syncthreads();
    if (found) atomicAdd(&sh.found, found);
    __syncthreads();
    return sh.found;
}

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(THREADS)
    count_kernel(const merging m, int32_t *memory, unsigned each, int every, merge_tally *of)
{
    __shared__ put_rows sh;
    for (int32_t k = (int32_t)blockIdx.x; k < m.longs; k += (int32_t)gridDim.x) {
        merge_row &row = m.long_row[k];
        if (of[m.from.level[row.row]].stay) continue;
        const line r = find_rows(m.from, row.row, sh);
        const table h = clear_table(memory, each, items_of(r, sh));
        const int32_t columns = put_items(m.from, r, sh, h);
        if (threadIdx.x > 0) continue;
        const int64_t added = ((int64_t)columns + r.rows - r.length) * every * MERGE_LONG_PRICE;
        row.columns = columns;
        atomicAdd((unsigned long long *)&of[r.level].adds, (unsigned long long)added);
    }
}

struct places { /* slots; wide rows */
    unsigned long long slots;
    int32_t wides;
};

static __global__ void place_kernel(const merging m, places *found)
{
    const int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (k >= m.longs) return;
    merge_row &row = m.long_row[k];
    row.slot = NONE;
    if (!merges(m, m.from.level[row.row])) return;
    m.to_ptr[row.row] = row.columns + 1;
    m.ptr[row.row] = row.rows;
    row.slot = (int64_t)atomicAdd(&found->slots, (unsigned long long)row.items);
    if (row.rows > MERGE_MOST) m.wide[atomicAdd(&found->wides, 1)] = row.row;
}

/* By the block: the slots of the columns, in the order of their first items. */
static __device__ void number_columns(const merging &m, const line &r, put_rows &sh, const table &h,
                                      int64_t to)
{
    const int32_t items = items_of(r, sh);
    int32_t slots = 0;
    for (int32_t a0 = 0; a0 < items; a0 += THREADS) {
        const int32_t a = a0 + (int32_t)threadIdx.x;
        const int32_t j = a < items ? column_of(m.from, r, sh, a) : (int32_t)NONE;
        int32_t *const first = j != NONE ? first_of(h, j) : NULL;
        const int32_t is_first = first && *first == a;
        int32_t before, all;
        scan(sh.scans).ExclusiveSum(is_first, before, all);
        __syncthreads();
        if (is_first) {
            *first = -1 - (slots + before);
            m.to_idx[to + slots + before] = j;
        }
        slots += all;
    }
    __syncthreads();
}

static __global__ void __launch_bounds__(THREADS)
    fill_kernel(const merging m, int32_t *memory, unsigned each)
{
    __shared__ put_rows sh;
    for (int32_t k = (int32_t)blockIdx.x; k < m.longs; k += (int32_t)gridDim.x) {
        const merge_row row = m.long_row[k];
        if (row.slot == NONE) continue;
        const line r = find_rows(m.from, row.row, sh);
        const table h = clear_table(memory, each, row.items);
        put_items(m.from, r, sh, h);
        number_columns(m, r, sh, h, m.to_ptr[row.row]);
        for (int32_t a = (int32_t)threadIdx.x; a < row.items; a += THREADS) {
            const int32_t j = column_of(m.from, r, sh, a);
            m.slot[row.slot + a] = j == NONE ? (int32_t)NONE : -1 - *first_of(h, j);
        }
        for (int32_t q = (int32_t)threadIdx.x; q < r.rows; q += THREADS)
            m.idx[m.ptr[row.row] + q] = sh.row[q];
        if (threadIdx.x == 0) m.to_idx[m.to_ptr[row.row + 1] - 1] = row.row;
    }
}

/* By the block: -N of the row; thread 0 gets the sum of its magnitudes. */
template <class T>
static __device__ double factors(const merging &m, int32_t i, const line &r, const put_rows &sh,
                                 const T *val)
{
    typedef cub::BlockReduce<double, THREADS> reduce;
    __shared__ typename reduce::TempStorage storage;
    double sum = 0;
    for (int32_t k = (int32_t)threadIdx.x; k < r.rows; k += THREADS) {
        const T d = val[m.from.ptr[sh.row[k] + 1] - 1];
        const T f = number<T>(0) - val[r.begin + sh.place[k]] / d;
        ((T *)m.n_val)[m.ptr[i] + k] = f;
        sum += magnitude(f);
    }
    sum = reduce(storage).Sum(sum);
    __syncthreads();
    return sum;
}

/* By the block: the sums of the items of a row; f: -N.  True to a thread that has seen one that is not finite. */
template <class T>
static __device__ bool add_items(const merging &m, const merge_row &row, const line &r,
                                 const put_rows &sh, const T *val, const T *f, T *out)
{
    const int32_t *const slot = m.slot + row.slot, me = (int32_t)threadIdx.x;
    for (int32_t q = me; q < row.columns; q += THREADS) out[q] = number<T>(0);
    __syncthreads();
    for (int32_t a = me; a < r.length; a += THREADS)
        if (slot[a] != NONE) out[slot[a]] = val[r.begin + a];
    for (int32_t k = 0; k < r.rows; k++) {
        const T *const of = val + m.from.ptr[sh.row[k]] - sh.begin[k];
        __syncthreads();
        for (int32_t a = sh.begin[k] + me; a < sh.begin[k + 1]; a += THREADS) {
            T &sum = out[slot[r.length + a]];
            sum = sum + f[k] * of[a];
        }
    }
    __syncthreads();
    bool bad = false;
    for (int32_t q = me; q < row.columns; q += THREADS) bad |= !is_finite(out[q]);
    return bad;
}

template <class T>
static __global__ void __launch_bounds__(THREADS)
    values_kernel(const merging m, const T *val, uint64_t *growth)
{
    __shared__ put_rows sh;
    for (int32_t k = (int32_t)blockIdx.x; k < m.longs; k += (int32_t)gridDim.x) {
        const merge_row row = m.long_row[k];
        if (row.slot == NONE) continue;
        T *const out = (T *)m.val + m.to_ptr[row.row];
        const line r = find_rows(m.from, row.row, sh);
        const double sum = factors(m, row.row, r, sh, val);
        const T *const f = (const T *)m.n_val + m.ptr[row.row];
        if (add_items(m, row, r, sh, val, f, out)) merge_grows(growth, INFINITY);
        if (threadIdx.x > 0) continue;
        out[row.columns] = val[r.begin + r.length];
        merge_grows(growth, sum);
    }
}

/* ---- the host side ------------------------------------------------------------------------------------------------ */

static int failed(cudaError_t e)
{
    (void)cudaGetLastError();
    return trs_fail(TRS_EDEVICE, "merging long rows: %s", cudaGetErrorString(e));
}

struct tables {
    int32_t *memory;
    unsigned each, blocks;
};

static int tables_new(trs_context *ctx, const merging *m, tables *t)
{
    const int64_t bytes = 2 * (int64_t)sizeof(int32_t) * table_size(m->largest);
    const int64_t most = min(4 * (int64_t)multiprocessors(), TABLES / bytes);
    t->each = table_size(m->largest);
    t->blocks = (unsigned)max((int64_t)1, min((int64_t)m->longs, most));
    t->memory = (int32_t *)trs_gpu_scratch(ctx, bytes * t->blocks, "tables of columns");
    return t->memory ? TRS_OK : TRS_EMEM;
}

int merge_long_count(trs_context *ctx, const merging *m, int every, merge_tally *of)
{
    tables t;
    int rc = tables_new(ctx, m, &t);
    if (rc) return rc;
    count_kernel<<<t.blocks, THREADS>>>(*m, t.memory, t.each, every, of);
    const cudaError_t e = cudaGetLastError();
    return e ? failed(e) : TRS_OK;
}

int merge_long_place(trs_context *ctx, merging *m)
{
    places found = {};
    m->wide = (int32_t *)trs_gpu_new(ctx, m->longs, sizeof *m->wide, "wide rows");
    places *there = m->wide ? (places *)trs_gpu_scratch(ctx, sizeof found, "slots") : NULL;
    if (!there) return TRS_EMEM;
    const cudaError_t e = cudaMemsetAsync(there, 0, sizeof found, NULL);
    place_kernel<<<blocks_of(m->longs), THREADS>>>(*m, there);
    int rc = e ? failed(e) : trs_gpu_get(ctx, &found, there, sizeof found);
    if (rc) return rc;
    m->wides = found.wides;
    const int64_t slots = (int64_t)found.slots;
    m->slot = (int32_t *)trs_gpu_new(ctx, slots ? slots : 1, sizeof *m->slot, "slots");
    return m->slot ? TRS_OK : TRS_EMEM;
}

int merge_long_fill(trs_context *ctx, const merging *m)
{
    tables t;
    int rc = tables_new(ctx, m, &t);
    if (rc) return rc;
    fill_kernel<<<t.blocks, THREADS>>>(*m, t.memory, t.each);
    const cudaError_t e = cudaGetLastError();
    return e ? failed(e) : TRS_OK;
}

int merge_long_take(const merging *m, trs_dtype t, const void *val, uint64_t *growth,
                    cudaStream_t stream)
{
    const unsigned blocks = (unsigned)min(m->longs, 8 * multiprocessors());
    return for_type(t, [&](auto zero) {
        using T = decltype(zero);
        values_kernel<T><<<blocks, THREADS, 0, stream>>>(*m, (const T *)val, growth);
        return launched();
    });
}
