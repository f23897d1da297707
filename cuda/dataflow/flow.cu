/* flow.cu: the schedule of cuda-dataflow, made on the device.
 *
 * Cutting long rows.  A row with m > 512 entries would occupy one warp for 4 rounds of loads and more.  It is
 * cut into m / 256 nodes: partial sums of 256 entries each, and the row itself with the 256 to 511 entries that
 * come last:
 *
 *        entries by level (flow_sort.cu)   0 .. 255 | 256 .. 511 | 512 .. 767 | 768 .. m-1   diagonal
 *        node                              partial  | partial    | partial    | row
 *        operands of the row                  x          x            x         x x ... x
 *
 * A partial sum needs early operands only, and is complete by the time that the row's own, last operands
 * arrive.  So the critical path of the row is not longer than before.
 *
 * Order.  The levels of the rows are known.  A row of level l gets the key 2 l; a partial sum whose entries
 * have levels up to l gets 2 l + 1, which is after all of its operands and before its row, whose level is
 * greater than l.  A stable radix sort by (key, lanes) gives the order of the schedule, which therefore depends
 * on the pattern alone.
 *
 * Wide triangles.  Where levels are wide and rows short, a node gets one lane whatever its length, so that a task
 * is 32 rows of a level, and the operands of a row are sorted by their places in the schedule (wide.cu).
 *
 * A node has two numbers.  x is its number in row order, where the nodes of a row are adjacent and the row
 * follows its partial sums; k is its place in the schedule.  The schedule refers to nodes by k only.
 *
 * Bytes: about 130 a node and 12 an entry, some of them at random, and what the sort moves: O(n + nnz). */
#include "config.h"

#include "dataflow.cuh"
#include "cuda/runtime/sort.cuh"

#include <cstring>

enum { WARP = TRS_FLOW_WARP, BATCH = TRS_FLOW_BATCH, PARTIAL = TRS_FLOW_PARTIAL };

/* What a schedule is made from and by; the arrays are on the device. */
struct making {
    int32_t n, nodes;
    bool wide;
    const int64_t *Lp;
    const int32_t *Li, *level; /* [n] of rows */
    int64_t *begin;            /* [n] of a long row in flow.sorted, else -1; NULL: no row is long */
    /* the next three are NULL if no row is cut: node x is row x */
    int32_t *row_nodes; /* [n+1] nodes of each row, then 0 */
    int32_t *first;     /* [n+1] x of the first node of each row */
    int32_t *row;       /* [nodes] row that node x is, or is a partial sum of */
    uint64_t *node_key; /* [nodes] level and lanes of node x */
    int32_t *identity;  /* [nodes] 0, 1, ... */
    uint64_t *key;      /* [nodes] level and lanes of node k */
    int32_t *order;     /* [nodes] x of node k */
    int32_t *place;     /* [nodes] k of node x */
    int32_t *row_place; /* [n] k of each row */
    int32_t *length;    /* [nodes+1] operands of node k, then 0 */
    int32_t *mark;      /* [nodes] k if node k - 1 has another key, else 0 */
    int32_t *same_key;  /* [nodes] the first node with the key of node k */
    int32_t *starts;    /* [nodes+1] 1: a task begins at node k; then 0 */
    int32_t *task;      /* [nodes+1] tasks that begin before node k */
    int32_t *most;      /* [1] operands of the task that has most of them */
    sort_temp temp;
};

/* ---- nodes ------------------------------------------------------------------------------------------------ */

struct node {
    int32_t row;
    bool is_partial;
    int32_t partials; /* among its operands */
    int64_t source;   /* as in the flow */
    int32_t length;   /* operands */
};

/* Node x, from the pattern. */
static __device__ node node_of(const making &m, int32_t x)
{
    const int32_t i = m.row ? m.row[x] : x, k = m.row ? x - m.first[i] : 0;
    const int32_t partials = m.row ? m.first[i + 1] - m.first[i] - 1 : 0;
    const int64_t begin = m.begin ? m.begin[i] : -1, skip = (int64_t)k * PARTIAL;
    const int64_t source = begin < 0 ? m.Lp[i] + skip : ~(begin + skip);
    const int64_t entries = m.Lp[i + 1] - 1 - m.Lp[i]; /* left of the diagonal */
    TRS_ASSERT(0 <= k && k <= partials && skip <= entries);
    if (k < partials) return {i, true, 0, source, PARTIAL};
    return {i, false, partials, source, (int32_t)(entries - skip) + partials};
}

