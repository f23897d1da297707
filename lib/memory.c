/* memory.c: host memory through the caller's callbacks, and the clock. */
#include "config.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The product as bytes, 0 when it does not fit. */
static size_t bytes_of(int64_t count, size_t size)
{
    if (count < 0 || (size && (uint64_t)count > (uint64_t)(PTRDIFF_MAX / size))) return 0;
    size_t bytes = (size_t)count * size;
    return bytes ? bytes : 1;
}

void *trs_alloc(const trs_memory *mem, int64_t count, size_t size)
{
    size_t bytes = bytes_of(count, size);
    if (!bytes) return NULL;
    return mem && mem->alloc ? mem->alloc(mem->user, bytes) : malloc(bytes);
}

void *trs_alloc_zero(const trs_memory *mem, int64_t count, size_t size)
{
    size_t bytes = bytes_of(count, size);
    if (!bytes) return NULL;
    if (!mem || !mem->alloc) return calloc(1, bytes);
    void *p = mem->alloc(mem->user, bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

void trs_free(const trs_memory *mem, void *p)
{
    if (mem && mem->free) mem->free(mem->user, p);
    else free(p);
}

double trs_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
