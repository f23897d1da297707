/* io.c: --io: how fast files are read, built into CSR and written, and the screen of it.
 *
 * A megabyte is 10^6 bytes of text, unpacked, or of the text that was written. */
#include "config.h"

#include "bench.h"
#include "bin/common/files.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEAST = 3, MOST = 25 };

typedef struct series { /* of one file */
    int count;
    double total[MOST], parse[MOST], build[MOST], write[MOST];
} series;

/* ---- measuring -------------------------------------------------------------------------------- */

static double median(const double *v, int count)
{
    double s[MOST];
    for (int k = 0; k < count; k++) { /* insertion: there are few */
        int p = k;
        for (; p > 0 && s[p - 1] > v[k]; p--) s[p] = s[p - 1];
        s[p] = v[k];
    }
    return 0.5 * (s[(count - 1) / 2] + s[count / 2]);
}

static int64_t size_of(const char *file)
{
    struct stat st;
    return stat(file, &st) ? 0 : (int64_t)st.st_size;
}

/* Read the file and write it again as `copy`. */
static int run_once(const settings *s, const char *file, const char *copy, series *t, trs_mm *mm)
{
    const trs_mm_options opt = {.threads = s->threads, .low_memory = s->low_memory};
    double start = now();
    int rc = trs_mm_read(file, &opt, mm);
    if (rc) return rc;
    t->total[t->count] = now() - start;
    t->parse[t->count] = mm->seconds_parse;
    t->build[t->count] = mm->seconds_build;
    const trs_mat A = {.n = mm->rows,
                       .nnz = mm->nnz,
                       .ptr = mm->ptr,
                       .idx = mm->idx,
                       .val = mm->val,
                       .ld = mm->rows,
                       .dtype = mm->dtype,
                       .format = mm->format};
    start = now();
    rc = trs_mm_write(copy, &A, mm->rows, mm->cols, TRS_GENERAL, NULL);
    t->write[t->count++] = now() - start;
    return rc;
}

static double rate(int64_t bytes, double seconds)
{
    return seconds > 0 ? 1e-6 * (double)bytes / seconds : (double)NAN;
}

/* As often as fits into --cell-seconds; the first time is for warming up. */
static int measure_file(const settings *s, const char *file, const char *copy, io_figures *f,
                        trs_mm *mm)
{
    series t = {0};
    double end = 0;
    for (int k = -1; k < LEAST || (k < MOST && now() < end); k++) {
        trs_mm_free(mm);
        if (k == 0) t.count = 0, end = now() + s->cell_seconds;
        int rc = run_once(s, file, copy, &t, mm);
        if (rc) return rc;
    }
    f->runs = t.count;
    f->bytes = mm->bytes;
    f->packed = size_of(file);
    f->written = size_of(copy);
    f->total = median(t.total, t.count);
    f->parse = median(t.parse, t.count);
    f->build = median(t.build, t.count);
    f->write = median(t.write, t.count);
    return TRS_OK;
}

static int run_file(const settings *s, const char *file, const char *copy, result *r)
{
    io_figures f = {0};
    trs_mm mm = {0};
    progress(s, file, "reading and writing");
    int rc = measure_file(s, file, copy, &f, &mm);
    progress(s, NULL, NULL);
    r->n = mm.rows;
    r->nnz = mm.nnz;
    r->dtype = mm.dtype;
    *r->io = f;
    if (rc) snprintf(r->trouble, sizeof r->trouble, "%s", trs_message());
    trs_mm_free(&mm);
    return rc;
}

static int run_files(const settings *s, const name_list *names, const char *copy,
                     int (*take)(void *user, const result *), void *user)
{
    cell one = {.accurate = true};
    int code = EXIT_GOOD;
    bool bad = false;
    for (int k = 0; k < names->count; k++) {
        io_figures f;
        result r = {.name = names->name[k], .io = &f, .count = 1, .cells = &one};
        if (!filter_takes_name(s->filter, names->name[k])) continue;
        if (run_file(s, names->name[k], copy, &r)) complain("%s", r.trouble), bad = true;
        code = take(user, &r);
        if (code) return code;
    }
    return bad ? EXIT_USAGE : EXIT_GOOD;
}

