/* lines.c: the loop over the lines of a text: its entries, in the order of the file.
 *
 * It takes most of the time of reading a file, and is compiled several times, for the parts of a value as a constant.  It
 * only knows "an entry" and "no entry".  What a line is that holds none, blank, a comment, or wrong, is found out by
 * reading it again, slowly. */
#include "config.h"

#include "parse.h"
#include "io/decimal/read.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- lines that are no entry ------------------------------------------------------------------- */

/* Remember the line of the entry to come, unless it is the line after that of the last entry. */
static void mark(trs_mm_worker *w)
{
    trs_mm_chunk *c = &w->chunk;
    if (w->line - c->entries == w->offset) return;
    if (c->marks == w->mark_room) {
        int64_t room = 2 * w->mark_room + 16;
        trs_mm_mark *more = trs_mm_new(w->job, room, sizeof *more);
        if (!more) {
            trs_mm_worker_fail(w, TRS_EMEM,
                               "out of memory or over the limit: %" PRId64 " line numbers", room);
            return;
        }
        if (c->marks) memcpy(more, w->mark, (size_t)c->marks * sizeof *more);
        trs_mm_delete(w->job, w->mark, w->mark_room, sizeof *w->mark);
        w->mark = more;
        w->mark_room = room;
    }
    w->mark[c->marks++] = (trs_mm_mark){c->entries, w->line};
    w->offset = w->line - c->entries;
}

/* Skip a line that is no entry; NULL: it is an error. */
static const char *pass_line(trs_mm_worker *w, const char *p)
{
    if (!trs_mm_holds_nothing(p)) {
        trs_mm_explain(w, p);
        return NULL;
    }
    w->line++;
    return trs_mm_line_end(p) + 1;
}

/* ---- values -------------------------------------------------------------------------------- */

/* Was the integer p..end-1 rounded to x, because no double is equal to it? */
static bool is_rounded(const char *p, const char *end, double x)
{
    uint64_t k;
    if (fabs(x) < 9007199254740992.0) return false;
    if (*p == '-') p++;
    if (trs_read_index_slow(p, &k) != end || k == UINT64_MAX) return true;
    return fabs(x) >= 0x1p64 || (uint64_t)fabs(x) != k;
}

const char *trs_mm_read_exact(const trs_mm_head *h, const char *text, double *x)
{
    const bool minus = *text == '-', skew = h->symmetry == TRS_SKEW;
    const char *p = text + (minus || *text == '+');
    uint64_t k = 0, most = (uint64_t)INT64_MAX + (minus && !skew);
    if (h->is_unsigned) most = minus || skew ? 0 : UINT64_MAX;
    bool fits = trs_is_digit(*p);
    for (; fits && trs_is_digit(*p); p++)
        fits = !__builtin_mul_overflow(k, 10, &k) &&
               !__builtin_add_overflow(k, (uint64_t)(*p - '0'), &k);
    if (!fits || k > most) return NULL;
    if (minus) k = 0 - k;
    memcpy(x, &k, sizeof k);
    return p;
}

static const char *read_integer(trs_mm_worker *w, const char *text, double *x)
{
    if (trs_mm_exact(w->job)) return trs_mm_read_exact(&w->job->head, text, x);
    const char *p = text + (*text == '-' || *text == '+');
    while (trs_is_digit(*p)) p++;
    if (trs_read_real(text, x) != p) return NULL;
    w->rounded += is_rounded(text, p, *x);
    return p;
}

/* Read the value at p, of one part or two; NULL: there is none. */
TRS_INLINE const char *read_value(trs_mm_worker *w, const char *p, double *v, int parts,
                                  bool integer)
{
    if (parts == 1 && integer) return read_integer(w, p, v);
    p = trs_read_real(p, v);
    if (parts == 1 || !p) return p;
    return trs_is_blank(*p) ? trs_read_real(trs_skip_blanks(p + 1), v + 1) : NULL;
}

typedef struct entry {
    int64_t i, j; /* row and column, from 0 */
    double v[2];
} entry;

/* ---- coordinate files ---------------------------------------------------------------------- */

/* Is x zero, as a double or as an integer? */
static inline bool is_zero(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits << 1 ==
           0; /* the sign of a zero; no integer that trs_mm_read_exact gives for a skew file */
}

/* May a file of this symmetry hold the entry?  It holds the lower triangle, with a diagonal that is its own mirror image. */
TRS_INLINE bool obeys(const entry *e, trs_symmetry s)
{
    if (e->i != e->j) return e->i > e->j;
    if (s == TRS_SKEW) return is_zero(e->v[0]) && is_zero(e->v[1]);
    return s != TRS_HERMITIAN || e->v[1] == 0;
}

typedef struct loop { /* what the loop over the lines uses, as local variables */
    uint64_t rows, cols;
    trs_symmetry symmetry;
    bool integer; /* the values are integers */
    bool exact;   /* and stored as such */
    int32_t *ij;  /* the worker's buffers */
    double *val;
    int64_t *count;
    int64_t kept;    /* of this text */
    int64_t entries; /* lines with an entry since start_loop */
    unsigned kind;
    int shift;
    bool by_cols;
} loop;