/* Which entry of the triangle is entry e of those that begin at source. */
static __device__ inline int64_t entry_of(const int64_t *sorted, int64_t source, int32_t e)
{
    return source < 0 ? sorted[~source + e] : source + e;
}

static __global__ void row_nodes_kernel(const making m)
{
    const int32_t i = index32_of_thread();
    if (i > m.n) return;
    const int64_t entries = i < m.n ? m.Lp[i + 1] - m.Lp[i] - 1 : 0;
    const int32_t nodes = entries > 2 * PARTIAL ? (int32_t)(entries / PARTIAL) : 1;
    m.row_nodes[i] = i < m.n ? nodes : 0;
}

static __global__ void row_kernel(const making m)
{
    const int32_t i = index32_of_thread();
    if (i >= m.n) return;
    for (int32_t x = m.first[i]; x < m.first[i + 1]; x++) m.row[x] = i;
}

/* ---- their order -------------------------------------------------------------------------------------------- */

enum { LANES_BITS = 3 }; /* of a key; the level stands above them */

/* The logarithm of the lanes of a node: the least with which each lane has one batch, at most a warp. */
static __device__ int log2_lanes(int32_t length)
{
    return length <= BATCH ? 0 : min(32 - __clz((length - 1) / BATCH), 5);
}

static __device__ int lanes_of_key(uint64_t key)
{
    return 1 << (key & ((1 << LANES_BITS) - 1));
}

static __global__ void key_kernel(const making m, const int64_t *sorted)
{
    const int32_t x = index32_of_thread();
    if (x >= m.nodes) return;
    const node v = node_of(m, x);
    uint64_t level = 2 * (uint64_t)m.level[v.row];
    if (v.is_partial) {
        int32_t last = 0;
        for (int e = 0; e < PARTIAL; e++)
            last = max(last, m.level[m.Li[entry_of(sorted, v.source, e)]]);
        TRS_ASSERT(last < m.level[v.row]);
        level = 2 * (uint64_t)last + 1;
    }
    m.node_key[x] = level << LANES_BITS | (uint64_t)(m.wide ? 0 : log2_lanes(v.length));
    m.identity[x] = x;
}

/* A thread more than there are nodes writes the zeros behind the last ones, which the scans turn into
 * totals. */
static __global__ void place_kernel(const making m, const trs_flow f)
{
    const int32_t k = index32_of_thread();
    if (k > m.nodes) return;
    if (k == m.nodes) {
        m.length[k] = 0;
        return;
    }
    const int32_t x = m.order[k];
    const node v = node_of(m, x);
    m.place[x] = k;
    if (!v.is_partial) m.row_place[v.row] = k;
    f.row[k] = v.is_partial ? -1 : v.row;
    f.partials[k] = v.partials;
    f.source[k] = v.source;
    m.length[k] = v.length;
    m.mark[k] = k > 0 && m.key[k] != m.key[k - 1] ? k : 0;
}

/* ---- tasks ---------------------------------------------------------------------------------------------------- */

/* Nodes of one key are cut into tasks of as many as a warp has lanes for. */
static __global__ void starts_kernel(const making m)
{
    const int32_t k = index32_of_thread();
    if (k > m.nodes) return;
    m.starts[k] = k < m.nodes && (k - m.same_key[k]) % (WARP / lanes_of_key(m.key[k])) == 0;
}

static __global__ void task_kernel(const making m, const trs_flow f)
{
    const int32_t k = index32_of_thread();
    if (k >= m.nodes || !m.starts[k]) return;
    const uint64_t key = m.key[k];
    const int lanes = lanes_of_key(key), most = min(WARP / lanes, m.nodes - k);
    int count = 1;
    while (count < most && m.key[k + count] == key) count++;
    TRS_ASSERT(m.task[k] < f.tasks && count * lanes <= WARP);
    f.task[m.task[k]] = {k, (int16_t)count, (int16_t)lanes};
    if (!m.wide) return;
    atomicMax(m.most, (int32_t)(f.ptr[k + count] - f.ptr[k]));
    for (int i = 0; i < count; i++) f.within[k + i] = (uint16_t)(f.ptr[k + i] - f.ptr[k]);
}

