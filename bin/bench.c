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

static const report *const reports[] = {&report_table, &report_dense, &report_choice, &report_csv,
                                        &report_json,  &report_plot,  &report_html,   &report_io};

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

static void find_host(const settings *s, host *h)
{
    time_t t = time(NULL);
    struct tm tm;
    if (!localtime_r(&t, &tm) || !strftime(h->date, sizeof h->date, "%Y-%m-%d %H:%M", &tm))
        h->date[0] = '\0';
    name_cpu(h->cpu, sizeof h->cpu);
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

static int run_triangle(run *r, const char *name, const trs_mat *T)
{
    result one;
    measure_triangle(&r->settings, name, T, &one);
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
        result trouble = {.name = in.name[0]};
        snprintf(trouble.trouble, sizeof trouble.trouble, "%s", in.message);
        if (in.bad_file) complain("%s", in.message), r->bad_file = true;
        code = add(r, &trouble);
    }
    for (int k = 0; k < in.count && !rc && !code; k++) code = run_triangle(r, in.name[k], &in.T[k]);
    input_close(&in);
    return code;
}

static int run_all(run *r, const name_list *names)
{
    int code = EXIT_GOOD;
    for (int k = 0; k < REPORTS && !code; k++)
        code = reports[k]->begin(&r->settings, &r->host, &r->data[k]);
    if (!code && !r->settings.io) warm_up(&r->settings);
    if (!code && r->settings.dense) code = run_dense(&r->settings, add, r);
    if (!code && r->settings.io) code = run_io(&r->settings, names, add, r);
    for (int k = 0; k < names->count && !code && !r->settings.io; k++)
        if (filter_takes_name(r->settings.filter, names->name[k]))
            code = run_name(r, names->name[k]);
        else r->left_out++;
    const bool complete = !code;
    for (int k = 0; k < REPORTS; k++) {
        int closed = r->data[k] ? reports[k]->end(r->data[k], complete) : EXIT_GOOD;
        if (!code) code = closed;
    }
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
    if (!code) code = run_all(&r, &names);
    list_free(&names);
    return code;
}
