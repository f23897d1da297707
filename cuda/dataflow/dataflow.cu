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
 * Several right-hand sides: many.cu.
 * Bytes 12 nnz + 44 n and the memset of y, twice that where its numbers lie apart; bound by levels x one hop
 * between SMs (0.3 us and the lane's own loads), where levels are wide by the gathers of x. */
#include "config.h"

#include "dataflow.cuh"
#include "cuda/runtime/flag.cuh"

#include <climits>

enum { THREADS = 256, WARP = TRS_FLOW_WARP, BATCH = TRS_FLOW_BATCH };

template <class T> struct kernel_args {
    int32_t tasks;
    const trs_flow_task *task;
    const int64_t *ptr;
    const int32_t *idx, *row;
    const T *val, *inv;
    const int *divides;
    T *y; /* [nodes] its own flag */
    view<T> b, x;
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
template <class T, int APART>
__device__ inline void poll_batch(const kernel_args<T> &k, batch<T> &e)
{
    T v[BATCH];
    bool there[BATCH];
#pragma unroll
    for (int j = 0; j < BATCH; j++) {
        there[j] = false;
        if (e.waiting >> j & 1) there[j] = flag_load(k.y + (int64_t)e.node[j] * APART, v[j]);
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
template <class T, int LANES, bool DIVIDES, int APART>
__device__ inline void run_task(const kernel_args<T> &k, const stake<T> &w, batch<T> &e, const T b)
{
    const int lane = threadIdx.x % WARP, sub = lane / LANES;
    const unsigned group = (LANES == WARP ? ~0u : (1u << LANES % WARP) - 1) << (sub * LANES);
    bool done = w.node < 0, summed = done;
    int64_t p = w.p;
    T s = number<T>(0);
    while (__any_sync(~0u, !done)) {
        if (!summed) {
            poll_batch<T, APART>(k, e);
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
                flag_store(k.y + (int64_t)w.node * APART, x);
                if (w.row >= 0) k.x(w.row, 0) = x;
            }
            done = true;
        }
    }
}

template <class T, bool DIVIDES, int APART>
__device__ inline void run_any(const kernel_args<T> &k, const stake<T> &w, batch<T> &e, const T b)
{
    switch (w.lanes) {
    case 1:
        run_task<T, 1, DIVIDES, APART>(k, w, e, b);
        break;
    case 2:
        run_task<T, 2, DIVIDES, APART>(k, w, e, b);
        break;
    case 4:
        run_task<T, 4, DIVIDES, APART>(k, w, e, b);
        break;
    case 8:
        run_task<T, 8, DIVIDES, APART>(k, w, e, b);
        break;
    case 16:
        run_task<T, 16, DIVIDES, APART>(k, w, e, b);
        break;
    default:
        run_task<T, 32, DIVIDES, APART>(k, w, e, b);
        break;
    }
}

/* While a task waits for others, what the warp's next ones need is on its way: entries and b of the next,
 * the places of those of the one after it, and the third's task. */
template <class T, bool DIVIDES, int APART>
static __device__ inline void run_all(const kernel_args<T> &k)
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
        run_any<T, DIVIDES, APART>(k, w, e, b);
        w = next;
        next = after;
        later = last;
        e = next_e;
        b = next_b;
    }
}

template <class T, int APART>
static __global__ void __launch_bounds__(THREADS) dataflow_kernel(const kernel_args<T> k)
{
    if (*k.divides) run_all<T, true, APART>(k);
    else run_all<T, false, APART>(k);
}

/* ---- the host side -------------------------------------------------------------------------------------- */

void dataflow_free(trs_context *ctx, dataflow *d)
{
    trs_flow_free(ctx, &d->flow);
    trs_gpu_free(ctx, d->inv);
    d->val = d->inv = NULL;
    d->place = NULL;
}

/* Those who wait for a number of y are in the way of those who write others of its sector of 32 bytes: so the numbers
 * lie apart, one to 8 or 16 bytes, as long as much of y stays in L2. */
enum { APART_BYTES = 24 << 20 };

static int apart(int64_t nodes, size_t size)
{
    return size < 16 && 2 * nodes * (int64_t)size <= APART_BYTES ? 2 : 1;
}

template <class T> static const void *kernel_of(const trs_flow *f)
{
    if constexpr (sizeof(T) < 16)
        if (apart(f->nodes, sizeof(T)) == 2) return (const void *)dataflow_kernel<T, 2>;
    return (const void *)dataflow_kernel<T, 1>;
}

/* As many blocks as the warps of six levels fill, at most two an SM: those that wait are in the way of the others. */
template <class T> static int count_blocks(const trs_flow *f)
{
    const int sms = multiprocessors();
    const double six = 6.0 * f->tasks / (f->levels ? f->levels : 1) / (THREADS / WARP);
    return waiting_blocks(kernel_of<T>(f), THREADS, 0, min(max(six, (double)sms), 2.0 * sms));
}

int dataflow_new(trs_context *ctx, const trs_pattern *p, trs_dtype dtype, dataflow *d)
{
    trs_flow *f = &d->flow;
    d->n = p->n;
    d->dtype = dtype;
    int rc = trs_flow_make(ctx, p, f);
    if (rc) return rc;
    const size_t size = trs_size(dtype);
    const int64_t numbers = (f->nodes + f->nnz) * (int64_t)size;
    d->inv = trs_gpu_new(ctx, numbers + d->n * (int64_t)sizeof *d->place, 1,
                         "values in the order of the solve");
    if (!d->inv) return TRS_EMEM;
    d->val = (char *)d->inv + (size_t)f->nodes * size;
    d->place = (int32_t *)((char *)d->inv + numbers);
    rc = for_type(dtype, [&](auto zero) {
        d->blocks = count_blocks<decltype(zero)>(f);
        return int(TRS_OK);
    });
    return rc ? rc : many_new(ctx, d);
}

int dataflow_take(const dataflow *d, const void *val, void *stream)
{
    return trs_flow_take(&d->flow, d->dtype, val, d->val, d->inv, stream);
}

int64_t dataflow_work_bytes(int64_t nodes, int64_t n, trs_dtype dtype, int nrhs)
{
    if (nrhs > 1) return many_work_bytes(nodes, n, dtype, nrhs);
    const int64_t size = (int64_t)trs_size(dtype), some = nodes * size;
    const int64_t twice = size < 16 ? min(2 * some, (int64_t)APART_BYTES) : 0;
    return max(some, twice); /* for fewer nodes, too, whose numbers may lie apart */
}

template <class T> static int solve_one(const dataflow *d, const trs_job *job)
{
    const trs_flow *f = &d->flow;
    cudaStream_t stream = (cudaStream_t)job->stream;
    kernel_args<T> k = {
        f->tasks,          f->task,           f->ptr,     f->idx,         f->row,
        (const T *)d->val, (const T *)d->inv, f->divides, (T *)job->work, typed<T>(job->b),
        typed<T>(job->x),  job->conj};
    void *args[] = {&k};
    const size_t bytes = (size_t)f->nodes * sizeof(T) * (size_t)apart(f->nodes, sizeof(T));
    if (cudaMemsetAsync(k.y, 0xff, bytes, stream) != cudaSuccess) return TRS_EDEVICE;
    return cudaLaunchCooperativeKernel(kernel_of<T>(f), dim3((unsigned)d->blocks), dim3(THREADS),
                                       args, 0, stream) == cudaSuccess
               ? TRS_OK
               : TRS_EDEVICE;
}

/* As many columns at a time as there is a kernel for. */
int dataflow_solve(const dataflow *d, const trs_job *job)
{
    trs_job some = *job;
    int rc = TRS_OK;
    for (int left = job->nrhs; left > 0 && !rc; left -= some.nrhs) {
        const int64_t from = (job->nrhs - left) * (int64_t)trs_size(d->dtype);
        some.nrhs = many_at_once(left);
        some.b.p = (char *)job->b.p + from * job->b.cs;
        some.x.p = (char *)job->x.p + from * job->x.cs;
        rc = some.nrhs > 1 ? many_solve(d, &some) : for_type(d->dtype, [&](auto zero) {
            return solve_one<decltype(zero)>(d, &some);
        });
    }
    return rc;
}

/* ---- the solver ------------------------------------------------------------------------------------------ */

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    const trs_pattern p = trs_pattern_of(inst->op);
    inst->data = trs_alloc_zero(&ctx->mem, 1, sizeof(dataflow));
    if (!inst->data) return trs_fail(TRS_EMEM, "out of memory");
    return dataflow_new(ctx, &p, inst->op->tri.dtype, (dataflow *)inst->data);
}

