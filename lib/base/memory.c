/* memory.c: gets host memory by the caller's callbacks, and reads the clock.
 *
 * For large blocks the system is asked for huge pages.  The first touch of a page is a fault, and with pages of 4 KiB
 * these faults take five times as long as copying a matrix into the new memory. */
#include "config.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef HAVE_MADVISE
#include <sys/mman.h>
#endif

enum { PAGE = 1 << 16, HUGE_PAGE = 2 << 20, LARGE = HUGE_PAGE }; /* bytes */

/* count * size, at least 1, or 0 if the product overflows. */
static size_t bytes_of(int64_t count, size_t size)
{
    if (count < 0 || (size && (uint64_t)count > (uint64_t)(PTRDIFF_MAX / size))) return 0;
    size_t bytes = (size_t)count * size;
    return bytes ? bytes : 1;
}

static void *new_block(size_t bytes)
{
#if defined HAVE_MADVISE && defined MADV_HUGEPAGE
    if (bytes >= LARGE && bytes <= PTRDIFF_MAX - HUGE_PAGE) {
        bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        void *p = aligned_alloc(HUGE_PAGE, bytes);
        if (p) (void)madvise(p, bytes, MADV_HUGEPAGE); /* small pages would do as well */
        return p;
    }
#endif
    return malloc(bytes);
}

void *trs_alloc_pages(size_t bytes)
{
    const size_t page = bytes >= LARGE / 2 ? HUGE_PAGE : PAGE;
    if (bytes > PTRDIFF_MAX - HUGE_PAGE) return NULL;
    bytes = (bytes + page - 1) / page * page;
    void *p = aligned_alloc(page, bytes);
#if defined HAVE_MADVISE && defined MADV_HUGEPAGE
    if (p && page == HUGE_PAGE) (void)madvise(p, bytes, MADV_HUGEPAGE);
#endif
    return p;
}

void *trs_alloc(const trs_memory *mem, int64_t count, size_t size)
{
    size_t bytes = bytes_of(count, size);
    if (!bytes) return NULL;
    return mem && mem->alloc ? mem->alloc(mem->user, bytes) : new_block(bytes);
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

void trs_free_each(const trs_memory *mem, int count, void *const *p)
{
    for (int k = 0; k < count; k++) trs_free(mem, p[k]);
}

double trs_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
