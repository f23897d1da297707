/* single.cu: cuda-dataflow with one right-hand side: one launch, and every row is computed as soon as its
 * operands are there.
 *
 * Who computes a node: a group of 1, 2, 4, ... 32 lanes of a warp, as its task prescribes.  Entries are dealt
 * to the lanes cyclically, four in flight at a time.  Shuffles add up the partial sums of the lanes, in an
 * order that depends on the number of lanes alone, and the first lane publishes y(k).
 *
 * How y becomes visible: each number is its own flag (flag.cuh).  All bits of y are set before the launch.
 *
 * Why it cannot hang: warp w of W takes the tasks w, w + W, w + 2 W, ... in this order, and all warps are
 * resident, since the launch is cooperative.  Let k be the first node in the schedule that is not published.
 * Its operands come before it, so they are published.  Its warp has ended all tasks before that of k, since
 * their nodes come before k, too; so it is at the task of k.  There all lanes go round one loop together and
 * none waits for another: the lanes of k see their operands, reach the ballot, and publish k.
 *
 * What is read ahead: while a warp waits in task t, it loads everything that does not depend on y for the tasks
 * after it, so the chain task -> pointers -> entries is not on the critical path:
 *
 *        task t             entries, b      y, y, y ...  publish
 *        task t + W         pointers        entries, b                        y, y ...  publish
 *        task t + 2 W       first, count    pointers                          entries, b
 *        task t + 3 W                       first, count                      pointers
 *                           ------------ while t is computed ---------------- while t + W is computed ---
 *
 * Bytes in fp64: 12 nnz + 44 n, and the memset of y, 8 n, or 16 n if its numbers are spaced.  Bound by levels
 * x the dependency latency (0.6 us at best, 0.28 us of it for the path between SMs), and where levels are wide
 * by the gathers of y. */
#include "config.h"

#include "operands.cuh"

/* The schedule and values as in flow.h. */
template <class T> struct single_args {
    int32_t tasks;
    const trs_flow_task *task;
    const int64_t *ptr;
    const int32_t *idx, *row;
    const T *val, *inv;
    const int *divides;
    T *y; /* [nodes] numbers that are their own flags, STRIDE apart */
    view<T> b, x;
    bool cj; /* conj (T) x = b */
};

/* ---- the batch of a lane ------------------------------------------------------------------------------- */

/* Entries p, p + lanes, p + 2 lanes, ... before end. */
template <class T>
__device__ inline batch<T> read_batch(const single_args<T> &k, int64_t p, int64_t end, int lanes)
{
    batch<T> e;
    clear(e);
#pragma unroll
    for (int j = 0; j < BATCH; j++) {
        const int64_t q = p + j * lanes;
        if (q < end) put_entry(e, j, k.idx[q], conj_if(k.cj, k.val[q]));
    }
    return e;
}

/* ---- a task ------------------------------------------------------------------------------------------------ */

/* What a lane computes of a task.  The first lane of a node also subtracts the sum from b and publishes. */
template <class T> struct assignment {
    int32_t node; /* -1: none */
    int32_t row;  /* -1: none, or not the first lane, or a partial sum */
    int lanes;    /* of the node */
    bool first;
    int64_t p, end; /* its entries: p, p + lanes, ... before end */
    T inv;
};

