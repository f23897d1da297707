/* parse.c: all text into chunks, in all threads at once.
 *
 * A thread takes the next text under the lock: for a mapped file that moves a pointer, a packed one is unpacked by this
 * thread while the others parse.  It reads the lines into buffers that stay in its cache (lines.c), moves the entries into
 * a chunk (chunk.c), and gives the chunk back under the number of its text.
 *
 *     thread 0    take 0 | parse . . . . | give 0 | take 2 | parse . . . .
 *     thread 1             take 1 | parse . . . . . . | give 1 | take 3 | parse
 *
 * After an error, or when all entries are there, no more text is taken; of several errors the first in the file counts. */
#include "config.h"

#include "parse.h"
#include "base/noun.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PARSING = 10 }; /* operations for a byte, about */

void trs_mm_worker_fail(trs_mm_worker *w, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(w->what, sizeof w->what, format, args);
    va_end(args);
    w->code = code;
}

/* ---- buffers -------------------------------------------------------------------------------- */

int64_t trs_mm_most_entries(const trs_mm_job *job, int64_t bytes)
{
    const trs_mm_head *h = &job->head;
    if (h->array) return bytes / (2 * job->parts) + 1;
    int64_t lines = bytes / (4 + 2 * job->parts) + 1;
    if (h->symmetry != TRS_GENERAL) lines *= 2;
    return lines;
}

static void free_buffers(trs_mm_worker *w)
{
    trs_mm_job *job = w->job;
    trs_mm_delete(job, w->ij, 2 * w->room, sizeof *w->ij);
    trs_mm_delete(job, w->val, job->parts * w->room, sizeof *w->val);
    w->ij = NULL;
    w->val = NULL;
    w->room = 0;
}

static bool make_room(trs_mm_worker *w, int64_t entries)
{
    trs_mm_job *job = w->job;
    if (entries <= w->room) return true;
    free_buffers(w);
    w->room = entries;
    if (!job->head.array) w->ij = trs_mm_new(job, 2 * entries, sizeof *w->ij);
    w->val = trs_mm_new(job, job->parts * entries, sizeof *w->val);
    if ((w->ij || job->head.array) && w->val) return true;
    free_buffers(w);
    trs_mm_worker_fail(w, TRS_EMEM, "out of memory or over the limit: a buffer of %" PRId64 " %s",
                       entries, trs_noun(entries, "entry", "entries"));
    return false;
}

static void parse_text(trs_mm_worker *w)
{
    trs_mm_job *job = w->job;
    w->chunk = (trs_mm_chunk){0};
    w->line = w->offset = 0;
    w->code = TRS_OK;
    TRS_ASSERT(w->text.begin < w->text.end && w->text.end[-1] == '\n');
    if (!make_room(w, trs_mm_most_entries(job, w->text.end - w->text.begin))) return;
    if (job->head.array) trs_mm_parse_values(w);
    else trs_mm_parse_entries(w);
    w->chunk.lines = w->line - w->text.cut;
}

/* ---- the threads --------------------------------------------------------------------------- */

/* Set the error of text k, unless an earlier text has one; call it under the lock. */
static void set_error(trs_mm_job *job, int code, int64_t k, int64_t line, const char *what)
{
    job->stop = true;
    if (job->code && job->code_chunk <= k) return;
    job->code = code;
    job->code_chunk = k;
    job->code_line = line;
    snprintf(job->what, sizeof job->what, "%s", what);
}

/* Make a place for one more chunk; call it under the lock. */
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

