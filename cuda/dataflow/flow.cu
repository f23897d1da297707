/* flow.cu: nodes, their order, the tasks of warps, made on the device.
 *
 * A row with many entries keeps those that come last (flow_sort.cu) and leaves the others to pieces, so that its
 * critical path is not longer than before.  The levels of the rows are known: a row of level l comes at 2 l, a piece
 * whose entries have level l at most at 2 l + 1, which is before its row and behind what it needs.  Then a
 * stable sort by (level, lanes), so that the order depends on the pattern alone, and one pass to renumber.
 * Bytes: 100 a node and 12 an entry, some of them at random, and what the sort moves: O(n + nnz). */
#include "config.h"

#include "cuda/runtime/cuda.cuh"

#include <cstring>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

extern "C" {
#include "flow.h"
}

enum { THREADS = PLAIN, WARP = TRS_FLOW_WARP, BATCH = TRS_FLOW_BATCH, PIECE = TRS_FLOW_PIECE };

struct making { /* nodes in the order of their rows, the pieces of a row before it; on the device */
    int32_t n, nodes;
    const int64_t *Lp;
    const int32_t *Li, *level; /* [n] of rows */
    int64_t *at;               /* [n] the entries of a long row in place; NULL: none is */
    int32_t *first;            /* [n+1] node of each row, or of its first piece */
    int32_t *owner;            /* [nodes] row */
    int32_t *mine;             /* [n] place of each row in the order */
    int32_t *place;            /* [nodes] place of each node */
    int32_t *count;            /* [nodes+1] what scans go over */
    uint64_t *key[2];          /* [nodes] level and lanes; before and after sorting */
    int32_t *order[2];         /* [nodes] */
    void *temp;                /* of CUB */
    size_t temp_bytes;
};

static __device__ inline int32_t index_of_thread()
{
    return (int32_t)(blockIdx.x * THREADS + threadIdx.x);
}

struct node {
    int32_t row;
    bool is_piece;
    int32_t pieces; /* of its row, when it is that */
    int64_t begin;  /* entries, as in the flow */
    int32_t count;  /* entries in the flow, the pieces of the row among them */
};

static __device__ node node_of(const making &m, int32_t x)
{
    const int32_t i = m.owner[x], k = x - m.first[i], pieces = m.first[i + 1] - m.first[i] - 1;
    const int64_t at = m.at ? m.at[i] : -1, skip = (int64_t)k * PIECE;
    const int64_t begin = at < 0 ? m.Lp[i] + skip : ~(at + skip);
    if (k < pieces) return {i, true, 0, begin, PIECE};
    return {i, false, pieces, begin, (int32_t)(m.Lp[i + 1] - 1 - m.Lp[i] - skip) + pieces};
}

/* Where in the triangle the entry k of a node is. */
static __device__ inline int64_t place_of(const int64_t *place, int64_t begin, int32_t k)
{
    return begin < 0 ? place[~begin + k] : begin + k;
}

static __global__ void count_kernel(const making m)
{
    const int32_t i = index_of_thread();
    if (i > m.n) return;
    const int64_t length = i < m.n ? m.Lp[i + 1] - m.Lp[i] - 1 : 0;
    m.first[i] = i == m.n ? 0 : length > 2 * PIECE ? (int32_t)(length / PIECE) : 1;
}

static __global__ void own_kernel(const making m)
{
    const int32_t i = index_of_thread();
    if (i >= m.n) return;
    for (int32_t x = m.first[i]; x < m.first[i + 1]; x++) m.owner[x] = i;
}

enum { CLASS_BITS = 3 };

/* log2 of the lanes: the least with which count entries are one batch, at most a warp. */
static __device__ int class_of(int32_t count)
{
    return count <= BATCH ? 0 : min(32 - __clz((count - 1) / BATCH), 5);
}

static __device__ int class_of_key(uint64_t key)
{
    return (int)(key & ((1 << CLASS_BITS) - 1));
}

