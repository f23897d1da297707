/* kernels.cuh: the kernels of this module; elimination.cu chooses one.
 *
 *     rows      1 to 32 lanes have a row, and up to 4 of its entries each: rows of at most 128 entries, many products
 *     entries   1 to 32 lanes have an entry: long rows, few products, complete factors of circuits */
#ifndef TRS_ELIMINATION_KERNELS_CUH
#define TRS_ELIMINATION_KERNELS_CUH

#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "elimination/elimination.h"
}

/* What can be known of a pattern before anything is made of it. */
struct elimination_shape {
    int32_t longest; /* entries of the longest row */
    /* The sum, over the entries (i, k) below the diagonal, of the entries of row k right of its own: as many products
     * there are at most. */
    int64_t candidates;
    int64_t last_place; /* the largest number in src and to */
    int64_t alike;      /* rows that have the columns of the row before */
};

/* Has row i the columns of row i - 1?  Every lane of the warp calls it. */
__device__ inline bool is_like_last(const trs_elimination_pattern &p, int64_t i)
{
    const int64_t begin = p.ptr[i], end = p.ptr[i + 1], length = end - begin;
    bool alike = i > 0 && begin - p.ptr[i - 1] == length;
    for (int64_t q = begin + threadIdx.x % 32; alike && q < end; q += 32)
        alike = p.idx[q] == p.idx[q - length];
    return __all_sync(~0u, alike);
}

struct elimination_kernel {
    const char *name;
    /* Seconds that a run is predicted to take; INFINITY: the kernel does not fit. */
    double (*cost)(const trs_elimination_pattern *p, const elimination_shape *s);
    /* Makes the schedule, on the device, and waits.  The arrays of p stay valid as long as *data lives, p itself too.
     * TRS_OK; TRS_ESUPPORT without a sentence: it does not fit after all; TRS_EMEM, TRS_EDEVICE.  *data is NULL but
     * for TRS_OK. */
    int (*create)(trs_context *ctx, const trs_elimination_pattern *p, const elimination_shape *s,
                  void **data);
    /* Only enqueues work.  The outcome has been cleared before, in the same stream. */
    int (*run)(const trs_elimination_pattern *p, const void *data, const trs_elimination_job *job);
    void (*destroy)(trs_context *ctx, void *data); /* data is not NULL */
};

extern const elimination_kernel row_elimination, entry_elimination;

#endif
