/* rb_read.c: read a Rutherford-Boeing file with RBio: trs_rb_read.
 *
 * RBio reads from named files only, so that the text, unpacked where it is packed, first goes to a
 * temporary file without a name.  The header is looked at before RBio sees it: what is of another
 * format is left alone, and sizes that the file cannot hold are refused before memory is asked for.
 * Source: Duff, Grimes, Lewis, "The Rutherford-Boeing Sparse Matrix Collection", RAL-TR-97-031. */
#include "config.h"

#include "call.h"
#include "trisolve-suitesparse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_RBIO
#include <RBio.h>
#include <SuiteSparse_config.h>

#ifdef SuiteSparse_long
typedef SuiteSparse_long whole;
#else
typedef int64_t whole;
#endif

typedef struct text_file {
    FILE *f;
    int64_t bytes;
    bool other; /* than Rutherford-Boeing */
    bool failed;
    int64_t rows, cols, stored; /* as the header has them */
} text_file;

typedef struct rb { /* what RBio gives */
    whole rows, cols, kind, symmetry;
    whole *ptr, *idx; /* by columns */
    double *re, *im;
} rb;

static int fail(int code, const char *file, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(int code, const char *file, const char *format, ...)
{
    const size_t length = strlen(file);
    char what[320];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return trs_fail(code, "%s: %s", length > 150 ? file + length - 150 : file, what);
}

/* ---- the text ---------------------------------------------------------------------------------- */

/* Line k from 0 of the text, at most size-1 characters; false: there is none. */
static bool get_line(const char *p, int64_t bytes, int k, char *line, size_t size)
{
    const char *end = p + bytes;
    for (; k > 0; k--) {
        p = memchr(p, '\n', (size_t)(end - p));
        if (!p++) return false;
    }
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    size_t n = (size_t)((nl ? nl : end) - p);
    if (n >= size) n = size - 1;
    memcpy(line, p, n);
    line[n] = '\0';
    return n > 0;
}

/* The second line has four counts, where the older Harwell-Boeing format has five; the third the type
 * in small letters, as "rua", and the sizes; the fourth begins with a Fortran format. */
static bool look_at_header(text_file *t, const char *p, int64_t bytes)
{
    char line[128], type[4] = "";
    int64_t n[5];
    if (!get_line(p, bytes, 1, line, sizeof line) ||
        sscanf(line, "%" SCNd64 "%" SCNd64 "%" SCNd64 "%" SCNd64 "%" SCNd64, &n[0], &n[1], &n[2],
               &n[3], &n[4]) != 4)
        return false;
    if (!get_line(p, bytes, 2, line, sizeof line) ||
        sscanf(line, "%3s %" SCNd64 " %" SCNd64 " %" SCNd64, type, &t->rows, &t->cols,
               &t->stored) != 4)
        return false;
    if (strlen(type) != 3 || !strchr("rcpiq", type[0]) || !strchr("suhzr", type[1]) ||
        !strchr("ae", type[2]))
        return false;
    return get_line(p, bytes, 3, line, sizeof line) && line[strspn(line, " ")] == '(';
}

static int put(void *user, const char *text, int64_t bytes)
{
    text_file *t = user;
    if (t->bytes == 0) t->other = !look_at_header(t, text, bytes);
    t->bytes += bytes;
    if (t->other) return 1;
    t->failed = fwrite(text, 1, (size_t)bytes, t->f) != (size_t)bytes;
    return t->failed;
}

static int unpack(const char *file, const trs_mm_options *opt, text_file *t)
{
    t->f = tmpfile();
    if (!t->f) return fail(TRS_EFILE, file, "no temporary file can be made");
    int rc = trs_unpack(file, ".rb", opt->memory_limit, put, t);
    if (rc) return rc;
    if (t->other || t->bytes == 0) return fail(TRS_EFORMAT, file, "not a Rutherford-Boeing file");
    if (t->failed || fflush(t->f)) return fail(TRS_EFILE, file, "no room for its text");
    if (t->rows < 0 || t->cols < 0 || t->stored < 0 || t->rows > INT32_MAX || t->cols > INT32_MAX)
        return fail(TRS_EMATRIX, file, "%" PRId64 " x %" PRId64 " is out of range", t->rows,
                    t->cols);
    if (t->cols > t->bytes || t->stored > t->bytes)
        return fail(TRS_EMATRIX, file,
                    "%" PRId64 " bytes cannot hold %" PRId64 " columns and %" PRId64 " entries",
                    t->bytes, t->cols, t->stored);
    return TRS_OK;
}

/* ---- the matrix -------------------------------------------------------------------------------- */

static const char *explain(whole code)
{
    switch (code) {
    case RBIO_CP_INVALID:
        return "column pointers are wrong";
    case RBIO_ROW_INVALID:
        return "a row number is out of range";
    case RBIO_DUPLICATE:
        return "an entry is given twice";
    case RBIO_EXTRANEOUS:
        return "a symmetric matrix with entries above the diagonal";
    case RBIO_JUMBLED:
        return "rows do not ascend within a column";
    case RBIO_UNSUPPORTED:
        return "finite elements, not assembled, which RBio does not read";
    case RBIO_CP_IOERROR:
        return "column pointers cannot be read";
    case RBIO_ROW_IOERROR:
        return "row numbers cannot be read";
    case RBIO_VALUE_IOERROR:
        return "values cannot be read";
    default:
        return "the header cannot be read";
    }
}

static int read_rb(const char *file, const text_file *t, rb *r)
{
    char path[40], title[73], key[9], type[4];
    whole size, zeros, *zero_ptr = NULL, *zero_idx = NULL;
    snprintf(path, sizeof path, "/dev/fd/%d", fileno(t->f));
    rewind(t->f);
    whole rc = RBread(path, 1, 0, title, key, type, &r->rows, &r->cols, &r->kind, &r->symmetry,
                      &size, &zeros, &r->ptr, &r->idx, &r->re, &r->im, &zero_ptr, &zero_idx);
    SuiteSparse_free(zero_ptr);
    SuiteSparse_free(zero_idx);
    if (rc == RBIO_OUT_OF_MEMORY) return fail(TRS_EMEM, file, "out of memory");
    if (rc < 0) return fail(TRS_EMATRIX, file, "%s", explain(rc));
    if (!r->ptr || !r->idx || r->kind < 0 || r->kind > 4 || r->symmetry < -1 || r->symmetry > 3)
        return fail(TRS_EMATRIX, file, "RBio gives no matrix");
    return TRS_OK;
}

static void describe(const rb *r, const text_file *t, const trs_mm_options *opt, trs_mm *mm)
{
    static const trs_field field[] = {TRS_REAL, TRS_PATTERN, TRS_COMPLEX, TRS_INTEGER, TRS_COMPLEX};
    static const trs_symmetry symmetry[] = {TRS_GENERAL, TRS_GENERAL, TRS_SYMMETRIC, TRS_HERMITIAN,
                                            TRS_SKEW};
    mm->rows = r->rows;
    mm->cols = r->cols;
    mm->nnz = r->ptr[r->cols];
    mm->stored = t->stored;
    mm->field = field[r->kind];
    mm->symmetry = symmetry[r->symmetry + 1];
    mm->dtype = mm->field == TRS_COMPLEX ? TRS_C64 : TRS_F64;
    mm->format = opt->format;
    mm->base = opt->base;
}

static bool is_wanted(const trs_mm_options *opt, int64_t i, int64_t j)
{
    return !(opt->kind & TRS_LOWER && i < j) && !(opt->kind & TRS_UPPER && i > j);
}

static void *allocate(trs_mm *mm, int64_t count, size_t size)
{
    size_t bytes = (size_t)count * size + 1;
    return mm->memory.alloc ? mm->memory.alloc(mm->memory.user, bytes) : malloc(bytes);
}

/* Entry p of RBio's column j to place q. */
static void put_entry(const rb *r, trs_mm *mm, int64_t p, int64_t q, int64_t place)
{
    double *val = mm->val;
    mm->idx[q] = (int32_t)place + mm->base;
    if (mm->dtype == TRS_F64) val[q] = r->re ? r->re[p] : 1;
    else val[2 * q] = r->re[p], val[2 * q + 1] = r->im[p];
}

/* By rows (or columns) with a counting sort, which leaves the columns ascending within a row; RBio
 * has seen to it that rows ascend within a column. */
static int fill(const rb *r, const trs_mm_options *opt, trs_mm *mm)
{
    bool by_cols = opt->format == TRS_CSC;
    int64_t lines = by_cols ? mm->cols : mm->rows;
    mm->ptr = allocate(mm, lines + 2, sizeof *mm->ptr);
    mm->idx = allocate(mm, mm->nnz, sizeof *mm->idx);
    mm->val = allocate(mm, mm->nnz, mm->dtype == TRS_C64 ? 16 : 8);
    if (opt->format == TRS_COO) mm->row = allocate(mm, mm->nnz, sizeof *mm->row);
    if (!mm->ptr || !mm->idx || !mm->val || (opt->format == TRS_COO && !mm->row)) return TRS_EMEM;
    memset(mm->ptr, 0, (size_t)(lines + 2) * sizeof *mm->ptr);
    int64_t *next = mm->ptr + 1; /* counted two places up, so that placing leaves ptr right */
    for (int64_t j = 0; j < mm->cols; j++)
        for (int64_t p = r->ptr[j]; p < r->ptr[j + 1]; p++)
            next[1 + (by_cols ? j : r->idx[p])] += is_wanted(opt, r->idx[p], j);
    for (int64_t l = 0; l < lines; l++) next[l + 1] += next[l];
    for (int64_t j = 0; j < mm->cols; j++)
        for (int64_t p = r->ptr[j]; p < r->ptr[j + 1]; p++) {
            int64_t i = r->idx[p];
            if (!is_wanted(opt, i, j)) continue;
            int64_t q = next[by_cols ? j : i]++;
            put_entry(r, mm, p, q, by_cols ? i : j);
            if (mm->row) mm->row[q] = (int32_t)i + mm->base;
        }
    mm->nnz = mm->ptr[lines];
    for (int64_t l = 0; l <= lines; l++) mm->ptr[l] += mm->base;
    return TRS_OK;
}

static void drop_pointers(trs_mm *mm)
{
    if (mm->memory.free) mm->memory.free(mm->memory.user, mm->ptr);
    else free(mm->ptr);
    mm->ptr = NULL;
}

static int read_file(const char *file, const trs_mm_options *opt, trs_mm *mm, text_file *t, rb *r)
{
    int rc = unpack(file, opt, t);
    if (!rc) rc = read_rb(file, t, r);
    if (rc) return rc;
    describe(r, t, opt, mm);
    if (mm->field == TRS_COMPLEX && opt->real_only)
        return fail(TRS_ESUPPORT, file, "the matrix is complex, a real one is needed");
    rc = fill(r, opt, mm);
    if (rc) return fail(rc, file, "out of memory");
    if (opt->format == TRS_COO) drop_pointers(mm);
    return TRS_OK;
}

static int rb_read(const char *file, const trs_mm_options *opt, trs_mm *mm)
{
    static const trs_mm_options defaults = {0};
    if (!mm) return trs_fail(TRS_EARG, "mm is NULL");
    memset(mm, 0, sizeof *mm);
    if (!opt) opt = &defaults;
    if (!file || (opt->format != TRS_CSR && opt->format != TRS_CSC && opt->format != TRS_COO) ||
        opt->base < 0 || opt->base > 1 || opt->memory_limit < 0 || opt->kind > TRS_UPPER)
        return trs_fail(TRS_EARG, "file is NULL, or an option is out of range");
    mm->memory = opt->memory;
    text_file t = {0};
    rb r = {0};
    int rc = read_file(file, opt, mm, &t, &r);
    if (t.f) fclose(t.f);
    SuiteSparse_free(r.ptr);
    SuiteSparse_free(r.idx);
    SuiteSparse_free(r.re);
    SuiteSparse_free(r.im);
    if (rc) trs_mm_free(mm);
    return rc;
}

#else

static int rb_read(const char *file, const trs_mm_options *opt, trs_mm *mm)
{
    (void)opt;
    if (!file || !mm) return trs_fail(TRS_EARG, "file or mm is NULL");
    memset(mm, 0, sizeof *mm);
    return trs_fail(TRS_ESUPPORT,
                    "%.150s: Rutherford-Boeing files need RBio, and this build has none", file);
}

#endif

int trs_rb_read(const char *file, const trs_mm_options *opt, trs_mm *mm)
{
    trs_enter();
    return trs_leave(rb_read(file, opt, mm));
}
