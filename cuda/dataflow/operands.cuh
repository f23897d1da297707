/* operands.cuh: the operands that a lane of cuda-dataflow has in flight, for one right-hand side. */
#ifndef TRS_OPERANDS_CUH
#define TRS_OPERANDS_CUH

#include "dataflow.cuh"
#include "cuda/runtime/flag.cuh"

enum { THREADS = 256, WARP = TRS_FLOW_WARP, BATCH = TRS_FLOW_BATCH };

/* Entries that a lane has in flight.  A place with no entry has a = y = 0, so that it can be added like the
 * others. */
template <class T, int N = BATCH> struct batch {
    int32_t node[N];
    T a[N], y[N];
    unsigned waiting; /* bit j: y[j] is not there yet */
};

/* Place j of a batch, where it has an entry: node is its operand. */
template <class T, int N> __device__ inline void put_entry(batch<T, N> &e, int j, int32_t node, T a)
{
    e.node[j] = node;
    e.a[j] = a;
    e.waiting |= 1u << j;
}

/* No place has an entry. */
template <class T, int N> __device__ inline void clear(batch<T, N> &e)
{
    e.waiting = 0;
#pragma unroll
    for (int j = 0; j < N; j++) {
        e.node[j] = 0;
        e.a[j] = e.y[j] = number<T>(0);
    }
}

/* How to look at y: for numbers of this device. */
struct look_here {
    template <class T> static __device__ T at(const T *y) { return flag_peek(y); }
};

/* Looks once for each y that is not there yet.  All loads are under way before the result of the first is used;
 * a loop that tested each at once would wait for up to four loads one after the other.  So nothing but its bits
 * says whether a load has found a number: with a flag for each, the compiler ran out of predicates, and put tests
 * between the loads. */
template <int STRIDE, class LOOK = look_here, class T, int N>
__device__ inline void poll_batch(const T *y, batch<T, N> &e)
{
    T v[N];
#pragma unroll
    for (int j = 0; j < N; j++) {
        v[j] = flag_unset<T>();
        if (e.waiting >> j & 1) v[j] = LOOK::at(y + (int64_t)e.node[j] * STRIDE);
    }
#pragma unroll
    for (int j = 0; j < N; j++)
        if (flag_there(v[j])) {
            e.y[j] = v[j];
            e.waiting &= ~(1u << j);
        }
}

/* s + the sum of a y; all y are there. */
template <class T, int N> __device__ inline T add_batch(T s, const batch<T, N> &e)
{
#pragma unroll
    for (int j = 0; j < N; j++) s = s + e.a[j] * e.y[j];
    return s;
}

__device__ inline trs_flow_task task_at(const trs_flow_task *task, int32_t tasks, int64_t t)
{
    return t < tasks ? task[t] : trs_flow_task{0, 0, 1};
}

#endif