/* Take the next text; returns its number, or -1: there is no more. */
static int64_t take(trs_mm_worker *w)
{
    trs_mm_job *job = w->job;
    int64_t k = -1;
    trs_mm_lock(job);
    if (!job->stop && !grow_list(job)) set_error(job, TRS_EMEM, job->chunks, -1, "out of memory");
    if (!job->stop) {
        int rc = trs_input_next(job->in, job->text_bytes, &w->text);
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

/* The chunk is ready, or parsing it failed.  No more text is wanted when it holds more than was announced. */
static void give(trs_mm_worker *w, int64_t k)
{
    trs_mm_job *job = w->job;
    trs_mm_chunk *c = w->code == TRS_EMEM ? NULL : trs_mm_new_chunk(w);
    trs_mm_lock(job);
    TRS_ASSERT(k >= 0 && k < job->chunks && !job->chunk[k]);
    job->chunk[k] = c;
    if (w->code) set_error(job, w->code, k, w->code == TRS_EMEM ? -1 : w->line, w->what);
    if (c) job->entries += c->entries;
    if (job->entries > job->head.stored) job->stop = true;
    trs_mm_unlock(job);
}

static void report_progress(trs_mm_job *job)
{
    trs_mm_lock(job);
    double done = trs_input_done(job->in);
    trs_mm_unlock(job);
    const bool stop = job->opt.progress && job->opt.progress(job->opt.user, fmax(done, 0));
    if (!trs_step("reading", done) && !stop) return;
    trs_mm_lock(job);
    set_error(job, TRS_ECANCELED, -1, -1, "canceled by the caller");
    trs_mm_unlock(job);
}

/* Memory of a thread for all ranges; false: there is not enough. */
static bool new_lists(trs_mm_worker *w)
{
    trs_mm_job *job = w->job;
    w->store.job = job;
    w->count = trs_mm_new(job, job->ranges, sizeof *w->count);
    w->next = trs_mm_new(job, job->ranges, sizeof *w->next);
    if (job->pages) w->store.space = trs_mm_new(job, job->ranges, sizeof *w->store.space);
    if (!w->count || !w->next || (job->pages && !w->store.space)) return false;
    if (job->pages) memset(w->store.space, 0, (size_t)job->ranges * sizeof *w->store.space);
    return true;
}

static void free_worker(trs_mm_worker *w)
{
    trs_mm_job *job = w->job;
    free_buffers(w);
    trs_mm_delete(job, w->count, job->ranges, sizeof *w->count);
    trs_mm_delete(job, w->next, job->ranges, sizeof *w->next);
    trs_mm_delete(job, w->store.space, job->ranges, sizeof *w->store.space);
    trs_mm_delete(job, w->mark, w->mark_room, sizeof *w->mark);
    trs_mm_lock(job);
    trs_input_text_free(job->in, &w->text);
    job->rounded += w->rounded;
    trs_mm_unlock(job);
}

/* What each thread does; the first one reports the progress. */
static void work_on(trs_mm_job *job, bool first)
{
    trs_mm_worker w = {.job = job};
    int64_t k, work = 0;
    if (!new_lists(&w)) {
        trs_mm_lock(job);
        set_error(job, TRS_EMEM, -1, -1, "out of memory or over the limit");
        trs_mm_unlock(job);
    }
    if (first) report_progress(job);
    while ((k = take(&w)) >= 0) {
        parse_text(&w);
        give(&w, k);
        if (first && trs_is_time(&work, PARSING * job->text_bytes)) report_progress(job);
    }
    free_worker(&w);
}

/* Lists of the pages of each range, when these are to be given back as soon as the range is built. */
static int new_page_lists(trs_mm_job *job)
{
    if (!job->opt.low_memory || job->head.array) return TRS_OK;
    job->pages = trs_alloc_zero(&job->opt.memory, job->ranges, sizeof *job->pages);
    if (job->pages) return TRS_OK;
    return trs_mm_fail(job, TRS_EMEM, -1, "out of memory");
}

/* ---- the first error ------------------------------------------------------------------------ */

/* Report too many entries, or an error, of chunk k, whose text begins after `lines` lines and `total` entries. */
static int check_chunk(trs_mm_job *job, int64_t k, int64_t lines, int64_t total)
{
    const trs_mm_head *h = &job->head;
    const trs_mm_chunk *c = job->chunk[k];
    if (c && total + c->entries > h->stored)
        return trs_mm_fail(job, TRS_EFORMAT, trs_mm_line(job, k, h->stored - total),
                           "more %s than the %" PRId64 " announced in line %" PRId64,
                           h->array ? "values" : "entries", h->stored, h->line);
    if (!job->code || job->code_chunk != k) return TRS_OK;
    if (job->code_line >= 0) lines += job->code_line + 1;
    else lines = -1;
    return trs_mm_fail(job, job->code, lines, "%s", job->what);
}

/* The text ends after so many entries, which are fewer than were announced. */
static int fail_short(trs_mm_job *job, int64_t lines, int64_t total)
{
    const trs_mm_head *h = &job->head;
    int rc = trs_mm_check_promise(job, job->bytes);
    if (rc) return rc;
    bool cut = h->cut && !job->chunks; /* then the last line, which has no '\n', is the size line */
    return trs_mm_fail(job, TRS_EFORMAT, lines + !cut,
                       "the file ends after %" PRId64 " of the %" PRId64
                       " %s announced in line %" PRId64,
                       total, h->stored, trs_mm_stored_noun(h), h->line);
}

/* Go through the chunks in the order of the file: the first error of any kind is the one to report. */
static int find_error(trs_mm_job *job)
{
    int64_t total = 0, lines = job->head.line;
    if (job->code && job->code_chunk < 0) return trs_mm_fail(job, job->code, -1, "%s", job->what);
    for (int64_t k = 0; k < job->chunks; k++) {
        const trs_mm_chunk *c = job->chunk[k];
        int rc = check_chunk(job, k, lines, total);
        if (rc) return rc;
        TRS_ASSERT(c); /* a text without a chunk has an error, which was reported */
        total += c->entries;
        lines += c->lines;
    }
    if (job->code && !*job->what) return trs_fail(job->code, "%s", trs_input_message(job->in));
    if (job->code) return trs_mm_fail(job, job->code, -1, "%s", job->what);
    TRS_ASSERT(total <= job->head.stored && total == job->entries);
    if (total == job->head.stored) return TRS_OK;
    return fail_short(job, lines, total);
}

int trs_mm_parse(trs_mm_job *job)
{
    int rc = new_page_lists(job);
    if (rc) return rc;
#pragma omp parallel num_threads(job->threads)
    {
        bool first = true;
#ifdef _OPENMP
        first = omp_get_thread_num() == 0;
#endif
        work_on(job, first);
    }
    return find_error(job);
}
