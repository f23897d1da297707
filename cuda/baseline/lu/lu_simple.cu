/* lu_simple.cu: the trailing sub-matrix is not divided (lu.cuh), so one block of threads processes it, a thread a
 * column.
 * Source: Bandara, Ranasinghe, "Effective GPU Strategies for LU Decomposition", the "simple (without
 * blocking)" GPU code of figure 7. */
#include "config.h"

#include "lu.cuh"

template <class T> static __global__ void update_all(int64_t n, int64_t i, T *A)
{
    for (int64_t k = i + 1 + threadIdx.x; k < n; k += blockDim.x)
        for (int64_t j = i + 1; j < n; j++)
            A[j * n + k] = A[j * n + k] - A[i * n + k] * A[j * n + i];
}

static int update(trs_instance *inst, void *stream)
{
    return lu_update(inst, stream, []<class T>(T, int64_t n, int64_t i, const general_data *d) {
        update_all<T><<<1, 512>>>(n, i, (T *)d->A);
    });
}

constinit const trs_solver trs_solver_lu_simple =
    general_solver("lu-simple", "LU without pivoting, one block of threads (baseline)", update);
