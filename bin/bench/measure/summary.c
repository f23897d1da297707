/* summary.c: the automatic choice over all results. */
#include "config.h"

#include "summary.h"

#include <math.h>
#include <string.h>

const double choice_bounds[BOUNDS] = {1.1, 1.3};

static bool competes(const settings *s, const cell *c)
{
    return s->dense || !in_device_memory(s) || strcmp(c->solver.needs, "cpu") != 0;
}

/* Did the solver compete, and solve accurately? */
static bool counts(const settings *s, const cell *c)
{
    return !c->status && c->accurate && competes(s, c);
}

/* ---- the choice ------------------------------------------------------------------------------ */

static bool is_chosen(const settings *s, const cell *c)
{
    return competes(s, c) && (in_device_memory(s) ? c->auto_device : c->auto_host);
}

choice find_choice(const settings *s, const result *r)
{
    choice p = {.ratio = (double)NAN};
    for (int k = 0; k < r->count && !*r->trouble; k++) {
        const cell *c = &r->cells[k];
        if (!c->status && is_chosen(s, c)) p.taken = c;
        if (!counts(s, c)) continue;
        if (!p.best || c->first.median < p.best->first.median) p.best = c;
    }
    if (p.taken && p.best) p.ratio = p.taken->solve.median / p.best->solve.median;
    return p;
}

void choice_add(choice_sum *sum, const choice *one)
{
    if (isnan(one->ratio)) {
        sum->missing++;
        return;
    }
    sum->count++;
    sum->log_sum += log(one->ratio);
    sum->worst = fmax(sum->worst, one->ratio);
    for (int k = 0; k < BOUNDS; k++) sum->within[k] += one->ratio <= choice_bounds[k];
}

choice_sum sum_choices(const settings *s, const result_list *l)
{
    choice_sum sum = {0};
    for (const result *r = l->r; r < l->r + l->count; r++) {
        const choice one = find_choice(s, r);
        if (!r->count) continue;
        choice_add(&sum, &one);
        if (!one.taken || !one.best) continue;
        /* which leaves a NaN out */
        sum.worst_over_serial = fmax(sum.worst_over_serial, over_solve(r, one.taken, "cpu-serial"));
    }
    return sum;
}

double choice_mean(const choice_sum *sum)
{
    return exp(sum->log_sum / sum->count);
}