/* Lanes that copy the entries of a node of a wide triangle, adjacent ones where that is possible. */
enum { COPIERS = 4 };

static int64_t copiers(const trs_flow *f)
{
    return f->wide ? (int64_t)f->nodes * COPIERS : (int64_t)f->tasks * WARP;
}

struct place_in_task { /* of a lane */
    int32_t node;      /* that it works for; -1: none */
    int lane, lanes;   /* which one of how many do */
};

static __device__ place_in_task place_in_task_of(const trs_flow &f)
{
    const int64_t i = index_of_thread(), t = i / WARP;
    if (f.wide)
        return {i / COPIERS < f.nodes ? (int32_t)(i / COPIERS) : -1, (int)(i % COPIERS), COPIERS};
    if (t >= f.tasks) return {-1, 0, 1};
    const trs_flow_task task = f.task[t];
    const int sub = threadIdx.x % WARP / task.lanes;
    return {sub < task.count ? task.first + sub : -1, (int)(threadIdx.x % task.lanes), task.lanes};
}

/* ---- operands, and values in their order ---------------------------------------------------------------------- */

static __global__ void operand_kernel(const making m, const trs_flow f)
{
    const place_in_task w = place_in_task_of(f);
    if (w.node < 0) return;
    const int64_t to = f.ptr[w.node], source = f.source[w.node];
    const int32_t length = (int32_t)(f.ptr[w.node + 1] - to), partials = f.partials[w.node];
    const int32_t x = m.order[w.node];
    for (int32_t q = w.lane; q < length; q += w.lanes) {
        f.idx[to + q] = q < partials ? m.place[x - partials + q]
                                     : m.row_place[m.Li[entry_of(f.sorted, source, q - partials)]];
        TRS_ASSERT(f.idx[to + q] < w.node); /* this is why a solve cannot hang */
    }
}

/* Sorts the operands of each row by place; a place and the number of an entry are one number here. */
static __global__ void sorted_operand_kernel(const making m, const trs_flow f)
{
    const int32_t k = index32_of_thread();
    if (k >= f.nodes) return;
    const int64_t to = f.ptr[k], source = f.source[k];
    const int32_t length = (int32_t)(f.ptr[k + 1] - to);
    uint64_t by[TRS_FLOW_WIDE_LONGEST];
    TRS_ASSERT(length <= TRS_FLOW_WIDE_LONGEST);
    for (int32_t e = 0; e < length; e++) {
        const uint64_t here = (uint64_t)m.row_place[m.Li[source + e]] << 8 | (uint64_t)e;
        int32_t q = e;
        for (; q > 0 && by[q - 1] > here; q--) by[q] = by[q - 1];
        by[q] = here;
    }
    for (int32_t q = 0; q < length; q++) {
        f.idx[to + q] = (int32_t)(by[q] >> 8);
        f.order[to + q] = (uint8_t)by[q];
        TRS_ASSERT(f.idx[to + q] < k);
    }
}

/* Which entry of the triangle operand q of a node multiplies, from 0; it is no partial sum. */
static __device__ inline int64_t entry_of_operand(const trs_flow &f, int32_t node, int32_t q)
{
    const int64_t source = f.source[node];
    if (f.wide) return source + f.order[f.ptr[node] + q];
    return entry_of(f.sorted, source, q - f.partials[node]);
}

template <class T>
static __global__ void take_kernel(const trs_flow f, const T *from, T *val, T *inv)
{
    const place_in_task w = place_in_task_of(f);
    if (w.node < 0) return;
    const int64_t to = f.ptr[w.node], source = f.source[w.node];
    const int32_t length = (int32_t)(f.ptr[w.node + 1] - to), partials = f.partials[w.node];
    for (int32_t q = w.lane; q < length; q += w.lanes)
        val[to + q] = q < partials ? number<T>(1) : from[entry_of_operand(f, w.node, q)];
    if (w.lane > 0) return;
    inv[w.node] = f.row[w.node] < 0
                      ? number<T>(-1)
                      : kept(from[entry_of(f.sorted, source, length - partials)], f.divides);
}

/* ---- sorts and scans -------------------------------------------------------------------------------------------- */

