/* lu.cuh: right-looking LU without pivoting, the loop that six of the lu-... solvers share.
 * Source: Bandara, Ranasinghe, "Effective GPU Strategies for LU Decomposition", sections III and IV.
 *
 *     for i:  launch 1, "update L":  A(j, i) = A(j, i) / A(i, i)              j > i
 *             launch 2, "update U":  A(j, k) = A(j, k) - A(i, k) A(j, i)      j, k > i
 *
 * Each variant has its own launch 2.  If it cuts the trailing sub-matrix into squares of `block` rows and columns, a
 * block of threads has a square.  Launch 2 only reads row i and column i, and every other element has one owner:
 * threads do not conflict, and nothing waits inside a kernel.  2/3 n^3 flops; n^3 / 3 elements are read and written.
 * The time is that of memory where A is larger than the L2, and of 2 n launches for small n. */
#ifndef TRS_LU_CUH
#define TRS_LU_CUH

#include "cuda/baseline/general.cuh"

template <class T> static __global__ void divide_column(int64_t n, int64_t i, T *A)
{
    const int64_t j = i + 1 + blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (j < n) A[j * n + i] = A[j * n + i] / A[i * n + i];
}

/* A thread owns a row of the square (ROWS), or a column.  What all threads of the block need, elements of row i or of
 * column i, is read from global memory each time, or once from there into shared memory (SHARED). */
template <class T, bool ROWS, bool SHARED>
static __global__ void update_square(int64_t n, int64_t i, T *A)
{
    T *s = shared_numbers<T>();
    const int64_t k0 = i + 1 + blockIdx.x * (int64_t)blockDim.x;
    const int64_t j0 = i + 1 + blockIdx.y * (int64_t)blockDim.x;
    const int64_t mine = (ROWS ? j0 : k0) + threadIdx.x, first = ROWS ? k0 : j0;
    const int64_t all = first + threadIdx.x;
    if (SHARED) {
        if (all < n) s[threadIdx.x] = ROWS ? A[i * n + all] : A[all * n + i];
        __syncthreads();
    }
    if (mine >= n) return;
    const int count = n - first < blockDim.x ? int(n - first) : int(blockDim.x);
    const T own = ROWS ? A[mine * n + i] : A[i * n + mine];
    for (int m = 0; m < count; m++) {
        const int64_t j = ROWS ? mine : first + m, k = ROWS ? first + m : mine;
        T common;
        if (SHARED) common = s[m];
        else common = ROWS ? A[i * n + k] : A[j * n + i];
        A[j * n + k] = A[j * n + k] - common * own;
    }
}

/* The loop; step (T (), n, i, d) launches the update of U. */
template <class S> inline int lu_update(trs_instance *inst, void *stream, S step)
{
    return general_update(inst, stream, [&]<class T>(T, int64_t n, const general_data *d) {
        for (int64_t i = 0; i + 1 < n; i++) {
            divide_column<T><<<blocks_of(n - i - 1, d->block), d->block>>>(n, i, (T *)d->A);
            step(T(), n, i, d);
        }
    });
}

template <bool ROWS, bool SHARED> inline int lu_update_squares(trs_instance *inst, void *stream)
{
    return lu_update(inst, stream, []<class T>(T, int64_t n, int64_t i, const general_data *d) {
        const unsigned count = blocks_of(n - i - 1, d->block);
        update_square<T, ROWS, SHARED>
            <<<dim3(count, count), d->block, SHARED ? (size_t)d->block * sizeof(T) : 0>>>(
                n, i, (T *)d->A);
    });
}

#endif
