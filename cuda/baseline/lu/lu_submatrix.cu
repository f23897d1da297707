/* lu_submatrix.cu: launches have the size of the trailing sub-matrix, with offsets; the pivot column is a launch apart
 * from the trailing update; the pivot is read once a group of threads into shared memory; only the sub-matrix that has
 * changed is copied from U to A; the identity is a launch of N (lu_grid.cuh).
 * Source: blog "Improving Parallel LU Decomposition by ~20x", the improved version.
 *
 * The pivot column of U becomes zero after the trailing update, which reads column i of L instead of it.  An element
 * has one owner a launch, and barriers are within a group of threads: it cannot hang.
 * Bytes: 5 elem (n-i)^2 in step i, together 5/3 elem n^3.  The time is that of memory. */
#include "config.h"

#include "lu_grid.cuh"

template <class T> static __global__ void identity_kernel(int64_t n, T *L)
{
    const int64_t r = blockIdx.x * (int64_t)GROUP + threadIdx.x;
    if (r < n) L[r * n + r] = number<T>(1);
}

template <class T> static __global__ void lower_kernel(int64_t n, int64_t i, three<T> m)
{
    T *pivot = shared_numbers<T>();
    const int64_t r = i + 1 + blockIdx.x * (int64_t)GROUP + threadIdx.x;
    if (threadIdx.x == 0) *pivot = m.A[i * n + i];
    __syncthreads();
    if (r < n) m.L[r * n + i] = m.A[r * n + i] / *pivot;
}

template <class T> static __global__ void trailing_kernel(int64_t n, int64_t i, three<T> m)
{
    T *l = shared_numbers<T>();
    const int64_t c = i + 1 + blockIdx.x * (int64_t)GROUP + threadIdx.x, r = i + 1 + blockIdx.y;
    if (threadIdx.x == 0) *l = m.L[r * n + i];
    __syncthreads();
    if (c < n) m.U[r * n + c] = m.A[r * n + c] - *l * m.A[i * n + c];
}

template <class T> static __global__ void column_kernel(int64_t n, int64_t i, three<T> m)
{
    const int64_t r = i + 1 + blockIdx.x * (int64_t)GROUP + threadIdx.x;
    if (r < n) m.U[r * n + i] = m.A[r * n + i] - m.L[r * n + i] * m.A[i * n + i];
}

static int update(trs_instance *inst, void *stream)
{
    return grid_update(inst, stream, []<class T>(T, int64_t n, three<T> m) {
        identity_kernel<T><<<blocks_of(n, GROUP), GROUP>>>(n, m.L);
        for (int64_t i = 0; i + 1 < n; i++) {
            const int64_t left = n - i - 1, first = (i + 1) * n + i;
            const unsigned groups = blocks_of(left, GROUP);
            lower_kernel<T><<<groups, GROUP, sizeof(T)>>>(n, i, m);
            trailing_kernel<T><<<dim3(groups, (unsigned)left), GROUP, sizeof(T)>>>(n, i, m);
            column_kernel<T><<<groups, GROUP>>>(n, i, m);
            cudaMemcpy2DAsync(m.A + first, (size_t)n * sizeof(T), m.U + first,
                              (size_t)n * sizeof(T), (size_t)(left + 1) * sizeof(T), (size_t)left,
                              cudaMemcpyDeviceToDevice);
        }
    });
}

constinit const trs_solver trs_solver_lu_submatrix = grid_solver(
    "lu-submatrix", "LU without pivoting, shrinking launches and copies (baseline)", update);
