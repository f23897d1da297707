/* problems.c: the set of problems that costs are fitted to.
 *
 * Every solver has some that suit it, and others: levels that are many or few, wide or thin, even or not; rows that are
 * short or long; with common patterns or without.  The sizes are such that all solves take some minutes at most.  The
 * set begins with a small one of each kind, in case there is no time for all. */
#include "config.h"

#include "problems.h"

#include "base/debug.h"
#include "bin/common/numbers.h"
#include "bin/common/problems/problems.h"
#include "bin/common/timing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *kind;
    int64_t size;
    problem_options options;
    trs_dtype dtype;
} sparse[] = {
    {"grid5", 100, {0}, TRS_F64},
    {"rand", 10000, {0}, TRS_F64},
    {"full", 400, {0}, TRS_F64},
    {"lu2d", 50, {0}, TRS_F64},
    {"bidiag", 10000, {0}, TRS_F64},
    {"grid7", 20, {0}, TRS_F64},
    {"chain", 3000, {0}, TRS_F64},
    {"circuit", 20000, {0}, TRS_F64},
    {"fem", 10, {0}, TRS_F64},
    {"lu3d", 12, {0}, TRS_F64},
    {"rmat", 12, {0}, TRS_F64},
    {"grid27", 16, {0}, TRS_F64},
    {"ilu", 30, {0}, TRS_F64},
    {"full", 1000, {0}, TRS_C64},
    {"lu3d", 16, {0}, TRS_C64},
    {"rand", 10000, {0}, TRS_C64},
    {"full", 2000, {0}, TRS_F32},
    {"lu2d", 100, {0}, TRS_C64},
    {"full", 1000, {0}, TRS_C32},
    {"grid7", 20, {0}, TRS_C64},
    {"full", 1000, {0}, TRS_F32},
    {"rand", 100000, {0}, TRS_F64},
    {"full", 1000, {0}, TRS_F64},
    {"lu2d", 150, {0}, TRS_F64},
    {"grid5", 300, {0}, TRS_F64},
    {"chain", 10000, {.entries = 10, .reach = 200}, TRS_F64}, /* a band */
    {"grid7", 40, {0}, TRS_F64},
    {"lu3d", 20, {0}, TRS_F64},
    {"full", 2000, {0}, TRS_F64},
    {"rand", 200000, {.degree = 3}, TRS_F64}, /* few levels */
    {"fem", 16, {.dof = 4}, TRS_F64},
    {"circuit", 100000, {0}, TRS_F64},
    {"grid27", 30, {0}, TRS_F64},
    {"rmat", 15, {0}, TRS_F64},
    {"chain", 20000, {.entries = 2, .reach = 50}, TRS_F64},
    {"grid5", 600, {0}, TRS_F64},
    {"lu2d", 250, {0}, TRS_F64},
    {"full", 3000, {0}, TRS_F64},
    {"bidiag", 50000, {0}, TRS_F64},
    {"grid7", 60, {0}, TRS_F64},
    {"lu3d", 26, {0}, TRS_F64},
    {"rand", 30000, {.degree = 40}, TRS_F64}, /* long rows */
    {"grid27", 50, {0}, TRS_F64},
    {"fem", 30, {0}, TRS_F64},
    {"rmat", 18, {0}, TRS_F64},
};

static const int64_t dense[] = {200, 600, 1500};

enum {
    SPARSE = sizeof sparse / sizeof sparse[0],
    DENSE = sizeof dense / sizeof dense[0],
    BAD_ROWS = 1500 /* of triangles whose blocks cannot be inverted */
};

enum { BAD = 2 };
_Static_assert((int)SPARSE + BAD + (int)DENSE <= MOST_PROBLEMS, "all problems fit into the array");

/* The triangle of the next problem, made with this status; in numbers of that type. */
static void add(fit_problems *p, const char *name, int rc, trs_dtype dtype)
{
    fit_problem *one = &p->problem[p->count];
    TRS_ASSERT(p->count < MOST_PROBLEMS);
    if (!rc) rc = trs_mm_mat(&one->mm, 0, &one->T);
    if (!rc && dtype != TRS_F64) {
        one->T.val = one->converted = convert_numbers(one->mm.val, TRS_F64, dtype, one->mm.nnz);
        one->T.dtype = dtype;
    }
    if (rc || !one->T.val) {
        trs_mm_free(&one->mm);
        return;
    }
    one->T.kind = TRS_LOWER;
    snprintf(one->name, sizeof one->name, "%s", name);
    p->count++;
}

static void add_sparse(fit_problems *p, int k)
{
    char name[40];
    snprintf(name, sizeof name, "%s:%" PRId64 " %s", sparse[k].kind, sparse[k].size,
             dtype_name(sparse[k].dtype));
    add(p, name,
        problem_make(sparse[k].kind, sparse[k].size, &sparse[k].options, &p->problem[p->count].mm),
        sparse[k].dtype);
}

/* A full triangle that consists of blocks of rows, each with a diagonal of 1 and -value below, whose inverse has entries
 * of (1 + value)^(rows - 2): with -1 in 64 rows no solver may multiply by it, with -0.08 in 256 rows not by that of all
 * of them.  Other entries are next to nothing, so that the growth of one block does not multiply that of others. */
static void add_bad(fit_problems *p, const char *name, int64_t rows, double value)
{
    trs_mm *mm = &p->problem[p->count].mm;
    const int rc = problem_make("full", BAD_ROWS, NULL, mm);
    for (int64_t i = 0; i < mm->rows && !rc; i++)
        for (int64_t k = mm->ptr[i]; k < mm->ptr[i + 1]; k++) {
            double *v = (double *)mm->val + k;
            if (mm->idx[k] == i) *v = 1;
            else if (mm->idx[k] >= i - i % rows) *v = -value;
            else *v *= 1e-25;
        }
    add(p, name, rc, TRS_F64);
}

/* A general full matrix, dominated by its diagonal. */
static void add_general(fit_problems *p, int64_t n)
{
    fit_problem *one = &p->problem[p->count];
    double *v = calloc((size_t)(n * n), sizeof *v);
    for (int64_t k = 0; k < n * n && v; k++)
        v[k] = k % (n + 1) ? 1. / (double)(2 + k % 97) : (double)n;
    if (!v) return;
    *one = (fit_problem){.full = v};
    one->T = (trs_mat){.n = n, .nnz = n * n, .val = v, .ld = n, .format = TRS_DENSE};
    snprintf(one->name, sizeof one->name, "general:%" PRId64, n);
    p->count++;
}

void problems_make(fit_problems *p, double seconds)
{
    const double start = now();
    memset(p, 0, sizeof *p);
    for (int k = 0; k < SPARSE && now() - start < seconds; k++) add_sparse(p, k);
    if (now() - start < seconds) add_bad(p, "full, blocks of 64", 64, 1);
    if (now() - start < seconds) add_bad(p, "full, blocks of 256", 256, 0.08);
    for (int k = 0; k < DENSE && now() - start < seconds; k++) add_general(p, dense[k]);
}

void problems_free(fit_problems *p)
{
    for (int k = 0; k < p->count; k++) {
        trs_mm_free(&p->problem[k].mm);
        free(p->problem[k].full);
        free(p->problem[k].converted);
    }
}
