/* dataflow.cu: one launch; every row is computed as soon as what it waits for is there.
 *
 * Rows stand in level order (flow.h); a warp takes tasks of equally long rows, 1 to 32 lanes a row by its
 * length, long rows being cut into pieces whose partial sums are values like any other.
 * Who owns a row: the lanes of one warp.  How x becomes visible: y(node) is its own flag (flag.cuh).
 * Why it cannot hang: tasks are given out in topological order, cyclically over warps that are all
 * resident (cooperative launch), and a lane that waits does not keep its warp from publishing others, so
 * the first unfinished node can always be finished.
 * The sum of a row is made in an order that depends on the pattern alone: same bits every time.  It is divided
 * by what is kept of the diagonal (divide.cuh).
 * Several right-hand sides: the lanes go over them, so numbers and places are read once and y by lines; columns
 * are turned into rows before and back after.
 * Bytes 12 nnz + 44 n and the memset of y; bound by levels x one hop between SMs (0.3 us and the
 * lane's own loads), where levels are wide by the gathers of x. */
#include "config.h"

#include "dataflow.cuh"
#include "flag.cuh"

#include <climits>

enum { THREADS = 256, WARP = TRS_FLOW_WARP, BATCH = TRS_FLOW_BATCH };

/* Right-hand sides at a time. */
static const int widths[DATAFLOW_WIDTHS] = {1, 8, 32};

static int width_of(int nrhs)
{
    int k = 0;
    while (k + 1 < DATAFLOW_WIDTHS && widths[k] < nrhs) k++;
    return k;
}

template <class T> struct kernel_args {
    int32_t tasks;
    const trs_flow_task *task;
    const int64_t *ptr;
    const int32_t *idx, *row;
    const T *val, *inv;
    const int *divides;
    T *y; /* [nodes][width] its own flag */
    view<T> b, x;
    int32_t nodes;
    int nrhs;
    bool cj;
};

/* Batch of entries of one lane. */
template <class T> struct batch {
    int32_t node[BATCH];
    T a[BATCH], y[BATCH];
    unsigned waiting;
};

/* The entries from p on, every so many-th. */
template <class T>
__device__ inline batch<T> read_batch(const kernel_args<T> &k, int64_t p, int64_t end, int lanes)
{
    batch<T> e;
    e.waiting = 0;
#pragma unroll
    for (int j = 0; j < BATCH; j++) {
        const int64_t q = p + j * lanes;
        e.node[j] = 0;
        e.a[j] = e.y[j] = number<T>(0);
        if (q < end) {
            e.node[j] = k.idx[q];
            e.a[j] = conj_if(k.cj, k.val[q]);
            e.waiting |= 1u << j;
        }
    }
    return e;
}

/* All loads are under way before the first is looked at. */
template <class T> __device__ inline void poll_batch(const kernel_args<T> &k, batch<T> &e)
{
    T v[BATCH];
    bool there[BATCH];
#pragma unroll
    for (int j = 0; j < BATCH; j++) {
        there[j] = false;
        if (e.waiting >> j & 1) there[j] = flag_load(k.y + e.node[j], v[j]);
    }
#pragma unroll
    for (int j = 0; j < BATCH; j++)
        if (there[j]) {
            e.y[j] = v[j];
            e.waiting &= ~(1u << j);
        }
}

template <class T> __device__ inline T shuffle_down(T v, int by, int width)
{
    return for_parts(v, [=](auto part) { return __shfl_down_sync(~0u, part, by, width); });
}

/* What a lane has of a task: a node, perhaps with other lanes, of which the first looks after the row. */
template <class T> struct stake {
    int32_t node, row; /* -1: none; a piece has no row */
    int lanes;
    bool first;
    int64_t p, end; /* its entries: every so many-th from p on */
    T inv;
};

__device__ inline trs_flow_task task_at(const trs_flow_task *task, int32_t tasks, int64_t t)
{
    return t < tasks ? task[t] : trs_flow_task{0, 0, 1};
}

template <class T>
__device__ inline stake<T> read_stake(const kernel_args<T> &k, trs_flow_task task)
{
    const int lane = threadIdx.x % WARP, lanes = task.lanes, sub = lane >> (31 - __clz(lanes));
    stake<T> s = {-1, -1, lanes, (lane & (lanes - 1)) == 0, 0, 0, number<T>(0)};
    if (sub < task.count) {
        s.node = task.first + sub;
        s.p = k.ptr[s.node] + (lane & (lanes - 1));
        s.end = k.ptr[s.node + 1];
        if (s.first) {
            s.row = k.row[s.node];
            s.inv = k.inv[s.node];
        }
    }
    return s;
}