/* The state of a loop that goes on where `last` ended.  usual: the file is real and general, and all of it is wanted by
 * rows, as is most often the case; the loop is then compiled without the code for all others. */
TRS_INLINE loop start_loop(const loop *last, const bool usual)
{
    loop s = *last;
    s.entries = 0;
    if (!usual) return s;
    s.symmetry = TRS_GENERAL;
    s.kind = 0;
    s.integer = s.exact = s.by_cols = false;
    return s;
}

static inline void end_loop(trs_mm_worker *w, loop *last, const loop *s)
{
    last->kept = s->kept;
    w->chunk.entries += s->entries;
    w->line += s->entries;
}

/* Read what stands from p to the end of a compact line.  A value of the plain form stays in a register; the others are
 * read through an address. */
TRS_INLINE bool read_compact_value(trs_mm_worker *w, const loop *s, const char *p, const char *nl,
                                   entry *e, int parts)
{
    double x, v[2] = {0, 0};
    if (p[-1] != ' ') return false;
    if (parts == 1 && !s->integer && trs_read_plain(p, nl, &x)) {
        e->v[0] = x;
        return true;
    }
    const char *end = read_value(w, p, v, parts, s->integer);
    e->v[0] = v[0];
    e->v[1] = v[1];
    return end == nl;
}

/* Read the entry on the compact line at p.  A line is compact when one blank stands between its numbers and nothing else
 * is there, as programs write it:
 *
 *     12 7 -0.5\n       the first three delimiters end the row, the column and the value; the last one must be '\n'
 *
 * `delimiters` are those of the 64 characters at p, a bit each.  Returns where the next line begins; NULL: the line is not
 * compact, or holds no entry. */
TRS_INLINE const char *read_compact(trs_mm_worker *w, const loop *s, const char *p,
                                    uint64_t delimiters, entry *e, int parts)
{
    uint64_t rest = delimiters & (delimiters - 1), end = rest; /* without the first one */
    for (int k = 0; k < parts; k++) end &= end - 1;
    if (!end) return NULL;
    int64_t a = __builtin_ctzll(delimiters);   /* digits of i */
    int64_t b = __builtin_ctzll(rest) - a - 1; /* digits of j */
    const char *nl = p + __builtin_ctzll(end), *at_j = p + a + 1, *at_v = at_j + b + 1;
    if ((uint64_t)((a - 1) | (b - 1)) > 7) return NULL;
    trs_sixteen ij =
        trs_make_sixteen(trs_eight(p) << (64 - 8 * a), trs_eight(at_j) << (64 - 8 * b));
    uint64_t pair = trs_join_sixteen(ij), i = (pair & UINT32_MAX) - 1, j = (pair >> 32) - 1;
    if (!trs_are_sixteen_digits(ij) || i >= s->rows || j >= s->cols) return NULL;
    if (*nl != '\n' || at_j[-1] != ' ') return NULL;
    if (parts && !read_compact_value(w, s, at_v, nl, e, parts)) return NULL;
    e->i = (int64_t)i;
    e->j = (int64_t)j;
    return s->symmetry == TRS_GENERAL || obeys(e, s->symmetry) ? nl + 1 : NULL;
}

/* Read the entry on the line at *at, whatever blanks it has; false: there is none. */
TRS_INLINE bool read_entry(trs_mm_worker *w, const loop *s, const char **at, entry *e, int parts)
{
    uint64_t i, j;
    const char *p = trs_read_index(trs_skip_blanks(*at), &i);
    if (!p || !trs_is_blank(*p)) return false;
    p = trs_read_index(trs_skip_blanks(p + 1), &j);
    if (!p || i - 1 >= s->rows || j - 1 >= s->cols) return false;
    if (parts) {
        if (!trs_is_blank(*p)) return false;
        if (!(p = read_value(w, trs_skip_blanks(p + 1), e->v, parts, s->integer))) return false;
    }
    if (*p != '\n') {
        p = trs_skip_blanks(p);
        while (*p == '\r') p++;
        if (*p != '\n') return false;
    }
    e->i = (int64_t)i - 1;
    e->j = (int64_t)j - 1;
    if (s->symmetry != TRS_GENERAL && !obeys(e, s->symmetry)) return false;
    *at = p + 1;
    return true;
}

/* Keep the entry of row i and column j, unless it is in the triangle that is not wanted. */
TRS_INLINE void keep(loop *s, int64_t i, int64_t j, double re, double im, int parts)
{
    if (((s->kind & TRS_LOWER) && i < j) || ((s->kind & TRS_UPPER) && i > j)) return;
    int64_t k = s->kept++, major = s->by_cols ? j : i;
    s->ij[2 * k] = (int32_t)major;
    s->ij[2 * k + 1] = (int32_t)(s->by_cols ? i : j);
    if (parts) s->val[parts * k] = re;
    if (parts == 2) s->val[2 * k + 1] = im;
    s->count[major >> s->shift]++;
}

