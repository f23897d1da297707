/* dataflow.cuh: what cuda-dataflow does with a triangle, for solvers that hand it another one (dataflow.cu). */
#ifndef TRS_DATAFLOW_CUH
#define TRS_DATAFLOW_CUH

#include "cuda.cuh"

extern "C" {
#include "flow.h"
}

enum { DATAFLOW_WIDTHS = 3 }; /* kernels for so many numbers of right-hand sides */

struct dataflow {
    int32_t n;
    trs_dtype dtype;
    trs_flow flow;
    void *val, *inv; /* on the device, in one block that begins with inv */
    int blocks[DATAFLOW_WIDTHS];
};

/* d is zero before; after a failure what is there is to be freed all the same. */
int dataflow_new(trs_context *ctx, const trs_pattern *p, trs_dtype dtype, dataflow *d);
void dataflow_free(trs_context *ctx, dataflow *d);
int dataflow_take(const dataflow *d, const void *val,
                  void *stream); /* of the triangle, on the device */
/* y, and B and X by rows when there are several columns of them. */
int64_t dataflow_work_bytes(int64_t nodes, int64_t n, trs_dtype dtype, int nrhs);
int dataflow_solve(const dataflow *d, const trs_job *job);

#endif
