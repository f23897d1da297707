/* merge_long.cu: the pattern of long rows, which do not fit into the shared memory of a warp.
 *
 * A block a row; none waits for another.  A hash table in global memory finds the terms of one column; the first of
 * them, by number, determines the entry of T' for the column, so T' does not depend on which thread reached the
 * table first.  The target of each term is stored, 4 bytes a term, because a table at each update would take much
 * longer than the sums.  Bytes: 4 a term, and 8 to 16 of the table, at random. */
#include "config.h"

#include "merge_long.cuh"

#include <climits>

using namespace long_rows;

enum {
    WARP = 32,
    TABLES = 128 << 20, /* bytes of the tables of all blocks */
};

/* ---- which rows are long ------------------------------------------------------------------------- */

/* By a warp: the size of row i. */
static __device__ merge_long_row measure(const trs_pattern &t, int32_t i)
{
    const int lane = (int)(threadIdx.x % WARP);
    int64_t terms = 0;
    int rows = 0;
    for (int64_t p = t.ptr[i] + lane; p < t.ptr[i + 1] - 1; p += WARP) {
        const int32_t j = t.idx[p];
        const bool is = t.level[j] == t.level[i] - 1;
        rows += is;
        terms += 1 + (is ? t.ptr[j + 1] - t.ptr[j] - 1 : 0);
    }
    for (int by = WARP / 2; by > 0; by /= 2) {
        terms += __shfl_xor_sync(~0u, terms, by);
        rows += __shfl_xor_sync(~0u, rows, by);
    }
    return {i, rows, (int32_t)min(terms, (int64_t)INT32_MAX), 0, 0};
}

struct listing {
    const int32_t *list; /* rows that are not short, and how many */
    int32_t listed;
    int every;
    merge_level *level;
    merge_totals *totals;
};

/* The long rows, in any order; a level with one that is too long even for a block is fixed.  A warp a row. */
static __global__ void list_kernel(const merge_pass m, const listing g)
{
    const int64_t k = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / WARP;
    if (k >= g.listed) return;
    const int32_t i = g.list[k];
    merge_level &level = g.level[m.from.level[i]];
    const bool too_long = m.from.ptr[i + 1] - m.from.ptr[i] > MERGE_LONG_TERMS;
    const merge_long_row row = too_long ? merge_long_row() : measure(m.from, i);
    if (threadIdx.x % WARP) return;
    if (too_long || row.substituted > MERGE_LONG_ROWS || row.terms > MERGE_LONG_TERMS) {
        level.fixed = 1;
    } else {
        const int64_t terms = (int64_t)row.terms * g.every;
        atomicAdd((unsigned long long *)&level.long_terms, (unsigned long long)terms);
        m.long_row[atomicAdd(&g.totals->long_rows, 1)] = row;
        atomicMax(&g.totals->most_terms, row.terms);
    }
}

/* ---- terms --------------------------------------------------------------------------------------- */

static __device__ inline int32_t terms_of(const long_row &r, const substituted_rows &sh)
{
    return r.length + sh.begin[r.substituted];
}

/* The column of a term; MERGE_NONE for an entry that a row is substituted for. */
static __device__ int32_t column_of(const trs_pattern &t, const long_row &r,
                                    const substituted_rows &sh, int32_t a)
{
    if (a < r.length) {
        const int32_t j = t.idx[r.begin + a];
        return t.level[j] == r.level - 1 ? (int32_t)MERGE_NONE : j;
    }
    a -= r.length;
    int32_t low = 0, high = r.substituted; /* the last row that begins at a or before */
    while (high - low > 1) {
        const int32_t middle = (low + high) / 2;
        if (sh.begin[middle] <= a) low = middle;
        else high = middle;
    }
    return t.idx[t.ptr[sh.row[low]] + a - sh.begin[low]];
}

/* ---- the table of a block ------------------------------------------------------------------------ */

struct table {
    int32_t *column; /* [size] MERGE_NONE: free */
    int32_t *first; /* [size] its first term; once its place in the row of T' is known, -1 - that */
    unsigned mask;  /* size - 1 */
};

static __host__ __device__ inline unsigned table_size(int32_t terms)
{
    unsigned size = 64;
    while (size < 2 * (unsigned)terms) size *= 2;
    return size;
}

