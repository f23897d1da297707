/* rb_read.c: read a Rutherford-Boeing or Harwell-Boeing file with RBio: trs_rb_read.
 *
 *     FILE, packed or not --trs_unpack--> text --rb_fields.c--> temporary file --RBio--> columns --here--> CSR, CSC, COO
 *
 * RBio reads from named files only.  So the text goes to a temporary file first, which has no name but /dev/fd/N, number by
 * number as rb_fields.c finds them.  The header is read before RBio sees it: a file of another format is refused as such,
 * and sizes that the file cannot hold are refused before memory is asked for.
 * Sources of the formats: see io/boeing.h. */
#include "config.h"

#include "factor.h"
#include "base/debug.h"
#include "base/noun.h"
#include "matrix/matrix.h"
#include "rb_fields.h"
#include "trisolve-suitesparse.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_RBIO
#include <RBio.h>
#include <SuiteSparse_config.h>

#ifdef SuiteSparse_long
typedef SuiteSparse_long rb_int;
#else
typedef int64_t rb_int;
#endif

typedef struct text_file {
    const char *file;
    trs_rb_fields fields; /* out: the temporary file */
    int64_t bytes;        /* of the text that was read */
    bool known;           /* the file has one of the two formats */
    int rc;
} text_file;

typedef struct rb { /* the matrix from RBio */
    rb_int rows, cols, kind, symmetry;
    rb_int *ptr, *idx; /* by columns */
    double *re, *im;
} rb;

