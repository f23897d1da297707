/* write.c: write a matrix as a Matrix Market file.
 *
 * The entries are cut into batches of equal numbers.  Each thread prints batches into a buffer of its own; only to learn
 * where its text begins in the file does it wait for the batch before.  Then it writes, at the same time as others do
 * (output.h). */
#include "config.h"

#include "mm.h"
#include "io/decimal/print.h"
#include "base/number/number.h"
#include "base/parallel.h"
#include "io/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 8192,                                         /* entries */
    PRINTING = 200,                                       /* operations for an entry, about */
    LINE_TEXT = 2 * TRS_INT_TEXT + 2 * TRS_REAL_TEXT + 4, /* characters of the longest line */
};

typedef struct writer {
    const trs_mat *A;
    int64_t rows, cols;
    int64_t majors; /* rows of CSR, columns of CSC */
    int64_t nnz;    /* of A; DENSE: rows*cols */
    trs_symmetry symmetry;
    int parts;   /* of a value: 2 when complex, else 1 */
    bool single; /* they are float, not double */
    /* entries of the file: of A without the upper triangle that a symmetry implies */
    int64_t written;
    int threads;
    trs_output out;
} writer;

/* ---- entries ------------------------------------------------------------------------------- */

static int64_t ptr_at(const writer *w, int64_t i)
{
    return trs_index(w->A->ptr, w->A->ptr_bits, i) - w->A->base;
}

static int64_t minor_at(const trs_mat *A, int64_t p)
{
    return trs_index(A->idx, A->idx_bits, p) - A->base;
}

/* The major index of entry p: the last one that begins at p or before. */
static int64_t major_of(const writer *w, int64_t p)
{
    int64_t low = 0, high = w->majors; /* ptr[low] <= p < ptr[high] */
    while (high - low > 1) {
        int64_t mid = low + (high - low) / 2;
        if (ptr_at(w, mid) <= p) low = mid;
        else high = mid;
    }
    return low;
}

static bool is_written(const writer *w, int64_t i, int64_t j)
{
    return w->symmetry == TRS_GENERAL || i > j || (i == j && w->symmetry != TRS_SKEW);
}

/* Row and column, from 0, of entry p, which has this major index. */
static void entry_at(const writer *w, int64_t major, int64_t p, int64_t *i, int64_t *j)
{
    int64_t minor = minor_at(w->A, p);
    const bool by_cols = w->A->format == TRS_CSC;
    *i = by_cols ? minor : major;
    *j = by_cols ? major : minor;
}

static char *put_number(const writer *w, char *p, int64_t k)
{
    if (w->single) return trs_put_float(p, ((const float *)w->A->val)[k]);
    return trs_put_real(p, ((const double *)w->A->val)[k]);
}

/* Print value number k and the end of its line. */
static char *put_value(const writer *w, char *p, int64_t k)
{
    for (int c = 0; c < w->parts; c++) {
        if (c) *p++ = ' ';
        p = put_number(w, p, w->parts * k + c);
    }
    *p++ = '\n';
    return p;
}

/* Print entries from..to-1 of a sparse matrix; returns where the text ends. */
static char *print_entries(const writer *w, char *text, int64_t from, int64_t to)
{
    char *c = text;
    int64_t major = major_of(w, from), end = ptr_at(w, major + 1);
    TRS_ASSERT(ptr_at(w, major) <= from && from < end);
    for (int64_t p = from; p < to; p++) {
        int64_t i, j;
        while (p >= end) end = ptr_at(w, ++major + 1);
        entry_at(w, major, p, &i, &j);
        if (!is_written(w, i, j)) continue;
        c = trs_put_int(c, (uint64_t)i + 1);
        *c++ = ' ';
        c = trs_put_int(c, (uint64_t)j + 1);
        *c++ = ' ';
        c = put_value(w, c, p);
    }
    return c;
}

/* Print values from..to-1 of a dense matrix, counted column by column. */
static char *print_values(const writer *w, char *text, int64_t from, int64_t to)
{
    char *c = text;
    for (int64_t p = from; p < to; p++) {
        int64_t i = p % w->rows, j = p / w->rows;
        if (is_written(w, i, j)) c = put_value(w, c, i + j * w->A->ld);
    }
    return c;
}