static __global__ void key_kernel(const making m, const int64_t *place)
{
    const int32_t x = index_of_thread();
    if (x >= m.nodes) return;
    const node v = node_of(m, x);
    uint64_t level = 2 * (uint64_t)m.level[v.row];
    if (v.is_piece) {
        int32_t most = 0;
        for (int k = 0; k < PIECE; k++)
            most = max(most, m.level[m.Li[place_of(place, v.begin, k)]]);
        level = 2 * (uint64_t)most + 1;
    }
    m.key[0][x] = level << CLASS_BITS | (uint64_t)class_of(v.count);
    m.order[0][x] = x;
}

/* What a node is at its place; count: where those of its key begin, once the largest was carried on. */
static __global__ void place_kernel(const making m, const trs_flow f)
{
    const int32_t k = index_of_thread();
    if (k > m.nodes) return;
    if (k == m.nodes) {
        f.ptr[k] = 0;
        return;
    }
    const int32_t x = m.order[0][k];
    const node v = node_of(m, x);
    m.place[x] = k;
    if (!v.is_piece) m.mine[v.row] = k;
    f.row[k] = v.is_piece ? -1 : v.row;
    f.pieces[k] = v.pieces;
    f.begin[k] = v.begin;
    f.ptr[k] = v.count;
    m.count[k] = k > 0 && m.key[0][k] != m.key[0][k - 1] ? k : 0;
}

/* Does a task begin here? */
static __global__ void mark_kernel(const making m)
{
    const int32_t k = index_of_thread();
    if (k > m.nodes) return;
    m.count[k] = k < m.nodes && (k - m.count[k]) % (WARP >> class_of_key(m.key[0][k])) == 0 ? 1 : 0;
}

static __global__ void task_kernel(const making m, const trs_flow f)
{
    const int32_t k = index_of_thread();
    if (k >= m.nodes || m.count[k] == m.count[k + 1]) return;
    const uint64_t key = m.key[0][k];
    const int lanes = 1 << class_of_key(key), most = min(WARP / lanes, m.nodes - k);
    int count = 1;
    while (count < most && m.key[0][k + count] == key) count++;
    f.task[m.count[k]] = {k, (int16_t)count, (int16_t)lanes};
}

struct worker {   /* a lane, and the node of its task that it has a share in */
    int32_t node; /* -1: none */
    int lane, lanes;
};

static __device__ worker worker_of(const trs_flow &f)
{
    const int64_t t = (blockIdx.x * (int64_t)THREADS + threadIdx.x) / WARP;
    if (t >= f.tasks) return {-1, 0, 1};
    const trs_flow_task task = f.task[t];
    const int sub = threadIdx.x % WARP / task.lanes;
    return {sub < task.count ? task.first + sub : -1, (int)(threadIdx.x % task.lanes), task.lanes};
}

/* Which node an entry multiplies. */
static __global__ void fill_kernel(const making m, const trs_flow f)
{
    const worker w = worker_of(f);
    if (w.node < 0) return;
    const int64_t to = f.ptr[w.node], begin = f.begin[w.node];
    const int32_t count = (int32_t)(f.ptr[w.node + 1] - to), pieces = f.pieces[w.node];
    const int32_t x = m.order[0][w.node];
    for (int32_t q = w.lane; q < count; q += w.lanes)
        f.idx[to + q] = q < pieces ? m.place[x - pieces + q]
                                   : m.mine[m.Li[place_of(f.place, begin, q - pieces)]];
}

template <class T>
static __global__ void take_kernel(const trs_flow f, const T *from, T *val, T *inv)
{
    const worker w = worker_of(f);
    if (w.node < 0) return;
    const int64_t to = f.ptr[w.node], begin = f.begin[w.node];
    const int32_t count = (int32_t)(f.ptr[w.node + 1] - to), pieces = f.pieces[w.node];
    for (int32_t q = w.lane; q < count; q += w.lanes)
        val[to + q] = q < pieces ? number<T>(1) : from[place_of(f.place, begin, q - pieces)];
    if (w.lane > 0) return;
    inv[w.node] = f.row[w.node] < 0
                      ? number<T>(-1)
                      : kept(from[place_of(f.place, begin, count - pieces)], f.divides);
}

/* ---- the host side -------------------------------------------------------------------------------------- */

