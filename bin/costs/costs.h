/* costs.h: the costs by number, in the order of the table, and the lines of a file of them. */
#ifndef TRS_BIN_COSTS_COSTS_H
#define TRS_BIN_COSTS_COSTS_H

#include "base/context.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
#define TRS_COST(name, value, unit) COST_##name,
#include "costs.inc"
#undef TRS_COST
    COSTS
};

typedef struct cost_name {
    const char *name, *unit;
    /* in trs_machine */
    size_t place;
} cost_name;

extern const cost_name cost_names[COSTS];

static inline double *cost_in(trs_machine *m, int k)
{
    return (double *)((char *)m + cost_names[k].place);
}

/* What was measured, in found, becomes a cost of m, which is known then; the others stay. */
void cost_take(const trs_machine *found, trs_machine *m, bool known[COSTS]);

/* Is it a fact, which the machine says of itself? */
bool cost_is_fact(int k);

/* The first line of a file of costs, and the line of cost k. */
void cost_put_head(FILE *f);
void cost_put(FILE *f, int k, const trs_machine *m);

#endif
