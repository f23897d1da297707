/* report.c: the results of a run, to all reporters that are wanted. */
#include "config.h"

#include "report.h"

#include "bin/common/message.h"

extern const reporter reporter_table, reporter_dense, reporter_choice, reporter_csv, reporter_json,
    reporter_plot, reporter_html, reporter_io;

/* Writes out what the reporter has written so far, with a sentence and an exit code when that fails.  A failure of
 * standard output takes nothing from the files: reports_end complains of it. */
static int flush_report(report *p)
{
    if (p->f != stdout) return file_flush(&p->out);
    (void)fflush(stdout);
    return EXIT_GOOD;
}

/* file NULL: standard output. */
static int begin(reports *r, const session *s, const reporter *by, const char *file)
{
    report *p = &r->report[r->count];
    *p = (report){.f = stdout, .session = s, .settings = &s->settings, .all = &r->all, .by = by};
    int code = file ? file_open(&p->out, file) : EXIT_GOOD;
    if (code) return code;
    if (file) p->f = p->out.f;
    r->count++;
    return by->begin ? by->begin(p) : EXIT_GOOD;
}

int reports_begin(reports *r, const session *s)
{
    const outputs *o = &s->outputs;
    const bool dense = s->settings.dense, io = s->settings.io;
    const struct {
        const reporter *by;
        bool wanted;
        const char *file;
    } every[MOST_REPORTS] = {/* in the order in which they get a result */
                             {&reporter_table, !o->quiet && !dense && !io, NULL},
                             {&reporter_dense, !o->quiet && dense, NULL},
                             {&reporter_choice, o->choice, NULL},
                             {&reporter_csv, o->csv != NULL, o->csv},
                             {&reporter_json, o->json != NULL, o->json},
                             {&reporter_plot, o->plot != NULL, NULL},
                             {&reporter_html, o->html != NULL, o->html},
                             {&reporter_io, !o->quiet && io, NULL}};
    int code = EXIT_GOOD;
    *r = (reports){.count = 0};
    for (int k = 0; k < MOST_REPORTS && !code; k++)
        if (every[k].wanted) code = begin(r, s, every[k].by, every[k].file);
    return code;
}

int reports_add(reports *r, const result *one)
{
    int code = result_list_add(&r->all, one);
    for (int k = 0; k < r->count && !code; k++) {
        report *p = &r->report[k];
        if (p->by->add) code = p->by->add(p, one);
        if (!code) code = flush_report(p);
    }
    return code;
}

int reports_end(reports *r, bool complete, int status)
{
    int code = EXIT_GOOD;
    for (int k = 0; k < r->count; k++) {
        report *p = &r->report[k];
        const bool wanted = complete || p->by == &reporter_json;
        p->status = status;
        int ended = wanted && p->by->end ? p->by->end(p) : EXIT_GOOD;
        const bool whole = wanted && !ended;
        const int closed = p->f == stdout ? flush_output(EXIT_GOOD) : file_close(&p->out, whole);
        if (!ended) ended = closed;
        if (!code) code = ended;
    }
    result_list_free(&r->all);
    return code;
}

const char *reports_first_file(const reports *r)
{
    for (int k = 0; k < r->count; k++)
        if (r->report[k].out.to.part) return r->report[k].out.to.file;
    return NULL;
}
