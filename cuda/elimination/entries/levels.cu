/* levels.cu: the level of each entry, and how many rows the tail has.
 *
 *     level (i, j) = 1 + max { level (i, k), level (k, k), level (k, j) : products },   0 if there are none
 *
 * This has the dependencies of the elimination itself, and is computed in the same way: one launch, a node a lane,
 * and lanes that wait for levels.
 *
 * Who has a node: lane t of warp w of W has the nodes 32 (w + c W) + t, c = 0, 1, ... of an order that puts every
 * node after its operands: by the level of the row in L, then by entry.  (Entry (k, j) is of a row of a lower level,
 * entry (i, k) comes before (i, j) in its row.)
 * How a level becomes visible: it is its own flag, -1 before, and nothing else is handed over; relaxed accesses
 * suffice.
 * Why it cannot hang: the launch is cooperative, so that all warps are resident.  The first node in the order without
 * a level has operands with levels; its warp has done all nodes before; and a lane that waits does not keep its warp
 * from going round for the other lanes.
 * Bytes: 8 + 12 a product, gathered.  Bound by levels x a latency, or by how many nodes are watched at a time.
 *
 * The tail.  Without it a full block of T rows takes at least T levels.  What they would take is compared with what one
 * block needs for T rows.  The tail's entries lose the products with k in the tail, which are the last of each. */
#include "config.h"

#include "entries.cuh"
#include "cuda/runtime/flag.cuh"
#include "cuda/runtime/sort.cuh"

enum { BATCH = 4, PER_SM = 8 /* blocks */ };

struct level_args {
    int32_t nodes;
    const int32_t *node; /* [nodes] entries in an order of the dependencies */
    const int2 *range;
    const uint64_t *operands;
    const int32_t *kind;
    const int64_t *diag;
    int32_t *level;
};

struct order {                 /* on the device */
    int32_t *key, *key_sorted; /* [nnz] */
    int32_t *all, *entry;      /* [nnz] 0, 1, ..; sorted */
    sort_temp temp;
};

/* ---- levels --------------------------------------------------------------------------------------------------- */

/* The highest level of the operands of product q; -1: one of them has none yet. */
static __device__ inline int32_t level_of_product(const level_args &a, int32_t q)
{
    const int32_t l = (int32_t)(a.operands[q] >> 32), u = (int32_t)(a.operands[q] & 0xffffffff);
    const int32_t x = int_peek(a.level + l), y = int_peek(a.level + u);
    const int32_t z = int_peek(a.level + a.diag[a.kind[l]]);
    return x < 0 || y < 0 || z < 0 ? -1 : max(x, max(y, z));
}

/* Goes on with products at..end-1 as far as their levels are there, at most BATCH. */
static __device__ inline int32_t go_on(const level_args &a, int32_t at, int32_t end, int32_t &level)
{
    int32_t v[BATCH];
    TRS_ASSERT(at < end);
#pragma unroll
    for (int b = 0; b < BATCH; b++) v[b] = at + b < end ? level_of_product(a, at + b) : -1;
    bool there = true;
    int32_t done = 0;
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
        there = there && v[b] >= 0;
        if (there) level = max(level, v[b]), done++;
    }
    return at + done;
}

static __global__ void __launch_bounds__(PLAIN) level_kernel(const level_args a)
{
    const int64_t all = (int64_t)gridDim.x * blockDim.x;
    for (int64_t x = index_of_thread(); x - threadIdx.x % ENTRY_WARP < a.nodes; x += all) {
        const bool mine = x < a.nodes;
        const int32_t p = mine ? a.node[x] : 0;
        int2 r = mine ? a.range[p] : make_int2(0, 0);
        int32_t level = -1;
        while (__any_sync(~0u, r.x < r.y)) {
            if (r.x >= r.y) continue;
            r.x = go_on(a, r.x, r.y, level);
            if (r.x == r.y) int_store(a.level + p, level + 1);
        }
    }
}

/* Nodes first, by the level of their rows. */
static __global__ void order_kernel(const entry_schedule s, const int2 *range, int32_t levels,
                                    const int32_t *row_level, const order o, int32_t *level)
{
    const int64_t p = index_of_thread();
    if (p >= s.nnz) return;
    const bool is_node = range[p].x < range[p].y;
    o.key[p] = is_node ? row_level[s.row[p]] : levels;
    level[p] = is_node ? -1 : 0;
    o.all[p] = (int32_t)p;
}

static __global__ void count_kernel(int64_t nnz, const int2 *range, unsigned long long *count)
{
    long long mine = 0;
    for (int64_t p = index_of_thread(); p < nnz; p += all_threads())
        mine += range[p].x < range[p].y;
    add_to(count, mine);
}

/* o->entry [0 .. nodes-1] */
static int put_in_order(entry_making *m, order *o)
{
    const entry_schedule *s = m->s;
    const int bits = bits_of((uint64_t)m->p->levels);
    auto sort = [&] {
        return sort_pairs(o->temp, o->key, o->key_sorted, o->all, o->entry, s->nnz, bits);
    };
    int rc = sort();
    if (rc) return rc;
    if (!carve_scratch(m->ctx, "an order of entries", [&](carver &carve) {
            carve(o->key, s->nnz);
            carve(o->key_sorted, s->nnz);
            carve(o->all, s->nnz);
            carve(o->entry, s->nnz);
            carve(o->temp.p, (int64_t)o->temp.bytes);
        }))
        return TRS_EMEM;
    order_kernel<<<blocks_of(s->nnz), PLAIN>>>(*s, m->range, m->p->levels, m->p->level, *o,
                                               m->level);
    rc = launched();
    if (rc) return rc;
    return sort();
}