template <class T> __device__ inline T read_b(const kernel_args<T> &k, const stake<T> &s)
{
    return s.row >= 0 ? k.b(s.row, 0) : number<T>(0);
}

/* One task.  Every lane of the warp goes round the loop until all its nodes are published. */
template <class T, int LANES, bool DIVIDES>
__device__ inline void run_task(const kernel_args<T> &k, const stake<T> &w, batch<T> &e, const T b)
{
    const int lane = threadIdx.x % WARP, sub = lane / LANES;
    const unsigned group = (LANES == WARP ? ~0u : (1u << LANES % WARP) - 1) << (sub * LANES);
    bool done = w.node < 0, summed = done;
    int64_t p = w.p;
    T s = number<T>(0);
    while (__any_sync(~0u, !done)) {
        if (!summed) {
            poll_batch(k, e);
            if (!e.waiting) {
#pragma unroll
                for (int j = 0; j < BATCH; j++) s = s + e.a[j] * e.y[j];
                p += BATCH * LANES;
                if (p < w.end) e = read_batch(k, p, w.end, LANES);
                else summed = true;
            }
        }
        const unsigned finished = __ballot_sync(~0u, summed);
        const bool ready = !done && (finished & group) == group;
        if (LANES > 1 && !__any_sync(~0u, ready)) continue;
        T sum = s;
#pragma unroll
        for (int by = LANES / 2; by > 0; by /= 2) sum = sum + shuffle_down(sum, by, LANES);
        if (ready) {
            if (w.first) {
                const T x = over(DIVIDES, b - sum, conj_if(k.cj, w.inv));
                flag_store(k.y + w.node, x);
                if (w.row >= 0) k.x(w.row, 0) = x;
            }
            done = true;
        }
    }
}

template <class T, bool DIVIDES>
__device__ inline void run_any(const kernel_args<T> &k, const stake<T> &w, batch<T> &e, const T b)
{
    switch (w.lanes) {
    case 1:
        run_task<T, 1, DIVIDES>(k, w, e, b);
        break;
    case 2:
        run_task<T, 2, DIVIDES>(k, w, e, b);
        break;
    case 4:
        run_task<T, 4, DIVIDES>(k, w, e, b);
        break;
    case 8:
        run_task<T, 8, DIVIDES>(k, w, e, b);
        break;
    case 16:
        run_task<T, 16, DIVIDES>(k, w, e, b);
        break;
    default:
        run_task<T, 32, DIVIDES>(k, w, e, b);
        break;
    }
}

/* While a task waits for others, what the warp's next ones need is on its way: entries and b of the next,
 * the places of those of the one after it, and the third's task. */
template <class T, bool DIVIDES> static __device__ inline void run_all(const kernel_args<T> &k)
{
    const int64_t warps = (int64_t)gridDim.x * (THREADS / WARP);
    /* neighbouring tasks go to different SMs */
    const int64_t first = (threadIdx.x / WARP) * (int64_t)gridDim.x + blockIdx.x;
    stake<T> w = read_stake(k, task_at(k.task, k.tasks, first));
    stake<T> next = read_stake(k, task_at(k.task, k.tasks, first + warps));
    trs_flow_task later = task_at(k.task, k.tasks, first + 2 * warps);
    batch<T> e = read_batch(k, w.p, w.end, w.lanes);
    T b = read_b(k, w);
    for (int64_t t = first; t < k.tasks; t += warps) {
        const trs_flow_task last = task_at(k.task, k.tasks, t + 3 * warps);
        const stake<T> after = read_stake(k, later);
        const batch<T> next_e = read_batch(k, next.p, next.end, next.lanes);
        const T next_b = read_b(k, next);
        delay();
        run_any<T, DIVIDES>(k, w, e, b);
        w = next;
        next = after;
        later = last;
        e = next_e;
        b = next_b;
    }
}

template <class T>
static __global__ void __launch_bounds__(THREADS) dataflow_kernel(const kernel_args<T> k)
{
    if (*k.divides) run_all<T, true>(k);
    else run_all<T, false>(k);
}

/* ---- several right-hand sides ------------------------------------------------------------------------- */

/* Where a node's entries are, and what its row needs; read a turn ahead of the entries. */
template <class T> struct node_head {
    int64_t p, end;
    int32_t row;
    T inv;
};

