/* memory.h: host memory through the caller's callbacks, and the clock. */
#ifndef TRS_MEMORY_H
#define TRS_MEMORY_H

#include "trisolve-sparse.h"

/* Allocate count * size bytes, which are not cleared, and at least one byte, so that NULL always means failure.  The
 * product may overflow, and count may be negative: then NULL is returned. */
void *trs_alloc(const trs_memory *mem, int64_t count, size_t size);
void *trs_alloc_zero(const trs_memory *mem, int64_t count, size_t size);
void trs_free(const trs_memory *mem, void *p);

/* The number of pointers in a list of arguments, and the list, as two arguments of a function. */
#define TRS_POINTERS(...)                                                                          \
    (int)(sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *)), (void *const[])                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
/* trs_free for each of some arrays. */
#define trs_free_all(mem, ...) trs_free_each(mem, TRS_POINTERS(__VA_ARGS__))
void trs_free_each(const trs_memory *mem, int count, void *const *p);

/* Allocate whole pages, which no other allocation shares.  Returns NULL if there is no memory.  The caller frees them
 * by free. */
void *trs_alloc_pages(size_t bytes);

double trs_now(void); /* seconds of a monotonic clock */

#endif
