/* csr.cuh: the rows of a part on the device (csr.cu). */
#ifndef TRS_CSR_CUH
#define TRS_CSR_CUH

extern "C" {
#include "solvers/solver.h"
}

struct device_csr { /* row from + k: entries ptr[k] .. ptr[k+1]-1, the diagonal last */
    int64_t *ptr;   /* [rows+1] */
    int32_t *idx;   /* columns in plan order */
    void *val;
};

int device_csr_new(const trs_part *part, device_csr *d);
int device_csr_values(const trs_part *part, device_csr *d); /* from side->tri.val */
/* from values of the side on the device */
int device_csr_take(const trs_part *part, device_csr *d, const void *val, void *stream);
void device_csr_free(trs_context *ctx, device_csr *d);

#endif