static int failed(cudaError_t e)
{
    (void)cudaGetLastError();
    return trs_fail(TRS_EDEVICE, "the order of nodes: %s", cudaGetErrorString(e));
}

static cudaError_t sort(making &m, int64_t levels)
{
    cub::DoubleBuffer<uint64_t> key(m.key[0], m.key[1]);
    cub::DoubleBuffer<int32_t> order(m.order[0], m.order[1]);
    int bits = CLASS_BITS + 1;
    while ((int64_t)1 << (bits - CLASS_BITS - 1) < levels) bits++;
    const cudaError_t e =
        cub::DeviceRadixSort::SortPairs(m.temp, m.temp_bytes, key, order, m.nodes, 0, bits);
    m.key[0] = key.Current();
    m.order[0] = order.Current();
    return e;
}

struct largest { /* of two */
    __host__ __device__ int32_t operator()(int32_t a, int32_t b) const { return a > b ? a : b; }
};

static cudaError_t add_up(making &m, int32_t *a, int32_t count)
{
    return cub::DeviceScan::ExclusiveSum(m.temp, m.temp_bytes, a, a, count);
}

static cudaError_t add_up(making &m, int64_t *a, int32_t count)
{
    return cub::DeviceScan::ExclusiveSum(m.temp, m.temp_bytes, a, a, count);
}

static cudaError_t carry_largest(making &m, int32_t *a, int32_t count)
{
    return cub::DeviceScan::InclusiveScan(m.temp, m.temp_bytes, a, a, largest(), count);
}

/* The most that one of them wants; m.temp is NULL yet. */
static cudaError_t find_temp(making &m, int64_t levels)
{
    size_t most = 0;
    const auto larger = [&](cudaError_t e) {
        most = m.temp_bytes > most ? m.temp_bytes : most;
        return e;
    };
    cudaError_t e = larger(sort(m, levels));
    if (!e) e = larger(add_up(m, (int32_t *)NULL, m.nodes + 1));
    if (!e) e = larger(add_up(m, (int64_t *)NULL, m.nodes + 1));
    if (!e) e = larger(carry_largest(m, NULL, m.nodes));
    m.temp_bytes = most;
    return e;
}

/* Arrays for m.nodes nodes. */
static size_t lay_out(making &m, char *base)
{
    size_t used = 0;
    m.first = carve<int32_t>(base, &used, (int64_t)m.n + 1);
    m.mine = carve<int32_t>(base, &used, m.n);
    m.owner = carve<int32_t>(base, &used, m.nodes);
    m.place = carve<int32_t>(base, &used, m.nodes);
    m.count = carve<int32_t>(base, &used, (int64_t)m.nodes + 1);
    for (int k = 0; k < 2; k++) {
        m.key[k] = carve<uint64_t>(base, &used, m.nodes);
        m.order[k] = carve<int32_t>(base, &used, m.nodes);
    }
    m.temp = carve<char>(base, &used, (int64_t)m.temp_bytes);
    return used;
}

static size_t lay_out(trs_flow &f, char *base)
{
    size_t used = 0;
    f.ptr = carve<int64_t>(base, &used, (int64_t)f.nodes + 1);
    f.begin = carve<int64_t>(base, &used, f.nodes);
    f.idx = carve<int32_t>(base, &used, f.nnz);
    f.row = carve<int32_t>(base, &used, f.nodes);
    f.pieces = carve<int32_t>(base, &used, f.nodes);
    f.divides = carve<int>(base, &used, 1);
    return used;
}

static int flow_new(trs_context *ctx, const trs_pattern *t, const making &m, trs_flow *f)
{
    f->nodes = m.nodes;
    f->nnz = t->nnz - t->n + (m.nodes - t->n);
    f->block = trs_gpu_new(ctx, (int64_t)lay_out(*f, NULL), 1, "nodes");
    if (!f->block) return TRS_EMEM;
    lay_out(*f, (char *)f->block);
    return TRS_OK;
}

/* m.first, and m.nodes as it is. */
static int cut_rows(trs_context *ctx, making &m)
{
    const unsigned lines = blocks_of((int64_t)m.n + 1);
    count_kernel<<<lines, THREADS>>>(m);
    cudaError_t e = add_up(m, m.first, m.n + 1);
    return e ? failed(e) : trs_gpu_get(ctx, &m.nodes, m.first + m.n, sizeof m.nodes);
}

