/* no_device.c: answers device.h in a library that is built without CUDA. */
#include "config.h"

#include "device.h"

#include <stdio.h>

static const char reason[] = "built without CUDA";

int trs_gpu_probe(int device, char *why, size_t size)
{
    (void)device;
    snprintf(why, size, "%s", reason);
    return TRS_EDEVICE;
}

int trs_gpu_chip(int device, trs_chip *chip)
{
    (void)device;
    *chip = (trs_chip){0};
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

/* Every public function of the device fails in the same way. */
static int no_gpu(void)
{
    trs_enter();
    return trs_leave(trs_fail(TRS_EDEVICE, "%s", reason));
}

int trs_gpu_branch_new(trs_context *ctx, trs_branch **branch)
{
    (void)ctx;
    *branch = NULL;
    return TRS_OK;
}

void trs_gpu_branch_free(trs_context *ctx, trs_branch *branch)
{
    (void)ctx, (void)branch;
}

int trs_gpu_fork(trs_branch *branch, void *stream, void **side)
{
    (void)branch;
    *side = stream;
    return no_gpu();
}

int trs_gpu_join(trs_branch *branch, void *stream)
{
    (void)branch, (void)stream;
    return no_gpu();
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
