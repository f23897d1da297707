/* timing.c: a clock, and the spread of repeated measurements. */
#include "config.h"

#include "timing.h"

#include "base/debug.h"

#include <stdlib.h>
#include <time.h>

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

spread spread_of(double *s, int count)
{
    TRS_ASSERT(count > 0);
    qsort(s, (size_t)count, sizeof *s, ascending);
    return (spread){count, s[0], 0.5 * (s[(count - 1) / 2] + s[count / 2]), s[count - 1]};
}