static int count_nodes(entry_making *m)
{
    unsigned long long *count = device_new<unsigned long long>(m->ctx, 1, "the number of nodes");
    unsigned long long nodes = 0;
    if (!count) return TRS_EMEM;
    cudaMemsetAsync(count, 0, sizeof *count, NULL);
    count_kernel<<<few_blocks(m->s->nnz), PLAIN>>>(m->s->nnz, m->range, count);
    int rc = launched();
    if (!rc) rc = trs_gpu_get(m->ctx, &nodes, count, sizeof nodes);
    trs_gpu_free(m->ctx, count);
    m->s->nodes = (int32_t)nodes;
    return rc;
}

static level_args args_of(const entry_making *m, const int32_t *node)
{
    return {m->s->nodes, node, m->range, m->operands, m->s->kind, m->p->diag, m->level};
}

static int search(entry_making *m, const order *o)
{
    const level_args a = args_of(m, o->entry);
    const int blocks = waiting_blocks((const void *)level_kernel, PLAIN, 0,
                                      fmin(blocks_of(a.nodes), (double)PER_SM * multiprocessors()));
    if (blocks == 0) return TRS_ESUPPORT;
    return launch_together((const void *)level_kernel, blocks, PLAIN, a, NULL);
}

/* ---- the tail ------------------------------------------------------------------------------------------------- */

/* Sizes of a tail, and what it takes one block and a level all warps, in microseconds, on an H200. */
enum { SIZES = 4 };
static const int tail_rows[SIZES] = {0, 32, 64, 128};
static const double tail_time[SIZES] = {0, 9, 23, 59}, level_time = 0.8;

/* The highest level of entries that are not of the tail of each size. */
static __global__ void highest_kernel(const entry_schedule s, const int32_t *idx,
                                      const int32_t *level, int4 tails, int32_t *highest)
{
    const int32_t rows[SIZES] = {tails.x, tails.y, tails.z, tails.w};
    int32_t mine[SIZES] = {};
    for (int64_t p = index_of_thread(); p < s.nnz; p += all_threads())
        for (int c = 0; c < SIZES; c++)
            if (min(s.row[p], idx[p]) < s.n - rows[c]) mine[c] = max(mine[c], level[p]);
    for (int c = 0; c < SIZES; c++) {
        for (int by = ENTRY_WARP / 2; by > 0; by /= 2)
            mine[c] = max(mine[c], __shfl_xor_sync(~0u, mine[c], by));
        if (threadIdx.x % ENTRY_WARP == 0) atomicMax(highest + c, mine[c]);
    }
}

/* s->tail: whatever saves most.  s->levels: without it, and a level more where its entries have products. */
static int choose_tail(entry_making *m)
{
    entry_schedule *s = m->s;
    int32_t highest[SIZES], rows[SIZES],
        *on_device = (int32_t *)trs_gpu_scratch(m->ctx, sizeof highest, "the highest levels");
    /* numbers of one block are in its registers: half as many of 16 bytes */
    const int most = trs_size(m->p->dtype) > 8 ? 64 : 128;
    if (!on_device) return TRS_EMEM;
    for (int c = 0; c < SIZES; c++) rows[c] = min(s->n, min(tail_rows[c], most));
    cudaMemsetAsync(on_device, 0, sizeof highest, NULL);
    highest_kernel<<<few_blocks(s->nnz), PLAIN>>>(
        *s, m->p->idx, m->level, make_int4(rows[0], rows[1], rows[2], rows[3]), on_device);
    int rc = launched();
    if (!rc) rc = trs_gpu_get(m->ctx, highest, on_device, sizeof highest);
    if (rc) return rc;
    double best = 0;
    s->levels = highest[0] + 1;
    for (int c = 1; c < SIZES; c++) {
        const int32_t levels = min(highest[c] + 2, highest[0] + 1);
        const double gain = (highest[0] + 1 - levels) * level_time - tail_time[c];
        if (gain > best) best = gain, s->tail = rows[c], s->levels = levels;
    }
    TRS_ASSERT(s->levels > 0 && s->tail <= s->n);
    return TRS_OK;
}

/* Entries of the tail keep the products with k before it, whose operands are not in the tail: their levels stay. */
static __global__ void cut_kernel(const entry_schedule s, const level_args a, const int32_t *idx,
                                  int2 *range)
{
    const int64_t p = index_of_thread();
    const int32_t first = s.n - s.tail;
    if (p >= s.nnz || min(s.row[p], idx[p]) < first) return;
    int32_t level = -1, q = range[p].x;
    for (; q < range[p].y && s.kind[a.operands[q] >> 32] < first; q++)
        level = max(level, level_of_product(a, q));
    range[p].y = q;
    a.level[p] = level + 1;
}

int entry_levels(entry_making *m)
{
    const entry_schedule *s = m->s;
    order o = {};
    int rc = count_nodes(m);
    if (!rc) rc = put_in_order(m, &o);
    if (!rc && s->nodes > 0) rc = search(m, &o);
    if (!rc) rc = choose_tail(m);
    if (rc || s->tail == 0) return rc;
    cut_kernel<<<blocks_of(s->nnz), PLAIN>>>(*s, args_of(m, NULL), m->p->idx, m->range);
    rc = launched();
    if (rc) return rc;
    return count_nodes(m);
}
