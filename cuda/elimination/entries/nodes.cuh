/* nodes.cuh: the kernel that computes the nodes.
 *
 * Who computes a node: a group of 1, 2, 4, .. 32 lanes, as its task prescribes.  Its products are dealt to the lanes
 * cyclically, four in flight at a time.  Shuffles add up the partial sums, in an order that depends on the number of
 * lanes alone.  The first lane publishes w(i, j), and for a pivot also its stored form.
 *
 * How a number becomes visible: each is its own flag (cuda/runtime/flag.cuh), in w and in inv.  The launch before has
 * set the places of all nodes to "not yet".
 *
 * Why it cannot hang: the launch is cooperative, so that all warps are resident.  Warp v of V has the tasks v, v + V,
 * .. in this order, which is that of levels.  The operands of the first unfinished task belong to earlier tasks, or
 * to entries that are not nodes; so they are available.  In a task all lanes go round one loop, and none waits for
 * another.  A pivot that is zero or NaN makes NaNs, which are published like every other number.
 *
 * What is read ahead: the lists of the next task and the description of the one after it, while a task waits.
 *
 * Bytes in fp64: 12 a product, padding included, and gathers of 24; 16 to 24 a node.  Bound by levels x (a latency of L2
 * and that of an inverse, 0.75 to 1 us), and where levels are wide by the gathers. */
#ifndef TRS_NODES_CUH
#define TRS_NODES_CUH

#include "entries.cuh"
#include "cuda/runtime/flag.cuh"

namespace nodes
{
enum { THREADS = 256, WARP = ENTRY_WARP, WARPS = THREADS / WARP, BATCH = 4 };

/* BATCH products of a lane. */
struct operands {
    int32_t l[BATCH], u[BATCH], k[BATCH]; /* l < 0: none */
};

/* Slots slot .. of a task that has `slots` left. */
__device__ inline operands read(const entry_schedule &s, int64_t slot, int32_t slots)
{
    operands e;
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
        const int64_t q = (slot + b) * WARP + threadIdx.x % WARP;
        e.l[b] = b < slots ? s.l[q] : -1;
        e.u[b] = b < slots ? s.u[q] : 0;
        e.k[b] = b < slots ? s.k[q] : 0;
    }
    return e;
}

/* The numbers of a batch, as they come in.  A product that is none has l = u = 0 and c = 1. */
template <class T> struct batch {
    T l[BATCH], u[BATCH], c[BATCH];
    unsigned waiting; /* bits b, BATCH + b, 2 BATCH + b: l [b], u [b], c [b] are not there */

    __device__ void begin(const operands &e)
    {
        waiting = 0;
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            l[b] = u[b] = number<T>(0);
            c[b] = number<T>(1);
            if (e.l[b] >= 0) waiting |= (1u | 1u << BATCH | 1u << 2 * BATCH) << b;
        }
    }
    /* One look at each.  All loads are under way before the first is used. */
    __device__ void poll(const entry_args<T> &g, const operands &e)
    {
        T x[BATCH], y[BATCH], z[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            if (waiting >> b & 1) x[b] = flag_peek(g.w + e.l[b]);
            if (waiting >> (BATCH + b) & 1) y[b] = flag_peek(g.w + e.u[b]);
            if (waiting >> (2 * BATCH + b) & 1) z[b] = flag_peek(g.inv + e.k[b]);
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            take(b, x[b], l[b]);
            take(BATCH + b, y[b], u[b]);
            take(2 * BATCH + b, z[b], c[b]);
        }
    }
    __device__ void take(int bit, T from, T &to)
    {
        if (!(waiting >> bit & 1) || !flag_there(from)) return;
        to = from;
        waiting &= ~(1u << bit);
    }
    /* The sum of the products, and the largest of them. */
    __device__ T sum(bool conjugate, unsigned &largest) const
    {
        T p[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const T lower = over_pivot(l[b], c[b]);
            largest = max(largest, size_bits(size_of(lower) * size_of(u[b])));
            p[b] = lower * conj_if(conjugate, u[b]);
        }
        return (p[0] + p[1]) + (p[2] + p[3]);
    }
};

template <class T>
__device__ inline void publish(const entry_args<T> &g, entry_node node, T x, pivot_counts &counts)
{
    if (node.pivot >= 0 && node.pivot < g.s.n - g.s.tail) {
        x = take_pivot(g, node.pivot, x, counts);
        flag_store(g.inv + node.pivot, kept_pivot(x));
    }
    flag_store(g.w + node.place, x);
}

