/* counter.c: memory for the library's callbacks that is counted, and refused on demand; see counter.h. */
#include "config.h"

#include "counter.h"

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

static void *give_device(void *user, int device, size_t bytes)
{
    counter *c = user;
    void *p;
    if (refused(c) || trs_device_new(device, bytes, &p)) return NULL;
    c->live++;
    return p;
}

static void take_device(void *user, int device, void *p)
{
    ((counter *)user)->live--;
    trs_device_free(device, p);
}

trs_memory counted_memory(counter *c)
{
    return (trs_memory){give, take, c};
}

trs_device_memory counted_device_memory(counter *c)
{
    return (trs_device_memory){give_device, take_device, c};
}
