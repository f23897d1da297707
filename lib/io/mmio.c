/* mmio.c: the C interface of NIST's mmio, with the numbers, banners and sizes of this library's reader.
 *
 * Callers of mmio hold the FILE and often read the entries themselves.  So everything here goes line by line, and leaves
 * the FILE just behind the last line that was needed.  Source of the interface: Boisvert, Pozo, Remington, The Matrix
 * Market Exchange Formats: Initial Design, NISTIR 5935, 1996, and mmio.h. */
#include "config.h"

#include "base/number/number.h"
#include "decimal/print.h"
#include "decimal/read.h"
#include "mm/mm.h"
#include "output.h"
#include "trisolve-mmio.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- lines --------------------------------------------------------------------------------- */

typedef struct line { /* p[0..n-1], then '\n' and TRS_TEXT_PAD zeros */
    char *p;
    int64_t n, room;
} line;

static bool make_room(line *l)
{
    if (l->n + 2 + TRS_TEXT_PAD <= l->room) return true;
    int64_t room = 2 * l->room + 2 * TRS_TEXT_PAD;
    char *more = realloc(l->p, (size_t)room);
    if (!more) return false;
    l->p = more;
    l->room = room;
    return true;
}

/* Read the next line, without its end; false: there is none. */
static bool read_line(FILE *f, line *l)
{
    int c = EOF;
    l->n = 0;
    if (!make_room(l)) return false;
    while ((c = getc(f)) != EOF && c != '\n') {
        l->p[l->n++] = (char)c;
        if (!make_room(l)) return false;
    }
    if (c == EOF && l->n == 0) return false;
    while (l->n && l->p[l->n - 1] == '\r') l->n--;
    TRS_ASSERT(l->n + 2 + TRS_TEXT_PAD <= l->room);
    l->p[l->n] = '\n';
    memset(l->p + l->n + 1, 0, TRS_TEXT_PAD);
    return true;
}

/* Read the next line that is neither blank nor a comment. */
static bool read_full_line(FILE *f, line *l)
{
    while (read_line(f, l)) {
        const char *p = trs_skip_blanks(l->p);
        if (*p != '\n' && *p != '%') return true;
    }
    return false;
}

/* ---- the type ------------------------------------------------------------------------------ */

int mm_is_valid(MM_typecode t)
{
    if (!mm_is_matrix(t)) return 0;
    if (mm_is_dense(t) && mm_is_pattern(t)) return 0;
    if (mm_is_real(t) && mm_is_hermitian(t)) return 0;
    return !(mm_is_pattern(t) && (mm_is_hermitian(t) || mm_is_skew(t)));
}

static const char *word_of(char c, const char *letters, const char *const *words)
{
    for (int k = 0; letters[k]; k++)
        if (letters[k] == c) return words[k];
    return NULL;
}

/* Write the words of the banner, from "matrix" on; false: a letter of t stands for none. */
static bool spell(MM_typecode t, char *text, size_t size)
{
    static const char *const formats[] = {MM_COORDINATE_STR, MM_ARRAY_STR};
    static const char *const fields[] = {MM_REAL_STR, MM_COMPLEX_STR, MM_INT_STR, MM_PATTERN_STR};
    static const char *const symmetries[] = {MM_GENERAL_STR, MM_SYMM_STR, MM_SKEW_STR, MM_HERM_STR};
    const char *a = word_of(t[1], "CA", formats), *b = word_of(t[2], "RCIP", fields);
    const char *c = word_of(t[3], "GSKH", symmetries);
    if (!mm_is_matrix(t) || !a || !b || !c) return false;
    snprintf(text, size, "%s %s %s %s", MM_MTX_STR, a, b, c);
    return true;
}

char *mm_typecode_to_str(MM_typecode matcode)
{
    char text[80];
    if (!spell(matcode, text, sizeof text)) return NULL;
    return strdup(text);
}