/* Computes a task, of whose products e has the first.  Every lane of the warp comes to each ballot and shuffle: none of
 * these may stand behind a condition that lanes may answer differently. */
template <class T, int LANES>
__device__ inline void compute(const entry_args<T> &g, const entry_task task, const entry_node node,
                               operands e, const T start, pivot_counts &counts)
{
    const int lane = threadIdx.x % WARP, sub = lane / LANES;
    const unsigned group = (LANES == WARP ? ~0u : (1u << LANES % WARP) - 1) << (sub * LANES);
    bool done = sub >= task.count, summed = done;
    int32_t slot = 0;
    T s = number<T>(0);
    batch<T> numbers;
    numbers.begin(e);
    while (__any_sync(~0u, !done)) {
        if (!summed) {
            numbers.poll(g, e);
            if (!numbers.waiting) {
                s = s + numbers.sum(g.rules.cholesky, counts.largest);
                slot += BATCH;
                summed = slot >= task.slots;
                if (!summed) {
                    e = read(g.s, (int64_t)task.slot + slot, task.slots - slot);
                    numbers.begin(e);
                }
            }
        }
        const unsigned finished = __ballot_sync(~0u, summed);
        const bool ready = !done && (finished & group) == group;
        if (LANES > 1 && !__any_sync(~0u, ready)) continue;
        T sum = s;
#pragma unroll
        for (int by = LANES / 2; by > 0; by /= 2) sum = sum + shuffle_down(sum, by, LANES);
        if (ready) {
            if (lane % LANES == 0) publish(g, node, start - sum, counts);
            done = true;
        }
    }
}

/* With the number of lanes as a constant, for which the shuffles are code of their own. */
template <class T>
__device__ inline void compute_any(const entry_args<T> &g, const entry_task task,
                                   const entry_node node, const operands &e, const T start,
                                   pivot_counts &counts)
{
    switch (task.lanes) {
    case 1:
        compute<T, 1>(g, task, node, e, start, counts);
        break;
    case 2:
        compute<T, 2>(g, task, node, e, start, counts);
        break;
    case 4:
        compute<T, 4>(g, task, node, e, start, counts);
        break;
    case 8:
        compute<T, 8>(g, task, node, e, start, counts);
        break;
    case 16:
        compute<T, 16>(g, task, node, e, start, counts);
        break;
    default:
        compute<T, 32>(g, task, node, e, start, counts);
        break;
    }
}

/* What a lane knows of its task beforehand. */
template <class T> struct lookahead {
    entry_task task;
    entry_node node;
    T start;
    operands e;

    __device__ lookahead(const entry_args<T> &g, entry_task t, pivot_counts &counts) : task(t)
    {
        const int x = threadIdx.x % WARP / task.lanes;
        node = {0, -1, -1};
        if (x < task.count) node = g.s.node[task.first + x];
        start = read_a(g, node.place, node.from, node.pivot >= 0);
        note(counts.largest_a, start);
        if (node.pivot >= 0) start = shifted(g.rules, start);
        e = read(g.s, task.slot, task.slots);
    }
};

__device__ inline entry_task task_at(const entry_schedule &s, int64_t t)
{
    return t < s.tasks ? s.task[t] : entry_task{0, 0, 0, 1, 0};
}

template <class T> __global__ void __launch_bounds__(THREADS) kernel(const entry_args<T> g)
{
    const int64_t warps = (int64_t)gridDim.x * WARPS;
    int64_t t = (int64_t)(threadIdx.x / WARP) * gridDim.x + blockIdx.x;
    pivot_counts counts = {};
    entry_task next = task_at(g.s, t + warps);
    lookahead<T> now(g, task_at(g.s, t), counts);
    for (; t < g.s.tasks; t += warps) {
        const entry_task after = task_at(g.s, t + 2 * warps);
        const lookahead<T> then(g, next, counts);
        compute_any(g, now.task, now.node, now.e, now.start, counts);
        now = then;
        next = after;
    }
    conclude<T>(g.rules, counts);
}

template <class T> int launch(const entry_args<T> &g, int blocks, cudaStream_t stream)
{
    if (g.s.tasks == 0) return TRS_OK;
    return launch_together((const void *)kernel<T>, blocks, THREADS, g, stream);
}
} // namespace nodes

#endif
