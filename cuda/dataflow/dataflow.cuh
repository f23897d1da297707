/* dataflow.cuh: a triangle solved as a data flow: the interface for solvers that pass their own triangle to
 * cuda-dataflow (cuda-merged), and the functions shared by the files of this module. */
#ifndef TRS_DATAFLOW_CUH
#define TRS_DATAFLOW_CUH

#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "flow.h"
}

enum { MANY_KERNELS = 5 }; /* for 2, 4, 8, 16 and 32 right-hand sides */

struct dataflow {
    int32_t n;
    trs_dtype dtype;
    trs_flow flow;
    void *
        val; /* [nnz of the flow] on the device, in its order; one allocation with inv and row_node */
    void *inv;         /* [nodes] what is kept of the diagonals */
    int32_t *row_node; /* [n] node of each row, on the device */
    bool long_rows;    /* for several right-hand sides: lanes share the entries of a row */
    int single_blocks, many_blocks[MANY_KERNELS]; /* of each kernel's launch */
    int wide_warps;                               /* of a block, where the flow is wide */
};

/* d is zero before; after a failure, what is there has to be freed all the same. */
int dataflow_new(trs_context *ctx, const trs_pattern *p, trs_dtype dtype, dataflow *d);
void dataflow_free(trs_context *ctx, dataflow *d);
/* val: values of the triangle, on the device */
int dataflow_take(const dataflow *d, const void *val, void *stream);
/* What it has on the device; 0 where it was not made. */
int64_t dataflow_bytes(const dataflow *d);
/* Enough for a flow of so many nodes, and for any of fewer. */
int64_t dataflow_work_bytes(int64_t nodes, int64_t n, trs_dtype dtype, int nrhs);
int dataflow_solve(const dataflow *d, const trs_job *job);
/* What a solve of a triangle of this shape is predicted to take. */
void dataflow_cost(const trs_shape *s, const trs_machine *m, trs_cost *c);

/* ---- one right-hand side: single.cu ---------------------------------------------------------------------- */

int single_new(dataflow *d); /* single_blocks; the flow is there */
int64_t single_work_bytes(int64_t nodes, trs_dtype dtype);
int single_solve(const dataflow *d, const trs_job *job);

/* ---- one right-hand side of a wide triangle: wide.cu -------------------------------------------------------- */

int wide_new(dataflow *d); /* single_blocks and wide_warps; the flow is there */
int wide_solve(const dataflow *d, const trs_job *job);

/* ---- several: many.cu ------------------------------------------------------------------------------------- */

int many_new(trs_context *ctx,
             dataflow *d); /* row_node, long_rows, many_blocks; the rest is there */
/* How many right-hand sides are solved at a time when nrhs are left; 1: not by many_solve. */
int many_at_once(int nrhs);
int many_width(int nrhs); /* right-hand sides that the kernel for nrhs of them has room for */
int64_t many_work_bytes(int64_t nodes, int64_t n, trs_dtype dtype, int nrhs);
int many_solve(const dataflow *d, const trs_job *job);
/* Of one launch of the kernel for width right-hand sides. */
void many_cost(const trs_shape *s, int width, const trs_machine *m, trs_cost *c);

#endif
