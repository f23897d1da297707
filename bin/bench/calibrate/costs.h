/* costs.h: the costs by number, in the order of the table. */
#ifndef TRS_BIN_BENCH_COSTS_H
#define TRS_BIN_BENCH_COSTS_H

#include "base/context.h"

#include <stddef.h>

enum {
#define TRS_COST(name, value, unit) COST_##name,
#include "costs.inc"
#undef TRS_COST
    COSTS
};

typedef struct cost_name {
    const char *name, *unit;
    size_t place; /* in trs_machine */
} cost_name;

extern const cost_name cost_names[COSTS];

static inline double *cost_in(trs_machine *m, int k)
{
    return (double *)((char *)m + cost_names[k].place);
}

#endif
