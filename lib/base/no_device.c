/* no_device.c: functions of the device in a library built without CUDA: those that are public, and those that do more than
 * fail.  build-aux/device_stubs.awk generates all others from the headers in DEVICE_H. */
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

int trs_gpu_use(trs_context *ctx)
{
    (void)ctx;
    return trs_fail(TRS_EDEVICE, "%s", reason);
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
