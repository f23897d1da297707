/* canonical.cu: checks the pattern of a matrix on the device, and uses the matrix without a copy if it is already
 * canonical CSR (canonical.c does the same on the host).
 *
 * Canonical is a lower triangle by rows whose columns ascend and whose diagonal comes last.  A triangle whose columns
 * ascend and whose diagonal comes first becomes one when rows and columns are counted from the other end
 * (`reversed`).  Where the caller stores columns, they are the rows of the transpose.  So a line here is a row or, of
 * a matrix by columns, a column.
 *
 * One kernel has a thread a line, for pointers and ends of lines, another a thread an entry.  A column that is not
 * larger than the one before it, a descent, is right only where a line begins: both kernels count descents, and the
 * counts must cancel.  So no thread needs to know the line of its entry.
 * Bytes: 16 a line, 8 to 12 an entry, in order. */
#include "config.h"

#include "cuda/runtime/cuda.cuh"
extern "C" {
#include "matrix/pattern_hash.h"
}

#include <cstring>

struct intake {
    int64_t n, nnz, base;
    const void *ptr, *idx;
    bool wide_ptr, wide_idx; /* 64 bits */
    bool reversed;
    int64_t *Lp;
    int32_t *Li;
    unsigned long long *wrong; /* [2] lines; descents, less those at which a line begins */
    __device__ int64_t pointer(int64_t i) const { return at(ptr, wide_ptr, i); }
    __device__ int64_t column(int64_t p) const { return at(idx, wide_idx, p); }
    __device__ int64_t at(const void *a, bool wide, int64_t k) const
    {
        const int64_t said = wide ? ((const int64_t *)a)[k] : ((const int32_t *)a)[k];
        return (int64_t)((uint64_t)said - (uint64_t)base);
    }
};

/* Is line i, which is not empty and within the entries, right at its ends?  *starts counts the descents at which a line
 * begins. */
static __device__ bool ends_are_right(const intake &in, int64_t i, int64_t here, int64_t next,
                                      long long *starts)
{
    const int64_t first = in.column(here), last = in.column(next - 1);
    if (here > 0 && first <= in.column(here - 1)) ++*starts;
    if (in.reversed) return first == i && last < in.n;
    return first >= 0 && last == i;
}

static __global__ void lines_kernel(const intake in)
{
    long long wrong = 0, starts = 0;
    for (int64_t i = index_of_thread(); i <= in.n; i += all_threads()) {
        const int64_t here = in.pointer(i);
        in.Lp[in.reversed ? in.n - i : i] = in.reversed ? in.nnz - here : here;
        if (i == 0) wrong += here != 0;
        if (i == in.n) {
            wrong += here != in.nnz;
            continue;
        }
        const int64_t next = in.pointer(i + 1);
        const bool inside = here >= 0 && here < next && next <= in.nnz;
        wrong += !inside || !ends_are_right(in, i, here, next, &starts);
    }
    __syncwarp();
    add_to(&in.wrong[0], wrong);
    add_to(&in.wrong[1], -starts);
}

static __global__ void entries_kernel(const intake in)
{
    long long descents = 0;
    for (int64_t p = index_of_thread(); p < in.nnz; p += all_threads()) {
        const int64_t j = in.column(p);
        in.Li[in.reversed ? in.nnz - 1 - p : p] = (int32_t)(in.reversed ? in.n - 1 - j : j);
        descents += p > 0 && j <= in.column(p - 1);
    }
    __syncwarp();
    add_to(&in.wrong[1], descents);
}

static __global__ void count_back_kernel(int64_t nnz, int64_t *src)
{
    const int64_t p = index_of_thread();
    if (p < nnz) src[p] = nnz - 1 - p;
}

