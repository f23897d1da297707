/* parse.h: one thread that turns text into chunks, shared by the files that do so.
 *
 *     parse.c      takes texts under the lock, returns chunks, and finds the first error of the file
 *     lines.c      the loop over the lines: a text into entries, in the order of the file
 *     explain.c    explains why a line is not an entry, by reading it again, slowly
 *     chunk.c      the entries into a chunk, range by range */
#ifndef TRS_MM_PARSE_H
#define TRS_MM_PARSE_H

#include "mm.h"
#include "store.h"
#include "io/decimal/digits.h"

typedef struct trs_mm_worker { /* one thread */
    trs_mm_job *job;
    trs_text text;      /* what it parses */
    trs_mm_store store; /* memory for its chunks */
    /* entries of the text, which stay in the cache: */
    int64_t room;
    int32_t *ij;    /* [2*room] major and minor index; array: NULL */
    double *val;    /* [parts*room] */
    int64_t *count; /* [ranges] how many there are in each range */
    char **next;    /* [ranges] where the next one of each range goes in the chunk */
    /* where they stand: */
    trs_mm_mark *mark; /* [mark_room] */
    int64_t mark_room;
    int64_t offset;     /* line less number of the entries since the last mark */
    trs_mm_chunk chunk; /* that is being made; before trs_mm_new_chunk only its counts are set */
    int64_t line;       /* how many '\n' of the text have been passed */
    int64_t rounded;    /* of all texts: integers that are no doubles */
    int code;           /* of an error in this text */
    char what[200];     /* its sentence */
} trs_mm_worker;

/* ---- lines without entries --------------------------------------------------------------------- */

/* The '\n' at p or after it. */
static inline const char *trs_mm_line_end(const char *p)
{
    while (*p != '\n') p++;
    return p;
}

static inline bool trs_mm_is_line_end(const char *p)
{
    while (*p == '\r') p++;
    return *p == '\n';
}

/* Is there a blank line or a comment at p?  A second banner is neither. */
static inline bool trs_mm_holds_nothing(const char *p)
{
    p = trs_skip_blanks(p);
    if (*p == '%') return strncmp(p, "%%MatrixMarket", 14) != 0;
    return trs_mm_is_line_end(p);
}

/* ---- the steps of a thread ---------------------------------------------------------------------- */

/* Keep the code and the sentence of an error in this text. */
void trs_mm_worker_fail(trs_mm_worker *w, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The entries of w->text into the buffers of w, or an error. */
void trs_mm_parse_entries(trs_mm_worker *w);
void trs_mm_parse_values(trs_mm_worker *w);

/* Read an integer of 64 bits, signed or not, whose bits x gets.  In a skew-symmetric file its negative must fit too.  NULL:
 * there is none. */
const char *trs_mm_read_exact(const trs_mm_head *h, const char *text, double *x);

/* Say why the line at p is no entry, or the text at p no value. */
void trs_mm_explain(trs_mm_worker *w, const char *p);

/* The chunk of what the buffers hold; NULL: out of memory, with an error in w. */
trs_mm_chunk *trs_mm_new_chunk(trs_mm_worker *w);

#endif