/* How many doubles a value has. */
static int parts_of(MM_typecode t)
{
    if (mm_is_pattern(t)) return 0;
    return mm_is_complex(t) ? 2 : 1;
}

static int count_words(const char *p)
{
    int n = 0;
    for (p = trs_skip_blanks(p); *p != '\n'; p = trs_skip_blanks(p), n++)
        while (*p != '\n' && !trs_is_blank(*p)) p++;
    return n;
}

static int parse_banner(const line *l, MM_typecode *matcode)
{
    trs_mm mm;
    trs_mm_job job = {.file = "", .mm = &mm};
    if (count_words(l->p) < 5) return MM_PREMATURE_EOF;
    const char *p = trs_skip_blanks(l->p);
    if (*p != '%' && strncmp(p, "\xef\xbb\xbf%", 4)) return MM_NO_HEADER;
    if (trs_mm_banner(&job, l->p, l->p + l->n)) return MM_UNSUPPORTED_TYPE;
    mm_set_matrix(matcode);
    (*matcode)[1] = job.head.array ? 'A' : 'C';
    (*matcode)[2] = "RCIP"[job.head.field];
    (*matcode)[3] = "GSKH"[job.head.symmetry];
    return 0;
}

int mm_read_banner(FILE *f, MM_typecode *matcode)
{
    line l = {0};
    mm_clear_typecode(matcode);
    int rc = MM_PREMATURE_EOF;
    if (read_line(f, &l)) rc = parse_banner(&l, matcode);
    free(l.p);
    return rc;
}

/* ---- sizes --------------------------------------------------------------------------------- */

static int read_sizes(FILE *f, int must, int *const *size)
{
    line l = {0};
    trs_mm mm;
    trs_mm_job job = {.file = "", .mm = &mm};
    int64_t k[3];
    int rc = MM_PREMATURE_EOF;
    for (int s = 0; s < must; s++) *size[s] = 0;
    if (read_full_line(f, &l) && trs_mm_sizes(&job, l.p, l.p + l.n, must, k) == must) {
        rc = 0;
        for (int s = 0; s < must; s++)
            if (k[s] > INT_MAX) rc = MM_UNSUPPORTED_TYPE;
    }
    for (int s = 0; s < must && !rc; s++) *size[s] = (int)k[s];
    free(l.p);
    return rc;
}

int mm_read_mtx_crd_size(FILE *f, int *M, int *N, int *nz)
{
    return read_sizes(f, 3, (int *const[]){M, N, nz});
}

int mm_read_mtx_array_size(FILE *f, int *M, int *N)
{
    return read_sizes(f, 2, (int *const[]){M, N});
}

/* ---- entries ------------------------------------------------------------------------------- */

static const char *read_value(const char *p, double *x, bool integer)
{
    if (!p || !trs_is_blank(*p)) return NULL;
    p = trs_skip_blanks(p);
    const char *end = trs_read_real(p, x);
    for (p += *p == '-' || *p == '+'; integer && p < end; p++)
        if (!trs_is_digit(*p)) return NULL;
    return end;
}

/* Read one entry of an M x N matrix, on a line of its own. */
static int read_entry(FILE *f, line *l, int M, int N, int *row, int *col, double v[2],
                      MM_typecode t)
{
    uint64_t i, j;
    if (!mm_is_real(t) && !mm_is_complex(t) && !mm_is_integer(t) && !mm_is_pattern(t))
        return MM_UNSUPPORTED_TYPE;
    if (!read_full_line(f, l)) return MM_PREMATURE_EOF;
    const char *p = trs_read_index(trs_skip_blanks(l->p), &i);
    if (!p || !trs_is_blank(*p)) return MM_PREMATURE_EOF;
    p = trs_read_index(trs_skip_blanks(p), &j);
    if (!mm_is_pattern(t)) p = read_value(p, &v[0], mm_is_integer(t));
    if (mm_is_complex(t)) p = read_value(p, &v[1], false);
    if (!p || *trs_skip_blanks(p) != '\n') return MM_PREMATURE_EOF;
    if (i - 1 >= (uint64_t)M || j - 1 >= (uint64_t)N) return MM_PREMATURE_EOF;
    *row = (int)i;
    *col = (int)j;
    return 0;
}