static int sort(making &m, int64_t levels)
{
    int bits = LANES_BITS + 1;
    while ((int64_t)1 << (bits - LANES_BITS - 1) < levels) bits++;
    return sort_pairs(m.temp, m.node_key, m.key, m.identity, m.order, m.nodes, bits);
}

/* m.temp.bytes: the most that a sort or a sum needs. */
static int find_temp(making &m, int64_t levels)
{
    int rc = sort(m, levels);
    if (!rc) rc = sum_before(m.temp, m.starts, m.task, m.nodes + (int64_t)1);
    if (!rc) rc = sum_before(m.temp, m.length, (int64_t *)NULL, m.nodes + (int64_t)1);
    if (!rc) rc = largest_up_to(m.temp, m.mark, m.same_key, m.nodes);
    return rc;
}

/* ---- memory ------------------------------------------------------------------------------------------------------- */

static void lay_out(making &m, bool cuts, carver &carve)
{
    if (cuts) {
        carve(m.row_nodes, (int64_t)m.n + 1);
        carve(m.first, (int64_t)m.n + 1);
        carve(m.row, m.nodes);
    }
    carve(m.row_place, m.n);
    carve(m.place, m.nodes);
    carve(m.length, (int64_t)m.nodes + 1);
    carve(m.mark, m.nodes);
    carve(m.same_key, m.nodes);
    carve(m.starts, (int64_t)m.nodes + 1);
    carve(m.task, (int64_t)m.nodes + 1);
    carve(m.most, 1);
    carve(m.node_key, m.nodes);
    carve(m.key, m.nodes);
    carve(m.identity, m.nodes);
    carve(m.order, m.nodes);
    carve(m.temp.p, (int64_t)m.temp.bytes);
}

/* What is in its memory. */
static void lay_out(trs_flow &f, carver &carve)
{
    carve(f.ptr, (int64_t)f.nodes + 1);
    carve(f.source, f.nodes);
    carve(f.idx, f.nnz);
    if (f.wide) {
        carve(f.order, f.nnz);
        carve(f.within, f.nodes);
    }
    carve(f.row, f.nodes);
    carve(f.partials, f.nodes);
    carve(f.divides, 1);
}

static int flow_new(trs_context *ctx, const trs_pattern *t, const making &m, trs_flow *f)
{
    f->nodes = m.nodes;
    f->nnz = t->nnz - t->n + (m.nodes - t->n); /* entries left of the diagonal, and partial sums */
    f->memory = carve_new(ctx, "nodes", [&](carver &carve) { lay_out(*f, carve); });
    return f->memory ? TRS_OK : TRS_EMEM;
}

int64_t trs_flow_bytes(const trs_flow *f)
{
    trs_flow other = *f;
    if (!f->memory) return 0;
    const size_t carved = carved_bytes([&](carver &carve) { lay_out(other, carve); });
    return (int64_t)carved + f->sorted_count * (int64_t)sizeof *f->sorted +
           f->tasks * (int64_t)sizeof *f->task;
}

/* ---- all of it ------------------------------------------------------------------------------------------------------ */

/* m.first, and m.nodes, which was a bound. */
static int cut_rows(trs_context *ctx, making &m)
{
    const int32_t bound = m.nodes;
    row_nodes_kernel<<<blocks_of((int64_t)m.n + 1), PLAIN>>>(m);
    int rc = launched();
    if (!rc) rc = sum_before(m.temp, m.row_nodes, m.first, m.n + (int64_t)1);
    if (!rc) rc = trs_gpu_get(ctx, &m.nodes, m.first + m.n, sizeof m.nodes);
    TRS_ASSERT(rc || (m.n <= m.nodes && m.nodes <= bound));
    return rc;
}

/* The nodes of f in the order of the schedule, and how many tasks they are.  A launch that failed leaves numbers behind that
 * the next one must not read. */