/* Keep the mirror image of an entry below the diagonal. */
TRS_INLINE void keep_mirror(loop *s, const entry *e, int parts)
{
    double re = e->v[0];
    if (s->symmetry == TRS_SKEW) re = trs_mm_minus(re, s->exact);
    double im = s->symmetry == TRS_SYMMETRIC ? e->v[1] : -e->v[1];
    keep(s, e->j, e->i, re, im, parts);
}

/* Keep the entry of a line, and its mirror image. */
TRS_INLINE void keep_both(loop *s, const entry *e, int parts)
{
    s->entries++;
    keep(s, e->i, e->j, e->v[0], e->v[1], parts);
    if (s->symmetry != TRS_GENERAL && e->i != e->j) keep_mirror(s, e, parts);
}

/* Read the compact lines from p on; returns where the first line begins that is not compact, or the end.  The delimiters
 * of a window are found before its lines are read, so that where a line begins does not depend on reading the one before
 * it, and the processor can work on several lines at a time. */
TRS_INLINE const char *parse_compact(trs_mm_worker *w, loop *last, const char *p, const int parts,
                                     const bool usual)
{
    char map[TRS_BITMAP];
    const char *end = w->text.end, *window = NULL;
    loop s = start_loop(last, usual);
    entry e = {0, 0, {0, 0}};
    while (p < end && p != window) { /* a line that a window cuts is read with the next window */
        const char *next = window = p, *stop = end - p < TRS_WINDOW ? end : p + TRS_WINDOW;
        trs_map_delimiters(window, stop - window, map);
        while (next && (p = next) < stop) {
            uint64_t delimiters = trs_delimiters_at(map, p - window, parts == 2);
            next = read_compact(w, &s, p, delimiters, &e, parts);
            if (next) keep_both(&s, &e, parts);
        }
    }
    end_loop(w, last, &s);
    return p;
}

/* Read the lines with entries from p on, whatever blanks they have; returns where the first line begins that holds none, or
 * the end. */
TRS_INLINE const char *parse_any(trs_mm_worker *w, loop *last, const char *p, const int parts,
                                 const bool usual)
{
    const char *end = w->text.end;
    loop s = start_loop(last, usual);
    entry e = {0, 0, {0, 0}};
    while (p < end && read_entry(w, &s, &p, &e, parts)) keep_both(&s, &e, parts);
    end_loop(w, last, &s);
    return p;
}

/* Read all lines of the text.  Most files have compact lines throughout, or none of them. */
TRS_INLINE void parse_lines(trs_mm_worker *w, loop *s, const int parts, const bool usual)
{
    const char *p = w->text.begin, *end = w->text.end;
    p = parse_compact(w, s, p, parts, usual);
    while ((p = parse_any(w, s, p, parts, usual)) < end) {
        p = pass_line(w, p);
        if (!p) break;
        if (p < end && !trs_mm_holds_nothing(p)) mark(w);
        if (w->code) break;
    }
    TRS_ASSERT(s->kept <= w->room && w->line <= end - w->text.begin);
    w->chunk.kept = s->kept;
}

void trs_mm_parse_entries(trs_mm_worker *w)
{
    const trs_mm_job *job = w->job;
    const trs_mm_head *h = &job->head;
    loop s = {.rows = (uint64_t)h->rows,
              .cols = (uint64_t)h->cols,
              .symmetry = h->symmetry,
              .integer = h->field == TRS_INTEGER,
              .exact = trs_mm_exact(job),
              .ij = w->ij,
              .val = w->val,
              .count = w->count,
              .kind = job->opt.kind,
              .shift = job->shift,
              .by_cols = job->by_cols};
    bool usual = s.symmetry == TRS_GENERAL && !s.kind && !s.integer && !s.by_cols;
    memset(w->count, 0, (size_t)job->ranges * sizeof *w->count);
    if (job->parts == 0) parse_lines(w, &s, 0, false);
    else if (job->parts == 2) parse_lines(w, &s, 2, false);
    else if (usual) parse_lines(w, &s, 1, true);
    else parse_lines(w, &s, 1, false);
}

/* ---- array files --------------------------------------------------------------------------- */

/* Values are in free form: several may stand on a line, but the two parts of a complex one stand together. */
void trs_mm_parse_values(trs_mm_worker *w)
{
    const int parts = w->job->parts;
    const bool integer = w->job->head.field == TRS_INTEGER;
    const char *p = w->text.begin, *end = w->text.end;
    bool fresh = true; /* at the beginning of a line, where a comment may stand */
    while (p < end && !w->code) {
        p = trs_skip_blanks(p);
        if (trs_mm_is_line_end(p) || (fresh && trs_mm_holds_nothing(p))) {
            p = trs_mm_line_end(p) + 1;
            w->line++;
            fresh = true;
            continue;
        }
        const char *after = read_value(w, p, w->val + parts * w->chunk.kept, parts, integer);
        if (!after || !(trs_is_blank(*after) || trs_mm_is_line_end(after))) {
            trs_mm_explain(w, p);
            return;
        }
        mark(w);
        w->chunk.kept++;
        w->chunk.entries++;
        fresh = false;
        p = after;
    }
}