template <class T>
__device__ inline assignment<T> read_assignment(const single_args<T> &k, trs_flow_task task)
{
    const int lane = threadIdx.x % WARP, lanes = task.lanes, sub = lane >> (31 - __clz(lanes));
    assignment<T> s = {-1, -1, lanes, (lane & (lanes - 1)) == 0, 0, 0, number<T>(0)};
    TRS_ASSERT(__popc(lanes) == 1 && task.count * lanes <= WARP);
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

template <class T> __device__ inline T read_b(const single_args<T> &k, const assignment<T> &s)
{
    return s.row >= 0 ? k.b(s.row, 0) : number<T>(0);
}

/* x of the node, whose operands are all there and have the sum. */
template <class T, bool DIVIDES, int STRIDE>
__device__ inline void publish(const single_args<T> &k, const assignment<T> &w, T b, T sum)
{
    const T x = over(DIVIDES, b - sum, conj_if(k.cj, w.inv));
    TRS_ASSERT(!flag_there(flag_peek(k.y + (int64_t)w.node * STRIDE)));
    flag_store(k.y + (int64_t)w.node * STRIDE, x);
    if (w.row >= 0) k.x(w.row, 0) = x;
}

/* Computes one task; e has the first batch.  Every lane of the warp goes round the loop until all nodes of the
 * task are published, and comes to each ballot and shuffle in it: so none of these may stand behind a condition
 * or && that lanes may answer differently. */
template <class T, int LANES, bool DIVIDES, int STRIDE>
__device__ inline void compute_task(const single_args<T> &k, const assignment<T> &w, batch<T> &e,
                                    const T b)
{
    const int lane = threadIdx.x % WARP, sub = lane / LANES;
    const unsigned group = (LANES == WARP ? ~0u : (1u << LANES % WARP) - 1) << (sub * LANES);
    bool done = w.node < 0, summed = done;
    int64_t p = w.p;
    T s = number<T>(0);
    while (__any_sync(~0u, !done)) {
        if (!summed) {
            poll_batch<STRIDE>(k.y, e);
            if (!e.waiting) {
                s = add_batch(s, e);
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
            if (w.first) publish<T, DIVIDES, STRIDE>(k, w, b, sum);
            done = true;
        }
    }
}

/* With the number of lanes as a constant, for which the shuffles and strides are code of their own. */
template <class T, bool DIVIDES, int STRIDE>
__device__ inline void compute_any(const single_args<T> &k, const assignment<T> &w, batch<T> &e,
                                   const T b)
{
    switch (w.lanes) {
    case 1:
        compute_task<T, 1, DIVIDES, STRIDE>(k, w, e, b);
        break;
    case 2:
        compute_task<T, 2, DIVIDES, STRIDE>(k, w, e, b);
        break;
    case 4:
        compute_task<T, 4, DIVIDES, STRIDE>(k, w, e, b);
        break;
    case 8:
        compute_task<T, 8, DIVIDES, STRIDE>(k, w, e, b);
        break;
    case 16:
        compute_task<T, 16, DIVIDES, STRIDE>(k, w, e, b);
        break;
    default:
        compute_task<T, 32, DIVIDES, STRIDE>(k, w, e, b);
        break;
    }
}

/* ---- all tasks of a warp ------------------------------------------------------------------------------------ */

template <class T, bool DIVIDES, int STRIDE>
static __device__ inline void compute_all(const single_args<T> &k)
{
    const int64_t warps = (int64_t)gridDim.x * (THREADS / WARP);
    /* neighbouring tasks go to different SMs, whose caches and schedulers then share a level's work */
    const int64_t first = (threadIdx.x / WARP) * (int64_t)gridDim.x + blockIdx.x;
    assignment<T> w = read_assignment(k, task_at(k.task, k.tasks, first));
    assignment<T> next = read_assignment(k, task_at(k.task, k.tasks, first + warps));
    trs_flow_task later = task_at(k.task, k.tasks, first + 2 * warps);
    batch<T> e = read_batch(k, w.p, w.end, w.lanes);
    T b = read_b(k, w);
    for (int64_t t = first; t < k.tasks; t += warps) {
        const trs_flow_task last = task_at(k.task, k.tasks, t + 3 * warps);
        const assignment<T> after = read_assignment(k, later);
        const batch<T> next_e = read_batch(k, next.p, next.end, next.lanes);
        const T next_b = read_b(k, next);
        delay();
        compute_any<T, DIVIDES, STRIDE>(k, w, e, b);
        w = next;
        next = after;
        later = last;
        e = next_e;
        b = next_b;
    }
}

template <class T, int STRIDE>
static __global__ void __launch_bounds__(THREADS) single_kernel(const single_args<T> k)
{
    if (*k.divides) compute_all<T, true, STRIDE>(k);
    else compute_all<T, false, STRIDE>(k);
}

/* ---- the host side ----------------------------------------------------------------------------------------- */

/* L2 hands out sectors of 32 bytes, and who waits for a number of y keeps those waiting who write others of its
 * sector.  So the numbers lie apart, one to 8 or 16 bytes, as long as that much of y stays in L2. */
enum { SPREAD_BYTES = 24 << 20 };

static int stride_of(int64_t nodes, size_t size)
{
    return size < 16 && 2 * nodes * (int64_t)size <= SPREAD_BYTES ? 2 : 1;
}

template <class T> static const void *kernel_of(const trs_flow *f)
{
    if constexpr (sizeof(T) < 16)
        if (stride_of(f->nodes, sizeof(T)) == 2) return (const void *)single_kernel<T, 2>;
    return (const void *)single_kernel<T, 1>;
}

/* As many blocks as the warps of six levels fill, at most two an SM: the looks of those that wait slow down the
 * others. */
template <class T> static int count_blocks(const trs_flow *f)
{
    const int sms = multiprocessors();
    const double six = 6.0 * f->tasks / (f->levels ? f->levels : 1) / (THREADS / WARP);
    return waiting_blocks(kernel_of<T>(f), THREADS, 0, min(max(six, (double)sms), 2.0 * sms));
}

int single_new(dataflow *d)
{
    return for_type(d->dtype, [&]<class T>(T) {
        d->single_blocks = count_blocks<T>(&d->flow);
        return int(d->single_blocks > 0 || d->flow.nodes == 0 ? TRS_OK : TRS_EDEVICE);
    });
}

int64_t single_work_bytes(int64_t nodes, trs_dtype dtype)
{
    const int64_t size = (int64_t)trs_size(dtype), side_by_side = nodes * size;
    const int64_t spread = size < 16 ? min(2 * side_by_side, (int64_t)SPREAD_BYTES) : 0;
    return max(side_by_side, spread); /* enough for fewer nodes, too, whose numbers may lie apart */
}

template <class T> static int solve(const dataflow *d, const trs_job *job)
{
    const trs_flow *f = &d->flow;
    cudaStream_t stream = (cudaStream_t)job->stream;
    const single_args<T> k = {
        f->tasks,          f->task,           f->ptr,     f->idx,         f->row,
        (const T *)d->val, (const T *)d->inv, f->divides, (T *)job->work, typed<T>(job->b),
        typed<T>(job->x),  job->conj};
    const size_t bytes = (size_t)f->nodes * sizeof(T) * (size_t)stride_of(f->nodes, sizeof(T));
    TRS_ASSERT((int64_t)bytes <= single_work_bytes(f->nodes, d->dtype));
    const int rc = cuda_status(cudaMemsetAsync(k.y, 0xff, bytes, stream), "cuda-dataflow");
    if (rc) return rc;
    return launch_together(kernel_of<T>(f), d->single_blocks, THREADS, k, stream);
}

int single_solve(const dataflow *d, const trs_job *job)
{
    return for_type(d->dtype, [&]<class T>(T) { return solve<T>(d, job); });
}
