/* rows_schedule.cu: makes the schedule of the row kernel (rows.cuh) on the device, from the pattern and the levels there.
 *
 *     nodes              runs of rows with the same columns, cut into nodes
 *     nodes by level     a stable radix sort of all rows, those that begin a node first; each level then fills whole tasks
 *     numbers            a sum over the nodes in the order of the tasks, of their numbers
 *     places             a warp a task: the place of each entry
 *     lists              a warp a task: for each lower entry (i, k) a lane looks for its columns in row k, by bisection
 *
 * Everything follows from the pattern, and no result depends on timing.
 * Bytes: some 60 an entry, and log (row) gathers for each byte of a list. */
#include "config.h"

#include "rows.cuh"
#include "cuda/runtime/sort.cuh"

/* A schedule of more bytes does not fit: most of its places would have no entry. */
enum { BYTES_OF_ENTRY = 256, BYTES_AT_LEAST = 64 << 20 };

/* In scratch memory. */
struct making {
    int32_t *run; /* [n] the first of the rows up to it that have its columns */
    /* [n] before and after the sort; level `levels`: the row does not begin a node */
    int32_t *level[2], *row[2];
    int32_t *first;  /* [levels+1] of the sorted rows, that with which a level begins */
    int32_t *task;   /* [levels+1] with which a level begins */
    int32_t *pivot;  /* [n] where the number of the pivot of each row is */
    int32_t *size;   /* [tasks*nodes+1] numbers of each node, and then where they begin */
    int64_t *groups; /* [tasks+1] groups of words of each task, and then where they begin */
    sort_temp temp;
};

struct scene {
    trs_elimination_pattern p;
    row_schedule s;
    making m;
    int nodes; /* of a task */
};

/* ---- nodes by level -------------------------------------------------------------------------------------- */

/* A warp has a row at a time. */
static __global__ void run_kernel(const trs_elimination_pattern p, int32_t *run)
{
    for (int64_t i = index_of_thread() / ROW_WARP; i < p.n; i += all_threads() / ROW_WARP) {
        const bool alike = is_like_last(p, i);
        if (threadIdx.x % ROW_WARP == 0) run[i] = alike ? 0 : (int32_t)i;
    }
}

static __global__ void key_kernel(const scene x)
{
    const int64_t i = index_of_thread();
    if (i >= x.p.n) return;
    const bool begins = (i - x.m.run[i]) % x.s.shape.rows == 0;
    x.m.level[0][i] = begins ? x.p.level[i] : x.p.levels;
    x.m.row[0][i] = (int32_t)i;
}

/* Where level l begins among the sorted rows. */
static __global__ void first_kernel(const scene x)
{
    const int64_t l = index_of_thread();
    if (l > x.p.levels) return;
    int32_t from = 0, to = x.p.n;
    while (from < to) {
        const int32_t mid = from + (to - from) / 2;
        if (x.m.level[1][mid] < l) from = mid + 1;
        else to = mid;
    }
    x.m.first[l] = from;
}

static __global__ void count_tasks_kernel(const scene x)
{
    const int64_t l = index_of_thread();
    if (l > x.p.levels) return;
    const int32_t nodes = l < x.p.levels ? x.m.first[l + 1] - x.m.first[l] : 0;
    x.m.task[l] = (nodes + x.nodes - 1) / x.nodes;
}

static __global__ void seat_kernel(const scene x)
{
    const int64_t k = index_of_thread();
    if (k >= x.m.first[x.p.levels]) return;
    const int32_t l = x.m.level[1][k], i = x.m.row[1][k];
    int32_t end = i + 1;
    while (end < x.p.n && end < i + x.s.shape.rows && x.m.run[end] == x.m.run[i]) end++;
    const int32_t diag = (int32_t)(x.p.diag[i] - x.p.ptr[i]);
    const int32_t stride = (int32_t)(x.p.ptr[i + 1] - x.p.diag[i]);
    x.s.node[(int64_t)x.m.task[l] * x.nodes + (k - x.m.first[l])] =
        row_node{i, end - i, diag, stride};
}

/* ---- numbers and groups of words ------------------------------------------------------------------------- */

