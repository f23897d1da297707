/* lu_fullgrid.cu: every launch covers N x N (or N) indices, most of them idle, and after every step all of U is
 * copied to A (lu_grid.cuh).
 * Source: blog "Improving Parallel LU Decomposition by ~20x", the version before the improvement.
 *
 * An element has one owner a launch, and A is only read until the copy.  Nothing waits inside a kernel: it cannot hang.
 * Bytes: 3 elem n^2 in each of n steps, nine times what an update of the shrinking sub-matrix in place would move.  The
 * time is that of memory. */
#include "config.h"

#include "lu_grid.cuh"

template <class T> static __global__ void identity_kernel(int64_t n, T *L)
{
    const int64_t c = blockIdx.x * (int64_t)GROUP + threadIdx.x, r = blockIdx.y;
    if (c == r && c < n) L[r * n + c] = number<T>(1);
}

template <class T> static __global__ void lower_kernel(int64_t n, int64_t i, three<T> m)
{
    const int64_t r = blockIdx.x * (int64_t)GROUP + threadIdx.x;
    if (r < n && r > i) m.L[r * n + i] = m.A[r * n + i] / m.A[i * n + i];
}

template <class T> static __global__ void upper_kernel(int64_t n, int64_t i, three<T> m)
{
    const int64_t c = blockIdx.x * (int64_t)GROUP + threadIdx.x, r = blockIdx.y;
    if (c < n && r > i && c >= i) m.U[r * n + c] = m.A[r * n + c] - m.L[r * n + i] * m.A[i * n + c];
}

static int update(trs_instance *inst, void *stream)
{
    return grid_update(inst, stream, []<class T>(T, int64_t n, three<T> m) {
        const dim3 all(blocks_of(n, GROUP), (unsigned)n);
        identity_kernel<T><<<all, GROUP>>>(n, m.L);
        for (int64_t i = 0; i + 1 < n; i++) {
            lower_kernel<T><<<all.x, GROUP>>>(n, i, m);
            upper_kernel<T><<<all, GROUP>>>(n, i, m);
            cudaMemcpyAsync(m.A, m.U, (size_t)(n * n) * sizeof(T), cudaMemcpyDeviceToDevice);
        }
    });
}

constinit const trs_solver trs_solver_lu_fullgrid = grid_solver(
    "lu-fullgrid", "LU without pivoting, N x N indices, full copies (baseline)", update);
