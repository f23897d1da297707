/* timing.h: a clock, and the spread of repeated measurements. */
#ifndef TRS_BIN_TIMING_H
#define TRS_BIN_TIMING_H

#include <stdbool.h>

/* Seconds of a clock that never goes back. */
double now(void);

typedef struct spread {
    int count;
    double min, low, median, high, max; /* low, high: the quartiles */
} spread;

/* The spread of count > 0 numbers, which are sorted. */
spread spread_of(double *s, int count);

/* The distance of the quartiles over the median; NaN: nothing was measured. */
double relative_spread(const spread *t);

/* Are two measurements of the same thing further apart than their spread explains?  Then the medians differ by more than
 * 10 % and what the clock resolves, and the middle halves of the two do not overlap. */
bool are_apart(const spread *a, const spread *b);

/* The order of qsort for double: ascending. */
int ascending(const void *a, const void *b);

#endif
