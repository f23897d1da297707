/* sparse_solve.c: the two ways to x: a triangle through a plan, any other matrix through factors. */
#include "config.h"

#include "sparse.h"

#include <stdio.h>

#ifdef HAVE_SUITESPARSE
#include "trisolve-suitesparse.h"
#endif

typedef struct job {
    const arguments *args;
    problem *p;
    trs_plan *plan;
    trs_lu *lu;
} job;

static trs_options plan_options(const arguments *a, const problem *p)
{
    return (trs_options){.solver = a->solver,
                         .measure = a->measure,
                         .ops = 1u << a->op,
                         .nrhs = p->nrhs,
                         .threads = a->threads,
                         .bitwise = a->bitwise,
                         .pivot = a->pivot,
                         .pivot_value = a->pivot_value};
}

/* The facts of a plan, its strings copied: they end with it. */
static void keep_info(const trs_plan *plan, trs_info *info, report *r)
{
    trs_plan_info(plan, info);
    if (info != &r->l) return;
    snprintf(r->solver, sizeof r->solver, "%s", info->solver);
    snprintf(r->reason, sizeof r->reason, "%s", info->reason);
    snprintf(r->costs, sizeof r->costs, "%s", info->costs);
}

static int run_plan(void *user)
{
    job *j = user;
    const int64_t n = j->p->A.n;
    return trs_solve(j->plan, j->args->op, j->p->nrhs, j->p->B, n, j->p->X, n, NULL);
}

int solve_triangle(const arguments *a, problem *p, report *r)
{
    job j = {.args = a, .p = p};
    const trs_options opt = plan_options(a, p);
    int rc = trs_plan_create(&j.plan, &p->A, &opt);
    if (!rc) rc = a->load_plan ? trs_plan_load(j.plan, a->load_plan) : trs_plan_analyse(j.plan);
    if (!rc && a->save_plan) rc = trs_plan_save(j.plan, a->save_plan);
    if (rc) complain("%s: %s", a->matrix, trs_plan_message(j.plan));
    if (!rc) {
        r->solve = measure(a->repeat, run_plan, &j, &rc);
        if (rc) complain("solve: %s", trs_strerror(rc));
    }
    if (!rc) keep_info(j.plan, &r->l, r);
    if (!rc) trs_plan_pivots(j.plan, &r->pivots, &r->first_pivot);
    r->seconds_analyse = r->l.seconds_create + r->l.seconds_analyse;
    trs_plan_destroy(j.plan);
    return exit_code(rc);
}

#ifdef HAVE_SUITESPARSE

static int run_lu(void *user)
{
    job *j = user;
    const int64_t n = j->p->A.n;
    return trs_lu_solve(j->lu, j->args->op, j->p->nrhs, j->p->B, n, j->p->X, n, NULL);
}

int solve_factored(const arguments *a, problem *p, report *r)
{
    job j = {.args = a, .p = p};
    const trs_factor_options opt = {.method = a->method, .plan = plan_options(a, p)};
    const int64_t n = p->A.n;
    int rc = trs_factor(&j.lu, &p->A, &opt);
    if (rc) complain("%s: %s", a->matrix, trs_lu_message(j.lu));
    if (!rc) {
        r->solve = measure(a->repeat, run_lu, &j, &rc);
        if (!rc && a->refine > 0)
            rc = trs_lu_refine(j.lu, &p->A, a->op, p->nrhs, p->B, n, p->X, n, NULL, a->refine,
                               &r->refined, NULL);
        if (rc) complain("solve: %s", trs_strerror(rc));
    }
    if (!rc) {
        trs_lu_info lu;
        trs_lu_get_info(j.lu, &lu);
        keep_info(lu.l, &r->l, r);
        r->has_u = lu.u;
        if (lu.u) keep_info(lu.u, &r->u, r);
        snprintf(r->library, sizeof r->library, "%s", lu.library);
        snprintf(r->ordering, sizeof r->ordering, "%s", lu.ordering);
        r->rcond = lu.rcond;
        r->seconds_factor = lu.seconds_factor;
        r->seconds_analyse = lu.seconds_analyse;
    }
    trs_lu_destroy(j.lu);
    return exit_code(rc);
}

#else

int solve_factored(const arguments *a, problem *p, report *r)
{
    (void)p, (void)r;
    complain("%s: not a triangle, and this build has no SuiteSparse to factor it; "
             "--lower or --upper solve with a triangle of it",
             a->matrix);
    return EXIT_USAGE;
}

#endif
