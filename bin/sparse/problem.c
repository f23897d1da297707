/* problem.c: from the files to op(A) X = B.
 *
 * The matrix is read with base 1, so that the library's sentences count rows as the file does. */
#include "config.h"

#include "bin/common/files.h"
#include "base/noun.h"
#include "bin/common/sentence.h"
#include "sparse.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(const char *what)
{
    complain("out of memory for %s", what);
    return exit_code(TRS_EMEM);
}

/* ---- the matrix --------------------------------------------------------------------------------- */

/* A file's matrix, or the right-hand side beside it in an archive.  A sentence only when it must be there. */
static int read_file(const arguments *a, const char *name, trs_mm_options opt, trs_mm *mm)
{
    bar b = {0, 0};
    opt.low_memory = a->low_memory;
    opt.memory_limit = a->memory;
    opt.progress = draw_bar;
    opt.user = &b;
    int rc = file_read(name, &opt, mm);
    wipe_bar(&b);
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
    if (p->found & TRS_LOWER) p->found = TRS_LOWER; /* also a diagonal matrix */
    unsigned triangle = a->kind & (TRS_LOWER | TRS_UPPER);
    if (!a->factor) p->A.kind = (triangle ? triangle : p->found) | (a->kind & TRS_UNIT);
    if ((a->kind & TRS_UNIT) && !(p->A.kind & (TRS_LOWER | TRS_UPPER))) {
        complain("%s: not a triangle; --unit wants --lower or --upper", a->matrix);
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

/* An array file that is no triangle goes to the dense solvers, when one here can take it. */
static bool full_system(const arguments *a, const problem *p)
{
    trs_solver_info s;
    if (p->A.format != TRS_DENSE) return false;
    for (int k = 0; trs_solver_get(k, &s) == TRS_OK; k++)
        if (s.general && s.available &&
            (a->solver ? !strcmp(a->solver, s.name) : (s.caps & TRS_CAP_PIVOTS)))
            return true;
    return false;
}

/* ---- number types --------------------------------------------------------------------------------- */

bool is_single(trs_dtype t)
{
    return t == TRS_F32 || t == TRS_C32;
}

int parts_of(trs_dtype t)
{
    return t == TRS_C32 || t == TRS_C64 ? 2 : 1;
}

double part_at(const void *a, trs_dtype t, int64_t k)
{
    return is_single(t) ? (double)((const float *)a)[k] : ((const double *)a)[k];
}

void *convert_numbers(const void *from, trs_dtype was, trs_dtype is, int64_t count)
{
    const int step = parts_of(was), width = parts_of(is);
    void *to = malloc((size_t)count * (size_t)width * (is_single(is) ? 4 : 8) + 1);
    for (int64_t k = 0; to && k < count; k++)
        for (int part = 0; part < width; part++) {
            const int64_t p = k * step + part;
            double x = 0;
            if (part < step) x = part_at(from, was, p);
            if (is_single(is)) ((float *)to)[k * width + part] = (float)x;
            else ((double *)to)[k * width + part] = x;
        }
    return to;
}

/* The matrix, and B, as numbers of type `is`. */
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

/* ---- the right-hand side ---------------------------------------------------------------------------- */

/* The columns of a file, stored or not, as a full matrix.  The binary form is always CSR. */
static void *full_columns(const trs_mm *mm)
{
    const size_t size = mm->dtype == TRS_C64 ? 16 : 8;
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

/* Before B is solved with: what was taken unasked, and what may have been named by mistake. */
static void say_rhs(const arguments *a, const char *name, const trs_mm *mm)
{
    const bool square = mm->rows == mm->cols && mm->cols > 1;
    if (a->quiet || (a->rhs && !square && mm->field != TRS_PATTERN)) return;
    complain("the right-hand side is %s%s: %lld x %lld, %s %s%s%s",
             a->rhs ? "" : "beside the matrix in ", name, (long long)mm->rows, (long long)mm->cols,
             mm->format == TRS_DENSE ? "array" : "coordinate", field_name(mm->field),
             mm->field == TRS_PATTERN ? ", its entries are ones" : "",
             square ? ", a square matrix" : "");
}

/* B from a file that was read. */
static int take_rhs(const arguments *a, const char *name, const trs_mm *mm, problem *p)
{
    if (mm->rows == 1 && mm->cols == p->A.n && p->A.n > 1) {
        complain("%s: 1 x %lld is a row: transpose it, a right-hand side is a column", name,
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
    const double bytes = (double)(mm->rows * mm->cols) * (mm->dtype == TRS_C64 ? 16 : 8);
    if (a->memory > 0 && bytes > (double)a->memory) {
        complain("%s: as a full matrix it needs %.3g GB, the limit is %.3g GB", name, bytes / 1e9,
                 (double)a->memory / 1e9);
        return exit_code(TRS_EMEM);
    }
    p->B = full_columns(mm);
    if (!p->B) return no_memory("the right-hand side");
    say_rhs(a, name, mm);
    return EXIT_GOOD;
}

/* The right-hand side that was named, else the one that the archive of the matrix holds, else none. */
static int read_rhs(const arguments *a, problem *p, trs_dtype *dtype)
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
        if (is_single(p->A.dtype)) ((float *)p->exact)[i * width] = (float)x;
        else ((double *)p->exact)[i * width] = x;
    }
}

/* Is op(A) x nothing but rounding, as with ones and the Laplacian of a graph?  Any x, even 0, would have the
 * backward error 0 then.  B is 0 here: the error against it is the size of op(A) x. */
static bool is_annihilated(const arguments *a, const problem *p)
{
    const double eps = is_single(p->A.dtype) ? (double)FLT_EPSILON : DBL_EPSILON;
    const int64_t n = p->A.n;
    trs_error e;
    return !trs_backward_error(&p->A, a->op, 1, p->B, n, p->exact, n, TRS_COL_MAJOR, &e) &&
           e.normwise <= 100 * eps;
}

/* b = op(A) x with an x that is known */
static int make_rhs(const arguments *a, problem *p)
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
        p->made = "A * x, x(i) = 1 + i/n, since A * ones is 0";
    }
    int rc = trs_multiply(&p->A, a->op, 1, p->exact, n, p->B, n, TRS_COL_MAJOR);
    if (rc) complain("b = %s: %s", p->made, trs_message());
    return exit_code(rc);
}

/* Are plans, or complete factors, all that is in single precision? */
static bool is_refined_to_double(const arguments *a, const problem *p)
{
    if (p->factored) return a->refine != 0 && !is_incomplete(a->method);
    return a->refine > 0;
}

int problem_read(const arguments *a, problem *p)
{
    trs_dtype rhs = TRS_F64;
    int code = read_matrix(a, p);
    if (!code) code = read_rhs(a, p, &rhs);
    if (code) return code;
    p->factored = a->factor || (!(p->A.kind & (TRS_LOWER | TRS_UPPER)) && !full_system(a, p) &&
                                !find_permuted(a, p));
    bool is_complex = p->A.dtype == TRS_C64 || (p->rhs && rhs == TRS_C64);
    const bool single = a->single && !is_refined_to_double(a, p);
    trs_dtype is = single ? (is_complex ? TRS_C32 : TRS_F32) : (is_complex ? TRS_C64 : TRS_F64);
    if (retype(p, rhs, is)) return no_memory("numbers of another type");
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

/* ---- rows whose pivot was left out or replaced ------------------------------------------------------ */

/* A pivot that cannot be divided by; v: a diagonal entry. */
static bool is_bad(trs_dtype t, const char *v)
{
    double size = 0;
    for (int k = 0; k < parts_of(t); k++) size += fabs(part_at(v, t, k));
    return size == 0 || !isfinite(size);
}

/* Where the diagonal entry of row i is stored; -1: nowhere. */
static int64_t diagonal_of(const trs_mat *A, int64_t i)
{
    const int64_t *ptr = A->ptr;
    if (A->format == TRS_DENSE) return i * A->ld + i;
    for (int64_t p = ptr[i] - A->base; p < ptr[i + 1] - A->base; p++)
        if (((const int32_t *)A->idx)[p] - A->base == i) return p;
    return -1;
}

/* Nothing of the rows and columns that are left out counts, were it NaN. */
static void clear_rows_and_columns(problem *p, const char *out, size_t size)
{
    const trs_mat *A = &p->A;
    const int64_t n = A->n, *ptr = A->ptr;
    const int32_t *idx = A->idx;
    for (int64_t i = 0; i < n; i++) {
        const int64_t begin = ptr ? ptr[i] - A->base : i * A->ld,
                      end = ptr ? ptr[i + 1] - A->base : begin + n;
        for (int64_t at = begin; at < end; at++)
            if (out[i] || out[idx ? idx[at] - A->base : at - begin])
                memset((char *)p->file.val + (size_t)at * size, 0, size);
    }
}

/* The error is that of the other rows: these get the b that their x fulfils. */
int leave_out_rows(const arguments *a, problem *p)
{
    const size_t size = p->A.dtype == TRS_C64 ? 16 : p->A.dtype == TRS_F32 ? 4 : 8;
    const int64_t n = p->A.n;
    char *out = calloc((size_t)n + 1, 1), *Y = calloc((size_t)(n * p->nrhs) + 1, size);
    int rc = out && Y ? TRS_OK : TRS_EMEM;
    for (int64_t i = 0; i < n && !rc; i++) {
        const int64_t at = diagonal_of(&p->A, i);
        char *v = at >= 0 ? (char *)p->file.val + (size_t)at * size : NULL;
        out[i] = !v || is_bad(p->A.dtype, v);
        if (v && out[i]) memset(v, 0, size); /* a NaN would hide the rest */
    }
    if (!rc && a->pivot == TRS_PIVOT_SKIP) clear_rows_and_columns(p, out, size);
    if (!rc) rc = trs_multiply(&p->A, a->op, p->nrhs, p->X, n, Y, n, TRS_COL_MAJOR);
    for (int64_t k = 0; k < n * p->nrhs && !rc; k++)
        if (out[k % n]) memcpy((char *)p->B + (size_t)k * size, Y + (size_t)k * size, size);
    free(out);
    free(Y);
    return rc;
}

/* max |x - exact| / max |exact|, by real and imaginary parts; NaN if any x is. */
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