/* The nodes of f at their places, and its tasks counted. */
static int order_nodes(trs_context *ctx, making &m, trs_flow *f)
{
    const unsigned blocks = blocks_of((int64_t)m.nodes + 1);
    own_kernel<<<blocks_of(m.n), THREADS>>>(m);
    key_kernel<<<blocks, THREADS>>>(m, f->place);
    cudaError_t e = sort(m, f->levels);
    place_kernel<<<blocks, THREADS>>>(m, *f);
    if (!e) e = add_up(m, f->ptr, m.nodes + 1);
    if (!e) e = carry_largest(m, m.count, m.nodes);
    mark_kernel<<<blocks, THREADS>>>(m);
    if (!e) e = add_up(m, m.count, m.nodes + 1);
    return e ? failed(e) : trs_gpu_get(ctx, &f->tasks, m.count + m.nodes, sizeof f->tasks);
}

static int fill(trs_context *ctx, const making &m, trs_flow *f)
{
    f->task = (trs_flow_task *)trs_gpu_new(ctx, f->tasks, sizeof *f->task, "tasks");
    if (!f->task) return TRS_EMEM;
    task_kernel<<<blocks_of(m.nodes), THREADS>>>(m, *f);
    fill_kernel<<<blocks_of((int64_t)f->tasks * WARP), THREADS>>>(m, *f);
    cudaError_t e = cudaGetLastError();
    if (!e) e = cudaDeviceSynchronize();
    return e ? failed(e) : TRS_OK;
}

trs_pattern trs_pattern_of(const trs_operator *s)
{
    const trs_device_view *d = &s->direct;
    return {s->tri.n,          s->lv.count,       s->tri.nnz,
            (int64_t *)d->ptr, (int32_t *)d->idx, (int32_t *)d->level};
}

int trs_flow_make(trs_context *ctx, const trs_pattern *t, trs_flow *f)
{
    const int64_t most = t->n + t->nnz / PIECE;
    memset(f, 0, sizeof *f);
    if (t->n == 0) return TRS_OK;
    if (most > INT32_MAX - 64) return trs_fail(TRS_ESUPPORT, "too many nodes for 32 bits");
    making m = {.n = t->n, .nodes = (int32_t)most, .Lp = t->ptr, .Li = t->idx, .level = t->level};
    f->levels = t->levels;
    const cudaError_t e = find_temp(m, f->levels);
    if (e) return failed(e);
    int rc = trs_flow_sort(ctx, t, &m.at, &f->place, &f->places);
    void *base = rc ? NULL : trs_gpu_scratch(ctx, (int64_t)lay_out(m, NULL), "the order of nodes");
    if (base) lay_out(m, (char *)base);
    if (!rc) rc = base ? cut_rows(ctx, m) : TRS_EMEM;
    if (!rc) rc = flow_new(ctx, t, m, f);
    if (!rc) rc = order_nodes(ctx, m, f);
    if (!rc) rc = fill(ctx, m, f);
    trs_gpu_free(ctx, m.at);
    if (rc) trs_flow_free(ctx, f);
    return rc;
}

int trs_flow_take(const trs_flow *f, trs_dtype t, const void *from, void *val, void *inv,
                  void *stream)
{
    if (f->tasks == 0) return TRS_OK;
    if (cudaMemsetAsync(f->divides, 0, sizeof *f->divides, (cudaStream_t)stream) != cudaSuccess)
        return TRS_EDEVICE;
    return for_type(t, [&](auto zero) {
        using T = decltype(zero);
        take_kernel<T><<<blocks_of((int64_t)f->tasks * WARP), THREADS, 0, (cudaStream_t)stream>>>(
            *f, (const T *)from, (T *)val, (T *)inv);
        return launched();
    });
}

void trs_flow_free(trs_context *ctx, trs_flow *f)
{
    trs_gpu_free(ctx, f->block);
    trs_gpu_free(ctx, f->place);
    trs_gpu_free(ctx, f->task);
    memset(f, 0, sizeof *f);
}
