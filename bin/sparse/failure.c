/* failure.c: why x is no solution, in a sentence: a number in the matrix or in the right-hand side
 * is not finite, x overflows, the matrix is singular, or else the backward error is too large. */
#include "config.h"

#include "report.h"

#include "bin/common/numbers.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Is number k of an array of this type finite, in both parts if it is complex? */
static bool is_finite(const void *v, trs_dtype t, int64_t k)
{
    const int parts = parts_of(t);
    bool finite = true;
    for (int64_t p = k * parts; p < (k + 1) * parts; p++) finite &= isfinite(part_at(v, t, p));
    return finite;
}

/* Does entry (i, j) belong to the triangle that was solved with? */
static bool counts(unsigned kind, int64_t i, int64_t j)
{
    if (i == j) return !(kind & TRS_UNIT);
    return i > j ? !(kind & TRS_UPPER) : !(kind & TRS_LOWER);
}

/* Finds the first entry that is not finite in a file's matrix, which is CSR with base 1, or full
 * and by columns. */
static bool bad_entry(const trs_mat *A, int64_t *row, int64_t *col)
{
    const int64_t *ptr = A->ptr;
    const bool dense = A->format == TRS_DENSE;
    for (int64_t l = 0; l < A->n; l++) {
        const int64_t end = dense ? l * A->ld + A->n : ptr[l + 1] - 1;
        for (int64_t p = dense ? l * A->ld : ptr[l] - 1; p < end; p++) {
            const int64_t c = dense ? p - l * A->ld : ((const int32_t *)A->idx)[p] - 1;
            *row = dense ? c : l;
            *col = dense ? l : c;
            if (counts(A->kind, *row, *col) && !is_finite(A->val, A->dtype, p)) return true;
        }
    }
    return false;
}

/* Finds the first number of B or X that is not finite, in the order of substitution. */
static bool bad_row(const problem *p, const void *X, bool upwards, int64_t *row, int64_t *col)
{
    const int64_t n = p->A.n;
    for (*col = 0; *col < p->nrhs; ++*col)
        for (int64_t k = 0; k < n; k++) {
            *row = upwards ? n - 1 - k : k;
            if (!is_finite(X, p->A.dtype, *row + *col * n)) return true;
        }
    return false;
}

/* A matrix with rcond <= eps cannot be told from a singular one, as in LAPACK's gesvx. */
bool is_singular(const report *r)
{
    const double eps = is_single(r->problem->A.dtype) ? (double)FLT_EPSILON : DBL_EPSILON;
    return r->estimated && r->condition <= eps;
}

static void say_not_finite(report *r)
{
    const problem *p = r->problem;
    const unsigned triangle = p->A.kind & (TRS_LOWER | TRS_UPPER);
    const bool upwards = triangle && (triangle == TRS_UPPER) == (r->args->op == TRS_N);
    const char *in = is_single(p->A.dtype) ? " in single precision" : "";
    char *s = r->failure, where[64] = "";
    int64_t row, col;
    if (bad_entry(&p->A, &row, &col)) {
        snprintf(s, sizeof r->failure, "%.300s: row %lld, column %lld is not finite%s",
                 r->args->matrix, (long long)row + 1, (long long)col + 1, in);
        return;
    }
    const bool given = bad_row(p, p->B, false, &row, &col);
    if (!given && !bad_row(p, p->X, upwards, &row, &col)) return;
    if (p->nrhs > 1) snprintf(where, sizeof where, ", column %lld", (long long)col + 1);
    if (!given)
        snprintf(s, sizeof r->failure, "x overflows%s first in row %lld%s",
                 r->args->single ? " single precision" : "", (long long)row + 1, where);
    else if (p->rhs)
        snprintf(s, sizeof r->failure, "%.300s: row %lld%s is not finite%s", p->rhs,
                 (long long)row + 1, where, in);
    else
        snprintf(s, sizeof r->failure, "b = %s overflows in row %lld%s", p->made,
                 (long long)row + 1, in);
}

void explain_failure(report *r)
{
    if (!isfinite(r->error.omega)) say_not_finite(r);
    if (!*r->failure)
        snprintf(r->failure, sizeof r->failure, "backward error %.2g exceeds the tolerance %.2g",
                 r->error.omega, r->tolerance);
    size_t used = strlen(r->failure);
    if (r->incomplete)
        used += (size_t)snprintf(r->failure + used, sizeof r->failure - used,
                                 "; incomplete factors alone rarely solve: try --krylov=gmres");
    if (is_singular(r))
        snprintf(r->failure + used, sizeof r->failure - used,
                 "; the matrix is singular to working precision");
}