static int fail(int code, const text_file *t, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The sentence names the format once the header has shown it. */
static int fail(int code, const text_file *t, const char *format, ...)
{
    const size_t length = strlen(t->file), skipped = length > 150 ? length - 150 : 0;
    const char *kind = " ";
    char what[320];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (t->known) kind = "1: a Rutherford-Boeing file: ";
    if (t->known && t->fields.head.harwell) kind = "1: a Harwell-Boeing file: ";
    return trs_fail(code, "%s:%s%s", t->file + skipped, kind, what);
}

/* ---- the text ---------------------------------------------------------------------------------- */

/* Copy line k, from 0, of the text, at most size-1 characters of it; false: there is none, or it is empty. */
static bool get_line(const char *p, int64_t bytes, int k, char *line, size_t size)
{
    const char *end = p + bytes;
    for (; k > 0; k--) {
        p = memchr(p, '\n', (size_t)(end - p));
        if (!p++) return false;
    }
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    const size_t n = (size_t)trs_min((nl ? nl : end) - p, (int64_t)size - 1);
    memcpy(line, p, n);
    line[n] = '\0';
    return n > 0;
}

/* Has the text the header of a Boeing file?  Its fourth line, which is copied to `format`, begins with a Fortran format. */
static bool is_boeing(const char *p, int64_t bytes, trs_boeing *h, char format[128])
{
    char second[128], third[128];
    return get_line(p, bytes, 1, second, sizeof second) &&
           get_line(p, bytes, 2, third, sizeof third) && trs_boeing_header(second, third, h) &&
           get_line(p, bytes, 3, format, 128) && format[strspn(format, " ")] == '(';
}

static bool in_range(const trs_boeing *h)
{
    return h->rows >= 0 && h->rows <= INT32_MAX && h->cols >= 0 && h->cols <= INT32_MAX &&
           h->stored >= 0 && h->stored <= INT64_MAX / 16;
}

/* Take some lines of the text; non-zero: no more of it is wanted. */
static int put(void *user, const char *text, int64_t bytes)
{
    text_file *t = user;
    char format[128];
    if (t->bytes == 0) {
        t->known = is_boeing(text, bytes, &t->fields.head, format);
        if (!t->known) return 1;
        t->rc = in_range(&t->fields.head) ? trs_rb_formats(&t->fields, format) : TRS_EMATRIX;
    }
    t->bytes += bytes;
    for (const char *end = text + bytes, *nl; text < end && !t->rc && t->fields.section < 3;) {
        nl = memchr(text, '\n', (size_t)(end - text));
        if (!nl) nl = end;
        t->rc = trs_rb_line(&t->fields, text, nl - text);
        text = nl + 1;
    }
    return t->rc || t->fields.section == 3;
}

/* Write the text to a temporary file. */
static int unpack(const trs_mm_options *opt, text_file *t)
{
    const trs_boeing *h = &t->fields.head;
    t->fields.out = tmpfile();
    if (!t->fields.out) return fail(TRS_EFILE, t, "no temporary file can be made");
    int rc = trs_unpack(t->file, ".rb", opt->memory_limit, put, t);
    if (rc) return rc;
    if (!t->known)
        return fail(TRS_EFORMAT, t, "neither a Rutherford-Boeing nor a Harwell-Boeing file");
    if (!in_range(h))
        return fail(TRS_EMATRIX, t, "%" PRId64 " x %" PRId64 " is out of range", h->rows, h->cols);
    if (t->rc == TRS_EFILE || fflush(t->fields.out))
        return fail(TRS_EFILE, t, "no space for its text");
    if (t->rc) return fail(t->rc, t, "line %" PRId64 ": %s", t->fields.line, trs_message());
    if (h->cols > t->bytes || h->stored > t->bytes)
        return fail(TRS_EMATRIX, t,
                    "%" PRId64 " %s cannot hold %" PRId64 " columns and %" PRId64 " entries",
                    t->bytes, trs_noun(t->bytes, "byte", "bytes"), h->cols, h->stored);
    return TRS_OK;
}

/* ---- the matrix -------------------------------------------------------------------------------- */

/* What the codes of RBio mean. */
static const char *explain(rb_int code)
{
    static const struct {
        rb_int code;
        const char *what;
    } table[] = {{RBIO_CP_INVALID, "column pointers are wrong"},
                 {RBIO_ROW_INVALID, "a row number is out of range"},
                 {RBIO_DUPLICATE, "an entry is given twice"},
                 {RBIO_EXTRANEOUS, "a symmetric matrix with entries above the diagonal"},
                 {RBIO_JUMBLED, "rows do not ascend within a column"},
                 {RBIO_CP_IOERROR, "column pointers cannot be read"},
                 {RBIO_ROW_IOERROR, "row numbers cannot be read"},
                 {RBIO_VALUE_IOERROR, "values cannot be read"}};
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
        if (table[k].code == code) return table[k].what;
    return "the header cannot be read";
}

static int read_rb(const text_file *t, rb *r)
{
    char path[40], title[73], key[9], type[4];
    rb_int size, zeros, *zero_ptr = NULL, *zero_idx = NULL;
    snprintf(path, sizeof path, "/dev/fd/%d", fileno(t->fields.out));
    rewind(t->fields.out);
    rb_int rc = RBread(path, 1, 0, title, key, type, &r->rows, &r->cols, &r->kind, &r->symmetry,
                       &size, &zeros, &r->ptr, &r->idx, &r->re, &r->im, &zero_ptr, &zero_idx);
    SuiteSparse_free(zero_ptr);
    SuiteSparse_free(zero_idx);
    if (rc == RBIO_OUT_OF_MEMORY) return fail(TRS_EMEM, t, "out of memory");
    if (rc < 0) return fail(TRS_EMATRIX, t, "%s", explain(rc));
    if (!r->ptr || !r->idx || r->kind < 0 || r->kind > 4 || r->symmetry < -1 || r->symmetry > 3)
        return fail(TRS_EMATRIX, t, "RBio gives no matrix");
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
    mm->stored = t->fields.head.stored;
    mm->field = field[r->kind];
    mm->symmetry = symmetry[r->symmetry + 1];
    mm->dtype = mm->field == TRS_COMPLEX ? TRS_C64 : TRS_F64;
    if (mm->field == TRS_INTEGER && opt->integers) mm->dtype = TRS_I64;
    mm->format = opt->format;
    mm->base = opt->base;
}

static void *allocate(trs_mm *mm, int64_t count, size_t size)
{
    size_t bytes = (size_t)count * size + 1;
    if (mm->memory.alloc) return mm->memory.alloc(mm->memory.user, bytes);
    return malloc(bytes);
}

/* Copy the value of RBio's entry p to entry q, which has this minor index. */
static void put_entry(const rb *r, trs_mm *mm, int64_t p, int64_t q, int64_t minor)
{
    double *val = mm->val;
    mm->idx[q] = (int32_t)minor + mm->base;
    if (mm->dtype == TRS_I64) ((int64_t *)mm->val)[q] = (int64_t)r->re[p];
    else if (mm->dtype == TRS_C64) val[2 * q] = r->re[p], val[2 * q + 1] = r->im[p];
    else if (r->re) val[q] = r->re[p];
    else val[q] = 1;
}

static bool new_arrays(const trs_mm_options *opt, trs_mm *mm, int64_t majors)
{
    mm->ptr = allocate(mm, majors + 2, sizeof *mm->ptr);
    mm->idx = allocate(mm, mm->nnz, sizeof *mm->idx);
    mm->val = allocate(mm, mm->nnz, mm->dtype == TRS_C64 ? 16 : 8);
    if (opt->format == TRS_COO) mm->row = allocate(mm, mm->nnz, sizeof *mm->row);
    return mm->ptr && mm->idx && mm->val && (opt->format != TRS_COO || mm->row);
}

/* Count the entries of each major index i in count [i+1], and sum the counts: count [i] is where major index i begins. */
static void count_entries(const rb *r, const trs_mm_options *opt, int64_t majors, int64_t *count)
{
    const bool by_cols = opt->format == TRS_CSC;
    for (int64_t j = 0; j < r->cols; j++)
        for (int64_t p = r->ptr[j]; p < r->ptr[j + 1]; p++)
            count[1 + (by_cols ? j : r->idx[p])] += trs_in_triangle(opt->kind, r->idx[p], j);
    for (int64_t i = 0; i < majors; i++) count[i + 1] += count[i];
}

/* Place each entry at next [i], which moves on, for its major index i. */
static void place_entries(const rb *r, const trs_mm_options *opt, trs_mm *mm, int64_t *next)
{
    const bool by_cols = opt->format == TRS_CSC;
    for (int64_t j = 0; j < mm->cols; j++)
        for (int64_t p = r->ptr[j]; p < r->ptr[j + 1]; p++) {
            int64_t i = r->idx[p];
            if (!trs_in_triangle(opt->kind, i, j)) continue;
            int64_t q = next[by_cols ? j : i]++;
            TRS_ASSERT(q < mm->nnz);
            put_entry(r, mm, p, q, by_cols ? i : j);
            if (mm->row) mm->row[q] = (int32_t)i + mm->base;
        }
}

/* A counting sort by the major index.  It leaves the columns ascending within a row; RBio has checked that rows ascend
 * within a column.  Counts and places are kept one place up in ptr, so that the places, moved on, are the pointers in the
 * end. */
static int fill(const rb *r, const trs_mm_options *opt, trs_mm *mm)
{
    int64_t majors = opt->format == TRS_CSC ? mm->cols : mm->rows;
    if (!new_arrays(opt, mm, majors)) return TRS_EMEM;
    memset(mm->ptr, 0, (size_t)(majors + 2) * sizeof *mm->ptr);
    count_entries(r, opt, majors, mm->ptr + 1);
    place_entries(r, opt, mm, mm->ptr + 1);
    TRS_ASSERT(mm->ptr[0] == 0 && mm->ptr[majors] <= mm->nnz);
    mm->nnz = mm->ptr[majors];
    for (int64_t l = 0; l <= majors; l++) mm->ptr[l] += mm->base;
    return TRS_OK;
}

static void drop_pointers(trs_mm *mm)
{
    if (mm->memory.free) mm->memory.free(mm->memory.user, mm->ptr);
    else free(mm->ptr);
    mm->ptr = NULL;
}

/* RBio reads integers as doubles, which are exact below 2^53.  Refuse others where they are to be exact. */
static int check_integers(const rb *r, const text_file *t, trs_mm *mm)
{
    for (int64_t p = 0; p < mm->nnz && mm->dtype == TRS_I64; p++) {
        const double x = r->re ? r->re[p] : 0;
        if (fabs(x) < 0x1p53 && x == floor(x)) continue;
        mm->rounded = !(fabs(x) < 0x1p53);
        return fail(TRS_EMATRIX, t, "the value %.17g is not an integer below 2^53", x);
    }
    return TRS_OK;
}

static int read_file(const trs_mm_options *opt, trs_mm *mm, text_file *t, rb *r)
{
    int rc = unpack(opt, t);
    if (!rc) rc = read_rb(t, r);
    if (rc) return rc;
    describe(r, t, opt, mm);
    if (mm->field == TRS_COMPLEX && opt->real_only)
        return fail(TRS_ESUPPORT, t, "the matrix is complex, a real one is needed");
    rc = check_integers(r, t, mm);
    if (rc) return rc;
    rc = fill(r, opt, mm);
    if (rc) return fail(rc, t, "out of memory");
    if (opt->format == TRS_COO) drop_pointers(mm);
    return TRS_OK;
}

static int rb_read(const char *file, const trs_mm_options *opt, trs_mm *mm)
{
    static const trs_mm_options defaults = {0};
    if (!mm) return trs_fail(TRS_EARG, "mm is NULL");
    memset(mm, 0, sizeof *mm);
    int rc = TRS_CHECK_RESERVED(opt, "trs_mm_options");
    if (rc) return rc;
    if (!opt) opt = &defaults;
    if (!file || (opt->format != TRS_CSR && opt->format != TRS_CSC && opt->format != TRS_COO) ||
        opt->base < 0 || opt->base > 1 || opt->memory_limit < 0 || opt->kind > TRS_UPPER)
        return trs_fail(TRS_EARG, "file is NULL, or an option is out of range");
    mm->memory = opt->memory;
    text_file t = {.file = file};
    rb r = {0};
    rc = read_file(opt, mm, &t, &r);
    if (t.fields.out) fclose(t.fields.out);
    void *const all[] = {r.ptr, r.idx, r.re, r.im};
    for (int k = 0; k < 4; k++) SuiteSparse_free(all[k]);
    const int64_t rounded = mm->rounded;
    if (rc) trs_mm_free(mm);
    mm->rounded = rounded;
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
    return trs_call(rb_read(file, opt, mm));
}
