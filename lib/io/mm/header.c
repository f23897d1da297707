/* header.c: the banner, the comments and the sizes of a Matrix Market file.
 *
 *     %%MatrixMarket matrix coordinate|array real|complex|integer|pattern
 *                           general|symmetric|skew-symmetric|hermitian
 *     % comments and blank lines, as many as there are
 *     rows columns entries        (array: rows columns)
 *
 * Files are in use that deviate from the text of the format, so that these are accepted, too: letters in capitals or
 * not, one % in place of two, blanks or a byte order mark before the banner, "double" for real, "unsigned-integer" for
 * integer, and a hermitian file of real numbers, which is symmetric.  Source of the format: Boisvert, Pozo, Remington,
 * The Matrix Market Exchange Formats: Initial Design, NISTIR 5935, 1996. */
#include "config.h"

#include "mm.h"
#include "base/noun.h"
#include "base/number/number.h"
#include "io/boeing.h"
#include "io/decimal/digits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct token { /* characters without a blank; p == end: the line has no more */
    const char *p, *end;
} token;

static token next_token(const char **at, const char *end)
{
    token t = {*at, *at};
    while (t.p < end && trs_is_blank(*t.p)) t.p++;
    t.end = t.p;
    while (t.end < end && !trs_is_blank(*t.end)) t.end++;
    *at = t.end;
    return t;
}

/* Is it this word, in capitals or not? */
static bool is(token t, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(t.end - t.p) != n) return false;
    for (size_t k = 0; k < n; k++) {
        const char c = t.p[k];
        const bool capital = c >= 'A' && c <= 'Z';
        if (c + 32 * capital != word[k]) return false;
    }
    return true;
}

/* The place of t among the words; -1: it is none of them. */
static int which(token t, const char *const *words)
{
    for (int k = 0; words[k]; k++)
        if (is(t, words[k])) return k;
    return -1;
}

static bool starts(const char *p, const char *end, const char *with)
{
    const size_t n = strlen(with);
    return (size_t)(end - p) >= n && !memcmp(p, with, n);
}

/* ---- the banner ---------------------------------------------------------------------------- */

/* What to say of a file whose first line is no banner: the name of its format if the second and the third line are those of
 * a Boeing file, else no_banner. */
static const char *boeing(trs_input *in, const char *no_banner)
{
    char line[2][128];
    trs_boeing head;
    for (int k = 0; k < 2; k++) {
        const char *p;
        int64_t n;
        if (trs_input_line(in, &p, &n) <= 0) return no_banner;
        snprintf(line[k], sizeof line[k], "%.*s", (int)trs_min(n, 127), p);
    }
    if (!trs_boeing_header(line[0], line[1], &head)) return no_banner;
    if (head.harwell) return "a Harwell-Boeing file, which a build with RBio reads by its name";
    return "a Rutherford-Boeing file, which a build with RBio reads by its name";
}

/* The first line is no banner: say what the file seems to be. */
static int no_banner(trs_mm_job *job, const char *p, const char *end)
{
    const char *what = "the first line must be %%MatrixMarket matrix ...";
    /* a copy, because reading the next line discards this one */
    const trs_mm_quote read = trs_mm_show(p, end);
    if (starts(p, end, "\xff\xfe") || starts(p, end, "\xfe\xff"))
        what = "UTF-16 text; Matrix Market files are plain ASCII";
    else if (starts(p, end, "<")) what = "a web page, not a matrix: the download failed";
    else if (starts(p, end, "version https://git-lfs"))
        what = "a git LFS pointer, not the file itself: fetch the file with git lfs pull";
    else if (starts(p, end, "PK\x03\x04")) what = "a zip archive: unpack it first";
    else if (memchr(p, '\0', (size_t)(end - p))) what = "binary data, not Matrix Market";
    else what = boeing(job->in, what);
    return trs_mm_fail(job, TRS_EFORMAT, 1, "%s; found %s", what, read.s);
}

static int bad_word(trs_mm_job *job, const char *must, token t)
{
    if (t.p == t.end) return trs_mm_fail(job, TRS_EFORMAT, 1, "the banner is incomplete: %s", must);
    return trs_mm_fail(job, TRS_EFORMAT, 1, "%s; found %s", must, trs_mm_show(t.p, t.end).s);
}