static void release(trs_instance *inst)
{
    dataflow_free(inst->ctx, (dataflow *)inst->data);
    trs_free(&inst->ctx->mem, inst->data);
}

static int update_direct(trs_instance *inst, const void *val, void *stream)
{
    return dataflow_take((const dataflow *)inst->data, val, stream);
}

static int64_t work_bytes(const trs_instance *inst, int nrhs)
{
    const dataflow *d = (const dataflow *)inst->data;
    return dataflow_work_bytes(d->flow.nodes, d->n, d->dtype, nrhs);
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    return dataflow_solve((const dataflow *)inst->data, job);
}

static void cost_one(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    const double entry = (s->elem + 4) * m->gpu_byte, row = 20 * m->gpu_byte;
    c->bytes =
        (double)s->nnz * (entry + m->gpu_gather) + (double)s->n * (row + 3 * s->elem * m->gpu_byte);
    c->sync = 3.5 * m->gpu_launch;
    c->hops = (double)s->levels * m->gpu_hop;
}

static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    (void)built;
    const int most = many_at_once(INT_MAX);
    for (int left = s->nrhs, times; left > 0; left -= times * many_at_once(left)) {
        trs_cost some = {};
        times = max(left / most, 1);
        if (many_at_once(left) > 1) many_cost(s, many_width(left), m, &some);
        else cost_one(s, m, &some);
        c->bytes += times * some.bytes;
        c->sync += times * some.sync;
        c->hops += times * some.hops;
    }
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return s->nnz * (int64_t)(2 * s->elem + 12) + s->n * (44 + (int64_t)s->elem);
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
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .update_direct = update_direct,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};
