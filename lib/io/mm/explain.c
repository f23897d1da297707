/* explain.c: why a line is no entry.
 *
 * The loop over the lines only knows "an entry" and "no entry", so that it is fast.  A line that holds none is read again
 * here, word by word, until the first thing is found that is wrong. */
#include "config.h"

#include "parse.h"
#include "base/noun.h"
#include "io/decimal/read.h"

#include <inttypes.h>
#include <string.h>

static const char *token_end(const char *p)
{
    while (!trs_is_blank(*p) && *p != '\r' && *p != '\n') p++;
    return p;
}

/* Is the index at *at wrong?  Then the error is set.  *at moves behind it. */
static bool explain_index(trs_mm_worker *w, const char *name, const char **at, int64_t most)
{
    const char *p = trs_skip_blanks(*at), *end = token_end(p);
    uint64_t k = 0;
    *at = end;
    if (trs_read_index(p, &k) == end && k - 1 < (uint64_t)most) return false;
    trs_mm_worker_fail(w, TRS_EFORMAT,
                       "the %s must be a whole number from 1 to %" PRId64 "; found %s", name, most,
                       trs_mm_show(p, end).s);
    return true;
}

/* Is p..end-1 nothing but digits and a sign? */
static bool is_whole(const char *p, const char *end)
{
    p += *p == '-' || *p == '+';
    while (p < end && trs_is_digit(*p)) p++;
    return p == end;
}

/* Does the whole number p..end-1 not fit?  Then the error is set. */
static bool explain_exact(trs_mm_worker *w, const char *p, const char *end)
{
    double x;
    if (trs_mm_read_exact(&w->job->head, p, &x) == end) return false;
    w->rounded++;
    trs_mm_worker_fail(w, TRS_EFORMAT, "the value must fit %s integer of 64 bits%s; found %s",
                       w->job->head.is_unsigned ? "an unsigned" : "a signed",
                       w->job->head.symmetry == TRS_SKEW ? ", and its negative too" : "",
                       trs_mm_show(p, end).s);
    return true;
}

/* Is the value at *at wrong?  Then the error is set.  *at moves behind it. */
static bool explain_value(trs_mm_worker *w, const char **at)
{
    const char *p = trs_skip_blanks(*at), *end = token_end(p);
    bool integer = w->job->head.field == TRS_INTEGER;
    double x;
    *at = end;
    if (integer && is_whole(p, end) && trs_mm_exact(w->job)) return explain_exact(w, p, end);
    if (trs_read_real(p, &x) == end && (!integer || is_whole(p, end))) return false;
    trs_mm_worker_fail(w, TRS_EFORMAT, "the value must be %s; found %s",
                       integer ? "a whole number" : "a number within the range of double",
                       trs_mm_show(p, end).s);
    return true;
}

static int count_tokens(const char *p)
{
    int n = 0;
    for (p = trs_skip_blanks(p); *p != '\n' && *p != '\r'; p = trs_skip_blanks(token_end(p))) n++;
    return n;
}

/* The line is well-formed, so that entry (i, j) must break a rule of the symmetry. */
static void explain_symmetry(trs_mm_worker *w, int64_t i, int64_t j)
{
    const trs_symmetry s = w->job->head.symmetry;
    const char *name = trs_mm_symmetry[s];
    if (i < j)
        trs_mm_worker_fail(
            w, TRS_EFORMAT,
            "entry (%" PRId64 ", %" PRId64
            ") is above the diagonal; a %s file must contain only the lower triangle",
            i, j, name);
    else
        trs_mm_worker_fail(w, TRS_EFORMAT, "diagonal entry %" PRId64 " of a %s matrix must be %s",
                           i, name, s == TRS_SKEW ? "zero" : "real");
}

void trs_mm_explain(trs_mm_worker *w, const char *p)
{
    const trs_mm_head *h = &w->job->head;
    const char *at = p, *end = trs_mm_line_end(p);
    int must = w->job->parts + (h->array ? 0 : 2), n = count_tokens(p);
    while (end > p && end[-1] == '\r') end--;
    if (!strncmp(trs_skip_blanks(p), "%%MatrixMarket", 14)) {
        trs_mm_worker_fail(w, TRS_EFORMAT, "a second banner: a file must contain only one matrix");
        return;
    }
    if (!h->array && (explain_index(w, "row", &at, h->rows) ||
                      (n > 1 && explain_index(w, "column", &at, h->cols))))
        return;
    for (int k = 0; k < w->job->parts && k + must - w->job->parts < n; k++)
        if (explain_value(w, &at)) return;
    if (n != must) {
        trs_mm_worker_fail(w, TRS_EFORMAT, "expected %d %s on this line; found %s", must,
                           trs_noun(must, "number", "numbers"), trs_mm_show(p, end).s);
        return;
    }
    uint64_t i = 0, j = 0;
    at = trs_read_index(trs_skip_blanks(p), &i);
    if (at) trs_read_index(trs_skip_blanks(at), &j);
    explain_symmetry(w, (int64_t)i, (int64_t)j);
}
