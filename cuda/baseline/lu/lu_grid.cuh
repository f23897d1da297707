/* lu_grid.cuh: shared by lu-fullgrid and lu-submatrix.  A, L and U are three matrices by rows.  L is the identity at
 * the start, and at the end L and U are packed into one matrix for the substitution.
 * Source: blog "Improving Parallel LU Decomposition by ~20x" (2021).
 *
 *     step i:  L(r, i) = A(r, i) / A(i, i),   U(r, c) = A(r, c) - L(r, i) A(i, c),   r > i
 *              A = U where U has changed, so that the next step reads what this one has written */
#ifndef TRS_LU_GRID_CUH
#define TRS_LU_GRID_CUH

#include "lu.cuh"

enum { GROUP = 64 }; /* threads: the blog's work-group */

template <class T> struct three {
    T *A, *L, *U; /* [n*n] each */
};

/* L below the diagonal, U on and above it. */
template <class T> static __global__ void pack_factors(int64_t n, three<T> m)
{
    const int64_t c = blockIdx.x * (int64_t)GROUP + threadIdx.x, r = blockIdx.y;
    if (c < n) m.A[r * n + c] = r > c ? m.L[r * n + c] : m.U[r * n + c];
}

/* all (T (), n, m): the steps of a variant, m.U being a copy of A before. */
template <class F> inline int grid_update(trs_instance *inst, void *stream, F all)
{
    trs_context *ctx = inst->ctx;
    const trs_tri *t = &inst->op->tri;
    const size_t size = trs_size(t->dtype), bytes = (size_t)t->n * (size_t)t->n * size;
    void *L = trs_gpu_new(ctx, (int64_t)t->n * t->n, size, "L");
    if (!L) return TRS_EMEM;
    int rc = general_update(inst, stream, [&]<class T>(T, int64_t n, const general_data *d) {
        const three<T> m = {(T *)d->A, (T *)L, (T *)d->columns};
        cudaMemcpyAsync(m.U, m.A, bytes, cudaMemcpyDeviceToDevice);
        cudaMemsetAsync(m.L, 0, bytes);
        all(T(), n, m);
        pack_factors<T><<<dim3(blocks_of(n, GROUP), (unsigned)n), GROUP>>>(n, m);
    });
    trs_gpu_free(inst->ctx, L);
    return rc;
}

inline int64_t grid_bytes(const trs_prospect *p)
{
    return general_bytes(p) / 2 * 3; /* A, L and U */
}

constexpr trs_solver grid_solver(const char *name, const char *about,
                                 int (*update)(trs_instance *, void *))
{
    trs_solver s = general_solver(name, about, update);
    s.bytes = grid_bytes;
    return s;
}

#endif