int run_io(const settings *s, const name_list *names, int (*take)(void *user, const result *),
           void *user)
{
    const char *parent = getenv("TMPDIR");
    char folder[2000], copy[2020];
    snprintf(folder, sizeof folder, "%s/trisolve-bench.XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(folder)) return complain("%s: %s", folder, strerror(errno)), EXIT_USAGE;
    snprintf(copy, sizeof copy, "%s/copy.mtx", folder);
    int code = run_files(s, names, copy, take, user);
    unlink(copy);
    rmdir(folder);
    return code;
}

/* ---- columns ------------------------------------------------------------------------------------ */

void put_io_columns(const settings *s, const host *h, const result *r, const sink *to)
{
    static const io_figures none = {0};
    const io_figures *f = r->io && !*r->trouble ? r->io : &none;
    (void)s;
    to->text(to->user, "matrix", r->name);
    to->text(to->user, "type", dtype_name(r->dtype));
    to->whole(to->user, "rows", r->n);
    to->whole(to->user, "nnz", r->nnz);
    to->whole(to->user, "runs", f->runs);
    to->whole(to->user, "bytes_file", f->packed);
    to->whole(to->user, "bytes_text", f->bytes);
    to->whole(to->user, "bytes_written", f->written);
    to->real(to->user, "read", f->runs ? f->total : (double)NAN);
    to->real(to->user, "parse", f->runs ? f->parse : (double)NAN);
    to->real(to->user, "build", f->runs ? f->build : (double)NAN);
    to->real(to->user, "write", f->runs ? f->write : (double)NAN);
    to->real(to->user, "read_rate", rate(f->bytes, f->total));
    to->real(to->user, "parse_rate", rate(f->bytes, f->parse));
    to->real(to->user, "build_rate", rate(f->bytes, f->build));
    to->real(to->user, "write_rate", rate(f->written, f->write));
    to->text(to->user, "message", r->trouble);
    to->whole(to->user, "threads", h->threads);
    to->text(to->user, "cpu", h->cpu);
    to->text(to->user, "version", trs_version());
    to->text(to->user, "date", h->date);
}

/* ---- the screen --------------------------------------------------------------------------------- */

static int begin(const settings *s, const host *h, void **data)
{
    if (s->quiet || !s->io) return EXIT_GOOD;
    print_host(h);
    printf("MB/s of text, medians: reading, and its parts parsing and building; writing\n\n"
           "%-32s %10s %12s %9s %9s %9s %9s\n",
           "matrix", "MB", "entries", "read", "parse", "build", "write");
    *data = (void *)(uintptr_t)s;
    return EXIT_GOOD;
}

static int add(void *data, const result *r)
{
    const io_figures *f = r->io;
    char t[5][32];
    (void)data;
    if (*r->trouble) printf("%-32s %s\n", r->name, r->trouble);
    else {
        const double value[] = {1e-6 * (double)f->bytes, rate(f->bytes, f->total),
                                rate(f->bytes, f->parse), rate(f->bytes, f->build),
                                rate(f->written, f->write)};
        for (int k = 0; k < 5; k++) number(t[k], sizeof t[k], value[k]);
        printf("%-32s %10s %12" PRId64 " %9s %9s %9s %9s\n", r->name, t[0], r->nnz, t[1], t[2],
               t[3], t[4]);
    }
    if (!fflush(stdout)) return EXIT_GOOD;
    return complain("cannot write to standard output"), EXIT_USAGE;
}

static int end(void *data, bool complete)
{
    (void)data, (void)complete;
    return EXIT_GOOD;
}

const report report_io = {begin, add, end};
