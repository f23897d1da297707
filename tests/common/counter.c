/* counter.c: memory for the library's callbacks that is counted, and refused on demand; see counter.h. */
#include "config.h"

#include "counter.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

enum { HEAD = 16 }; /* bytes before each block, for its size */

static bool refused(counter *c)
{
    const long k = c->calls++;
    return c->fail_at >= 0 && (c->and_after ? k >= c->fail_at : k == c->fail_at);
}

bool was_refused(const counter *c)
{
    return c->fail_at >= 0 && c->calls > c->fail_at;
}

static void *give(void *user, size_t bytes)
{
    counter *c = user;
    char *p = refused(c) ? NULL : malloc(bytes + HEAD);
    if (!p) return NULL;
    memcpy(p, &bytes, sizeof bytes);
    c->live++;
    c->bytes += bytes;
    return p + HEAD;
}

static void take(void *user, void *p)
{
    counter *c = user;
    size_t bytes;
    if (!p) return;
    memcpy(&bytes, (char *)p - HEAD, sizeof bytes);
    c->live--;
    c->bytes -= bytes;
    free((char *)p - HEAD);
}

/* ---- on a device: bytes behind each block, which nothing may write ------------------------------------- */

enum { GUARD = 4096, GUARD_BYTE = 0x5a };

struct device_block {
    struct device_block *next;
    void *p;
    size_t bytes;
};

static void put_guard(int device, char *end)
{
    char guard[GUARD];
    memset(guard, GUARD_BYTE, sizeof guard);
    assert_int_equal(trs_device_put(device, end, guard, sizeof guard), TRS_OK);
}

static void check_guard(int device, const char *end, size_t bytes)
{
    char guard[GUARD];
    assert_int_equal(trs_device_get(device, guard, end, sizeof guard), TRS_OK);
    for (int k = 0; k < GUARD; k++)
        if (guard[k] != GUARD_BYTE)
            fail_msg("byte %d behind a block of %zu bytes on the device was written", k, bytes);
}

static void *give_device(void *user, int device, size_t bytes)
{
    counter *c = user;
    void *p;
    if (refused(c) || trs_device_new(device, bytes + GUARD, &p)) return NULL;
    struct device_block *block = malloc(sizeof *block);
    assert_non_null(block);
    *block = (struct device_block){c->on_device, p, bytes};
    c->on_device = block;
    put_guard(device, (char *)p + bytes);
    c->live++;
    c->device_bytes += bytes;
    if (c->device_bytes > c->device_most) c->device_most = c->device_bytes;
    return p;
}

static void take_device(void *user, int device, void *p)
{
    counter *c = user;
    struct device_block **at = &c->on_device;
    while (*at && (*at)->p != p) at = &(*at)->next;
    assert_non_null(*at);
    struct device_block *block = *at;
    *at = block->next;
    c->live--;
    c->device_bytes -= block->bytes;
    check_guard(device, (char *)p + block->bytes, block->bytes);
    trs_device_free(device, p);
    free(block);
}

trs_memory counted_memory(counter *c)
{
    return (trs_memory){give, take, c};
}

trs_device_memory counted_device_memory(counter *c)
{
    return (trs_device_memory){give_device, take_device, c};
}