template <class T> __device__ inline node_head<T> read_head(const kernel_args<T> &k, int64_t node)
{
    node_head<T> h = {0, 0, -1, number<T>(0)};
    if (node < k.nodes) {
        h.p = k.ptr[node];
        h.end = k.ptr[node + 1];
        h.row = k.row[node];
        h.inv = k.inv[node];
    }
    return h;
}

/* Up to R entries of a node, a lane each. */
template <class T> struct lane_entry {
    int32_t node;
    T a;
};

template <class T>
__device__ inline lane_entry<T> read_entry(const kernel_args<T> &k, int64_t p, int64_t end)
{
    lane_entry<T> e = {0, number<T>(0)};
    if (p < end) {
        e.node = k.idx[p];
        e.a = conj_if(k.cj, k.val[p]);
    }
    return e;
}

template <class T> __device__ inline T shuffle(T v, int from, int width)
{
    return for_parts(v, [=](auto part) { return __shfl_sync(~0u, part, from, width); });
}

/* R lanes have a node, each one column of B: R is 8 or 32.  They read the entries of the node together, a lane
 * one of them, and hand them round; those of the warp's next node, and b, are read while y of this one is waited
 * for.  As in run_task every lane of the warp goes round the loop until all its nodes are published. */
template <class T, int R>
static __global__ void __launch_bounds__(THREADS, sizeof(T) > 8 ? 2 : 4)
    many_kernel(const kernel_args<T> k)
{
    constexpr int GROUPS = WARP / R, LINES = 4; /* of y in flight */
    const int r = threadIdx.x % R, sub = threadIdx.x % WARP / R;
    const unsigned group = (R == WARP ? ~0u : (1u << R % WARP) - 1) << (sub * R % WARP);
    const int64_t stride = (int64_t)gridDim.x * (THREADS / WARP) * GROUPS;
    const int64_t first = ((threadIdx.x / WARP) * (int64_t)gridDim.x + blockIdx.x) * GROUPS + sub;
    const bool wanted = r < k.nrhs, divides = *k.divides;
    node_head<T> h = read_head(k, first), next = read_head(k, first + stride);
    lane_entry<T> e = read_entry(k, h.p + r, h.end);
    T b = h.row >= 0 && wanted ? k.b(h.row, r) : number<T>(0);
    for (int64_t node = first; node - sub < k.nodes; node += stride) {
        const node_head<T> after = read_head(k, node + 2 * stride);
        delay();
        const lane_entry<T> next_e = read_entry(k, next.p + r, next.end);
        const T next_b = next.row >= 0 && wanted ? k.b(next.row, r) : number<T>(0);
        bool done = node >= k.nodes, fresh = !done;
        int at = 0; /* of the batch among the entries that the lanes have */
        int64_t p = h.p;
        int32_t line[LINES] = {};
        T y[LINES] = {}, s = number<T>(0);
        unsigned waiting = 0;
        while (__any_sync(~0u, !done)) {
            if (__any_sync(~0u, fresh)) {
#pragma unroll
                for (int j = 0; j < LINES; j++) {
                    const int32_t from = __shfl_sync(~0u, e.node, at + j, R);
                    if (fresh) line[j] = from;
                }
                const int64_t left = h.end - p - at;
                if (fresh) waiting = left < LINES ? (1u << (int)left) - 1 : (1u << LINES) - 1;
                fresh = false;
            }
#pragma unroll
            for (int j = 0; j < LINES; j++)
                if (waiting >> j & 1) y[j] = flag_peek(k.y + (int64_t)line[j] * R + r);
#pragma unroll
            for (int j = 0; j < LINES; j++)
                if (waiting >> j & 1 && flag_there(y[j])) waiting &= ~(1u << j);
            const unsigned lacking = __ballot_sync(~0u, waiting != 0) & group;
            const bool whole = !done && !lacking;
            if (!__any_sync(~0u, whole)) continue;
#pragma unroll
            for (int j = 0; j < LINES; j++) {
                const T a = shuffle(e.a, at + j, R);
                if (whole && p + at + j < h.end) s = s + a * y[j];
            }
            if (!whole) continue;
            at += LINES;
            fresh = p + at < h.end;
            if (fresh && at == R) {
                p += R;
                at = 0;
                e = read_entry(k, p + r, h.end);
            }
            if (fresh) continue;
            const T x = over(divides, b - s, conj_if(k.cj, h.inv));
            flag_store(k.y + node * R + r, x);
            if (h.row >= 0 && wanted) k.x(h.row, r) = x;
            done = true;
        }
        h = next;
        next = after;
        e = next_e;
        b = next_b;
    }
}