int mm_read_mtx_crd_data(FILE *f, int M, int N, int nz, int row[], int col[], double val[],
                         MM_typecode matcode)
{
    line l = {0};
    int rc = 0, parts = parts_of(matcode);
    for (int k = 0; k < nz && !rc; k++) {
        double v[2] = {0, 0};
        rc = read_entry(f, &l, M, N, &row[k], &col[k], v, matcode);
        if (!rc && parts) memcpy(val + (int64_t)parts * k, v, (size_t)parts * sizeof *v);
    }
    free(l.p);
    return rc;
}

int mm_read_mtx_crd_entry(FILE *f, int *row, int *col, double *real, double *img,
                          MM_typecode matcode)
{
    line l = {0};
    double v[2] = {0, 0};
    int rc = read_entry(f, &l, INT_MAX, INT_MAX, row, col, v, matcode);
    if (!rc && !mm_is_pattern(matcode)) *real = v[0];
    if (!rc && mm_is_complex(matcode)) *img = v[1];
    free(l.p);
    return rc;
}

/* ---- whole files --------------------------------------------------------------------------- */

typedef struct triplets {
    int *row, *col; /* [room] */
    double *val;    /* [parts*room] */
    int room;
    size_t parts; /* of a value: 2 when complex, else 1 */
} triplets;

/* Allocate space for more entries, in steps, because a size line may announce any number. */
static bool grow(triplets *a)
{
    const int room = (int)trs_min(2 * (int64_t)a->room + 1024, INT_MAX);
    int *row = realloc(a->row, (size_t)room * sizeof *row);
    if (row) a->row = row;
    int *col = realloc(a->col, (size_t)room * sizeof *col);
    if (col) a->col = col;
    double *val = realloc(a->val, (size_t)room * a->parts * sizeof *val);
    if (val) a->val = val;
    if (!row || !col || !val) return false;
    a->room = room;
    return true;
}

/* Read nz entries, and see that nothing follows them. */
static int read_all_entries(FILE *f, int M, int N, int nz, triplets *a, MM_typecode t)
{
    line l = {0};
    int rc = grow(a) ? 0 : MM_COULD_NOT_READ_FILE;
    for (int k = 0, some; k < nz && !rc; k += some) {
        if (k == a->room && !grow(a)) return MM_COULD_NOT_READ_FILE;
        some = (int)trs_min(nz, a->room) - k;
        TRS_ASSERT(some > 0 && k + some <= a->room);
        rc = mm_read_mtx_crd_data(f, M, N, some, a->row + k, a->col + k,
                                  a->val + a->parts * (size_t)k, t);
    }
    if (!rc && read_full_line(f, &l)) rc = MM_PREMATURE_EOF;
    free(l.p);
    return rc;
}

static int read_open_file(FILE *f, int *M, int *N, int *nz, triplets *a, MM_typecode *matcode)
{
    int rc = mm_read_banner(f, matcode);
    if (rc) return rc;
    if (!mm_is_valid(*matcode) || !mm_is_sparse(*matcode)) return MM_UNSUPPORTED_TYPE;
    a->parts = mm_is_complex(*matcode) ? 2 : 1;
    rc = mm_read_mtx_crd_size(f, M, N, nz);
    if (!rc) rc = read_all_entries(f, *M, *N, *nz, a, *matcode);
    return rc;
}

