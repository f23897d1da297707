/* result.c: times and ratios of a result, and lists of copies. */
#include "config.h"

#include "result.h"

#include "bin/common/message.h"
#include "bin/common/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void result_free(result *r)
{
    free(r->cells);
    r->cells = NULL;
}

bool is_triangle(const result *r)
{
    return (r->kind & TRS_LOWER) != 0;
}

bool promises_normwise(const cell *c)
{
    return c->solver.accuracy == TRS_INVERTING;
}

double promised_error(const cell *c)
{
    return promises_normwise(c) ? c->error.normwise : c->error.omega;
}

/* ---- times and ratios ------------------------------------------------------------------------ */

double total(const cell *c)
{
    return c->analysis.median + c->solve.median;
}

double seconds_to_solve(const result *r, const cell *c)
{
    if (c->status) return (double)NAN;
    return c->solve.median + (r->kind & (TRS_LOWER | TRS_UPPER) ? 0 : c->factor);
}

const cell *find_cell(const result *r, const char *solver, int block)
{
    for (int k = 0; k < r->count; k++) {
        const cell *c = &r->cells[k];
        if (!c->status && c->block == block && !strcmp(c->solver.name, solver)) return c;
    }
    return NULL;
}

static double factor_ms(const cell *c)
{
    return c && c->factor > 0 ? 1e3 * c->factor : (double)NAN;
}

static double measured_ms(double seconds)
{
    return seconds > 0 ? 1e3 * seconds : (double)NAN;
}

double quantity_of(const result *r, const cell *c, quantity what)
{
    switch (what) {
    case SOLVE_MS:
        return c ? 1e3 * seconds_to_solve(r, c) : (double)NAN;
    case ALLOC_MS:
        return measured_ms(r->alloc);
    case COPY_MS:
        return measured_ms(r->copy);
    default:
        return factor_ms(find_cell(r, "lu-fullgrid", 0)) /
               factor_ms(find_cell(r, "lu-submatrix", 0));
    }
}

double over_solve(const result *r, const cell *c, const char *reference)
{
    const cell *f = find_cell(r, reference, 0);
    return f && !c->status ? c->solve.median / f->solve.median : (double)NAN;
}

double over_total(const result *r, const cell *c, const char *reference)
{
    const cell *f = find_cell(r, reference, 0);
    return f && !c->status ? total(c) / total(f) : (double)NAN;
}

double least_bytes(const result *r, int nrhs)
{
    const double elem = (double)size_of_number(r->dtype), n = (double)r->n;
    const double entries = (double)r->nnz - (r->kind & TRS_UNIT ? n : 0);
    return entries * (elem + 4) + n * (4 + 2 * elem * nrhs);
}

bound bound_of(const result *r, const cell *c, int nrhs)
{
    const bool there = c->solver.needs && !strcmp(c->solver.needs, "cuda");
    const double bytes = least_bytes(r, nrhs), seconds = c->solve.median;
    if (!r->byte[there] || !seconds) return (bound){NAN, NAN, NAN, NAN};
    const double memory = bytes * r->byte[there], levels = (double)r->levels * r->level[there];
    return (bound){bytes / seconds, memory, levels, seconds / fmax(memory, levels)};
}

/* ---- many results ---------------------------------------------------------------------------- */

int result_list_add(result_list *l, const result *r)
{
    result *grown = realloc(l->r, (size_t)(l->count + 1) * sizeof *grown);
    if (!grown) return out_of_memory();
    l->r = grown;
    result *to = &l->r[l->count];
    *to = *r;
    if (*r->trouble) to->count = 0;
    to->name = strdup(r->name);
    to->cells = malloc((size_t)to->count * sizeof *r->cells + 1);
    if (!to->name || !to->cells) {
        free((char *)to->name);
        free(to->cells);
        return out_of_memory();
    }
    if (to->count) memcpy(to->cells, r->cells, (size_t)to->count * sizeof *r->cells);
    l->count++;
    return EXIT_GOOD;
}

void result_list_free(result_list *l)
{
    for (int i = 0; i < l->count; i++) {
        free((char *)l->r[i].name);
        result_free(&l->r[i]);
    }
    free(l->r);
}

const result *first_solved(const result_list *l)
{
    for (int i = 0; i < l->count; i++)
        if (l->r[i].count) return &l->r[i];
    return NULL;
}