static __global__ void size_kernel(const scene x)
{
    const int64_t t = index_of_thread();
    if (t > x.s.tasks) return;
    int64_t most = 0;
    for (int k = 0; k < x.nodes && t < x.s.tasks; k++) {
        const row_node node = x.s.node[t * x.nodes + k];
        most = max(most, (int64_t)node.diag);
        x.m.size[t * x.nodes + k] = node.rows * node.stride;
    }
    x.m.groups[t] = (most + ROW_BATCH - 1) / ROW_BATCH * x.s.shape.each;
    if (t < x.s.tasks) x.s.task[t].lower = (int32_t)most;
    else x.m.size[t * x.nodes] = 0;
}

static __global__ void begin_kernel(const scene x)
{
    const int64_t at = index_of_thread();
    if (at < x.s.tasks) x.s.task[at].list = (int32_t)x.m.groups[at];
    if (at >= (int64_t)x.s.tasks * x.nodes) return;
    const row_node node = x.s.node[at];
    for (int r = 0; r < node.rows; r++)
        x.m.pivot[node.row + r] = x.m.size[at] + r * (node.stride + 1);
}

/* ---- places and lists ------------------------------------------------------------------------------------ */

/* The task of a warp, and the node of a lane. */
struct seat {
    int64_t task;
    row_node node; /* rows 0: none */
    int lane;      /* of the node */
};

static __device__ inline seat seat_of(const scene &x)
{
    const int lane = threadIdx.x % ROW_WARP;
    seat me = {index_of_thread() / ROW_WARP, {0, 0, 0, 0}, lane % x.s.shape.lanes};
    if (me.task < x.s.tasks) me.node = x.s.node[me.task * x.nodes + lane / x.s.shape.lanes];
    return me;
}

/* What is at column q of the node. */
static __device__ inline int32_t number_for(const scene &x, const row_node &node, int q)
{
    if (q < node.diag) return x.m.pivot[x.p.idx[x.p.ptr[node.row] + q]];
    return row_own(x.m.pivot[node.row] + q - node.diag);
}

static __global__ void place_kernel(const scene x)
{
    const seat me = seat_of(x);
    const trs_elimination_pattern &p = x.p;
    const row_shape &s = x.s.shape;
    for (int e = 0; e < s.each; e++) {
        const int q = e * s.lanes + me.lane, lane = threadIdx.x % ROW_WARP;
        if (me.node.rows == 0 || q >= me.node.diag + me.node.stride) break;
        x.s.number[(me.task * s.each + e) * ROW_WARP + lane] = number_for(x, me.node, q);
        for (int r = 0; r < me.node.rows; r++) {
            const int64_t from = p.ptr[me.node.row + r] + q;
            const int64_t at = ((me.task * s.rows + r) * s.each + e) * ROW_WARP + lane;
            const int32_t mark = p.conjugate && p.conjugate[from] ? ROW_MARKED : 0;
            if (p.src[from] >= 0) x.s.a[at] = (int32_t)p.src[from] | mark;
            if (p.to[from] >= 0) x.s.to[at] = (int32_t)p.to[from];
        }
    }
}

/* 1 + m where number m of row k is u(k, j); 0: it has none. */
static __device__ inline uint32_t byte_for(const trs_elimination_pattern &p, int32_t k, int32_t j)
{
    int64_t from = p.diag[k] + 1, to = p.ptr[k + 1];
    while (from < to) {
        const int64_t mid = (from + to) / 2;
        if (p.idx[mid] < j) from = mid + 1;
        else to = mid;
    }
    return from < p.ptr[k + 1] && p.idx[from] == j ? (uint32_t)(1 + from - p.diag[k]) : 0;
}

/* The byte of the lower entry at `lower` and the entry at q of the same row. */
static __device__ inline uint32_t byte_of(const trs_elimination_pattern &p, int64_t lower,
                                          int64_t q)
{
    if (q <= lower) return q == lower;
    return byte_for(p, p.idx[lower], p.idx[q]);
}

static __global__ void list_kernel(const scene x)
{
    const seat me = seat_of(x);
    const trs_elimination_pattern &p = x.p;
    const row_shape &s = x.s.shape;
    if (me.node.rows == 0) return;
    const row_task task = x.s.task[me.task];
    const int64_t begin = p.ptr[me.node.row];
    for (int e = 0; e < s.each; e++) {
        const int q = e * s.lanes + me.lane;
        if (q >= me.node.diag + me.node.stride) break;
        for (int w = 0; w * ROW_BATCH < me.node.diag; w++) {
            uint32_t word = 0;
            for (int b = 0; b < ROW_BATCH; b++) {
                const int lower = w * ROW_BATCH + b;
                if (lower < me.node.diag) word |= byte_of(p, begin + lower, begin + q) << 8 * b;
            }
            const int64_t group = task.list + (int64_t)w * s.each + e;
            x.s.list[group * ROW_WARP + threadIdx.x % ROW_WARP] = word;
        }
    }
}

