/* memory.h: host memory through the caller's callbacks, and the clock. */
#ifndef TRS_MEMORY_H
#define TRS_MEMORY_H

#include "trisolve-sparse.h"

/* count * size bytes, not cleared; at least one byte, so that NULL always means failure.
 * NULL also when the product overflows or count < 0. */
void *trs_alloc(const trs_memory *mem, int64_t count, size_t size);
void *trs_alloc_zero(const trs_memory *mem, int64_t count, size_t size);
void trs_free(const trs_memory *mem, void *p);

/* Pages that hold nothing else; NULL: out of memory.  The caller frees them by free. */
void *trs_alloc_pages(size_t bytes);

double trs_now(void); /* seconds of a steady clock */

#endif
