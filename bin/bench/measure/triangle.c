/* triangle.c: every solver on one triangle. */
#include "config.h"

#include "triangle.h"

#include "cell.h"
#include "host.h"
#include "select/predict.h"
#include "solvers.h"

#include <stdio.h>
#include <string.h>

enum { LEVEL_RUNS = 3 };

/* Does the error concern the triangle, or the file of TRISOLVE_MACHINE, rather than what one solver
 * cannot do? */
static bool concerns_all(int status)
{
    return status == TRS_EPIVOT || status == TRS_EMATRIX || status == TRS_EARG ||
           status == TRS_EFILE || status == TRS_EFORMAT;
}

/* What the library takes for the costs of a byte and of a level, there. */
static void find_costs(const trs_plan *plan, int device, result *r, int nrhs)
{
    const bool there = device != TRS_HOST;
    trs_machine m;
    if (strcmp(trs_version(), TRS_VERSION) || trs_plan_machine(plan, &m)) return;
    const bool cached = least_bytes(r, nrhs) < m.cpu_cache;
    const double cpu = cached ? m.cpu_cached : m.cpu_byte;
    r->byte[there] = there ? m.gpu_byte : cpu;
    r->level[there] = there ? m.gpu_latency : m.cpu_latency;
}

/* Marks what the cost model chooses for B and X there.  With TRS_HOST also the features of the
 * triangle are written down, and whether it is one that can be solved. */
static int mark_choice(const bed *b, int device, result *r)
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
        if (concerns_all(rc)) snprintf(r->trouble, sizeof r->trouble, "%s", why);
    }
    if (!rc) find_costs(plan, device, r, b->settings->nrhs);
    trs_plan_destroy(plan);
    return concerns_all(rc) ? rc : TRS_OK;
}

/* Seconds that the levels take by the analysis that belongs to this solver, the shortest of a few;
 * 0: not known. */
static double level_seconds(const bed *b, const char *solver)
{
    double best = 0, sum = 0;
    for (int k = 0; k < LEVEL_RUNS && sum < b->settings->cell_seconds / LEVEL_RUNS; k++) {
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
    *r = (result){.name = name, .kind = T->kind, .dtype = T->dtype, .load = {load_average()}};
    r->cells = make_cells(s, &r->count);
    progress(s, name, "levels");
    int rc = r->cells ? mark_choice(&b, TRS_HOST, r) : TRS_EMEM;
    if (!rc && s->device != TRS_HOST) mark_choice(&b, s->device, r);
    if (!rc) r->sweep = level_seconds(&b, "cpu-serial"), r->sort = level_seconds(&b, "cpu-level");
    if (!rc) rc = bed_make(&b, s, T);
    if (rc && !*r->trouble) snprintf(r->trouble, sizeof r->trouble, "%s", trs_strerror(rc));
    for (int k = 0; k < r->count && !rc; k++) {
        progress(s, name, r->cells[k].solver.name);
        measure_cell(&b, &r->cells[k]);
    }
    progress(s, name, "a plan that grows");
    if (!rc) measure_growing(&b, &r->growing);
    progress(s, NULL, NULL);
    r->load[1] = load_average();
    bed_free(&b);
    return rc;
}

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