/* ---- the host side --------------------------------------------------------------------------------------- */

/* Enough for the numbers 0 ... count. */
static int bits_of(int64_t count)
{
    int bits = 1;
    while (count >> bits) bits++;
    return bits;
}

static int sort(scene *x)
{
    making &m = x->m;
    return sort_pairs(m.temp, m.level[0], m.level[1], m.row[0], m.row[1], x->p.n,
                      bits_of(x->p.levels));
}

/* run [n]: 0 where a row has the columns of the one before, else its own number; it becomes the first of those rows. */
static int find_runs(making *m, int64_t n)
{
    return largest_up_to(m->temp, m->run, m->run, n);
}

/* p [count+1] becomes where each begins, and in the end the sum of all. */
template <class V> static int begin_of(making *m, V *p, int64_t count)
{
    return sum_before(m->temp, p, p, count + 1);
}

/* m.temp.bytes: the most that a sort or a sum needs. */
static int find_temp(scene *x, int64_t seats)
{
    making &m = x->m;
    int rc = sort(x);
    if (!rc) rc = begin_of(&m, m.size, seats);
    if (!rc) rc = begin_of(&m, m.groups, seats);
    if (!rc) rc = find_runs(&m, x->p.n);
    return rc;
}

/* For as many tasks as there may be. */
static int take_scratch(trs_context *ctx, scene *x, int64_t most_tasks)
{
    making &m = x->m;
    const int64_t n = x->p.n, levels = x->p.levels;
    const int rc = find_temp(x, max(most_tasks * x->nodes, levels));
    if (rc) return rc;
    const auto lay_out = [&](carver &carve) {
        carve(m.run, n);
        for (int k = 0; k < 2; k++) carve(m.level[k], n), carve(m.row[k], n);
        carve(m.first, levels + 1);
        carve(m.task, levels + 1);
        carve(m.pivot, n);
        carve(m.size, most_tasks * x->nodes + 1);
        carve(m.groups, most_tasks + 1);
        carve(m.temp.p, (int64_t)m.temp.bytes);
    };
    return carve_scratch(ctx, "a schedule of elimination", lay_out) ? TRS_OK : TRS_EMEM;
}

/* Where each level begins, and how many tasks there are. */
static int find_tasks(trs_context *ctx, scene *x)
{
    const int64_t n = x->p.n, levels = x->p.levels;
    run_kernel<<<few_blocks(ROW_WARP * n), PLAIN>>>(x->p, x->m.run);
    int rc = find_runs(&x->m, n);
    key_kernel<<<blocks_of(n), PLAIN>>>(*x);
    if (!rc) rc = sort(x);
    first_kernel<<<blocks_of(levels + 1), PLAIN>>>(*x);
    count_tasks_kernel<<<blocks_of(levels + 1), PLAIN>>>(*x);
    if (!rc) rc = begin_of(&x->m, x->m.task, levels);
    if (!rc) rc = launched();
    if (rc) return rc;
    return trs_gpu_get(ctx, &x->s.tasks, x->m.task + levels, sizeof x->s.tasks);
}

static int64_t bytes_of(const row_schedule *s)
{
    const int64_t groups = (2 * s->shape.rows + 1) * s->shape.each;
    const int64_t nodes = ROW_WARP / s->shape.lanes * (int64_t)sizeof(row_node);
    return s->tasks *
               (groups * ROW_WARP * (int64_t)sizeof(int32_t) + nodes + (int64_t)sizeof(row_task)) +
           s->list_groups * ROW_WARP * (int64_t)sizeof(uint32_t);
}

static bool is_too_large(const scene *x)
{
    return bytes_of(&x->s) > BYTES_AT_LEAST + BYTES_OF_ENTRY * x->p.nnz || x->s.numbers > ROW_MOST;
}