int mm_read_mtx_crd(char *fname, int *M, int *N, int *nz, int **row, int **col, double **val,
                    MM_typecode *matcode)
{
    triplets a = {0};
    *M = *N = *nz = 0;
    *row = *col = NULL;
    *val = NULL;
    bool standard = !strcmp(fname, "stdin");
    FILE *f = standard ? stdin : fopen(fname, "r");
    if (!f) return MM_COULD_NOT_READ_FILE;
    int rc = read_open_file(f, M, N, nz, &a, matcode);
    if (!standard) fclose(f);
    if (rc || mm_is_pattern(*matcode)) free(a.val), a.val = NULL; /* a pattern has no values */
    if (rc) free(a.row), free(a.col);
    else *row = a.row, *col = a.col, *val = a.val;
    return rc;
}

int mm_read_unsymmetric_sparse(const char *fname, int *M, int *N, int *nz, double **val, int **row,
                               int **col)
{
    MM_typecode t;
    if (mm_read_mtx_crd((char *)fname, M, N, nz, row, col, val, &t)) return -1;
    for (int k = 0; k < *nz; k++) (*row)[k]--, (*col)[k]--;
    if (mm_is_real(t) && mm_is_general(t)) return 0;
    free(*row), free(*col), free(*val);
    *row = *col = NULL;
    *val = NULL;
    return -1;
}

/* ---- writing ------------------------------------------------------------------------------- */

static int written(int n)
{
    return n < 0 ? MM_COULD_NOT_WRITE_FILE : 0;
}

int mm_write_banner(FILE *f, MM_typecode matcode)
{
    char text[80];
    if (!spell(matcode, text, sizeof text)) return MM_COULD_NOT_WRITE_FILE;
    return written(fprintf(f, "%s %s\n", MatrixMarketBanner, text));
}

int mm_write_mtx_crd_size(FILE *f, int M, int N, int nz)
{
    return written(fprintf(f, "%d %d %d\n", M, N, nz));
}

int mm_write_mtx_array_size(FILE *f, int M, int N)
{
    return written(fprintf(f, "%d %d\n", M, N));
}

static int write_entries(FILE *f, int nz, const int row[], const int col[], const double val[],
                         MM_typecode t)
{
    int parts = parts_of(t);
    for (int64_t k = 0; k < nz; k++) {
        char text[2 * TRS_REAL_TEXT + 40];
        char *p = text + sprintf(text, "%d %d", row[k], col[k]);
        for (int w = 0; w < parts; w++) {
            *p++ = ' ';
            p = trs_put_real(p, val[parts * k + w]);
        }
        *p++ = '\n';
        if (fwrite(text, 1, (size_t)(p - text), f) != (size_t)(p - text))
            return MM_COULD_NOT_WRITE_FILE;
    }
    return 0;
}

/* A stream to the new file; NULL: there is none. */
static FILE *open_stream(trs_output *out)
{
    const int fd = trs_output_open(out) ? -1 : dup(out->fd);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (fd >= 0 && !f) close(fd);
    return f;
}

int mm_write_mtx_crd(char fname[], int M, int N, int nz, int row[], int col[], double val[],
                     MM_typecode matcode)
{
    char text[80];
    if (!mm_is_sparse(matcode) || !spell(matcode, text, sizeof text)) return MM_UNSUPPORTED_TYPE;
    trs_output out = {.file = fname, .fd = -1};
    const bool standard = !strcmp(fname, "stdout");
    FILE *f = standard ? stdout : open_stream(&out);
    int rc = f ? mm_write_banner(f, matcode) : MM_COULD_NOT_WRITE_FILE;
    if (!rc) rc = mm_write_mtx_crd_size(f, M, N, nz);
    if (!rc) rc = write_entries(f, nz, row, col, val, matcode);
    if (f && (standard ? fflush(f) : fclose(f))) rc = MM_COULD_NOT_WRITE_FILE;
    out.dropped = rc != 0;
    if (!standard && trs_output_close(&out)) rc = MM_COULD_NOT_WRITE_FILE;
    return rc;
}
