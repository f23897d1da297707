/* csr.cu: the rows of a part on the device. */
#include "config.h"

#include "cuda/matrix/csr.cuh"
#include "cuda/runtime/cuda.cuh"

/* One block for all three: making and freeing each takes as long as a copy of a megabyte. */
static size_t lay_out(device_csr *d, char *base, int64_t rows, int64_t nnz, size_t size)
{
    size_t used = 0;
    d->ptr = carve<int64_t>(base, &used, rows + 1);
    d->idx = carve<int32_t>(base, &used, nnz);
    d->val = carve<char>(base, &used, nnz * (int64_t)size);
    return used;
}

/* The row pointers of a part count from its first entry. */
static int put_pointers(const trs_part *part, device_csr *d)
{
    trs_context *ctx = part->ctx;
    const int64_t *Lp = part->side->tri.ptr + part->from;
    const int64_t count = (int64_t)(part->to - part->from) + 1;
    const size_t bytes = (size_t)count * sizeof *Lp;
    if (Lp[0] == 0) return trs_gpu_put(ctx, d->ptr, Lp, bytes);
    int64_t *ptr = (int64_t *)trs_new(ctx, count, sizeof *ptr, "row pointers of a part");
    if (!ptr) return TRS_EMEM;
    for (int64_t k = 0; k < count; k++) ptr[k] = Lp[k] - Lp[0];
    const int rc = trs_gpu_put(ctx, d->ptr, ptr, bytes);
    trs_free(&ctx->mem, ptr);
    return rc;
}

int device_csr_new(const trs_part *part, device_csr *d)
{
    trs_context *ctx = part->ctx;
    const trs_tri *t = &part->side->tri;
    const int64_t begin = t->ptr[part->from], nnz = t->ptr[part->to] - begin;
    const int64_t rows = part->to - part->from;
    const size_t size = trs_size(t->dtype);
    *d = {};
    void *base = trs_gpu_new(ctx, (int64_t)lay_out(d, NULL, rows, nnz, size), 1, "a triangle");
    if (!base) return TRS_EMEM;
    lay_out(d, (char *)base, rows, nnz, size);
    const int rc = put_pointers(part, d);
    return rc ? rc : trs_gpu_put(ctx, d->idx, t->idx + begin, (size_t)nnz * sizeof *t->idx);
}

int device_csr_values(const trs_part *part, device_csr *d)
{
    const trs_tri *t = &part->side->tri;
    const size_t size = trs_size(t->dtype);
    const int64_t begin = t->ptr[part->from], nnz = t->ptr[part->to] - begin;
    return trs_gpu_put(part->ctx, d->val, (const char *)t->val + (size_t)begin * size,
                       (size_t)nnz * size);
}

int device_csr_take(const trs_part *part, device_csr *d, const void *val, void *stream)
{
    const trs_tri *t = &part->side->tri;
    const size_t size = trs_size(t->dtype);
    const int64_t begin = t->ptr[part->from], nnz = t->ptr[part->to] - begin;
    return trs_gpu_take_values(t->dtype, nnz, NULL, (const char *)val + (size_t)begin * size,
                               d->val, stream);
}

void device_csr_free(trs_context *ctx, device_csr *d)
{
    trs_gpu_free(ctx, d->ptr); /* the others are in its block */
}