static int order_nodes(trs_context *ctx, making &m, trs_flow *f)
{
    const unsigned blocks = blocks_of((int64_t)m.nodes + 1);
    if (m.row) row_kernel<<<blocks_of(m.n), PLAIN>>>(m);
    int rc = launched();
    if (rc) return rc;
    key_kernel<<<blocks, PLAIN>>>(m, f->sorted);
    rc = launched();
    if (!rc) rc = sort(m, f->levels);
    if (rc) return rc;
    place_kernel<<<blocks, PLAIN>>>(m, *f);
    rc = launched();
    if (!rc) rc = sum_before(m.temp, m.length, f->ptr, m.nodes + (int64_t)1);
    if (!rc) rc = largest_up_to(m.temp, m.mark, m.same_key, m.nodes);
    if (rc) return rc;
    starts_kernel<<<blocks, PLAIN>>>(m);
    rc = launched();
    if (!rc) rc = sum_before(m.temp, m.starts, m.task, m.nodes + (int64_t)1);
    if (!rc) rc = trs_gpu_get(ctx, &f->tasks, m.task + m.nodes, sizeof f->tasks);
    TRS_ASSERT(rc || (0 < f->tasks && f->tasks <= f->nodes));
    return rc;
}

static int fill(trs_context *ctx, const making &m, trs_flow *f)
{
    f->task = device_new<trs_flow_task>(ctx, f->tasks, "tasks");
    if (!f->task) return TRS_EMEM;
    cudaMemsetAsync(m.most, 0, sizeof *m.most);
    task_kernel<<<blocks_of(m.nodes), PLAIN>>>(m, *f);
    int rc = launched();
    if (!rc && f->wide) rc = trs_gpu_get(ctx, &f->most, m.most, sizeof f->most);
    if (rc) return rc;
    if (f->wide) sorted_operand_kernel<<<blocks_of(m.nodes), PLAIN>>>(m, *f);
    else operand_kernel<<<blocks_of(copiers(f)), PLAIN>>>(m, *f);
    cudaError_t e = cudaGetLastError();
    if (!e && m.begin) e = cudaDeviceSynchronize(); /* then it is freed */
    return cuda_status(e, "the order of nodes");
}

trs_pattern trs_pattern_of(const trs_operator *op)
{
    const trs_device_view *d = &op->device;
    const bool scattered = op->samples.known && op->samples.irregular > 0.5;
    return {op->tri.n, op->lv.count,           op->tri.nnz, d->ptr,   d->idx,
            d->level,  op->statistics.longest, false,       scattered};
}

int trs_flow_make(trs_context *ctx, const trs_pattern *t, trs_flow *f)
{
    memset(f, 0, sizeof *f);
    if (t->n == 0) return TRS_OK;
    f->wide = t->parted || trs_flow_is_wide(t->n, t->levels, t->longest);
    f->scattered = t->scattered;
    const bool cuts = t->longest == 0 || t->longest > 2 * PARTIAL + 1;
    const int64_t most = t->n + (cuts ? t->nnz / PARTIAL : 0);
    if (most > INT32_MAX - 64) return trs_fail(TRS_ESUPPORT, "too many nodes for 32 bits");
    making m = {.n = t->n,
                .nodes = (int32_t)most,
                .wide = f->wide,
                .Lp = t->ptr,
                .Li = t->idx,
                .level = t->level};
    f->levels = t->levels;
    int rc = find_temp(m, f->levels);
    if (rc) return rc;
    rc = trs_flow_sort(ctx, t, &m.begin, &f->sorted, &f->sorted_count);
    const auto all = [&](carver &carve) { lay_out(m, cuts, carve); };
    if (!rc && !carve_scratch(ctx, "the order of nodes", all)) rc = TRS_EMEM;
    if (!rc && cuts) rc = cut_rows(ctx, m);
    if (!rc) rc = flow_new(ctx, t, m, f);
    if (!rc) rc = order_nodes(ctx, m, f);
    if (!rc) rc = fill(ctx, m, f);
    trs_gpu_free(ctx, m.begin);
    if (rc) trs_flow_free(ctx, f);
    return rc;
}

int trs_flow_take(const trs_flow *f, trs_dtype t, const void *from, void *val, void *inv,
                  void *stream)
{
    if (f->tasks == 0) return TRS_OK;
    cudaMemsetAsync(f->divides, 0, sizeof *f->divides, (cudaStream_t)stream);
    return for_type(t, [&]<class T>(T) {
        take_kernel<T><<<blocks_of(copiers(f)), PLAIN, 0, (cudaStream_t)stream>>>(
            *f, (const T *)from, (T *)val, (T *)inv);
        return launched();
    });
}

void trs_flow_free(trs_context *ctx, trs_flow *f)
{
    device_free(ctx, f->memory, f->sorted, f->task);
    memset(f, 0, sizeof *f);
}
