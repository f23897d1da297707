/* summary.c: the automatic choice and the solvers over all results. */
#include "config.h"

#include "summary.h"

#include <math.h>
#include <string.h>

const double choice_bounds[BOUNDS] = {1.1, 1.3};

const result *first_solved(const kept *k)
{
    for (int i = 0; i < k->count; i++)
        if (k->r[i].count) return &k->r[i];
    return NULL;
}

static bool in_device_memory(const settings *s)
{
    return s->device != TRS_HOST && !s->on_host;
}

bool competes(const settings *s, const cell *c)
{
    return s->dense || !in_device_memory(s) || strcmp(c->solver.needs, "cpu") != 0;
}

bool counts(const settings *s, const cell *c)
{
    return !c->status && c->accurate && competes(s, c);
}

/* ---- the choice --------------------------------------------------------------------------------- */

static bool is_chosen(const settings *s, const cell *c)
{
    return competes(s, c) && (in_device_memory(s) ? c->auto_device : c->auto_host);
}

pick find_pick(const settings *s, const result *r)
{
    pick p = {.ratio = (double)NAN};
    for (int k = 0; k < r->count && !*r->trouble; k++) {
        const cell *c = &r->cells[k];
        if (!c->status && is_chosen(s, c)) p.taken = c;
        if (!counts(s, c)) continue;
        if (!p.best || dense_seconds(r, c) < dense_seconds(r, p.best)) p.best = c;
    }
    if (p.taken && p.best) p.ratio = p.taken->solve.median / p.best->solve.median;
    return p;
}

void choice_add(choice_sum *c, const pick *p)
{
    if (isnan(p->ratio)) {
        c->missing++;
        return;
    }
    c->count++;
    c->log_sum += log(p->ratio);
    c->worst = fmax(c->worst, p->ratio);
    c->fastest += p->taken == p->best;
    for (int k = 0; k < BOUNDS; k++) c->within[k] += p->ratio <= choice_bounds[k];
}

double choice_mean(const choice_sum *c)
{
    return exp(c->log_sum / c->count);
}

/* ---- solvers ------------------------------------------------------------------------------------ */

typedef struct mean { /* geometric, of what is not a NaN */
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

standing find_standing(const settings *s, const kept *k, int solver)
{
    standing t = {0};
    mean fastest = {0}, cusparse = {0}, serial = {0};
    bool takes_part = false;
    for (int i = 0; i < k->count; i++) {
        const result *r = &k->r[i];
        if (!r->count) continue;
        const cell *c = &r->cells[solver];
        const pick p = find_pick(s, r);
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
    if (!takes_part) t.fastest = -1;
    t.over_fastest = mean_of(&fastest);
    t.over_cusparse = mean_of(&cusparse);
    t.over_serial = mean_of(&serial);
    return t;
}
