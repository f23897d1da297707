/* run.c: every solver on one triangle, and the ratios between them. */
#include "config.h"

#include "bin/bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- ratios ---------------------------------------------------------------------------------- */

double total(const cell *c)
{
    return c->analysis + c->solve.median;
}

const cell *find_cell(const result *r, const char *solver, int block)
{
    for (int k = 0; k < r->count; k++) {
        const cell *c = &r->cells[k];
        if (!c->status && c->block == block && !strcmp(c->solver.name, solver)) return c;
    }
    return NULL;
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

/* ---- measuring ------------------------------------------------------------------------------- */

cell *make_cells(const settings *s, int *count)
{
    trs_solver_info solver;
    int solvers = 0;
    while (trs_solver_get(solvers, &solver) == TRS_OK) solvers++;
    cell *cells = calloc((size_t)solvers + 1, sizeof *cells);
    *count = 0;
    for (int k = 0; k < solvers && cells; k++) {
        trs_solver_get(k, &solver);
        if (is_wanted(s, &solver)) cells[(*count)++].solver = solver;
    }
    return cells;
}

enum { LOOKS = 3 }; /* at the levels */

/* As against what only one solver cannot do: the matrix, or the file of TRISOLVE_MACHINE. */
static bool is_about_all(int status)
{
    return status == TRS_EPIVOT || status == TRS_EMATRIX || status == TRS_EARG ||
           status == TRS_EFILE || status == TRS_EFORMAT;
}

/* What the cost model takes for B and X on that side.  It also tells the shape of the triangle, and
 * whether it is one that can be solved. */
static int look(const bed *b, int device, result *r)
{
    trs_plan *plan = NULL;
    trs_info i = {0};
    int rc = make_plan(b, NULL, device, &plan);
    const char *why = trs_message();
    if (plan) trs_plan_info(plan, &i);
    for (int k = 0; k < r->count && i.solver; k++) {
        if (strcmp(r->cells[k].solver.name, i.solver)) continue;
        if (device == TRS_HOST) r->cells[k].auto_host = true;
        else r->cells[k].auto_device = true;
    }
    if (device == TRS_HOST) {
        snprintf(r->costs, sizeof r->costs, "%s", i.costs ? i.costs : "");
        r->n = i.n, r->nnz = i.nnz;
        r->levels = i.levels, r->widest = i.widest, r->longest = i.longest;
        if (is_about_all(rc)) snprintf(r->trouble, sizeof r->trouble, "%s", why);
    }
    trs_plan_destroy(plan);
    return is_about_all(rc) ? rc : TRS_OK;
}

/* What the levels take by the analysis that belongs to this solver: the shortest of a few; 0: not known. */
static double level_seconds(const bed *b, const char *solver)
{
    double best = 0, sum = 0;
    for (int k = 0; k < LOOKS && sum < b->settings->cell_seconds / LOOKS; k++) {
        trs_plan *plan = NULL;
        trs_info i;
        const int rc = make_plan(b, solver, TRS_HOST, &plan);
        if (!rc) trs_plan_info(plan, &i);
        trs_plan_destroy(plan);
        if (rc) return 0;
        if (k == 0 || i.seconds_levels < best) best = i.seconds_levels;
        sum += i.seconds_create + i.seconds_analyse;
    }
    return best;
}

int measure_triangle(const settings *s, const char *name, const trs_mat *T, result *r)
{
    bed b = {.settings = s, .T = T};
    *r = (result){.name = name, .kind = T->kind, .dtype = T->dtype};
    r->cells = make_cells(s, &r->count);
    progress(s, name, "levels");
    int rc = r->cells ? look(&b, TRS_HOST, r) : TRS_EMEM;
    if (!rc && s->device != TRS_HOST) look(&b, s->device, r);
    if (!rc) r->sweep = level_seconds(&b, "cpu-serial"), r->sort = level_seconds(&b, "cpu-level");
    if (!rc) rc = bed_make(&b, s, T);
    if (rc && !*r->trouble) snprintf(r->trouble, sizeof r->trouble, "%s", trs_strerror(rc));
    for (int k = 0; k < r->count && !rc; k++) {
        progress(s, name, r->cells[k].solver.name);
        measure_cell(&b, &r->cells[k]);
    }
    progress(s, NULL, NULL);
    bed_free(&b);
    return rc;
}

int keep(kept *k, const result *r)
{
    result *grown = realloc(k->r, (size_t)(k->count + 1) * sizeof *grown);
    if (!grown) return out_of_memory();
    k->r = grown;
    result *to = &k->r[k->count];
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
    k->count++;
    return EXIT_GOOD;
}

void kept_free(kept *k)
{
    for (int i = 0; i < k->count; i++) {
        free((char *)k->r[i].name);
        result_free(&k->r[i]);
    }
    free(k->r);
}

void result_free(result *r)
{
    free(r->cells);
    r->cells = NULL;
}

/* Libraries are opened, kernels loaded and threads started before anything counts. */
void warm_up(const settings *s)
{
    static const int64_t ptr[] = {0, 0, 1};
    static const int32_t idx[] = {0};
    static const double val[] = {0, 0};
    const trs_mat T = {.n = 2,
                       .nnz = 1,
                       .ptr = ptr,
                       .idx = idx,
                       .val = val,
                       .dtype = s->retype ? s->dtype : TRS_F64,
                       .kind = TRS_LOWER | TRS_UNIT};
    settings quick = *s;
    result r;
    quick.cell_seconds = 1e-3;
    measure_triangle(&quick, "warm-up", &T, &r);
    result_free(&r);
}
