/* bench.c: trisolve-bench: every solver on every triangle, into every report. */
#include "config.h"

#include "bench.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static const report *const reports[] = {&report_table, &report_dense, &report_choice,
                                        &report_csv,   &report_json,  &report_plot,
                                        &report_html,  &report_io,    &report_wire};

enum { REPORTS = sizeof reports / sizeof reports[0] };

typedef struct run {
    settings settings;
    host host;
    void *data[REPORTS]; /* NULL: this report is not wanted */
    int measured;        /* triangles */
    int left_out;        /* by --filter */
    bool bad_file, inaccurate;
} run;

/* ---- to stderr ------------------------------------------------------------------------------- */

void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("trisolve-bench: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

void progress(const settings *s, const char *name, const char *step)
{
    if (s->quiet || !isatty(STDERR_FILENO)) return;
    if (name) fprintf(stderr, "\r\033[K%.60s: %s", name, step);
    else fprintf(stderr, "\r\033[K");
    fflush(stderr);
}

int out_of_memory(void)
{
    complain("out of memory");
    return EXIT_USAGE;
}

/* ---- where this runs ------------------------------------------------------------------------- */

static void name_cpu(char *name, size_t size)
{
    char line[512];
    FILE *f = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "unknown");
    while (f && fgets(line, sizeof line, f)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !value) continue;
        value += 1 + strspn(value + 1, " \t");
        snprintf(name, size, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    if (f) fclose(f);
}

/* Of NVIDIA's kernel driver: the first number with a point in its sentence. */
static void name_driver(char *name, size_t size)
{
    char line[512];
    FILE *f = fopen("/proc/driver/nvidia/version", "r");
    name[0] = '\0';
    if (f && fgets(line, sizeof line, f))
        for (char *save, *t = strtok_r(line, " \t\n", &save); t; t = strtok_r(NULL, " \t\n", &save))
            if (strspn(t, "0123456789") && strchr(t, '.')) {
                snprintf(name, size, "%s", t);
                break;
            }
    if (f) fclose(f);
}

static void find_host(const settings *s, host *h)
{
    time_t t = time(NULL);
    struct tm tm;
    if (!localtime_r(&t, &tm) || !strftime(h->date, sizeof h->date, "%Y-%m-%d %H:%M", &tm))
        h->date[0] = '\0';
    name_cpu(h->cpu, sizeof h->cpu);
    name_driver(h->driver, sizeof h->driver);
    h->threads = s->threads ? s->threads : 1;
#ifdef _OPENMP
    if (!s->threads) h->threads = omp_get_max_threads();
#endif
    if (s->device == TRS_HOST) snprintf(h->gpu, sizeof h->gpu, "%s", s->no_gpu);
    else if (trs_device_name(s->device, h->gpu, sizeof h->gpu)) h->gpu[0] = '\0';
}

/* ---- running --------------------------------------------------------------------------------- */

/* To every report, and what it means for the exit status. */
static int add(void *user, const result *one)
{
    run *r = user;
    int code = EXIT_GOOD;
    for (int k = 0; k < one->count; k++) {
        const cell *c = &one->cells[k];
        if (!*one->trouble && !c->status && !c->accurate) r->inaccurate = true;
    }
    if (!*one->trouble) r->measured++;
    for (int k = 0; k < REPORTS && !code; k++)
        if (r->data[k]) code = reports[k]->add(r->data[k], one);
    return code;
}

static int run_triangle(run *r, const char *file, const char *problem, const char *name,
                        const trs_mat *T)
{
    result one;
    measure_triangle(&r->settings, name, T, &one);
    one.file = file;
    snprintf(one.problem, sizeof one.problem, "%s", problem);
    int code = add(r, &one);
    result_free(&one);
    return code;
}

static int run_name(run *r, const char *name)
{
    input in;
    int code = EXIT_GOOD;
    progress(&r->settings, name, "reading");
    int rc = input_open(&r->settings, name, &in);
    progress(&r->settings, NULL, NULL);
    if (in.left_out) r->left_out++;
    if (rc) {
        result trouble = {.name = in.name[0], .file = name};
        snprintf(trouble.problem, sizeof trouble.problem, "%s", in.file.problem);
        snprintf(trouble.trouble, sizeof trouble.trouble, "%s", in.message);
        if (in.bad_file) complain("%s", in.message), r->bad_file = true;
        code = add(r, &trouble);
    }
    for (int k = 0; k < in.count && !rc && !code; k++)
        code = run_triangle(r, name, in.file.problem, in.name[k], &in.T[k]);
    input_close(&in);
    return code;
}

/* "12 of 2800, about 3.5 h to go" */
static void show_way(const run *r, const char *name, int done, int all, double seconds)
{
    char step[100];
    const double left = done ? seconds / done * (all - done) : 0;
    int n = snprintf(step, sizeof step, "%d of %d", done + 1, all);
    if (left > 5400)
        snprintf(step + n, sizeof step - (size_t)n, ", about %.1f h to go", left / 3600);
    else if (left > 90)
        snprintf(step + n, sizeof step - (size_t)n, ", about %.0f min to go", left / 60);
    else if (left > 0) snprintf(step + n, sizeof step - (size_t)n, ", about %.0f s to go", left);
    progress(&r->settings, name, step);
}

/* A matrix in a process of its own, unless an earlier run has got to it; *ran: which. */
static int run_apart(run *r, journal *j, const char *name, bool *ran)
{
    parcel b = {0};
    wire w = {0};
    *ran = !journal_find(j, name, &b);
    if (*ran) b = (parcel){0};
    int code = *ran ? run_child(&r->settings, name, &b) : EXIT_GOOD;
    if (!code && *ran) code = journal_add(j, name, &b);
    progress(&r->settings, NULL, NULL);
    if (!code) code = wire_take(&r->settings, name, &b, &w, add, r);
    r->bad_file = r->bad_file || w.bad_file;
    r->left_out += w.left_out;
    if (*ran) free(b.p);
    return code;
}

static int run_names_apart(run *r, const name_list *names)
{
    journal j;
    int code = journal_open(&j, &r->settings), done = 0, known = 0;
    const double begun = now();
    for (int k = 0; k < names->count && !code; k++) {
        bool ran = false;
        if (!filter_takes_name(r->settings.filter, names->name[k])) {
            r->left_out++, known++;
            continue;
        }
        show_way(r, names->name[k], done, names->count - known, now() - begun);
        code = run_apart(r, &j, names->name[k], &ran);
        if (ran) done++;
        else known++;
    }
    journal_close(&j, !code);
    return code;
}

static int run_names(run *r, const name_list *names)
{
    int code = EXIT_GOOD;
    warm_up(&r->settings);
    for (int k = 0; k < names->count && !code; k++)
        if (filter_takes_name(r->settings.filter, names->name[k]))
            code = run_name(r, names->name[k]);
        else r->left_out++;
    return code;
}

/* What a child says last. */
static int end_child(const run *r, int code)
{
    parcel b = {0};
    if (!code) code = wire_end(&b, r->bad_file, r->left_out > 0);
    if (!code) code = send_bytes(r->settings.child, &b);
    free(b.p);
    return code;
}

static int run_what_is_asked(run *r, const name_list *names)
{
    const settings *s = &r->settings;
    if (s->io) return run_io(s, names, add, r);
    if (s->apart) return run_names_apart(r, names);
    if (!s->dense) return run_names(r, names);
    warm_up(s);
    return run_dense(s, add, r);
}

static int run_all(run *r, const name_list *names)
{
    int code = EXIT_GOOD;
    for (int k = 0; k < REPORTS && !code; k++)
        code = reports[k]->begin(&r->settings, &r->host, &r->data[k]);
    if (!code) code = run_what_is_asked(r, names);
    const bool complete = !code;
    for (int k = 0; k < REPORTS; k++) {
        int closed = r->data[k] ? reports[k]->end(r->data[k], complete) : EXIT_GOOD;
        if (!code) code = closed;
    }
    if (r->settings.child) return end_child(r, code);
    if (r->left_out) complain("%d of %d left out by --filter", r->left_out, names->count);
    if (!code && !r->measured)
        complain(r->settings.io ? "there was no file to read" : "there was no triangle to solve"),
            code = EXIT_USAGE;
    if (!code && r->inaccurate) complain("some backward error is too large");
    return code ? code : r->bad_file ? EXIT_USAGE : r->inaccurate ? EXIT_INACCURATE : EXIT_GOOD;
}

int main(int argc, char **argv)
{
    run r = {0};
    name_list names = {0};
    parse_arguments(argc, argv, &r.settings);
    find_host(&r.settings, &r.host);
    if (r.settings.calibrate) return calibrate(&r.settings, &r.host);
    int code = r.settings.dense ? EXIT_GOOD : list_names(&r.settings, &names);
    if (names.directory && !r.settings.io && !r.settings.child) r.settings.apart = true;
    if (!code) code = run_all(&r, &names);
    list_free(&names);
    return code;
}
