/* factored.c: X by factors of A: complete ones of SuiteSparse, or incomplete ones of this
 * library. */
#include "config.h"

#include "exits.h"
#include "steps/iterate.h"
#include "solve.h"

#include "bin/common/message.h"

#include <stdio.h>
#include <string.h>

#ifdef HAVE_SUITESPARSE
#include "trisolve-suitesparse.h"
#endif

typedef struct job {
    const arguments *args;
    problem *p;
    place at;
    trs_krylov *krylov; /* vectors of the method; NULL: X is solved for directly */
    trs_lu *lu;
    report *r;
} job;

static int run_lu(void *user)
{
    job *j = user;
    const int64_t n = j->p->A.n;
    const int rc = trs_lu_solve(j->lu, j->args->op, j->p->nrhs, j->at.B, n, j->at.X, n, NULL);
    return rc ? rc : place_wait(&j->at);
}

static int run_krylov(void *user)
{
    job *j = user;
    return iterate(j->args, &j->at, j->p->nrhs, j->lu, j->krylov, j->r);
}

#ifdef HAVE_SUITESPARSE

static int factor(const arguments *a, const problem *p, const trs_mat *A, trs_lu **lu)
{
    const trs_factor_options opt = {.method = a->method,
                                    .ordering = a->ordering,
                                    .plan = plan_options(a, p),
                                    .single = a->single};
    (void)A; /* it is the host that factors first */
    return trs_factor(lu, &p->A, &opt);
}

#else

static int factor(const arguments *a, const problem *p, const trs_mat *A, trs_lu **lu)
{
    (void)p, (void)A, (void)lu;
    complain("%s: not a triangle, and this build has no SuiteSparse to factor it; use "
             "--lower or --upper to solve with a triangle of it",
             a->matrix);
    return TRS_ESUPPORT;
}

#endif

static int factor_incompletely(const arguments *a, const problem *p, const trs_mat *A, trs_lu **lu)
{
    trs_ilu_options opt = {
        .plan = plan_options(a, p), .level = a->level, .ordering = a->ilu_ordering};
    const bool ic = !strncmp(a->method, "ic", 2);
    opt.method = ic ? TRS_IC0 : TRS_ILU0;
    if (!strcmp(a->method, "dilu")) opt.method = TRS_DILU;
    if (!strcmp(a->method, "jacobi")) opt.method = TRS_BLOCK_JACOBI;
    opt.block = a->block;
    if (a->drops) {
        opt.method = ic ? TRS_ICT : TRS_ILUT;
        opt.drop_tol = a->drop_tol;
    }
    opt.fill_factor = a->fill;
    opt.plan.sweeps = a->sweeps;
    if (a->krylov) opt.plan.nrhs = 1; /* columns are solved one by one */
    return trs_ilu(lu, A, &opt);
}

/* Steps of --refine, --cond and --det, once x is on the host. */
static int improve_and_judge(job *j, report *r)
{
    const arguments *a = j->args;
    int steps = a->refine, rc = TRS_OK;
    if (steps < 0) steps = a->krylov ? 0 : 3;
    if (!a->krylov) r->refined = 0;
    if (steps > 0 && a->device <= 0) rc = refine(NULL, j->lu, steps, r);
    r->estimated = !r->incomplete && !a->steps;
    if (!rc && r->estimated) rc = trs_lu_condest(j->lu, &j->p->A, TRS_NORM_ONE, &r->condition);
    if (!rc && a->det) rc = trs_lu_determinant(j->lu, &r->det);
    return rc;
}

/* Factors by blocks have no plans, nor have complete ones that few solves were made with. */
static void keep_planless(const trs_lu_info *lu, report *r)
{
    r->l = (trs_info){.nnz = lu->nnz_l, .analysis = ""};
    r->u.nnz = lu->nnz_u;
    if (lu->block) {
        snprintf(r->solver, sizeof r->solver, "blocks");
        snprintf(r->reason, sizeof r->reason, "factors by blocks of %d x %d", (int)lu->block,
                 (int)lu->block);
    } else {
        snprintf(r->solver, sizeof r->solver, "%s", lu->library);
        snprintf(r->reason, sizeof r->reason, "few solves need no plans of L and U");
        r->planless = true;
    }
    snprintf(r->costs, sizeof r->costs, "not predicted");
}

static void keep_factors(const trs_lu *factors, report *r)
{
    trs_lu_info lu;
    trs_lu_peek_info(factors, &lu);
    if (lu.l) keep_info(lu.l, &r->l, r);
    else keep_planless(&lu, r);
    if (lu.u) keep_info(lu.u, &r->u, r);
    r->has_u = lu.u || lu.nnz_u > 0;
    snprintf(r->library, sizeof r->library, "%s", lu.library);
    snprintf(r->ordering, sizeof r->ordering, "%s", lu.ordering);
    r->seconds_factor = lu.seconds_factor;
    r->seconds_analyse = lu.seconds_analyse;
}

static int solve_with_factors(job *j, report *r)
{
    const arguments *a = j->args;
    int (*const solve)(void *) = a->krylov ? run_krylov : run_lu;
    int rc;
    r->solve = measure(a->repeat, solve, j, &rc);
    if (rc) return rc;
    if (a->steps) {
        keep_factors(j->lu, r);
        rc = run_steps(a, j->p, &j->at, j->lu, solve, j, r);
    }
    if (rc) return place_get_x(&j->at, j->p); /* that of the values before: there are no factors */
    if (!rc && a->krylov) rc = split_iteration(a, &j->at, j->lu, r);
    if (!rc) rc = place_get_x(&j->at, j->p);
    if (!rc) rc = improve_and_judge(j, r);
    if (rc) complain("%s", trs_message());
    return rc;
}

int solve_factored(const arguments *a, problem *p, report *r)
{
    job j = {.args = a, .p = p, .r = r};
    r->incomplete = is_incomplete(a->method);
    int rc = place_open(&j.at, p, a->device);
    if (!rc) rc = (r->incomplete ? factor_incompletely : factor)(a, p, &j.at.A, &j.lu);
    if (!rc && a->krylov) rc = iterate_open(a, &j.at, &j.krylov);
    if (rc) complain("%s: %s", a->matrix, trs_message());
    if (!rc) rc = solve_with_factors(&j, r);
    if (!rc && !r->steps.failed) keep_factors(j.lu, r);
    trs_krylov_destroy(j.krylov);
    trs_lu_destroy(j.lu);
    place_close(&j.at);
    return exit_code(rc);
}
