/* lu_batch.cuh: what the kernel of a batch is given. */
#ifndef TRS_LU_BATCH_CUH
#define TRS_LU_BATCH_CUH

#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "lu_batch/on_device.h"
#include "lu_batch/schedule.h"
}

/* How threads and memory are given to systems. */
enum batch_kind {
    /* a warp has a system, in shared memory */
    BATCH_WARPS,
    /* a block has a system, in shared memory */
    BATCH_BLOCKS,
    /* a block has one system after the other, in device memory */
    BATCH_SLOTS,
};

enum {
    /* warps of a block of BATCH_WARPS */
    BATCH_UNITS = 4,
    /* threads of a block of BATCH_BLOCKS, at most */
    BATCH_THREADS = 1024,
    /* of BATCH_SLOTS */
    BATCH_SLOT_THREADS = 512,
};

struct batch_shape {
    batch_kind kind;
    /* of a block */
    int threads;
    /* numbers of a system besides those that are kept: L + U - I, y, z, and a zero behind each of them */
    int64_t space;
    /* bytes of shared memory of a block */
    size_t shared;
};

/* A trs_lu_batch_list on the device; places have 16 bits each in shared memory, else 32. */
struct batch_list {
    int32_t steps;
    const int32_t *stream, *item, *by;
    const trs_lu_batch_task *task;
    const void *pair, *pivot;
    int32_t items;
};

/* The entries of A(P, Q) by rows, or by columns: entry [ptr [i]] .. are those of line i. */
struct batch_lines {
    const int32_t *ptr, *entry;
};

struct batch_call {
    int32_t n;
    int64_t nnz, nnz_a;
    const int32_t *ptr; /* [n+1] rows of L + U - I */
    const int32_t *a_row, *a_col;
    const int64_t *a_from, *a_to, *P, *Q;
    const double *scale;
    double shift, growth_limit;
    batch_list list[TRS_LU_BATCH_LISTS];
    batch_lines by_row, by_column;
    trs_lu_batch_outcome *outcome;
    int64_t *kept_code; /* as on the host, see lu_batch.h */
    /* [nnz] for each system, or NULL; [space] for each block, or NULL */
    void *kept, *slots;
    int64_t space;
    /* of the call */
    trs_systems s;
    trs_view b, x;
    trs_op op;
    int nrhs;
    bool factors, solves;
};

#endif
