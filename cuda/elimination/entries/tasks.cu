/* tasks.cu: the nodes of one level and of similar length, as tasks of warps, and their lists of products.
 *
 *     products of a node    1   2   3   4   5-8   9-16   17-32   33-64   more
 *     class                 0   1   2   3   4     5      6       7       8
 *     lanes of a node       1   1   1   1   2     4      8       16      32
 *
 * A stable sort by level and class; then a run of nodes with the same key is cut into tasks of 32 / lanes nodes.  The
 * length of a task is the number of products of its longest node, divided by the lanes and rounded up; shorter nodes
 * are padded.
 *
 *     node in order     | a  b  c  d | e  f |  g  h  i          keys: | 0 0 0 0 0 0 | 1 1 1
 *     begin of its run    0  0  0  0   0  0    6  6  6
 *     begins a task       1  0  0  0   1  0    1  0  0          where 32 / lanes = 4
 *     task                0            1       2                by an inclusive sum, less 1
 *
 * Bytes: 12 for each product in the lists, padding included. */
#include "config.h"

#include "entries.cuh"
#include "cuda/runtime/sort.cuh"

enum { CLASSES = 9, UNSPLIT = 4 /* products that one lane takes */ };

struct tasks_making {           /* on the device */
    uint32_t *key, *key_sorted; /* [nnz] level and class; the nodes come first */
    int32_t *all, *entry;       /* [nnz] 0, 1, ..; sorted */
    int32_t *run;               /* [nodes] where its run begins */
    int32_t *number;            /* [nodes] of its task, from 1 on */
    int32_t *slots;             /* [nodes+1] of the tasks; of those before */
    sort_temp temp;
};

static __device__ inline int class_of(int32_t products)
{
    if (products <= UNSPLIT) return products - 1;
    int c = UNSPLIT;
    while (c < CLASSES - 1 && products > UNSPLIT << (c - UNSPLIT + 1)) c++;
    return c;
}

static __device__ inline int lanes_of(uint32_t key)
{
    const int c = (int)(key % CLASSES);
    return c < UNSPLIT ? 1 : 2 << (c - UNSPLIT);
}

static __global__ void key_kernel(const entry_schedule s, const int2 *range, const int32_t *level,
                                  const tasks_making t)
{
    const int64_t p = index_of_thread();
    if (p >= s.nnz) return;
    const int32_t products = range[p].y - range[p].x;
    t.key[p] = products > 0 ? (uint32_t)level[p] * CLASSES + class_of(products)
                            : (uint32_t)s.levels * CLASSES;
    t.all[p] = (int32_t)p;
}

static __global__ void run_kernel(int32_t nodes, const tasks_making t)
{
    const int64_t x = index_of_thread();
    if (x >= nodes) return;
    t.run[x] = x == 0 || t.key_sorted[x] != t.key_sorted[x - 1] ? (int32_t)x : 0;
}

static __device__ inline bool begins_task(const tasks_making &t, int64_t x)
{
    return (x - t.run[x]) % (ENTRY_WARP / lanes_of(t.key_sorted[x])) == 0;
}

static __global__ void begin_kernel(int32_t nodes, const tasks_making t)
{
    const int64_t x = index_of_thread();
    if (x < nodes) t.number[x] = begins_task(t, x);
}

/* Nodes of the task that begins with node x. */
static __device__ inline int nodes_of(const tasks_making &t, int32_t nodes, int64_t x)
{
    const int most = ENTRY_WARP / lanes_of(t.key_sorted[x]);
    int count = 1;
    while (count < most && x + count < nodes && t.key_sorted[x + count] == t.key_sorted[x]) count++;
    return count;
}

static __global__ void slots_kernel(const entry_schedule s, const int2 *range, const tasks_making t)
{
    const int64_t x = index_of_thread();
    if (x >= s.nodes || !begins_task(t, x)) return;
    const int count = nodes_of(t, s.nodes, x), lanes = lanes_of(t.key_sorted[x]);
    int32_t most = 0;
    for (int c = 0; c < count; c++) {
        const int2 r = range[t.entry[x + c]];
        most = max(most, r.y - r.x);
    }
    t.slots[t.number[x] - 1] = (most + lanes - 1) / lanes;
}

