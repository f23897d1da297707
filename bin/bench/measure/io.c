/* io.c: --io: how fast files are read, built into CSR and written. */
#include "config.h"

#include "io.h"

#include "bin/common/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEAST = 3, MOST = 25 }; /* runs */

typedef struct series { /* the seconds of the runs of one file, as in io_figures */
    int count;
    double total[MOST], parse[MOST], build[MOST], write[MOST];
} series;

static int64_t size_of(const char *file)
{
    struct stat st;
    return stat(file, &st) ? 0 : (int64_t)st.st_size;
}

/* Reads the file and writes it again as `copy`. */
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

/* Runs as often as --cell-seconds allows, after a first run that warms up. */
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
    f->total = spread_of(t.total, t.count).median;
    f->parse = spread_of(t.parse, t.count).median;
    f->build = spread_of(t.build, t.count).median;
    f->write = spread_of(t.write, t.count).median;
    return TRS_OK;
}

static int run_file(const settings *s, const char *file, const char *copy, result *r)
{
    trs_mm mm = {0};
    progress(s, file, "reading and writing");
    int rc = measure_file(s, file, copy, &r->io, &mm);
    progress(s, NULL, NULL);
    r->n = mm.rows;
    r->nnz = mm.nnz;
    r->dtype = mm.dtype;
    if (rc) snprintf(r->trouble, sizeof r->trouble, "%s", trs_message());
    trs_mm_free(&mm);
    return rc;
}

static int run_files(const settings *s, char *const *files, int count, const char *copy, taker to)
{
    cell one = {.accurate = true};
    bool bad = false;
    for (int k = 0; k < count; k++) {
        result r = {.name = files[k], .count = 1, .cells = &one};
        if (run_file(s, files[k], copy, &r)) complain("%s", r.trouble), bad = true;
        const int code = to.take(to.user, &r);
        if (code) return code;
    }
    return bad ? EXIT_USAGE : EXIT_GOOD;
}

int run_io(const settings *s, char *const *files, int count, taker to)
{
    const char *folder = getenv("TMPDIR");
    char copy[2000];
    snprintf(copy, sizeof copy, "%s/trisolve-bench.XXXXXX", folder ? folder : "/tmp");
    const int fd = mkstemp(copy);
    if (fd < 0) return complain("%s: %s", copy, strerror(errno)), EXIT_USAGE;
    close(fd);
    const int code = run_files(s, files, count, copy, to);
    unlink(copy);
    return code;
}
