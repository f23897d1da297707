/* consumer.cuh: the consumer warps solve the tasks of a tile, each every CONSUMERS-th one.
 *
 * A lane has a row.  With the inverse of its diagonal d, x = b / d - sum (a / d) x over its entries: the products
 * with 1 / d are made while nothing else can be done, so that one multiplication and addition follows the last x.
 *
 * Waits for: the packet of its task (`loaded`); the tasks up to CONSUMERS before it ((1) of strips.h); then, for
 * GROUP ELL columns at a time, until none of the slots that they read is empty, all lanes together.
 * Publishes: x in its slot of the local ring, at once, and in y for other tiles: both are their own flag.  Then,
 * behind a fence, `next`: with it the task is done, its stage may be used again, and what was read may be emptied.
 * Empties, when a task begins: the slots of the task CONSUMERS + WINDOW before it, and those of the halo entries
 * that the consumer's task before was the last to read. */
#ifndef TRS_STRIPS_CONSUMER_CUH
#define TRS_STRIPS_CONSUMER_CUH

#include "tile.cuh"

enum { GROUP = 4 }; /* ELL columns that are read at a time */

template <class T> __device__ inline uint32_t slot_at(uint32_t slots, unsigned code)
{
    TRS_ASSERT((code & ~(unsigned)LAST) < TRS_STRIP_SLOTS);
    return slots + (code & ~(unsigned)LAST) * (uint32_t)sizeof(T);
}

/* s + a_0 x_0 + ... + a_(COUNT-1) x_(COUNT-1), once all of these x are there. */
template <class T, int COUNT>
__device__ inline T add_products(const uint32_t *slot, const T *a, T s)
{
    T x[COUNT];
    bool there;
    do {
        there = true;
#pragma unroll
        for (int j = 0; j < COUNT; j++) slot_peek(slot[j], x[j]);
#pragma unroll
        for (int j = 0; j < COUNT; j++) there = there && flag_there(x[j]);
    } while (!__all_sync(~0u, there));
#pragma unroll
    for (int j = 0; j < COUNT; j++) s = s + a[j] * x[j];
    return s;
}

/* Values times factor, and addresses of slots, of the next GROUP ELL columns. */
template <class T>
__device__ inline void read_ells(const T *val, const uint16_t *code, uint32_t slots, int count,
                                 bool cj, T factor, T *a, uint32_t *slot)
{
#pragma unroll
    for (int j = 0; j < GROUP; j++) {
        const bool there = j < count;
        a[j] = there ? conj_if(cj, val[j * WARP]) * factor : number<T>(0);
        slot[j] = slot_at<T>(slots, there ? code[j * WARP] : (unsigned)ZERO);
    }
}

/* s + factor (val_0 x_0 + ... ), over so many ELL columns. */
template <class T>
__device__ inline T add_ells(const T *val, const uint16_t *code, uint32_t slots, int count, bool cj,
                             T factor, T s)
{
    T a[GROUP];
    uint32_t slot[GROUP];
    for (; count > 0; count -= GROUP, val += GROUP * WARP, code += GROUP * WARP) {
        read_ells(val, code, slots, count, cj, factor, a, slot);
        if (count > 2) s = add_products<T, 4>(slot, a, s);
        else if (count == 2) s = add_products<T, 2>(slot, a, s);
        else s = add_products<T, 1>(slot, a, s);
    }
    return s;
}

/* last [j]: the code of early ELL column j if it is the last reader of its halo entry, else 0. */
template <class T>
__device__ inline void solve_task(const kernel_args<T> &k, tile_memory<T> *m, uint32_t slots,
                                  int lane, int32_t first, int32_t task, uint16_t *last)
{
    const stage<T> *s = &m->stages[m->stage_of[task % STAGE_OF]];
    const int at = first + task - s->packet.task, rows = s->packet.tasks * WARP;
    const int entries = s->packet.ells * WARP, early = s->packet.early[at];
    const T *val = (const T *)s->rest, *inverse = val + entries;
    const int32_t *row_of = (const int32_t *)(inverse + rows);
    const uint16_t *code = (const uint16_t *)(row_of + rows);
    TRS_ASSERT(at >= 0 && at < s->packet.tasks && early <= EARLY);
    TRS_ASSERT(s->packet.start[at] + early + s->packet.late[at] <= s->packet.ells);
    const int32_t row = row_of[at * WARP + lane];
    const T inv = conj_if(k.cj, inverse[at * WARP + lane]), minus = number<T>(0) - inv;
    const uint32_t to = slots + (task * WARP % LOCAL + lane) * (uint32_t)sizeof(T);
    T sum = s->c[at * WARP + lane] * inv;
    val += s->packet.start[at] * WARP + lane;
    code += s->packet.start[at] * WARP + lane;
    sum = add_ells(val, code, slots, early, k.cj, minus, sum);
    sum = add_ells(val + early * WARP, code + early * WARP, slots, s->packet.late[at], k.cj, minus,
                   sum);
    const T x = flag_free(sum);
    TRS_ASSERT(slot_is_empty<T>(to));
    slot_put(to, x);
    if (row >= 0) {
        TRS_ASSERT(!flag_there(flag_peek(k.y + ((int64_t)first + task) * WARP + lane)));
        flag_store(k.y + ((int64_t)first + task) * WARP + lane, x);
        k.x(row, 0) = x;
    }
#pragma unroll
    for (int j = 0; j < EARLY; j++) {
        const uint16_t c = j < early ? code[j * WARP] : 0;
        last[j] = c & LAST ? c : 0;
    }
}

template <class T> __device__ inline void empty(uint32_t slot)
{
    TRS_ASSERT(!slot_is_empty<T>(slot));
    slot_put(slot, empty_slot<T>());
}

template <class T>
__device__ void consume(const kernel_args<T> &k, tile_memory<T> *m, int32_t first, int32_t tasks)
{
    const uint32_t slots = shared_address(m->slot);
    const int lane = lane_number(), warp = threadIdx.x / WARP;
    uint16_t last[EARLY] = {};
    for (int32_t t = warp; t < tasks; t += CONSUMERS) {
        /* the fence in tasks_done is behind both looks */
        while (!__all_sync(~0u, m->loaded > t) || tasks_done(m->next) < t - CONSUMERS + 1) continue;
        const int32_t past = t - CONSUMERS - WINDOW;
        if (past >= 0) empty<T>(slots + (past * WARP % LOCAL + lane) * (uint32_t)sizeof(T));
#pragma unroll
        for (int j = 0; j < EARLY; j++)
            if (last[j]) empty<T>(slot_at<T>(slots, last[j]));
        solve_task(k, m, slots, lane, first, t, last);
        __syncwarp(); /* so that the fence of lane 0 is behind what all lanes did */
        fence();
        delay();
        if (lane == 0) m->next[warp] = t + CONSUMERS;
    }
    if (lane == 0) m->next[warp] = INT32_MAX;
}

#endif
