/* no_device.c: answers on_device.h in a library that is built without CUDA. */
#include "config.h"

#include "base/device.h"
#include "on_device.h"

int trs_gpu_gather(trs_dtype t, int32_t n, int nrhs, const int32_t *perm, trs_view x, trs_view y,
                   void *stream)
{
    (void)t, (void)n, (void)nrhs, (void)perm, (void)x, (void)y, (void)stream;
    return TRS_EDEVICE;
}

int trs_gpu_scatter(trs_dtype t, int32_t n, int nrhs, const int32_t *perm, trs_view y, trs_view x,
                    void *stream)
{
    return trs_gpu_gather(t, n, nrhs, perm, y, x, stream);
}

int trs_gpu_leave_out(trs_dtype t, int32_t n, int nrhs, const unsigned char *skip, trs_view b,
                      trs_view x, void *stream)
{
    (void)skip;
    return trs_gpu_gather(t, n, nrhs, NULL, b, x, stream);
}

int trs_gpu_bring(const trs_move *m, trs_view x, trs_view y, void *stream)
{
    return trs_gpu_gather(m->outer, m->n, m->nrhs, m->perm, x, y, stream);
}

int trs_gpu_put_back(const trs_move *m, trs_view y, trs_view x, void *stream)
{
    return trs_gpu_bring(m, y, x, stream);
}

int trs_gpu_put_levels(const trs_operator *op)
{
    return trs_gpu_use(op->ctx);
}

int trs_gpu_find_levels(trs_operator *op)
{
    return trs_gpu_use(op->ctx);
}

int trs_gpu_canonical(const trs_mat *m, trs_operator *op)
{
    (void)m;
    return trs_gpu_use(op->ctx);
}

int trs_gpu_import(const trs_mat *m, bool transposed, trs_operator *op)
{
    (void)transposed;
    return trs_gpu_canonical(m, op);
}

int trs_gpu_common(const trs_operator *op, int64_t common[2])
{
    (void)common;
    return trs_gpu_use(op->ctx);
}

int trs_gpu_runs(const trs_operator *op, trs_device_runs *r)
{
    *r = (trs_device_runs){0};
    return trs_gpu_use(op->ctx);
}

int trs_gpu_hash(const trs_operator *op, uint64_t *hash)
{
    (void)hash;
    return trs_gpu_use(op->ctx);
}

int trs_gpu_take_values(trs_dtype t, int64_t nnz, const void *src, const void *from, void *to,
                        void *stream)
{
    (void)t, (void)nnz, (void)src, (void)from, (void)to, (void)stream;
    return TRS_EDEVICE;
}

int trs_gpu_whole_values(trs_dtype t, int64_t count, const int64_t *from_place, const void *val,
                         void *to, void *stream)
{
    return trs_gpu_take_values(t, count, from_place, val, to, stream);
}

int trs_gpu_sum_terms(trs_dtype t, int64_t count, const int64_t *start, const int64_t *order,
                      const void *from, void *to, void *stream)
{
    (void)start;
    return trs_gpu_take_values(t, count, order, from, to, stream);
}

int trs_gpu_take_full(trs_dtype t, int64_t n, int64_t ld, bool transposed, const void *from,
                      void *to, void *stream)
{
    (void)t, (void)n, (void)ld, (void)transposed, (void)from, (void)to, (void)stream;
    return TRS_EDEVICE;
}

int trs_gpu_find_pivots(const trs_operator *op, void *stream)
{
    (void)op, (void)stream;
    return TRS_EDEVICE;
}

int trs_gpu_replace_pivots(const trs_operator *op, double value, void *stream)
{
    (void)value;
    return trs_gpu_find_pivots(op, stream);
}