/* to (i, r) = from (i, r), one of them by columns and the other by rows of R: through tiles of 32 rows, so that
 * both are read and written by lines. */
template <class T, int R>
static __global__ void turn_kernel(int32_t n, int nrhs, const view<T> from, const view<T> to)
{
    __shared__ T tile[R][WARP + 1];
    const int64_t first = (int64_t)blockIdx.x * WARP;
    const bool by_columns = from.cs != 1;
    for (int k = threadIdx.x; k < WARP * R; k += THREADS) {
        const int i = by_columns ? k % WARP : k / R, r = by_columns ? k / WARP : k % R;
        if (first + i < n && r < nrhs) tile[r][i] = from(first + i, r);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < WARP * R; k += THREADS) {
        const int i = by_columns ? k / R : k % WARP, r = by_columns ? k % R : k / WARP;
        if (first + i < n && r < nrhs) to(first + i, r) = tile[r][i];
    }
}

template <class T>
static int turn(int32_t n, int nrhs, int width, const view<T> &from, const view<T> &to,
                cudaStream_t stream)
{
    const unsigned blocks = (unsigned)((n + WARP - 1) / WARP);
    if (width == 1) turn_kernel<T, 8><<<blocks, THREADS, 0, stream>>>(n, nrhs, from, to);
    else turn_kernel<T, 32><<<blocks, THREADS, 0, stream>>>(n, nrhs, from, to);
    return launched();
}

/* ---- the host side -------------------------------------------------------------------------------------- */

template <class T> static const void *kernel_of(int width)
{
    return width == 0   ? (const void *)dataflow_kernel<T>
           : width == 1 ? (const void *)many_kernel<T, 8>
                        : (const void *)many_kernel<T, 32>;
}

void dataflow_free(trs_context *ctx, dataflow *d)
{
    trs_flow_free(ctx, &d->flow);
    trs_gpu_free(ctx, d->inv);
    d->val = d->inv = NULL;
}

/* As many blocks as the warps of six levels fill; with one column at most two an SM, for those that wait are in
 * the way of the others. */
template <class T> static int count_blocks(const trs_flow *f, int width)
{
    const int sms = multiprocessors();
    const double work = width == 0 ? f->tasks : (double)f->nodes * widths[width] / (int)WARP;
    const double six = 6.0 * work / (f->levels ? f->levels : 1) / (THREADS / WARP);
    const double most = width == 0 ? 2 * sms : INT_MAX;
    return waiting_blocks(kernel_of<T>(width), THREADS, 0, min(max(six, (double)sms), most));
}

int dataflow_new(trs_context *ctx, const trs_pattern *p, trs_dtype dtype, dataflow *d)
{
    trs_flow *f = &d->flow;
    d->n = p->n;
    d->dtype = dtype;
    int rc = trs_flow_make(ctx, p, f);
    if (rc) return rc;
    const size_t size = trs_size(dtype);
    d->inv = trs_gpu_new(ctx, f->nodes + f->nnz, size, "values in the order of the solve");
    if (!d->inv) return TRS_EMEM;
    d->val = (char *)d->inv + (size_t)f->nodes * size;
    return for_type(dtype, [&](auto zero) {
        for (int w = 0; w < DATAFLOW_WIDTHS; w++) d->blocks[w] = count_blocks<decltype(zero)>(f, w);
        return int(TRS_OK);
    });
}

int dataflow_take(const dataflow *d, const void *val, void *stream)
{
    return trs_flow_take(&d->flow, d->dtype, val, d->val, d->inv, stream);
}

/* y, and B and X by rows when there are several columns of them. */
int64_t dataflow_work_bytes(int64_t nodes, int64_t n, trs_dtype dtype, int nrhs)
{
    const int width = width_of(nrhs);
    return (nodes + (width ? n : 0)) * (int64_t)trs_size(dtype) * widths[width];
}

