/* rows_schedule.cu: makes the schedule of the row kernel (rows.cuh) on the device, from the pattern and the levels there.
 *
 *     rows by level      a stable radix sort of all rows; each level then fills whole tasks
 *     numbers            a sum over the rows in the order of the tasks, of the entries of U
 *     places             a warp a task: which entry is where
 *     lists              a warp a task: for each lower entry (i, k) a lane looks for its columns in row k, by bisection
 *
 * Everything follows from the pattern, and no step depends on another's timing.
 * Bytes: some 60 an entry, and log (row) gathers for each byte of a list. */
#include "config.h"

#include "rows.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

/* A schedule of more bytes does not fit: most of its places would have no entry. */
enum { BYTES_OF_ENTRY = 256, BYTES_AT_LEAST = 64 << 20 };

/* In scratch memory. */
struct making {
    int32_t *level;  /* [n] of the sorted rows */
    int32_t *row[2]; /* [n] before and after the sort */
    int32_t *first;  /* [levels+1] of the sorted rows, that with which a level begins */
    int32_t *task;   /* [levels+1] with which a level begins */
    int32_t *number; /* [n] of the pivot of each row */
    int32_t *upper;  /* [tasks*rows+1] entries of U of each row, and then where they begin */
    int64_t *groups; /* [tasks+1] groups of words of each task, and then where they begin */
    void *temp;      /* [temp_bytes] of CUB */
    size_t temp_bytes;
};

struct scene {
    trs_elimination_pattern p;
    row_schedule s;
    making m;
    int rows; /* of a task */
};

/* ---- rows by level ------------------------------------------------------------------------------------------------ */

static __global__ void number_kernel(const scene x)
{
    const int64_t i = index_of_thread();
    if (i < x.p.n) x.m.row[0][i] = (int32_t)i;
}

/* Where level l begins among the sorted rows. */
static __global__ void first_kernel(const scene x)
{
    const int64_t l = index_of_thread();
    if (l > x.p.levels) return;
    int32_t from = 0, to = x.p.n;
    while (from < to) {
        const int32_t mid = from + (to - from) / 2;
        if (x.m.level[mid] < l) from = mid + 1;
        else to = mid;
    }
    x.m.first[l] = from;
}

static __global__ void count_tasks_kernel(const scene x)
{
    const int64_t l = index_of_thread();
    if (l > x.p.levels) return;
    const int32_t rows = l < x.p.levels ? x.m.first[l + 1] - x.m.first[l] : 0;
    x.m.task[l] = (rows + x.rows - 1) / x.rows;
}

static __global__ void seat_kernel(const scene x)
{
    const int64_t k = index_of_thread();
    if (k >= x.p.n) return;
    const int32_t l = x.m.level[k], i = x.m.row[1][k];
    x.s.row[(int64_t)x.m.task[l] * x.rows + (k - x.m.first[l])] = i;
}

/* ---- numbers and groups of words ------------------------------------------------------------------------------------ */

static __global__ void size_kernel(const scene x)
{
    const int64_t t = index_of_thread();
    if (t > x.s.tasks) return;
    int64_t most = 0;
    for (int r = 0; r < x.rows; r++) {
        const int64_t at = t * x.rows + r;
        const int32_t i = t < x.s.tasks ? x.s.row[at] : -1;
        if (i >= 0) most = max(most, x.p.diag[i] - x.p.ptr[i]);
        if (t < x.s.tasks || r == 0)
            x.m.upper[at] = i < 0 ? 0 : (int32_t)(x.p.ptr[i + 1] - x.p.diag[i]);
    }
    x.m.groups[t] = (most + ROW_BATCH - 1) / ROW_BATCH * x.s.shape.each;
    if (t < x.s.tasks) x.s.task[t].lower = (int32_t)most;
}

static __global__ void begin_kernel(const scene x)
{
    const int64_t at = index_of_thread();
    if (at < x.s.tasks) x.s.task[at].list = (int32_t)x.m.groups[at];
    if (at >= (int64_t)x.s.tasks * x.rows) return;
    const int32_t i = x.s.row[at];
    if (i >= 0) x.m.number[i] = x.m.upper[at];
}

