/* costs.c: the costs by number, and the lines of a file of them. */
#include "config.h"

#include "costs.h"

#include <string.h>

const cost_name cost_names[COSTS] = {
#define TRS_COST(name, value, unit) {#name, unit, offsetof(trs_machine, name)},
#include "costs.inc"
#undef TRS_COST
};

bool cost_is_fact(int k)
{
    return !strcmp(cost_names[k].unit, "fact");
}

void cost_take(const trs_machine *found, trs_machine *m, bool known[COSTS])
{
    trs_machine all = *found;
    for (int k = 0; k < COSTS; k++) {
        const double cost = *cost_in(&all, k);
        if (!(cost > 0 && (cost_is_fact(k) || cost <= 1))) continue;
        *cost_in(m, k) = cost;
        known[k] = true;
    }
}

void cost_put_head(FILE *f)
{
    fprintf(f, "# trisolve-sparse machine 2\n");
}

void cost_put(FILE *f, int k, const trs_machine *m)
{
    const cost_name *n = &cost_names[k];
    fprintf(f, "%-28s %-10.4g # %s\n", n->name, *(const double *)((const char *)m + n->place),
            n->unit);
}