/* Refuse combinations that the format does not have. */
static int check_banner(trs_mm_job *job)
{
    const trs_mm_head *h = &job->head;
    const char *what = NULL;
    TRS_ASSERT(h->field <= TRS_PATTERN && h->symmetry <= TRS_HERMITIAN);
    if (h->array && h->field == TRS_PATTERN) what = "an array file cannot have the field pattern";
    if (h->field == TRS_PATTERN && h->symmetry == TRS_SKEW)
        what = "a pattern file cannot be skew-symmetric";
    if (h->field == TRS_PATTERN && h->symmetry == TRS_HERMITIAN)
        what = "a pattern file cannot be hermitian";
    if (what) return trs_mm_fail(job, TRS_EFORMAT, 1, "%s", what);
    if (h->field == TRS_COMPLEX && job->opt.real_only)
        return trs_mm_fail(job, TRS_ESUPPORT, 1,
                           "the matrix is complex; a real matrix is required");
    return TRS_OK;
}

const char *const trs_mm_symmetry[] = {"general", "symmetric", "skew-symmetric", "hermitian", NULL};

int trs_mm_banner(trs_mm_job *job, const char *p, const char *end)
{
    static const char *const formats[] = {"coordinate", "array", NULL};
    static const char *const fields[] = {"real",   "complex",          "integer", "pattern",
                                         "double", "unsigned-integer", NULL};
    static const trs_field meant[] = {TRS_REAL,    TRS_COMPLEX, TRS_INTEGER,
                                      TRS_PATTERN, TRS_REAL,    TRS_INTEGER};
    if (starts(p, end, "\xef\xbb\xbf")) p += 3;
    const char *at = p;
    token t = next_token(&at, end);
    if (!is(t, "%%matrixmarket") && !is(t, "%matrixmarket")) return no_banner(job, p, end);
    if (memchr(p, '\r', (size_t)(end - p)))
        return trs_mm_fail(job, TRS_EFORMAT, 1,
                           "lines end with CR alone: convert them to LF or CRLF");
    if (!is(t = next_token(&at, end), "matrix"))
        return bad_word(job, "the object must be \"matrix\"", t);
    int f = which(t = next_token(&at, end), formats);
    if (f < 0) return bad_word(job, "the format must be \"coordinate\" or \"array\"", t);
    int d = which(t = next_token(&at, end), fields);
    if (d < 0) return bad_word(job, "the field must be real, complex, integer or pattern", t);
    int s = which(t = next_token(&at, end), trs_mm_symmetry);
    if (s < 0)
        return bad_word(job, "the symmetry must be general, symmetric, skew-symmetric or hermitian",
                        t);
    t = next_token(&at, end);
    if (t.p < t.end) return bad_word(job, "too many words in the banner", t);
    job->head.array = f == 1;
    job->head.field = meant[d];
    job->head.is_unsigned = d == 5;
    job->head.symmetry = (trs_symmetry)s;
    if (s == TRS_HERMITIAN && (meant[d] == TRS_REAL || meant[d] == TRS_INTEGER))
        job->head.symmetry = TRS_SYMMETRIC;
    return check_banner(job);
}

/* ---- the sizes ----------------------------------------------------------------------------- */

/* Read the integer t; NULL, or what is wrong with it. */
static const char *read_size(token t, uint64_t *k)
{
    const char *p = t.p + (*t.p == '+' && t.end - t.p > 1);
    *k = 0;
    for (; p < t.end && trs_is_digit(*p); p++) {
        if (*k < UINT64_MAX / 20) *k = 10 * *k + (uint64_t)(*p - '0');
        else *k = UINT64_MAX / 2;
    }
    if (p < t.end) return "a size must be a whole number, 0 or more";
    return *k >= INT64_MAX ? "a size is larger than 2^63" : NULL;
}

int trs_mm_sizes(trs_mm_job *job, const char *at, const char *end, int most, int64_t *size)
{
    for (int n = 0;; n++) {
        token t = next_token(&at, end);
        if (t.p == t.end) return n;
        uint64_t k;
        const char *what = read_size(t, &k);
        if (!what && n >= most) what = "too many numbers in the line of the sizes";
        if (what) {
            trs_mm_fail(job, TRS_EFORMAT, job->head.line, "%s; found %s", what,
                        trs_mm_show(t.p, t.end).s);
            return -1;
        }
        TRS_ASSERT(n < most);
        size[n] = (int64_t)k;
    }
}

/* How many values an array file of this symmetry holds. */
static int64_t array_values(const trs_mm_head *h)
{
    const int64_t n = h->rows;
    if (h->symmetry == TRS_GENERAL) return n * h->cols;
    if (h->symmetry == TRS_SKEW) return n * (n - 1) / 2;
    return n * (n + 1) / 2;
}

static int check_sizes(trs_mm_job *job)
{
    trs_mm_head *h = &job->head;
    if (h->rows > INT32_MAX || h->cols > INT32_MAX)
        return trs_mm_fail(job, TRS_ESUPPORT, h->line,
                           "%" PRId64 " x %" PRId64 ": rows and columns must be below 2^31",
                           h->rows, h->cols);
    if (h->symmetry != TRS_GENERAL && h->rows != h->cols)
        return trs_mm_fail(job, TRS_EFORMAT, h->line,
                           "%" PRId64 " x %" PRId64
                           ": only a square matrix can be symmetric, skew-symmetric or Hermitian",
                           h->rows, h->cols);
    if (h->array) h->stored = array_values(h);
    return trs_mm_check_promise(job, trs_input_size(job->in));
}