static __device__ table clear_table(int32_t *memory, unsigned each, int32_t terms)
{
    const unsigned size = table_size(terms);
    TRS_ASSERT(size <= each);
    int32_t *const base = memory + (size_t)blockIdx.x * 2 * each;
    const table h = {base, base + each, size - 1};
    for (unsigned k = threadIdx.x; k < size; k += THREADS) {
        h.column[k] = MERGE_NONE;
        h.first[k] = INT_MAX;
    }
    __syncthreads();
    return h;
}

static __device__ inline unsigned place_in(const table &h, int32_t column)
{
    return ((unsigned)column * 2654435761u >> 7) & h.mask;
}

/* Term a; true for the first that came. */
static __device__ bool put_term(const table &h, int32_t column, int32_t a)
{
    for (unsigned k = place_in(h, column);; k = (k + 1) & h.mask) {
        const int32_t there = atomicCAS(&h.column[k], MERGE_NONE, column);
        if (there != MERGE_NONE && there != column) continue;
        atomicMin(&h.first[k], a);
        return there == MERGE_NONE;
    }
}

/* first of a column that is in the table. */
static __device__ int32_t *first_of(const table &h, int32_t column)
{
    unsigned k = place_in(h, column);
    while (h.column[k] != column) k = (k + 1) & h.mask;
    return &h.first[k];
}

/* By the block: all terms; how many columns they have. */
static __device__ int32_t put_terms(const trs_pattern &t, const long_row &r, substituted_rows &sh,
                                    const table &h)
{
    const int32_t terms = terms_of(r, sh);
    int32_t found = 0;
    if (threadIdx.x == 0) sh.columns = 0;
    for (int32_t a = (int32_t)threadIdx.x; a < terms; a += THREADS) {
        const int32_t j = column_of(t, r, sh, a);
        if (j != MERGE_NONE) found += put_term(h, j, a);
    }
    __syncthreads();
    if (found) atomicAdd(&sh.columns, found);
    __syncthreads();
    return sh.columns;
}

/* ---- kernels ------------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(THREADS)
    count_kernel(const merge_pass m, int32_t *memory, unsigned each, int every, merge_level *of)
{
    __shared__ substituted_rows sh;
    for (int32_t k = (int32_t)blockIdx.x; k < m.long_rows; k += (int32_t)gridDim.x) {
        merge_long_row &row = m.long_row[k];
        if (of[m.from.level[row.row]].fixed) continue;
        const long_row r = find_substituted(m.from, row.row, sh);
        TRS_ASSERT(r.substituted == row.substituted && terms_of(r, sh) == row.terms);
        const table h = clear_table(memory, each, terms_of(r, sh));
        const int32_t columns = put_terms(m.from, r, sh, h);
        if (threadIdx.x > 0) continue;
        const int64_t fill =
            ((int64_t)columns + r.substituted - r.length) * every * MERGE_LONG_WEIGHT;
        row.columns = columns;
        atomicAdd((unsigned long long *)&of[r.level].fill, (unsigned long long)fill);
    }
}

struct placed { /* so far */
    unsigned long long targets;
    int32_t block_rows;
};

static __global__ void place_kernel(const merge_pass m, const merge_survey s, placed *found)
{
    const int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (k >= m.long_rows) return;
    merge_long_row &row = m.long_row[k];
    row.first_target = MERGE_NONE;
    if (!is_merged(s.new_level, m.from.level[row.row])) return;
    s.to_count[row.row] = row.columns + 1;
    s.n_count[row.row] = row.substituted;
    row.first_target = (int64_t)atomicAdd(&found->targets, (unsigned long long)row.terms);
    if (row.substituted > MERGE_SHORT_ROWS) m.block_row[atomicAdd(&found->block_rows, 1)] = row.row;
}

/* By the block: the places of the columns in the row of T', in the order of their first terms. */
static __device__ void number_columns(const merge_pass &m, const long_row &r, substituted_rows &sh,
                                      const table &h, int64_t to)
{
    const int32_t terms = terms_of(r, sh);
    int32_t columns = 0;
    for (int32_t a0 = 0; a0 < terms; a0 += THREADS) {
        const int32_t a = a0 + (int32_t)threadIdx.x;
        const int32_t j = a < terms ? column_of(m.from, r, sh, a) : (int32_t)MERGE_NONE;
        int32_t *const first = j != MERGE_NONE ? first_of(h, j) : NULL;
        const int32_t is_first = first && *first == a;
        int32_t all;
        const int32_t before = sum_of_threads_before(is_first, sh, all);
        __syncthreads();
        if (is_first) {
            *first = -1 - (columns + before);
            m.to_idx[to + columns + before] = j;
        }
        columns += all;
    }
    __syncthreads();
}

