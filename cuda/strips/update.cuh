/* update.cuh: the values of all packets from the values of the matrix, on the device: what pack.c does on the
 * host. */
#ifndef TRS_STRIPS_UPDATE_CUH
#define TRS_STRIPS_UPDATE_CUH

#include "tile.cuh"

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
                                   : number<T>(e == TRS_STRIP_CARRY ? -1 : 0);
        }
        inverse[k * WARP] = stored >= 0 ? number<T>(1) / times_power(d, power)
                                        : number<T>(stored < TRS_STRIP_NO_ROW);
    }
}

#endif
