/* solve.c: X of a triangle, by a plan; in two precisions when that was asked for. */
#include "config.h"

#include "exits.h"
#include "solve.h"

#include "bin/common/message.h"
#include "bin/common/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

trs_options plan_options(const arguments *a, const problem *p)
{
    trs_options opt = {.solver = a->solver,
                       .measure = a->measure,
                       .ops = 1u << a->op,
                       .nrhs = p->nrhs,
                       .threads = a->threads,
                       .device = a->device,
                       .bitwise = a->bitwise,
                       .pivot = a->pivot,
                       .pivot_value = a->pivot_value};
    if (a->repeat > 1) opt.solves = TRS_SOLVES_MANY; /* else the plan grows */
    if (a->cond) opt.ops |= 1u << TRS_N | 1u << TRS_H;
    return opt;
}

void keep_info(const trs_plan *plan, trs_info *info, report *r)
{
    trs_plan_info(plan, info);
    if (info != &r->l) return;
    snprintf(r->solver, sizeof r->solver, "%s", info->solver);
    snprintf(r->reason, sizeof r->reason, "%s", info->reason);
    snprintf(r->costs, sizeof r->costs, "%s", info->costs);
}

typedef struct job { /* op(T) X = B as the plan has it, which may be in single precision */
    const arguments *args;
    trs_plan *plan;
    trs_mat T;
    void *B, *X;
    int nrhs;
} job;

static int run_plan(void *user)
{
    job *j = user;
    return trs_solve(j->plan, j->args->op, j->nrhs, j->B, j->T.n, j->X, j->T.n, NULL);
}

static int refine_up_to(const trs_plan *plan, trs_lu *lu, int steps, report *r)
{
    const problem *p = r->problem;
    const trs_op op = r->args->op;
    const int64_t n = p->A.n;
    const int rc = lu ? trs_lu_refine(lu, &p->A, op, p->nrhs, p->B, n, p->X, n, NULL, steps,
                                      &r->refined, &r->error)
                      : trs_refine(plan, &p->A, op, p->nrhs, p->B, n, p->X, n, NULL, steps,
                                   &r->refined, &r->error);
    r->stopped = r->error.stop;
    r->judged = !rc;
    return rc;
}

/* No step tells the error before the first one, and mostly that there is none to do. */
int refine(const trs_plan *plan, trs_lu *lu, int steps, report *r)
{
    int rc = refine_up_to(plan, lu, 0, r);
    r->omega_before = r->error.omega;
    if (!rc && r->stopped == TRS_STOP_STEPS) rc = refine_up_to(plan, lu, steps, r);
    return rc;
}

/* ---- two precisions -------------------------------------------------------------------------- */

/* Makes copies of the arrays in single precision, when X is to be refined to double. */
static int round_down(job *j, const problem *p)
{
    const trs_dtype was = p->A.dtype, is = was == TRS_C64 ? TRS_C32 : TRS_F32;
    const int64_t n = p->A.n, nnz = p->A.format == TRS_DENSE ? p->A.ld * n : p->A.nnz;
    j->T.dtype = is;
    j->T.val = convert_numbers(p->A.val, was, is, nnz);
    j->B = convert_numbers(p->B, was, is, n * p->nrhs);
    j->X = convert_numbers(p->X, was, is, n * p->nrhs);
    return j->T.val && j->B && j->X ? TRS_OK : TRS_EMEM;
}

/* X as it was solved; or 0, for refinement to begin with, when it left the range of single
 * precision. */
static int round_up(job *j, problem *p)
{
    const int64_t n = p->A.n;
    trs_error e;
    void *X = convert_numbers(j->X, j->T.dtype, p->A.dtype, n * p->nrhs);
    if (!X) return complain("out of memory for x in double precision"), TRS_EMEM;
    free(p->X);
    p->X = X;
    const int rc = backward_error(j->args, p, &e);
    if (rc) complain("%s", trs_message());
    if (!rc && !isfinite(e.omega)) memset(X, 0, (size_t)(n * p->nrhs) * size_of_number(p->A.dtype));
    return rc;
}

static void single_free(job *j, const problem *p)
{
    if (j->T.dtype == p->A.dtype) return;
    free((void *)j->T.val);
    free(j->B);
    free(j->X);
}

/* ---- a triangle ------------------------------------------------------------------------------ */

static int solve_with_plan(job *j, problem *p, report *r)
{
    int rc;
    r->solve = measure(j->args->repeat, run_plan, j, &rc);
    if (!rc && j->T.dtype != p->A.dtype) rc = round_up(j, p);
    if (rc) return rc;
    if (j->args->refine > 0) rc = refine(j->plan, NULL, j->args->refine, r);
    r->estimated = j->args->cond;
    if (!rc && r->estimated) rc = trs_condest(j->plan, &j->T, TRS_NORM_ONE, &r->condition);
    if (!rc && j->args->det) rc = trs_plan_determinant(j->plan, &r->det);
    if (rc) complain("%s", trs_message());
    return rc;
}

int solve_triangle(const arguments *a, problem *p, report *r)
{
    job j = {.args = a, .T = p->A, .B = p->B, .X = p->X, .nrhs = p->nrhs};
    const trs_options opt = plan_options(a, p);
    int rc = a->single && !is_single(p->A.dtype) ? round_down(&j, p) : TRS_OK;
    if (rc) complain("out of memory");
    if (!rc) {
        rc = trs_plan_create(&j.plan, &j.T, &opt);
        if (!rc) rc = a->load_plan ? trs_plan_load(j.plan, a->load_plan) : trs_plan_analyse(j.plan);
        if (!rc && a->save_plan) rc = trs_plan_save(j.plan, a->save_plan);
        if (rc) complain("%s: %s", a->matrix, trs_message());
    }
    if (!rc) rc = solve_with_plan(&j, p, r);
    if (!rc) keep_info(j.plan, &r->l, r);
    if (!rc) trs_plan_pivots(j.plan, &r->pivots, &r->first_pivot);
    r->seconds_analyse = r->l.seconds_create + r->l.seconds_analyse;
    trs_plan_destroy(j.plan);
    single_free(&j, p);
    return exit_code(rc);
}
