/* place.h: arrays on the host or on device 0, as `there` says: what tests of both sides solve with. */
#ifndef TRS_TESTS_PLACE_H
#define TRS_TESTS_PLACE_H

#include "trisolve-sparse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool there;

/* A copy of an array on the host; then unplace. */
static void *place(const void *host, size_t bytes)
{
    void *p;
    if (there) {
        assert_int_equal(trs_device_new(TRS_CUDA(0), bytes, &p), TRS_OK);
        assert_int_equal(trs_device_put(TRS_CUDA(0), p, host, bytes), TRS_OK);
        return p;
    }
    p = malloc(bytes + 1);
    memcpy(p, host, bytes);
    return p;
}

static void bring(void *host, const void *p, size_t bytes)
{
    if (there) assert_int_equal(trs_device_get(TRS_CUDA(0), host, p, bytes), TRS_OK);
    else memcpy(host, p, bytes);
}

static void unplace(void *p)
{
    if (there) trs_device_free(TRS_CUDA(0), p);
    else free(p);
}

#endif
