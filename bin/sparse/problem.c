/* problem.c: from the files to op(A) X = B.
 *
 * The matrix is read with base 1, so that the library's sentences count rows as the file does. */
#include "config.h"

#include "exits.h"
#include "problem.h"

#include "bin/common/files.h"
#include "bin/common/message.h"
#include "bin/common/numbers.h"
#include "bin/common/sentence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int no_memory(const char *what)
{
    complain("out of memory for %s", what);
    return exit_code(TRS_EMEM);
}

/* ---- the matrix ------------------------------------------------------------------------------ */

int read_file(const arguments *a, const char *name, trs_mm_options opt, trs_mm *mm)
{
    opt.low_memory = a->low_memory;
    opt.memory_limit = a->memory;
    const int rc = file_read(name, &opt, mm);
    if (rc && !(opt.rhs && rc == TRS_EFILE)) complain("%s", said());
    return rc;
}

static int read_matrix(const arguments *a, problem *p)
{
    int rc = read_file(a, a->matrix, (trs_mm_options){.base = 1}, &p->file);
    if (rc) return exit_code(rc);
    if (p->file.rows != p->file.cols) {
        complain("%s: %lld x %lld, not square", a->matrix, (long long)p->file.rows,
                 (long long)p->file.cols);
        return EXIT_USAGE;
    }
    rc = trs_mm_mat(&p->file, 0, &p->A);
    if (rc) return complain("%s: %s", a->matrix, trs_message()), exit_code(rc);
    p->found = file_kind(&p->A);
    if (p->found & TRS_LOWER) p->found = TRS_LOWER; /* also of a diagonal matrix */
    unsigned triangle = a->kind & (TRS_LOWER | TRS_UPPER);
    if (!triangle) triangle = p->found;
    if (!a->factor) p->A.kind = triangle | (a->kind & TRS_UNIT);
    if ((a->kind & TRS_UNIT) && !(p->A.kind & (TRS_LOWER | TRS_UPPER))) {
        complain("%s: not a triangle; --unit needs --lower or --upper", a->matrix);
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

/* Can this solver take a full matrix that is no triangle, and is it the one that was asked for? */
static bool takes_full(const arguments *a, const trs_solver_info *s)
{
    if (!s->general || !s->available) return false;
    return a->solver ? !strcmp(a->solver, s->name) : (s->caps & TRS_CAP_PIVOTS) != 0;
}

/* A full matrix that is no triangle goes to the dense solvers, when there is one that can take
 * it. */
static bool full_system(const arguments *a, const problem *p)
{
    trs_solver_info s;
    if (p->A.format != TRS_DENSE) return false;
    for (int k = 0; trs_solver_get(k, &s) == TRS_OK; k++)
        if (takes_full(a, &s)) return true;
    return false;
}

bool find_permuted(const arguments *a, problem *p)
{
    trs_mat T = p->A;
    trs_plan *plan;
    if (a->pivot || !file_may_be_permuted(&T)) return false; /* --pivot is about the diagonal */
    T.kind = TRS_PERMUTED;
    const bool found = trs_plan_create(&plan, &T, NULL) == TRS_OK;
    trs_plan_destroy(plan);
    if (found) p->A.kind = TRS_PERMUTED;
    return found;
}

/* ---- number types ---------------------------------------------------------------------------- */

/* Converts the matrix, and B, whose type is rhs, to numbers of type `is`. */
static int retype(problem *p, trs_dtype rhs, trs_dtype is)
{
    const trs_dtype was = p->A.dtype;
    const int64_t count = p->A.format == TRS_DENSE ? p->A.ld * p->A.n : p->A.nnz;
    if (was != is) {
        void *val = convert_numbers(p->file.val, was, is, count);
        if (!val) return TRS_EMEM;
        free(p->file.val);
        p->file.val = val;
        p->file.dtype = is;
        p->A.val = val;
        p->A.dtype = is;
    }
    if (p->B && rhs != is) {
        void *B = convert_numbers(p->B, rhs, is, p->A.n * p->nrhs);
        if (!B) return TRS_EMEM;
        free(p->B);
        p->B = B;
    }
    return TRS_OK;
}

/* Is only the plan, or are only complete factors, in single precision, and X and B in double? */
static bool is_refined_to_double(const arguments *a, const problem *p)
{
    if (p->factored) return a->refine != 0 && !is_incomplete(a->method);
    return a->refine > 0;
}

/* The type that the problem is solved in. */
static trs_dtype type_to_solve(const arguments *a, const problem *p, trs_dtype rhs)
{
    const bool is_complex = p->A.dtype == TRS_C64 || (p->rhs && rhs == TRS_C64);
    if (a->single && !is_refined_to_double(a, p)) return is_complex ? TRS_C32 : TRS_F32;
    return is_complex ? TRS_C64 : TRS_F64;
}

static bool needs_factors(const arguments *a, problem *p)
{
    if (a->factor) return true;
    if (p->A.kind & (TRS_LOWER | TRS_UPPER)) return false;
    return !full_system(a, p) && !find_permuted(a, p);
}

/* ---- the problem ----------------------------------------------------------------------------- */

int problem_read(const arguments *a, problem *p)
{
    trs_dtype rhs = TRS_F64;
    int code = read_matrix(a, p);
    if (!code) code = read_rhs(a, p, &rhs);
    if (code) return code;
    p->factored = needs_factors(a, p);
    if (retype(p, rhs, type_to_solve(a, p, rhs))) return no_memory("the conversion of values");
    if (!p->rhs) code = make_rhs(a, p);
    if (code) return code;
    p->X = calloc((size_t)(p->A.n * p->nrhs) + 1, 16);
    return p->X ? EXIT_GOOD : no_memory("x");
}

void problem_free(problem *p)
{
    trs_mm_free(&p->file);
    free(p->B);
    free(p->X);
    free(p->exact);
}

int backward_error(const arguments *a, const problem *p, trs_error *e)
{
    const int64_t n = p->A.n;
    return trs_backward_error(&p->A, a->op, p->nrhs, p->B, n, p->X, n, TRS_COL_MAJOR, e);
}

double forward_error(const problem *p)
{
    const trs_dtype t = p->A.dtype;
    const int64_t count = p->A.n * parts_of(t);
    double worst = 0, largest = 0;
    if (!p->exact) return NAN;
    for (int64_t k = 0; k < count; k++) {
        const double d = fabs(part_at(p->X, t, k) - part_at(p->exact, t, k));
        if (isnan(d)) return NAN;
        worst = fmax(worst, d);
        largest = fmax(largest, fabs(part_at(p->exact, t, k)));
    }
    return count ? worst / largest : 0;
}