static int take_memory(trs_context *ctx, scene *x)
{
    row_schedule &s = x->s;
    const int64_t places = (int64_t)s.tasks * s.shape.each * ROW_WARP;
    s.memory = carve_new(ctx, "a schedule of elimination", [&](carver &carve) {
        carve(s.a, places * s.shape.rows);
        carve(s.to, places * s.shape.rows);
        carve(s.number, places);
        carve(s.node, (int64_t)s.tasks * x->nodes);
        carve(s.task, s.tasks);
    });
    if (!s.memory) return TRS_EMEM;
    const size_t bytes = (size_t)((char *)s.node - (char *)s.memory);
    const size_t nodes = (size_t)((char *)s.task - (char *)s.node);
    cudaError_t e = cudaMemsetAsync(s.memory, 0xff, bytes, NULL);
    if (!e) e = cudaMemsetAsync(s.node, 0, nodes, NULL);
    return cuda_status(e, "a schedule of elimination");
}

/* Which node is where, its numbers, and the sizes of lists. */
static int find_numbers(trs_context *ctx, scene *x)
{
    const int64_t seats = (int64_t)x->s.tasks * x->nodes;
    int32_t numbers = 0;
    seat_kernel<<<blocks_of(x->p.n), PLAIN>>>(*x);
    size_kernel<<<blocks_of(x->s.tasks + 1), PLAIN>>>(*x);
    int rc = begin_of(&x->m, x->m.size, seats);
    if (!rc) rc = begin_of(&x->m, x->m.groups, x->s.tasks);
    if (rc) return rc;
    begin_kernel<<<blocks_of(seats), PLAIN>>>(*x);
    rc = trs_gpu_get(ctx, &numbers, x->m.size + seats, sizeof numbers);
    if (!rc)
        rc = trs_gpu_get(ctx, &x->s.list_groups, x->m.groups + x->s.tasks, sizeof x->s.list_groups);
    x->s.numbers = numbers;
    return rc;
}

static int make_list(trs_context *ctx, scene *x)
{
    row_schedule &s = x->s;
    const int64_t words = s.list_groups * ROW_WARP, lanes = (int64_t)s.tasks * ROW_WARP;
    s.list = device_new<uint32_t>(ctx, words, "lists of elimination");
    s.list_memory = s.list;
    if (!s.list) return TRS_EMEM;
    const cudaError_t e = cudaMemsetAsync(s.list, 0, (size_t)words * sizeof *s.list, NULL);
    if (e) return cuda_status(e, "lists of elimination");
    place_kernel<<<blocks_of(lanes), PLAIN>>>(*x);
    list_kernel<<<blocks_of(lanes), PLAIN>>>(*x);
    return launched();
}

static int make(trs_context *ctx, scene *x, int64_t most_tasks)
{
    int rc = take_scratch(ctx, x, most_tasks);
    if (!rc) rc = find_tasks(ctx, x);
    if (!rc && is_too_large(x)) return TRS_ESUPPORT;
    if (!rc) rc = take_memory(ctx, x);
    if (!rc) rc = find_numbers(ctx, x);
    if (!rc && is_too_large(x)) return TRS_ESUPPORT;
    if (!rc) rc = make_list(ctx, x);
    if (rc) return rc;
    return trs_gpu_wait(NULL);
}

int row_schedule_make(trs_context *ctx, const trs_elimination_pattern *p, row_shape shape,
                      row_schedule *s)
{
    scene x = {.p = *p, .s = {.shape = shape}, .nodes = ROW_WARP / shape.lanes};
    const int64_t most_tasks = p->n / x.nodes + min(p->levels, p->n);
    TRS_ASSERT(shape.lanes > 0 && ROW_WARP % shape.lanes == 0);
    TRS_ASSERT(0 < shape.rows && shape.rows <= ROW_MOST_ROWS && shape.each > 0);
    int rc = TRS_OK;
    if (p->nnz > ROW_MOST || most_tasks * x.nodes > INT32_MAX) rc = TRS_ESUPPORT;
    else if (p->n > 0) rc = make(ctx, &x, most_tasks);
    if (rc) row_schedule_free(ctx, &x.s);
    *s = x.s;
    return rc;
}

void row_schedule_free(trs_context *ctx, row_schedule *s)
{
    trs_gpu_free(ctx, s->memory);
    trs_gpu_free(ctx, s->list_memory);
    *s = row_schedule{.shape = s->shape};
}
