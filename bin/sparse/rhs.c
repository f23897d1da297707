/* rhs.c: B, from a file or made. */
#include "config.h"

#include "exits.h"
#include "problem.h"

#include "base/noun.h"
#include "bin/common/files.h"
#include "bin/common/message.h"
#include "bin/common/numbers.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* The columns of a file as a full matrix.  The binary form is read as CSR whatever was asked
 * for. */
static void *full_columns(const trs_mm *mm)
{
    const size_t size = size_of_number(mm->dtype);
    const bool by_columns = mm->format == TRS_CSC;
    char *B = calloc((size_t)(mm->rows * mm->cols) + 1, size);
    if (!B) return NULL;
    if (mm->format == TRS_DENSE) return memcpy(B, mm->val, (size_t)(mm->rows * mm->cols) * size);
    for (int64_t l = 0; l < (by_columns ? mm->cols : mm->rows); l++)
        for (int64_t q = mm->ptr[l]; q < mm->ptr[l + 1]; q++) {
            const int64_t i = by_columns ? mm->idx[q] : l, j = by_columns ? l : mm->idx[q];
            memcpy(B + (size_t)(i + j * mm->rows) * size, (const char *)mm->val + (size_t)q * size,
                   size);
        }
    return B;
}

/* Tells which right-hand side was taken unasked, and which may have been named by mistake. */
static void say_rhs(const arguments *a, const char *name, const trs_mm *mm)
{
    const bool square = mm->rows == mm->cols && mm->cols > 1;
    if (a->quiet || (a->rhs && !square && mm->field != TRS_PATTERN)) return;
    complain("right-hand side%s %s: %lld x %lld, %s %s%s%s", a->rhs ? "" : " in", name,
             (long long)mm->rows, (long long)mm->cols,
             mm->format == TRS_DENSE ? "array" : "coordinate", field_name(mm->field),
             mm->field == TRS_PATTERN ? ", whose entries are ones" : "",
             square ? ", a square matrix" : "");
}

/* Takes B from a file that was read. */
static int take_rhs(const arguments *a, const char *name, const trs_mm *mm, problem *p)
{
    if (mm->rows == 1 && mm->cols == p->A.n && p->A.n > 1) {
        complain("%s: 1 x %lld is a row; transpose it, because a right-hand side is a column", name,
                 (long long)mm->cols);
        return EXIT_USAGE;
    }
    if (mm->rows != p->A.n) {
        complain("%s: %lld %s, but the matrix has %lld", name, (long long)mm->rows,
                 trs_noun(mm->rows, "row", "rows"), (long long)p->A.n);
        return EXIT_USAGE;
    }
    if (mm->cols > 1000000) return complain("%s: too many columns", name), EXIT_USAGE;
    p->nrhs = (int)mm->cols;
    p->rhs = name;
    const double bytes = (double)(mm->rows * mm->cols) * (double)size_of_number(mm->dtype);
    if (a->memory > 0 && bytes > (double)a->memory) {
        complain("%s: the full matrix needs %.3g GB, the limit is %.3g GB", name, bytes / 1e9,
                 (double)a->memory / 1e9);
        return exit_code(TRS_EMEM);
    }
    p->B = full_columns(mm);
    if (!p->B) return no_memory("the right-hand side");
    say_rhs(a, name, mm);
    return EXIT_GOOD;
}

int read_rhs(const arguments *a, problem *p, trs_dtype *dtype)
{
    trs_mm mm;
    if (!a->rhs && !file_is_lasting(a->matrix)) return EXIT_GOOD;
    const char *name = a->rhs ? a->rhs : a->matrix;
    int rc = read_file(a, name, (trs_mm_options){.format = TRS_CSC, .rhs = !a->rhs}, &mm);
    int code = exit_code(rc);
    if (rc == TRS_EFILE && !a->rhs) code = EXIT_GOOD;
    else if (!rc) code = take_rhs(a, name, &mm, p);
    *dtype = mm.dtype;
    trs_mm_free(&mm);
    return code;
}

/* x(i) = 1 + slope i / n */
static void set_exact(problem *p, double slope)
{
    const int width = parts_of(p->A.dtype);
    for (int64_t i = 0; i < p->A.n; i++) {
        const double x = 1 + slope * (double)(i + 1) / (double)p->A.n;
        set_part(p->exact, p->A.dtype, i * width, x);
    }
}

/* Is op(A) x nothing but rounding, as with ones and the Laplacian of a graph?  Then any x, even 0,
 * would have the backward error 0.  B is 0 here, so that the error against it is the size of op(A)
 * x. */
static bool is_annihilated(const arguments *a, const problem *p)
{
    const double eps = is_single(p->A.dtype) ? (double)FLT_EPSILON : DBL_EPSILON;
    const int64_t n = p->A.n;
    trs_error e;
    return !trs_backward_error(&p->A, a->op, 1, p->B, n, p->exact, n, TRS_COL_MAJOR, &e) &&
           e.normwise <= 100 * eps;
}

/* B = op(A) x with an x that is known. */
int make_rhs(const arguments *a, problem *p)
{
    const int64_t n = p->A.n;
    p->nrhs = 1;
    p->B = calloc((size_t)n + 1, 16);
    p->exact = calloc((size_t)n + 1, 16);
    if (!p->B || !p->exact) return no_memory("b = A * ones");
    set_exact(p, 0);
    p->made = "A * ones";
    if (n && is_annihilated(a, p)) {
        set_exact(p, 1);
        p->made = "A * x, x(i) = 1 + i/n, because A * ones is 0";
    }
    int rc = trs_multiply(&p->A, a->op, 1, p->exact, n, p->B, n, TRS_COL_MAJOR);
    if (rc) complain("b = %s: %s", p->made, trs_message());
    return exit_code(rc);
}