int trs_gpu_canonical(const trs_mat *m, trs_operator *op)
{
    trs_context *ctx = op->ctx;
    const trs_device_view *d = &op->device;
    unsigned long long wrong[2], *found = (unsigned long long *)d->found;
    const intake in = {.n = m->n,
                       .nnz = m->nnz,
                       .base = m->base,
                       .ptr = m->ptr,
                       .idx = m->idx,
                       .wide_ptr = m->ptr_bits != 32,
                       .wide_idx = m->idx_bits == 64,
                       .reversed = op->reversed,
                       .Lp = d->ptr,
                       .Li = d->idx,
                       .wrong = found};
    cudaMemsetAsync(found, 0, sizeof wrong, NULL);
    lines_kernel<<<few_blocks(m->n + 1), PLAIN>>>(in);
    entries_kernel<<<few_blocks(m->nnz), PLAIN>>>(in);
    if (op->reversed) count_back_kernel<<<blocks_of(m->nnz), PLAIN>>>(m->nnz, d->src);
    int rc = launched();
    if (!rc) rc = trs_gpu_take_values(m->dtype, m->nnz, d->src, m->val, d->val, NULL);
    if (rc) return trs_fail(rc, "a matrix on the device");
    rc = trs_gpu_get(ctx, wrong, found, sizeof wrong);
    if (rc) return rc;
    return wrong[0] || wrong[1] ? TRS_EMATRIX : TRS_OK;
}

/* ---- is a pattern one for supernodes? -------------------------------------------------------------- */

static __global__ void length_kernel(int64_t nnz, const int32_t *Li, int32_t *length)
{
    const int64_t p = index_of_thread();
    if (p < nnz) atomicAdd(&length[Li[p]], 1);
}

/* Entries of rows, and of columns, that have the pattern of the row or column before, as supernodes.c counts them on
 * the host.  The length of a column counts its diagonal here, which changes no difference of two lengths. */
static __global__ void common_kernel(int32_t n, const int64_t *Lp, const int32_t *Li,
                                     const int32_t *length, unsigned long long *common)
{
    long long in_columns = 0, in_rows = 0;
    for (int64_t i = 1 + index_of_thread(); i < n; i += all_threads()) {
        const int64_t p = Lp[i], end = Lp[i + 1] - 1;
        if (p == end || Li[end - 1] != i - 1) continue;
        if (end + 1 - p == p - Lp[i - 1] + 1) in_rows += end - p;
        if (length[i - 1] == length[i] + 1) in_columns += length[i - 1] - 1;
    }
    __syncwarp();
    add_to(&common[0], in_columns);
    add_to(&common[1], in_rows);
}

int trs_gpu_common(const trs_operator *op, int64_t common[2])
{
    trs_context *ctx = op->ctx;
    const trs_tri *t = &op->tri;
    const trs_device_view *d = &op->device;
    unsigned long long *found = (unsigned long long *)d->found;
    int32_t *length = (int32_t *)trs_gpu_scratch(ctx, (int64_t)t->n * (int64_t)sizeof *length,
                                                 "lengths of columns");
    if (!length) return TRS_EMEM;
    cudaMemsetAsync(length, 0, (size_t)t->n * sizeof *length, NULL);
    cudaMemsetAsync(found, 0, 2 * sizeof *found, NULL);
    length_kernel<<<blocks_of(t->nnz), PLAIN>>>(t->nnz, d->idx, length);
    common_kernel<<<few_blocks(t->n), PLAIN>>>(t->n, d->ptr, d->idx, length, found);
    return trs_gpu_get(ctx, common, found, 2 * sizeof *found);
}

/* ---- which pattern is it? -------------------------------------------------------------------------- */

static __global__ void hash_kernel(int64_t nnz, const int32_t *Li, unsigned long long *sum)
{
    uint64_t mine = 0;
    for (int64_t p = index_of_thread(); p < nnz; p += all_threads())
        mine += trs_hash_entry(p, Li[p]);
    __syncwarp();
    add_to(sum, (long long)mine);
}

int trs_gpu_hash(const trs_operator *op, uint64_t *hash)
{
    unsigned long long *sum = (unsigned long long *)op->device.found;
    const int rc = trs_gpu_use(op->ctx);
    if (rc) return rc;
    TRS_ASSERT(sum && op->device.idx);
    cudaMemsetAsync(sum, 0, sizeof *sum, NULL);
    hash_kernel<<<few_blocks(op->tri.nnz), PLAIN>>>(op->tri.nnz, op->device.idx, sum);
    return trs_gpu_get(op->ctx, hash, sum, sizeof *hash);
}
