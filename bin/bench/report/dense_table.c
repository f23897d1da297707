/* dense_table.c: the screen of --dense: a table a family, a line a solver, a column a size. */
#include "config.h"

#include "bin/bench/bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct dense {
    const settings *settings;
    kept all;
} dense;

static const char legend[] =
    "Times are in ms: medians, warm, of getting x where the matrix, b and x are already there: the "
    "solve,\n"
    "and in LU the factorisation before it.  What that takes from host arrays on top:\n"
    "  allocate, copy   memory for A, b, x on the device; A, b there and x back\n"
    "  error            the largest over the sizes: componentwise, N: normwise\n"
    "  growth           largest of U over largest of A\n";

static int begin(const settings *s, const host *h, void **data)
{
    if (s->quiet || !s->dense) return EXIT_GOOD;
    dense *d = *data = calloc(1, sizeof *d);
    if (!d) return out_of_memory();
    d->settings = s;
    print_host(h);
    fputs(legend, stdout);
    if (s->device == TRS_HOST)
        printf("No GPU (%s): the solvers of the CPU alone, nothing to allocate or to copy.\n",
               h->gpu);
    return fflush(stdout) ? EXIT_USAGE : EXIT_GOOD;
}

static int add(void *data, const result *r)
{
    dense *d = data;
    if (!*r->trouble) return keep(&d->all, r);
    printf("\n%s: %s\n", r->name, r->trouble);
    return EXIT_GOOD;
}

/* ---- a family --------------------------------------------------------------------------------- */

static bool in_family(const result *r, bool triangle)
{
    return !!(r->kind & TRS_LOWER) == triangle;
}

static void print_number(double v)
{
    char t[32];
    printf(" %9s", number(t, sizeof t, v));
}

/* name, then a number a size: of cell k, or of the result where k < 0. */
static void print_line(const dense *d, bool triangle, const char *name, int k,
                       double (*value)(const result *, const cell *, const char *),
                       const char *reference)
{
    printf("  %-22s", name);
    for (int i = 0; i < d->all.count; i++) {
        const result *r = &d->all.r[i];
        if (in_family(r, triangle)) print_number(value(r, k < 0 ? NULL : &r->cells[k], reference));
    }
}

static double value_ms(const result *r, const cell *c, const char *unused)
{
    (void)unused;
    return 1e3 * dense_seconds(r, c);
}

static double value_over(const result *r, const cell *c, const char *reference)
{
    const cell *f = find_cell(r, reference, 0);
    return f ? dense_seconds(r, c) / dense_seconds(r, f) : (double)NAN;
}

static double value_alloc(const result *r, const cell *c, const char *unused)
{
    (void)c, (void)unused;
    return r->alloc > 0 ? 1e3 * r->alloc : (double)NAN;
}

static double value_copy(const result *r, const cell *c, const char *unused)
{
    (void)c, (void)unused;
    return r->copy > 0 ? 1e3 * r->copy : (double)NAN;
}

static double value_ratio(const result *r, const cell *c, const char *unused)
{
    (void)c, (void)unused;
    const cell *a = find_cell(r, "lu-fullgrid", 0), *b = find_cell(r, "lu-submatrix", 0);
    return a && b ? a->factor / b->factor : (double)NAN;
}

/* The largest error and growth of cell k over the sizes. */
static void print_errors(const dense *d, bool triangle, int k)
{
    double error = NAN, growth = 0;
    bool normwise = false, accurate = true;
    for (int i = 0; i < d->all.count; i++) {
        const cell *c = &d->all.r[i].cells[k];
        if (!in_family(&d->all.r[i], triangle) || c->status) continue;
        normwise = c->solver.accuracy == TRS_INVERTING;
        error = fmax(error, normwise ? c->error.normwise : c->error.omega);
        growth = fmax(growth, c->info.growth);
        accurate = accurate && c->accurate;
    }
    if (!isnan(error)) printf("  %8.1e%s", error, normwise ? "N" : " ");
    if (growth > 0) printf(" %7.2g", growth);
    puts(accurate ? "" : "  INACCURATE");
}

static void cell_name(const cell *c, char *name, size_t size)
{
    if (c->block) snprintf(name, size, "%s/%d", c->solver.name, c->block);
    else snprintf(name, size, "%s", c->solver.name);
}

/* Why there is no number, once a reason. */
static void print_reasons(const dense *d, bool triangle, int k)
{
    const char *last = "";
    for (int i = 0; i < d->all.count; i++) {
        const result *r = &d->all.r[i];
        const cell *c = &r->cells[k];
        char name[80];
        if (!in_family(r, triangle) || !c->status || !strcmp(last, c->message)) continue;
        cell_name(c, name, sizeof name);
        printf("  - %s, n %" PRId64 ": %s\n", name, r->n, c->message);
        last = c->message;
    }
}

/* The first of the names that ran somewhere; NULL: none. */
static const char *reference_of(const dense *d, const char *const *names)
{
    for (; *names; names++)
        for (int i = 0; i < d->all.count; i++)
            if (find_cell(&d->all.r[i], *names, 0)) return *names;
    return NULL;
}

static void print_lines(const dense *d, bool triangle, const result *first, const char *reference)
{
    for (int k = 0; k < first->count; k++) {
        char name[80];
        cell_name(&first->cells[k], name, sizeof name);
        print_line(d, triangle, name, k, reference ? value_over : value_ms, reference);
        if (reference) puts("");
        else print_errors(d, triangle, k);
    }
}

static void print_family(const dense *d, bool triangle)
{
    static const char *const vendors[2][4] = {{"cusolver-getrf", "lapack-getrf", "lu-serial"},
                                              {"cublas-dense", "dense-serial", "cpu-serial"}};
    const char *reference = reference_of(d, vendors[triangle]);
    const result *first = NULL;
    printf("\n%-24s", triangle ? "Triangles" : "LU and Gauss");
    for (int i = 0; i < d->all.count; i++)
        if (in_family(&d->all.r[i], triangle)) {
            if (!first) first = &d->all.r[i];
            printf(" %9" PRId64, d->all.r[i].n);
        }
    puts(triangle ? "     error" : "     error  growth");
    if (!first) return;
    print_lines(d, triangle, first, NULL);
    if (d->settings->device != TRS_HOST) {
        print_line(d, triangle, "(allocate)", -1, value_alloc, NULL), puts("");
        print_line(d, triangle, "(copy)", -1, value_copy, NULL), puts("");
    }
    for (int k = 0; k < first->count; k++) print_reasons(d, triangle, k);
    if (reference) {
        printf("Over %s (below 1: faster)\n", reference);
        print_lines(d, triangle, first, reference);
    }
    if (triangle || d->settings->device == TRS_HOST) return;
    print_line(d, false, "fullgrid / submatrix", -1, value_ratio, NULL);
    puts("   (to factor; the seed had 23)");
}

static int end(void *data, bool complete)
{
    dense *d = data;
    if (complete) print_family(d, true), print_family(d, false);
    kept_free(&d->all);
    free(d);
    if (!fflush(stdout) && !ferror(stdout)) return EXIT_GOOD;
    return complain("cannot write to standard output"), EXIT_USAGE;
}

const report report_dense = {begin, add, end};
