/* bed.h: the test bed of a triangle: op(T) X = B, with B and X on the host and on the device. */
#ifndef TRS_BIN_BENCH_BED_H
#define TRS_BIN_BENCH_BED_H

#include "settings.h"

typedef struct bed {
    const settings *settings;
    const trs_mat *T;
    size_t bytes; /* of B, and of X */
    void *B, *X;
    void *device_B, *device_X; /* NULL: there is no GPU, or no room on it */
    trs_timer *timer;          /* of the GPU; NULL likewise */
} bed;

/* B = op(T) X for an X that is known; returns a trs_status.  Also a bed that failed is freed. */
int bed_make(bed *b, const settings *s, const trs_mat *T);
/* B with numbers in [-1, 1), and X, for a triangle of n rows or fewer: b->T is left to the caller. */
int bed_make_room(bed *b, const settings *s, int64_t n, trs_dtype t);
void bed_free(bed *b);

#endif
