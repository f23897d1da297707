/* nogpu.c: the answers of gpu.h in a library built without CUDA. */
#include "config.h"

#include "gpu.h"

#include <stdio.h>

static const char reason[] = "built without CUDA";

int trs_gpu_probe(int device, char *why, size_t size)
{
    (void)device;
    snprintf(why, size, "%s", reason);
    return TRS_EDEVICE;
}

int trs_gpu_chip(int device, int *major, int *minor, int *bus_bits)
{
    (void)device, (void)major, (void)minor, (void)bus_bits;
    return TRS_EDEVICE;
}

void trs_gpu_restore(int device)
{
    (void)device;
}

int trs_gpu_use(trs_context *ctx)
{
    (void)ctx;
    return trs_fail(TRS_EDEVICE, "%s", reason);
}

void *trs_gpu_new(trs_context *ctx, int64_t count, size_t size, const char *what)
{
    (void)ctx, (void)count, (void)size, (void)what;
    trs_fail(TRS_EDEVICE, "%s", reason);
    return NULL;
}

void trs_gpu_free(trs_context *ctx, void *p)
{
    (void)ctx, (void)p;
}

int trs_gpu_put(trs_context *ctx, void *to, const void *from, size_t bytes)
{
    (void)to, (void)from, (void)bytes;
    return trs_gpu_use(ctx);
}

void *trs_gpu_scratch(trs_context *ctx, int64_t bytes, const char *what)
{
    return trs_gpu_new(ctx, bytes, 1, what);
}

void trs_gpu_drop_scratch(trs_context *ctx)
{
    (void)ctx;
}

void trs_gpu_drop_ring(trs_context *ctx)
{
    (void)ctx;
}

int trs_gpu_get(trs_context *ctx, void *to, const void *from, size_t bytes)
{
    (void)to, (void)from, (void)bytes;
    return trs_gpu_use(ctx);
}

int trs_gpu_copy_lines(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                       size_t height, bool to_device, void *stream)
{
    (void)to, (void)to_pitch, (void)from, (void)from_pitch, (void)width, (void)height;
    (void)to_device, (void)stream;
    return TRS_EDEVICE;
}

int trs_gpu_wait(void *stream)
{
    (void)stream;
    return trs_gpu_use(NULL);
}

bool trs_gpu_is_capturing(void *stream)
{
    (void)stream;
    return false;
}

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

/* Every public function of the device fails in the same way. */
static int no_gpu(void)
{
    trs_enter();
    return trs_leave(trs_fail(TRS_EDEVICE, "%s", reason));
}

int trs_device_new(int device, size_t bytes, void **p)
{
    (void)device, (void)bytes;
    if (p) *p = NULL;
    return no_gpu();
}

void trs_device_free(int device, void *p)
{
    (void)device, (void)p;
}

int trs_device_put(int device, void *to, const void *from, size_t bytes)
{
    (void)device, (void)to, (void)from, (void)bytes;
    return no_gpu();
}

int trs_device_get(int device, void *to, const void *from, size_t bytes)
{
    return trs_device_put(device, to, from, bytes);
}

int trs_device_copy(int device, void *to, const void *from, size_t bytes, void *stream)
{
    (void)stream;
    return trs_device_put(device, to, from, bytes);
}

int trs_device_name(int device, char *name, size_t size)
{
    (void)device;
    if (name && size) snprintf(name, size, "%s", reason);
    return no_gpu();
}

int trs_timer_create(trs_timer **timer, int device)
{
    (void)device;
    if (timer) *timer = NULL;
    return no_gpu();
}

int trs_timer_start(trs_timer *timer, void *stream)
{
    (void)timer, (void)stream;
    return no_gpu();
}

int trs_timer_stop(trs_timer *timer, void *stream, double *seconds)
{
    (void)seconds;
    return trs_timer_start(timer, stream);
}

void trs_timer_destroy(trs_timer *timer)
{
    (void)timer;
}
