/* timing.h: a clock, and the spread of repeated measurements. */
#ifndef TRS_BIN_TIMING_H
#define TRS_BIN_TIMING_H

/* Seconds of a clock that never goes back. */
double now(void);

typedef struct spread {
    int count;
    double min, median, max;
} spread;

/* The spread of count > 0 numbers, which are sorted. */
spread spread_of(double *s, int count);

/* The order of qsort for double: ascending. */
int ascending(const void *a, const void *b);

#endif
