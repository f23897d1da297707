/* no_device.c: the answers of on_device.h in a library built without CUDA. */
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

int trs_gpu_put_levels(trs_context *ctx, const trs_side *s)
{
    (void)s;
    return trs_gpu_use(ctx);
}

int trs_gpu_find_levels(trs_context *ctx, trs_side *s)
{
    return trs_gpu_put_levels(ctx, s);
}

int trs_gpu_straight(trs_context *ctx, const trs_mat *m, trs_side *s)
{
    (void)m;
    return trs_gpu_put_levels(ctx, s);
}

int trs_gpu_common(trs_context *ctx, const trs_side *s, int64_t common[2])
{
    (void)common;
    return trs_gpu_put_levels(ctx, s);
}

int trs_gpu_look(trs_context *ctx, const trs_side *s, const int32_t *rows, int count,
                 int64_t (*found)[2])
{
    (void)rows, (void)count, (void)found;
    return trs_gpu_put_levels(ctx, s);
}

int trs_gpu_take_values(trs_dtype t, int64_t nnz, const void *src, const void *from, void *to,
                        void *stream)
{
    (void)t, (void)nnz, (void)src, (void)from, (void)to, (void)stream;
    return TRS_EDEVICE;
}

int trs_gpu_take_full(trs_dtype t, int64_t n, int64_t ld, bool transposed, const void *from,
                      void *to, void *stream)
{
    (void)ld, (void)transposed;
    return trs_gpu_take_values(t, n, NULL, from, to, stream);
}

int trs_gpu_find_pivots(const trs_side *s, void *stream)
{
    (void)s, (void)stream;
    return TRS_EDEVICE;
}

int trs_gpu_replace_pivots(const trs_side *s, double value, void *stream)
{
    (void)value;
    return trs_gpu_find_pivots(s, stream);
}
