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
    const int quarter = (count - 1) / 4;
    return (spread){.count = count,
                    .min = s[0],
                    .low = s[quarter],
                    .median = 0.5 * (s[(count - 1) / 2] + s[count / 2]),
                    .high = s[count - 1 - quarter],
                    .max = s[count - 1]};
}

double relative_spread(const spread *t)
{
    return (t->high - t->low) / t->median;
}

bool are_apart(const spread *a, const spread *b)
{
    static const double factor = 1.1, tick = 50e-9; /* s: of a clock and its call */
    const spread *fast = a->median < b->median ? a : b, *slow = fast == a ? b : a;
    return slow->median > factor * fast->median + tick && slow->low > fast->high;
}
