/* mm_parse.c: data lines into chunks of entries, in all threads at once.
 *
 * A thread takes the next piece of text under the lock (for a mapped file that moves a pointer;
 * for a packed one it unpacks, while the others parse), reads its lines into buffers of its own
 * that stay in the cache, and moves the entries, those of one range of lines together, into a
 * chunk.
 *
 * The loop over the lines only knows "an entry" and "no entry".  What a line is that holds none
 * (blank, a comment, an error, and which), is found out by reading it again, slowly. */
#include "config.h"

#include "mm.h"
#include "mm_number.h"
#include "base/noun.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct worker { /* one thread */
    trs_mm_job *job;
    trs_text text;
    trs_mm_store store;
    int64_t room;      /* of the buffers */
    int32_t *ij;       /* [2*room] */
    double *val;       /* [words*room] */
    int64_t *from;     /* [ranges+1] entries of each range, one place up */
    char **next;       /* [ranges] where the next entry of each range goes */
    trs_mm_mark *mark; /* [mark_room] */
    int64_t mark_room;
    int64_t shift;    /* line minus number of the last entry */
    trs_mm_chunk now; /* the chunk in the making: its counts */
    int64_t line;     /* '\n' passed in this piece */
    int64_t rounded;
    int code; /* of an error in this piece */
    char what[200];
} worker;

typedef struct entry {
    int64_t i, j; /* from 0 */
    double v[2];
} entry;