static __global__ void __launch_bounds__(THREADS)
    fill_kernel(const merge_pass m, int32_t *memory, unsigned each)
{
    __shared__ substituted_rows sh;
    for (int32_t k = (int32_t)blockIdx.x; k < m.long_rows; k += (int32_t)gridDim.x) {
        const merge_long_row row = m.long_row[k];
        if (row.first_target == MERGE_NONE) continue;
        const long_row r = find_substituted(m.from, row.row, sh);
        const table h = clear_table(memory, each, row.terms);
        put_terms(m.from, r, sh, h);
        TRS_ASSERT(sh.columns == row.columns);
        number_columns(m, r, sh, h, m.to_ptr[row.row]);
        for (int32_t a = (int32_t)threadIdx.x; a < row.terms; a += THREADS) {
            const int32_t j = column_of(m.from, r, sh, a);
            m.target[row.first_target + a] =
                j == MERGE_NONE ? (int32_t)MERGE_NONE : -1 - *first_of(h, j);
        }
        for (int32_t q = (int32_t)threadIdx.x; q < r.substituted; q += THREADS)
            m.n_idx[m.n_ptr[row.row] + q] = sh.row[q];
        if (threadIdx.x == 0) m.to_idx[m.to_ptr[row.row + 1] - 1] = row.row;
    }
}

/* ---- the host side ------------------------------------------------------------------------------- */

int merge_long_list(trs_context *ctx, const int32_t *list, int every, const merge_survey *s,
                    merge_pass *m)
{
    const listing g = {list, s->host.totals->listed, every, s->device.level, s->device.totals};
    m->long_row = device_new<merge_long_row>(ctx, g.listed, "long rows");
    if (!m->long_row) return TRS_EMEM;
    m->listed_bytes = g.listed * (int64_t)sizeof *m->long_row;
    list_kernel<<<blocks_of(g.listed * (int64_t)WARP), PLAIN>>>(*m, g);
    return launched();
}

struct tables {
    int32_t *memory;
    unsigned each, blocks;
};

static int tables_new(trs_context *ctx, const merge_pass *m, tables *t)
{
    const int64_t bytes = 2 * (int64_t)sizeof(int32_t) * table_size(m->most_terms);
    const int64_t most = min(4 * (int64_t)multiprocessors(), TABLES / bytes);
    t->each = table_size(m->most_terms);
    t->blocks = (unsigned)max((int64_t)1, min((int64_t)m->long_rows, most));
    t->memory = (int32_t *)trs_gpu_scratch(ctx, bytes * t->blocks, "tables of columns");
    return t->memory ? TRS_OK : TRS_EMEM;
}

int merge_long_count(trs_context *ctx, int every, const merge_survey *s, const merge_pass *m)
{
    tables t;
    int rc = tables_new(ctx, m, &t);
    if (rc) return rc;
    count_kernel<<<t.blocks, THREADS>>>(*m, t.memory, t.each, every, s->device.level);
    return launched();
}

int merge_long_place(trs_context *ctx, const merge_survey *s, merge_pass *m)
{
    placed found = {};
    m->block_row = device_new<int32_t>(ctx, m->long_rows, "long rows");
    placed *there = m->block_row ? (placed *)trs_gpu_scratch(ctx, sizeof found, "targets") : NULL;
    if (!there) return TRS_EMEM;
    const cudaError_t e = cudaMemsetAsync(there, 0, sizeof found, NULL);
    place_kernel<<<blocks_of(m->long_rows), THREADS>>>(*m, *s, there);
    int rc = cuda_status(e, "merging levels");
    if (!rc) rc = trs_gpu_get(ctx, &found, there, sizeof found);
    if (rc) return rc;
    m->block_rows = found.block_rows;
    const int64_t targets = (int64_t)found.targets;
    m->target = device_new<int32_t>(ctx, max(targets, (int64_t)1), "targets");
    m->bytes += (m->long_rows + targets) * (int64_t)sizeof *m->target;
    return m->target ? TRS_OK : TRS_EMEM;
}

int merge_long_fill(trs_context *ctx, const merge_pass *m)
{
    tables t;
    int rc = tables_new(ctx, m, &t);
    if (rc) return rc;
    fill_kernel<<<t.blocks, THREADS>>>(*m, t.memory, t.each);
    return launched();
}
