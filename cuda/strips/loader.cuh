/* loader.cuh: the loader warp copies the packets of a tile into the stages, in order, ahead of the consumers.
 *
 * Waits for: a stage, which is free when all tasks of the packet in it are done; and the bytes of the oldest packet
 * under way, whenever no stage is free or no packet is left to begin.
 * Publishes: `loaded`, after a fence.  What the TMA unit wrote became visible to the lanes of the loader at the
 * mbarrier, and by the fence it does to whoever reads `loaded` and fences. */
#ifndef TRS_STRIPS_LOADER_CUH
#define TRS_STRIPS_LOADER_CUH

#include "tile.cuh"

/* The first 16 bytes of a trs_packet. */
struct packet_head {
    int64_t ell;
    int32_t task;
    uint8_t ells, tasks, rest[2];
};

union head_words {
    packet_head head;
    int4 words;
};

/* Each lane holds the head of one packet: that of lane `which`. */
__device__ inline packet_head head_of(int4 mine, int which)
{
    head_words h;
    h.words.x = __shfl_sync(~0u, mine.x, which);
    h.words.y = __shfl_sync(~0u, mine.y, which);
    h.words.z = __shfl_sync(~0u, mine.z, which);
    h.words.w = __shfl_sync(~0u, mine.w, which);
    return h.head;
}

/* Begins to copy a packet, and the b of its rows, to stage `at`; first: task of the tile. */
template <class T>
__device__ inline void begin_packet(const kernel_args<T> &k, tile_memory<T> *m, int32_t number,
                                    const packet_head &p, int at, int32_t first)
{
    stage<T> *to = &m->stages[at];
    uint64_t *full = &m->full[at];
    const int lane = threadIdx.x % WARP, rows = p.tasks * WARP * (int)sizeof(T);
    const int bytes = (int)packet_offset<T>(1, p.ells, p.tasks);
    const int64_t from = packet_offset<T>(number, p.ell, p.task);
    TRS_ASSERT(p.ells <= ELLS && p.tasks > 0 && p.tasks <= TASKS && p.task >= first);
    bulk_expect(full, bytes + rows);
    bulk_copy(to, k.packed + from, bytes, full);
    bulk_copy(to->c, k.c + (int64_t)p.task * WARP, rows, full);
    if (lane < p.tasks) m->stage_of[(p.task - first + lane) % STAGE_OF] = (uint8_t)at;
    if (lane == 0) m->end[at] = p.task - first + p.tasks;
}

/* Waits until the packet in stage `at` has arrived, and says so. */
template <class T> __device__ inline void end_packet(tile_memory<T> *m, int at)
{
    bulk_wait(&m->full[at], m->phase[at]);
    __syncwarp();
    if (threadIdx.x % WARP == 0) m->phase[at]++;
    fence();
    __syncwarp();
    delay();
    TRS_ASSERT(m->loaded <= m->end[at]);
    if (threadIdx.x % WARP == 0) m->loaded = m->end[at];
}

template <class T>
__device__ void load(const kernel_args<T> &k, tile_memory<T> *m, const trs_row_tile &tile,
                     int32_t packets)
{
    const int lane = threadIdx.x % WARP;
    const trs_packet *packet = k.packet + tile.packet;
    const int4 none = {0, 0, 0, 0};
    /* heads of 32 packets, and of the 32 after them, which are read ahead, for they take a while to come */
    int4 now = none, next = none;
    int32_t begun = 0, ended = 0;
    if (lane < packets) next = *(const int4 *)(packet + lane);
    while (ended < packets) {
        __syncwarp();
        const int at = begun % k.stages, oldest = ended % k.stages;
        if (begun < packets && (begun < k.stages || tasks_done(m->next) >= m->end[at])) {
            TRS_ASSERT(begun - ended < k.stages);
            if (begun % WARP == 0) {
                now = next;
                if (begun + WARP + lane < packets)
                    next = *(const int4 *)(packet + begun + WARP + lane);
            }
            begin_packet(k, m, tile.packet + begun, head_of(now, begun % WARP), at, tile.task);
            begun++;
        } else if (ended < begun) {
            end_packet(m, oldest);
            ended++;
        }
    }
}

#endif
