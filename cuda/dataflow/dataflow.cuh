/* dataflow.cuh: what cuda-dataflow does with a triangle, for solvers that hand it another one (dataflow.cu), and
 * what it does with several right-hand sides (many.cu). */
#ifndef TRS_DATAFLOW_CUH
#define TRS_DATAFLOW_CUH

#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "flow.h"
}

enum { MANY = 5 }; /* kernels for several columns */

struct dataflow {
    int32_t n;
    trs_dtype dtype;
    trs_flow flow;
    void *val, *inv; /* on the device, in one block with place that begins with inv */
    int32_t *place;  /* [n] node of each row */
    bool lengthy;    /* rows are long, for many_solve */
    int blocks, many_blocks[MANY];
};

/* d is zero before; after a failure what is there is to be freed all the same. */
int dataflow_new(trs_context *ctx, const trs_pattern *p, trs_dtype dtype, dataflow *d);
void dataflow_free(trs_context *ctx, dataflow *d);
int dataflow_take(const dataflow *d, const void *val,
                  void *stream); /* of the triangle, on the device */
int64_t dataflow_work_bytes(int64_t nodes, int64_t n, trs_dtype dtype, int nrhs);
int dataflow_solve(const dataflow *d, const trs_job *job);
/* What a solve of a triangle of this shape is predicted to take. */
void dataflow_cost(const trs_shape *s, const trs_machine *m, trs_cost *c);

/* ---- many.cu ------------------------------------------------------------------------------------------ */

int many_new(trs_context *ctx, dataflow *d); /* place, lengthy, many_blocks; the rest is there */
/* Columns that are solved at a time when nrhs of them are left; 1: not by many_solve. */
int many_at_once(int nrhs);
int many_width(int nrhs); /* columns that the kernel has which does so */
/* y, and B by rows. */
int64_t many_work_bytes(int64_t nodes, int64_t n, trs_dtype dtype, int nrhs);
int many_solve(const dataflow *d, const trs_job *job);
/* Of one launch with a kernel for so many columns. */
void many_cost(const trs_shape *s, int width, const trs_machine *m, trs_cost *c);

#endif
