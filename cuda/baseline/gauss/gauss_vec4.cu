/* gauss_vec4.cu: elimination with partial pivoting, alternating between two buffers, four doubles a thread.
 * Source: "Deeper look into the code", section "Partial pivot Gaussian elimination buffer vec 4" (gauss.cuh).
 *
 * Every block of threads finds the pivot for itself.  It reads the column into shared memory and reduces it by
 * halving, keeping the larger of two numbers and its row; the last pair includes an odd one.  All blocks do the same
 * operations in the same order, so they agree without waiting for one another.
 *
 * In step p the row with the pivot becomes row p.  Its threads compute the new row p in its place, and the threads of
 * row p+1 copy the pivot's row to the output.  So row k of U ends in the buffer that step k has written, and the last
 * row in the same buffer as the row before it.
 *
 * A thread owns four elements, which only the next launch reads.  Barriers are within a block: it cannot hang.
 * Bytes: 2/3 elem n^3, and n reads of a column by each block of a step, out of the L2; the latter are the time.
 *
 * In the document thread number `li` includes the odd one.  This is wrong once the window slides, since li stays and
 * temp_col moves on; here temp_col decides.  The document's second store of the pivot itself is left out, since the
 * pivot is part of the copied vector. */
#include "config.h"

#include "base/debug.h"
#include "gauss.cuh"

namespace
{
struct alignas(32) vec4 { /* loaded and stored as a whole */
    double s[4];
};
} // namespace

/* The row of the largest magnitude of count in lmem, their rows being i_lmem; all threads of the block call it. */
static __device__ inline int row_of_largest(double *lmem, int *i_lmem, int count, int li, int n_li)
{
    int is_odd = count & 1;
    for (int i = count >> 1; i > 0; i = i >> 1) {
        for (int temp_col = li; temp_col < i; temp_col += n_li) {
            const int old_index_max = i_lmem[temp_col];
            int index_max = old_index_max;
            double old_max = lmem[temp_col];
            const double new_max = lmem[temp_col + i];
            if (new_max > old_max) {
                old_max = new_max;
                index_max = i_lmem[temp_col + i];
            }
            if (temp_col == i - 1 && is_odd) {
                const double odd_last_max = lmem[temp_col + i + 1];
                if (odd_last_max > old_max) {
                    old_max = odd_last_max;
                    index_max = i_lmem[temp_col + i + 1];
                }
            }
            if (index_max != old_index_max) {
                lmem[temp_col] = old_max;
                i_lmem[temp_col] = index_max;
            }
        }
        __syncthreads();
        is_odd = i & 1;
    }
    return i_lmem[0];
}

static __global__ void eliminate_kernel(int cols_quarts, int rows, int pivot, const vec4 *in_U,
                                        vec4 *out_U)
{
    const double *s_in_U = (const double *)in_U;
    const int col = blockIdx.x * blockDim.x + threadIdx.x + pivot / 4;
    const int row = blockIdx.y * blockDim.y + threadIdx.y + pivot + 1;
    const int64_t cols = 4 * (int64_t)cols_quarts;
    const int li = threadIdx.y * blockDim.x + threadIdx.x;
    const int n_li = blockDim.x * blockDim.y;
    double *lmem = shared_numbers<double>();    /* [rows-pivot] magnitudes */
    int *i_lmem = (int *)(lmem + rows - pivot); /* [rows-pivot] their rows */

    for (int i = li; pivot + i < rows; i += n_li) {
        lmem[i] = fabs(s_in_U[(pivot + i) * cols + pivot]);
        i_lmem[i] = i + pivot;
    }
    __syncthreads();
    const int64_t pivot_row = row_of_largest(lmem, i_lmem, rows - pivot, li, n_li);
    TRS_ASSERT(pivot_row >= pivot && pivot_row < rows);

    if (row >= rows || col >= cols_quarts) return;
    const int64_t old_row = row != pivot_row ? row : pivot; /* that becomes this row */
    const double head_row_val = s_in_U[old_row * cols + pivot];
    const vec4 old_val = in_U[old_row * cols_quarts + col];
    const double pivot_val = s_in_U[pivot_row * cols + pivot];
    const double mult = -head_row_val / pivot_val;
    const vec4 pivot_row_val = in_U[pivot_row * cols_quarts + col];
    vec4 new_val;
    for (int k = 0; k < 4; k++) new_val.s[k] = old_val.s[k] + pivot_row_val.s[k] * mult;
    out_U[(int64_t)row * cols_quarts + col] = new_val;
    if (row == pivot + 1) out_U[(int64_t)pivot * cols_quarts + col] = pivot_row_val;
}

namespace
{
struct buffers {
    using number = double;
    static constexpr trs_dtype TYPE = TRS_F64;
    int rows, cols; /* cols is a multiple of 4: zeros after b */
    double *U[2];   /* [rows][cols] */

    static int allow(size_t bytes) { return allow_shared(eliminate_kernel, bytes); }
    int create(trs_context *ctx);
    void destroy(trs_context *ctx);
    void eliminate(cudaStream_t stream) const;
    __device__ void put(int row, int col, double a) const { U[0][(int64_t)row * cols + col] = a; }
    __device__ double get(int row, int col) const
    {
        const bool second = (row + 1 < rows ? row + 1 : row) & 1;
        return (second ? U[1] : U[0])[(int64_t)row * cols + col];
    }
};
} // namespace

int buffers::create(trs_context *ctx)
{
    cols = (rows + 1 + 3) / 4 * 4;
    for (int k = 0; k < 2; k++) {
        U[k] = device_new<double>(ctx, (int64_t)rows * cols, "(A b)");
        if (!U[k]) return TRS_EMEM;
    }
    return TRS_OK;
}

void buffers::destroy(trs_context *ctx)
{
    device_free(ctx, U[0], U[1]);
}

void buffers::eliminate(cudaStream_t stream) const
{
    const dim3 block(32, 16);
    for (int pivot = 0; pivot + 1 < rows; pivot++) {
        const dim3 grid(blocks_of(cols / 4 - pivot / 4, 32), blocks_of(rows - pivot - 1, 16));
        const size_t shared = (size_t)(rows - pivot) * (sizeof(double) + sizeof(int));
        const int in = pivot & 1;
        eliminate_kernel<<<grid, block, shared, stream>>>(cols / 4, rows, pivot,
                                                          (const vec4 *)U[in], (vec4 *)U[1 - in]);
    }
}

static constexpr trs_solver pivoting(trs_solver s)
{
    s.caps |= TRS_CAP_PIVOTS;
    /* which rows were exchanged is not kept, and so not the sign of the determinant */
    s.pivots = NULL;
    return s;
}

constinit const trs_solver trs_solver_gauss_vec4 = pivoting(gauss_solver<buffers>(
    "gauss-vec4", "elimination with partial pivoting, four doubles a thread, fp64 (baseline)"));