const char *trs_mm_stored_noun(const trs_mm_head *h)
{
    if (h->array) return trs_noun(h->stored, "value", "values");
    return trs_noun(h->stored, "entry", "entries");
}

/* An entry takes at least four bytes ("1 1\n"), six with a value, and eight when that is complex; a value of an array
 * takes two or four.  What the text cannot hold is refused before memory is asked for. */
int trs_mm_check_promise(trs_mm_job *job, int64_t bytes)
{
    const trs_mm_head *h = &job->head;
    const int64_t index = h->array ? 0 : 4, least = 2 * job->parts + index;
    const bool wild = h->stored > INT32_MAX || h->stored / trs_max(h->cols, 1) > h->rows;
    if (bytes >= 0 && wild && h->stored > (bytes + 1) / least)
        return trs_mm_fail(job, TRS_EFORMAT, h->line,
                           "%" PRId64 " %s announced, but only %" PRId64 " %s", h->stored,
                           trs_mm_stored_noun(h), bytes,
                           trs_noun(bytes, "byte follows", "bytes follow"));
    const double need = (double)h->stored * (double)(8 * job->parts + index);
    if (need > (double)job->opt.memory_limit && (bytes < 0 || h->stored <= (bytes + 1) / least))
        return trs_mm_fail(job, TRS_EMEM, h->line,
                           "%" PRId64 " %s: %.3g GB needed, the limit is %.3g GB", h->stored,
                           trs_mm_stored_noun(h), need / 1e9, (double)job->opt.memory_limit / 1e9);
    return TRS_OK;
}

static int read_size_line(trs_mm_job *job, const char *p, const char *end)
{
    trs_mm_head *h = &job->head;
    int64_t size[3] = {0};
    int must = h->array ? 2 : 3, n = trs_mm_sizes(job, p, end, must, size);
    if (n < 0) return TRS_EFORMAT;
    if (n < must)
        return trs_mm_fail(job, TRS_EFORMAT, h->line, "expected %s; found %s",
                           h->array ? "rows and columns" : "rows, columns and entries",
                           trs_mm_show(p, end).s);
    h->rows = size[0];
    h->cols = size[1];
    h->stored = size[2];
    return check_sizes(job);
}

/* Take the kind of problem from a comment like "% kind: structural problem", which the files of the SuiteSparse collection
 * have. */
static void take_kind(trs_mm *mm, const char *comment, const char *end)
{
    static const char key[] = "% kind: ";
    const char *p = comment + sizeof key - 1;
    if (!starts(comment, end, key)) return;
    const int n = (int)trs_min(end - p, (int64_t)sizeof mm->problem - 1);
    snprintf(mm->problem, sizeof mm->problem, "%.*s", n, p);
}

/* ---- the head -------------------------------------------------------------------------------- */

/* The next line, p..end-1 without its end.  Returns 1, 0 at the end of the file, or a negative code. */
static int next_line(trs_mm_job *job, const char **p, const char **end)
{
    int64_t n;
    int rc = trs_input_line(job->in, p, &n);
    if (rc < 0) return trs_fail(rc, "%s", trs_input_message(job->in));
    if (rc == 0) return 0;
    job->head.line++;
    job->head.cut = trs_input_cut(job->in);
    *end = *p + n;
    while (*end > *p && (*end)[-1] == '\r') --*end;
    return 1;
}

static int read_banner(trs_mm_job *job)
{
    const char *p, *end;
    int rc = next_line(job, &p, &end);
    if (rc < 0) return rc;
    if (rc == 0) return trs_mm_fail(job, TRS_EFORMAT, 1, "the file is empty");
    rc = trs_mm_banner(job, p, end);
    job->parts = job->head.field == TRS_COMPLEX ? 2 : 1;
    if (job->head.field == TRS_PATTERN) job->parts = 0;
    return rc;
}

int trs_mm_header(trs_mm_job *job)
{
    const trs_mm_head *h = &job->head;
    const char *p, *end;
    int rc = read_banner(job);
    if (rc) return rc;
    while ((rc = next_line(job, &p, &end)) == 1) {
        const char *at = p;
        token t = next_token(&at, end);
        if (t.p < t.end && *t.p != '%') return read_size_line(job, p, end);
        take_kind(job->mm, p, end);
    }
    if (rc < 0) return rc;
    return trs_mm_fail(job, TRS_EFORMAT, h->line + !h->cut, "the file ends before the sizes");
}
