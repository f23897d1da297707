/* update.cuh: the packets of a schedule, made on the device (strips.h): once what does not depend on values, and the
 * values at every update. */
#ifndef TRS_STRIPS_UPDATE_CUH
#define TRS_STRIPS_UPDATE_CUH

#include "tile.cuh"

/* Blocks of FILL threads that have a warp for each packet. */
static unsigned packet_blocks(int32_t packets)
{
    return (unsigned)((packets + FILL / WARP - 1) / (FILL / WARP));
}

/* What does not depend on values: the head of each packet, its rows and its slot codes.  A warp has a packet. */
template <class T>
static __global__ void frame_kernel(int32_t count, const trs_packet *packet, const int32_t *rows,
                                    const uint16_t *codes, char *packed)
{
    const int32_t which = (int32_t)(((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP);
    const int lane = threadIdx.x % WARP;
    if (which >= count) return;
    const trs_packet *p = &packet[which];
    char *to = packed + packet_offset<T>(which, p->ell, p->task);
    if (lane == 0) *(trs_packet *)to = *p;
    int32_t *row = (int32_t *)((T *)(to + sizeof *p) + (p->ells + p->tasks) * WARP) + lane;
    uint16_t *code = (uint16_t *)(row - lane + p->tasks * WARP) + lane;
    for (int k = 0; k < p->tasks; k++) row[k * WARP] = rows[((int64_t)p->task + k) * WARP + lane];
    for (int l = 0; l < p->ells; l++) code[l * WARP] = codes[(p->ell + l) * WARP + lane];
}

/* A warp has a packet, and goes through its tasks, a lane a row. */
template <class T>
static __global__ void update_kernel(int32_t count, const trs_packet *packet, const int32_t *entry,
                                     const int32_t *rows, const int64_t *ptr, const T *from,
                                     char *packed, int16_t *powers, int *scaled)
{
    const int32_t which = (int32_t)(((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP);
    const int lane = threadIdx.x % WARP;
    if (which >= count) return;
    const trs_packet *p = &packet[which];
    T *val = (T *)(packed + packet_offset<T>(which, p->ell, p->task) + sizeof *p) + lane;
    T *inverse = val + p->ells * WARP;
    for (int k = 0; k < p->tasks; k++) {
        const int64_t position = ((int64_t)p->task + k) * WARP + lane;
        const int32_t stored = rows[position];
        const int32_t row = TRS_STRIP_ROW(stored);
        const T d = row < 0 ? number<T>(1) : from[ptr[row + 1] - 1];
        const int power = power_for(d);
        powers[position] = (int16_t)power;
        if (power) *scaled = 1;
        for (int l = p->start[k]; l < p->start[k] + p->early[k] + p->late[k]; l++) {
            const int32_t e = entry[(p->ell + l) * WARP + lane];
            TRS_ASSERT(e < 0 || ptr[row] + e < ptr[row + 1] - 1);
            val[l * WARP] = e >= 0 ? times_power(from[ptr[row] + e], power)
                                   : number<T>(-(e == TRS_STRIP_CARRY));
        }
        inverse[k * WARP] = stored >= 0 ? number<T>(1) / times_power(d, power)
                                        : number<T>(stored < TRS_STRIP_NO_ROW);
    }
}

#endif
