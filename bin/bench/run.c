/* run.c: everything that is named is measured and reported; the exit status tells how that went. */
#include "config.h"

#include "args.h"

#include "bin/common/message.h"
#include "bin/common/sentence.h"
#include "collection/filter.h"
#include "collection/list.h"
#include "measure/dense.h"
#include "measure/io.h"
#include "measure/triangle.h"

#include <stdlib.h>

typedef struct runner {
    const arguments *args;
    const settings *settings;
    reports reports;
    name_list names;
    int measured; /* triangles, or files */
    int left_out; /* by --filter */
    bool bad_file, inaccurate;
} runner;

/* ---- results --------------------------------------------------------------------------------- */

/* Gives a result to every reporter, or of a child to its parent, and writes down what it means for the exit status. */
static int add(void *user, const result *one)
{
    runner *r = user;
    for (int k = 0; k < one->count && !*one->trouble; k++) {
        const cell *c = &one->cells[k];
        if (!c->status && !c->accurate) r->inaccurate = true;
    }
    if (!*one->trouble) r->measured++;
    FILE *child = r->args->session.outputs.child;
    return child ? wire_result(child, one) : reports_add(&r->reports, one);
}

/* ---- matrices in this process ---------------------------------------------------------------- */

static int add_named(runner *r, const char *file, const input *in, result *one)
{
    one->file = file;
    snprintf(one->problem, sizeof one->problem, "%s", in->file.problem);
    const int code = add(r, one);
    result_free(one);
    return code;
}

static int add_trouble(runner *r, const char *file, const input *in)
{
    result trouble = {.name = in->name[0]};
    snprintf(trouble.trouble, sizeof trouble.trouble, "%.399s", said());
    if (in->bad_file) complain("%s", said()), r->bad_file = true;
    return add_named(r, file, in, &trouble);
}

static int run_name(runner *r, const char *name)
{
    input in;
    progress(r->settings, name, "reading");
    const int rc = input_open(r->settings, &r->args->wanted, name, &in);
    progress(r->settings, NULL, NULL);
    r->left_out += in.left_out;
    int code = rc ? add_trouble(r, name, &in) : EXIT_GOOD;
    for (int k = 0; k < in.count && !rc && !code; k++) {
        result one;
        measure_triangle(r->settings, in.name[k], &in.T[k], &one);
        code = add_named(r, name, &in, &one);
    }
    input_close(&in);
    return code;
}

/* Keeps the names that pass the filter.  Sizes and kinds are looked at when the matrix is read. */
static void filter_names(runner *r)
{
    name_list *l = &r->names;
    int left = 0;
    for (int k = 0; k < l->count; k++)
        if (filter_takes_name(r->args->wanted.filter, l->name[k])) l->name[left++] = l->name[k];
        else free(l->name[k]);
    l->count = left;
}

static int run_here(runner *r)
{
    int code = EXIT_GOOD;
    warm_up(r->settings);
    for (int k = 0; k < r->names.count && !code; k++) code = run_name(r, r->names.name[k]);
    return code;
}

/* ---- each matrix in a process of its own ----------------------------------------------------- */

/* Shows "12 of 2800, about 3.5 h left". */
static void show_remaining(const runner *r, const char *name, int done, int all, double seconds)
{
    char step[100];
    const double left = done ? seconds / done * (all - done) : 0;
    int n = snprintf(step, sizeof step, "%d of %d", done + 1, all);
    if (left > 5400)
        snprintf(step + n, sizeof step - (size_t)n, ", about %.1f h left", left / 3600);
    else if (left > 90)
        snprintf(step + n, sizeof step - (size_t)n, ", about %.0f min left", left / 60);
    else if (left > 0) snprintf(step + n, sizeof step - (size_t)n, ", about %.0f s left", left);
    progress(r->settings, name, step);
}

/* Runs the matrix, unless an earlier run has got to it; *ran says which. */
static int run_apart(runner *r, journal *j, const char *name, bool *ran)
{
    size_t at = journal_find(j, name);
    ending e = {.ended = false};
    *ran = !at;
    int code = at ? EXIT_GOOD : run_child(&r->args->processes, name, j, &at);
    progress(r->settings, NULL, NULL);
    if (!code) code = wire_receive(r->settings, name, journal_from(j, at), (taker){add, r}, &e);
    r->bad_file = r->bad_file || e.bad_file;
    r->left_out += e.left_out;
    return code;
}

static int run_all_apart(runner *r)
{
    int done = 0, known = 0;
    journal j;
    int code = journal_open(&j, &r->args->processes, reports_first_file(&r->reports));
    const double begun = now();
    for (int k = 0; k < r->names.count && !code; k++) {
        bool ran = false;
        show_remaining(r, r->names.name[k], done, r->names.count - known, now() - begun);
        code = run_apart(r, &j, r->names.name[k], &ran);
        if (ran) done++;
        else known++;
    }
    journal_close(&j, !code);
    return code;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static int run_what_is_asked(runner *r)
{
    const settings *s = r->settings;
    const taker to = {add, r};
    if (s->io) return run_io(s, r->names.name, r->names.count, to);
    if (r->args->apart || (r->names.directory && !r->args->session.outputs.child))
        return run_all_apart(r);
    if (!s->dense) return run_here(r);
    warm_up(s);
    return run_dense(s, to);
}

/* Says what is to be said at the end; returns the exit code. */
static int conclude(const runner *r, int named, int code)
{
    if (r->left_out) complain("--filter excluded %d of %d matrices", r->left_out, named);
    if (code) return code;
    if (!r->measured) {
        complain(r->settings->io ? "no file to read" : "no triangle to solve");
        return EXIT_USAGE;
    }
    if (r->inaccurate) complain("a backward error is too large");
    if (r->bad_file) return EXIT_USAGE;
    return r->inaccurate ? EXIT_INACCURATE : EXIT_GOOD;
}

static int run_and_report(runner *r)
{
    const int named = r->names.count;
    filter_names(r);
    if (!r->settings->io) r->left_out = named - r->names.count;
    int code = reports_begin(&r->reports, &r->args->session);
    if (!code) code = run_what_is_asked(r);
    const bool complete = !code && r->measured > 0;
    FILE *child = r->args->session.outputs.child;
    if (!child) code = conclude(r, named, code);
    const int closed = reports_end(&r->reports, complete, code);
    if (!code) code = closed;
    if (!child) return code;
    return code ? code : wire_end(child, r->bad_file, r->left_out > 0);
}

int run(const arguments *a)
{
    const settings *s = &a->session.settings;
    runner r = {.args = a, .settings = s};
    int code = s->dense ? EXIT_GOOD : list_names(s->names, s->count, &r.names);
    if (!code) code = run_and_report(&r);
    list_free(&r.names);
    return code;
}
