/* tile.cuh: what the warps of a block share while it solves a row tile: the arguments of the kernel, and shared
 * memory.
 *
 *     slots       x of the tile's local ring and halo ring, each its own flag           consumers and fetchers write
 *     stages      pipeline stages: buffers of one packet each, with the b of its rows   the loader writes
 *     loaded      how many tasks have arrived in stages                                 the loader writes
 *     next        the task that each consumer is at, hence which tasks are done         consumers write
 *
 * The last two are written after a fence and read before one, which hands over all that was done before. */
#ifndef TRS_STRIPS_TILE_CUH
#define TRS_STRIPS_TILE_CUH

#include "shared.cuh"

extern "C" {
#include "base/debug.h"
#include "strips.h"
}

enum {
    WARP = TRS_STRIP_WARP,
    CONSUMERS = TRS_STRIP_CONSUMERS, /* warps */
    FETCHERS = 2,                    /* warps */
    THREADS = (CONSUMERS + 1 + FETCHERS) * WARP,
    WINDOW = TRS_STRIP_WINDOW,
    LOCAL = TRS_STRIP_LOCAL,
    HALO = TRS_STRIP_HALO,
    ZERO = TRS_STRIP_ZERO,
    ELLS = TRS_STRIP_ELLS,
    EARLY = TRS_STRIP_EARLY,
    TASKS = TRS_STRIP_TASKS,
    LAST = TRS_STRIP_LAST,
    STAGES = 12,    /* most stages */
    STAGE_OF = 128, /* entries of stage_of: a power of two */
    FILL = 256,     /* threads of a block of the other kernels */
};

static_assert(STAGE_OF >= TASKS * STAGES, "tasks of all stages have different places in stage_of");

template <class T> struct kernel_args {
    int32_t tiles, tasks;
    const trs_row_tile *tile;
    const trs_packet *packet;
    const trs_halo_entry *halo;
    const int32_t *row;
    const char *packed;
    T *y;        /* [32 tasks] x by position, each its own flag: what other tiles read */
    T *c;        /* [32 tasks] b by position */
    int *ticket; /* the next tile */
    view<T> b, x;
    int stages;
    bool cj; /* the matrix is conjugated */
};

/* Where a packet begins, in bytes from the first one (strips.h, trs_strips_bytes). */
template <class T>
__device__ inline int64_t packet_offset(int64_t number, int64_t ell, int64_t task)
{
    return number * (int64_t)sizeof(trs_packet) + ell * WARP * (int64_t)(sizeof(T) + 2) +
           task * WARP * (int64_t)(sizeof(T) + 4);
}

template <class T> struct stage {
    trs_packet packet; /* and what follows it, as far as it goes */
    unsigned char rest[ELLS * WARP * (sizeof(T) + 2) + TASKS * WARP * (sizeof(T) + 4)];
    T c[TASKS * WARP];
};

template <class T> struct tile_memory {
    T slot[TRS_STRIP_SLOTS];
    uint8_t stage_of[STAGE_OF];       /* of task t at t mod STAGE_OF */
    uint64_t full[STAGES];            /* mbarriers: the packet has arrived */
    int32_t phase[STAGES];            /* of each mbarrier: packets that the stage had before */
    int32_t end[STAGES];              /* of the packet in each: its last task + 1 */
    volatile int32_t loaded;          /* tasks before this one have arrived */
    volatile int32_t next[CONSUMERS]; /* the task that each consumer is at */
    int32_t tile;                     /* of the block */
    alignas(16) stage<T> stages[1];   /* [k.stages] */
};

/* How many tasks of the tile are done, from the first without a gap.  All lanes call, and may then rely on all that
 * was done with these tasks. */
__device__ inline int32_t tasks_done(const volatile int32_t *next)
{
    const int lane = threadIdx.x % WARP;
    delay();
    int32_t least = next[lane < CONSUMERS ? lane : 0];
#if __CUDA_ARCH__ >= 800
    least = __reduce_min_sync(~0u, least);
#else
    for (int by = 1; by < WARP; by *= 2) least = min(least, __shfl_xor_sync(~0u, least, by));
#endif
    fence();
    __syncwarp();
    return least;
}

#endif