/* ---- places and lists ------------------------------------------------------------------------------------------------- */

/* The task of a warp, the row of a lane, and its lane of that row. */
struct seat {
    int64_t task;
    int32_t row; /* -1: none */
    int lane;
};

static __device__ inline seat seat_of(const scene &x)
{
    const int lane = threadIdx.x % ROW_WARP;
    seat me = {index_of_thread() / ROW_WARP, -1, lane % x.s.shape.lanes};
    if (me.task < x.s.tasks) me.row = x.s.row[me.task * x.rows + lane / x.s.shape.lanes];
    return me;
}

static __global__ void place_kernel(const scene x)
{
    const seat me = seat_of(x);
    if (me.row < 0) return;
    const trs_elimination_pattern &p = x.p;
    const int64_t begin = p.ptr[me.row], end = p.ptr[me.row + 1], diag = p.diag[me.row];
    for (int e = 0; e < x.s.shape.each; e++) {
        const int64_t q = begin + e * x.s.shape.lanes + me.lane;
        const int64_t at = (me.task * x.s.shape.each + e) * ROW_WARP + threadIdx.x % ROW_WARP;
        if (q >= end) break;
        const bool conjugated = p.conjugate && p.conjugate[q];
        const int32_t own = x.m.number[me.row] + (int32_t)(q - diag);
        if (p.src[q] >= 0) x.s.a[at] = (int32_t)p.src[q] | (conjugated ? ROW_MARKED : 0);
        if (p.to[q] >= 0) x.s.to[at] = (int32_t)p.to[q];
        if (q < diag) x.s.number[at] = x.m.number[p.idx[q]];
        else x.s.number[at] = ~(q > diag ? own : own | ROW_MARKED);
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
    if (me.row < 0) return;
    const trs_elimination_pattern &p = x.p;
    const row_task task = x.s.task[me.task];
    const int64_t begin = p.ptr[me.row], end = p.ptr[me.row + 1], diag = p.diag[me.row];
    for (int e = 0; e < x.s.shape.each; e++) {
        const int64_t q = begin + e * x.s.shape.lanes + me.lane;
        if (q >= end) break;
        for (int w = 0; begin + w * ROW_BATCH < diag; w++) {
            uint32_t word = 0;
            for (int b = 0; b < ROW_BATCH; b++) {
                const int64_t lower = begin + w * ROW_BATCH + b;
                if (lower < diag) word |= byte_of(p, lower, q) << 8 * b;
            }
            const int64_t group = task.list + w * x.s.shape.each + e;
            x.s.list[group * ROW_WARP + threadIdx.x % ROW_WARP] = word;
        }
    }
}

/* ---- the host side ------------------------------------------------------------------------------------------------------ */

/* Enough for the numbers 0 ... count. */
static int bits_of(int64_t count)
{
    int bits = 1;
    while (count >> bits) bits++;
    return bits;
}

static cudaError_t sort(scene *x)
{
    making &m = x->m;
    return cub::DeviceRadixSort::SortPairs(m.temp, m.temp_bytes, x->p.level, m.level, m.row[0],
                                           m.row[1], x->p.n, 0, bits_of(x->p.levels));
}

/* p [count+1] becomes where each begins, and in the end the sum of all. */
template <class V> static cudaError_t begin_of(making *m, V *p, int64_t count)
{
    return cub::DeviceScan::ExclusiveSum(m->temp, m->temp_bytes, p, p, count + 1);
}

/* What CUB needs at most. */
static cudaError_t find_temp(scene *x, int64_t seats)
{
    making &m = x->m;
    m.temp = NULL;
    cudaError_t e = sort(x);
    const size_t for_sort = m.temp_bytes;
    if (!e) e = begin_of(&m, m.groups, seats);
    m.temp_bytes = max(m.temp_bytes, for_sort);
    return e;
}

/* For as many tasks as there may be. */
static int take_scratch(trs_context *ctx, scene *x, int64_t most_tasks)
{
    making &m = x->m;
    const int64_t n = x->p.n, levels = x->p.levels;
    const cudaError_t e = find_temp(x, max(most_tasks * x->rows, levels));
    if (e) return cuda_status(e, "a schedule of elimination");
    const auto lay_out = [&](carver &carve) {
        carve(m.level, n);
        for (int k = 0; k < 2; k++) carve(m.row[k], n);
        carve(m.first, levels + 1);
        carve(m.task, levels + 1);
        carve(m.number, n);
        carve(m.upper, most_tasks * x->rows + 1);
        carve(m.groups, most_tasks + 1);
        carve(m.temp, (int64_t)m.temp_bytes);
    };
    return carve_scratch(ctx, "a schedule of elimination", lay_out) ? TRS_OK : TRS_EMEM;
}

/* Where each level begins, and how many tasks there are. */
static int find_tasks(trs_context *ctx, scene *x)
{
    const int64_t n = x->p.n, levels = x->p.levels;
    number_kernel<<<blocks_of(n), PLAIN>>>(*x);
    cudaError_t e = sort(x);
    first_kernel<<<blocks_of(levels + 1), PLAIN>>>(*x);
    count_tasks_kernel<<<blocks_of(levels + 1), PLAIN>>>(*x);
    if (!e) e = begin_of(&x->m, x->m.task, levels);
    if (!e) e = cudaGetLastError();
    if (e) return cuda_status(e, "a schedule of elimination");
    return trs_gpu_get(ctx, &x->s.tasks, x->m.task + levels, sizeof x->s.tasks);
}

static bool is_too_large(const scene *x)
{
    return row_schedule_bytes(&x->s) > BYTES_AT_LEAST + BYTES_OF_ENTRY * x->p.nnz ||
           x->s.numbers > ROW_MOST;
}

static int take_memory(trs_context *ctx, scene *x)
{
    row_schedule &s = x->s;
    const int64_t places = (int64_t)s.tasks * s.shape.each * ROW_WARP;
    s.memory = carve_new(ctx, "a schedule of elimination", [&](carver &carve) {
        carve(s.row, (int64_t)s.tasks * x->rows);
        carve(s.a, places);
        carve(s.to, places);
        carve(s.number, places);
        carve(s.task, s.tasks);
    });
    if (!s.memory) return TRS_EMEM;
    const size_t bytes = (size_t)((char *)s.task - (char *)s.memory);
    return cuda_status(cudaMemsetAsync(s.memory, 0xff, bytes, NULL), "a schedule of elimination");
}

/* Which row is where, its numbers, and the sizes of lists. */
static int find_numbers(trs_context *ctx, scene *x)
{
    const int64_t seats = (int64_t)x->s.tasks * x->rows;
    int32_t numbers = 0;
    seat_kernel<<<blocks_of(x->p.n), PLAIN>>>(*x);
    size_kernel<<<blocks_of(x->s.tasks + 1), PLAIN>>>(*x);
    cudaError_t e = begin_of(&x->m, x->m.upper, seats);
    if (!e) e = begin_of(&x->m, x->m.groups, x->s.tasks);
    if (e) return cuda_status(e, "a schedule of elimination");
    begin_kernel<<<blocks_of(seats), PLAIN>>>(*x);
    int rc = trs_gpu_get(ctx, &numbers, x->m.upper + seats, sizeof numbers);
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
    return rc ? rc : trs_gpu_wait(NULL);
}

int row_schedule_make(trs_context *ctx, const trs_elimination_pattern *p, row_shape shape,
                      row_schedule *s)
{
    scene x = {.p = *p, .s = {.shape = shape}, .rows = ROW_WARP / shape.lanes};
    const int64_t most_tasks = p->n / x.rows + min(p->levels, p->n);
    int rc = TRS_OK;
    if (p->nnz > ROW_MOST || most_tasks * x.rows > INT32_MAX) rc = TRS_ESUPPORT;
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

int64_t row_schedule_bytes(const row_schedule *s)
{
    const int64_t place = 3 * (int64_t)sizeof(int32_t),
                  task = sizeof(row_task) + sizeof(int32_t) * (size_t)(ROW_WARP / s->shape.lanes);
    return s->tasks * (place * s->shape.each * ROW_WARP + task) +
           s->list_groups * (int64_t)(ROW_WARP * sizeof(uint32_t));
}
