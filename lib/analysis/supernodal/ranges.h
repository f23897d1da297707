/* ranges.h: cuts columns into ranges that do not depend on the number of threads. */
#ifndef TRS_RANGES_H
#define TRS_RANGES_H

#include <stdint.h>

enum { TRS_RANGE_COLUMNS = 2048, TRS_SUPERNODES_A_CLAIM = 1024 };

static inline int32_t trs_ranges(int32_t n)
{
    return n / TRS_RANGE_COLUMNS + 1;
}

/* The first column of a range; n behind the last one. */
static inline int32_t trs_range_begin(int32_t n, int64_t range)
{
    const int64_t column = range * TRS_RANGE_COLUMNS;
    return column < n ? (int32_t)column : n;
}

#endif
