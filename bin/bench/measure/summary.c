/* summary.c: the automatic choice and the solvers over all results. */
#include "config.h"

#include "summary.h"

#include <math.h>
#include <string.h>

const double choice_bounds[BOUNDS] = {1.1, 1.3};

static bool competes(const settings *s, const cell *c)
{
    return s->dense || !in_device_memory(s) || strcmp(c->solver.needs, "cpu") != 0;
}

bool counts(const settings *s, const cell *c)
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
        if (!p.best || seconds_to_solve(r, c) < seconds_to_solve(r, p.best)) p.best = c;
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
    sum->fastest += one->taken == one->best;
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

/* ---- solvers --------------------------------------------------------------------------------- */

typedef struct mean { /* the geometric mean of the ratios that are not NaN */
    int count;
    double log_sum;
} mean;

static void mean_add(mean *m, double ratio)
{
    if (isnan(ratio)) return;
    m->count++;
    m->log_sum += log(ratio);
}

static double mean_of(const mean *m)
{
    return m->count ? exp(m->log_sum / m->count) : (double)NAN;
}

standing find_standing(const settings *s, const result_list *l, int solver)
{
    standing t = {0};
    mean fastest = {0}, cusparse = {0}, serial = {0};
    bool takes_part = false;
    for (int i = 0; i < l->count; i++) {
        const result *r = &l->r[i];
        if (!r->count) continue;
        const cell *c = &r->cells[solver];
        const choice p = find_choice(s, r);
        takes_part = takes_part || competes(s, c);
        t.refused += c->status != TRS_OK;
        t.inaccurate += !c->status && !c->accurate;
        t.chosen += is_chosen(s, c);
        t.fastest += p.best == c;
        if (c->status || !c->accurate) continue;
        t.good++;
        if (competes(s, c)) mean_add(&fastest, c->solve.median / p.best->solve.median);
        mean_add(&cusparse, over_solve(r, c, "cusparse"));
        mean_add(&serial, over_solve(r, c, "cpu-serial"));
    }
    if (!takes_part) t.fastest = NAN;
    t.over_fastest = mean_of(&fastest);
    t.over_cusparse = mean_of(&cusparse);
    t.over_serial = mean_of(&serial);
    return t;
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* Two triangles of one file, its factors, follow each other. */
static bool is_same_matrix(const result *a, const result *b)
{
    return a->file && b->file && !strcmp(a->file, b->file);
}

census take_census(const result_list *l)
{
    census n = {0};
    for (int i = 0; i < l->count; i++) {
        const result *r = &l->r[i];
        n.matrices += i == 0 || !is_same_matrix(&r[-1], r);
        n.triangles += r->count > 0;
        n.refused += r->count == 0;
        for (int c = 0; c < r->count; c++)
            n.inaccurate += !r->cells[c].status && !r->cells[c].accurate;
    }
    return n;
}
