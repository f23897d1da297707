/* counter.h: memory for tests, through the callbacks of the library: counted, and refused on demand.  A test fails where
 * bytes behind a block on a device were written. */
#ifndef TRS_TESTS_COUNTER_H
#define TRS_TESTS_COUNTER_H

#include "trisolve-sparse.h"

#include <stdbool.h>

struct device_block;

typedef struct counter { /* one for host and device */
    long calls;
    long fail_at;                     /* the call that is refused, -1: none */
    int and_after;                    /* 1: and all that follow */
    long live;                        /* blocks */
    size_t bytes;                     /* of them, on the host */
    size_t device_bytes, device_most; /* the same on the device, and the most that there were */
    struct device_block *on_device;
} counter;

/* Was the call fail_at refused?  If not, there were fewer calls, and no more are left to fail. */
bool was_refused(const counter *c);

trs_memory counted_memory(counter *c);
trs_device_memory counted_device_memory(counter *c);

#endif
