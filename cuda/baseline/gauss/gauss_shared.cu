/* gauss_shared.cu: elimination without pivoting in place, by one block of threads that holds the pivot's row in
 * shared memory.
 * Source: "Deeper look into the code", the "lmem implementation", which the document names but does not show.  This
 * is its other versions without the two memory objects: barriers instead of launches separate the steps, so only
 * one block of threads can run.
 *
 * A thread owns the elements of its columns in its rows; row and column of the pivot are only read.  The only block
 * waits for no other, so it cannot hang.
 * Bytes: 2/3 elem n^3, moved by one SM; that is the time. */
#include "config.h"

#include "gauss.cuh"

enum { SIDE = 32 }; /* of a block of SIDE x SIDE threads */

static __global__ void __launch_bounds__(SIDE *SIDE) eliminate_kernel(int cols, int rows, double *U)
{
    double *lmem = shared_numbers<double>(); /* [cols] the pivot's row */
    const int li = threadIdx.y * SIDE + threadIdx.x;
    for (int pivot = 0; pivot + 1 < rows; pivot++) {
        for (int col = pivot + li; col < cols; col += SIDE * SIDE)
            lmem[col] = U[(int64_t)pivot * cols + col];
        __syncthreads();
        for (int row = pivot + 1 + threadIdx.y; row < rows; row += SIDE) {
            double *u = U + (int64_t)row * cols;
            const double mult = -u[pivot] / lmem[pivot];
            for (int col = pivot + 1 + threadIdx.x; col < cols; col += SIDE)
                u[col] += lmem[col] * mult;
        }
        __syncthreads();
    }
}

namespace
{
struct in_place {
    using number = double;
    static constexpr trs_dtype TYPE = TRS_F64;
    int rows, cols;
    double *U; /* [rows][cols] */

    static int allow(size_t bytes) { return allow_shared(eliminate_kernel, bytes); }
    int create(trs_context *ctx);
    void destroy(trs_context *ctx) { trs_gpu_free(ctx, U); }
    void eliminate(cudaStream_t stream) const;
    __device__ void put(int row, int col, double a) const { U[(int64_t)row * cols + col] = a; }
    __device__ double get(int row, int col) const { return U[(int64_t)row * cols + col]; }
};
} // namespace

int in_place::create(trs_context *ctx)
{
    cols = rows + 1;
    U = device_new<double>(ctx, (int64_t)rows * cols, "(A b)");
    return U ? TRS_OK : TRS_EMEM;
}

void in_place::eliminate(cudaStream_t stream) const
{
    eliminate_kernel<<<1, dim3(SIDE, SIDE), (size_t)cols * sizeof(double), stream>>>(cols, rows, U);
}

static const char *estimate(const trs_prospect *p, const trs_instance *built, const trs_machine *m,
                            trs_cost *c)
{
    (void)gauss_estimate(p, built, m, c);
    c->bytes *= m->gpu_sms; /* all but one are idle */
    return NULL;
}

static constexpr trs_solver by_one_block(trs_solver s)
{
    s.estimate = estimate;
    return s;
}

constinit const trs_solver trs_solver_gauss_shared = by_one_block(gauss_solver<in_place>(
    "gauss-shared", "elimination without pivoting by one block in shared memory, fp64 (baseline)"));