static __global__ void task_kernel(const entry_schedule s, const tasks_making t, const int64_t *src)
{
    const int64_t x = index_of_thread();
    if (x >= s.nodes) return;
    const int32_t p = t.entry[x], k = t.number[x] - 1;
    TRS_ASSERT(0 <= k && k < s.tasks);
    s.node[x] = {p, s.kind[p] == ENTRY_PIVOT ? s.row[p] : -1, src[p] >= 0 ? (int32_t)src[p] : -1};
    if (begins_task(t, x))
        s.task[k] = {(int32_t)x, t.slots[k], (int16_t)nodes_of(t, s.nodes, x),
                     (int16_t)lanes_of(t.key_sorted[x]), t.slots[k + 1] - t.slots[k]};
}

static __global__ void places_kernel(const entry_schedule s, const int2 *range, const int64_t *src,
                                     const int64_t *to)
{
    const int64_t p = index_of_thread();
    if (p >= s.nnz) return;
    s.to[p] = (int32_t)to[p];
    s.from[p] = src[p] >= 0 ? (int32_t)src[p] : ENTRY_ZERO;
    if (s.kind[p] <= ENTRY_PIVOT) s.from[p] = ENTRY_OTHER;
    if (range[p].x < range[p].y) s.from[p] = ENTRY_NODE;
}

/* A warp a task. */
static __global__ void list_kernel(const entry_schedule s, const int2 *range,
                                   const uint64_t *operands)
{
    const int64_t k = index_of_thread() / ENTRY_WARP;
    if (k >= s.tasks) return;
    const entry_task task = s.task[k];
    const int lane = threadIdx.x % ENTRY_WARP, sub = lane / task.lanes;
    const int2 r = sub < task.count ? range[s.node[task.first + sub].place] : make_int2(0, 0);
    int32_t q = r.x + lane % task.lanes;
    for (int32_t slot = 0; slot < task.slots; slot++, q += task.lanes) {
        const int64_t to = ((int64_t)task.slot + slot) * ENTRY_WARP + lane;
        const uint64_t both = q < r.y ? operands[q] : 0;
        const int32_t l = (int32_t)(both >> 32);
        s.l[to] = q < r.y ? l : -1;
        s.u[to] = (int32_t)(both & 0xffffffff);
        s.k[to] = q < r.y ? s.kind[l] : 0;
    }
}

/* A warp a row of the tail. */
static __global__ void place_kernel(const entry_schedule s, const int64_t *ptr, const int32_t *idx)
{
    const int64_t y = index_of_thread() / ENTRY_WARP;
    if (y >= s.tail) return;
    const int32_t first = s.n - s.tail;
    for (int64_t p = ptr[first + y] + threadIdx.x % ENTRY_WARP; p < ptr[first + y + 1];
         p += ENTRY_WARP)
        if (idx[p] >= first && s.kind[p] != ENTRY_UNUSED)
            s.place[y * s.tail + idx[p] - first] = (int32_t)p;
}

/* ---- the host side -------------------------------------------------------------------------------------------- */

static int sort(const entry_schedule *s, tasks_making *t)
{
    return sort_pairs(t->temp, t->key, t->key_sorted, t->all, t->entry, s->nnz,
                      bits_of((uint64_t)s->levels * CLASSES));
}

static int find_runs(const entry_schedule *s, tasks_making *t)
{
    return largest_up_to(t->temp, t->run, t->run, s->nodes);
}

static int number_tasks(const entry_schedule *s, tasks_making *t)
{
    return sum_up_to(t->temp, t->number, s->nodes);
}

static int sum_slots(const entry_schedule *s, tasks_making *t)
{
    return sum_before(t->temp, t->slots, t->slots, s->nodes + (int64_t)1);
}