/* ---- checks -------------------------------------------------------------------------------- */

static int refuse(writer *w, const char *why)
{
    return trs_output_fail(&w->out, TRS_EARG, "%s", why);
}

static int check_symmetry(writer *w)
{
    if (w->symmetry != TRS_GENERAL && w->rows != w->cols)
        return refuse(w, "only a square matrix can be symmetric, skew-symmetric or Hermitian");
    if ((int)w->symmetry < 0 || w->symmetry > TRS_HERMITIAN ||
        (w->symmetry == TRS_HERMITIAN && w->parts == 1))
        return refuse(w, "unknown symmetry, or Hermitian without complex numbers");
    return TRS_OK;
}

static int check_dense(writer *w)
{
    const trs_mat *A = w->A;
    if (A->ld < w->rows || (w->cols && w->rows > INT64_MAX / 16 / w->cols))
        return refuse(w, "ld is less than the number of rows");
    if (w->rows && w->cols && !A->val) return refuse(w, "an array is NULL");
    return TRS_OK;
}

static int check_arguments(writer *w)
{
    const trs_mat *A = w->A;
    if (A->format != TRS_DENSE && A->format != TRS_CSR && A->format != TRS_CSC)
        return refuse(w, "only CSR, CSC and DENSE can be written");
    if ((unsigned)A->dtype > TRS_C32) return refuse(w, "unknown dtype, or integers");
    if (w->rows < 0 || w->cols < 0 || A->base < 0 || A->base > 1 || A->device > 0)
        return refuse(w, "a size, the base or the device is out of range");
    int rc = check_symmetry(w);
    if (rc) return rc;
    if (A->format == TRS_DENSE) return check_dense(w);
    if (!A->ptr) return refuse(w, "an array is NULL");
    return TRS_OK;
}

/* A thread for each batch, which takes half a millisecond (TRS_SHARED_FROM). */
static inline int team_of(const writer *w)
{
    return (int)trs_min(w->threads, w->nnz / BATCH + 1);
}

/* Refuse pointers that descend and indices out of range; count the entries that will be written. */
static int check_entries(writer *w)
{
    const trs_mat *A = w->A;
    int64_t minors = A->format == TRS_CSC ? w->rows : w->cols, bad = -1, count = 0;
    if (ptr_at(w, 0) != 0) return refuse(w, "the first pointer does not equal the base");
    for (int64_t i = 0; i < w->majors; i++)
        if (ptr_at(w, i + 1) < ptr_at(w, i)) return refuse(w, "pointers decrease");
    w->nnz = ptr_at(w, w->majors);
    if (w->nnz && (!A->idx || !A->val)) return refuse(w, "an array is NULL");
#pragma omp parallel for num_threads(team_of(w)) reduction(+ : count) reduction(max : bad)
    for (int64_t major = 0; major < w->majors; major++)
        for (int64_t p = ptr_at(w, major), end = ptr_at(w, major + 1); p < end; p++) {
            int64_t i, j, minor = minor_at(A, p);
            entry_at(w, major, p, &i, &j);
            if (minor < 0 || minor >= minors) bad = p;
            count += is_written(w, i, j);
        }
    if (bad >= 0)
        return trs_output_fail(&w->out, TRS_EARG, "entry %" PRId64 " has an index out of range",
                               bad);
    w->written = count;
    return TRS_OK;
}

/* ---- writing ------------------------------------------------------------------------------- */

/* Print each line of the comment behind a "% ". */
static char *print_comment(char *p, const char *comment)
{
    while (*comment) {
        size_t n = strcspn(comment, "\r\n");
        memcpy(p, "% ", 2);
        memcpy(p + 2, comment, n);
        p += n + 2;
        *p++ = '\n';
        comment += n;
        comment += *comment == '\r';
        comment += *comment == '\n';
    }
    return p;
}

