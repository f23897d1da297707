/* lu_element.cu: a thread an element (lu.cuh), a block of threads neighbouring elements of a row; all from global
 * memory, without a barrier.
 * Source: Bandara, Ranasinghe, "Effective GPU Strategies for LU Decomposition", section IV, "Update Each Element". */
#include "config.h"

#include "lu.cuh"

template <class T> static __global__ void update_element(int64_t n, int64_t i, T *A)
{
    const int64_t k = i + 1 + blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    const int64_t j = i + 1 + blockIdx.y;
    if (k < n) A[j * n + k] = A[j * n + k] - A[i * n + k] * A[j * n + i];
}

static int update(trs_instance *inst, void *stream)
{
    return lu_update(inst, stream, []<class T>(T, int64_t n, int64_t i, const general_data *d) {
        const dim3 grid(blocks_of(n - i - 1, d->block), (unsigned)(n - i - 1));
        update_element<T><<<grid, d->block>>>(n, i, (T *)d->A);
    });
}

constinit const trs_solver trs_solver_lu_element =
    general_solver("lu-element", "LU without pivoting, a thread an element (baseline)", update);
