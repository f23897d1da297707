/* operands.cuh: the operands that a lane of cuda-dataflow has in flight, for one right-hand side. */
#ifndef TRS_OPERANDS_CUH
#define TRS_OPERANDS_CUH

#include "dataflow.cuh"
#include "cuda/runtime/flag.cuh"

enum { THREADS = 256, WARP = TRS_FLOW_WARP, BATCH = TRS_FLOW_BATCH };

/* Entries that a lane has in flight.  A place with no entry has a = y = 0, so that it can be added like the
 * others. */
template <class T> struct batch {
    int32_t node[BATCH];
    T a[BATCH], y[BATCH];
    unsigned waiting; /* bit j: y[j] is not there yet */
};

/* Place j of a batch, where it has an entry: node is its operand. */
template <class T> __device__ inline void put_entry(batch<T> &e, int j, int32_t node, T a)
{
    e.node[j] = node;
    e.a[j] = a;
    e.waiting |= 1u << j;
}

/* No place has an entry. */
template <class T> __device__ inline void clear(batch<T> &e)
{
    e.waiting = 0;
#pragma unroll
    for (int j = 0; j < BATCH; j++) {
        e.node[j] = 0;
        e.a[j] = e.y[j] = number<T>(0);
    }
}

/* Looks once for each y that is not there yet.  All loads are under way before the result of the first is used;
 * a loop that tested each at once would wait for up to four loads one after the other. */
template <int STRIDE, class T> __device__ inline void poll_batch(const T *y, batch<T> &e)
{
    T v[BATCH];
    bool there[BATCH];
#pragma unroll
    for (int j = 0; j < BATCH; j++) {
        there[j] = false;
        if (e.waiting >> j & 1) there[j] = flag_load(y + (int64_t)e.node[j] * STRIDE, v[j]);
    }
#pragma unroll
    for (int j = 0; j < BATCH; j++)
        if (there[j]) {
            e.y[j] = v[j];
            e.waiting &= ~(1u << j);
        }
}

/* s + the sum of a y; all y are there. */
template <class T> __device__ inline T add_batch(T s, const batch<T> &e)
{
#pragma unroll
    for (int j = 0; j < BATCH; j++) s = s + e.a[j] * e.y[j];
    return s;
}

__device__ inline trs_flow_task task_at(const trs_flow_task *task, int32_t tasks, int64_t t)
{
    return t < tasks ? task[t] : trs_flow_task{0, 0, 1};
}

#endif