static int write_head(writer *w, const char *comment)
{
    bool dense = w->A->format == TRS_DENSE;
    if (!comment) comment = "";
    char *text = malloc(300 + 4 * strlen(comment));
    if (!text) return trs_output_fail(&w->out, TRS_EMEM, "out of memory");
    char *p =
        text + sprintf(text, "%%%%MatrixMarket matrix %s %s %s\n", dense ? "array" : "coordinate",
                       w->parts == 2 ? "complex" : "real", trs_mm_symmetry[w->symmetry]);
    p = print_comment(p, comment);
    p += sprintf(p, "%" PRId64 " %" PRId64, w->rows, w->cols);
    if (!dense) p += sprintf(p, " %" PRId64, w->written);
    *p++ = '\n';
    int rc = trs_output_put(&w->out, text, p - text, 0);
    w->out.offset = p - text;
    free(text);
    return rc;
}

/* Print a batch; returns how many characters it has. */
static int64_t print_batch(const writer *w, char *text, int64_t from, int64_t to)
{
    char *end = text;
    if (w->A->format == TRS_DENSE) end = print_values(w, text, from, to);
    else end = print_entries(w, text, from, to);
    TRS_ASSERT(end - text <= (to - from) * LINE_TEXT);
    return end - text;
}

static void write_body(writer *w)
{
    int64_t batches = (w->nnz + BATCH - 1) / BATCH;
    trs_output *out = &w->out;
#pragma omp parallel num_threads(team_of(w))
    {
        char *text = malloc((size_t)BATCH * LINE_TEXT);
        int64_t work = 0;
        bool stop = false;
#pragma omp for ordered schedule(static, 1)
        for (int64_t t = 0; t < batches; t++) {
            int64_t to = trs_min((t + 1) * BATCH, w->nnz), offset = 0, n = 0;
            if (text && !stop) n = print_batch(w, text, t * BATCH, to);
#pragma omp ordered
            {
                offset = out->offset;
                out->offset += n;
                if (!text) trs_output_fail(out, TRS_EMEM, "out of memory");
                else if (trs_is_time(&work, PRINTING * BATCH) &&
                         trs_step("writing", (double)t / (double)batches))
                    trs_output_fail(out, TRS_ECANCELED, "canceled by the caller");
                else if (!out->placed && !out->code) trs_output_put(out, text, n, offset);
                stop = out->code;
            }
            if (text && out->placed) trs_output_put(out, text, n, offset);
        }
        free(text);
    }
}

static int write_matrix(writer *w, const char *comment)
{
    int rc = check_arguments(w);
    bool dense = w->A->format == TRS_DENSE;
    w->majors = w->A->format == TRS_CSC ? w->cols : w->rows;
    w->nnz = dense ? w->rows * w->cols : 0;
    if (!rc && !dense) rc = check_entries(w);
    if (!rc) rc = trs_output_open(&w->out);
    if (!rc) rc = write_head(w, comment);
    if (!rc) rc = trs_step("writing", 0);
    if (rc == TRS_ECANCELED) trs_output_fail(&w->out, rc, "canceled by the caller");
    if (!rc) write_body(w);
    return trs_output_close(&w->out);
}

int trs_mm_write(const char *file, const trs_mat *A, int64_t rows, int64_t cols,
                 trs_symmetry symmetry, const char *comment)
{
    trs_enter();
    if (!file || !A) return trs_leave(trs_fail(TRS_EARG, "file or A is NULL"));
    const int rc = TRS_CHECK_RESERVED(A, "trs_mat");
    if (rc) return trs_leave(rc);
    trs_mat a = *A;
    if (!a.ptr_bits) a.ptr_bits = 64;
    if (!a.idx_bits) a.idx_bits = 32;
    writer w = {.A = &a, .rows = rows, .cols = cols, .symmetry = symmetry};
    w.parts = trs_is_complex(A->dtype) ? 2 : 1;
    w.single = trs_is_single(A->dtype);
    w.threads = trs_threads_now(trs_default_threads());
    w.out = (trs_output){.file = file, .fd = -1};
    return trs_leave(write_matrix(&w, comment));
}