static int making_new(trs_context *ctx, const entry_schedule *s, tasks_making *t)
{
    int rc = sort(s, t);
    if (!rc) rc = find_runs(s, t);
    if (!rc) rc = number_tasks(s, t);
    if (!rc) rc = sum_slots(s, t);
    if (rc) return rc;
    const bool there = carve_scratch(ctx, "tasks in the making", [&](carver &carve) {
        carve(t->key, s->nnz);
        carve(t->key_sorted, s->nnz);
        carve(t->all, s->nnz);
        carve(t->entry, s->nnz);
        carve(t->run, s->nodes);
        carve(t->number, s->nodes);
        carve(t->slots, (int64_t)s->nodes + 1);
        carve(t->temp.p, (int64_t)t->temp.bytes);
    });
    return there ? TRS_OK : TRS_EMEM;
}

/* The order of the nodes, their tasks, s->tasks and s->slots. */
static int cut_into_tasks(const entry_making *m, tasks_making *t)
{
    entry_schedule *s = m->s;
    key_kernel<<<blocks_of(s->nnz), PLAIN>>>(*s, m->range, m->level, *t);
    int rc = sort(s, t);
    places_kernel<<<blocks_of(s->nnz), PLAIN>>>(*s, m->range, m->p->src, m->p->to);
    if (rc || s->nodes == 0) return rc;
    run_kernel<<<blocks_of(s->nodes), PLAIN>>>(s->nodes, *t);
    rc = find_runs(s, t);
    if (rc) return rc;
    begin_kernel<<<blocks_of(s->nodes), PLAIN>>>(s->nodes, *t);
    rc = number_tasks(s, t);
    if (rc) return rc;
    cudaMemsetAsync(t->slots, 0, ((size_t)s->nodes + 1) * sizeof *t->slots, NULL);
    slots_kernel<<<blocks_of(s->nodes), PLAIN>>>(*s, m->range, *t);
    rc = sum_slots(s, t);
    int32_t slots = 0;
    if (!rc) rc = trs_gpu_get(m->ctx, &s->tasks, t->number + s->nodes - 1, sizeof s->tasks);
    if (!rc) rc = trs_gpu_get(m->ctx, &slots, t->slots + s->nodes, sizeof slots);
    s->slots = slots;
    TRS_ASSERT(rc || (0 < s->tasks && s->tasks <= s->nodes && s->tasks <= slots));
    return rc;
}

int entry_tasks(entry_making *m)
{
    entry_schedule *s = m->s;
    tasks_making t = {};
    int rc = making_new(m->ctx, s, &t);
    if (!rc) rc = cut_into_tasks(m, &t);
    if (rc) return rc;
    if (s->slots > m->budget / (3 * ENTRY_WARP * (int64_t)sizeof *s->l)) return TRS_ESUPPORT;
    s->lists = carve_new(m->ctx, "products of tasks", [&](carver &carve) {
        carve(s->task, s->tasks);
        carve(s->node, s->nodes);
        carve(s->l, ENTRY_WARP * s->slots);
        carve(s->u, ENTRY_WARP * s->slots);
        carve(s->k, ENTRY_WARP * s->slots);
        carve(s->place, (int64_t)s->tail * s->tail);
    });
    if (!s->lists) return TRS_EMEM;
    if (s->nodes > 0) task_kernel<<<blocks_of(s->nodes), PLAIN>>>(*s, t, m->p->src);
    if (s->tasks > 0)
        list_kernel<<<blocks_of((int64_t)s->tasks * ENTRY_WARP), PLAIN>>>(*s, m->range,
                                                                          m->operands);
    cudaMemsetAsync(s->place, 0xff, (size_t)s->tail * s->tail * sizeof *s->place, NULL);
    if (s->tail > 0)
        place_kernel<<<blocks_of((int64_t)s->tail * ENTRY_WARP), PLAIN>>>(*s, m->p->ptr, m->p->idx);
    return launched();
}