/* At most width columns. */
template <class T>
static int solve_some(const dataflow *d, const trs_job *job, const view<T> &b, const view<T> &x,
                      int nrhs, int width)
{
    const trs_flow *f = &d->flow;
    cudaStream_t stream = (cudaStream_t)job->stream;
    kernel_args<T> k = {f->tasks,
                        f->task,
                        f->ptr,
                        f->idx,
                        f->row,
                        (const T *)d->val,
                        (const T *)d->inv,
                        f->divides,
                        (T *)job->work,
                        b,
                        x,
                        f->nodes,
                        nrhs,
                        job->conj};
    void *args[] = {&k};
    const size_t flags = (size_t)f->nodes * (size_t)widths[width] * sizeof(T);
    if (cudaMemsetAsync(k.y, 0xff, flags, stream) != cudaSuccess) return TRS_EDEVICE;
    return cudaLaunchCooperativeKernel(kernel_of<T>(width), dim3((unsigned)d->blocks[width]),
                                       dim3(THREADS), args, 0, stream) == cudaSuccess
               ? TRS_OK
               : TRS_EDEVICE;
}

/* Columns are turned into rows first: a row of x would be as many lines as it has numbers. */
template <class T>
static int solve_turned(const dataflow *d, const trs_job *job, const view<T> &b, const view<T> &x,
                        int nrhs, int width)
{
    const int32_t n = d->n;
    const int each = widths[width];
    cudaStream_t stream = (cudaStream_t)job->stream;
    const view<T> rows = {(T *)job->work + (int64_t)d->flow.nodes * each, each, 1};
    int rc = turn(n, nrhs, width, b, rows, stream);
    if (!rc) rc = solve_some(d, job, rows, rows, nrhs, width);
    return rc ? rc : turn(n, nrhs, width, rows, x, stream);
}

template <class T> static int solve_columns(const dataflow *d, const trs_job *job)
{
    const int width = width_of(job->nrhs);
    int rc = TRS_OK;
    for (int r = 0; r < job->nrhs && !rc; r += widths[width]) {
        const view<T> b = from_column(typed<T>(job->b), r), x = from_column(typed<T>(job->x), r);
        const int nrhs = min(job->nrhs - r, widths[width]);
        rc = width > 0 && b.cs != 1 && x.cs != 1 ? solve_turned(d, job, b, x, nrhs, width)
                                                 : solve_some(d, job, b, x, nrhs, width);
    }
    return rc;
}

int dataflow_solve(const dataflow *d, const trs_job *job)
{
    return for_type(d->dtype, [&](auto zero) { return solve_columns<decltype(zero)>(d, job); });
}

/* ---- the solver ------------------------------------------------------------------------------------------ */

static int analyse(trs_part *part)
{
    trs_context *ctx = part->ctx;
    const trs_pattern p = trs_pattern_of(part->side);
    part->data = trs_alloc_zero(&ctx->mem, 1, sizeof(dataflow));
    if (!part->data) return trs_fail(ctx, TRS_EMEM, "out of memory");
    return dataflow_new(ctx, &p, part->side->tri.dtype, (dataflow *)part->data);
}

static void release(trs_part *part)
{
    dataflow_free(part->ctx, (dataflow *)part->data);
    trs_free(&part->ctx->mem, part->data);
}

static int update_direct(trs_part *part, const void *val, void *stream)
{
    return dataflow_take((const dataflow *)part->data, val, stream);
}

static int64_t work_bytes(const trs_part *part, int nrhs)
{
    const dataflow *d = (const dataflow *)part->data;
    return dataflow_work_bytes(d->flow.nodes, d->n, d->dtype, nrhs);
}

static int solve(const trs_part *part, const trs_job *job)
{
    return dataflow_solve((const dataflow *)part->data, job);
}

static void cost(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    const int width = width_of(s->nrhs), passes = (s->nrhs + widths[width] - 1) / widths[width];
    const double entry = (s->elem + 4) * m->gpu_byte, row = 20 * m->gpu_byte;
    /* one: y gathered at random; many: y by lines, B and X perhaps number by number */
    const double each =
        width == 0 ? (double)s->nnz * m->gpu_gather + (double)s->n * 3 * s->elem * m->gpu_byte
                   : ((double)s->nnz * s->elem + (double)s->n * 80) * widths[width] * m->gpu_byte;
    c->bytes = ((double)s->nnz * entry + (double)s->n * row + each) * passes;
    c->sync = 2.5 * m->gpu_launch * passes;
    c->hops = (double)s->levels * m->gpu_hop * passes * (width ? 1.5 : 1);
}

static int64_t bytes(const trs_shape *s)
{
    return s->nnz * (int64_t)(2 * s->elem + 4) + s->n * (40 + (int64_t)s->elem);
}

const trs_solver trs_solver_dataflow = {
    .name = "cuda-dataflow",
    .about = "rows in level order, one launch, x is its own flag",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .direct = true,
    .cost = cost,
    .bytes = bytes,
    .analyse = analyse,
    .update_direct = update_direct,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};
