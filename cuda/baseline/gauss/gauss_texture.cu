/* gauss_texture.cu: elimination without pivoting, alternating between two 2D textures.
 * Source: "Deeper look into the code", section "No pivot Gaussian elimination texture" (gauss.cuh).
 *
 * A launch reads one texture and writes the other, only what the step changes: rows and columns after the pivot's.  So
 * the rows of U end in the texture that their own step has read: even rows in the first, odd rows in the second.
 *
 * A thread owns an element, which only the next launch reads.  Nothing waits inside a kernel: it cannot hang.  Numbers
 * are fp32, one a pixel.
 * Bytes: 2 n^3 / 3 elements of 4 bytes.  The time is that of memory where A is larger than the L2, else that of n
 * launches. */
#include "config.h"

#include "gauss.cuh"

static __device__ inline float fetch(cudaTextureObject_t t, int col, int row)
{
    return tex2D<float>(t, (float)col + 0.5f, (float)row + 0.5f);
}

static __device__ inline void store(cudaSurfaceObject_t s, int col, int row, float a)
{
    surf2Dwrite(a, s, col * (int)sizeof a, row);
}

static __global__ void eliminate_kernel(int cols, int rows, int pivot, cudaTextureObject_t in_U,
                                        cudaSurfaceObject_t out_U)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x + pivot + 1;
    const int row = blockIdx.y * blockDim.y + threadIdx.y + pivot + 1;
    if (col < cols && row < rows) {
        const float pivot_val = fetch(in_U, pivot, pivot);
        const float head_row_val = fetch(in_U, pivot, row);
        const float mult = -head_row_val / pivot_val;
        const float pivot_row_val = fetch(in_U, col, pivot);
        const float old_val = fetch(in_U, col, row);
        store(out_U, col, row, old_val + pivot_row_val * mult);
    }
}

namespace
{
struct textures {
    using number = float;
    static constexpr trs_dtype TYPE = TRS_F32;
    int rows, cols;
    cudaArray_t array[2]; /* [rows][cols] */
    cudaTextureObject_t texture[2];
    cudaSurfaceObject_t surface[2];

    static int allow(size_t) { return TRS_OK; }
    int create(trs_context *);
    void destroy(trs_context *ctx);
    void eliminate(cudaStream_t stream) const;
    __device__ void put(int row, int col, float a) const { store(surface[0], col, row, a); }
    __device__ float get(int row, int col) const
    {
        return fetch(row & 1 ? texture[1] : texture[0], col, row);
    }
};
} // namespace

int textures::create(trs_context *)
{
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaTextureDesc how = {}; /* the nearest pixel, by its number, its value as it is */
    cudaResourceDesc what = {};
    what.resType = cudaResourceTypeArray;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    how.readMode = cudaReadModeElementType;
    cols = rows + 1;
    cudaError_t e = cudaSuccess;
    for (int k = 0; k < 2 && e == cudaSuccess; k++) {
        e = cudaMallocArray(&array[k], &format, (size_t)cols, (size_t)rows,
                            cudaArraySurfaceLoadStore);
        what.res.array.array = array[k];
        if (e == cudaSuccess) e = cudaCreateTextureObject(&texture[k], &what, &how, NULL);
        if (e == cudaSuccess) e = cudaCreateSurfaceObject(&surface[k], &what);
    }
    if (e == cudaSuccess) return TRS_OK;
    (void)cudaGetLastError();
    return trs_fail(e == cudaErrorMemoryAllocation ? TRS_EMEM : TRS_EDEVICE,
                    "%s: textures of %d x %d", cudaGetErrorName(e), cols, rows);
}

void textures::destroy(trs_context *)
{
    for (int k = 0; k < 2; k++) {
        if (surface[k]) cudaDestroySurfaceObject(surface[k]);
        if (texture[k]) cudaDestroyTextureObject(texture[k]);
        if (array[k]) cudaFreeArray(array[k]);
    }
}

void textures::eliminate(cudaStream_t stream) const
{
    const dim3 block(32, 8);
    for (int pivot = 0; pivot + 1 < rows; pivot++) {
        const dim3 grid(blocks_of(cols - pivot - 1, 32), blocks_of(rows - pivot - 1, 8));
        const int in = pivot & 1;
        eliminate_kernel<<<grid, block, 0, stream>>>(cols, rows, pivot, texture[in],
                                                     surface[1 - in]);
    }
}

constinit const trs_solver trs_solver_gauss_texture = gauss_solver<textures>(
    "gauss-texture", "elimination without pivoting, two textures in turn, fp32 (baseline)");
