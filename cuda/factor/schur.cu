/* schur.cu: panels of a Schur complement (lib/elimination/schur.h).
 *
 * subtract: a warp has a row of A(s, r) and a column of x.  Its lanes have every 32nd entry, and their sums meet by shuffles, so
 * the order of a sum depends on the pattern alone.  Rows are short and x comes from the caches; the solves of A(r, r) take most
 * of the time.  No thread waits for another. */
#include "config.h"

#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "elimination/schur.h"
}

enum { ROWS = 8, TILE = 16 };

/* A block has a column. */
template <class T>
static __global__ void scatter_kernel(const trs_sparse_lines L, int64_t first, T *x, int64_t ld)
{
    const int64_t l = first + blockIdx.x, end = L.ptr[l + 1];
    T *column = x + blockIdx.x * ld;
    for (int64_t p = L.ptr[l] + threadIdx.x; p < end; p += PLAIN)
        column[L.idx[p]] = ((const T *)L.val)[p];
}

int trs_gpu_schur_scatter(trs_dtype t, const trs_sparse_lines *lines, int64_t first, int width,
                          int64_t n, void *x, int64_t ld, void *stream)
{
    const cudaStream_t s = (cudaStream_t)stream;
    const size_t size = trs_size(t);
    if (n == 0 || width == 0) return TRS_OK;
    const int rc =
        cuda_status(cudaMemset2DAsync(x, (size_t)ld * size, 0, (size_t)n * size, (size_t)width, s),
                    "clearing a panel");
    if (rc) return rc;
    return for_type(t, [&]<class T>(T) {
        scatter_kernel<T><<<(unsigned)width, PLAIN, 0, s>>>(*lines, first, (T *)x, ld);
        return launched();
    });
}

template <class T>
static __global__ void subtract_kernel(const trs_sparse_lines L, int64_t count, const T *x,
                                       int64_t ldx, T *s, int64_t lds)
{
    const int64_t i = blockIdx.x * (int64_t)ROWS + threadIdx.x / 32;
    if (i >= count) return;
    const T *column = x + blockIdx.y * ldx;
    T sum = number<T>(0);
    for (int64_t p = L.ptr[i] + threadIdx.x % 32; p < L.ptr[i + 1]; p += 32)
        sum = sum + ((const T *)L.val)[p] * column[L.idx[p]];
    for (int by = 16; by > 0; by /= 2) sum = sum + shuffle_xor(sum, by);
    T *to = s + i + blockIdx.y * lds;
    if (threadIdx.x % 32 == 0) *to = *to - sum;
}

int trs_gpu_schur_subtract(trs_dtype t, const trs_sparse_lines *lines, int64_t count, int width,
                           const void *x, int64_t ldx, void *s, int64_t lds, void *stream)
{
    if (count == 0 || width == 0) return TRS_OK;
    return for_type(t, [&]<class T>(T) {
        const dim3 grid(blocks_of(count, ROWS), (unsigned)width);
        subtract_kernel<T><<<grid, 32 * ROWS, 0, (cudaStream_t)stream>>>(
            *lines, count, (const T *)x, ldx, (T *)s, lds);
        return launched();
    });
}

/* A block has the tile of columns blockIdx.x and rows blockIdx.y. */
template <class T> static __global__ void mirror_kernel(int64_t count, T *s, int64_t ld)
{
    const int64_t j = blockIdx.x * (int64_t)TILE + threadIdx.x;
    const int64_t i = blockIdx.y * (int64_t)TILE + threadIdx.y;
    if (i >= count || j > i) return;
    const T below = s[i + j * ld];
    s[j + i * ld] = i == j ? number<T>((double)real_part(below)) : conj_if(true, below);
}

int trs_gpu_schur_mirror(trs_dtype t, int64_t count, void *s, int64_t ld, void *stream)
{
    const unsigned tiles = blocks_of(count, TILE);
    if (count == 0) return TRS_OK;
    return for_type(t, [&]<class T>(T) {
        mirror_kernel<T>
            <<<dim3(tiles, tiles), dim3(TILE, TILE), 0, (cudaStream_t)stream>>>(count, (T *)s, ld);
        return launched();
    });
}