static void note(worker *w, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void note(worker *w, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(w->what, sizeof w->what, format, args);
    va_end(args);
    w->code = code;
}

/* ---- memory -------------------------------------------------------------------------------- */

int64_t trs_mm_most_entries(const trs_mm_job *job, int64_t bytes)
{
    const trs_mm_head *h = &job->head;
    if (h->array) return bytes / (2 * job->words) + 1;
    int64_t lines = bytes / (4 + 2 * job->words) + 1;
    return h->symmetry == TRS_GENERAL ? lines : 2 * lines;
}

static void free_buffers(worker *w)
{
    trs_mm_job *job = w->job;
    trs_mm_delete(job, w->ij, 2 * w->room, sizeof *w->ij);
    trs_mm_delete(job, w->val, job->words * w->room, sizeof *w->val);
    w->ij = NULL;
    w->val = NULL;
    w->room = 0;
}

static bool make_room(worker *w, int64_t entries)
{
    trs_mm_job *job = w->job;
    if (entries <= w->room) return true;
    free_buffers(w);
    w->room = entries;
    if (!job->head.array) w->ij = trs_mm_new(job, 2 * entries, sizeof *w->ij);
    w->val = trs_mm_new(job, job->words * entries, sizeof *w->val);
    if ((w->ij || job->head.array) && w->val) return true;
    free_buffers(w);
    note(w, TRS_EMEM, "out of memory, or over the limit set: a buffer of %" PRId64 " %s", entries,
         trs_noun(entries, "entry", "entries"));
    return false;
}

/* Remember the line of the entry to come, when that is not the one after the last one's. */
static void mark(worker *w)
{
    trs_mm_chunk *c = &w->now;
    if (w->line - c->entries == w->shift) return;
    if (c->marks == w->mark_room) {
        int64_t room = 2 * w->mark_room + 16;
        trs_mm_mark *more = trs_mm_new(w->job, room, sizeof *more);
        if (!more) {
            note(w, TRS_EMEM, "out of memory, or over the limit set: %" PRId64 " line numbers",
                 room);
            return;
        }
        if (c->marks) memcpy(more, w->mark, (size_t)c->marks * sizeof *more);
        trs_mm_delete(w->job, w->mark, w->mark_room, sizeof *w->mark);
        w->mark = more;
        w->mark_room = room;
    }
    w->mark[c->marks++] = (trs_mm_mark){c->entries, w->line};
    w->shift = w->line - c->entries;
}

/* ---- lines that are no entry --------------------------------------------------------------- */

static const char *line_end(const char *p)
{
    while (*p != '\n') p++;
    return p;
}

static bool is_line_end(const char *p)
{
    while (*p == '\r') p++;
    return *p == '\n';
}

/* A blank line or a comment at p; a second banner is neither. */
static bool is_idle(const char *p)
{
    p = trs_skip_blanks(p);
    if (*p == '%') return strncmp(p, "%%MatrixMarket", 14) != 0;
    return is_line_end(p);
}

static const char *token_end(const char *p)
{
    while (!trs_is_blank(*p) && *p != '\r' && *p != '\n') p++;
    return p;
}

static bool explain_index(worker *w, const char *name, const char **at, int64_t most)
{
    const char *p = trs_skip_blanks(*at), *end = token_end(p);
    uint64_t k = 0;
    *at = end;
    if (trs_read_index(p, &k) == end && k - 1 < (uint64_t)most) return false;
    note(w, TRS_EFORMAT, "the %s must be a whole number from 1 to %" PRId64 ", read %s", name, most,
         trs_mm_show(p, end).s);
    return true;
}

/* Nothing but digits and a sign? */
static bool is_whole(const char *p, const char *end)
{
    p += *p == '-' || *p == '+';
    while (p < end && trs_is_digit(*p)) p++;
    return p == end;
}

static bool explain_value(worker *w, const char **at)
{
    const char *p = trs_skip_blanks(*at), *end = token_end(p);
    bool whole = w->job->head.field == TRS_INTEGER;
    double x;
    *at = end;
    if (trs_read_real(p, &x) == end && (!whole || is_whole(p, end))) return false;
    note(w, TRS_EFORMAT, "the value must be %s, read %s",
         whole ? "a whole number" : "a number within the range of double", trs_mm_show(p, end).s);
    return true;
}

static int count_tokens(const char *p)
{
    int n = 0;
    for (p = trs_skip_blanks(p); *p != '\n' && *p != '\r'; p = trs_skip_blanks(token_end(p))) n++;
    return n;
}

/* The line at p is well-formed, so it must break a rule of its symmetry. */
static void explain_symmetry(worker *w, int64_t i, int64_t j)
{
    static const char *const name[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    trs_symmetry s = w->job->head.symmetry;
    if (i < j)
        note(w, TRS_EFORMAT,
             "entry (%" PRId64 ", %" PRId64
             ") is above the diagonal; a %s file holds the lower triangle",
             i, j, name[s]);
    else
        note(w, TRS_EFORMAT, "diagonal entry %" PRId64 " of a %s matrix must be %s", i, name[s],
             s == TRS_SKEW ? "zero" : "real");
}

/* Why is the line at p no entry? */
static void explain(worker *w, const char *p)
{
    const trs_mm_head *h = &w->job->head;
    const char *at = p, *end = line_end(p);
    int must = w->job->words + (h->array ? 0 : 2), n = count_tokens(p);
    while (end > p && end[-1] == '\r') end--;
    if (!strncmp(trs_skip_blanks(p), "%%MatrixMarket", 14)) {
        note(w, TRS_EFORMAT, "a second banner: one file holds one matrix");
        return;
    }
    if (!h->array && (explain_index(w, "row", &at, h->rows) ||
                      (n > 1 && explain_index(w, "column", &at, h->cols))))
        return;
    for (int k = 0; k < w->job->words && k + must - w->job->words < n; k++)
        if (explain_value(w, &at)) return;
    if (n != must) {
        note(w, TRS_EFORMAT, "%d %s needed on this line, read %s", must,
             trs_noun(must, "number is", "numbers are"), trs_mm_show(p, end).s);
        return;
    }
    uint64_t i = 0, j = 0;
    at = trs_read_index(trs_skip_blanks(p), &i);
    if (at) trs_read_index(trs_skip_blanks(at), &j);
    explain_symmetry(w, (int64_t)i, (int64_t)j);
}

/* Go past a line that is no entry; NULL: it is an error. */
static const char *pass_line(worker *w, const char *p)
{
    if (!is_idle(p)) {
        explain(w, p);
        return NULL;
    }
    w->line++;
    return line_end(p) + 1;
}

/* ---- values -------------------------------------------------------------------------------- */

/* Is x the whole number p..end-1, or was that one too long for a double? */
static bool is_rounded(const char *p, const char *end, double x)
{
    uint64_t k;
    if (fabs(x) < 9007199254740992.0) return false;
    if (*p == '-') p++;
    if (trs_read_index_slow(p, &k) != end || k == UINT64_MAX) return true;
    return fabs(x) >= 0x1p64 || (uint64_t)fabs(x) != k;
}

static const char *read_integer(worker *w, const char *text, double *x)
{
    const char *p = text + (*text == '-' || *text == '+');
    while (trs_is_digit(*p)) p++;
    if (trs_read_real(text, x) != p) return NULL;
    w->rounded += is_rounded(text, p, *x);
    return p;
}

/* The value or the two at p; NULL: there is none. */
TRS_INLINE const char *read_value(worker *w, const char *p, double *v, int words, bool whole)
{
    if (words == 1 && whole) return read_integer(w, p, v);
    p = trs_read_real(p, v);
    if (words == 1 || !p) return p;
    return trs_is_blank(*p) ? trs_read_real(trs_skip_blanks(p + 1), v + 1) : NULL;
}

/* ---- coordinate files ---------------------------------------------------------------------- */

/* What a file with a symmetry may hold: the lower triangle, with a diagonal that is its own
 * mirror image. */
TRS_INLINE bool is_lawful(const entry *e, trs_symmetry s)
{
    if (e->i != e->j) return e->i > e->j;
    if (s == TRS_SKEW) return e->v[0] == 0 && e->v[1] == 0;
    return s != TRS_HERMITIAN || e->v[1] == 0;
}

typedef struct loop { /* what the loop over the lines needs, close at hand */
    uint64_t rows, cols;
    trs_symmetry symmetry;
    bool whole;  /* integers */
    int32_t *ij; /* the worker's buffers */
    double *val;
    int64_t *from, kept;
    int64_t entries; /* lines of this run */
    unsigned kind;
    int shift;
    bool by_cols;
} loop;

/* The loop to begin a run with.  plain: what most files are and are asked for, compiled without what the
 * others need. */
TRS_INLINE loop start_run(const loop *from, const bool plain)
{
    loop s = *from;
    s.entries = 0;
    if (!plain) return s;
    s.symmetry = TRS_GENERAL;
    s.kind = 0;
    s.whole = s.by_cols = false;
    return s;
}

static inline void end_run(worker *w, loop *to, const loop *s)
{
    to->kept = s->kept;
    w->now.entries += s->entries;
    w->line += s->entries;
}

/* What stands from p to the end of an even line.  Only numbers of other forms have an address, so that
 * the common one stays in a register. */
TRS_INLINE bool read_even_value(worker *w, const loop *s, const char *p, const char *nl, entry *e,
                                int words)
{
    double x, v[2] = {0, 0};
    if (p[-1] != ' ') return false;
    if (words == 1 && !s->whole && trs_read_plain(p, nl, &x)) {
        e->v[0] = x;
        return true;
    }
    const char *end = read_value(w, p, v, words, s->whole);
    e->v[0] = v[0];
    e->v[1] = v[1];
    return end == nl;
}

/* The entry on the line at p when its numbers are parted by one blank each and nothing else is there, as
 * programs write it; `gaps` are those of the 64 characters at p.  Returns where the next line begins,
 * NULL: the line is written in another way, or holds no entry. */
TRS_INLINE const char *read_even(worker *w, const loop *s, const char *p, uint64_t gaps, entry *e,
                                 int words)
{
    uint64_t rest = gaps & (gaps - 1), end = rest;
    for (int k = 0; k < words; k++) end &= end - 1;
    if (!end) return NULL;
    int64_t a = __builtin_ctzll(gaps), b = __builtin_ctzll(rest) - a - 1; /* digits of i and j */
    const char *nl = p + __builtin_ctzll(end), *at_j = p + a + 1, *at_v = at_j + b + 1;
    if ((uint64_t)((a - 1) | (b - 1)) > 7) return NULL;
    trs_sixteen ij =
        trs_make_sixteen(trs_eight(p) << (64 - 8 * a), trs_eight(at_j) << (64 - 8 * b));
    uint64_t pair = trs_join_sixteen(ij), i = (pair & UINT32_MAX) - 1, j = (pair >> 32) - 1;
    if (!trs_are_sixteen_digits(ij) || i >= s->rows || j >= s->cols) return NULL;
    if (*nl != '\n' || at_j[-1] != ' ') return NULL;
    if (words && !read_even_value(w, s, at_v, nl, e, words)) return NULL;
    e->i = (int64_t)i;
    e->j = (int64_t)j;
    return s->symmetry == TRS_GENERAL || is_lawful(e, s->symmetry) ? nl + 1 : NULL;
}

/* The entry on the line at *at; false: there is none. */
TRS_INLINE bool read_entry(worker *w, const loop *s, const char **at, entry *e, int words)
{
    uint64_t i, j;
    const char *p = trs_read_index(trs_skip_blanks(*at), &i);
    if (!p || !trs_is_blank(*p)) return false;
    p = trs_read_index(trs_skip_blanks(p + 1), &j);
    if (!p || i - 1 >= s->rows || j - 1 >= s->cols) return false;
    if (words) {
        if (!trs_is_blank(*p)) return false;
        if (!(p = read_value(w, trs_skip_blanks(p + 1), e->v, words, s->whole))) return false;
    }
    if (*p != '\n') {
        p = trs_skip_blanks(p);
        while (*p == '\r') p++;
        if (*p != '\n') return false;
    }
    e->i = (int64_t)i - 1;
    e->j = (int64_t)j - 1;
    if (s->symmetry != TRS_GENERAL && !is_lawful(e, s->symmetry)) return false;
    *at = p + 1;
    return true;
}

/* Row i, column j, unless the other triangle was not wanted. */
TRS_INLINE void keep(loop *s, int64_t i, int64_t j, double re, double im, int words)
{
    if (((s->kind & TRS_LOWER) && i < j) || ((s->kind & TRS_UPPER) && i > j)) return;
    int64_t k = s->kept++, line = s->by_cols ? j : i;
    s->ij[2 * k] = (int32_t)line;
    s->ij[2 * k + 1] = (int32_t)(s->by_cols ? i : j);
    if (words) s->val[words * k] = re;
    if (words == 2) s->val[2 * k + 1] = im;
    s->from[(line >> s->shift) + 1]++;
}

/* The mirror image of an entry below the diagonal. */
TRS_INLINE void keep_mirror(loop *s, const entry *e, int words)
{
    double re = s->symmetry == TRS_SKEW ? -e->v[0] : e->v[0];
    double im = s->symmetry == TRS_SYMMETRIC ? e->v[1] : -e->v[1];
    keep(s, e->j, e->i, re, im, words);
}

/* One line more: its entry, and the mirror image of that. */
TRS_INLINE void keep_both(loop *s, const entry *e, int words)
{
    s->entries++;
    keep(s, e->i, e->j, e->v[0], e->v[1], words);
    if (s->symmetry != TRS_GENERAL && e->i != e->j) keep_mirror(s, e, words);
}

/* The even lines from p on; where the first line begins that is not even, or the end.  Where the gaps
 * are is known before the lines are read, so that the processor is at work on several at a time. */
TRS_INLINE const char *parse_even(worker *w, loop *to, const char *p, const int words,
                                  const bool plain)
{
    char gaps[TRS_WINDOW / 8 + 16];
    const char *end = w->text.end, *from = NULL;
    loop s = start_run(to, plain);
    entry e = {0, 0, {0, 0}};
    while (p < end && p != from) { /* the last line of a window is read with the next one */
        const char *next = from = p, *stop = end - p < TRS_WINDOW ? end : p + TRS_WINDOW;
        trs_map_gaps(from, stop - from, gaps);
        while (next && (p = next) < stop) {
            next = read_even(w, &s, p, trs_gaps_at(gaps, p - from, words == 2), &e, words);
            if (next) keep_both(&s, &e, words);
        }
    }
    end_run(w, to, &s);
    return p;
}

/* The lines from p on that hold entries, whatever blanks they have; where the first one begins that does
 * not, or the end. */
TRS_INLINE const char *parse_any(worker *w, loop *to, const char *p, const int words,
                                 const bool plain)
{
    const char *end = w->text.end;
    loop s = start_run(to, plain);
    entry e = {0, 0, {0, 0}};
    while (p < end && read_entry(w, &s, &p, &e, words)) keep_both(&s, &e, words);
    end_run(w, to, &s);
    return p;
}

TRS_INLINE void parse_lines(worker *w, loop *s, const int words, const bool plain)
{
    const char *p = w->text.begin, *end = w->text.end;
    p = parse_even(w, s, p, words, plain); /* a file mostly is even, or is not, throughout */
    while ((p = parse_any(w, s, p, words, plain)) < end) {
        p = pass_line(w, p);
        if (!p) break;
        if (p < end && !is_idle(p)) mark(w);
        if (w->code) break;
    }
    w->now.kept = s->kept;
}

static void parse_entries(worker *w)
{
    const trs_mm_job *job = w->job;
    const trs_mm_head *h = &job->head;
    loop s = {.rows = (uint64_t)h->rows,
              .cols = (uint64_t)h->cols,
              .symmetry = h->symmetry,
              .whole = h->field == TRS_INTEGER,
              .ij = w->ij,
              .val = w->val,
              .from = w->from,
              .kind = job->opt.kind,
              .shift = job->shift,
              .by_cols = job->by_cols};
    bool plain = s.symmetry == TRS_GENERAL && !s.kind && !s.whole && !s.by_cols;
    memset(w->from, 0, (size_t)(job->ranges + 1) * sizeof *w->from);
    if (job->words == 0) parse_lines(w, &s, 0, false);
    else if (job->words == 2) parse_lines(w, &s, 2, false);
    else if (plain) parse_lines(w, &s, 1, true);
    else parse_lines(w, &s, 1, false);
}

/* ---- array files --------------------------------------------------------------------------- */

/* Values in free form: several may stand on a line, the two of a complex one together. */
static void parse_values(worker *w, int words)
{
    const char *p = w->text.begin, *end = w->text.end;
    bool fresh = true; /* at the beginning of a line, where a comment may stand */
    while (p < end && !w->code) {
        p = trs_skip_blanks(p);
        if (is_line_end(p) || (fresh && is_idle(p))) {
            p = line_end(p) + 1;
            w->line++;
            fresh = true;
            continue;
        }
        const char *after = read_value(w, p, w->val + words * w->now.kept, words,
                                       w->job->head.field == TRS_INTEGER);
        if (!after || !(trs_is_blank(*after) || is_line_end(after))) {
            explain(w, p);
            return;
        }
        mark(w);
        w->now.kept++;
        w->now.entries++;
        fresh = false;
        p = after;
    }
}

/* ---- chunks -------------------------------------------------------------------------------- */

/* Move the entries of the buffers to the chunk, range by range. */
TRS_INLINE void sort_ranges(worker *w, const int words, const bool wide)
{
    const trs_mm_job *job = w->job;
    char **next = w->next;
    int shift = job->shift;
    for (int64_t k = 0; k < w->now.kept; k++) {
        int64_t i = w->ij[2 * k];
        char *p = next[i >> shift];
        uint64_t key = trs_mm_key(job, i, w->ij[2 * k + 1]);
        uint32_t narrow = (uint32_t)key;
        if (wide) memcpy(p, &key, sizeof key);
        else memcpy(p, &narrow, sizeof narrow);
        if (words) memcpy(p + (wide ? 8 : 4), w->val + words * k, (size_t)words * 8);
        next[i >> shift] = p + trs_mm_entry_bytes(words, wide);
    }
}

/* Places for the entries of each range; false: no memory. */
static bool find_places(worker *w, char *base, const char **part)
{
    const trs_mm_job *job = w->job;
    int64_t size = trs_mm_entry_bytes(job->words, job->wide);
    for (int r = 0; r < job->ranges; r++) {
        int64_t n = w->from[r + 1] - w->from[r];
        w->next[r] =
            part ? n ? trs_mm_carve_range(&w->store, r, size * n) : NULL : base + size * w->from[r];
        if (part) part[r] = w->next[r];
        if (n && !w->next[r]) return false;
    }
    return true;
}

/* The entries of the buffers become those of the chunk. */
static bool move_entries(worker *w, char *base, const char **part)
{
    const trs_mm_job *job = w->job;
    if (job->head.array) {
        memcpy(base, w->val, (size_t)(job->words * w->now.kept) * sizeof *w->val);
        return true;
    }
    if (!find_places(w, base, part)) return false;
    if (job->words == 1 && !job->wide) sort_ranges(w, 1, false);
    else if (job->words == 1) sort_ranges(w, 1, true);
    else if (job->words == 0) sort_ranges(w, 0, job->wide);
    else sort_ranges(w, 2, job->wide);
    return true;
}

/* The counts of a coordinate file: from[r] becomes where range r begins. */
static void sum_counts(worker *w, int64_t *from)
{
    for (int r = 0; r < w->job->ranges; r++) w->from[r + 1] += w->from[r];
    memcpy(from, w->from, (size_t)(w->job->ranges + 1) * sizeof *from);
}

static trs_mm_chunk *new_chunk(worker *w)
{
    trs_mm_job *job = w->job;
    trs_mm_chunk *c = &w->now;
    bool array = job->head.array, parts = !array && job->block;
    if (w->code) c->kept = 0; /* only its counts are wanted */
    int64_t size = array ? 8 * job->words : trs_mm_entry_bytes(job->words, job->wide);
    int64_t at_from = (int64_t)sizeof *c, at_part = at_from + (array ? 0 : 8 * (job->ranges + 1));
    int64_t at_mark = at_part + (parts ? 8 * job->ranges : 0), at_entry = at_mark + 16 * c->marks;
    char *block = trs_mm_carve(&w->store, at_entry + (parts ? 0 : size * c->kept));
    const char **part = parts && block ? (const char **)(void *)(block + at_part) : NULL;
    if (block && !array) sum_counts(w, (int64_t *)(void *)(block + at_from));
    if (!block || (c->kept && !move_entries(w, block + at_entry, part))) {
        note(w, TRS_EMEM, "out of memory, or over the limit set: %" PRId64 " %s", c->kept,
             trs_noun(c->kept, "entry", "entries"));
        return NULL;
    }
    if (c->marks) memcpy(block + at_mark, w->mark, (size_t)c->marks * sizeof *w->mark);
    c->from = (const int64_t *)(const void *)(block + at_from);
    c->part = (const char *const *)part;
    c->entry = block + at_entry;
    c->mark = (const trs_mm_mark *)(const void *)(block + at_mark);
    return memcpy(block, c, sizeof *c);
}

static void parse_piece(worker *w)
{
    trs_mm_job *job = w->job;
    w->now = (trs_mm_chunk){0};
    w->line = w->shift = w->code = 0;
    if (!make_room(w, trs_mm_most_entries(job, w->text.end - w->text.begin))) return;
    if (job->head.array) parse_values(w, job->words);
    else parse_entries(w);
    w->now.lines = w->line - w->text.cut;
}

/* ---- the threads --------------------------------------------------------------------------- */

/* Under the lock: the error of piece k, unless an earlier piece has one. */
static void set_error(trs_mm_job *job, int code, int64_t k, int64_t line, const char *what)
{
    job->stop = true;
    if (job->code && job->code_chunk <= k) return;
    job->code = code;
    job->code_chunk = k;
    job->code_line = line;
    snprintf(job->what, sizeof job->what, "%s", what);
}

/* Under the lock: a place for one more chunk. */
static bool grow_list(trs_mm_job *job)
{
    if (job->chunks < job->room) return true;
    int64_t room = 2 * job->room + 64;
    trs_mm_chunk **more = trs_alloc(&job->opt.memory, room, sizeof *more);
    if (!more) return false;
    if (job->chunks) memcpy(more, job->chunk, (size_t)job->chunks * sizeof *more);
    trs_free(&job->opt.memory, job->chunk);
    job->chunk = more;
    job->room = room;
    return true;
}

/* The next piece of text; its number, or -1: no more. */
static int64_t take(worker *w)
{
    trs_mm_job *job = w->job;
    int64_t k = -1;
    trs_mm_lock(job);
    if (!job->stop && !grow_list(job)) set_error(job, TRS_EMEM, job->chunks, -1, "out of memory");
    if (!job->stop) {
        int rc = trs_input_next(job->in, job->piece, &w->text);
        if (rc < 0) set_error(job, rc, job->chunks, -1, "");
        if (rc <= 0) job->stop = true;
        if (rc == 1) {
            k = job->chunks++;
            job->chunk[k] = NULL;
            job->bytes += w->text.end - w->text.begin - w->text.cut;
        }
    }
    trs_mm_unlock(job);
    return k;
}

/* The chunk is ready, or failed; no more text is wanted when it holds more than was announced. */
static void give(worker *w, int64_t k)
{
    trs_mm_job *job = w->job;
    trs_mm_chunk *c = w->code == TRS_EMEM ? NULL : new_chunk(w);
    trs_mm_lock(job);
    job->chunk[k] = c;
    if (w->code) set_error(job, w->code, k, w->code == TRS_EMEM ? -1 : w->line, w->what);
    if (c) job->entries += c->entries;
    if (job->entries > job->head.stored) job->stop = true;
    trs_mm_unlock(job);
}

static void report_progress(trs_mm_job *job)
{
    if (!job->opt.progress) return;
    trs_mm_lock(job);
    double done = trs_input_done(job->in);
    trs_mm_unlock(job);
    if (!job->opt.progress(job->opt.user, done)) return;
    trs_mm_lock(job);
    set_error(job, TRS_EFILE, -1, -1, "reading was stopped by the caller");
    trs_mm_unlock(job);
}

/* What a thread needs for the ranges; false: no memory. */
static bool new_lists(worker *w)
{
    trs_mm_job *job = w->job;
    w->store.job = job;
    w->from = trs_mm_new(job, job->ranges + 1, sizeof *w->from);
    w->next = trs_mm_new(job, job->ranges, sizeof *w->next);
    if (job->block) w->store.space = trs_mm_new(job, job->ranges, sizeof *w->store.space);
    if (!w->from || !w->next || (job->block && !w->store.space)) return false;
    if (job->block) memset(w->store.space, 0, (size_t)job->ranges * sizeof *w->store.space);
    return true;
}

static void free_worker(worker *w)
{
    trs_mm_job *job = w->job;
    free_buffers(w);
    trs_mm_delete(job, w->from, job->ranges + 1, sizeof *w->from);
    trs_mm_delete(job, w->next, job->ranges, sizeof *w->next);
    trs_mm_delete(job, w->store.space, job->ranges, sizeof *w->store.space);
    trs_mm_delete(job, w->mark, w->mark_room, sizeof *w->mark);
    trs_mm_lock(job);
    trs_input_text_free(job->in, &w->text);
    job->rounded += w->rounded;
    trs_mm_unlock(job);
}

static void work(trs_mm_job *job, bool first)
{
    worker w = {.job = job};
    int64_t k;
    if (!new_lists(&w)) {
        trs_mm_lock(job);
        set_error(job, TRS_EMEM, -1, -1, "out of memory, or over the limit set");
        trs_mm_unlock(job);
    }
    for (;;) {
        if (first) report_progress(job);
        if ((k = take(&w)) < 0) break;
        parse_piece(&w);
        give(&w, k);
    }
    free_worker(&w);
}

/* Lists of blocks, when the memory of a range is to be given back as soon as it is built. */
static int new_block_lists(trs_mm_job *job)
{
    if (!job->opt.low_memory || job->head.array) return TRS_OK;
    job->block = trs_alloc_zero(&job->opt.memory, job->ranges, sizeof *job->block);
    return job->block ? TRS_OK : trs_mm_fail(job, TRS_EMEM, -1, "out of memory");
}

/* ---- what came of it ----------------------------------------------------------------------- */

/* The number of the line that entry e of chunk k stands on. */
int64_t trs_mm_line(const trs_mm_job *job, int64_t k, int64_t e)
{
    const trs_mm_chunk *c = job->chunk[k];
    trs_mm_mark m = {0, 0};
    for (int64_t t = 0; t < c->marks && c->mark[t].entry <= e; t++) m = c->mark[t];
    int64_t line = job->head.line + 1 + m.line + (e - m.entry);
    for (int64_t t = 0; t < k; t++) line += job->chunk[t]->lines;
    return line;
}

/* The chunks in the order of the file: the first error of any kind is the one to report. */
static int review(trs_mm_job *job)
{
    trs_mm_head *h = &job->head;
    const char *unit = h->array ? "value" : "entry";
    int64_t total = 0, lines = h->line;
    if (job->code && job->code_chunk < 0) return trs_mm_fail(job, job->code, -1, "%s", job->what);
    for (int64_t k = 0; k < job->chunks; k++) {
        const trs_mm_chunk *c = job->chunk[k];
        if (c && total + c->entries > h->stored)
            return trs_mm_fail(job, TRS_EFORMAT, trs_mm_line(job, k, h->stored - total),
                               "one %s more than the %" PRId64 " announced in line %" PRId64, unit,
                               h->stored, h->line);
        if (job->code && job->code_chunk == k)
            return trs_mm_fail(job, job->code, job->code_line < 0 ? -1 : lines + job->code_line + 1,
                               "%s", job->what);
        total += c->entries;
        lines += c->lines;
    }
    if (job->code && !*job->what) return trs_fail(job->code, "%s", trs_input_message(job->in));
    if (job->code) return trs_mm_fail(job, job->code, -1, "%s", job->what);
    if (total == h->stored) return TRS_OK;
    int rc = trs_mm_check_promise(job, job->bytes);
    if (rc) return rc;
    bool cut =
        h->cut && !job->chunks; /* a last line without its '\n' is not among the chunks' lines */
    return trs_mm_fail(job, TRS_EFORMAT, lines + !cut,
                       "the file ends after %" PRId64 " of the %" PRId64
                       " %s announced in line %" PRId64,
                       total, h->stored, trs_mm_stored_noun(h), h->line);
}

int trs_mm_parse(trs_mm_job *job)
{
    int rc = new_block_lists(job);
    if (rc) return rc;
    TRS_OMP(omp parallel num_threads(job->threads))
    {
        bool first = true;
#ifdef _OPENMP
        first = omp_get_thread_num() == 0;
#endif
        work(job, first);
    }
    return review(job);
}
